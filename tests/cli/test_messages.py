"""send, broadcast, inbox, and the answers to a shutdown."""

import errno
import json
import os
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.cli import message
from pro0.model.caller import Caller, Who
from pro0.model.runtime import State
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.team import members
from pro0.store import atomic
from tests.cli.conftest import Pro0, become, seat, tree
from tests.waiting import wait_until


@pytest.mark.parametrize("to", ["w1", "W1", " w1 ", "lead", "human", "Test Runner", "test-runner", "TEST RUNNER"])
def test_an_address_is_a_name_or_an_id_in_any_case(to: str, pro0: Pro0, team: Context) -> None:
    """AC-71 must show 5"""
    seat(team, "Test Runner")
    sent = json.loads(pro0("send", to, "-", "--json", stdin="two\nlines\n").out)
    assert (sent["from"], sent["content"], sent["type"]) == ("human", "two\nlines", "message")
    assert sent["to"] == to.strip().lower().replace(" ", "-")


@pytest.mark.parametrize("to", ["nobody", "gone", "all", "", "*"])
def test_nobody_there_is_exit_3_and_nothing_written(to: str, pro0: Pro0, home: Path, team: Context) -> None:
    """AC-68"""
    seat(team, "gone", State.SHUTDOWN)
    before = tree(home)
    assert pro0("send", to, "hello").code == 3
    assert tree(home) == before


def test_a_message_to_one_that_crashed_is_kept(pro0: Pro0, team: Context) -> None:
    """rulings 5.9"""
    seat(team, "gone", State.CRASHED)
    sent = pro0("send", "gone", "hello")
    assert (sent.code, sent.out) == (0, "sent to gone (message 1)\n")
    assert "queued: gone has crashed; restart it: pro0 member restart gone" in sent.err
    waited = pro0("send", "gone", "hello", "--wait", "600")
    assert waited.code == 124
    assert "queued: gone has crashed; restart it: pro0 member restart gone" in waited.err


def test_a_message_that_is_too_long(pro0: Pro0, home: Path, team: Context) -> None:
    """AC-68: 256 KiB"""
    before = tree(home)
    assert pro0("send", "w1", "-", stdin="x" * (256 * 1024 + 1)).code == 2
    assert tree(home) == before
    assert pro0("send", "w1", "-", stdin="x" * (256 * 1024)).code == 0


