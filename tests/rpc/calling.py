"""Calls of methods without a socket: a client of each kind, and what it is answered."""

import json
from typing import Any

from msgspec.structs import replace

from pro0.model.caller import Who
from pro0.ops.context import Context
from pro0.rpc.calls import perform
from pro0.rpc.client import RpcClient, by_program
from pro0.rpc.protocol import RpcRequest
from pro0.store.teams import TeamStore
from pro0.wire import Fault
from tests.teams import as_who


class Failed(Exception):
    """A call that was answered with an error."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.number = fault.code
        self.data: Any = fault.data
        self.code = self.data.get("code") if isinstance(self.data, dict) else None


def client(team: TeamStore, who: Who | Context = Who.HUMAN) -> RpcClient:
    """A client of one team; the member is w1."""
    context = who if isinstance(who, Context) else as_who(team, who)
    return RpcClient(replace(context, vouch=by_program))


def call(one: RpcClient, method: str, params: object = None, **named: object) -> Any:
    """Call a method and return its result; raises Failed."""
    outcome = perform(one, RpcRequest(method, named if params is None else params, lambda _response: None))
    if isinstance(outcome, Fault):
        raise Failed(outcome)
    return json.loads(outcome)
