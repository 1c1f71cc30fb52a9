"""What an agent on another machine does, says and has used: read there from its files, and kept at home."""

import errno
import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named, adapter_of
from pro0.agents.adapter import Memory, SessionView
from pro0.agents.runner import USED
from pro0.agents.there import SAID
from pro0.agents.transcripts import NOTE, WORDS
from pro0.link import agent as link_agent
from pro0.link import streams
from pro0.link.agent import LETTERS, MODELS, MOST, AgentThere, KeptHere
from pro0.model.runtime import ENDED, State
from pro0.model.screen import LastWords, Reading
from pro0.model.stored import Process
from pro0.model.team import Seat
from tests.agents import placed
from tests.agents.placed import recording
from tests.faults import fail_about, fault_at

GOOD = {"input_tokens": 5, "output_tokens": 3, "models": ["scripted"], "cost_usd": 0.25}
ODD: tuple[dict[str, object], ...] = (
    {"input_tokens": -1},
    {"input_tokens": MOST + 1},
    {"input_tokens": 10**30},
    {"cost_usd": 1e300},
    {"list_usd": 1e300},
    {"list_usd": -0.1},
    {"list_usd": float("nan")},
    {"output_tokens": 1.5},
    {"cache_read_tokens": "7"},
    {"cost_usd": -0.1},
    {"cost_usd": float("inf")},
    {"cost_usd": float("nan")},
    {"models": "scripted"},
    {"models": ["x"] * (MODELS + 1)},
    {"models": ["x" * (LETTERS + 1)]},
    {"models": ["\x1b[2J"]},
    {"input_tokens": None},
)
SAYS: dict[str, object] = {
    "state": "idle",
    "source": "session file",
    "rule": "idle",
    "note": "fine",
    "session": "s-1",
    "words": {"text": "Done.\n", "id": "turn-1", "source": "transcript"},
}
ODD_WORDS: tuple[object, ...] = (
    "Done.",
    {},
    {"text": "x" * (WORDS + 3), "id": "1", "source": "transcript"},
    {"text": "\ud800", "id": "1", "source": "transcript"},
    {"text": "x", "id": "\x1b[2J", "source": "transcript"},
    {"text": "x", "id": "1", "source": "screen"},
    {"text": "x", "id": 1, "source": "transcript"},
    {"text": "x", "id": "1", "source": "transcript", "over": "yes"},
)
ODD_LINES: tuple[object, ...] = (7, None, "x" * (NOTE + 1), "\x1b[2J", "a\nb")
NO_STATES: tuple[object, ...] = (
    *(str(state) for state in (*sorted(ENDED), State.STOPPING, State.UNRESPONSIVE, State.UNREACHABLE)),
    *("", "asleep", 7, ["idle"], {}, True),
)
NO_IDS: tuple[object, ...] = ("--resume", "-", "../x", "a b", "a/b", "x" * 101, "\n", "é", 7, None, [])
ODD_SAYINGS: dict[str, tuple[object, ...]] = {
    "state": NO_STATES,
    "session": NO_IDS,
    "words": ODD_WORDS,
    **dict.fromkeys(("source", "rule", "note"), ODD_LINES),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The session's folder at home, which is not there yet."""
    return tmp_path / "session"


def kept(folder: Path, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / name).read_bytes())
    return found


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_what_is_no_usage_changes_nothing(folder: Path, odd: dict[str, object]) -> None:
    """Issue 19, must show 4."""
    home = KeptHere(folder)
    home.take(streams.USED, GOOD | odd)
    home.write(at_once=True)
    assert not folder.exists()
    home.take(streams.USED, GOOD)
    home.take(streams.USED, GOOD | odd)
    home.write(at_once=True)
    now = kept(folder, USED)
    assert {key: now[key] for key in GOOD} == GOOD
    home.take(streams.USED, GOOD | odd)
    home.write(at_once=True)
    assert kept(folder, USED) == now


@pytest.mark.parametrize("key", ODD_SAYINGS)
def test_what_no_agents_files_tell_changes_nothing(folder: Path, key: str) -> None:
    """Issue 19, must show 4: an end, a word of home, another type, too much, or what becomes a word of a command."""
    for odd in ODD_SAYINGS[key]:
        tell_oddly(folder / str(ODD_SAYINGS[key].index(odd)), {key: odd})


