"""What a run does next, and what the end of a turn means (S001 E, F, K to O; rulings 2, Policies: run)."""

import pytest
from msgspec.structs import replace

from pro0.model.caller import THE_HUMAN, Caller, Who
from pro0.model.run import RunOptions
from pro0.model.task import Awaiting, Kind, Policy, StartWish, Status, Task, Wait
from pro0.rules.runs.judging import Turn, TurnStep, denied, judge, too_many
from pro0.rules.runs.running import Course, Rest, RunEnd, Take, budget, choose, has_open_tasks, summary
from pro0.rules.runs.turn_prompt import prompt
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board
from tests.rules.building import T0, W1, W1_LATER, at, claimed

ME = Caller(Who.MEMBER, "runner", "inc-runner")
PLAIN = RunOptions(agent="command", epic="task-1")
AUTO = replace(PLAIN, auto=True)
EPICS = replace(PLAIN, epic=None)
SHELL = replace(PLAIN, agent="shell")
START = Course()
LIVING = {ME.incarnation, W1.incarnation}
COMPLETE = "All is done.\n<promise>COMPLETE</promise>"


def task(number: int, parent: int = 1, **fields: object) -> Task:
    known: dict[str, object] = {"created_at": T0, "updated_at": T0, "title": f"t{number}", **fields}
    above = f"task-{parent}" if parent else None
    return Task(id=f"task-{number}", parent=above, **known)  # type: ignore[arg-type]


def epic(number: int, parent: int = 0, **fields: object) -> Task:
    return task(number, parent, type=Kind.EPIC, **fields)


def waiting(number: int, kind: Awaiting = Awaiting.APPROVAL, parent: int = 1) -> Task:
    wait = Wait(kind=kind, since=T0, by="w1", reason="why")
    return task(number, parent, status=Status.IN_PROGRESS, awaiting=wait)


def next_of(*tasks: Task, options: RunOptions = PLAIN, course: Course = START, seconds: float = 60) -> object:
    decision = choose(Board(tasks), options, ME, course, at(seconds), LIVING)
    return decision.task.id if isinstance(decision, Take) else decision


# What is next


def test_the_order_is_that_of_next_and_skips_what_is_not_ready() -> None:
    """AC-15, AC-16, AC-29, S001-164: handed back first, then by priority; a hand-off keeps nothing else waiting"""
    handed_back = task(4, priority=3, started_at=T0)
    tasks = [epic(1), waiting(2), task(3, dependencies=("task-2",)), handed_back, task(5, priority=0), task(6)]
    assert next_of(*tasks) == "task-4"
    assert next_of(*tasks[:3], *tasks[4:]) == "task-5"
    assert next_of(*tasks[:3], task(6), claimed(task(7))) == "task-6"


def test_what_agents_have_taken_with_the_name_of_the_run_comes_first() -> None:
    """its session alone could end such a claim"""
    assert next_of(epic(1), task(2), claimed(task(3, parent=0), ME)) == "task-3"


@pytest.mark.parametrize("policy", [Policy.SUPERVISED, Policy.DISPATCH])
def test_tasks_with_sessions_of_their_own_are_not_taken(policy: Policy) -> None:
    assert isinstance(next_of(epic(1), task(2, policy=policy)), RunEnd)


def test_only_what_is_below_the_epic_is_run() -> None:
    """S001-159: deep down too, and nothing else"""
    assert next_of(epic(1), epic(2), task(3, parent=2), epic(4, parent=1), task(5, parent=4)) == "task-5"


@pytest.mark.parametrize(
    ("left", "first"),
    [({5}, "task-7"), ({3, 5, 7}, "task-6"), ({3, 5, 6, 7, 8}, "task-9"), ({3, 5, 6, 7, 8, 9}, "task-11")],
)
def test_the_order_of_epics_and_what_is_in_none(left: set[int], first: str) -> None:
    """AC-37, S001-186: in progress, other epics by their order, alone, parent over"""
    tasks = [
        epic(1, priority=0),
        epic(2, priority=5),
        task(3, parent=1, priority=0),
        task(5, parent=2, priority=9, started_at=T0, status=Status.PENDING),
        task(6, parent=10, priority=1),
        task(7, parent=2, priority=9),
        task(8, parent=10),
        task(9, parent=0, priority=0),
        epic(10, priority=7),
        task(11, parent=12, priority=0),
        epic(12, status=Status.COMPLETED),
        task(13, parent=2, started_at=T0, status=Status.COMPLETED),
    ]
    options = replace(EPICS, standalone=True, orphans=True)
    kept = [one for one in tasks if int(one.id.removeprefix("task-")) not in left]
    assert next_of(*tasks, options=options) == "task-5"
    assert next_of(*kept, options=options) == first


