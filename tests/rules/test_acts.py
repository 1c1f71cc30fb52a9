"""A refusal names the act and who may, in words."""

import pytest

from pro0.model.caller import Who
from pro0.ops.catalog import OPERATIONS
from pro0.rules.words.acts import act, not_allowed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("task.approve", "approve a task"),
        ("plan.submit", "hand in a plan"),
        ("worker.look_at", "look at a worker"),
        ("forget a team", "forget a team"),
    ],
)
def test_an_act_in_words(name: str, words: str) -> None:
    assert act(name) == words


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_name_of_an_operation_is_told(name: str) -> None:
    """Whoever is refused reads a sentence: the names of operations are pro0's own."""
    operation = OPERATIONS[name]
    told = not_allowed("w1", name, operation.by)
    assert name not in told
    assert not {"human", "lead_agent", "outside", "_"} & set(told.replace("_", " _ ").split())
    assert told.startswith("w1 may not ")


def test_who_may_is_named() -> None:
    told = not_allowed("w1", "worker.kill", frozenset({Who.HUMAN, Who.LEAD_AGENT}))
    assert told == "w1 may not kill a worker: only a person or a lead agent may"
