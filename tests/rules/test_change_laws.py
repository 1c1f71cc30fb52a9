"""Random changes of a task list by random callers: the laws that hold after each of them."""

from collections.abc import Callable
from datetime import datetime
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from pro0.errors import Pro0Error
from pro0.model.caller import THE_HUMAN
from pro0.model.task import SETTLED, Changes, Draft, Kind, TaskList
from pro0.rules.tasks import changes, editing, graph, making
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board
from tests.rules.building import LEAD_AGENT, T0, W1, W1_LATER, W2, ask, at, dead, listed, task

CALLERS = st.sampled_from([W1, W1_LATER, W2, LEAD_AGENT, THE_HUMAN])
IDS = st.integers(1, 8).map("task-{}".format)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_whatever_is_done_the_laws_of_the_list_hold(data: st.DataObject) -> None:
    """No claim without a phase for it, no cycle, nobody over and still open, no id twice."""
    tasks, new_id = listed(task(1), task(2, 1), task(3, type=Kind.EPIC)), map("n{}".format, count(1)).__next__
    for step in range(data.draw(st.integers(1, 25))):
        try:
            tasks = one_change(tasks, data, at(step), new_id)
        except Pro0Error:
            continue
        laws(tasks)


def one_change(tasks: TaskList, data: st.DataObject, now: datetime, new_id: Callable[[], str]) -> TaskList:
    caller, id = data.draw(CALLERS), data.draw(IDS)
    what = data.draw(st.sampled_from(["act", "act", "act", "create", "update", "delete", "cancel", "free"]))
    if what == "act":
        act = data.draw(st.sampled_from([Act.CLAIM, Act.CLAIM, Act.COMPLETE, Act.RELEASE, Act.FAIL, Act.REOPEN]))
        return changes.act(tasks, id, ask(act, caller, "text", now))[0]
    if what == "create":
        draft = Draft(
            title="t",
            type=data.draw(st.sampled_from(Kind)),
            parent=data.draw(st.none() | IDS),
            blocked_by=tuple(data.draw(st.lists(IDS, max_size=2))),
            run=data.draw(st.sampled_from([None, "make"])),
        )
        return making.create(tasks, [draft], caller, T0, new_id)[0]
    if what == "update":
        fields = Changes(
            run=data.draw(st.sampled_from([None, "", "make"])),
            add_dependencies=tuple(data.draw(st.lists(IDS, max_size=2))),
        )
        return editing.update(tasks, id, fields, caller, T0)[0]
    if what == "delete":
        return editing.delete(tasks, id, caller, force=data.draw(st.booleans()), now=T0)
    if what == "cancel":
        return changes.act(tasks, id, ask(Act.CANCEL, caller))[0]
    return changes.free(tasks, caller.agent_id, caller.incarnation, dead("died"))


def laws(tasks: TaskList) -> None:
    board = Board(tasks.tasks)
    assert len(board.tasks) == len(tasks.tasks)
    assert graph.cycle({task.id: task.dependencies for task in board}) is None
    for one in board:
        assert (one.claim is not None) == (phase(one) is TaskPhase.WORKING), one
        assert one.epoch == sum(entry.act == Act.CLAIM for entry in one.history)
        assert not (one.claim and one.type is Kind.EPIC)
        if one.status in SETTLED:
            assert one.claim is None
            assert one.waits is None
        if phase(one) is TaskPhase.DONE:
            assert board.open_children(one.id)
        assert not one.parent or board.get(one.parent)
        assert all(board.get(id) for id in one.dependencies)