def tell_oddly(folder: Path, odd: dict[str, object]) -> None:
    """Say something odd, alone, after what was not odd, and once that is kept."""
    folder.parent.mkdir(exist_ok=True)
    home = KeptHere(folder)
    home.take(streams.SAID, SAYS | odd)
    home.write(at_once=True)
    assert not folder.exists()
    home.take(streams.SAID, SAYS)
    home.take(streams.SAID, SAYS | odd)
    home.write(at_once=True)
    assert at_home("claude", folder) == Reading(
        state=State.IDLE, source="session file", rule="idle", note="fine", session="s-1"
    )
    assert last_words("claude", folder) == LastWords(text="Done.\n", id="turn-1", source="transcript")


@pytest.mark.parametrize("source", ["screen", "title", "process", "events", "rollout", ""])
def test_only_an_agents_own_sources_count_as_its_own_word(folder: Path, source: str) -> None:
    """Issue 19, must show 4: what is drawn is read at home, and no process is older than the link."""
    say(folder, SAYS | {"source": source})
    reading = at_home("claude", folder)
    assert reading
    assert (reading.state, reading.source, reading.session) == (State.UNKNOWN, "process", "s-1")


def test_a_flood_is_written_at_a_pace_of_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, must show 4: the newest counts."""
    now = 100.0
    monkeypatch.setattr(link_agent, "time", SimpleNamespace(monotonic=lambda: now))
    home, seen = KeptHere(folder), []
    assert home.patience() is None
    for number in range(1000):
        now += 0.001
        home.take(streams.SAID, SAYS | {"note": str(number)})
        home.write()
        seen.append(kept(folder, SAID)["note"])
    assert len(dict.fromkeys(seen)) <= 6
    patience = home.patience()
    assert patience
    assert patience <= link_agent.KEEP
    now += patience
    home.write()
    assert kept(folder, SAID)["note"] == "999"
    assert home.patience() is None


def test_what_finds_no_room_is_written_later(folder: Path) -> None:
    """Issue 19, build 4: an old state must not stay."""
    folder.touch()
    home = KeptHere(folder)
    home.take(streams.SAID, SAYS)
    home.write(at_once=True)
    folder.unlink()
    home.write(at_once=True)
    assert kept(folder, SAID)["state"] == "idle"


def test_the_folder_of_a_removed_team_is_not_brought_back(tmp_path: Path) -> None:
    """Behaviour 3.10."""
    home = KeptHere(tmp_path / "team" / "session")
    home.take(streams.USED, GOOD)
    home.write(at_once=True)
    assert not (tmp_path / "team").exists()


def test_out_of_reach_nothing_counts_but_its_use_and_conversation(folder: Path) -> None:
    """Issue 19, build 4: what it did before may be over."""
    say(folder, SAYS)
    home = KeptHere(folder)
    home.take(streams.USED, GOOD)
    home.take(streams.SAID, SAYS)
    home.forget()
    home.write(at_once=True)
    assert (at_home("claude", folder), last_words("claude", folder)) == (None, None)
    assert kept(folder, USED)["input_tokens"] == 5


def say(folder: Path, said: dict[str, object]) -> None:
    home = KeptHere(folder)
    home.take(streams.SAID, said)
    home.write(at_once=True)


def view(folder: Path) -> SessionView:
    return replace(placed.session_view(folder, "", placed.EARLY), folder=str(folder))


def at_home(name: str, folder: Path) -> Reading | None:
    """What counts at home as the word of an agent on another machine."""
    look = adapter_of(Seat(agent_id="w1", name="w1", agent=name, host="build1")).look
    assert look
    return look(view(folder), Memory())


def last_words(name: str, folder: Path) -> LastWords | None:
    read = adapter_of(Seat(agent_id="w1", name="w1", agent=name, host="build1")).last_words
    assert read
    return read(view(folder), Memory())


PLACED = {
    "claude": lambda home: placed.claude(home, recording("claude.jsonl")),
    "codex": lambda home: placed.codex(home, recording("codex.jsonl")),
    "gemini": lambda home: placed.gemini(home, recording("gemini.jsonl")),
    "opencode": lambda home: placed.opencode(home, recording("opencode.sql")),
    "pi": lambda home: placed.pi(home, recording("pi.jsonl")),
}


@pytest.mark.parametrize("name", PLACED)
def test_there_and_back_it_is_what_the_adapter_reads(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, build 2: the same state, conversation, last words and use as of an agent of this machine."""
    session, folder = PLACED[name](tmp_path / "there"), tmp_path / "home"
    assert session.agent
    monkeypatch.setenv("HOME", str(tmp_path / "there"))
    monkeypatch.setattr(link_agent, "_started", lambda _agent: placed.EARLY)
    there = AgentThere(name, session.session, Path(session.folder), session.cwd)
    messages = list(there.news(session.agent))
    assert json.loads(json.dumps([value for _, value in messages]))
    home = KeptHere(folder)
    for kind, value in messages:
        home.take(kind, json.loads(json.dumps(value)))
    home.write(at_once=True)
    own, memory = adapter_named(name), Memory()
    assert own.look
    assert own.last_words
    reading = own.look(session, memory)
    seen = at_home(name, folder)
    assert seen
    if reading:
        assert seen == replace(reading, session=reading.session or session.session)
    assert seen.session == session.session
    assert last_words(name, folder) == own.last_words(session, memory)
    assert own.usage
    assert own.usage(session, memory)
    assert (folder / USED).exists()
    assert not list(there.news(session.agent)), "nothing is told twice"


