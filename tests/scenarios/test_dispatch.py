"""Ten workers in ten worktrees of one repository, and leads that are killed while they are started and harvested."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.model.task import Draft, Status
from pro0.ops.work import workers
from tests.crash.lanes import LANES, SOAK, TEST, counted
from tests.engine.crew import Crew, crew
from tests.repositories import git, repository_in
from tests.waiting import wait_until

TEN = 10
ROUNDS = {TEST: 1, SOAK: 20}
KILLS = {TEST: 3, SOAK: 50}
WORK = """
echo $PRO0_TASK_ID > $PRO0_TASK_ID
echo $PRO0_TASK_ID > common
sleep 0.$((${PRO0_TASK_ID#task-} % 10))
git add $PRO0_TASK_ID && git commit -qm work
"""
"""Each commits a file of its own, and leaves one of the same name for all uncommitted."""


@pytest.fixture
def yard(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A team in a repository, whose lead no guard brings back."""
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    with crew(home, tmp_path, "headless") as made:
        repository_in(made.project)
        yield made


def delegate(yard: Crew, run: str) -> list[str]:
    drafts = [Draft(title=f"one of {TEN}", run=run, agent="shell") for _ in range(TEN)]
    return [task.id for task in workers.delegate(yard.context, drafts)]


def harvested(yard: Crew, ids: list[str]) -> None:
    """Wait until tasks are settled, and nothing of their workers is left to be done."""
    yard.settled(*ids, seconds=300)
    wait_until(lambda: not yard.team.wanted.read().seats, 300, "no worker is left")
    wait_until(lambda: not yard.team.runtime.read().seats, 60, "nothing is recorded of them")


@pytest.mark.parametrize("lane", LANES)
def test_ten_at_once_do_not_cross(lane: str, yard: Crew) -> None:
    """must show 4, AC-89, AC-92: no failed worktree, no file of another's, all harvested, reported and merged"""
    yard.lead()
    for _ in range(ROUNDS[lane]):
        ids = delegate(yard, WORK)
        harvested(yard, ids)
        assert {yard.task(id).status for id in ids} == {Status.COMPLETED}
        assert not yard.team.runtime.read().failures
        for id in ids:
            branch = yard.task(id).branch
            assert branch == f"teams/t{id.removeprefix('task-')}/{id}"
            assert git(yard.project, "diff", "--name-only", f"main...{branch}").split() == ["common", id]
            assert git(yard.project, "show", f"{branch}:common") == git(yard.project, "show", f"{branch}:{id}") == id
        assert len(git(yard.project, "worktree", "list").splitlines()) == 1
        assert {report(yard, id) for id in ids} == {1}
        first, *others = ids
        workers.merge(yard.context, first)
        assert {workers.predict(yard.context, id) for id in others} == {("common",)}
        for id in others:  # as a person would do it
            git(yard.project, "merge", "-q", "-X", "ours", "-m", "by hand", str(yard.task(id).branch))
            workers.merge(yard.context, id)
        assert set(ids) <= {path.name for path in yard.project.iterdir()}
        assert git(yard.project, "branch", "--list", "teams/*") == ""
    counted(lane, "workers in worktrees", "all", TEN * ROUNDS[lane])


def report(yard: Crew, id: str) -> int:
    """How often the leader was told of a worker's end, in all its mail."""
    text = f"completed {id}:"
    box = yard.team.mailbox("lead")
    return len([message for message in box.since(box.head.read(), 0) if text in message.content])


@pytest.mark.parametrize("lane", LANES)
def test_leads_that_are_killed_lose_nothing_and_run_nothing_twice(lane: str, yard: Crew) -> None:
    """must show 5, for dispatch; AC-93: workers go on, are adopted, harvested and reported once"""
    chance, ran, ids = random.Random(lane), yard.project.parent / "ran", list[str]()
    for kill in range(KILLS[lane]):
        if kill % 3 == 0:
            ids += delegate(yard, f"echo $PRO0_TASK_ID >> {ran}; {WORK}")
        lead = yard.lead()
        time.sleep(chance.random() * 1.5)
        os.kill(lead.pid, signal.SIGKILL)
        lead.wait()
        yard.remember()
    yard.lead()
    harvested(yard, ids)
    assert sorted(ran.read_text().split()) == sorted(ids), "each once"
    assert {yard.task(id).status for id in ids} == {Status.COMPLETED}
    for id in ids:
        assert git(yard.project, "show", f"{yard.task(id).branch}:{id}") == id
        assert report(yard, id) == 1
    assert len(git(yard.project, "worktree", "list").splitlines()) == 1
    assert git(yard.project, "fsck", "--no-dangling", "--no-progress") == ""
    counted(lane, "kills of leads of workers", "all", KILLS[lane])