def test_broadcast_reaches_the_living_but_the_sender(
    pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-69 S004-046"""
    seat(team, "gone", State.EXITED)
    assert pro0("broadcast", "hello").out == "sent to w1, w2\n"
    become(monkeypatch, team, "w1")
    assert [message["to"] for message in json.loads(pro0("broadcast", "hello", "--json").out)] == ["w2"]


def test_a_person_reads_both_mailboxes_once(pro0: Pro0, team: Context) -> None:
    """rulings 3.8"""
    pro0("send", "human", "one")
    pro0("send", "lead", "two \x1b[31m\u202e\nline\ttab")
    shown = pro0("inbox").out
    assert "human · " in shown
    assert "  one\n" in shown
    assert "  two \\x1b[31m\\u202e\n  line\ttab\n" in shown
    assert pro0("inbox").err == "no messages\n"
    assert len(json.loads(pro0("inbox", "--all", "--json").out)) == 2


def test_a_member_acknowledges_with_its_next_call(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """S004-053 rulings 3.4"""
    pro0("send", "w1", "one")
    become(monkeypatch, team, "w1")
    assert json.loads(pro0("inbox", "--json").out)[0]["message"]["content"] == "one"
    assert messages.unread(Context(team.team, _caller(team, "w1"))) == 1
    assert json.loads(pro0("inbox", "--json").out) == []
    assert messages.unread(Context(team.team, _caller(team, "w1"))) == 0


def test_a_member_may_acknowledge_at_once(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    pro0("send", "w1", "one")
    become(monkeypatch, team, "w1")
    pro0("inbox", "--ack")
    assert messages.unread(Context(team.team, _caller(team, "w1"))) == 0


def test_mail_that_is_neither_shown_nor_taken_back_is_named(
    pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.4: nobody else could tell that the next look counts it as read."""
    pro0("send", "w1", "one")
    become(monkeypatch, team, "w1")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fills_the_disk(*_: object) -> None:
        faults.setattr(atomic, "replace", full)
        full()

    with monkeypatch.context() as faults:
        faults.setattr(message, "print_letters", fills_the_disk)
        called = pro0("inbox")
    assert called.code != 0
    assert "No space left" in called.err
    assert "counts this mail as read: pro0 inbox --all shows it" in called.err
    assert "one" in pro0("inbox", "--all").out


def test_waiting_ends_with_the_mail(pro0: Pro0, team: Context) -> None:
    def post() -> None:
        wait_until(lambda: team.team.mailbox("human").head.path.exists(), 5, "the mailbox")
        messages.send(team, "human", "late")

    timer = threading.Timer(0.3, post)
    timer.start()
    called = pro0("inbox", "--wait", "30")
    timer.join()
    assert "late" in called.out


def test_waiting_in_vain_is_124(pro0: Pro0, team: Context) -> None:
    called = pro0("inbox", "--wait", "0.2")
    assert (called.code, called.out) == (124, "")


def test_the_sender_is_stamped(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """S004-052"""
    become(monkeypatch, team, "w1")
    assert json.loads(pro0("send", "w2", "hello", "--json").out)["from"] == "w1"


def test_a_member_of_one_team_cannot_reach_another(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """S004-068 NFR5"""
    become(monkeypatch, team, "w1")
    called = pro0("task", "list", "-t", "beta")
    assert called.code == 4
    assert "belongs to the team alpha" in called.err
    assert pro0("team", "list", "-o", "name").out == "alpha\n"


def test_an_identity_counts_only_in_its_own_home(
    pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """rulings 2.3"""
    monkeypatch.setenv("PRO0_AGENT_ID", "w1")
    monkeypatch.setenv("PRO0_INCARNATION", "i")
    monkeypatch.setenv("PRO0_MEMBER_OF", str(tmp_path / "another"))
    assert json.loads(pro0("send", "w2", "hello", "--json").out)["from"] == "human"


@pytest.mark.parametrize(("arguments", "approve"), [(["approve"], True), (["reject", "busy with task-3"], False)])
def test_answers_to_a_shutdown(
    arguments: list[str], approve: bool, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S004-055 AC-74"""
    become(monkeypatch, team, "w1")
    early = pro0("shutdown", *arguments)
    assert early.code == 4
    assert "nobody ask" in early.err
    wish = members.shutdown(team, "w1").shutdown
    assert wish is not None
    with team.team.runtime.change("test") as change:
        asked = (replace(change.value.seats[0], asked=wish.id), *change.value.seats[1:])
        change.value = replace(change.value, seats=asked)
    assert pro0("shutdown", *arguments).code == 0
    answer = team.team.wanted.read().seats[0].answer
    assert answer is not None
    assert (answer.approve, answer.request_id) == (approve, wish.id)
    assert pro0("shutdown", "reject", " ").code == 2


def _caller(team: Context, agent_id: str):  # type: ignore[no-untyped-def]
    from pro0.model.caller import Caller, Who

    state = next(state for state in team.team.runtime.read().seats if state.agent_id == agent_id)
    return Caller(Who.MEMBER, agent_id, state.incarnation)


def test_what_was_sent_and_whether_it_was_read(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    pro0("send", "w1", "the first")
    pro0("send", "w2", "the second")
    messages.acknowledge(w1 := _as(team, "w1"), messages.inbox(w1))
    sent = json.loads(pro0("inbox", "--sent", "--json").out)
    assert [(one["mailbox"], one["message"]["content"], one["message"]["read"]) for one in sent] == [
        ("w1", "the first", True),
        ("w2", "the second", False),
    ]
    first, _, second, _ = pro0("inbox", "--sent").out.splitlines()
    assert (first.endswith("#1"), second.endswith("#1 · unread")) == (True, True)
    assert json.loads(pro0("inbox", "--json").out) == [], "what one has sent is no mail to oneself"


def test_a_conversation_with_its_answers(pro0: Pro0, team: Context) -> None:
    """Both sides in order; a stranger's letters are not among them; an answer names its question by number or id."""
    w1, w2 = (_as(team, name) for name in ("w1", "w2"))
    question = messages.send(w1, "human", "a or b?")
    messages.send(w2, "human", "never mind me")
    assert pro0("send", "w1", "b", "--reply-to", str(question.seq)).code == 0
    assert pro0("send", "w1", "b, I said", "--reply-to", question.id).code == 0
    shown = json.loads(pro0("inbox", "--with", "w1", "--json").out)
    assert [one["message"]["content"] for one in shown] == ["a or b?", "b", "b, I said"]
    assert {one["message"]["inReplyTo"] for one in shown[1:]} == {question.id}
    assert pro0("inbox", "--with", "w1").out.count(f"answers #{question.seq}") == 2
    assert [letter.message.in_reply_to for letter in messages.inbox(w1)] == [question.id] * 2


def test_the_number_of_a_letter_of_ones_own_is_no_letter_that_one_got(pro0: Pro0, team: Context) -> None:
    """`inbox --with` shows both with numbers of their own."""
    pro0("send", "w1", "mine")
    assert "human → w1 · " in pro0("inbox", "--with", "w1").out
    told = pro0("send", "w1", "an answer", "--reply-to", "1")
    assert (told.code, told.err.splitlines()[0]) == (3, "pro0: your inbox has no message 1 from w1")


@pytest.mark.parametrize("reference", ["2", "99", "nothing", "#", ""])
def test_an_answer_to_what_was_never_written(reference: str, pro0: Pro0, home: Path, team: Context) -> None:
    """Also to a letter of somebody else; nothing is sent."""
    messages.send(_as(team, "w1"), "human", "mine")
    messages.send(_as(team, "w2"), "human", "not yours")
    before = tree(home)
    refused = pro0("send", "w1", "an answer", "--reply-to", reference)
    assert (refused.code, tree(home)) == (3, before), refused
    assert "pro0 inbox --with w1" in refused.err


def test_one_view_of_the_mail_at_a_time(pro0: Pro0, team: Context) -> None:
    for words in (["--sent", "--all"], ["--with", "w1", "--sent"], ["--sent", "--wait", "1"], ["--all", "--ack"]):
        assert pro0("inbox", *words).code == 2
    assert pro0("inbox", "--with", "nobody").code == 3


def _as(team: Context, name: str) -> Context:
    """Return the context of a member's session."""
    seats = {known.agent_id: known.incarnation for known in team.team.runtime.read().seats}
    return replace(team, caller=Caller(Who.MEMBER, name, seats[name]))
