"""What becomes of acts while the view looks at the team, and how long a notice stands."""

import threading
from pathlib import Path

import pytest

from pro0.model.caller import THE_HUMAN
from pro0.ops.context import Context
from pro0.ops.team import teams
from pro0.store.teams import Store
from pro0.view import acts
from pro0.view.bar import NOTICE, READ, Notices
from pro0.view.news import Reporter
from tests.waiting import STUCK, wait_until


@pytest.fixture
def person(home: Path, tmp_path: Path) -> Context:
    """Somebody with a team of nobody."""
    return teams.create(Store(home), THE_HUMAN, teams.Home(name="alpha", project=tmp_path))


def test_the_outcome_of_an_act_is_told_whatever_follows(person: Context) -> None:
    """An act without words, such as a text to be read, took the words of the one before it."""
    free = threading.Event()
    reporter = Reporter(person, lambda: None)
    reporter.do(lambda: "" if free.wait(STUCK) else "stuck")
    for act in (lambda: acts.send(person, "w9", "go on"), lambda: "", lambda: "task-1 approved", lambda: ""):
        reporter.do(act)
    free.set()
    told: list[str] = []

    def both() -> bool:
        told.extend(reporter.outcomes())
        return len(told) >= 2

    wait_until(both, STUCK, "both are told")
    assert told[0].startswith("'w9' is not a member")
    assert told[1:] == ["task-1 approved"]


def test_a_notice_stands_for_its_time_from_the_first_frame_that_shows_it() -> None:
    notices = Notices()
    assert notices.shown(0) == ""
    notices.say("sent to w1", 1)  # a text is read meanwhile, for longer than a notice stands
    assert notices.shown(100) == notices.shown(100 + NOTICE - 0.1) == "sent to w1"
    assert notices.shown(100 + NOTICE) == ""


def test_a_notice_that_nobody_can_have_read_stands_beside_the_next_one() -> None:
    notices = Notices()
    notices.say("'w9' is not a member", 1)
    notices.say("sent to w1", 1)
    assert notices.shown(2) == "sent to w1 · 'w9' is not a member"
    notices.say("sent to w2", 2 + READ / 2)
    assert notices.shown(3) == "sent to w2 · sent to w1 · 'w9' is not a member"
    notices.say("sent to w2", 3 + 2 * READ)
    assert notices.shown(9) == "sent to w2"
