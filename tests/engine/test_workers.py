"""Workers, with a real lead, real worktrees and real processes (S002; issue 6, build 4)."""

import json
import sys
import tempfile
from pathlib import Path

import pytest

from pro0.config import USER_FILE
from pro0.engine.cleanup import cleanup
from pro0.errors import Kept, NotFound, Refused
from pro0.model.task import Draft, Status
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import teams
from pro0.ops.work import workers
from pro0.rules.lead.dispatch import Stage
from tests.engine.crew import PATIENCE, Crew, crew
from tests.repositories import git, repository_in
from tests.waiting import wait_until

COMMIT = "git add -A && git commit -qm work"


@pytest.fixture
def yard(alpha: Crew) -> Crew:
    """A team with a lead, in a repository."""
    repository_in(alpha.project)
    alpha.lead()
    return alpha


def delegate(yard: Crew, *runs: str, shared: bool = False) -> list[str]:
    drafts = [Draft(title=f"do {run}", run=run, agent="shell", shared=shared) for run in runs]
    return [task.id for task in workers.delegate(yard.context, drafts)]


def is_up(yard: Crew, id: str) -> bool:
    """Whether a worker has made the file `up`."""
    tree = yard.task(id).worktree
    return tree is not None and Path(tree, "up").exists()


def over(yard: Crew, *ids: str) -> None:
    """Wait until tasks are settled and their workers are gone."""
    yard.settled(*ids, seconds=120)
    wait_until(lambda: not {seat.task for seat in yard.team.wanted.read().seats} & set(ids), 120, f"{ids} are gone")


def test_a_worker_commits_and_is_gone(yard: Crew) -> None:
    """AC-85, S002-049, S002-064: dirty files are committed too, the branch stays, the leader is told how to merge."""
    [id] = delegate(yard, f"echo 1 > a && {COMMIT} && echo 2 > a && {COMMIT} && echo 3 > b; echo done")
    over(yard, id)
    task = yard.task(id)
    assert (task.status, task.result, task.branch, task.worktree) == (
        Status.COMPLETED,
        "done",
        "teams/t1/task-1",
        None,
    )
    assert git(yard.project, "rev-list", "--count", "main..teams/t1/task-1") == "3"
    assert git(yard.project, "show", "teams/t1/task-1:b") == "3"
    assert len(git(yard.project, "worktree", "list").splitlines()) == 1
    [report] = yard.notices("Worker t1 completed task-1")
    assert "done" in report
    assert "3 commits on teams/t1/task-1: 2 files changed" in report
    assert "pro0 worker merge t1" in report
    workers.merge(yard.context, "t1")
    assert (yard.project / "a").read_text() == "2\n"
    assert git(yard.project, "branch", "--list", "teams/*") == ""
    with pytest.raises(NotFound, match="left no unmerged work"):
        workers.merge(yard.context, "t1")


def test_one_that_ends_on_another_branch_leaves_its_own(yard: Crew) -> None:
    """behaviour 2.20, 3.10: what it is on when it ends hides nothing"""
    [id] = delegate(yard, f"echo 1 > a && {COMMIT} && echo 2 > a && {COMMIT} && git switch -qc scratch main; echo 3 >b")
    over(yard, id)
    assert (yard.task(id).status, yard.task(id).branch) == (Status.COMPLETED, "teams/t1/task-1")
    [report] = yard.notices("2 commits on teams/t1/task-1: 1 file changed")
    assert "teams/t1/saved-1 is not merged either; if it is good: git merge teams/t1/saved-1" in report
    yard.remember()
    with pytest.raises(Kept, match="kept: teams/t1/saved-1, teams/t1/task-1"):
        cleanup(yard.store, "alpha", force=True, show=yard.shown.append)


def test_one_that_changed_nothing_leaves_nothing(yard: Crew) -> None:
    """AC-85: no commits and clean: the branch is deleted"""
    [id] = delegate(yard, "true")
    over(yard, id)
    assert yard.task(id).branch is None
    assert git(yard.project, "branch", "--list", "teams/*") == ""


