"""What became of a message: delivered is said when its reader was given it, never before (check 35)."""

from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import NotFound
from pro0.model.runtime import ENDED, State
from pro0.ops.mail import delivery, messages
from pro0.ops.mail.delivery import Delivered, Fate
from pro0.ops.team import status
from pro0.store.teams import TeamStore
from tests.faults import Call, Shim, count
from tests.teams import human, make_team, member, set_state


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "w1", "w2")


def test_delivered_means_that_its_reader_was_given_it(team: TeamStore) -> None:
    first, second = (messages.send(human(team), "w1", text) for text in ("one", "two"))
    assert delivery.fate(human(team), first).result is Delivered.QUEUED
    messages.inbox(member(team, "w1"))
    assert delivery.fate(human(team), second) == Fate(Delivered.DELIVERED)
    third = messages.send(member(team, "w2"), "w1", "three")
    assert delivery.fate(member(team, "w2"), third).result is Delivered.QUEUED


def test_what_was_taken_back_is_not_delivered_until_it_is_given_again(team: TeamStore) -> None:
    """Behaviour 3.4: its reader was shown nothing of it."""
    sent = messages.send(human(team), "w1", "hello")
    messages.inbox(member(team, "w1"))
    messages.take_back(member(team, "w1"))
    assert delivery.fate(human(team), sent).result is Delivered.QUEUED
    messages.inbox(member(team, "w1"))
    assert delivery.fate(human(team), sent) == Fate(Delivered.DELIVERED)


@pytest.mark.parametrize("state", [state for state in State if state not in ENDED])
def test_what_waits_says_why(team: TeamStore, state: State) -> None:
    sent = messages.send(human(team), "w1", "hello")
    set_state(team, "w1", state)
    fate = delivery.fate(human(team), sent)
    assert fate.result is Delivered.QUEUED
    assert fate.why.startswith("w1 ")


@pytest.mark.parametrize("state", sorted(ENDED))
def test_mail_of_a_member_that_has_ended_meanwhile_has_failed(team: TeamStore, state: State) -> None:
    sent = messages.send(human(team), "w1", "hello")
    set_state(team, "w1", state)
    fate = delivery.fate(human(team), sent)
    assert fate.result is (Delivered.QUEUED if state is State.CRASHED else Delivered.FAILED)
    assert fate.crashed is (state is State.CRASHED)


def test_mail_to_one_that_crashed_is_kept_until_it_is_restarted(team: TeamStore) -> None:
    """rulings 5.9: its id and its mailbox stay; a session for one task is not restarted."""
    set_state(team, "w1", State.CRASHED)
    sent = messages.send(member(team, "w2"), "W1", "hello")
    assert delivery.fate(human(team), sent).why == "w1 has crashed; restart it: pro0 member restart w1"
    with team.wanted.change("a test") as change:
        seats = tuple(replace(seat, task="task-1") for seat in change.value.seats)
        change.value = replace(change.value, seats=seats)
    with pytest.raises(NotFound):
        messages.send(human(team), "w1", "hello")


@pytest.mark.files
@pytest.mark.parametrize("state", sorted(ENDED))
def test_mail_of_a_member_that_reads_it_and_ends_during_the_look_has_not_failed(home: Path, state: State) -> None:
    """Whichever file is opened next by who looks."""
    known = messages.send(context := human(make_team(home, "w1")), "w1", "hello")
    for at, opened in enumerate(count(lambda: delivery.fate(context, known), ("open",)), 1):
        team = make_team(home, "w1", name=f"team-{at}")
        sent = messages.send(human(team), "w1", "hello")
        with Shim(("open",), at, partial(read_and_end, team, state)):
            fate = delivery.fate(human(team), sent)
        assert fate.result is not Delivered.FAILED, opened
        assert delivery.fate(human(team), sent) == Fate(Delivered.DELIVERED)


def read_and_end(
    team: TeamStore,
    state: State,
    _shim: Shim,
    _name: str,
    real: Call,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Let w1 read its mail and end before the call."""
    messages.inbox(member(team, "w1"), acknowledge=True)
    set_state(team, "w1", state)
    return real(*args, **kwargs)


@pytest.mark.parametrize("address", ["lead", "human"])
def test_mail_to_a_person_waits_until_it_is_read(team: TeamStore, address: str) -> None:
    sent = messages.send(member(team, "w1"), address, "hello")
    assert delivery.fate(member(team, "w1"), sent).result is Delivered.QUEUED
    messages.acknowledge(human(team), messages.inbox(human(team)))
    assert delivery.fate(member(team, "w1"), sent).result is Delivered.DELIVERED


def test_what_its_reader_was_given_is_not_unread(team: TeamStore) -> None:
    """It is acknowledged by the next call only, which an idle agent has no reason for."""
    messages.send(human(team), "w1", "hello")
    set_state(team, "w1", State.IDLE)
    assert unread(team) == 1
    messages.inbox(member(team, "w1"))
    assert unread(team) == 0
    set_state(team, "w1", State.IDLE, "inc-next")
    assert unread(team) == 1


def unread(team: TeamStore) -> int:
    return next(one.unread for one in status.status(human(team)).members if one.agent_id == "w1")


@pytest.mark.parametrize(
    ("agent", "nudge", "told"),
    [("command", False, False), ("command", True, True), ("shell", False, True), ("pi", False, True)],
)
def test_who_is_told_of_no_mail_is_said_to_read_when_it_likes(
    team: TeamStore, agent: str, *, nudge: bool, told: bool
) -> None:
    """Else it would wait unseen: nobody ever tells such a program."""
    with team.wanted.change("a test") as change:
        seats = tuple(replace(seat, agent=agent, nudge=nudge) for seat in change.value.seats)
        change.value = replace(change.value, seats=seats)
    set_state(team, "w1", State.IDLE)
    fate = delivery.fate(human(team), messages.send(human(team), "w1", "hello"))
    assert (fate.why == "w1 is not told of mail: it reads when it chooses") is not told
    assert fate.is_said is not told
