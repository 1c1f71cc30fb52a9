"""Messages through the operations (AC-68 to AC-71, rulings 3.4, 3.8)."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, EnvironmentMissing, NotFound, Pro0Error, Refused, StoreError
from pro0.model.message import BODY_LIMIT, MessageType
from pro0.model.need import NeedKind
from pro0.model.runtime import State
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.repair import repair_mail
from pro0.ops.team import members, needs
from pro0.store.teams import TeamStore
from tests.faults import contents
from tests.teams import NOW, human, make_team, member, set_state


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "w1", "w2", "w3")


def got(context: Context, *, acknowledge: bool = False) -> list[tuple[str, bool]]:
    return [(letter.message.content, letter.again) for letter in messages.inbox(context, acknowledge=acknowledge)]


def test_a_message_is_read_once_with_all_that_it_is(team: TeamStore) -> None:
    """AC-68."""
    asked = messages.send(member(team, "w2"), "w1", "hello?")
    sent = messages.send(member(team, "w1"), "w2", "hello", in_reply_to=asked.id)
    letter = messages.inbox(member(team, "w2"))[0]
    assert letter.message == sent
    assert (sent.from_, sent.to, sent.type, sent.seq, sent.in_reply_to) == (
        "w1",
        "w2",
        MessageType.MESSAGE,
        1,
        asked.id,
    )
    assert got(member(team, "w2")) == []
    assert [letter.message.read for letter in messages.history(member(team, "w2"))] == [True]


def test_what_did_not_arrive_is_given_again(team: TeamStore) -> None:
    """Rulings 3.4."""
    messages.send(human(team), "w1", "hello")
    assert got(member(team, "w1")) == [("hello", False)]
    messages.take_back(member(team, "w1"))
    assert got(member(team, "w1")) == [("hello", True)]
    assert got(member(team, "w1")) == []


@pytest.mark.parametrize("content", ["", " \n"])
def test_a_message_has_a_text_whoever_sends_it(team: TeamStore, content: str) -> None:
    """An editor and a page send by the operation itself."""
    with pytest.raises(BadInput, match="needs a text"):
        messages.send(human(team), "w1", content)
    with pytest.raises(BadInput, match="needs a text"):
        messages.broadcast(human(team), content)
    assert got(member(team, "w1")) == []


@pytest.mark.parametrize("address", ["w2", "W2", " w2 ", "w2\n"])
def test_any_way_to_say_a_name_is_one_mailbox(team: TeamStore, address: str) -> None:
    """AC-71."""
    assert messages.send(human(team), address, "hello").to == "w2"


@pytest.mark.parametrize("address", ["lead", "human", "LEAD"])
def test_lead_and_human_have_an_address_from_the_start(team: TeamStore, address: str) -> None:
    assert messages.send(member(team, "w1"), address, "hello").to == address.lower()
    assert got(human(team), acknowledge=True) == [("hello", False)]


WRONG: list[tuple[str, str, type[Pro0Error], int]] = [
    ("w9", "x", NotFound, 3),
    ("all", "x", NotFound, 3),
    ("../w1", "x", NotFound, 3),
    ("", "x", NotFound, 3),
    ("w3", "x", NotFound, 3),
    ("w1", "x" * (BODY_LIMIT + 1), BadInput, 2),
    ("w1", "ä" * (BODY_LIMIT // 2) + "x", BadInput, 2),
    ("w1", "\udc80", BadInput, 2),
]


@pytest.mark.parametrize(("to", "content", "error", "code"), WRONG)
def test_what_cannot_be_sent_is_said_to_the_sender(
    team: TeamStore, to: str, content: str, error: type[Pro0Error], code: int
) -> None:
    """AC-68, rulings 3.4: unknown or ended is exit 3, too long exit 2, and nothing is written."""
    set_state(team, "w3", State.SHUTDOWN)
    before = contents(team.paths.home)
    with pytest.raises(error) as raised:
        messages.send(human(team), to, content)
    assert raised.value.exit_code == code
    assert contents(team.paths.home) == before


def test_a_reply_to_what_is_no_text(team: TeamStore) -> None:
    with pytest.raises(BadInput):
        messages.send(human(team), "w1", "x", in_reply_to="\udc80")


def test_the_longest_body_arrives(team: TeamStore) -> None:
    """Reliability 28: the exact boundary."""
    body = "ä" * (BODY_LIMIT // 2)
    messages.send(human(team), "w1", body)
    assert got(member(team, "w1")) == [(body, False)]


def test_a_broadcast_reaches_who_lives_and_not_the_sender(team: TeamStore) -> None:
    set_state(team, "w3", State.EXITED)
    assert [message.to for message in messages.broadcast(member(team, "w1"), "all")] == ["w2"]
    assert [message.to for message in messages.broadcast(human(team), "all")] == ["w1", "w2"]


@pytest.mark.parametrize(
    ("damage", "error", "told"),
    [
        (lambda head: head.write_bytes(b"{"), StoreError, "messages.json"),
        (lambda head: head.rename(head.with_name("elsewhere")), Pro0Error, "w1"),
        (lambda head: head.parent.rename(head.parents[2] / "elsewhere"), NotFound, "w1 does not exist"),
        (lambda head: linked(head.parent), EnvironmentMissing, "w1 is a symbolic link"),
        (lambda head: linked(head), EnvironmentMissing, "messages.json is a symbolic link"),
    ],
    ids=["broken", "without its file", "missing", "linked", "with a linked file"],
)
def test_a_mailbox_that_takes_no_broadcast_keeps_it_from_no_other(
    team: TeamStore, damage: Callable[[Path], object], error: type[Pro0Error], told: str
) -> None:
    damage(team.mailbox("w1").head.path)
    with pytest.raises(error) as raised:
        messages.broadcast(human(team), "all")
    assert raised.value.message.startswith("partly done: sent to w2, w3; ")
    assert told in raised.value.message
    assert [got(member(team, name)) for name in ("w2", "w3")] == [[("all", False)]] * 2


def linked(path: Path) -> None:
    """Let a symbolic link stand in the place of something, and lead to it."""
    aside = path.with_name("elsewhere")
    path.rename(aside)
    path.symlink_to(aside)


def test_mail_of_a_killed_session_is_given_again(team: TeamStore) -> None:
    """AC-70."""
    messages.send(human(team), "w1", "one")
    assert got(member(team, "w1")) == [("one", False)]
    messages.send(human(team), "w1", "two")
    set_state(team, "w1", State.IDLE, incarnation="inc-new")
    with pytest.raises(Refused):
        messages.inbox(member(team, "w1"))
    assert got(member(team, "w1", "inc-new")) == [("one", True), ("two", False)]
    assert got(member(team, "w1", "inc-new")) == []


def test_the_order_is_of_the_mailbox_not_of_the_clock(team: TeamStore) -> None:
    """Rulings 3.4: seq; a clock that steps back changes nothing."""
    for number in range(5):
        context = replace(human(team), now=lambda number=number: NOW - timedelta(seconds=number))
        messages.send(context, "w1", str(number))
        messages.send(context, "lead" if number % 2 else "human", str(number))
    assert [content for content, _ in got(member(team, "w1"))] == list("01234")
    assert [letter.message.content for letter in messages.history(member(team, "w1"))] == list("01234")
    merged = messages.inbox(human(team))
    for address, wanted in (("lead", ["1", "3"]), ("human", ["0", "2", "4"])):
        assert [letter.message.content for letter in merged if letter.mailbox == address] == wanted


def test_nobody_acknowledges_the_mail_of_another(team: TeamStore) -> None:
    messages.send(human(team), "w1", "one")
    letters = messages.inbox(member(team, "w1"))
    with pytest.raises(Refused, match="not a mailbox of w2"):
        messages.acknowledge(member(team, "w2"), letters)
    assert messages.unread(member(team, "w1")) == 1
    with pytest.raises(Refused, match="not a mailbox of w2"):
        messages.acknowledge(member(team, "w2"), up_to={"w1": 1})
    assert messages.unread(member(team, "w1")) == 1
    messages.acknowledge(member(team, "w1"), letters)
    assert messages.unread(member(team, "w1")) == 0


def test_what_came_after_what_was_shown_stays_unread(team: TeamStore) -> None:
    """Each of several mailboxes has its own number; one beyond the newest message marks none that comes later."""
    for content in ("one", "two", "three"):
        messages.send(member(team, "w1"), "human", content)
        messages.send(member(team, "w1"), "lead", content)
    messages.acknowledge(human(team), up_to={"human": 2, "lead": 1})
    assert messages.unread(human(team)) == 3
    messages.acknowledge(human(team), up_to={"human": 99})
    messages.send(member(team, "w1"), "human", "four")
    assert [letter.message.content for letter in messages.inbox(human(team))] == ["two", "three", "four"]


def test_a_lead_agent_takes_the_leads_mail(home: Path) -> None:
    """Rulings 3.8: without one, the human reads both."""
    led, alone = make_team(home, "lead", name="led"), make_team(home, name="alone")
    for team in (led, alone):
        messages.send(human(team), "lead", "for the lead")
    assert got(human(led)) == []
    assert got(member(led, "lead")) == got(human(alone)) == [("for the lead", False)]


def test_names_that_differ_only_in_case_are_one(team: TeamStore) -> None:
    """AC-67, AC-71: the second is refused, and so is one too many; nothing is left of the refused."""
    before = contents(team.paths.home)
    for drafts, code in ([["x", "W1"], "conflict"], [["x", "X"], "conflict"], [["a", "b", "c"], "too_many"]):
        with pytest.raises(Refused) as raised:
            members.spawn(human(team), [members.SeatDraft(name=name) for name in drafts], 5)
        assert raised.value.code == code
    assert contents(team.paths.home) == before
    assert not team.mailbox("x").exists()


def test_a_mailbox_that_was_mended_with_losses_needs_the_person_until_they_have_seen_it(home: Path) -> None:
    """What is lost is named, of each member's mailbox; one that is sound is no trouble."""
    team = make_team(home, "w1", "w2")
    context = human(team)
    for number in range(3):
        messages.send(context, "w1", f"letter {number}")
    path = team.mailbox("w1").head.path
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for name in ("w1", "w2"):
        repair_mail.repair_mailbox(context, name, lambda _: None)
    [need] = [need for need in needs.list_needs(context) if need.kind is NeedKind.LOSSES]
    assert need.subject == "the mailbox of w1"
    assert need.why
    needs.mark_seen(context, need.command.split()[-1])
    assert not [need for need in needs.list_needs(context) if need.kind is NeedKind.LOSSES]


def test_a_wrong_number_in_a_sealed_file_costs_that_message_alone(team: TeamStore) -> None:
    """Behaviour 3.4."""
    for number in range(1, 206):
        messages.send(member(team, "w1"), "human", f"letter {number}")
    path = team.mailbox("human").sealed(1).path
    path.write_bytes(path.read_bytes().replace(b'"seq": 50,', b'"seq": 950,'))
    said: list[str] = []
    repair_mail.repair_mailbox(human(team), "human", said.append)
    assert said[0].endswith("kept: 204 messages; lost: message 50")
    received = [letter.message for letter in messages.inbox(human(team))]
    assert [one.content for one in received if one.from_ == "w1"] == [f"letter {n}" for n in range(1, 206) if n != 50]
    assert received[49].content.startswith("message 50 of this mailbox cannot be read any more")
    assert received[-1].content.startswith("the next message here has the number 951, since")
    assert messages.send(member(team, "w1"), "human", "one more").seq == 951
