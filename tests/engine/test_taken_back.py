"""Two ask for one end, or a request is taken back: whoever waits is told (3.9)."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from threading import Timer

import pytest
from msgspec.structs import replace

from pro0.engine import outcomes
from pro0.errors import Refused, TimedOut
from pro0.model.runtime import Refusal, SeatState, State
from pro0.model.task import Draft, Status
from pro0.ops.context import clock
from pro0.ops.tasks.drafts import SeatDraft
from pro0.ops.team import members, teams
from tests.engine.crew import PATIENCE, Crew
from tests.waiting import wait_until

LONG = 2 * PATIENCE
"""Seconds to wait for a yes: longer than the tests wait for an answer."""


@pytest.fixture
def busy(alpha: Crew) -> Crew:
    """The team alpha, whose one member works for long."""
    alpha.lead()
    alpha.spawn("w1")
    [task] = alpha.give(Draft(title="t", run="sleep 300"))
    wait_until(lambda: alpha.task(task).status is Status.IN_PROGRESS, PATIENCE, "it works")
    return alpha


def asked(alpha: Crew, *, member: bool) -> "Future[object]":
    """Ask for an end, and wait for it elsewhere, until somebody has heard "not yet"."""
    pool, waits = ThreadPoolExecutor(1), Future[object]()
    if member:
        seat = members.shutdown(alpha.context, "w1", timeout=LONG)
        waits = pool.submit(outcomes.shut_down, alpha.team, seat, alpha.shown.append)
    else:
        wish = teams.stop(alpha.context, timeout=LONG).stop
        assert wish
        waits = pool.submit(outcomes.stopped, alpha.team, wish, alpha.shown.append)
    pool.shutdown(wait=False)
    wait_until(lambda: any("not yet" in line for line in alpha.shown), PATIENCE, "it says not yet")
    return waits


def end(alpha: Crew, *, member: bool, force: bool) -> None:
    """Ask for the same end once more, with hardly any time for a yes."""
    if member:
        alpha.shut_down("w1", timeout=0.1, force=force)
    else:
        alpha.stop(timeout=0.1, force=force)


@pytest.mark.parametrize("member", [True, False], ids=["a member", "the team"])
def test_a_shorter_request_of_another_counts_for_both(busy: Crew, member: bool) -> None:
    first = asked(busy, member=member)
    with pytest.raises(Refused, match="w1 stays: "):
        end(busy, member=member, force=False)
    with pytest.raises(Refused, match=r"w1 stays: |w1 goes on: |alpha goes on: "):
        first.result(PATIENCE)
    events = map(json.loads, busy.team.documents.events().last(50))
    told = [event for event in events if event["event"] == "member.stays"]
    assert {event["agent"] for event in told} == {"w1"}


@pytest.mark.parametrize("member", [True, False], ids=["a member", "the team"])
def test_who_waits_for_an_end_goes_with_another_who_forces_it(busy: Crew, member: bool) -> None:
    first = asked(busy, member=member)
    end(busy, member=member, force=True)
    first.result(PATIENCE)
    assert busy.state("w1").state is State.SHUTDOWN


def test_who_waits_for_a_stop_is_told_when_the_team_is_to_go_on(busy: Crew) -> None:
    first = asked(busy, member=False)
    teams.resume(busy.context)
    with pytest.raises(Refused, match="alpha goes on: the request to end was taken back"):
        first.result(PATIENCE)


def test_who_stays_is_heard_though_the_request_goes_first(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lead takes the request back, and then records who stays."""
    monkeypatch.setattr(outcomes, "LEAD_PAUSE", PATIENCE)
    wish = teams.stop(alpha.context).stop
    assert wish
    teams.resume(alpha.context)

    def record() -> None:
        with alpha.team.runtime.change("a test") as change:
            refusal = Refusal(request_id=wish.id, stayed={"w1": "it does not answer"})
            change.value = replace(change.value, refusals=(refusal,))

    late = Timer(0.5, record)
    late.start()
    with pytest.raises(Refused, match="w1 stays: it does not answer"):
        outcomes.stopped(alpha.team, wish, alpha.shown.append)
    late.join()


def test_who_waits_for_a_member_is_told_that_it_is_to_end_before_it_starts(alpha: Crew) -> None:
    """No lead is at work, so that it has no session yet."""
    [seat] = members.spawn(alpha.context, [SeatDraft(name="w1")], 10)
    members.shutdown(alpha.context, "w1")
    with pytest.raises(Refused, match="w1 will not start: somebody asked it to shut down"):
        outcomes.started(alpha.team, [seat], alpha.shown.append)


def test_who_waits_for_a_slow_end_is_told_that_it_goes_on(alpha: Crew) -> None:
    """A stopped guard is killed after its grace, which may take fifteen seconds."""
    members.spawn(alpha.context, [SeatDraft(name="w1")], 10)
    seat = members.shutdown(alpha.context, "w1")
    with alpha.team.runtime.change("a test") as change:
        began = clock() - timedelta(seconds=5)
        state = SeatState("w1", 1, "i1", State.STOPPING, began, began, ending_since=began)
        change.value = replace(change.value, seats=(state,))
    with pytest.raises(TimedOut):
        outcomes.shut_down(alpha.team, seat, alpha.shown.append, patience=0.2)
    assert alpha.shown == ["w1 is ending; what does not end by itself is killed in a while"]
