"""Claude Code's permission hook: what it reads, and what it answers in Claude's words."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.agents.claude import permission
from pro0.mcp.listing import KINDS, listing
from pro0.model.need import Choice, PermissionAnswer
from pro0.model.stored import Process
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


@pytest.mark.parametrize("start", ["7", "8", None])
def test_what_other_claudes_left_says_nothing_of_a_dialog(tmp_path: Path, start: str | None) -> None:
    """A killed one leaves its file to a later process above the hook, and the nearest Claude shows the dialog."""
    dialog, tell = shown(tmp_path)
    dead = {"status": "busy"} | ({"procStart": start} if start else {})
    (tmp_path / "sessions" / "1.json").write_text(json.dumps(dead))
    tell("waiting")
    assert not dialog.has_gone_on()
    assert [dialog.is_over(now) for now in (0.0, 1.0)] == [False, False]
    (tmp_path / "sessions" / "1.json").write_text(json.dumps(dead | {"status": "waiting"}))
    tell("busy")
    assert dialog.has_gone_on()
    assert [dialog.is_over(now) for now in (2.0, 3.0)] == [False, True]


def test_a_file_of_an_earlier_process_with_the_pid_of_the_nearest_is_passed_over(tmp_path: Path) -> None:
    dialog, tell = shown(tmp_path)
    tell("busy", "6")
    assert not dialog.has_gone_on()
    (tmp_path / "sessions" / "1.json").write_text(json.dumps({"status": "busy", "procStart": "7"}))
    assert dialog.has_gone_on()


def shown(folder: Path) -> tuple[permission.Dialog, Callable[..., None]]:
    """Return the dialog of a Claude Code below another process, and what tells its status."""
    file = folder / "sessions" / "2.json"
    file.parent.mkdir()
    above = [Process(pid=pid, start=start, boot_id="b") for pid, start in ((3, "9"), (2, "8"), (1, "7"))]
    dialog = permission.Dialog(above, {"CLAUDE_CONFIG_DIR": str(folder)})

    def tell(status: str, start: str = "8") -> None:
        file.write_text(json.dumps({"status": status, "procStart": start}))

    return dialog, tell
