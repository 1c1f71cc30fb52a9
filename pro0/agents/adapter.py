"""What pro0 knows of one agent program, as a value."""

from collections.abc import Callable
from typing import Literal

import msgspec

from pro0.model.runtime import State
from pro0.model.team import Seat


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """How one agent program is started, told about mail and ended."""

    name: str
    program: str
    """The executable that must be there, empty for one that ships with pro0."""
    argv: Callable[[Seat], tuple[str, ...]]
    """The agent's command line for a seat, its first prompt included."""
    first_state: State
    """What a session is as soon as its agent runs, until the agent reports for itself."""
    delivery: Literal["watches", "line", "none"]
    """How it learns of mail: it watches its mailbox, gets the fixed line, or only reads when it likes."""
    answers_shutdown: bool
    """Whether it speaks the shutdown protocol; one that does not gets TERM in place of a request (rulings 3.9)."""
