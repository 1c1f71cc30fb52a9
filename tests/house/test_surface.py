"""What programs may rely on is recorded in docs/surface.json: nothing recorded goes, and what is new is added."""

import copy

import pytest

from tools import surface

KINDS = surface.surface()


def test_nothing_promised_is_gone() -> None:
    """What goes keeps its old name beside the new one, or is named in the changelog and taken out of the record."""
    assert surface.gone(surface.recorded(), KINDS) == []


def test_all_that_is_new_is_recorded() -> None:
    assert surface.gone(KINDS, surface.recorded()) == [], "make surface"


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_names_and_one_that_goes_is_noticed(kind: str) -> None:
    names = KINDS[kind]
    assert len(names) == len(set(names)) >= 6
    now = copy.deepcopy(KINDS)
    missing = now[kind].pop(len(names) // 2)
    assert surface.gone(KINDS, now) == [f"{kind}: {missing}"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("commands", "pro0 task create --blocked-by"),
        ("commands", "pro0 send TO"),
        ("settings", "maxTeammates"),
        ("variables", "PRO0_MAX_TEAMMATES"),
        ("tools", "create_task title"),
        ("methods", "task.list"),
        ("error codes", "which_team"),
        ("exit codes", "7"),
        ("hooks", "TaskCompleted"),
        ("files", "tasks-file blocked_by"),
        ("files", "tasks claimedAt"),
    ],
)
def test_what_programs_use_most_is_in_it(kind: str, name: str) -> None:
    assert name in KINDS[kind]
