"""The base of everything that is written to disk."""

from datetime import datetime
from typing import Annotated, TypeVar

import msgspec

T = TypeVar("T")

SCHEMA_VERSION = 1

# Values used as paths, arguments or signals are checked when they are read, since people edit these files by hand.
AgentId = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$(?!\n)")]
"""A member's id, or an address: `lead`, `human`."""
TaskId = Annotated[str, msgspec.Meta(pattern=r"^task-[1-9][0-9]{0,8}$(?!\n)")]
Tag = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,63}$(?!\n)")]
"""An incarnation, or the uid of a team: it names files, tags processes and panes, and means nothing to tmux."""
Argument = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]*$(?!\n)")]
"""A text that the system takes: an argument, a path."""
Folder = Annotated[str, msgspec.Meta(pattern=r"^(/[^\x00]*)?$(?!\n)")]
"""An absolute path, or nothing."""
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""A moment with its time zone, without which it cannot be compared with others."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Pid = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""The number of a process, 0 for none."""


class Stored(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A frozen value with camelCase keys on disk; an unknown key is an error, never dropped in silence.

    No garbage collection: frozen values make no cycles, and searching thousands of tasks for cycles costs more than
    reading them.
    """


def written(default: T) -> T:
    """Return a field whose default is written out too, for readers that rely on the key."""
    return msgspec.field(default_factory=lambda: default)


class Document(Stored, frozen=True, kw_only=True, rename="camel", omit_defaults=False, forbid_unknown_fields=True):
    """A whole file: every write increments `revision`; a file of a newer `schema_version` is never rewritten.

    Documents are kw_only, so that their version comes first, and can be read even in a truncated file. A key unknown
    to version 0.1.0 is left out at its default, so that a team started by that version goes on under a newer lead.
    """

    schema_version: Count = written(SCHEMA_VERSION)
    revision: Count = written(0)


def iso(moment: datetime) -> str:
    """Return a moment as ISO-8601 UTC with milliseconds, as people and JSON see it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class Process(Stored, frozen=True):
    """One process, identified for all time: a pid may be reused, but not with the same start and boot id."""

    pid: Pid
    start: str
    boot_id: str
