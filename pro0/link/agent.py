"""The state, last words and usage of an agent on another machine: read there from its own files, kept at home.

The other machine may send anything. A value that no agent's files could hold is ignored.
"""

import math
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from pro0 import agents
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.runner import USED
from pro0.agents.there import EARLIER, SAID, SaidThere
from pro0.agents.transcripts import NOTE, WORDS, shortened, value
from pro0.decoding import convert, decoder
from pro0.errors import Pro0Error
from pro0.link import streams
from pro0.model.agent import AGENTS
from pro0.model.runtime import State
from pro0.model.screen import LastWords
from pro0.model.stored import Process
from pro0.model.usage import Usage
from pro0.ops.team import costs
from pro0.store import atomic
from pro0.store.files import add_folder

LOOK, COUNT = 0.5, 5.0
"""Seconds between two looks at its state, and at its usage."""
SPARING = 10
"""After a look, so many times its duration passes until the next one; meanwhile the link carries typed keys."""
KEEP = 0.2
"""Seconds between two writes at home."""
MODELS, LETTERS = 16, 100
"""The most models of one session, and the most characters of a model's name."""
MOST = 10**12
"""The most tokens, or US dollars, that one session can have used."""
CONVERSATIONS = 64
"""The most conversations of one session that count; the newest do."""
T = TypeVar("T")
_EARLIER = decoder(tuple[str, ...])
TOLD = frozenset(
    {State.STARTING, State.WORKING, State.IDLE, State.WAITING, State.DIALOG, State.ERROR, State.UNKNOWN, None}
)
"""The states that an agent's own files can show; all other states are decided at home."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
"""The id of a conversation: it becomes a word of a command, and part of a file's name."""


def view_there(session: str, folder: Path, cwd: str) -> SessionView:
    """Return a session of this machine as its adapter sees it."""
    return SessionView(
        session=session, agent=None, started_at=datetime.now(UTC), cwd=cwd, folder=str(folder), environment=os.environ
    )


class AgentThere:
    """One agent on its machine; `session` is its conversation, empty while nobody knows it."""

    def __init__(self, agent: str, session: str, folder: Path, cwd: str) -> None:
        adapter = agents.adapter_named(agent) if agent in AGENTS else None
        self._look = adapter.look if adapter else None
        self._words = adapter.last_words if adapter else None
        self._usage = adapter.usage if adapter else None
        self._memory = Memory(costs.of_call)
        earlier = value(folder / EARLIER, _EARLIER) or ()
        self._view = replace(view_there(session, folder, cwd), earlier=earlier)
        self._said, self._used = SaidThere(), Usage()
        self._count_at = 0.0
        self.due = 0.0 if adapter and (self._look or self._usage) else math.inf
        """When to ask for news again, by the monotonic clock."""

    def news(self, agent: Process, *, ended: bool = False) -> Iterator[tuple[bytes, object]]:
        """Yield what is new, as messages for home."""
        now = time.monotonic()
        if self.due == math.inf or (now < self.due and not ended):
            return
        if self._view.agent is None:
            self._view = replace(self._view, agent=agent, started_at=_started(agent))
        reading = self._said if ended else _unless_unreadable(self._now, self._said)
        if reading != self._said:
            self._said = reading
            yield streams.SAID, msgspec.to_builtins(reading)
        if now >= self._count_at or ended:
            self._count_at = now + COUNT
            usage = _unless_unreadable(self._count, None)
            if usage and usage != self._used:
                self._used = usage
                yield streams.USED, msgspec.to_builtins(usage)
        self.due = time.monotonic() + max(LOOK, SPARING * (time.monotonic() - now))

    def _go_on_with(self, session: str) -> None:
        """Note another conversation, as by `/clear`; the usage of earlier ones counts on, also on later connections."""
        known = dict.fromkeys((*self._view.earlier, self._view.session))
        earlier = tuple(one for one in known if one and one != session)[-CONVERSATIONS:]
        self._view = replace(self._view, session=session, earlier=earlier)
        with suppress(Pro0Error, OSError), atomic.folder(Path(self._view.folder)) as folder:
            atomic.replace(folder, EARLIER, msgspec.json.encode(earlier), durable=False)

    def _now(self) -> SaidThere:
        reading = self._look(self._view, self._memory) if self._look else None
        if reading and reading.session and reading.session != self._view.session:
            self._go_on_with(reading.session)
        words = _unless_unreadable(self._last_words, self._said.words)
        if reading is None:
            return SaidThere(session=self._view.session, words=words)
        return SaidThere(
            state=reading.state,
            source=reading.source,
            rule=_line(reading.rule),
            note=_line(reading.note),
            session=self._view.session,
            words=words,
        )

    def _last_words(self) -> LastWords | None:
        return self._words(self._view, self._memory) if self._words else None

    def _count(self) -> Usage | None:
        return self._usage(self._view, self._memory) if self._usage else None


