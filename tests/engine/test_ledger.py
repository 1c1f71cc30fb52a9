"""The ledger: what sessions use is written down, the last of it too, and by each machine of a team."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.agents.adapter import Memory, SessionView
from pro0.agents.runner import USED
from pro0.engine.background import ledger as ledger_module
from pro0.engine.background.agent_states import WatchedSession
from pro0.engine.background.ledger import Ledger
from pro0.errors import StoreError, Unwritable
from pro0.model.runtime import SeatState, State
from pro0.model.usage import Usage, UsageBook
from pro0.ops.context import clock
from pro0.store.files import File
from pro0.store.teams import TeamStore
from tests.agents import placed
from tests.engine.crew import Crew
from tests.engine.test_corrupt import mend, spoil
from tests.engine.test_nudging import TOY
from tests.faults import fail_about, fail_with, fault_at
from tests.sharing import founded, joined


class Meter:
    """A session whose transcript says so many tokens."""

    def __init__(self, name: str) -> None:
        self.tokens = 0
        self.cost: float | None = None
        self.broken = False
        state = SeatState(
            agent_id=name, generation=1, incarnation=f"inc-{name}", state=State.IDLE, since=clock(), started_at=clock()
        )
        session_view = SessionView(session="", agent=None, started_at=clock(), cwd="/", folder="/", environment={})
        self.watched = WatchedSession(replace(TOY, usage=self.used), state, session_view, Memory())

    def used(self, _sight: SessionView, _memory: Memory) -> Usage | None:
        if self.broken:
            raise TypeError("can't count these")
        return Usage(output_tokens=self.tokens, cost_usd=self.cost) if self.tokens else None


def counted(team: TeamStore) -> dict[str, int]:
    """Return the tokens of each member as they are written down."""
    return {entry.agent_id: entry.output_tokens for entry in team.usage.read().sessions}


def test_a_session_that_has_ended_is_counted_to_its_end(alpha: Crew) -> None:
    """Its last turn is over only when nobody looks at it any more."""
    ledger, first, second = Ledger(alpha.team), Meter("w1"), Meter("w2")

    first.tokens = second.tokens = 10
    ledger.look([first.watched, second.watched], 0.0)
    assert counted(alpha.team) == {"w1": 10, "w2": 10}
    first.tokens = second.tokens = 25
    ledger.look([second.watched], 0.0)
    assert counted(alpha.team) == {"w1": 25, "w2": 10}, "the one that lives is looked at from time to time"
    first.tokens = 99
    ledger.look([second.watched], 0.0)
    ledger.look([], 0.0)
    assert counted(alpha.team) == {"w1": 25, "w2": 25}


@pytest.mark.parametrize("failures", [1, 2])
def test_the_last_turn_of_a_session_outlives_writes_that_fail(
    failures: int, alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may be full just then: once there is room again, what the session cost counts, now and later."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    ledger, first, second = Ledger(alpha.team), Meter("w1"), Meter("w2")
    first.tokens, first.cost, second.tokens, second.cost = 10, 1.0, 10, 1.0
    ledger.look([first.watched, second.watched], 9.0)
    first.tokens, first.cost = 99, 5.0
    for _ in range(failures):
        with fault_at(None, fail_with(errno.ENOSPC), ("write",)), pytest.raises(Unwritable):
            ledger.look([second.watched], 9.0)
    second.tokens, second.cost = 20, 2.0
    assert ledger.look([second.watched], 9.0) == pytest.approx(7.0)
    assert counted(alpha.team) == {"w1": 99, "w2": 20}
    first.tokens = 100
    ledger.look([second.watched], 9.0)
    assert counted(alpha.team) == {"w1": 99, "w2": 20}, "once it is written nobody looks at it any more"


def test_the_conversations_of_a_session_are_known_until_its_last_turn_is_written(
    alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """50: afterwards they are in the book alone. The record may know the session no more when its write fails."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    ledger, meter = Ledger(alpha.team), Meter("w1")
    for conversation in ("first", "second"):
        view = replace(meter.watched.session_view, session=conversation)
        ledger.look([replace(meter.watched, session_view=view)], 0.0)
    meter.tokens = 10
    ledger.keep(())
    with fault_at(None, fail_with(errno.ENOSPC), ("write",)), pytest.raises(Unwritable):
        ledger.look([], 0.0)
    ledger.keep(())
    ledger.look([], 0.0)
    assert [entry.earlier for entry in alpha.team.usage.read().sessions] == [("first",)]
    ledger.keep({"inc-w1"})
    assert [*ledger._conversations] == ["inc-w1"]
    ledger.keep(())
    assert not ledger._conversations


