"""What agents call when a turn ends."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from pro0.agents import turn_end
from pro0.model.message import Mailbox, Notice
from pro0.rules import mail
from tests.waiting import STUCK

ME = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def box(received: int, *, read: int = 0, given: int = 0, to: str = ME) -> Mailbox:
    """A mailbox that got so many messages, of which some are acknowledged, and some handed out in one session."""
    filled = Mailbox(agent_id="ann")
    for n in range(received):
        filled = mail.post(filled, Notice(id=str(n), from_="lead", to="ann", content="hi"), NOW)
        if n + 1 == given:
            filled, _ = mail.hand_out(filled, filled.messages, to)
    return mail.acknowledge(filled, read)


def asked(tmp_path: Path, mailbox: Mailbox) -> str:
    """What the agent is told at the end of its turn, empty when the turn may end."""
    path = tmp_path / "messages.json"
    path.write_bytes(msgspec.json.encode(mailbox))
    said = turn_end.answer(path, tmp_path, ME)
    if not said:
        return ""
    answer = json.loads(said)
    assert answer["decision"] == "block"
    return str(answer["reason"])


@pytest.mark.parametrize(
    ("mailbox", "told"),
    [
        pytest.param(box(0), "", id="no mail"),
        pytest.param(box(1), "You have 1 unread message", id="one"),
        pytest.param(box(3), "You have 3 unread messages", id="three"),
        pytest.param(box(3, read=3), "", id="all read"),
        pytest.param(box(3, read=2), "You have 1 unread message", id="one is new"),
        pytest.param(box(3, given=3), "", id="all given in this session"),
        pytest.param(box(3, given=2), "You have 1 unread message", id="one came after that"),
        pytest.param(box(3, given=3, to=OTHER), "You have 3 unread messages", id="given to a session that is over"),
    ],
)
def test_it_says_what_is_unread(tmp_path: Path, mailbox: Mailbox, told: str) -> None:
    """Rulings 3.6: the line, never the text."""
    said = asked(tmp_path, mailbox)
    assert said == (f"{told}: run `pro0 inbox`" if told else "")


def test_it_says_each_message_once(tmp_path: Path) -> None:
    """An agent that does not read its mail can end its turn; new mail holds it once more."""
    assert asked(tmp_path, box(1))
    assert not asked(tmp_path, box(1))
    assert asked(tmp_path, box(2)) == "You have 2 unread messages: run `pro0 inbox`"
    assert not asked(tmp_path, box(2))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"nextSeq":"x"}', b'{"nextSeq":9,"surprise":1}', b"\xff"])
def test_a_mailbox_that_cannot_be_read_holds_nobody(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "messages.json"
    path.write_bytes(data)
    assert turn_end.answer(path, tmp_path, ME) == b""


def test_the_command_is_a_program_of_its_own(tmp_path: Path) -> None:
    path, folder = tmp_path / "a b" / "messages.json", tmp_path / "its folder"
    path.parent.mkdir()
    folder.mkdir()
    path.write_bytes(msgspec.json.encode(box(2, given=1)))
    done = subprocess.run(
        ["/bin/sh", "-c", turn_end.command(str(path), str(folder))],
        input=b'{"hook_event_name":"Stop","stop_hook_active":false}',
        capture_output=True,
        env={**os.environ, "PRO0_INCARNATION": ME},
        cwd="/",
        timeout=STUCK,
        check=True,
    )
    assert json.loads(done.stdout)["reason"] == "You have 1 unread message: run `pro0 inbox`"
    assert done.stderr == b""


def test_words_that_cannot_be_kept_hide_no_mail(tmp_path: Path) -> None:
    path, folder = tmp_path / "messages.json", tmp_path / "folder"
    (folder / turn_end.WORDS).mkdir(parents=True)
    path.write_bytes(msgspec.json.encode(box(2, given=1)))
    done = subprocess.run(
        ["/bin/sh", "-c", turn_end.command(str(path), str(folder))],
        input=b'{"last_assistant_message":"it is done"}',
        capture_output=True,
        env={**os.environ, "PRO0_INCARNATION": ME},
        timeout=STUCK,
        check=True,
    )
    assert json.loads(done.stdout)["reason"] == "You have 1 unread message: run `pro0 inbox`"
    assert done.stderr == b""


@pytest.mark.parametrize("arguments", ["/nowhere/messages.json /nowhere", ""])
def test_the_command_never_fails_a_turn(tmp_path: Path, arguments: str) -> None:
    line = turn_end.command(str(tmp_path / "none"), str(tmp_path / "neither"))
    done = subprocess.run(["/bin/sh", "-c", line], input=b"", capture_output=True, timeout=STUCK)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
