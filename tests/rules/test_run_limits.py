"""A run whose agent is rate-limited (AC-32, as far as limits go)."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from pro0.model.run import RunOptions
from pro0.model.runtime import RateLimit
from pro0.model.task import Task
from pro0.rules.lead.throttling import FIRST
from pro0.rules.runs.judging import Turn, TurnStep, judge
from pro0.rules.runs.run_limits import counted, held
from pro0.rules.runs.running import Course, Rest, RunEnd, Take
from pro0.rules.tasks.acts import Act
from tests.rules.building import T0, at

AUTO = RunOptions(agent="claude", auto=True)
PLAIN = RunOptions(agent="claude")
TASK = Task(id="task-1", title="t")
NOW = Take(TASK)


def failing(failure: str, options: RunOptions = AUTO) -> TurnStep:
    return judge(Turn(1, failure=failure), options, TASK, "")


def team(agent: str = "claude", seconds: float = 60) -> RateLimit:
    return RateLimit(agent=agent, since=T0, at=T0, until=at(seconds), named=True, note="429")


def test_a_task_is_given_back_and_the_run_rests_longer_each_time() -> None:
    """it is no failure of the agent's, and nothing that three of could end the run"""
    step = failing("API Error: 429 too many requests")
    assert (step.act, step.limited, step.failed, step.end) == (Act.RELEASE, True, False, None)
    course, moment, holds = Course(), T0, []
    for _ in range(3):
        course = counted(course, AUTO, step, moment)
        rest = held(NOW, AUTO, course, (), moment)
        assert isinstance(rest, Rest)
        assert rest.until
        assert "claude is rate-limited at least until" in rest.why
        holds.append(rest.until - moment)
        moment = rest.until + timedelta(seconds=1)
        assert held(NOW, AUTO, course, (), moment) is NOW
    assert holds == [FIRST, 2 * FIRST, 4 * FIRST]
    course = counted(course, AUTO, TurnStep(Act.COMPLETE), moment)
    rest = held(NOW, AUTO, counted(course, AUTO, step, moment), (), moment)
    assert isinstance(rest, Rest)
    assert rest.until == moment + FIRST, "a turn that went well ends it"


def test_an_end_that_the_error_names_counts() -> None:
    course = counted(Course(), AUTO, failing("rate limit reached, try again in 5 minutes"), T0)
    assert isinstance(rest := held(NOW, AUTO, course, (), at(1)), Rest)
    assert rest.until == at(300)
    assert "claude is rate-limited until 2026-01-01 00:05:00 UTC: " in rest.why


@pytest.mark.parametrize(("zone", "end"), [(UTC, at(9 * 3600 + 60)), (ZoneInfo("Europe/Berlin"), at(8 * 3600 + 60))])
def test_a_time_of_day_is_one_of_the_agents_zone(zone: tzinfo, end: datetime) -> None:
    course = counted(Course(), AUTO, failing("usage limit, resets 9am"), T0, zone)
    assert course.limit
    assert course.limit.until == end
    plain = counted(Course(), AUTO, failing("usage limit, resets 9am"), T0, None).limit
    assert plain
    assert not plain.named


def test_any_other_failure_is_one() -> None:
    step = failing("no such model")
    assert (step.act, step.limited, step.failed) == (Act.FAIL, False, True)
    assert counted(Course(), AUTO, step, T0) == Course()


@pytest.mark.parametrize(
    ("known", "seconds", "decision"),
    [
        (team(), 0, Rest),
        (team(), 60, Take),
        (team("codex"), 0, Take),
    ],
    ids=["holds", "is over", "another agent's"],
)
def test_what_the_team_knows_counts_too(known: RateLimit, seconds: float, decision: type) -> None:
    """as for its members: no session of that agent starts"""
    assert isinstance(held(NOW, AUTO, Course(), (known,), at(seconds)), decision)


def test_without_auto_it_is_over() -> None:
    """AC-32: it stops with that error; and nothing is waited for"""
    step = failing("429", PLAIN)
    assert step.act is Act.RELEASE
    assert step.end == RunEnd(1, "the agent failed: 429 (task-1)")
    assert isinstance(end := held(NOW, PLAIN, Course(), (team(),), T0), RunEnd)
    assert end.code == 1


@pytest.mark.parametrize("decision", [Rest(None, "no task is ready"), RunEnd(0, "all tasks completed")])
def test_what_begins_no_turn_is_not_held(decision: Rest | RunEnd) -> None:
    assert held(decision, AUTO, Course(limit=team()), (), T0) is decision
