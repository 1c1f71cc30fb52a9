"""The repair of one document: rebuild it from its remains, and note the kept and the lost parts."""

from collections.abc import Callable
from typing import Any

import msgspec

from pro0.errors import ErrorCode
from pro0.model.need import NeedKind
from pro0.ops import troubles
from pro0.ops.context import Context
from pro0.ops.repair.evidence import gather
from pro0.rules.repair import salvage
from pro0.rules.repair.rebuilding import TeamFacts
from pro0.rules.repair.salvage import Remains
from pro0.store.files import File
from pro0.store.mending import Bad, T, mending, trouble

Build = Callable[[Remains[T], Bad], T]
"""A function that makes a sound value from the remains of a document and its bad entry."""


class Repairs(msgspec.Struct, frozen=True):
    """The repairs made, and those refused because the lead is alive, each as a sentence."""

    done: list[str]
    refused: list[str]


class RepairWork(msgspec.Struct):
    """One repair of one team."""

    context: Context
    project: str
    outcome: Repairs
    holder: str | None = None

    def say(self, text: str) -> None:
        """Note one repair."""
        self.outcome.done.append(text)

    def facts(self) -> TeamFacts:
        """Return the present content of the team's files."""
        return gather(self.context, self.project)


def as_is(value: T) -> Build[T]:
    """Return a function that builds this value, whatever is left of the document."""
    return lambda _remains, _bad: value


def mend_plainly(work: RepairWork, file: File[T]) -> None:
    """Repair a document from its own remains alone."""

    def build(remains: Remains[T], _bad: Bad) -> T:
        remains.name_missing()
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in remains.fields.items()}
        return file.kind(**fields)

    mend(work, file, build)


def mend(work: RepairWork, file: File[T], build: Build[T], about: Callable[[T], str] | None = None) -> None:
    """Replace an unreadable document by one rebuilt from its remains; leave a newer pro0's document alone."""
    error = trouble(file)
    if error is None or error.code == ErrorCode.NEWER_SCHEMA:
        return
    with mending(file, "repair") as change:
        if change is None or salvage.is_newer(change.bad.data):
            return
        remains = salvage.recover(change.bad.data, file.kind)
        value = build(remains, change.bad)
        name = change.put(value, work.context.now())
    kept_text = f"; kept: {about(value)}" if about else ""
    lost_text = f"; lost: {', '.join(remains.lost)}" if remains.lost else ""
    aside = f"moved it aside as {name}" if name else "it was missing"
    if remains.lost:
        troubles.note(work.context.team, NeedKind.LOSSES, file.path.name, ", ".join(remains.lost), work.context.now())
    work.say(f"{file.path} ({change.bad.was}) could not be used: {aside}, rebuilt it{kept_text}{lost_text}")
