"""What a pane says while it has no rows."""

from pro0.model.runtime import State
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
    assert panes.shown.nothing == "the last screen of w1 is looked for …"
    asked[0].remember([])
    assert panes.shown.nothing == "w1 has shown nothing"
    asked[0].remember(["Traceback: boom"])
    assert panes.shown.rows == ["Traceback: boom"]