def test_a_crash_is_reported_with_the_last_words(yard: Crew) -> None:
    """AC-86, S002-067: failed, with its stderr's tail, its commits kept"""
    [id] = delegate(yard, f"echo 1 > a && {COMMIT}; echo out of cheese >&2; kill -9 $(ps -o ppid= $$)")
    over(yard, id)
    task = yard.task(id)
    assert task.status is Status.FAILED
    assert "worker process died unexpectedly" in task.closed_reason
    [report] = yard.notices("Worker t1 crashed on task-1")
    assert "out of cheese" in report
    assert git(yard.project, "show", "teams/t1/task-1:a") == "1"
    assert yard.task(id).branch == "teams/t1/task-1"


DIES = """
import os, sys, time
print("out of cheese", file=sys.stderr, flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
os.kill(os.getpid(), 9)
"""


def test_workers_in_panes(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-86: also where nothing of a pane outlives it, the last that was seen of it is reported"""
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    monkeypatch.setenv("PRO0_STUCK_SECONDS", "1")
    go = tmp_path / "go"
    with crew(home, tmp_path, "tmux") as yard:
        repository_in(yard.project)
        (home / USER_FILE).write_text(json.dumps({"agents": {"dies": {"argv": [sys.executable, "-c", DIES, str(go)]}}}))
        yard.lead()
        [first] = delegate(yard, f"echo 1 > a && {COMMIT}")
        [second] = workers.delegate(yard.context, [Draft(title="t", agent="dies")])
        wait_until(lambda: yard.notices("t2 may be stuck on task-2"), PATIENCE, "it was looked at, more than once")
        yard.remember()
        go.touch()
        over(yard, first, second.id)
        assert yard.notices("Worker t1 completed task-1")
        [report] = yard.notices("Worker t2 crashed on task-2")
        assert "out of cheese" in report


def test_what_an_earlier_worker_of_the_task_left_is_kept_and_named(yard: Crew) -> None:
    """behaviour 3.10: the retried task has a branch of its own, so the first one is in its history alone"""
    [id] = delegate(yard, f"date +%N > a && {COMMIT}; exit 1")
    over(yard, id)
    assert yard.task(id).branch == "teams/t1/task-1"
    gates.retry(yard.context, id)
    wait_until(lambda: yard.task(id).branch == "teams/t1/task-1-2", PATIENCE, "another worker works on it")
    over(yard, id)
    assert workers.left_before(yard.context, yard.task(id)) == ["teams/t1/task-1"]
    yard.stop()
    with pytest.raises(Kept, match="kept: teams/t1/task-1, teams/t1/task-1-2"):
        cleanup(yard.store, "alpha", force=False, show=yard.shown.append)
    assert git(yard.project, "rev-list", "--count", "main..teams/t1/task-1") == "1"


def test_one_that_exits_without_closing_has_failed(yard: Crew) -> None:
    """AC-88: whatever its exit code"""
    drafts = [Draft(title="t", agent="quiet", shared=True)]
    (yard.store.home / USER_FILE).write_text("agents: {quiet: {argv: ['true']}}")
    [task] = workers.delegate(yard.context, drafts)
    over(yard, task.id)
    assert yard.task(task.id).status is Status.FAILED
    assert "exited without closing its task" in yard.task(task.id).closed_reason
    assert yard.notices("Worker t1 failed on task-1: ")


def test_kill_ends_the_whole_tree_and_saves_what_is_there(yard: Crew) -> None:
    """AC-87: TERM, then KILL, no stray child; the task has failed; killing what is over does nothing"""
    [id] = delegate(yard, "trap : TERM; echo 1 > a; (trap : TERM; sleep 300) & touch up; while :; do sleep 1; done")
    wait_until(
        lambda: yard.task(id).worktree and Path(yard.task(id).worktree or "", "up").exists(), PATIENCE, "it works"
    )
    with pytest.raises(Refused, match="still works"):
        workers.merge(yard.context, "t1")
    assert workers.kill(yard.context, "t1").agent_id == "t1"
    over(yard, id)
    assert (yard.task(id).status, yard.task(id).closed_reason) == (Status.FAILED, "killed by human")
    assert git(yard.project, "show", "teams/t1/task-1:a") == "1"
    assert not yard.left()
    assert workers.kill(yard.context, "t1").stage is Stage.FAILED


def test_more_than_may_work_at_once_wait_in_line(yard: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """rulings 2, dispatch: up to maxWorkers at once; the others are shown with their place"""
    gate = yard.project.parent / "gate"
    ids = delegate(yard, *[f"until test -e {gate}; do sleep 0.1; done"] * 12)
    wait_until(lambda: len([w for w in workers.workers(yard.context) if w.stage is Stage.WORKING]) == 10, 120, "ten")
    line = [(worker.task.id, worker.place) for worker in workers.workers(yard.context) if worker.stage is Stage.IN_LINE]
    assert line == [("task-11", 1), ("task-12", 2)]
    yard.remember()
    gate.touch()
    over(yard, *ids)
    assert {yard.task(id).status for id in ids} == {Status.COMPLETED}


def test_who_shares_the_checkout_has_no_branch(yard: Crew) -> None:
    """S002-014"""
    [id] = delegate(yard, "pwd > where", shared=True)
    over(yard, id)
    assert (yard.project / "where").read_text().strip() == str(yard.project)
    assert yard.task(id).branch is None
    assert yard.notices("Worker t1 completed task-1")


def test_a_worker_knows_what_it_is_and_makes_no_team(yard: Crew) -> None:
    """AC-94, S002-016 to 018"""
    [id] = delegate(yard, "echo $PI_TEAMS_WORKER $PI_TEAMS_TICKET_ID; pro0 team start beta; echo $?")
    over(yard, id)
    said = (yard.task(id).result or "").splitlines()
    assert (said[0], said[-1]) == ("1 task-1", "4")


def test_what_a_worker_says_reaches_the_leader_and_back(yard: Crew) -> None:
    """AC-90: surfaced, and the answer is there at the worker's next look"""
    look = "until pro0 task show 1 | grep -q 'use the old one'; do sleep 0.2; done"
    [id] = delegate(yard, f"pro0 task comment 1 'BLOCKED: need a key'; {look}; echo had it")
    wait_until(lambda: yard.notices("Worker t1 on task-1: BLOCKED: need a key"), PATIENCE, "the leader sees it")
    tasks.comment(yard.context, id, "use the old one")
    over(yard, id)
    assert (yard.task(id).result or "").endswith("had it")
    assert len(yard.notices("Worker t1 on task-1")) == 1


def test_only_who_neither_shows_nor_runs_anything_may_be_stuck(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-84: silent with a child, no warning; silent without one, or with tools of ours, a warning, and it goes on"""
    monkeypatch.setenv("PRO0_STUCK_SECONDS", "2")
    repository_in(alpha.project)
    alpha.lead()
    silent = "import time; time.sleep(300)"
    serve = (
        "import subprocess, sys; kept = subprocess.Popen([sys.executable, '-m', 'pro0', 'mcp'], stdin=-1, stdout=-1);"
    )
    programs = {"builds": ["sh", "-c", "sleep 300; true"], "silent": [sys.executable, "-c", silent]}
    programs["served"] = [sys.executable, "-c", serve + silent]
    agents = {name: {"argv": argv} for name, argv in programs.items()}
    (alpha.store.home / USER_FILE).write_text(json.dumps({"agents": agents}))
    workers.delegate(alpha.context, [Draft(title=name, agent=name, shared=True) for name in agents])
    wait_until(lambda: alpha.notices("may be stuck on task-2"), PATIENCE, "a warning")
    wait_until(lambda: alpha.notices("may be stuck on task-3"), PATIENCE, "a warning of the one with tools")
    assert not alpha.notices("may be stuck on task-1")
    alpha.remember()
    assert alpha.task("task-2").status is Status.IN_PROGRESS


def test_two_that_conflict(yard: Crew) -> None:
    """must show 4: predicted, nothing half-merged, both branches kept"""
    ids = delegate(yard, f"echo one > README; {COMMIT}", f"echo two > README; {COMMIT}")
    over(yard, *ids)
    assert workers.predict(yard.context, "t2") == ()
    workers.merge(yard.context, "t1")
    head = git(yard.project, "rev-parse", "HEAD")
    assert workers.predict(yard.context, "t2") == ("README",)
    with pytest.raises(Refused, match="README"):
        workers.merge(yard.context, "t2")
    assert (git(yard.project, "rev-parse", "HEAD"), git(yard.project, "status", "--porcelain")) == (head, "")
    assert yard.task("task-2").branch == "teams/t2/task-2"
    assert git(yard.project, "branch", "--list", "teams/*", "--format=%(refname:short)") == "teams/t2/task-2"


def test_one_that_was_retried_begins_anew_and_loses_nothing(yard: Crew) -> None:
    """S002-059: no worktree is used again; the first try's branch stays"""
    [id] = delegate(yard, f"echo $(date +%s%N) > a; {COMMIT}; test -e ../../go")
    over(yard, id)
    first = git(yard.project, "rev-parse", "teams/t1/task-1")
    gates.retry(yard.context, id)
    wait_until(lambda: yard.task(id).epoch == 2 and yard.task(id).status is Status.FAILED, 60, "it failed again")
    over(yard, id)
    assert git(yard.project, "rev-parse", "teams/t1/task-1") == first
    assert yard.task(id).branch == "teams/t1/task-1-2"


def test_a_team_that_was_stopped_in_the_middle_harvests_when_it_goes_on(yard: Crew) -> None:
    """S002-050: who was ended has failed, and what it had done is saved"""
    [id] = delegate(yard, "echo 1 > a; touch up; sleep 300")
    wait_until(lambda: is_up(yard, id), PATIENCE, "it works")
    yard.remember()
    yard.stop(timeout=0, force=True)
    assert yard.task(id).status is Status.FAILED
    assert (Path(yard.task(id).worktree or "") / "a").exists()
    teams.resume(yard.context)
    yard.lead()
    over(yard, id)
    assert git(yard.project, "show", "teams/t1/task-1:a") == "1"
    assert len(yard.notices("Worker t1 ")) == 1


def test_all_is_harvested_when_nothing_moves_any_more(yard: Crew) -> None:
    """rulings 3.19: who waits for the team can merge at once"""
    ids = delegate(yard, *["echo 1 > $PRO0_TASK_ID"] * 3)
    assert yard.at_rest(120).outcome.value == 0
    for id in ids:
        workers.merge(yard.context, id)
    assert set(ids) <= {path.name for path in yard.project.iterdir()}


def test_cleanup_in_the_middle_keeps_what_was_done(yard: Crew) -> None:
    """S002-028, 029: all workers end, all worktrees go, no work is lost"""
    ids = delegate(yard, *["echo 1 > a; touch up; sleep 300"] * 3)
    wait_until(lambda: all(is_up(yard, id) for id in ids), PATIENCE, "they work")
    yard.remember()
    with pytest.raises(Kept, match="teams/t1/task-1, teams/t2/task-2, teams/t3/task-3"):
        cleanup(yard.store, "alpha", force=True, show=yard.shown.append)
    assert not yard.left()
    assert git(yard.project, "show", "teams/t3/task-3:a") == "1"
    assert len(git(yard.project, "worktree", "list").splitlines()) == 1


def test_without_room_for_scratch_files_a_worktree_stays_and_the_others_go_on(
    alpha: Crew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 14: its report says where its work is, the next worker is harvested, and the lead ends as always"""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # only the lead is without room
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    repository_in(alpha.project)
    alpha.lead()
    go = tmp_path / "go"
    [first] = delegate(alpha, f"echo 1 > a; touch up; until [ -e {go} ]; do sleep 0.1; done")
    wait_until(lambda: is_up(alpha, first), PATIENCE, "it works")
    full = scratch.rename(tmp_path / "full")
    go.touch()
    over(alpha, first)
    [report] = alpha.notices("Worker t1 completed task-1")
    assert f"stays: no scratch file can be written in {scratch}" in report
    assert Path(alpha.task(first).worktree or "", "a").exists()
    full.rename(scratch)
    over(alpha, second := delegate(alpha, "echo 2 > b")[0])
    assert git(alpha.project, "show", f"{alpha.task(second).branch}:b") == "2"
    scratch.rename(full)
    alpha.stop()
    assert alpha.leads[0].wait(PATIENCE) == 0
    with pytest.raises(Kept, match="teams/t1/task-1"):
        cleanup(alpha.store, "alpha", force=False, show=alpha.shown.append)
    assert git(alpha.project, "show", "teams/t1/task-1:a") == "1"
