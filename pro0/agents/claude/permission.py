"""Claude Code's hook before a permission dialog: what it asks, and the answer in its words.

The dialog is drawn while the hook waits; the first answer counts. Measured with 2.1.330.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from pro0.agents import own_tools
from pro0.agents.claude import session_file
from pro0.agents.claude.transcript import config_folder
from pro0.decoding import decode
from pro0.model.need import AskedPermission, Choice, PermissionAnswer
from pro0.model.stored import Process

EVENT = "PermissionRequest"
HOOK = ("member", "permission-hook")
"""The words of the command that asks the person."""
PATIENCE = 7 * 24 * 3600
"""Seconds for which Claude lets the hook wait."""
NAME = "claude"
OWN = rf"^mcp__{own_tools.SERVER}__{own_tools.TOOL}$"
"""A pattern for Claude's names of our server's tools; it fits no tool of another server, such as `pro0__x`."""
_IN_ITS_PANE = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools whose dialog takes more than a yes or a no."""
REFUSED = "The person refused this."
FOR_GOOD = 0.5
"""Seconds without a dialog after which the last one is over: of several, the next one is drawn at once."""


class PermissionEvent(msgspec.Struct):
    """What Claude tells the hook."""

    tool_name: str = ""
    tool_input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_use_id: str = ""
    permission_suggestions: list[dict[str, object]] = []


def read(event: bytes) -> PermissionEvent | None:
    """Return the event; None for an unreadable one, or for a dialog that needs more than yes or no."""
    try:
        request = decode(event, PermissionEvent)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return request if request.tool_name and request.tool_name not in _IN_ITS_PANE else None


def is_own(event: PermissionEvent) -> bool:
    """Return True for a tool of pro0: in plan mode Claude may ask before it, even with a rule for it."""
    return re.fullmatch(OWN, event.tool_name) is not None


def allowed() -> bytes:
    """Return the hook's output that allows a call."""
    return _output({"behavior": "allow"})


def asked(event: PermissionEvent, key: str) -> AskedPermission:
    """Return the question for the person. Claude gives only tool calls an id; `key` is the id of other requests."""
    choices = (Choice.ALLOW, *((Choice.ALWAYS,) if event.permission_suggestions else ()), Choice.DENY)
    tool_input = bytes(event.tool_input).decode("utf-8", "replace")
    return AskedPermission(key=event.tool_use_id or key, tool=event.tool_name, input=tool_input, choices=choices)


def decision(event: PermissionEvent, answer: PermissionAnswer) -> bytes:
    """Return the hook's output for the person's answer."""
    words: dict[str, object] = {"behavior": "allow"}
    if answer.choice is Choice.DENY:
        words = {"behavior": "deny", "message": answer.text or REFUSED}
    elif answer.choice is Choice.ALWAYS:
        session_rules = [{**rule, "destination": "session"} for rule in event.permission_suggestions]
        words |= {"updatedPermissions": session_rules}
    return _output(words)


def _output(decision: dict[str, object]) -> bytes:
    return msgspec.json.encode({"hookSpecificOutput": {"hookEventName": EVENT, "decision": decision}})


class Dialog:
    """The dialog of one request, as reported by the Claude Code process above its hook.

    Claude ends the hook when the person says yes in its pane, but not when they press Esc.
    """

    def __init__(self, above: Iterable[Process], environment: Mapping[str, str]) -> None:
        self._above = tuple(above)
        self._config = config_folder(environment)
        self.folder: Path = self._config / session_file.FOLDER
        self.files = tuple(map(session_file.name_of, self._above))
        """The names that Claude's file may have in that folder: one for each process above the hook."""
        self._stood = False
        self._gone_since: float | None = None

    @property
    def may_be_over(self) -> bool:
        """Return True when the dialog was open before, and was closed at the last look."""
        return self._gone_since is not None

    def has_gone_on(self) -> bool:
        """Return True when Claude no longer waits for a person."""
        return self._waits() is False

    def is_over(self, now: float) -> bool:
        """Look; return True once Claude has waited and then not waited for `FOR_GOOD` seconds. `now` is in seconds."""
        waits = self._waits()
        self._stood = self._stood or waits is True
        if waits is not False or not self._stood:
            self._gone_since = None
            return False
        self._gone_since = now if self._gone_since is None else self._gone_since
        return now - self._gone_since >= FOR_GOOD

    def _waits(self) -> bool | None:
        readings = (session_file.read(self._config, process) for process in self._above)
        nearest = next(filter(None, readings), None)
        return nearest.status == "waiting" if nearest else None
