"""What the shell agent and the runner do with their mail (rulings 3.9)."""

import errno
import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import StoreError
from pro0.model.message import MessageType, Notice
from pro0.model.task import Task
from pro0.model.team import ShutdownWish
from pro0.ops.context import Context
from pro0.ops.team import members
from pro0.ops.team.mail_reader import MailReader
from pro0.store.teams import TeamStore
from tests.faults import Call, Shim
from tests.teams import NOW, make_team, member

BUSY = Task(id="task-3", title="t")


@pytest.fixture
def team(tmp_path: Path) -> TeamStore:
    """One whose member w1 has a request in its mailbox."""
    made = make_team(tmp_path / "home", "w1")
    made.mailbox("w1").post(
        Notice(id="ask", from_="lead", to="w1", type=MessageType.SHUTDOWN_REQUEST, content="please"), lambda: NOW
    )
    return made


def wish(team: TeamStore) -> None:
    with team.wanted.change("a test") as change:
        asked = replace(change.value.seats[0], shutdown=ShutdownWish(id="ask-1", by="human", at=NOW))
        change.value = members.with_seat(change.value, asked)


def read(context: Context, busy_with: Task | None = None) -> tuple[bool, list[str]]:
    said: list[str] = []
    reader = MailReader(context, said.append)
    reader.read(busy_with)
    reader.read(busy_with)
    return reader.agreed, said


@pytest.mark.parametrize(("busy", "agreed", "also"), [(None, True, []), (BUSY, False, ["not yet: working on task-3"])])
def test_a_request_is_answered_once(busy: Task | None, agreed: bool, also: list[str], team: TeamStore) -> None:
    wish(team)
    assert read(member(team, "w1"), busy) == (agreed, ["lead → w1: please", *also])
    answer = team.wanted.read().seats[0].answer
    assert answer
    assert answer.approve is agreed


def test_one_that_nobody_makes_any_more_is_only_read(team: TeamStore) -> None:
    agreed, said = read(member(team, "w1"))
    assert (agreed, said[0], len(said)) == (False, "lead → w1: please", 2)


def test_one_that_cannot_be_answered_now_is_answered_later(team: TeamStore) -> None:
    """else whoever asked would take it for silence"""
    wish(team)
    path = team.paths.team / "wanted.json"
    whole, context = path.read_bytes(), member(team, "w1")
    path.write_bytes(b"{")
    reader = MailReader(context, lambda _: None)
    with pytest.raises(StoreError):
        reader.read(None)
    path.write_bytes(whole)
    reader.read(None)
    assert reader.agreed


def test_one_whose_letter_did_not_arrive_is_answered_too(team: TeamStore) -> None:
    """The disk failed once the letter was given: else nobody would ever see it."""
    wish(team)
    said: list[str] = []
    reader = MailReader(member(team, "w1"), said.append)
    with Shim(("fsync",), None, folders_fail), pytest.raises(StoreError, match="after the change"):
        reader.read(None)
    reader.read(None)
    assert (reader.agreed, said) == (True, ["lead → w1: please"])


def folders_fail(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Let the last step of each write fail."""
    assert isinstance(args[0], int)
    if stat.S_ISDIR(os.fstat(args[0]).st_mode):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return real(*args, **kwargs)
