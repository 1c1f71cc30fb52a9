"""An agent program as a value: how to start, read, notify and end it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from pro0.agents.chats.reader import ChatReader
from pro0.agents.memory import Memory as Memory
from pro0.model.need import AskedPermission, PermissionAnswer
from pro0.model.runtime import Process, State
from pro0.model.screen import LastWords, Reading
from pro0.model.team import PermissionMode, Seat
from pro0.model.usage import Usage
from pro0.rules.screens.screens import Drawing
from pro0.rules.screens.words import Words


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """One session about to start, as its adapter sees it."""

    seat: Seat
    prompt: str = ""
    """The whole first prompt; empty for none, and for a resumed session."""
    mode: PermissionMode = PermissionMode.ASK
    delegate_only: bool = False
    """True to allow only reading and pro0's tools; only for an agent that can be limited so (`Adapter.delegates`)."""
    session: str = ""
    """The agent's own session id: chosen for a new session, known for a resumed one, empty when unknown."""
    resume: bool = False
    """True to resume the session of that id."""
    folder: str = ""
    """An absolute folder of this session alone, mode 0700. It holds `Invocation.files` before the agent starts.

    For an agent on another machine it is a variable of that machine's shell, and holds no such files.
    """
    cwd: str = ""
    project: str = ""
    """The team's project: `cwd`, or the checkout behind the worktree `cwd`."""
    environment: Mapping[str, str] = {}
    """The agent's variables: the allowed part of the team's start environment, and its identity."""
    pro0: tuple[str, ...] = ()
    """The words of the `pro0` command, for MCP servers and hooks."""
    mailbox: str = ""
    """The file of its mailbox, for hooks checking mail at the end of a turn."""
    asks_by_hook: bool = True
    """False to install no hook that asks the person for permission."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """How to start the agent of a session; `argv` holds no secret."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    """Variables added to every member's environment."""
    files: dict[str, bytes] = {}
    """Files by name in the session's folder, written with mode 0600 before the start."""
    links: dict[str, str] = {}
    """Symbolic links by name below that folder, with their targets. For a target ending with /, that folder is made."""


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A running session, as its adapter sees it."""

    session: str
    agent: Process | None
    started_at: datetime
    cwd: str
    folder: str
    environment: Mapping[str, str]
    earlier: tuple[str, ...] = ()
    """Its conversations before `session`, as far as they are known."""


class TurnOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One turn's output so far: its last message, its usage, its failure."""

    message: str = ""
    usage: Usage = Usage()
    failure: str = ""


class OneTurn(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent does one whole turn without a terminal and without a person to ask."""

    call: Callable[[Brief], Invocation]
    read: Callable[[TurnOutput, bytes], TurnOutput]
    """Read one line of output; an uninformative line changes nothing."""
    reads_stdin: bool = False
    """True to pass the prompt on stdin instead of argv."""


class PermissionChannel(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent's own server tells of requests for permission and takes answers; neither ever raises."""

    asked: Callable[[SessionView], tuple[AskedPermission, ...] | None]
    """Return the requests that are open now, None when that is not known."""
    reply: Callable[[SessionView, str, PermissionAnswer], bool]
    """Answer the request of this key; returns False when the agent did not take it."""


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """How to start, read, notify and end one agent program."""

    name: str
    program: str
    """The required executable; empty for an agent shipped with pro0."""
    install: str = ""
    """How to install the program, as a command or as text; empty when unknown."""
    tested: tuple[str, ...] = ()
    """The program versions tested against these rules, oldest first; empty for an agent without a program."""
    call: Callable[[Brief], Invocation]
    elsewhere: Callable[[Brief], Invocation] | None = None
    """How to start it on another machine, by words alone; None for an agent that needs files of this one."""
    first_state: State
    """A session's state from the agent's start until better evidence."""
    delivery: Literal["watches", "line", "none"]
    """How it learns of mail: it watches its mailbox, gets the fixed line, or reads when it likes."""
    no_prompt: str = ""
    """Why it reads no first prompt, for a person who gives one; empty for an agent that reads it."""
    answers_shutdown: bool
    """True when it speaks the shutdown protocol; any other agent gets TERM instead of a request (behaviour 3.9)."""
    passes: tuple[str, ...] = ()
    """Patterns of the variables for this agent alone: its keys and addresses."""
    passes_of: Callable[[Seat], tuple[str, ...]] | None = None
    """Return more such patterns for one seat, for an agent running other agents."""
    session_ids: Literal["chosen", "learned", "none"] = "none"
    """Where session ids come from: pro0 chooses one, or learns it later, or the agent cannot resume."""
    session_ids_elsewhere: Literal["chosen", "learned", "none"] = "none"
    """The same for a session on another machine, where `began` says whether it can be resumed."""
    began: Callable[[SessionView], bool] | None = None
    """Return True when the agent has stored the session and can resume it; raises OSError when nobody can tell now."""
    look: Callable[[SessionView, Memory], Reading | None] | None = None
    """Read the state from the agent's own files, events or server; None when they do not tell.

    It raises OSError alone, for a file that cannot be read now.
    """
    words: tuple[Words, ...] = ()
    """The state words in the sources of `look`; empty for an agent without such a source."""
    screens: Drawing | None = None
    """How to read its title and screen; None when unknown."""
    prompt_on_screen: bool = False
    """True when its screen alone tells that it has taken its first prompt."""
    permissions: PermissionChannel | None = None
    """Its server's channel for permissions."""
    asks_by_hook: bool = False
    """True when a hook of its session asks the person for permission."""
    channel: str = ""
    """The name of the channel of `deliver`, for people: hook, server, bridge; empty for an agent without one."""
    deliver: Callable[[SessionView, str], bool] | None = None
    """Deliver the fixed line by the agent's own channel, in any state; returns False when the agent did not take it."""
    asks_at_turn_end: bool = False
    """True when it checks its mail at the end of each turn; then nothing needs typing while it works."""
    interrupt: Literal["", "Escape"] = ""
    """The key to stop a turn; empty for an agent without interruption."""
    forgets: bool = False
    """True when it forgets an interrupted turn. Only a person interrupts it then; urgent mail comes with a tool."""
    stop: Callable[[SessionView], bool] | None = None
    """Stop the turn by the agent's own channel, tried before its key; returns False when the agent did not take it."""
    last_words: Callable[[SessionView, Memory], LastWords | None] | None = None
    """Read the last words of the newest turn from the transcript; None for none since the session's start.

    It raises OSError for one that cannot be read now.
    """
    chat: Callable[..., ChatReader] | None = None
    """Return the reader of a session's transcript; `whole=True` reads further back, and keeps arguments and results."""
    usage: Callable[[SessionView, Memory], Usage | None] | None = None
    """Read the new part of the transcript and return the total usage; None before the first usage."""
    turn: OneTurn | None = None
    """How it does one turn for `pro0 run`; None for an agent running only as a member."""
    takes: tuple[Literal["model", "effort"], ...] = ()
    """The choices per session it accepts."""
    delegates: bool = False
    """True when it can be limited to reading and pro0's tools (`team start --delegate-only`); else that is refused."""
    skills: str = ""
    """Its folder of skills below the person's home; empty for none."""
