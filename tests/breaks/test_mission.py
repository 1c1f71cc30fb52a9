"""What the scenarios of runs, trees and workers showed when they were played."""

import os
import signal
from pathlib import Path

import pytest

from tests.breaks.program import Program, comes, needs_you
from tests.waiting import STUCK, wait_until

TURN = 'cat > "$HOME/$PRO0_TASK_ID.$(ls "$HOME" | wc -l)"\necho "<promise>CHECKPOINT: phase 1 done</promise>"\n'
ASKS = r"""
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' "$@"; }
about='{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"one","version":"1"}}'
asked='{"name":"task_request_review","arguments":{"task_id":"task-1","reason":"shall I drop the table?"}}'
{ call 1 initialize "$about"; call 2 tools/call "$asked"; } | $PRO0 mcp > "$HOME/said"
exec sleep 1000
"""


def last_prompt(id: str) -> str:
    """Return what the agent was given in its last turn at a task."""
    found = Path(os.environ["HOME"]).glob(f"{id}.*")
    return max(found, key=lambda path: int(path.suffix[1:])).read_text()


def test_1_a_verdict_reaches_the_agent(pro0: Program) -> None:
    """Approval and rejection, both without a text, are told in the next prompt of their task."""
    agent = str(pro0.script("agent", TURN))
    pro0.start("--lead", "none")
    pro0("task", "create", "all", "--type", "epic")
    for title in ("one", "two"):
        pro0("task", "create", title, "--parent", "1")
    pro0("run", "1", "--headless", "--", agent)
    for verdict, id in (("approve", "2"), ("reject", "3")):
        given = pro0.typed("task", verdict, id)
        assert given.code == 0, given
    pro0("run", "1", "--headless", "--", agent)
    assert 'approved the CHECKPOINT "phase 1 done"' in last_prompt("task-2"), (
        "the prompt after an approval says nothing of it"
    )
    assert 'rejected the CHECKPOINT "phase 1 done"' in last_prompt("task-3"), (
        "the prompt after a rejection says nothing of it"
    )


def started(pro0: Program, script: str) -> None:
    """Start a supervised task whose session is a script."""
    pro0.settings(f"agents:\n  mine: {{argv: [{pro0.script('mine', script)}]}}\n")
    pro0.start("--lead", "none")
    pro0("task", "create", "one", "--policy", "supervised")
    pro0("task", "start", "1", "--agent", "mine")


def test_2_an_answer_completes_nothing(pro0: Program) -> None:
    """The answer to what an agent asks for review in the middle of its work lets it go on."""
    started(pro0, ASKS)
    wait_until(lambda: pro0.task("1")["awaiting"], STUCK, "it has asked", every=0.2)
    answered = pro0.typed("task", "approve", "1", "no, keep it, and go on")
    assert answered.code == 0, answered
    assert pro0.task("1")["status"] != "completed", "the answer to its agent's question completes a task"


def test_3_a_tree_that_nobody_starts_is_a_need(pro0: Program) -> None:
    """A supervised task that was retried is started, or the person is told to start it."""
    started(pro0, '$PRO0 task fail 1 "I cannot"\nexec sleep 1000\n')
    wait_until(lambda: pro0.task("1")["status"] == "failed", STUCK, "it has failed", every=0.2)
    pro0("task", "retry", "1")
    told = comes(
        lambda: "task start" in needs_you(pro0("team", "status")) or pro0.task("1")["status"] != "pending", 0.5
    )
    assert told, "needs you is silent about a supervised task that nobody starts"


def test_3b_resume_starts_no_dead(pro0: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `team resume` says of a session that died with its lead is what has become of it."""
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    started(pro0, "exec sleep 1000\n")
    wait_until(lambda: pro0.member("t1").get("pid"), STUCK, "its session runs", every=0.2)
    lead = pro0.json("team", "status")["lead"]["pid"]
    for pid in (lead, pro0.member("t1")["pid"]):
        os.kill(pid, signal.SIGKILL)
    said = pro0("team", "resume", "alpha")
    assert "started t1" not in said, "resume says that it started a session that is dead"
