"""The events of a team: acts of people and members; for those in charge, acts of the lead too."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pro0.decoding import convert, decode
from pro0.model.caller import IN_CHARGE, PEOPLE_AND_AGENTS
from pro0.ops.context import Context, operation
from pro0.rules.size import DEEPEST, nested_deeper_than
from pro0.store.journal import Journal
from pro0.store.keys import repeated
from pro0.store.paths import LEAD_LOG

LATEST = 1000
"""The most events in a list: the newest ones."""
LONGEST = 16 * 1024
"""The most bytes of an event whose detail is shown, unless the detail is nested too deep."""
Number = Annotated[int, Meta(ge=1, le=LATEST, description="At most this many, the newest ones.")]


class TeamEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event: its time, actor (`lead` is the lead process), act and details."""

    id: str
    at: datetime
    actor: str
    event: str
    detail: dict[str, Any] = {}
    cut: bool = False
    """True when the detail is too long, or nested too deep, to be shown."""


class EventFeed:
    """The events a caller may read, each once."""

    def __init__(self, context: Context, latest: int = LATEST) -> None:
        self._latest = latest
        paths = context.team.require().paths
        self._journals = [context.team.documents.events()]
        if context.caller.who in IN_CHARGE:
            self._journals.append(Journal(paths.logs / LEAD_LOG))
        self._read: Callable[[Journal], Iterable[bytes]] = lambda journal: journal.last(latest)
        self._same: Counter[str] = Counter()

    def news(self) -> list[TeamEvent]:
        """Return the events since the last call, by time; at first, the newest ones."""
        fresh = [event for journal in self._journals for event in self._events(self._read(journal))]
        self._read = lambda journal: journal.fresh()
        return sorted(fresh, key=lambda event: event.at)[-self._latest :]

    def _events(self, lines: Iterable[bytes]) -> Iterator[TeamEvent]:
        """Yield lines as events; skip a line that is not sound JSON."""
        for line in lines:
            with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                fields = decode(line, dict[str, object])
                at = convert(fields.pop("at", None), datetime)
                if at.tzinfo and not repeated(line):
                    yield self._event(line, at, fields)

    def _event(self, line: bytes, at: datetime, fields: dict[str, object]) -> TeamEvent:
        actor, event = str(fields.pop("actor", "lead")), str(fields.pop("event", ""))
        fields.pop("pid", None)
        cut = len(line) > LONGEST or nested_deeper_than(DEEPEST, line)
        return TeamEvent(id=self._id(line), at=at, actor=actor, event=event, detail={} if cut else fields, cut=cut)

    def _id(self, line: bytes) -> str:
        """Return an id that is the same for every reader of the log; identical lines get a number."""
        digest = blake2b(line, digest_size=12).hexdigest()
        self._same[digest] += 1
        if len(self._same) > 2 * self._latest:
            del self._same[next(iter(self._same))]
        return digest if self._same[digest] == 1 else f"{digest}-{self._same[digest]}"


@operation("event.list", PEOPLE_AND_AGENTS, changes=False)
def listed(context: Context, latest: Number = 100) -> list[TeamEvent]:
    """Return the latest events of a team, oldest first; a member sees no decisions of its lead."""
    return EventFeed(context, latest).news()
