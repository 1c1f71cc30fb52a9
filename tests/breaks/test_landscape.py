"""What people wanted of tools like this one, tried."""

import sys
from pathlib import Path

from tests.breaks.program import Program, comes
from tests.repositories import commit
from tests.waiting import STUCK, wait_until

REPORTS = r"""
case "$*" in *--version*) echo 1; exit;; esac
$PRO0 task claim 1 > "$HOME/claimed" 2>&1
echo "I looked at the parser: there are 3 bugs."
printf '> '
exec sleep 1000
"""
DILIGENT = Path(__file__).parents[1] / "programs" / "diligent.py"
JOBS = """{"look": {"file": "a.txt", "text": "a", "asks": {"tool_name": "Bash", "tool_input": {"command": "ls"}}}}"""


def test_l1_no_last_word_is_lost(pro0: Program) -> None:
    """Who ends a turn with a claim is asked for a word, and its last words are in the mail of the lead."""
    argv = f"[{pro0.script('mine', REPORTS)}]"
    pro0.settings(f'agents:\n  mine: {{argv: {argv}, screens: {{prompt: "> "}}}}\n')
    pro0.start("--lead", "none")
    pro0("task", "create", "one")
    pro0("member", "spawn", "ada", "--agent", "mine")
    wait_until(lambda: pro0.task("1")["status"] == "in_progress", STUCK, "it has claimed", every=0.2)
    heard = comes(lambda: "there are 3 bugs" in pro0("inbox", "--all") + pro0("member", "show", "ada"), 0.5)
    assert heard, "the last words of a turn reach nobody"
    assert pro0.member("ada")["task"] == "task-1", "a claim is not shown beside its member"


def test_l2_a_worktree_has_what_its_project_lists(pro0: Program) -> None:
    """Ignored files that .worktreeinclude names are in a member's worktree."""
    commit(pro0.project, ".gitignore", ".env\n")
    commit(pro0.project, ".worktreeinclude", ".env\n")
    (pro0.project / ".env").write_text("KEY=1\n")
    pro0.start("--lead", "none", "--worktrees", "-m", "w1=shell")
    pro0("task", "create", "one", "--run", "test -f .env")
    wait_until(lambda: pro0.task("1")["status"] in ("completed", "failed"), STUCK, "it is over", every=0.2)
    assert pro0.task("1")["status"] == "completed", "a worktree has no ignored file that its project lists"


def test_l3_a_permission_is_answered_from_another_terminal(pro0: Program) -> None:
    """What needs you names the request, and the command that answers it; the agent then goes on."""
    assert pro0.run("member", "answer", "--help").code == 0, "a permission is answered only in the member's own pane"
    (Path.home() / "jobs.json").write_text(JOBS)
    pro0.script("claude", f'exec {sys.executable} -I {DILIGENT} "$@"\n')
    pro0.start("--lead", "none", "-m", "ada=claude")
    pro0("task", "create", "look", "--assignee", "ada")
    wait_until(lambda: "member answer" in pro0("needs"), STUCK, "it asks", every=0.2)
    [need] = [need for need in pro0.json("needs") if need["kind"] == "permission"]
    answered = pro0.typed(*need["command"].split()[1:])
    assert answered.code == 0, answered
    wait_until(lambda: pro0.task("1")["status"] == "completed", STUCK, "it has gone on", every=0.2)
