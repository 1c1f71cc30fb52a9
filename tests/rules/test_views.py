"""What the edges that speak of tickets call a status (rulings 2, Views; S000-013)."""

import pytest
from msgspec.structs import replace

from pro0.model.task import Awaiting, Status, Task, Wait
from pro0.rules.views import task_digest, ticket_status
from tests.rules.building import T0, claimed, task
from tests.task_fields import SAMPLES

WAIT = Wait(kind=Awaiting.INPUT, since=T0, by="w1")


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (task(1), "open"),
        (claimed(task(1)), "in_progress"),
        (task(1, status=Status.DONE), "done"),
        (task(1, status=Status.COMPLETED), "closed"),
        (task(1, status=Status.CANCELLED), "closed"),
        (task(1, status=Status.FAILED), "failed"),
        (task(1, awaiting=WAIT), "needs_review"),
        (replace(claimed(task(1)), awaiting=WAIT), "needs_review"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_task_as_a_ticket(one: Task, word: str) -> None:
    assert ticket_status(one) == word


NOT_JUDGED = {
    **dict.fromkeys(("labels", "priority"), "they say where to find it and when it is done, not what is done"),
    "timeout": "the command may take longer; it does the same",
    "type": "an epic has no result",
}
"""Fields that somebody sets and that are not in the digest."""


@pytest.mark.parametrize("field", SAMPLES)
def test_a_field_that_somebody_sets_is_in_the_digest_or_stands_here(field: str) -> None:
    changed = replace(task(1), **{field: SAMPLES[field]})
    is_left_out = task_digest(changed) == task_digest(task(1))
    assert is_left_out == (field in NOT_JUDGED), (
        f"task_digest of rules/views.py holds {field}, or NOT_JUDGED says why not"
    )


@pytest.mark.parametrize(
    "change", [{"title": "x"}, {"run": "make"}, {"epoch": 3}, {"parent": "task-9"}, {"result": "r"}]
)
def test_a_digest_is_of_all_that_a_person_judges(change: dict[str, object]) -> None:
    """A verdict for a task as it was shown is not one for the task as it is now."""
    assert task_digest(task(1)) == task_digest(task(1))
    assert task_digest(replace(task(1), **change)) != task_digest(task(1))
    assert len(task_digest(task(1))) == 32
