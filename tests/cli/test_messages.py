"""send, broadcast, inbox, and the answers to a shutdown."""

import json
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.team import members
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