def test_what_a_run_waits_for_is_named_one_by_one() -> None:
    board = Board(
        [epic(1), waiting(2), waiting(3), claimed(task(4)), claimed(task(5)), task(6, dependencies=("task-2",))]
    )
    assert summary(board, PLAIN) == (
        "for you: task-2 (approval: why), task-3 (approval: why); "
        "worked on by others: task-4 (w1), task-5 (w1); 1 blocked"
    )


def test_what_stands_alone_comes_before_what_is_left_over() -> None:
    options = replace(EPICS, standalone=True, orphans=True)
    assert next_of(task(2, parent=99, priority=0), task(3, parent=0, priority=4), options=options) == "task-3"


@pytest.mark.parametrize(("spent", "over"), [(9.99, False), (10.0, True), (10.5, True)])
def test_a_run_ends_when_it_has_spent_all_it_may(spent: float, over: bool) -> None:
    """Rulings 2, Policies: run; 0 is no limit."""
    end = RunEnd(1, f"cost limit reached (${spent:.2f} of $10.00)")
    assert budget(replace(PLAIN, max_cost=10.0), spent) == (end if over else None)
    assert budget(replace(PLAIN, max_cost=0.0), spent) is None


def test_all_that_has_failed_is_named_at_the_end() -> None:
    failed = [task(number, status=Status.FAILED) for number in (2, 3)]
    assert next_of(epic(1), *failed) == RunEnd(1, "no task is left; failed: task-2, task-3")


def test_the_present_epic_comes_before_all_others() -> None:
    """S001-187"""
    tasks = (epic(1, priority=0), task(2, priority=0), epic(3), task(4, parent=3, priority=9))
    assert next_of(*tasks, options=EPICS) == "task-2"
    begun = (*tasks, task(5, priority=0, started_at=T0))
    for others in (tasks, begun):
        assert next_of(*others, options=EPICS, course=Course(epic="task-3")) == "task-4"


def test_tasks_alone_and_orphans_are_run_only_when_asked_for() -> None:
    """AC-37, S001-183, S001-184; a parent that is gone is over, too"""
    alone, orphan = task(2, parent=0), task(4, parent=99)
    assert next_of(alone, orphan, options=EPICS) == RunEnd(
        0, "no tasks found; ready but in no epic: task-2, task-4 (--all includes them)"
    )
    assert next_of(epic(1), alone, options=replace(EPICS, epic="task-1")) == RunEnd(0, "no tasks found")
    assert next_of(alone, orphan, options=replace(EPICS, standalone=True)) == "task-2"
    assert next_of(alone, orphan, options=replace(EPICS, orphans=True)) == "task-4"


def test_the_shell_agent_takes_what_has_a_command() -> None:
    assert next_of(epic(1), task(2), task(3, run="true"), options=SHELL) == "task-3"


@pytest.mark.parametrize("end", ["over", "blocked", "timeout"])
def test_a_run_says_which_ready_tasks_it_leaves_alone(end: str) -> None:
    """ux 22: by their ids, with why; what is not ready, and what is in another epic of a run of one, is not named"""
    own = task(2, status=Status.COMPLETED) if end == "over" else waiting(2)
    others = (*(task(number, parent=0) for number in range(3, 15)), task(15, parent=0, dependencies=("task-3",)))
    options = replace(EPICS, agent="shell", auto=end == "timeout", timeout=1.0)
    found = next_of(epic(1), own, task(16), *others, options=options, course=Course(idle_since=at(-60)))
    assert isinstance(found, RunEnd)
    named = ", ".join(f"task-{number}" for number in range(3, 13))
    said = f"; ready but in no epic: {named} and 2 more (--all includes them)"
    assert found.why.endswith(f"{said}; ready but without a command for the shell: task-16")
    alone = next_of(epic(1), own, task(16, run="true", parent=99), options=replace(options, epic="task-1"))
    assert "ready but" not in str(alone)


