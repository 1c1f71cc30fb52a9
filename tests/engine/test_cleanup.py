"""Cleanup: refused while a session lives, then whole, and again (rulings 3.10, AC-75)."""

from collections.abc import Callable
from typing import Any

import pytest

from pro0.engine import cleanup as cleaning
from pro0.engine.cleanup import cleanup
from pro0.errors import NotFound, Pro0Error, Refused
from pro0.model.task import Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.store.lease import Lease
from tests.engine.crew import PATIENCE, Crew, kill
from tests.waiting import wait_until


def clean(alpha: Crew, *, force: bool = False) -> str | None:
    alpha.remember()
    return cleanup(alpha.store, "alpha", force=force, show=alpha.shown.append)


def nothing_left(alpha: Crew) -> None:
    home = alpha.store.home
    assert not [p for folder in ("teams", "tasks", "mailboxes") for p in (home / folder).iterdir() if p.name != ".lock"]
    assert not alpha.left()
    for lead in alpha.leads:
        lead.wait(PATIENCE)


def test_a_live_session_is_named_and_nothing_happens(alpha: Crew) -> None:
    """must show 6"""
    lead = alpha.lead()
    alpha.spawn("w1", "w2")
    before = alpha.pids()
    with pytest.raises(Refused, match="w1, w2 of alpha still run") as refused:
        clean(alpha)
    assert (refused.value.exit_code, lead.poll()) == (4, None)
    assert alpha.pids() == before
    assert len(alpha.left()) >= 4


def test_force_ends_what_lives(alpha: Crew) -> None:
    alpha.lead()
    stubborn = ("sh", "-c", "trap '' TERM; while :; do sleep 0.2; done")
    alpha.spawn("w1", SeatDraft(name="prog", agent="command", argv=stubborn))
    alpha.give(Draft(title="t", run="sleep 300", assignee="w1"))
    assert clean(alpha, force=True) == "alpha is removed"
    nothing_left(alpha)
    assert clean(alpha) is None
    assert clean(alpha, force=True) is None


def test_a_stopped_team_is_removed(alpha: Crew) -> None:
    alpha.lead()
    alpha.spawn("w1")
    alpha.stop()
    assert clean(alpha) == "alpha is removed"
    nothing_left(alpha)


def test_a_team_that_has_a_lead_and_nobody_else_is_removed(alpha: Crew) -> None:
    alpha.lead()
    assert clean(alpha) == "alpha is removed"
    nothing_left(alpha)


def test_the_lead_was_killed(alpha: Crew) -> None:
    lead = alpha.lead()
    alpha.spawn("w1")
    lead.kill()
    lead.wait()
    with pytest.raises(Refused, match="w1 of alpha still runs"):
        clean(alpha)
    assert clean(alpha, force=True) == "alpha is removed"
    nothing_left(alpha)


def test_lead_and_guard_were_killed(alpha: Crew) -> None:
    """What is left has only its tag."""
    lead = alpha.lead()
    alpha.spawn(SeatDraft(name="prog", agent="command", argv=("sh", "-c", "setsid sleep 300 & sleep 300")))
    lead.kill()
    lead.wait()
    kill(alpha.report("prog").guard)
    wait_until(lambda: len(alpha.left()) == 3, PATIENCE, "a shell and two sleeps are left")
    with pytest.raises(Refused, match="3 processes of alpha are left"):
        clean(alpha)
    assert clean(alpha, force=True) == "alpha is removed"
    nothing_left(alpha)


def test_a_late_write_brings_nothing_back(alpha: Crew) -> None:
    """AC-75"""
    alpha.lead()
    alpha.spawn("w1")
    alpha.give(Draft(title="t"))
    clean(alpha, force=True)
    late: list[Callable[[], object]] = [
        lambda: messages.send(alpha.context, "w1", "late"),
        lambda: messages.broadcast(alpha.context, "late"),
        lambda: messages.inbox(alpha.context),
        lambda: alpha.give(Draft(title="late")),
        lambda: tasks.claim(alpha.context, "task-1"),
        lambda: tasks.comment(alpha.context, "task-1", "late"),
        lambda: members.spawn(alpha.context, [SeatDraft(name="late")], 10),
    ]
    for write in late:
        with pytest.raises(NotFound):
            write()
    nothing_left(alpha)


def test_a_removal_that_was_interrupted_is_finished(alpha: Crew) -> None:
    """rulings 3.10: resumable after a kill"""
    alpha.team.paths.team.rename(alpha.team.paths.team.with_name(f".trash-alpha.{alpha.config.uid}"))
    assert clean(alpha) == "finished removing alpha"
    nothing_left(alpha)
    assert clean(alpha) is None


def test_another_team_is_left_alone(alpha: Crew) -> None:
    from pro0.model.caller import THE_HUMAN
    from pro0.ops.team import teams

    teams.create(alpha.store, THE_HUMAN, teams.Home("beta", alpha.project))
    clean(alpha)
    assert alpha.store.names() == ["beta"]
    with pytest.raises(Pro0Error):
        alpha.team.require()
    assert cleanup(alpha.store, "beta", force=False, show=alpha.shown.append) == "beta is removed"


def test_of_two_who_remove_a_team_none_fails(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """3.10: a team that is not there is nothing to clean"""
    take_over = cleaning.take_over

    def later(*words: Any, **named: Any) -> Lease:
        monkeypatch.setattr(cleaning, "take_over", take_over)
        assert clean(alpha) == "alpha is removed"
        return take_over(*words, **named)

    monkeypatch.setattr(cleaning, "take_over", later)
    assert clean(alpha) is None
