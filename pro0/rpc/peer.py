"""The client at the other end of a socket: who its process is, proven as for every process (behaviour 5.1)."""

import os
import socket

from pro0.errors import ErrorCode, Refused
from pro0.ops.context import caller_of
from pro0.ops.identity import IDENTITY
from pro0.processes import table
from pro0.rpc.client import RpcClient
from pro0.store.teams import TeamStore
from pro0.terminals import address


def client_at(connection: socket.socket, team: TeamStore) -> RpcClient:
    """Return the client of a connection; raises Refused for another user's, and for one that cannot be seen."""
    if address.peer(connection) != os.geteuid():
        raise Refused("this socket is another user's", code=ErrorCode.NOT_ALLOWED)
    process = table.entry(address.peer_process(connection))
    if process is None:
        raise _unseen()
    caller, own = caller_of(table.variables(process, IDENTITY), team.paths.home, process.pid)
    if not table.alive(process):  # nothing that was seen of it is sure: its ancestors, its mark, its environment
        raise _unseen()
    return RpcClient(team, caller, own)


def _unseen() -> Refused:
    what = "the process that connected is gone, or in a namespace of its own"
    return Refused(what, code=ErrorCode.IDENTITY_UNPROVEN, hint="stay connected, and run where the lead runs")