def test_a_task_that_was_just_changed_is_left_alone_for_a_while() -> None:
    """AC-35, S001-179: another one is not; and a clock that went back does not hold it for ever"""
    options = replace(AUTO, debounce=2.0)
    fresh, old = task(2, updated_at=at(59), priority=0), task(3)
    assert next_of(epic(1), fresh, old, options=options) == "task-3"
    rest = next_of(epic(1), fresh, options=options)
    assert rest == Rest(at(61), "changed just now: task-2")
    newer = task(3, updated_at=at(59.5))
    assert next_of(epic(1), fresh, newer, options=options) == Rest(at(61), "changed just now: task-2, task-3")
    assert next_of(epic(1), fresh, options=options, seconds=59) == Rest(at(61), "changed just now: task-2")
    assert next_of(epic(1), fresh, options=options, seconds=61) == "task-2"
    assert next_of(epic(1), fresh, options=options, seconds=-3600) == "task-2"
    assert next_of(epic(1), task(2, updated_at=None), options=options) == "task-2"


def test_what_a_dead_session_holds_is_waited_for_until_it_is_given_back() -> None:
    """AC-39: also without auto, since nobody has to be asked; what a person holds is theirs"""
    gone = claimed(task(2), W1_LATER)
    assert next_of(epic(1), gone) == Rest(None, "its session is over, it will be given back: task-2")
    assert next_of(epic(1), gone, task(3)) == "task-3"
    others = claimed(task(4), W1_LATER)
    assert next_of(epic(1), gone, others) == Rest(None, "its session is over, it will be given back: task-2, task-4")
    assert isinstance(next_of(epic(1), claimed(task(2), THE_HUMAN)), RunEnd)


# When it is over


def test_without_auto_it_ends_when_nothing_is_ready_and_says_why() -> None:
    """S001-078, S001-173"""
    tasks = (epic(1), waiting(2), task(3, dependencies=("task-2",)), claimed(task(4), W1))
    end = next_of(*tasks)
    assert isinstance(end, RunEnd)
    assert end.code == 0
    assert end.why == "no task is ready; for you: task-2 (approval: why); worked on by others: task-4 (w1); 1 blocked"
    assert summary(Board([epic(1), waiting(2)]), PLAIN) == "for you: task-2 (approval: why)"


def test_what_has_failed_is_an_error_at_the_end() -> None:
    failed = task(2, status=Status.FAILED)
    end = next_of(epic(1), failed, task(3, dependencies=("task-2",)))
    assert isinstance(end, RunEnd)
    assert (end.code, end.why) == (1, "no task is ready; 1 blocked")
    assert next_of(epic(1), failed) == RunEnd(1, "no task is left; failed: task-2")


def test_it_ends_when_all_is_over() -> None:
    """AC-34"""
    over = (epic(1, status=Status.COMPLETED), task(2, status=Status.COMPLETED))
    for options in (PLAIN, AUTO):
        assert next_of(*over, options=options) == RunEnd(0, "all tasks completed")
        assert next_of(epic(1), options=options) == RunEnd(0, "no tasks found")


READY: list[tuple[str, Task, str]] = [
    ("reserved", task(2, assignee="w1"), "; reserved for others: task-2 (w1)"),
    ("supervised", task(2, policy=Policy.SUPERVISED), "; for sessions of their own: task-2"),
    ("delegated", task(2, policy=Policy.DISPATCH), "; for sessions of their own: task-2"),
    ("to be started", task(2, start=StartWish(by="human", at=T0)), "; for sessions of their own: task-2"),
    ("without a command", task(2), "; ready but without a command for the shell: task-2"),
]


