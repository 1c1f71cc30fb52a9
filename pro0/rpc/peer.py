"""The client at the other end of a socket. Its process is proven like every other (behaviour 5.1)."""

import os
import socket

from pro0.errors import ErrorCode, Refused
from pro0.model.caller import Who
from pro0.ops.context import Context, caller_of
from pro0.ops.identity import IDENTITY
from pro0.processes import table
from pro0.rpc.client import RpcClient, by_program
from pro0.rpc.lists import Lists
from pro0.store.teams import TeamStore
from pro0.terminals import address


def client_at(connection: socket.socket, team: TeamStore, lists: Lists) -> RpcClient:
    """Return the client of a connection; raises Refused when its process is another user's or cannot be seen."""
    if address.peer(connection) != os.geteuid():
        raise Refused("this socket belongs to another user", code=ErrorCode.NOT_ALLOWED)
    process = table.entry(address.peer_process(connection))
    if process is None:
        raise _unseen()
    caller, caller_team = caller_of(table.variables(process, IDENTITY), team.paths.home, process.pid)
    if not table.alive(process):  # then nothing seen of it is certain: its ancestors, its mark, its environment
        raise _unseen()
    if caller.who is not Who.HUMAN and caller_team != team.name:
        raise Refused(f"{caller.agent_id} is not a member of {team.name}", code=ErrorCode.NOT_MEMBER)
    return RpcClient(Context(team, caller, vouch=by_program), lists)


def _unseen() -> Refused:
    error_text = "the process that connected has ended, or is in another namespace"
    return Refused(error_text, code=ErrorCode.IDENTITY_UNPROVEN, hint="stay connected, and run where the lead runs")
