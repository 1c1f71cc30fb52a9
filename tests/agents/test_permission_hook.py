"""Claude Code's permission hook: what it reads, and what it answers in Claude's words."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.agents.claude import permission
from pro0.mcp.listing import KINDS, listing
from pro0.model.need import Choice, PermissionAnswer
from tests.teams import NOW

RULE = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "localSettings"}
EVENT = {"tool_name": "Bash", "tool_input": {"command": "ls  -l"}, "permission_suggestions": [RULE], "more": 1}


def said(choice: Choice, text: str = "") -> dict[str, object]:
    event = permission.read(json.dumps(EVENT).encode())
    assert event
    output = json.loads(permission.decision(event, PermissionAnswer(choice=choice, text=text, by="human", at=NOW)))
    assert output["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    decision: dict[str, object] = output["hookSpecificOutput"]["decision"]
    return decision


def test_the_input_is_asked_as_it_is() -> None:
    event = permission.read(b'{"tool_name":"Bash","tool_input":{"command" : "ls"},"tool_use_id":"toolu_1"}')
    assert event
    asked = permission.asked(event, "other")
    assert (asked.key, asked.tool, asked.input) == ("toolu_1", "Bash", '{"command" : "ls"}')
    assert asked.choices == (Choice.ALLOW, Choice.DENY)


def test_the_answers_in_claudes_words() -> None:
    assert said(Choice.ALLOW) == {"behavior": "allow"}
    assert said(Choice.DENY) == {"behavior": "deny", "message": permission.REFUSED}
    assert said(Choice.DENY, "later") == {"behavior": "deny", "message": "later"}
    assert said(Choice.ALWAYS) == {"behavior": "allow", "updatedPermissions": [{**RULE, "destination": "session"}]}


@pytest.mark.parametrize(
    "event", [b"", b"{", b"[]", b"{}", b'{"tool_name":7}', b"\xff", b'{"tool_name":"AskUserQuestion"}', b"[" * 10_000]
)
def test_what_is_no_plain_request_is_left_to_the_pane(event: bytes) -> None:
    assert permission.read(event) is None


OTHERS = {
    "a server whose name begins like pro0": "mcp__pro0x__run",
    "a server with two underscores in its name": "mcp__pro0__evil__run",
    "a server with a digit in its name": "mcp__pro0__2__run",
    "a server with an underscore at the end of its name": "mcp__pro0___run",
    "a server in whose tool pro0 is named": "mcp__x__mcp__pro0__run",
    "a tool with a line break at its end": "mcp__pro0__run\n",
    "no tool": "mcp__pro0__",
    "a tool of Claude": "Bash",
    "the bare name": "pro0",
}
"""Tools that are not pro0's, though a project may name its servers as it likes."""


def is_own(tool: str) -> bool:
    event = permission.read(json.dumps(EVENT | {"tool_name": tool}).encode())
    assert event
    return permission.is_own(event)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_of_pro0_is_allowed_by_the_hook_itself(kind: str) -> None:
    """Planning, Claude asks before them too."""
    assert all(is_own(f"mcp__pro0__{tool['name']}") for tool in json.loads(listing(kind).tools))
    assert json.loads(permission.allowed())["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_tool_of_another_server_is_asked_for(name: str) -> None:
    """Behaviour 3.28: only a person answers."""
    assert not is_own(OTHERS[name])


def test_a_claude_that_no_longer_waits_has_gone_on(tmp_path: Path) -> None:
    dialog, tell = shown(tmp_path)
    assert not dialog.has_gone_on()
    for status, gone_on in (("waiting", False), ("busy", True), ("idle", True)):
        tell(status)
        assert dialog.has_gone_on() is gone_on


def test_a_dialog_is_over_once_claude_has_waited_and_no_longer_does(tmp_path: Path) -> None:
    """Not before it is drawn, nor where another one follows at once."""
    dialog, tell = shown(tmp_path)
    seen = []
    for now, status in enumerate(("", "busy", "busy", "waiting", "busy", "waiting", "idle", "busy")):
        if status:
            tell(status)
        seen.append((dialog.is_over(now * permission.FOR_GOOD), dialog.may_be_over))
    assert seen == [(False, False)] * 4 + [(False, True), (False, False), (False, True), (True, True)]


def shown(folder: Path) -> tuple[permission.Dialog, Callable[[str], None]]:
    """Return the dialog of this process as a Claude Code, and what tells its status."""
    file = folder / "sessions" / f"{os.getpid()}.json"
    file.parent.mkdir()
    dialog = permission.Dialog([1, os.getpid()], {"CLAUDE_CONFIG_DIR": str(folder)})

    def tell(status: str) -> None:
        file.write_text(json.dumps({"status": status}))

    return dialog, tell
