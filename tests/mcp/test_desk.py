"""A server that answers for hours stays as small as after its first answer."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pro0.mcp.protocol import Call
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.table import TOOLS, perform
from pro0.model.runtime import State
from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.store.files import File
from tests.teams import granted, human, make_team, set_state


def test_what_nobody_has_changed_is_decoded_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title="one")])
    decoded: Counter[str] = Counter()
    parsed = File._parsed

    def counting(file: File[Any], data: bytes) -> Any:
        decoded[file.path.name] += 1
        return parsed(file, data)

    tool_context = ToolContext(granted(team, "w1"), home)
    monkeypatch.setattr(File, "_parsed", counting)
    shown = [perform(TOOLS["task_get"], tool_context, _call()) for _ in range(5)]
    assert shown[0] == shown[4]
    assert "one" in str(shown[0])
    assert decoded["tasks.json"] == 1
    tasks.create(human(team), [Draft(title="two")])
    perform(TOOLS["task_get"], tool_context, _call())
    assert decoded["tasks.json"] == 2


def _call() -> Call:
    return Call(1, "task_get", {"task_id": "1"}, lambda *_: None, stateless=True)


@pytest.mark.parametrize("tool", ["list_tasks", "task_get", "message", "create_task"])
def test_half_a_character_is_bad_input(tool: str, home: Path) -> None:
    """JSON may spell it, and no text of ours may hold it: said in one line, and no fault of pro0."""
    tool_context = ToolContext(granted(make_team(home, "w1"), "w1"), home)
    for arguments in (
        {"status": "\ud800"},
        {"task_id": "\ud800"},
        {"to": "w1", "content": ["\udfff"]},
        {"\ud800": "x"},
    ):
        said = str(perform(TOOLS[tool], tool_context, Call(1, tool, {**arguments}, lambda *_: None, stateless=True)))
        assert "internal error" not in said
        assert "not valid Unicode" in said or "may not call" in said


def test_a_message_to_a_crashed_member_says_that_it_waits(home: Path) -> None:
    """The letter is kept for the restart, and its sender is told so."""
    team = make_team(home, "w1", "w2")
    set_state(team, "w1", State.CRASHED)
    tool_context = ToolContext(granted(team, "w2"), home)
    arguments: dict[str, object] = {"to": "w1", "content": "when you are back"}
    shown = str(perform(TOOLS["message"], tool_context, Call(1, "message", arguments, lambda *_: None, stateless=True)))
    assert "w1 has crashed; restart it: pro0 member restart w1" in shown
    assert [message.content for message in team.mailbox("w1").head.read().messages] == ["when you are back"]