@pytest.mark.parametrize(("one", "said"), [row[1:] for row in READY], ids=[row[0] for row in READY])
@pytest.mark.parametrize("blocked", [0, 2])
def test_what_is_ready_and_not_for_the_run_is_not_called_blocked(blocked: int, one: Task, said: str) -> None:
    """behaviour 2.5: each task is counted once"""
    end = next_of(epic(1), one, *(task(3 + n, dependencies=("task-2",)) for n in range(blocked)), options=SHELL)
    assert isinstance(end, RunEnd)
    words = f"nothing is ready for this run{said}"
    if blocked:
        before, ready, after = words.partition("; ready but")
        words = f"{before}; 2 blocked{ready}{after}"
    assert (end.code, end.why) == (0, words)


@pytest.mark.parametrize(
    ("others", "end"),
    [
        ((Status.CANCELLED,), RunEnd(0, "no task is left; cancelled: task-2")),
        ((Status.COMPLETED, Status.CANCELLED), RunEnd(0, "no task is left; cancelled: task-3")),
        ((Status.FAILED, Status.CANCELLED), RunEnd(1, "no task is left; failed: task-2; cancelled: task-3")),
        ((Status.COMPLETED, Status.COMPLETED), RunEnd(0, "all tasks completed")),
    ],
)
def test_what_was_cancelled_is_not_called_completed(others: tuple[Status, ...], end: RunEnd) -> None:
    assert next_of(epic(1), *(task(number, status=status) for number, status in enumerate(others, 2))) == end


def test_with_auto_it_waits_for_a_person_without_end_or_for_so_long() -> None:
    """AC-34, AC-36, S001-170, S001-175"""
    tasks = (epic(1), waiting(2))
    why = "no task is ready; for you: task-2 (approval: why)"
    assert next_of(*tasks, options=AUTO) == Rest(None, why)
    short = replace(AUTO, timeout=1.0)
    assert next_of(*tasks, options=short) == Rest(at(61), why)
    assert next_of(*tasks, options=short, course=Course(idle_since=at(59.5))) == Rest(at(60.5), why)
    for failed, code in (((), 0), ((task(3, status=Status.FAILED),), 1)):  # M9
        end = next_of(*tasks, *failed, options=short, course=Course(idle_since=at(59)))
        assert end == RunEnd(code, f"nothing new in 1 s; {why}")


def test_a_budget_is_looked_at_before_a_turn() -> None:
    """AC-33, S001-074; 0 is no limit"""
    end = next_of(epic(1), task(2), options=replace(PLAIN, max_cost=2.0), course=Course(spent=2.5))
    assert end == RunEnd(1, "cost limit reached ($2.50 of $2.00)")
    assert budget(replace(PLAIN, max_cost=0.0), 1e6) is None
    assert budget(PLAIN, 9.99) is None


# What a turn means

HELD = claimed(task(2), ME)


def step(turn: Turn, options: RunOptions = PLAIN) -> TurnStep:
    return judge(turn, options, HELD, prompt(HELD, None, [], 1, ""))


def test_a_signal_that_it_is_complete() -> None:
    """S001-058; the message without its tag is the result"""
    assert step(Turn(1, COMPLETE)) == TurnStep(Act.COMPLETE, "All is done.")
    assert step(Turn(1, COMPLETE, failure="exit code 1")).act is Act.COMPLETE
    assert step(Turn(1, "x" * 9000 + COMPLETE)).text.endswith("All is done.")
    assert len(step(Turn(1, "x" * 9000 + COMPLETE)).text) == 4096


def test_what_an_agent_repeats_of_its_prompt_is_no_signal() -> None:
    """AC-27"""
    told = "One of these:\n<promise>COMPLETE</promise>"
    assert judge(Turn(1, told), PLAIN, HELD, told).act is None


@pytest.mark.parametrize(
    ("word", "kind"),
    [("EJECT", Awaiting.WORK), ("BLOCKED", Awaiting.INPUT), ("CHECKPOINT", Awaiting.CHECKPOINT)],
)
def test_a_signal_that_hands_off(word: str, kind: Awaiting) -> None:
    """S001-059 to S001-067, AC-25"""
    assert step(Turn(1, f"<promise>{word}: the reason</promise>")) == TurnStep(Act.HAND_OFF, "the reason", kind)
    assert step(Turn(1, f"<promise>{word}</promise>", plain=True)).act is Act.HAND_OFF


