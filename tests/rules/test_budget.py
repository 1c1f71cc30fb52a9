"""A team's limit of cost: told at 80 %, and nothing new starts at 100 %."""

import pytest
from msgspec.structs import replace

from pro0.model.decision import Snapshot, Start, Tell
from pro0.rules.lead.budget import reached
from tests.rules.supervising import decided, look, only, seat, session


def spending(spent: float | None, limit: float) -> Snapshot:
    """A team with a living member, and one that is to be started."""
    snapshot = look(session("w1"), seats=[seat("w1"), seat("w2")])
    return replace(snapshot, spent=spent, wanted=replace(snapshot.wanted, max_cost=limit))


@pytest.mark.parametrize(
    ("spent", "limit", "told", "starts"),
    [(79, 0, 0, 1), (7.9, 10, 0, 1), (8, 10, 1, 1), (9.99, 10, 1, 1), (10, 10, 1, 0), (99, 10, 1, 0),
     (None, 0, 0, 1), (None, 10, 0, 0)],
)  # fmt: skip
def test_the_limit_is_told_and_held(spent: float | None, limit: float, told: int, starts: int) -> None:
    first = decided(spending(spent, limit))
    assert len([tell for tell in only(Tell, first) if "cost" in tell.id]) == told
    assert len(only(Start, first)) == starts


@pytest.mark.parametrize(("spent", "key"), [(7.9, ""), (8, "uid:cost:warning:10"), (10, "uid:cost:all:10")])
def test_what_is_told_has_an_id_of_its_own(spent: float, key: str) -> None:
    """So that a lead that dies between telling and recording tells no second time."""
    snapshot = spending(spent, 10)
    assert reached(snapshot) == key
    assert reached(replace(snapshot, runtime=replace(snapshot.runtime, told=(key,)))) == ""


def test_each_level_is_told_once_and_a_new_limit_anew() -> None:
    near = spending(8, 10)
    after = replace(near, runtime=decided(near).runtime)
    assert not [tell for tell in only(Tell, decided(after)) if "cost" in tell.id]
    assert [tell for tell in only(Tell, decided(replace(after, spent=10))) if "cost" in tell.id]
    raised = replace(after, spent=16, wanted=replace(after.wanted, max_cost=20))
    assert [tell for tell in only(Tell, decided(raised)) if "$16.00 of $20.00" in tell.content]
