"""The base of everything that is written to disk."""

from datetime import datetime
from typing import TypeVar

import msgspec

T = TypeVar("T")

SCHEMA_VERSION = 1


class Stored(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A frozen value with camelCase keys on disk; an unknown key is an error, never dropped in silence.

    No garbage collection: frozen values make no cycles, and to search thousands of tasks for some costs more than to
    read them.
    """


def written(default: T) -> T:
    """Return a field whose default is written out too: a key that readers of the file rely on (the PRD's schema)."""
    return msgspec.field(default_factory=lambda: default)


class Document(Stored, frozen=True, kw_only=True, rename="camel", omit_defaults=False, forbid_unknown_fields=True):
    """A whole file: every write raises `revision`; a file of a newer `schema_version` is never rewritten."""

    schema_version: int = SCHEMA_VERSION
    revision: int = 0


def iso(moment: datetime) -> str:
    """Return a moment as ISO-8601 UTC with milliseconds, as people and JSON see it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