def _unless_unreadable(read: Callable[[], T], fallback: T) -> T:
    """Return the present reading, or the last one while nothing can be read."""
    try:
        return read()
    except OSError:
        return fallback


class KeptHere:
    """Another machine's latest report on a session's agent, kept in the session's folder at home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._new: dict[str, bytes] = {}
        self._next = 0.0

    def take(self, kind: bytes, value: dict[str, object]) -> None:
        """Take a message; one with values impossible for an agent's files changes nothing."""
        try:
            if kind == streams.USED and _is_usage(used := convert(value, Usage)):
                self._new[USED] = msgspec.json.encode(used)
            elif kind == streams.SAID and _is_said(said := convert(value, SaidThere)):
                self._new[SAID] = msgspec.json.encode(said)
        except (msgspec.MsgspecError, ValueError):
            return

    def patience(self) -> float | None:
        """Return the seconds until the next write is due, None when there is nothing to write."""
        return max(0.0, self._next - time.monotonic()) if self._new else None

    def write(self, *, at_once: bool = False) -> None:
        """Write the news, unless the last write was a moment ago; news that cannot be written waits."""
        now = time.monotonic()
        if not self._new or (now < self._next and not at_once):
            return
        self._next = now + KEEP
        try:
            add_folder(self._folder)
            with atomic.folder(self._folder) as place:
                for name, data in list(self._new.items()):
                    atomic.replace(place, name, data, durable=False)
                    del self._new[name]
        except (Pro0Error, OSError):
            return

    def forget(self) -> None:
        """Forget the agent's state: it may change while the machine is out of reach."""
        self._new.pop(SAID, None)
        with suppress(OSError), atomic.folder(self._folder) as place:
            os.unlink(SAID, dir_fd=place)


def _is_usage(used: Usage) -> bool:
    counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
    names = len(used.models) <= MODELS and all(len(name) <= LETTERS and name.isprintable() for name in used.models)
    amounts = (*counts, used.cost_usd or 0.0, used.list_usd or 0.0)
    return all(0 <= amount <= MOST for amount in amounts) and names


def _is_said(said: SaidThere) -> bool:
    words = said.words
    lines = (said.source, said.rule, said.note, words.id if words else "")
    return (
        said.state in TOLD
        and all(len(line) <= NOTE and line.isprintable() for line in lines)
        and (not said.session or bool(_ID.fullmatch(said.session)))
        and (words is None or (len(words.text) <= WORDS + 2 and words.source == "transcript"))
    )


def _line(text: str) -> str:
    """Return a text in the form accepted at home: one short line of printable characters."""
    return shortened("".join(letter if letter.isprintable() else " " for letter in text))


def _started(agent: Process) -> datetime:
    import psutil

    try:
        return datetime.fromtimestamp(psutil.Process(agent.pid).create_time(), UTC)
    except psutil.Error:
        return datetime.now(UTC)
