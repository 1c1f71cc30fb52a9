"""The main story: three members, a hundred tasks that depend on each other, an agreed end, nothing left."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.engine.cleanup import cleanup
from pro0.errors import Refused
from pro0.model.runtime import State
from pro0.model.task import Draft, Status
from pro0.ops.tasks import tasks
from pro0.ops.team.progress import WorkState
from tests.engine.crew import PATIENCE, Crew, kill

TASKS = 100
DEPTH = 10
NAMES = ("w1", "w2", "w3")


def graph(log: Path) -> list[Draft]:
    """Ten layers of ten; each task depends on one to three of the layer above, and notes when it began and ended."""
    drafts = []
    for number in range(TASKS):
        layer, place = divmod(number, DEPTH)
        above = {(layer - 1) * DEPTH + (place * step + step) % DEPTH for step in (1, 3, 7)[: place % 3 + 1]}
        run = f'echo "begin {number} $PRO0_AGENT_ID" >> {log}; echo did {number}; echo "end {number}" >> {log}'
        needs = tuple(f"t{other}" for other in sorted(above)) if layer else ()
        drafts.append(Draft(title=f"task {number}", key=f"t{number}", run=run, blocked_by=needs))
    return drafts


def test_a_hundred_tasks_are_done_once_and_in_order(alpha: Crew, tmp_path: Path) -> None:
    """must show 3, anchors 5, AC-81"""
    log = tmp_path / "log"
    alpha.spawn(*NAMES)
    drafts = graph(log)
    ids = alpha.give(*drafts)
    progress = alpha.at_rest(PATIENCE * 2)
    assert (progress.outcome, progress.left) == (WorkState.ALL_DONE, ())
    lines = [line.split() for line in log.read_text().splitlines()]
    begun = [int(words[1]) for words in lines if words[0] == "begin"]
    assert sorted(begun) == list(range(TASKS)), "each ran exactly once"
    where = {(words[0], int(words[1])): line for line, words in enumerate(lines)}
    for number, draft in enumerate(drafts):
        for need in draft.blocked_by:
            assert where["end", int(need[1:])] < where["begin", number], f"{number} began before {need} ended"
    done = [alpha.task(id) for id in ids]
    assert [task.result for task in done] == [f"did {number}" for number in range(TASKS)]
    for task in done:
        assert task.status is Status.COMPLETED
        assert task.claim is None
        assert task.claimed_at
        assert task.completed_at
        assert task.claimed_at <= task.completed_at
        assert [entry.act for entry in task.history] == ["create", "claim", "complete"]
    who = {words[1]: words[2] for words in lines if words[0] == "begin"}
    assert all(task.assignee == who[str(number)] for number, task in enumerate(done))
    assert set(who.values()) == set(NAMES), "the work was shared"
    assert {name: alpha.reaches(name, State.IDLE).generation for name in NAMES} == dict.fromkeys(NAMES, 1)
    alpha.stop()
    assert not alpha.left()
    assert cleanup(alpha.store, "alpha", force=False, show=alpha.shown.append) == "alpha is removed"


def test_a_busy_and_a_free_member_at_the_end(alpha: Crew) -> None:
    """must show 6: "not yet", then leaves"""
    alpha.spawn("w1", "w2")
    id = alpha.give(Draft(title="t", run="while ! test -e go; do sleep 0.05; done", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    with pytest.raises(Refused, match=f"w1 stays: not yet: working on {id}"):
        alpha.stop(timeout=2)
    assert alpha.state("w2").state is State.SHUTDOWN
    assert "w1: not yet: working on task-1" in alpha.shown
    assert alpha.state("w1").state is State.WORKING
    (alpha.place / "go").touch()
    assert alpha.settled(id)[0].status is Status.COMPLETED
    alpha.stop()
    assert alpha.state("w1").state is State.SHUTDOWN
    assert not alpha.left()


def test_a_busy_member_is_asked_again_when_it_is_free(alpha: Crew) -> None:
    """rulings 3.9"""
    alpha.spawn("w1")
    run = "while test ! -e asked; do sleep 0.05; done"
    alpha.give(Draft(title="t", run=run))
    alpha.reaches("w1", State.WORKING)
    alpha.shown = _Reacting("not yet", (alpha.place / "asked").touch)
    assert alpha.shut_down("w1", timeout=PATIENCE).state is State.SHUTDOWN
    assert [line for line in alpha.shown if "not yet" in line] == ["w1: not yet: working on task-1"]
    requests = [message for message in alpha.mail("w1") if message.type == "shutdown_request"]
    assert len(requests) == 2
    assert alpha.task("task-1").status is Status.COMPLETED


def test_a_member_that_never_answers_is_unresponsive_until_it_is_forced(alpha: Crew) -> None:
    """must show 6: a shell agent that is stopped reads no mail"""
    alpha.spawn("w1", "w2")
    agent = alpha.report_there("w1").agent
    assert agent
    kill(agent, signal.SIGSTOP)
    with pytest.raises(Refused, match="w1 stays: it does not answer"):
        alpha.shut_down("w1", timeout=1)
    assert alpha.state("w1").state is State.UNRESPONSIVE
    assert alpha.settled(*alpha.give(Draft(title="t", run="true")))[0].assignee == "w2"
    assert alpha.shut_down("w1", timeout=0, force=True).state is State.SHUTDOWN
    assert tasks.ready(alpha.context) == []


class _Reacting(list[str]):
    """A list that does something when a line with this word is added."""

    def __init__(self, word: str, react: Callable[[], object]) -> None:
        super().__init__()
        self._word = word
        self._react = react

    def append(self, line: str) -> None:
        super().append(line)
        if self._word in line:
            self._react()
