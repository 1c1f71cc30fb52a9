"""Which pane is shown, and what it says while it has no rows."""

import pytest
from msgspec.structs import replace

from pro0.model.runtime import Phase, State
from pro0.view.pane import Pane
from pro0.view.panes import Panes
from tests.view.test_board import member, news


def test_nothing_untrue_is_said_of_one_that_has_ended_while_its_screen_is_looked_for() -> None:
    """Finding 5 of the newcomer: it said of a crashed member that it shows nothing yet."""
    asked: list[Pane] = []
    panes = Panes((80, 24), asked.append)
    panes.meet(news(member("w1")))
    assert panes.shown
    assert (asked, panes.shown.nothing) == ([], "w1 shows nothing yet")
    panes.meet(news(member("w1", State.CRASHED)))
    assert asked == [panes.shown]
    assert panes.shown.nothing == "looking for the last screen of w1 …"
    asked[0].remember([])
    assert panes.shown.nothing == "w1 has shown nothing"
    asked[0].remember(["Traceback: boom"])
    assert panes.shown.rows == ["Traceback: boom"]


@pytest.mark.parametrize(
    ("phase", "way"),
    [(Phase.RUNNING, "member restart w1"), (Phase.STOPPING, "team resume"), (Phase.STOPPED, "team resume")],
)
def test_the_way_back_is_one_that_a_stopped_team_takes(phase: Phase, way: str) -> None:
    panes = Panes((80, 24), lambda _pane: None)
    look = news(member("w1", State.SHUTDOWN))
    assert look.status
    panes.meet(replace(look, status=replace(look.status, phase=phase)))
    assert panes.notice() == f"w1 has no terminal now: pro0 {way}"


def panes_of(*names: str) -> Panes:
    panes = Panes((80, 24), lambda _pane: None)
    panes.meet(news(*map(member, names)))
    return panes


def test_one_that_goes_stays_on_the_screen_and_no_other_takes_its_place() -> None:
    """What a person types for it would reach that other one."""
    panes = panes_of("w1", "w2")
    panes.show("w2")
    gone = panes.shown
    assert gone
    gone.rows = ["the last words"]
    panes.meet(news(member("w1")))
    assert (panes.shown, gone.gone, gone.rows) == (gone, True, ["the last words"])
    assert panes.notice() == "w2 is gone: Shift+↑↓ switch · Ctrl+T board"
    panes.meet(news(member("w1"), member("w2")))
    assert (panes.shown, panes.named("w2") is gone) == (gone, False), "one of the same name is another member"
    panes.show("w2")
    assert panes.shown is panes.named("w2")


@pytest.mark.parametrize(("step", "then"), [(1, "w1"), (-1, "w3")])
def test_from_one_that_is_gone_a_step_leads_to_the_first_or_the_last(step: int, then: str) -> None:
    panes = panes_of("w1", "w2", "w3", "w4")
    panes.show("w4")
    panes.meet(news(*map(member, ("w1", "w2", "w3"))))
    panes.step(step)
    assert panes.shown
    assert panes.shown is panes.named(then)


def test_one_that_is_not_there_is_shown_as_such() -> None:
    panes = panes_of("w1", "w2")
    panes.show("ghost")
    panes.meet(news(member("w1"), member("w2")))
    assert panes.shown
    assert (panes.shown.name, panes.shown.gone) == ("ghost", True)
    assert panes.shown.nothing == "ghost is not there any more"


def test_who_looks_at_a_team_of_nobody_sees_the_first_that_comes() -> None:
    panes = panes_of()
    assert panes.shown is None
    panes.meet(news(member("w1"), member("w2")))
    assert panes.shown is panes.named("w1")
