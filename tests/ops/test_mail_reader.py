"""What the shell agent and the runner do with their mail (rulings 3.9)."""

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
