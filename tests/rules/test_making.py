"""Tasks that are made: whole or not at all, and what agents may put into them (rulings 2.6, 2.9)."""

import pytest

from pro0.errors import BadInput, NotFound, Pro0Error, Refused
from pro0.model.caller import Caller
from pro0.model.task import Awaiting, Changes, Draft, Entry, Gate, Kind, Policy, Status, Task, Wait
from pro0.rules.tasks import changes, making
from pro0.rules.tasks.acts import Act, TaskPhase
from pro0.rules.tasks.board import Board, why_not_ready
from tests.rules.building import (
    LEAD_AGENT,
    T0,
    W1,
    W2,
    ask,
    claimed,
    listed,
    make,
    standing,
    task,
    update,
)

AGENTS = [pytest.param(caller, id=caller.who) for caller in (W1, LEAD_AGENT)]


def test_created_tasks_name_each_other_by_key_and_others_by_id() -> None:
    """Rulings 2.6: dependencies are given at creation, forwards too; ids count on."""
    tasks, made = make(
        listed(task(1)),
        Draft(title="a", key="a", blocked_by=("b", "task-1", "1")),
        Draft(title="b", key="b"),
        Draft(title="c", parent="a", blocked_by=("3",)),
    )
    assert [task.id for task in made] == ["task-2", "task-3", "task-4"]
    assert made[0].dependencies == ("task-3", "task-1")
    assert (made[2].parent, made[2].dependencies) == ("task-2", ("task-3",))
    assert tasks.next_id == 5
    assert all(task.created_by == "human" and task.history[0].act == "create" for task in made)


def test_a_draft_becomes_a_task_with_all_that_it_says() -> None:
    draft = Draft(
        title=" t ", description="d", acceptance="a", type=Kind.EPIC, labels=("x", "x"), run="make", timeout=5.0,
        priority=0, role=" dev ", requires=Gate.REVIEW, policy=Policy.DISPATCH, agent="claude", shared=True,
        assignee="w1",
    )  # fmt: skip
    _, [made] = make(listed(), draft)
    assert made == Task(
        id="task-1", title="t", description="d", acceptance="a", type=Kind.EPIC, labels=("x",), run="make",
        timeout=5.0, priority=0, role="dev", requires=Gate.REVIEW, policy=Policy.DISPATCH, agent="claude", shared=True,
        assignee="w1", created_at=T0, created_by="human", updated_at=T0,
        history=(Entry(at=T0, actor="human", act="create", to=Status.PENDING),),
    )  # fmt: skip


def test_a_bare_draft_leaves_all_else_as_it_usually_is() -> None:
    _, [made] = make(listed(), Draft(title="t", run="", role="", awaiting=Awaiting.INPUT))
    wait = Wait(kind=Awaiting.INPUT, since=T0, by="human")
    entry = Entry(at=T0, actor="human", act="create", to=Status.PENDING)
    usual = {"created_at": T0, "created_by": "human", "updated_at": T0, "awaiting": wait, "history": (entry,)}
    assert made == Task(id="task-1", title="t", **usual)  # type: ignore[arg-type]


def test_a_key_counts_also_behind_a_draft_without_one() -> None:
    _, made = make(listed(), Draft(title="a", key="a"), Draft(title="b"), Draft(title="c", key="c", blocked_by=("a",)),
                   Draft(title="d", parent="c"))  # fmt: skip
    assert (made[2].dependencies, made[3].parent) == (("task-1",), "task-3")


@pytest.mark.parametrize(("timeout", "fine"), [(0.0, False), (0.1, True), (604800.0, True), (604801.0, False)])
def test_a_command_has_at_most_a_week(timeout: float, fine: bool) -> None:
    if fine:
        assert making.time_limit(timeout) == timeout
        return
    with pytest.raises(BadInput, match="is no time limit"):
        making.time_limit(timeout)


def test_drafts_name_the_tasks_that_must_be_looked_at() -> None:
    """Those that are there already, in the form in which they are stored; a key is another draft."""
    drafts = [Draft(title="a", key="a", parent="7", blocked_by=("b", "task-3", "7")), Draft(title="b", key="b")]
    assert making.named_tasks(iter(drafts)) == {"task-7", "task-3"}
    with pytest.raises(BadInput, match="nobody"):
        making.named_tasks([Draft(title="a", blocked_by=("nobody",))])


WRONG = [
    ("unknown dependency", (Draft(title="a", blocked_by=("task-9",)),), NotFound),
    ("unknown key", (Draft(title="a", blocked_by=("nobody",)),), BadInput),
    ("unknown parent", (Draft(title="a", parent="77"),), NotFound),
    ("itself", (Draft(title="a", key="a", blocked_by=("a",)),), Refused),
    ("itself by its coming id", (Draft(title="a", blocked_by=("task-2",)),), Refused),
    ("its own parent", (Draft(title="a", key="a"), Draft(title="b", parent="a", blocked_by=("a",))), Refused),
    ("cycle", (Draft(title="a", key="a", blocked_by=("b",)), Draft(title="b", key="b", blocked_by=("a",))), Refused),
    ("parent cycle", (Draft(title="a", key="a", parent="b"), Draft(title="b", key="b", parent="a")), Refused),
    ("own parent", (Draft(title="a", key="a", parent="a"),), Refused),
    ("one key twice", (Draft(title="a", key="a"), Draft(title="b", key="a")), BadInput),
    ("no title", (Draft(title="  "),), BadInput),
    ("title of two lines", (Draft(title="a\nb"),), BadInput),
    ("lone surrogate", (Draft(title="a", description="\udc80"),), BadInput),
    ("NUL in a command", (Draft(title="a", run="a\0b"),), BadInput),
    ("no time", (Draft(title="a", timeout=0),), BadInput),
    ("not a number", (Draft(title="a", timeout=float("nan")),), BadInput),
    ("too long", (Draft(title="a", description="x" * (256 * 1024 + 1)),), BadInput),
    ("no priority", (Draft(title="a", priority=10**9),), BadInput),
]