def test_a_conversation_between_two_looks_at_transcripts_counts(alpha: Crew) -> None:
    """A person may type `/new` as soon as the agent is there: its first conversation has used something, too."""
    ledger, meter = Ledger(alpha.team), Meter("w1")
    for conversation in ("", "first", "second", "third"):
        view = replace(meter.watched.session_view, session=conversation)
        ledger.look([replace(meter.watched, session_view=view)], 0.0)
    meter.tokens = 10
    ledger.look([], 0.0)
    assert [entry.earlier for entry in alpha.team.usage.read().sessions] == [("first", "second")]


def test_what_is_known_of_the_cost_outlives_a_look_that_fails(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a team at its limit would start sessions for a while, and its need would be told again."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    ledger, meter, usage = Ledger(alpha.team), Meter("w1"), alpha.team.usage.path
    meter.tokens, meter.cost = 10, 5.0
    assert ledger.last_known() is None
    ledger.look([meter.watched], 9.0)
    sound = spoil(usage)
    meter.tokens, meter.cost = 20, 6.0
    with pytest.raises(StoreError):
        ledger.look([meter.watched], 9.0)
    assert ledger.last_known() == pytest.approx(5.0)
    with pytest.raises(StoreError):
        Ledger(alpha.team).look([meter.watched], 9.0)
    mend(usage, sound)
    assert ledger.look([meter.watched], 9.0) == ledger.last_known() == pytest.approx(6.0)


def test_a_transcript_that_cannot_be_counted_stops_no_other(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent writes it itself: what was counted of it stays, and the limit of the team counts all of the others."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    ledger, broken, whole = Ledger(alpha.team), Meter("w1"), Meter("w2")
    broken.tokens = whole.tokens = 10
    broken.cost = whole.cost = 1.0
    assert ledger.look([broken.watched, whole.watched], 9.0) == pytest.approx(2.0)
    broken.broken, whole.tokens, whole.cost = True, 30, 3.0
    for _ in range(2):
        assert ledger.look([broken.watched, whole.watched], 9.0) == pytest.approx(4.0)
    assert counted(alpha.team) == {"w1": 10, "w2": 30}
    assert alpha.log().count("TypeError: can't count these") == 1


@pytest.mark.parametrize("looks", [1, 5, 40])
def test_the_last_turn_of_a_session_outlives_looks_that_fail(
    looks: int, alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read once more, but not for ever: what fails so often may do so for good. The log tells it once."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    ledger, first, second = Ledger(alpha.team), Meter("w1"), Meter("w2")
    first.tokens = second.tokens = 10
    ledger.look([first.watched, second.watched], 0.0)
    first.tokens, first.broken = 99, True
    for second.tokens in range(20, 20 + looks):
        ledger.look([second.watched], 0.0)
        ledger.keep(())
    first.broken = False
    for _ in range(2):
        ledger.look([second.watched], 0.0)
    assert counted(alpha.team) == {"w1": 99 if looks < ledger_module.TRIES else 10, "w2": 19 + looks}
    assert alpha.log().count("TypeError: can't count these") == 1
    first.tokens = 100
    ledger.look([second.watched], 0.0)
    assert counted(alpha.team)["w1"] != 100, "once it is read nobody looks at it any more"
    assert not ledger._owed
    assert not ledger._tries


def test_what_two_leads_write_down_is_kept(home: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, build 5: both add to one book, and the limit of the team counts all of it."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    here = founded(home, database)
    there = joined(here, "two")
    first, second = Ledger(here), Ledger(there)
    mine, theirs = Meter("w1"), Meter("w2")
    for tokens in (10, 20, 30):
        mine.tokens, theirs.tokens, mine.cost, theirs.cost = tokens, 2 * tokens, tokens / 10, tokens / 5
        first.look([mine.watched], 0.0)
        assert second.look([theirs.watched], 1.0) == pytest.approx(mine.cost + theirs.cost)
        assert first.look([mine.watched], 1.0) == pytest.approx(mine.cost + theirs.cost)
        assert counted(here) == counted(there) == {"w1": tokens, "w2": 2 * tokens}


def test_what_is_written_between_two_looks_of_another_lead_is_kept(home: Path, database: str) -> None:
    """Each remembers the book for a while, and adds to what is there when it writes."""
    here = founded(home, database)
    there = joined(here, "two")
    first, second = Ledger(here), Ledger(there)
    mine, theirs = Meter("w1"), Meter("w2")
    first.look([mine.watched], 1.0)
    second.look([theirs.watched], 1.0)
    mine.tokens = theirs.tokens = 10
    second.look([], 0.0)
    first.look([], 0.0)
    assert counted(here) == {"w1": 10, "w2": 10}


def test_a_book_of_one_machine_is_read_once(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else writes there; that of several is read again from time to time."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    read, reads = File.read, list[str]()

    def noted(file: File[UsageBook]) -> UsageBook:
        reads.append(file.path.name)
        return read(file)

    monkeypatch.setattr(File, "read", noted)
    ledger, meter = Ledger(alpha.team), Meter("w1")
    meter.tokens = 10
    for _ in range(3):
        ledger.look([meter.watched], 1.0)
    assert reads.count("usage.json") == 1


LAID_OUT = {**placed.PLACED, "opencode": (placed.opencode, "opencode.sql")}


def written_again(agent: str, home: Path, number: int) -> str:
    """Lay out another conversation of an agent, with calls of its own; return its id."""
    if agent == "opencode":
        return placed.opencode_again(home, number)
    data, id = placed.recording(f"{agent}.jsonl"), f"again-{number}"
    if agent == "claude":
        again = data.replace(b"msg_", b"msg_%d" % number).replace(b"req_", b"req_%d" % number)
        placed.written(home / ".claude/projects/-ann-shop" / f"{id}.jsonl", again)
    elif agent == "codex":
        placed.written(home / ".codex/sessions/2026/11/22" / f"rollout-2026-11-22T10-00-00-{id}.jsonl", data)
    elif agent == "gemini":
        again = data.replace(placed.GEMINI.encode(), id.encode()).replace(b'"id":"', b'"id":"%d' % number)
        placed.written(home / ".gemini/tmp/shop/chats" / f"session-2026-11-22T03-03-{id}.jsonl", again)
    else:
        again = data.replace(b"2026-11-22T03:", b"2026-11-22T%02d:" % (10 + number))
        placed.written(home / ".pi/agent/sessions/--ann-shop--" / f"2026-11-22_{id}.jsonl", again)
    return id


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "pi"])
def test_a_conversation_before_counts_for_the_next_lead_too(
    agent: str, alpha: Crew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usage is read from each agent's own files (behaviour 3.18): `/clear` or `/new` begins another one."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    lay_out, recorded = LAID_OUT[agent]
    place = lay_out(tmp_path, placed.recording(recorded))
    watched = replace(Meter("w1").watched, adapter=adapter_named(agent))

    def used(ledger: Ledger, session: str, memory: Memory) -> int:
        view, state = replace(place, session=session), replace(watched.state, session=session)
        ledger.look([replace(watched, session_view=view, state=state, memory=memory)], 0.0)
        return counted(alpha.team)["w1"]

    ledger, memory = Ledger(alpha.team), Memory()
    first = used(ledger, place.session, memory)
    assert first
    totals = [first, *(used(ledger, written_again(agent, tmp_path, number), memory) for number in (1, 2))]
    assert totals == [first, 2 * first, 3 * first]
    assert used(Ledger(alpha.team), "again-2", Memory()) == 3 * first


@contextmanager
def unreadable(home: Path) -> Iterator[None]:
    """Let no transcript below a home be read: no file has room for another descriptor, the database is locked."""
    database = home / ".local/share/opencode/opencode.db"
    with closing(sqlite3.connect(database if database.exists() else ":memory:")) as other:
        other.execute("pragma journal_mode = delete")
        other.execute("begin exclusive")
        with fault_at(None, fail_about(str(home), errno.EMFILE), ("open",)):
            yield


def a_runner(home: Path, data: bytes) -> SessionView:
    placed.written(home / USED, data)
    return SessionView(session="", agent=None, started_at=clock(), cwd="/", folder=str(home), environment={})


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "pi", "runner"])
def test_a_transcript_that_cannot_be_read_for_a_moment_counts(
    agent: str, alpha: Crew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lead may lack a descriptor just when the session ends."""
    monkeypatch.setattr(ledger_module, "PAUSE", 0.0)
    home = tmp_path / "agents"
    home.mkdir()
    if agent == "runner":
        view = a_runner(home, b'{"output_tokens": 7}')
    else:
        lay_out, recorded = LAID_OUT[agent]
        view = lay_out(home, placed.recording(recorded))
    meter = replace(Meter("w1").watched, adapter=adapter_named(agent), session_view=view)
    ledger = Ledger(alpha.team)
    with unreadable(home):
        for watched in ([meter], [], []):
            ledger.look(watched, 0.0)
    assert counted(alpha.team) == {}
    ledger.look([], 0.0)
    assert counted(alpha.team)["w1"] > 0


def test_what_a_fork_copies_counts_once(tmp_path: Path) -> None:
    """pi's `/fork` begins a transcript with what was said before."""
    data = placed.recording("pi.jsonl")
    view, usage = placed.pi(tmp_path, data), adapter_named("pi").usage
    assert usage
    once = usage(view, Memory())
    placed.written(tmp_path / ".pi/agent/sessions/--ann-shop--" / "2026-11-22_fork.jsonl", data)
    assert once
    assert usage(replace(view, session="fork", earlier=(view.session,)), Memory()) == once
