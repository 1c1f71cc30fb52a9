"""What pro0 knows of one agent program, as a value."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from pro0.agents.memory import Memory as Memory
from pro0.model.runtime import Process, State
from pro0.model.screen import Reading, Usage
from pro0.model.team import PermissionMode, Seat
from pro0.rules.screens.screens import Drawing
from pro0.rules.screens.words import Words


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """One session that is to be started, as its adapter must know it."""

    seat: Seat
    prompt: str = ""
    """The first prompt, whole; empty for none, and when an earlier session goes on."""
    mode: PermissionMode = PermissionMode.ASK
    delegate_only: bool = False
    """Whether it may only use the tools of pro0, as far as the agent can be so limited (`Adapter.delegates`)."""
    session: str = ""
    """The agent's own id for the session: chosen for a new one, known for one that goes on, empty when not known."""
    resume: bool = False
    """Whether the session of that id goes on."""
    folder: str = ""
    """An absolute folder of this session's own, 0700; `Call.files` are in there before the agent starts."""
    cwd: str = ""
    project: str = ""
    """The team's project: `cwd`, or what that is a worktree of."""
    environment: Mapping[str, str] = {}
    """What the agent gets: the allowed part of the team's start environment, and its identity."""
    pro0: tuple[str, ...] = ()
    """The words that run `pro0`, for MCP servers and hooks."""
    mailbox: str = ""
    """The file of its mail, for hooks that ask at the end of a turn whether there is any."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent of a session is started. No secret in `argv`."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    """On top of what every member gets."""
    files: dict[str, bytes] = {}
    """By name in the session's folder, written 0600 before the start."""


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """A running session, as its adapter may look at it."""

    session: str
    agent: Process | None
    started_at: datetime
    cwd: str
    folder: str
    environment: Mapping[str, str]


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What one turn's output has said so far: its last message, what it has used, why it failed."""

    message: str = ""
    usage: Usage = Usage()
    failure: str = ""


class OneTurn(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent does one turn to its end, without a terminal and with nobody who could be asked."""

    call: Callable[[Brief], Call]
    hear: Callable[[Heard, bytes], Heard]
    """Take in one line of its output; a line that says nothing changes nothing."""
    reads_stdin: bool = False
    """Whether it gets its prompt on stdin, and not in argv."""


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """How one agent program is started, seen, told about mail and ended."""

    name: str
    program: str
    """The executable that must be there, empty for one that ships with pro0."""
    install: str = ""
    """How to get the program, as a command or as words, empty when that is not known."""
    seen: tuple[str, ...] = ()
    """The versions of the program that the rules here were proved with, the oldest first; none for one without."""
    call: Callable[[Brief], Call]
    first_state: State
    """What a session is as soon as its agent runs, until something better is known."""
    delivery: Literal["watches", "line", "none"]
    """How it learns of mail: it watches its mailbox, gets the fixed line, or only reads when it likes."""
    answers_shutdown: bool
    """Whether it speaks the shutdown protocol; one that does not gets TERM in place of a request (behaviour 3.9)."""
    passes: tuple[str, ...] = ()
    """Patterns of the variables that only this agent gets: its keys, its addresses."""
    passes_of: Callable[[Seat], tuple[str, ...]] | None = None
    """Which besides, for one that runs other agents, the session of one seat gets."""
    session_ids: Literal["chosen", "learned", "none"] = "none"
    """Whether pro0 chooses the id of a session, learns it later, or there is nothing that could be resumed."""
    began: Callable[[Sight], bool] | None = None
    """Whether the agent has kept anything of the session, so that it can go on."""
    look: Callable[[Sight, Memory], Reading | None] | None = None
    """Read the state from the agent's own files, events or server; None when they do not say. It never raises."""
    words: tuple[Words, ...] = ()
    """The state words of what `look` reads: a source is here, or has none."""
    screens: Drawing | None = None
    """How its title and screen are read; None when nothing is known of them."""
    deliver: Callable[[Sight, str], bool] | None = None
    """Hand the fixed line over by the agent's own channel, whatever it does; False when it did not take it."""
    asks_at_turn_end: bool = False
    """Whether it asks for mail by itself when a turn ends, so that nothing need be typed while it works."""
    interrupt: Literal["", "Escape"] = ""
    """The key that stops a turn, empty for an agent that cannot be interrupted."""
    forgets: bool = False
    """Whether it forgets a turn that is stopped, so that only a person stops one: urgent mail comes with a tool."""
    stop: Callable[[Sight], bool] | None = None
    """Stop the turn by the agent's own channel, which is tried before its key; False when it did not take that."""
    usage: Callable[[Sight, Memory], Usage | None] | None = None
    """Read what the transcript has got since the last look, and return the whole; None when there is none yet."""
    turn: OneTurn | None = None
    """How it does one turn for `pro0 run`; None for an agent that only runs as a member."""
    takes: tuple[Literal["model", "effort"], ...] = ()
    """What can be chosen for one session of it."""
    delegates: bool = False
    """Whether it can be limited to the tools of pro0."""
    skills: str = ""
    """The folder below the person's home in which it looks for skills, empty when it knows none."""
