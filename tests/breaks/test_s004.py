"""What the rows of the agent-teams document showed when each was tried."""

import json
import os
import signal

from tests.breaks.program import SOURCE, Program, comes, needs_you
from tests.waiting import STUCK, wait_until

TASKS = {
    "tasks": [
        {
            "id": "task-1",
            "description": "Implement login UI",
            "status": "pending",
            "dependencies": [],
            "createdAt": "2026-02-06T10:00:00Z",
        }
    ]
}
LISTING = (
    {
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}},
    },
    {"id": 2, "method": "tools/list", "params": {}},
)


def test_prd_its_tasks_are_read(pro0: Program) -> None:
    """A list of tasks in the document's own shape is no damage."""
    pro0.start("--lead", "none")
    pro0("team", "stop", "alpha", "--force")
    (pro0.home / "tasks" / "alpha" / "tasks.json").write_text(json.dumps(TASKS))
    read = pro0.run("task", "list")
    assert "corrupt" not in read.err, "the document's own list of tasks is corrupt"
    assert "Implement login UI" in read.out, read


def test_prd_its_readers_see_a_description(pro0: Program) -> None:
    """A task that was made of one text has it where the document's readers look."""
    pro0.start("--lead", "none")
    pro0("task", "create", "Implement login UI")
    [task] = json.loads((pro0.home / "tasks" / "alpha" / "tasks.json").read_bytes())["tasks"]
    assert task["description"] == "Implement login UI", "the description of a task is empty"


def test_documents_every_tool_has_a_page(pro0: Program) -> None:
    """Each tool that an agent has is on a page, and the settings have a schema."""
    asked = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in LISTING)
    answers = [json.loads(line) for line in pro0.run("mcp", stdin=asked).out.splitlines()]
    tools = [tool["name"] for answer in answers for tool in answer.get("result", {}).get("tools", ())]
    assert len(tools) > 20, answers
    missing = [name for name in tools if f"`{name}`" not in pro0.pages()]
    assert not missing, "tools of agents are named on no page"


def test_documents_the_settings_have_a_schema(pro0: Program) -> None:
    """An editor can check what a person writes into the settings."""
    schemas = [path.read_text() for path in (SOURCE / "docs" / "schema").glob("*.json")]
    assert any('"maxTeammates"' in text for text in schemas), "there is no schema of the settings"


def test_rpc_is_there(pro0: Program) -> None:
    """A task is made and seen over JSON-RPC."""
    pro0.start("--lead", "none")
    made = pro0.run("rpc", "task.create", '{"title": "one", "description": "two", "role_id": null}')
    assert made.code == 0, "there is no JSON-RPC"
    assert "one" in pro0("task", "list")


def test_1_who_cannot_do_a_task_is_said(pro0: Program) -> None:
    """A task without a command is given to a member that only runs commands: this is said at once."""
    pro0.start("-m", "w1=shell")
    said = pro0("task", "create", "Implement login UI", "--assignee", "w1")
    assert "w1 cannot do task-1" in said, "a task is given in silence to who cannot do it"


def test_2_ready_tasks_without_a_taker_are_a_need(pro0: Program) -> None:
    """Needs you names tasks that nobody there takes."""
    pro0.start("-m", "w1=shell")
    pro0("task", "create", "one")
    told = comes(lambda: "task-1" in needs_you(pro0("team", "status")), 0.5)
    assert told, "needs you is silent about ready tasks that nobody takes"


def test_3_an_epic_with_a_failed_subtask_is_open(pro0: Program) -> None:
    """It is not completed."""
    pro0.start("-m", "w1=shell")
    pro0("task", "create", "all", "--type", "epic")
    pro0("task", "create", "one", "--run", "false", "--parent", "1")
    wait_until(lambda: pro0.task("2")["status"] == "failed", STUCK, "it has failed", every=0.2)
    assert pro0.task("1")["status"] != "completed", "an epic whose only subtask failed is completed"


def test_4_a_person_ticks_a_task_off(pro0: Program) -> None:
    """One command is enough."""
    pro0.start("--lead", "none")
    pro0("task", "create", "one")
    done = pro0.typed("task", "done", "1")
    assert done.code == 0, "a person cannot tick a pending task off"
    assert pro0.task("1")["status"] == "completed"


def test_8_the_last_words_outlive_the_pane(pro0: Program) -> None:
    """In tmux a member that was killed is read as before."""
    pro0.start("--lead", "none", mode="tmux")
    pro0("member", "spawn", "w2", "--agent", "command", "--", "sh", "-c", "echo the last words; exec sleep 1000")
    wait_until(lambda: "the last words" in pro0("member", "peek", "w2"), STUCK, "it has said them", every=0.2)
    os.kill(pro0.member("w2")["pid"], signal.SIGKILL)
    wait_until(lambda: pro0.member("w2")["state"] == "crashed", STUCK, "it has crashed", every=0.2)
    assert "the last words" in pro0.run("member", "peek", "w2").out, (
        "the pane of a crashed member is gone with its words"
    )