@pytest.mark.parametrize(("drafts", "error"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_one_bad_task_and_none_is_made(drafts: tuple[Draft, ...], error: type[Pro0Error]) -> None:
    """Rulings 2.6, reliability 5: exit 3 for unknown, 4 for self and cycles, 2 for bad words."""
    with pytest.raises(error):
        make(listed(task(1)), *drafts, Draft(title="fine"))


def test_a_created_reservation_is_told_like_an_assignment() -> None:
    """Rulings 2, assign: the member gets one message; members themselves may not assign."""
    tasks, _ = make(listed(), Draft(title="a", assignee="w1"), Draft(title="b"), Draft(title="c", assignee="w2"))
    assert [(n.id, n.to, n.content) for n in tasks.outbox] == [
        ("n1", "w1", "task-1 is assigned to you: a"),
        ("n2", "w2", "task-3 is assigned to you: c"),
    ]
    with pytest.raises(Refused) as refused:
        make(listed(), Draft(title="a", assignee="w2"), caller=W1)
    assert refused.value.code == "not_allowed"


# --- commands that agents make (rulings 2.9)


@pytest.mark.parametrize("caller", AGENTS)
def test_a_command_an_agent_makes_waits_for_a_human(caller: Caller) -> None:
    tasks, made = make(listed(), Draft(title="a", run="rm -rf x"), Draft(title="b"), caller=caller)
    wait = made[0].awaiting
    assert wait == Wait(kind=Awaiting.ESCALATION, since=T0, by=caller.agent_id, reason="agent-made command")
    assert made[1].awaiting is None
    assert why_not_ready(Board(tasks.tasks), made[0]) == "is awaiting a human (escalation: agent-made command)"
    with pytest.raises(Refused):
        changes.act(tasks, "task-1", ask(Act.CLAIM, W1))


def test_a_humans_command_does_not_wait() -> None:
    assert make(listed(), Draft(title="a", run="make"))[1][0].awaiting is None


@pytest.mark.parametrize("run", ["make", "other"])
def test_a_human_who_sets_the_command_lifts_the_hold(run: str) -> None:
    tasks, _ = make(listed(), Draft(title="a", run="make"), caller=W1)
    after = update(tasks, "task-1", Changes(run=run))
    assert (after.awaiting, after.run) == (None, run)


@pytest.mark.parametrize(
    "fields", [Changes(title="b"), Changes(description="d"), Changes(priority=1), Changes(timeout=5.0)]
)
def test_a_human_who_changes_something_else_does_not(fields: Changes) -> None:
    tasks, _ = make(listed(), Draft(title="a", run="make"), caller=W1)
    assert update(tasks, "task-1", fields).awaiting is not None


def test_an_agent_who_changes_a_command_puts_it_on_hold() -> None:
    tasks, _ = make(listed(), Draft(title="a", run="make"))
    assert update(tasks, "task-1", Changes(run="make"), LEAD_AGENT).awaiting is None
    assert update(tasks, "task-1", Changes(title="b"), LEAD_AGENT).awaiting is None
    assert update(tasks, "task-1", Changes(run="make -B"), LEAD_AGENT).awaiting is not None
    none, _ = make(listed(), Draft(title="a"))
    assert update(none, "task-1", Changes(run=""), LEAD_AGENT).awaiting is None
    held, _ = make(listed(), Draft(title="a", run="make"), caller=W1)
    with pytest.raises(Refused, match="its command cannot be changed"):
        update(held, "task-1", Changes(run="make all"), LEAD_AGENT)


def test_the_command_of_a_claimed_task_stays_as_it_is() -> None:
    tasks = listed(claimed(task(1, run="make"), W2))
    with pytest.raises(Refused, match="in progress: its command cannot be changed"):
        update(tasks, "task-1", Changes(run="make -B"), LEAD_AGENT)


def test_a_hold_does_not_take_the_place_of_a_gate() -> None:
    """Rulings 2.2: else a human's update of the command would lift a review, and leave a claimless task in progress."""
    tasks = listed(standing(TaskPhase.AWAITING))
    with pytest.raises(Refused, match="awaiting a human: its command cannot be changed"):
        update(tasks, "task-1", Changes(run="make"), LEAD_AGENT)
    after = update(tasks, "task-1", Changes(run="make"))
    assert after.awaiting is not None
    assert after.awaiting.kind is Awaiting.REVIEW
