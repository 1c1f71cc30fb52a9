"""What becomes of acts while the view looks at the team, and how long a notice stands."""

import errno
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Awaiting, Changes, Draft
from pro0.model.team import PlanGate
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import plan_approval, teams
from pro0.ops.team.members import with_seat
from pro0.store.teams import Store
from pro0.view import acts
from pro0.view.bar import NOTICE, READ, Notices
from pro0.view.board import BoardView
from pro0.view.keys import Key
from pro0.view.news import News, Reporter, look
from pro0.view.reading import whole
from tests.teams import human, make_team, member
from tests.waiting import STUCK, wait_until


@pytest.fixture
def person(home: Path, tmp_path: Path) -> Context:
    """Somebody with a team of nobody."""
    return teams.create(Store(home), THE_HUMAN, teams.Home(name="alpha", project=tmp_path))


def two_outcomes(reporter: Reporter) -> list[str]:
    told: list[str] = []

    def both() -> bool:
        told.extend(reporter.outcomes())
        return len(told) >= 2

    wait_until(both, STUCK, "both are told")
    return told


def test_the_outcome_of_an_act_is_told_whatever_follows(person: Context) -> None:
    """An act without words, such as a text to be read, took the words of the one before it."""
    free = threading.Event()
    reporter = Reporter(person, lambda: None)
    reporter.do(lambda: "" if free.wait(STUCK) else "stuck")
    for act in (lambda: acts.send(person, "w9", "go on"), lambda: "", lambda: "task-1 approved", lambda: ""):
        reporter.do(act)
    free.set()
    told = two_outcomes(reporter)
    assert told[0].startswith("'w9' is not a member")
    assert told[1:] == ["task-1 approved"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BlockingIOError(errno.EAGAIN, "no process left"), f"BlockingIOError: [Errno {errno.EAGAIN}] no process left"),
        (KeyError("w1"), "KeyError: 'w1'"),
        (Refused("not now", hint="later"), "not now (later)"),
    ],
)
def test_an_act_that_fails_is_told_and_those_after_it_are_done(person: Context, error: Exception, told: str) -> None:
    """The thread ended of what is no error of ours, and the board stood still without a sign."""

    def fails() -> str:
        raise error

    reporter = Reporter(person, lambda: None)
    for act in (fails, lambda: "done"):
        reporter.do(act)
    assert two_outcomes(reporter) == [told, "done"]


def test_a_look_that_fails_is_told_and_the_next_one_is_news(person: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_context: Context) -> None:
        raise KeyError("w1")

    reporter = Reporter(person, lambda: None)
    with monkeypatch.context() as broken:
        broken.setattr("pro0.view.news.status", fails)
        wait_until(lambda: reporter.news.trouble == "KeyError: 'w1'", STUCK, "it is told")
        assert reporter.news.status
    wait_until(lambda: not reporter.news.trouble, STUCK, "it looks again")


def test_a_team_that_nobody_can_look_at_is_not_called_removed(person: Context) -> None:
    before, teams_folder = look(person, News()), person.team.paths.team.parent
    moved = teams_folder.rename(teams_folder.with_name("moved"))
    teams_folder.symlink_to(teams_folder)
    after = look(person, before)
    assert after.status == before.status
    assert after.trouble
    teams_folder.unlink()
    assert look(person, before).trouble == "the team alpha is removed: q leaves"
    moved.rename(teams_folder)
    assert look(person, after).trouble == ""


@pytest.mark.parametrize(("keys", "verdict"), [(["a", "y"], "approved"), (["r", *"no", "enter"], "rejected")])
@pytest.mark.parametrize("later", ["", "drop the database"])
def test_a_verdict_counts_for_the_plan_about_which_the_board_asked(
    keys: list[str], verdict: str, later: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that is handed in while the person answers waits on (behaviour 3.23)."""
    monkeypatch.setattr(acts, "ensure_lead", lambda _team: "")
    team = make_team(home, "w1")
    with team.wanted.change("a test") as change:
        change.value = with_seat(change.value, replace(change.value.seats[0], gate=PlanGate()))
    plan_approval.submit(member(team, "w1"), "mend the page")
    board, news = BoardView(), look(human(team), News())
    wish = board.press(Key(b" ", " "), news)
    assert wish
    plan, shown = wish.target, news
    assert whole(human(team), shown, plan).endswith("\n\nmend the page")
    for key in keys:
        wish = board.press(Key(key.encode(), key), news)
        if later and wish is None:
            plan_approval.submit(member(team, "w1"), later)
            news = look(human(team), news)
    assert wish
    with pytest.raises(Refused, match="is not the plan that w1 has handed in last") if later else nullcontext():
        acts.ACTS[wish.act](human(team), wish.target, wish.text)
    gate = team.wanted.read().seats[0].gate
    assert gate
    assert (gate.text, gate.verdict) == ((later, "") if later else ("mend the page", verdict))
    assert ("another plan" in whole(human(team), shown, plan)) is bool(later)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("keys", [["a", "o", "k", "enter"], ["r", "n", "o", "enter"]])
def test_a_verdict_counts_for_the_task_as_the_board_showed_it(keys: list[str], changed: bool, home: Path) -> None:
    """A task that is changed while the person types waits on."""
    team = make_team(home, "w1")
    [task] = tasks.create(human(team), [Draft(title="publish", awaiting=Awaiting.APPROVAL)])
    board, news, wish = BoardView(), look(human(team), News()), None
    for key in keys:
        wish = board.press(Key(key.encode(), key), news)
        if changed and wish is None:
            tasks.update(human(team), task.id, Changes(title="publish all"))
            news = look(human(team), news)
    assert wish
    with pytest.raises(Refused, match="has changed since it was shown") if changed else nullcontext():
        acts.ACTS[wish.act](human(team), wish.target, wish.text)
    assert (tasks.show(human(team), task.id).waits is not None) is changed


def test_a_plan_waits_on_after_a_no(home: Path) -> None:
    assert acts.answer_plan(human(make_team(home, "w1")), "w1 3f9a01c2be77", "n") == "the plan of w1 still waits"


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
