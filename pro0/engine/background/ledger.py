"""The ledger: copy the usage of sessions from their transcripts into usage.json, with its cost."""

import time
from collections.abc import Collection, Iterable

from msgspec.structs import asdict, replace

from pro0.engine.background.agent_states import WatchedSession
from pro0.engine.log import Log, SessionNet
from pro0.model.usage import SessionUsage, Usage
from pro0.ops.context import clock
from pro0.ops.team.costs import spent
from pro0.store.teams import TeamStore

PAUSE = 3.0
"""Seconds between two looks at the transcripts."""
CONVERSATIONS = 64
"""The most conversations of one session that are looked at; the newest count."""
TRIES = 20
"""How often the files of an ended session are read while that fails: for about a minute."""


class Ledger:
    """Keeps the usage of one team."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._net = SessionNet(Log(team))
        self._next = 0.0
        self._known: dict[str, SessionUsage] | None = None
        self._is_old = False
        self._living: dict[str, WatchedSession] = {}
        self._owed: dict[str, WatchedSession] = {}
        """Sessions that have ended, until their usage is written."""
        self._tries: dict[str, int] = {}
        """How often each of them could not be read."""
        self._conversations: dict[str, tuple[str, ...]] = {}
        """The conversations of each session seen so far. An agent may begin a new one, such as by `/clear`."""

    def look(self, watched: Iterable[WatchedSession], limit: float) -> float:
        """Record new usage; return the total cost, or 0 without a limit, since adding it up takes time.

        A session that ended since the last look is read once more, for its last turn, and again after a failure.
        """
        before, self._living = self._living, {session.state.incarnation: session for session in watched}
        due = {name: session for name, session in before.items() if name not in self._living}
        self._owed |= due
        self._see(self._living.values())
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE
            if self._team.documents.database:
                self._is_old = True  # leads of other machines have written since
            due = self._owed | self._living
        self._net.keep({*self._living, *self._owed})
        self._note({entry.incarnation: entry for entry in map(self._entry, due.values()) if entry})
        self._owed = {name: session for name, session in self._owed.items() if name not in due or self._fails(session)}
        self._tries = {name: tries for name, tries in self._tries.items() if name in self._owed}
        return spent(self._entries().values()) if limit else 0.0

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget the conversations of all other sessions, except those to be read once more."""
        needed = {*incarnations, *self._living, *self._owed}
        self._conversations = {name: known for name, known in self._conversations.items() if name in needed}

    def last_known(self) -> float | None:
        """Return the total cost as last read, None before the first read."""
        return None if self._known is None else spent(self._known.values())

    def _entries(self) -> dict[str, SessionUsage]:
        if self._known is None or self._is_old:
            self._known = {entry.incarnation: entry for entry in self._team.usage.read().sessions}
            self._is_old = False
        return self._known

    def _note(self, entries: dict[str, SessionUsage]) -> None:
        recorded = self._entries() if entries else {}
        new = {name: entry for name, entry in entries.items() if _has_news(entry, recorded.get(name))}
        if new:
            with self._team.usage.change("note what was used") as change:  # other machines' leads write there too
                sessions = {entry.incarnation: entry for entry in change.value.sessions} | new
                change.value = replace(change.value, sessions=tuple(sessions.values()))
            self._known = sessions  # not before it is written, or a failed write would leave nothing to write

    def _entry(self, watched: WatchedSession) -> SessionUsage | None:
        if not (read := watched.adapter.usage):
            return None
        earlier = self._earlier(watched)
        view = replace(watched.session_view, earlier=earlier)
        usage = self._net.look(watched.state, lambda: read(view, watched.memory))
        return _of(watched, earlier, usage) if usage else None

    def _fails(self, ended: WatchedSession) -> bool:
        """Count a look at an ended session; return True when it failed and is to be repeated."""
        name = ended.state.incarnation
        self._tries[name] = self._tries.get(name, 0) + 1
        return (self._net.failed(name) or ended.memory.unread) and self._tries[name] < TRIES

    def _see(self, watched: Iterable[WatchedSession]) -> None:
        """Note each session's present conversation, since the next look at its transcripts may find a new one."""
        for session in watched:
            if now := session.session_view.session:
                earlier = self._conversations.get(session.state.incarnation, ())
                self._conversations[session.state.incarnation] = tuple(dict.fromkeys((*earlier, now)))[-CONVERSATIONS:]

    def _earlier(self, watched: WatchedSession) -> tuple[str, ...]:
        """Return the conversations of a session before its present one."""
        incarnation, now = watched.state.incarnation, watched.session_view.session
        recorded = self._entries().get(incarnation)
        before = (*recorded.earlier, recorded.session) if recorded else ()
        ids = dict.fromkeys(filter(None, (*before, *self._conversations.get(incarnation, ()), now)))
        return tuple(id for id in tuple(ids)[-CONVERSATIONS:] if id != now)


def _of(watched: WatchedSession, earlier: tuple[str, ...], usage: Usage) -> SessionUsage:
    state = watched.state
    return SessionUsage(
        agent_id=state.agent_id,
        incarnation=state.incarnation,
        agent=watched.adapter.name,
        session=state.session,
        earlier=earlier,
        at=clock(),
        **asdict(usage),
    )


def _has_news(entry: SessionUsage, recorded: SessionUsage | None) -> bool:
    return recorded is None or replace(entry, at=recorded.at) != recorded
