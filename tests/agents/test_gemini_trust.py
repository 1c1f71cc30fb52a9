"""What Gemini CLI trusts: read from its own file, told to a session by a variable, and never written."""

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.agents.adapter import Brief
from pro0.agents.first_prompt import FILE
from pro0.agents.gemini import home
from pro0.agents.gemini import trust as gemini_trust
from pro0.agents.gemini.adapter import GEMINI
from pro0.agents.memory import Memory
from pro0.model.runtime import State
from pro0.model.team import Seat
from tests.agents import placed

LEVELS = {
    "/ann/shop": "TRUST_FOLDER",
    "/ann/shop/vendor": "DO_NOT_TRUST",
    "/ann/other/deep": "TRUST_PARENT",
    "/ann/odd": "MAYBE",
}


@pytest.fixture
def wary(tmp_path: Path) -> dict[str, str]:
    placed.written(tmp_path / ".gemini" / "trustedFolders.json", json.dumps(LEVELS).encode())
    return {"HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("folder", "trusted"),
    [
        ("/ann/shop", True),
        ("/ann/shop/src", True),
        ("/ann/shop2", None),
        ("/ann", None),
        ("/ann/shop/vendor/x", False),
        ("/ann/other/else", True),
        ("/ann/odd", None),
    ],
)
def test_the_longest_path_that_holds_a_folder_counts(folder: str, trusted: bool | None, wary: dict[str, str]) -> None:
    assert gemini_trust.trusts(wary, folder) is trusted


@pytest.mark.parametrize(
    ("folder", "project", "more", "told"),
    [
        ("/p0/trees/w1", "/ann/shop", {}, {gemini_trust.SESSION: "true"}),
        ("/p0/trees/w1", "/ann/strange", {}, {}),
        ("/p0/trees/w1", "", {}, {}),
        ("/ann/shop", "/ann/shop", {}, {}),
        ("/ann/shop/vendor", "/ann/shop", {}, {}),
        ("/p0/trees/w1", "/ann/shop", {gemini_trust.SESSION: "false"}, {}),
    ],
)
def test_a_worktree_is_as_trusted_as_its_project(
    folder: str, project: str, more: dict[str, str], told: dict[str, str], wary: dict[str, str]
) -> None:
    """Else each worktree of a project asks for what its person has answered long ago."""
    call = adapter_named("gemini").call(brief(wary | more, folder, project))
    assert {name: value for name, value in call.env.items() if name == gemini_trust.SESSION} == told


@pytest.mark.parametrize(
    ("folder", "resume", "chosen"),
    [
        ("/ann/shop", False, "--session-id"),
        ("/ann/shop/vendor", False, "--session-id"),
        ("/ann/strange", False, ""),
        ("/ann/strange", True, "--resume"),
    ],
)
def test_one_that_will_ask_chooses_its_id_itself(folder: str, resume: bool, chosen: str, wary: dict[str, str]) -> None:
    """Told to trust the folder it starts anew, and refuses an id that it knows already: exit code 42."""
    argv = adapter_named("gemini").call(replace(brief(wary, folder, folder), resume=resume)).argv
    assert [word for word in argv if word in ("--session-id", "--resume")] == ([chosen] if chosen else [])


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"a": 1}', b"// mine\n{}", b"\xff"])
def test_a_file_that_cannot_be_read_trusts_nothing(broken: bytes, tmp_path: Path) -> None:
    path = placed.written(tmp_path / "folders.json", broken)
    assert gemini_trust.trusts({home.TRUSTED: str(path)}, "/ann/shop") is None


def test_a_session_that_chose_its_id_is_known_by_its_first_prompt(tmp_path: Path) -> None:
    """Until it starts anew, when its person has let it trust the folder: then it has another id."""
    session = placed.gemini(tmp_path, first(placed.GEMINI) + asked("Build it."))
    other = tmp_path / ".gemini/tmp/shop/chats/session-2026-11-22T03-03-33333333.jsonl"
    placed.written(other, first("33333333-2222-4222-8222-222222222242") + asked("Test it."))
    Path(session.folder, FILE).write_text("Build it.", encoding="utf-8")
    began = datetime.now(UTC) - timedelta(minutes=1)
    unknown = replace(session, session="11111111-2222-4222-8222-222222222242", started_at=began)
    assert GEMINI.look
    seen = GEMINI.look(unknown, Memory())
    assert seen
    assert (seen.state, seen.session) == (State.WORKING, placed.GEMINI)
    known = replace(unknown, session=placed.GEMINI)
    assert GEMINI.look(known, Memory()) is None
    anew = tmp_path / ".gemini/tmp/shop/chats/session-2026-11-22T03-04-44444444.jsonl"
    placed.written(anew, first("44444444-2222-4222-8222-222222222242") + asked("Build it."))
    later = time.time() + 30
    os.utime(anew, (later, later))
    seen = GEMINI.look(known, Memory())
    assert seen
    assert seen.session == "44444444-2222-4222-8222-222222222242"
    anew.unlink()
    awaited = GEMINI.look(replace(unknown, started_at=datetime.now(UTC) + timedelta(minutes=1)), Memory())
    assert awaited
    assert awaited.state is State.STARTING


def brief(environment: dict[str, str], folder: str, project: str) -> Brief:
    return Brief(
        seat=Seat(agent_id="ann", name="Ann", agent="gemini"),
        prompt="Build it.",
        session=placed.GEMINI,
        folder="/p0/s/ann",
        cwd=folder,
        project=project,
        environment=environment,
        pro0=("pro0",),
    )


def first(session: str) -> bytes:
    return json.dumps({"sessionId": session, "projectHash": "x"}).encode() + b"\n"


def asked(prompt: str) -> bytes:
    return json.dumps({"id": "1", "type": "user", "content": [{"text": prompt}]}).encode() + b"\n"
