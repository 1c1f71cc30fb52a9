"""A session's screen, the reading of it, and the session's usage."""

from datetime import datetime
from typing import Literal

import msgspec

from pro0.model.runtime import State


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """A terminal as it is drawn now: its rows as plain text from the top, and the title that the program set."""

    rows: tuple[str, ...] = ()
    title: str = ""
    styled: tuple[str, ...] = ()
    """The same rows with their SGR escapes, where the backend knows them."""
    cursor: tuple[int, int] | None = None
    """Column and row, from 0."""
    columns: int = 0
    """Its width; 0 where the backend does not know it."""


class LastWords(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent said last in a turn."""

    text: str
    id: str
    """The id of the turn in the source, which tells two turns with the same words apart."""
    source: str
    """What was read: `transcript`, `hook` or `screen`."""
    over: bool = True
    """Whether the source itself says that the turn is over."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A state, with the source and the rule that say so."""

    state: State
    source: str
    """What was read: `events`, `session file`, `http`, `title`, `screen`, `process`."""
    rule: str = ""
    note: str = ""
    """What a person should know: which permission, which error, until when."""
    session: str = ""
    """The agent's own id of its session, when this source knows it."""
    lost: bool = False
    """Whether its screen shows nothing known, even if another source tells its state."""


class ChatEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of an agent's transcript: a prompt, an answer or a tool call."""

    id: str
    kind: Literal["prompt", "said", "tool"]
    at: datetime | None = None
    text: str = ""
    """The words of the entry, or the title of a tool call."""
    state: Literal["", "running", "done", "failed"] = ""
    arguments: str = ""
    result: str = ""
