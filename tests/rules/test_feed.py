"""What a subscriber is told of, as a function of the list before and after (AC-56)."""

from hypothesis import given
from hypothesis import strategies as st

from pro0.model.task import Task
from pro0.rules.feed import FeedEvent, events, snapshot
from tests.rules.building import task

LISTS = st.dictionaries(st.integers(1, 5), st.sampled_from(["one", "two"])).map(
    lambda titles: {f"task-{number}": task(number, title=title) for number, title in titles.items()}
)


def test_it_begins_with_everything() -> None:
    assert snapshot(iter([task(1), task(2)])) == FeedEvent("snapshot", tasks=(task(1), task(2)))


@given(LISTS, LISTS)
def test_who_follows_the_events_has_the_list(before: dict[str, Task], after: dict[str, Task]) -> None:
    """One event a task that changed, none for another: a task that is new or changed as it is now, else its id."""
    held, told = dict(before), list(events(before, after))
    for event in told:
        if event.event == "delete":
            assert (event.task, event.tasks) == (None, None)
            held.pop(event.id or "")
        else:
            assert event.task
            assert (event.id, event.tasks) == (None, None)
            assert (event.event == "create") is (event.task.id not in held)
            held[event.task.id] = event.task
    assert held == after
    assert len(told) == sum(before.get(id) != after.get(id) for id in {*before, *after})
