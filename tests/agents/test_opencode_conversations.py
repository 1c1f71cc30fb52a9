"""opencode: a person begins another session in the pane, or picks one, and the member goes on in that one."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from pro0.agents.adapter import Memory, SessionView
from pro0.agents.opencode.adapter import OPENCODE
from pro0.agents.opencode.database import OURS
from pro0.model.runtime import State
from pro0.model.screen import Reading
from pro0.model.usage import Usage
from tests.agents import placed
from tests.agents.placed import recording
from tests.agents.test_opencode import Answers, answers

__all__ = ["answers"]

LATER = 1_795_317_000_000
"""After all that was recorded, in milliseconds."""
OLD, NEW, CHILD = placed.OPENCODE, "ses_new", "ses_child"
WORKING = {"type": "busy"}


@pytest.fixture
def view(tmp_path: Path, answers: Answers) -> SessionView:
    """A member at work in one session, with a person who has begun another one in its pane."""
    view = placed.opencode(tmp_path, recording("opencode.sql"))
    placed.written(tmp_path / "session/server.json", msgspec.json.encode(answers.server))
    began(view, NEW)
    said(view, OLD, 0)
    said(view, NEW, 1)
    return view


def write(view: SessionView, *statement: object) -> None:
    place = Path(view.environment["HOME"], ".local/share/opencode/opencode.db")
    with closing(sqlite3.connect(place)) as database:
        database.execute(str(statement[0]), statement[1:])
        database.commit()


def began(view: SessionView, id: str, parent: str | None = None, directory: str = placed.PROJECT) -> None:
    write(
        view,
        "insert into session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)"
        " values (?, 'global', ?, '', ?, '', '1.18.33', ?, ?)",
        *(id, parent, directory, LATER, LATER),
    )


def message(view: SessionView, session: str, id: str, at: int, **data: object) -> None:
    write(view, "insert into message values (?, ?, ?, ?, ?)", id, session, LATER + at, LATER + at, json.dumps(data))


def said(view: SessionView, session: str, at: int, **part: object) -> None:
    """Let somebody say something; without more words it was a person."""
    id = f"msg_{session}_{at}"
    message(view, session, id, at, role="user")
    data = json.dumps({"type": "text", "text": "Go on.", **part})
    write(view, "insert into part values (?, ?, ?, ?, ?, ?)", f"prt_{id}", id, session, LATER + at, LATER + at, data)


def answered(view: SessionView, session: str, id: str, at: int) -> None:
    tokens = {"input": 1, "output": 1, "cache": {}}
    message(view, session, id, at, role="assistant", modelID="m", finish="stop", tokens=tokens, time={"completed": 1})


def looked(view: SessionView) -> Reading:
    assert OPENCODE.look
    reading = OPENCODE.look(view, Memory())
    assert reading
    return reading


def busy(answers: Answers, *sessions: str) -> None:
    answers.status = dict.fromkeys(sessions, WORKING)


@pytest.mark.parametrize("recorded", [OLD, NEW])
@pytest.mark.parametrize("both", [True, False])
def test_the_session_in_which_a_person_spoke_last_is_the_members(
    both: bool, recorded: str, view: SessionView, answers: Answers
) -> None:
    """Also while the one before goes on by itself, and it stays so from look to look."""
    busy(answers, NEW, *([OLD] if both else []))
    reading = looked(replace(view, session=recorded))
    assert (reading.state, reading.session) == (State.WORKING, NEW)


def test_one_that_is_picked_again_is_the_members(view: SessionView, answers: Answers) -> None:
    said(view, OLD, 2)
    busy(answers, OLD)
    assert looked(replace(view, session=NEW)).session == OLD


@pytest.mark.parametrize("part", [{"metadata": OURS}, {"synthetic": True}, {"type": "compaction"}], ids=str)
def test_what_no_person_said_moves_nobody(part: dict[str, object], view: SessionView, answers: Answers) -> None:
    said(view, OLD, 2, **part)
    busy(answers, OLD, NEW)
    assert looked(view).session == NEW


@pytest.mark.parametrize(
    ("parent", "directory", "works"),
    [(OLD, placed.PROJECT, True), (None, "/ann/elsewhere", True), (None, placed.PROJECT, False)],
    ids=["a subagent", "in another folder", "at work in no server of this member"],
)
def test_a_session_that_may_not_be_in_view_is_not_taken(
    parent: str | None, directory: str, works: bool, view: SessionView, answers: Answers
) -> None:
    began(view, CHILD, parent, directory)
    said(view, CHILD, 9)
    busy(answers, OLD, *([CHILD] if works else []))
    reading = looked(view)
    assert (reading.state, reading.session) == (State.WORKING, OLD)


def test_without_a_database_the_recorded_one_stays(view: SessionView, answers: Answers) -> None:
    Path(view.environment["HOME"], ".local/share/opencode/opencode.db").unlink()
    busy(answers, NEW)
    reading = looked(view)
    assert (reading.state, reading.session) == (State.WORKING, OLD)


def asking(*sessions: str) -> list[dict[str, str]]:
    return [{"id": f"per_{session}", "sessionID": session, "permission": "bash"} for session in sessions]


@pytest.mark.parametrize("what", ["status", "permission", "question"])
@pytest.mark.parametrize(("where", "alone"), [(OLD, False), (NEW, True), (CHILD, True)])
def test_the_state_is_the_one_of_the_session_in_view(
    where: str, alone: bool, what: str, view: SessionView, answers: Answers
) -> None:
    """A subagent's is that of its session; one that goes on behind it hides nothing, and is not stopped."""
    began(view, CHILD, NEW)
    setattr(answers, what, {where: WORKING} if what == "status" else asking(where))
    state = State.WORKING if what == "status" else State.WAITING
    reading = looked(replace(view, session=NEW))
    assert reading.state is (state if alone else State.IDLE)
    assert reading.session == NEW


def test_the_permissions_are_of_the_session_in_view(view: SessionView, answers: Answers) -> None:
    began(view, CHILD, NEW)
    answers.permission = asking(OLD, NEW, CHILD, "ses_unknown")
    assert OPENCODE.permissions
    asked = OPENCODE.permissions.asked(replace(view, session=NEW))
    assert asked
    assert [one.key for one in asked] == ["per_ses_new", "per_ses_child", "per_ses_unknown"]


def test_usage_is_the_sum_of_all_sessions_of_the_program(view: SessionView) -> None:
    """A session that is known later counts whole, though its answers are older than the last one read."""
    assert OPENCODE.usage
    memory, one = Memory(), Usage(input_tokens=1, output_tokens=1, models=("m",))
    answered(view, NEW, "msg_n1", 2)
    answered(view, OLD, "msg_o1", 3)
    first = OPENCODE.usage(view, memory)
    assert first
    whole = replace(view, session=NEW, earlier=(OLD,))
    assert OPENCODE.usage(whole, memory) == first + one
    assert OPENCODE.usage(whole, memory) == OPENCODE.usage(whole, Memory()) == first + one


def test_what_a_fork_copies_counts_once(view: SessionView) -> None:
    """Its messages have ids of their own, and the times of those that they copy."""
    assert OPENCODE.usage
    once = OPENCODE.usage(view, Memory())
    answered(view, NEW, "msg_copied", -1)
    assert OPENCODE.usage(replace(view, session=NEW, earlier=(OLD,)), Memory()) == once
