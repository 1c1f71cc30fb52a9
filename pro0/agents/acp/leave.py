"""What an agent asks leave for: its tool calls as they were last told, and the requests that are open.

A request gets a new key whenever its content changes. So an answer counts only for the content that was shown.
"""

from collections.abc import Mapping
from hashlib import sha256

import msgspec

from pro0.agents.acp.messages import Id, Option
from pro0.agents.bridge.reports import Settled
from pro0.model.need import AskedPermission, Choice

CALLS = 500
"""Tool calls remembered, the newest ones."""
OPEN = 64
"""Requests open at once, at most."""
SETTLED = 64
"""Settled requests in a report, at most; the newest ones are kept."""
_KINDS = {Choice.ALLOW: "allow_once", Choice.ALWAYS: "allow_always"}
_REFUSALS = ("reject_once", "reject_always")
_SHOWN = ("title", "kind", "content", "locations", "offers")


class Leave(msgspec.Struct, kw_only=True):
    """One open request for leave."""

    id: Id
    call: str
    options: list[Option]
    key: str = ""
    tool: str = ""
    shown: str = ""
    title: str = ""

    def option(self, choice: Choice) -> Option | None:
        """Return the agent's own option for a choice; None without one, or with more than one way to allow."""
        if choice is Choice.DENY:
            matching = [option for kind in _REFUSALS for option in self.options if option.kind == kind]
            return matching[0] if matching else None
        matching = [option for option in self.options if option.kind == _KINDS[choice]]
        return matching[0] if len(matching) == 1 else None

    def asked(self) -> AskedPermission:
        """Return the request as pro0 shows it to the person, who can always refuse."""
        allowing = [choice for choice in (Choice.ALLOW, Choice.ALWAYS) if self.option(choice)]
        return AskedPermission(key=self.key, tool=self.tool, input=self.shown, choices=(*allowing, Choice.DENY))


class Leaves:
    """The tool calls and open requests of one session."""

    def __init__(self) -> None:
        self.open: list[Leave] = []
        self._settled: dict[str, Settled] = {}
        self._calls: dict[str, dict[str, object]] = {}
        self._number = 0

    def tell(self, call: Mapping[str, object]) -> list[Leave]:
        """Note an update of a tool call; return the open requests with content changed by it."""
        id = str(call.get("toolCallId"))
        call_so_far = self._calls.pop(id, {})
        self._calls[id] = call_so_far | {name: value for name, value in call.items() if value is not None}
        while len(self._calls) > CALLS:
            del self._calls[next(iter(self._calls))]
        return [leave for leave in self.open if leave.call == id and self._name(leave)]

    def ask(self, id: Id, call: Mapping[str, object], options: list[Option]) -> Leave:
        """Open a request."""
        self.tell(call)
        leave = Leave(id=id, call=str(call.get("toolCallId")), options=options)
        self._name(leave)
        self.open.append(leave)
        return leave

    @property
    def settled(self) -> list[Settled]:
        """Return the outcomes of earlier requests, the newest one last."""
        return [*self._settled.values()]

    def close(self, leave: Leave, *, elsewhere: bool) -> None:
        """Close an open request and keep only its outcome."""
        self.open.remove(leave)
        self.settle(Settled(key=leave.key, elsewhere=elsewhere))

    def settle(self, settled: Settled) -> None:
        """Note the outcome of a request; its first outcome counts."""
        self._settled[settled.key] = self._settled.pop(settled.key, settled)
        while len(self._settled) > SETTLED:
            del self._settled[next(iter(self._settled))]

    def of(self, *, key: str = "", id: Id | None = None) -> Leave | None:
        """Return the open request of a key, or of the agent's own id."""
        return next((leave for leave in self.open if leave.key == key or leave.id == id), None)

    def title(self, call: str) -> str:
        """Return the title of a tool call, as the agent last reported it."""
        call_so_far = self._calls.get(call, {})
        return str(call_so_far.get("title") or call_so_far.get("name") or call_so_far.get("kind") or call)

    def _name(self, leave: Leave) -> bool:
        """Give a request a key for its present content; return True when the content has changed."""
        call = self._calls.get(leave.call, {})
        input_text = msgspec.json.encode(_as_shown(call, leave.options), order="sorted").decode()
        if input_text == leave.shown:
            return False
        self._number += 1
        leave.shown, leave.title = input_text, self.title(leave.call)
        leave.tool = " ".join(str(call.get("name") or call.get("kind") or "tool").split())[:100]
        leave.key = f"{self._number}-{sha256(input_text.encode()).hexdigest()[:16]}"
        return True


def _as_shown(call: Mapping[str, object], options: list[Option]) -> dict[str, object]:
    """Return the whole content of a request: the tool's input, the agent's description of it, the options."""
    own = {name: call[name] for name in _SHOWN if name in call}
    own["offers"] = [f"{option.name} ({option.kind})" for option in options]
    raw_input = call.get("rawInput")
    if isinstance(raw_input, dict) and not set(raw_input) & set(own):
        return {**raw_input, **own}
    return own | ({} if raw_input is None else {"rawInput": raw_input})
