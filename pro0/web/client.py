"""A paired device as the caller of methods: it acts as the person, limited by its rights."""

from collections.abc import Callable
from copy import copy
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.home import Device, Rights
from pro0.ops import verdicts
from pro0.ops.context import OPERATIONS, Context, Operation
from pro0.ops.devices import known
from pro0.rpc.client import RpcClient
from pro0.rpc.lists import Lists
from pro0.rpc.method import Method
from pro0.rules.person.devices import covers
from pro0.store.teams import TeamStore

NOT_FOR_DEVICES = frozenset({"member.env"})
"""Operations refused to devices: they hand out a proof with which any program can act as a member."""
ANSWERS = frozenset({"need.seen", "task.comment", "task.retry"})
"""Operations that count as answers, besides all verdicts and all operations on messages."""
PIN = "pin"
SHOWN = "shown"
"""Parameters that every verdict of a device has: the person's PIN, and the digest of what was shown."""


def by_device(home: Path, project: Callable[[], Path], act: str) -> None:
    """Accept a verdict of a paired device while no PIN is set (behaviour 5.3)."""
    verdicts.by_device(home, project, act, pin="")


class DeviceClient(RpcClient):
    """A device as the client of one team."""

    def __init__(self, team: TeamStore, device: Device, lists: Lists | None = None) -> None:
        super().__init__(Context(team, THE_HUMAN, vouch=by_device, names_shown=True), lists)
        self._device = device

    def prepared(self, method: Method, params: object) -> tuple[RpcClient, object]:
        """Return this client for one call; raises Refused when the device's rights do not allow it."""
        operation = OPERATIONS[method.operation]
        home = self._context.team.paths.home
        # A method with `by` is for persons only: it changes something, even if its operation only reads.
        require(home, self._device, Rights.ALL if method.by else needed(operation), method.name)
        if operation.name in NOT_FOR_DEVICES:
            raise Refused(
                f"{method.name} is not allowed from a device", code=ErrorCode.NOT_ALLOWED, hint="do it in a terminal"
            )
        if not isinstance(params, dict):
            if operation.verdict:
                raise BadInput(f"{method.name} takes its parameters by name here")
            return self, params
        passed = {
            name: value for name, value in params.items() if name in method.parameters or name not in (PIN, SHOWN)
        }
        by_device = partial(verdicts.by_device, pin=_text(params, PIN))
        client = copy(self)
        client._context = replace(self._context, vouch=by_device, shown=_text(params, SHOWN))
        if operation.name in _ABOUT_PLANS and not passed.get("about"):
            raise BadInput(
                f"{method.name} needs the id of the plan that was shown", hint='it is the field "request" of the need'
            )
        return client, passed


_ABOUT_PLANS = ("plan.approve", "plan.reject")


def needed(operation: Operation) -> Rights:
    """Return the rights that an operation needs."""
    if not operation.changes:
        return Rights.LOOK
    answers = operation.verdict or operation.name in ANSWERS or operation.name.startswith("message.")
    return Rights.ANSWER if answers else Rights.ALL


def require(home: Path, device: Device, rights: Rights, act: str) -> None:
    """Raise Refused unless a device is still paired, with these rights."""
    present = next((other for other in known(home).devices if other.id == device.id), None)
    if present is None:
        raise Refused("this device is not paired any more", code=ErrorCode.NOT_ALLOWED, hint="pro0 web pair")
    if not covers(present.rights, rights):
        hint = f"pair it again: pro0 web pair --rights {rights}"
        text = f"{act} needs the right {rights}, and this device has {present.rights}"
        raise Refused(text, code=ErrorCode.NOT_ALLOWED, hint=hint)


def _text(params: dict[str, object], name: str) -> str:
    value = params.get(name, "")
    if not isinstance(value, str):
        raise BadInput(f"{name} must be a text")
    return value