@pytest.mark.parametrize("name", PLACED)
def test_what_cannot_be_read_now_changes_nothing_that_is_known(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends no connection either."""
    session = PLACED[name](tmp_path)
    assert session.agent
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(link_agent, "_started", lambda _agent: placed.EARLY)
    monkeypatch.setattr(link_agent, "LOOK", 0.0)
    monkeypatch.setattr(link_agent, "SPARING", 0)
    monkeypatch.setattr(link_agent, "COUNT", 0.0)
    there = AgentThere(name, session.session, Path(session.folder), session.cwd)
    assert list(there.news(session.agent))
    with fault_at(None, fail_about(".jsonl", errno.EIO), ("open",)):
        assert list(there.news(session.agent)) == []


def test_nobody_looks_at_what_keeps_no_files(tmp_path: Path) -> None:
    """Issue 19, build 1: a program costs its machine nothing."""
    there = AgentThere("command", "", tmp_path, "/")
    assert not list(there.news(Process(pid=placed.PID, start="1", boot_id="b"), ended=True))
    assert there.due == math.inf


def test_a_conversation_before_counts_on_the_next_connection_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an agent there has used is read there (behaviour 3.32); `/clear` begins another conversation."""
    data = recording("claude.jsonl")
    session = placed.claude(tmp_path, data)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert session.agent

    def tokens(there: AgentThere) -> int:
        assert session.agent
        said = dict(there.news(session.agent, ended=False))
        used = said[streams.USED]
        assert isinstance(used, dict)
        return int(used["output_tokens"])

    monkeypatch.setattr(link_agent, "_started", lambda _agent: placed.EARLY)
    monkeypatch.setattr(link_agent, "LOOK", 0.0)
    monkeypatch.setattr(link_agent, "SPARING", 0)
    monkeypatch.setattr(link_agent, "COUNT", 0.0)
    first = AgentThere("claude", session.session, Path(session.folder), session.cwd)
    once = tokens(first)
    for number in (1, 2):
        again = data.replace(b"msg_", b"msg_%d" % number)
        placed.written(tmp_path / ".claude/projects/-ann-shop" / f"again-{number}.jsonl", again)
        state = recording("claude-idle.json").replace(placed.CLAUDE.encode(), b"again-%d" % number)
        placed.written(tmp_path / ".claude/sessions" / f"{placed.PID}.json", state)
        assert tokens(first) == (number + 1) * once
    assert tokens(AgentThere("claude", session.session, Path(session.folder), session.cwd)) == 3 * once