def test_two_kinds_of_signal_are_warned_of() -> None:
    """AC-28"""
    said = step(Turn(1, f"<promise>EJECT: no key</promise>\n{COMPLETE}"))
    assert (said.act, said.kind, said.warning) == (
        Act.HAND_OFF,
        Awaiting.WORK,
        "the agent signalled EJECT and COMPLETE; EJECT counts",
    )


def test_a_command_of_a_task_is_done_when_it_ends_well() -> None:
    assert step(Turn(1, "built", plain=True), SHELL) == TurnStep(Act.COMPLETE, "built")
    assert step(Turn(1, "", failure="exit code 2: no rule", plain=True), SHELL) == TurnStep(
        Act.FAIL, "exit code 2: no rule"
    )


def test_an_agent_that_fails_ends_the_run_or_with_auto_gives_the_task_up() -> None:
    """AC-32, S001-079"""
    failure = "the agent failed: exit code 3: no money"
    turn = Turn(1, "", failure="exit code 3: no money")
    assert step(turn) == TurnStep(Act.RELEASE, failure, failed=True, end=RunEnd(1, f"{failure} (task-2)"))
    assert step(turn, AUTO) == TurnStep(Act.FAIL, failure, failed=True)
    assert too_many(Course(failures=1), step(turn, AUTO)) is None
    assert too_many(Course(failures=2), TurnStep(Act.FAIL, "x")) is None
    over = too_many(Course(failures=2), step(turn, AUTO))
    assert over == RunEnd(1, f"3 turns in a row have failed; the last: {failure}")


def test_a_turn_over_its_limit_of_time_fails_the_task() -> None:
    """AC-38: with the end of what it said"""
    late = Turn(1, COMPLETE, failure="over its limit of 2 s: still building", over=True)
    assert step(late) == TurnStep(Act.FAIL, "over its limit of 2 s: still building")


def test_a_check_that_says_no_is_another_turn() -> None:
    """a hook on TaskCompleted: the agent is told why, as often as it has turns; a command cannot be told"""
    two = replace(PLAIN, max_iterations=2)
    why = "the hook './check' refused: two tests fail"
    assert denied(Turn(1, COMPLETE), two, HELD, why) == TurnStep(None, f"You signalled that it is complete, but {why}")
    stuck = denied(Turn(2, COMPLETE), replace(two, auto=True), HELD, why)
    assert (stuck.act, stuck.text) == (Act.HAND_OFF, f"stuck: {why} in 2 turns")
    assert denied(Turn(1, "", plain=True), SHELL, HELD, why) == TurnStep(Act.FAIL, why)


def test_no_signal_is_another_turn_until_it_is_stuck() -> None:
    """AC-33, S001-076, S001-162: without auto the run ends there; 0 is no limit"""
    two = replace(PLAIN, max_iterations=2)
    assert step(Turn(1, "hm"), two) == TurnStep(
        None, "Your last message had no signal at its end. It ended with:\n\nhm"
    )
    assert step(Turn(1), two) == TurnStep(None, "You said nothing.")
    stuck = step(Turn(2, "hm"), two)
    assert (stuck.act, stuck.kind, stuck.text) == (Act.HAND_OFF, Awaiting.ESCALATION, "stuck: no signal in 2 turns")
    assert stuck.end == RunEnd(1, "stuck on task-2 after 2 iterations: no signal")
    assert step(Turn(1, "hm"), replace(two, max_iterations=1)).text == "stuck: no signal in 1 turn"
    assert step(Turn(2, "hm"), replace(two, auto=True)).end is None
    assert step(Turn(99, "hm"), replace(two, max_iterations=0)).act is None


def test_a_run_has_open_tasks_until_each_is_over() -> None:
    over = Task(id="task-1", title="t", status=Status.COMPLETED)
    options = RunOptions(standalone=True)
    assert has_open_tasks(Board((over, Task(id="task-2", title="t"))), options)
    assert not has_open_tasks(Board((over,)), options)
