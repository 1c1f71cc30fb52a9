"""Who subscribes to the task list is told of everything, then of each change (AC-56)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.errors import NotFound
from pro0.model.task import Changes, Draft, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team.feed import Feed, subscribe
from pro0.rules.feed import FeedEvent, events
from pro0.rules.tasks import archive
from tests.teams import human, make_team

IDS = st.sampled_from([f"task-{number}" for number in range(1, 6)])
LISTS = st.dictionaries(IDS, st.integers(0, 3))


@pytest.fixture
def context(home: Path) -> Context:
    return human(make_team(home))


def told(feed: Feed) -> list[tuple[str, str | None]]:
    return [(event.event, event.task.id if event.task else event.id) for event in feed.news()]


def test_a_snapshot_then_one_event_for_each_change(context: Context) -> None:
    """AC-56: create, update and delete each give one event, delete with the id only."""
    tasks.create(context, [Draft(title="one")])
    feed = subscribe(context)
    [first] = feed.news()
    assert first.event == "snapshot"
    assert [task.id for task in first.tasks or ()] == ["task-1"]
    tasks.create(context, [Draft(title="two")])
    assert told(feed) == [("create", "task-2")]
    tasks.update(context, "1", Changes(title="uno"))
    assert told(feed) == [("update", "task-1")]
    tasks.delete(context, "2")
    assert feed.news() == [FeedEvent("delete", id="task-2")]
    assert feed.news() == []


def test_who_asks_late_gets_what_holds_now_and_misses_no_task(context: Context) -> None:
    """AC-56: slow is told less often, never less."""
    feed = subscribe(context)
    feed.news()
    tasks.create(context, [Draft(title=title) for title in ("one", "two", "three")])
    tasks.update(context, "1", Changes(title="uno"))
    tasks.delete(context, "2")
    assert told(feed) == [("create", "task-1"), ("create", "task-3")]


def test_a_task_that_moves_to_the_archive_is_not_deleted(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SETTLED_COUNT", 2)
    tasks.create(context, [Draft(title=str(number)) for number in range(4)])
    feed = subscribe(context)
    feed.news()
    for number in range(1, 5):
        tasks.cancel(context, str(number))
    assert set(told(feed)) == {("update", f"task-{number}") for number in range(1, 5)}
    assert context.team.tasks.read().sealed
    tasks.reopen(context, "1")
    assert told(feed) == [("update", "task-1")]


def test_a_team_that_is_gone_says_so(context: Context) -> None:
    feed = subscribe(context)
    feed.news()
    context.team.paths.team.rename(context.team.paths.team.with_name("elsewhere"))
    with pytest.raises(NotFound):
        feed.news()


@given(before=LISTS, after=LISTS)
def test_events_lead_from_one_state_to_the_next(before: dict[str, int], after: dict[str, int]) -> None:
    """Whoever applies them has what holds now, and none of them says nothing."""
    old, new = ({id: Task(id=id, title=str(n), priority=n) for id, n in some.items()} for some in (before, after))
    have = dict(old)
    for event in events(old, new):
        if event.task:
            assert (event.event == "create") == (event.task.id not in have)
            assert have.get(event.task.id) != event.task
            have[event.task.id] = event.task
        else:
            del have[event.id or ""]
    assert have == new
