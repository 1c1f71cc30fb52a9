"""Claude Code (`@anthropic-ai/claude-code`); its behaviour was measured with 2.1.197."""

import shlex
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0.agents import first_prompt, own_tools, turn_end
from pro0.agents.adapter import Adapter, Brief, Invocation, OneTurn, SessionView
from pro0.agents.claude import permission, session_file, waking
from pro0.agents.claude import turn as claude_turn
from pro0.agents.claude.chat import chat
from pro0.agents.claude.screens import CLAUDE_SCREENS
from pro0.agents.claude.session_file import SessionFile
from pro0.agents.claude.transcript import (
    began,
    config_folder,
    has_message,
    last_error,
    read_last_words,
    transcript,
    usage,
)
from pro0.agents.memory import Memory
from pro0.agents.variables import RESERVED
from pro0.model.runtime import State
from pro0.model.screen import Reading
from pro0.model.team import PermissionMode
from pro0.rules.screens.words import Words
from pro0.rules.words import prompts
from pro0.wire import TOOLS_LISTED

MODES = {
    PermissionMode.ASK: "default",
    PermissionMode.EDITS: "acceptEdits",
    PermissionMode.PLAN: "plan",
    PermissionMode.BYPASS: "bypassPermissions",
}
READING = "Read,Grep,Glob"
"""Claude's own tools still allowed in a delegate-only session."""
_ALLOWED = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'
_ALLOW = f"echo {shlex.quote(_ALLOWED)}"
"""A hook that allows a call. In plan mode Claude asks before a tool that changes something, even with a rule for it."""
SETTINGS = "settings.json"
SERVERS = "mcp.json"
LISTED = "tools.listed"
"""The file that our server makes once Claude has been sent the tools."""


def call(brief: Brief) -> Invocation:
    """Return the command to start or resume a session; its settings are files in the session's own folder."""
    return _called(brief, waits=True)


def _called(brief: Brief, *, waits: bool) -> Invocation:
    prompt, files = first_prompt.words(brief)
    folder = brief.folder
    argv = (
        *_begin(brief),
        *("--settings", f"{folder}/{SETTINGS}"),
        *("--mcp-config", f"{folder}/{SERVERS}"),
        *_choices(brief),
        *(("--", prompt) if prompt else ()),
    )
    settings, servers = _settings(brief, waits=waits), _servers(brief, {TOOLS_LISTED: f"{folder}/{LISTED}"})
    own = {SETTINGS: msgspec.json.encode(settings), SERVERS: msgspec.json.encode(servers)}
    return Invocation(argv=argv, files={**own, **files})


def elsewhere(brief: Brief) -> Invocation:
    """Return the command for another machine: its settings are in argv, and its MCP server does each call at home."""
    prompt, files = first_prompt.words(brief)
    hooks = _hooks(brief, f'"{brief.folder}/{LISTED}"', "")
    if brief.asks_by_hook:
        hooks[permission.EVENT] = _asking(brief)
    settings = {"permissions": {"allow": _allowed()}, "hooks": hooks}
    argv = (
        *_begin(brief),
        *("--settings", msgspec.json.encode(settings).decode()),
        *("--mcp-config", msgspec.json.encode(_servers(brief, {})).decode()),
        *_choices(brief),
        *(("--", prompt) if prompt else ()),
    )
    return Invocation(argv=argv, files=files)


def turn(brief: Brief) -> Invocation:
    """Return the command of one turn without a terminal; any act needing permission is refused."""
    usual = _called(brief, waits=False)
    program, *words = usual.argv
    return replace(usual, argv=(program, *claude_turn.WORDS, *words))


def _begin(brief: Brief) -> tuple[str, ...]:
    """Return the first words: the program, its conversation and its permission mode."""
    id = ("--resume" if brief.resume else "--session-id", brief.session) if brief.session else ()
    return ("claude", *id, "--permission-mode", MODES[brief.mode])


def _choices(brief: Brief) -> tuple[str, ...]:
    seat = brief.seat
    return (
        *(("--tools", READING) if brief.delegate_only else ()),
        *(("--model", seat.model) if seat.model else ()),
        *(("--effort", seat.effort) if seat.effort else ()),
    )


def _allowed() -> list[str]:
    """Return the rules that allow pro0's own tools and commands."""
    return [f"mcp__{own_tools.SERVER}", *(f"Bash(pro0 {command}:*)" for command in own_tools.COMMANDS)]


def _hooks(brief: Brief, listed: str, first: str) -> dict[str, list[object]]:
    """Return the hooks of every session, with or without its files on this machine.

    `listed` is the path of the file LISTED as a word of a shell; `first` is the first prompt's file, empty for none.
    """
    start = {"matcher": "startup|resume", "hooks": [_command(_awaiting_tools(listed)) | {"timeout": 60}]}
    told = [{"matcher": matcher, "hooks": [_command(line)]} for matcher, line in _telling(brief, first).items()]
    hooks: dict[str, list[object]] = {"SessionStart": [start, *told]}
    if brief.mode is PermissionMode.PLAN:
        hooks["PreToolUse"] = [{"matcher": permission.OWN, "hooks": [_command(_ALLOW)]}]
    return hooks


def _settings(brief: Brief, *, waits: bool) -> dict[str, object]:
    first = f"{brief.folder}/{first_prompt.FILE}" if brief.prompt else ""
    hooks = _hooks(brief, shlex.quote(f"{brief.folder}/{LISTED}"), first)
    if brief.mailbox:
        if brief.asks_by_hook:
            hooks[permission.EVENT] = _asking(brief)
        hooks["Stop"] = [{"hooks": [_command(turn_end.command(brief.mailbox, brief.folder))]}]
        if waits:  # without a terminal Claude would wait for the hook
            for event, waiting in waking.hooks(brief.folder, prompted=bool(brief.prompt)).items():
                hooks.setdefault(event, []).append(waiting)
    return {
        "permissions": {"allow": [*_allowed(), f"Read(/{brief.folder}/{first_prompt.FILE})"]},
        "hooks": hooks,
    }


def _asking(brief: Brief) -> list[object]:
    """Return the hook that asks the person what Claude asks in its pane."""
    asks = (*brief.pro0, *permission.HOOK)
    return [{"hooks": [_command(shlex.join(asks)) | {"timeout": permission.PATIENCE}]}]


def _telling(brief: Brief, first: str) -> dict[str, str]:
    """Return the shell commands that tell an agent who it is when it may not know, by the reason of Claude's start."""
    agent_id = brief.seat.agent_id
    another = _printing(prompts.another_conversation(agent_id, first))
    return {
        "compact": _printing(prompts.compacted(agent_id, first)),
        "clear": another,
        # The event names the conversation; the one that this session was started with knows already.
        "resume": f"grep -qF -e {shlex.quote(brief.session)} || {another}",
    }


def _printing(text: str) -> str:
    """Return the shell command of a hook that prints a text."""
    return f"printf %s {shlex.quote(text)}"


def _awaiting_tools(listed: str) -> str:
    """Return the shell command of a hook that ends once Claude has the tools of our server, or after 31 seconds.

    Claude connects to its servers meanwhile. It sends its first request when the hook ends, with the tools it then has.
    """
    return f"n=0; until [ -e {listed} ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n+1)); done; sleep 1"


def _command(line: str) -> dict[str, object]:
    return {"type": "command", "command": line, "timeout": 10}


def _servers(brief: Brief, tells: dict[str, str]) -> dict[str, object]:
    program, *arguments = own_tools.server(brief)
    # alwaysLoad: the tools are present from the start, not behind a search for tools.
    server = {"type": "stdio", "command": program, "args": arguments, "alwaysLoad": True, "env": tells}
    return {"mcpServers": {own_tools.SERVER: server}}


STATUS = Words(
    source="session file",
    place="status",
    states={"": State.STARTING, "busy": State.WORKING, "idle": State.IDLE, "waiting": State.WAITING},
)
_TAKEN = "taken"
"""The key in a session's memory for the transcript that has the first prompt."""
WAITING_FOR = {"dialog open": State.DIALOG}
"""The states behind `waitingFor`; with any other value the agent waits for a person."""


def look(session_view: SessionView, memory: Memory) -> Reading | None:
    """Read the state from the session file, or an error when the last turn failed."""
    if not session_view.agent:
        return None
    folder = config_folder(session_view.environment)
    status_file = session_file.read(folder, session_view.agent)
    state = _state(status_file) if status_file else None
    session = status_file.session_id if status_file else ""
    if state in (None, State.IDLE) and _awaits_its_prompt(session_view, memory, folder, session):
        rule = "the first prompt is not taken yet"
        return Reading(state=State.STARTING, source="transcript", rule=rule, session=session_view.session)
    if not status_file or state is None:
        return None
    note = str(status_file.waiting_for or "")
    if state is State.UNKNOWN:
        return STATUS.reading(f"{status_file.status or ''} {note}", session)
    if state is State.IDLE and (error := last_error(transcript(folder, session, session_view.cwd))):
        return Reading(state=State.ERROR, source="transcript", rule="API error", note=error, session=session)
    rule = note or str(status_file.status or "no status yet")
    return Reading(state=state, source="session file", rule=rule, note=note, session=session)


def _state(status_file: SessionFile) -> State | None:
    """Combine status and reason: busy is always working, waiting is always for a person."""
    state = STATUS.meaning(status_file.status or "")
    if state is State.WAITING:
        return WAITING_FOR.get(str(status_file.waiting_for), state)
    return State.UNKNOWN if status_file.waiting_for and state is not State.WORKING else state


def _awaits_its_prompt(session_view: SessionView, memory: Memory, folder: Path, present: str) -> bool:
    """Return True while the prompt in argv is untaken; until then Claude shows an empty input and `idle`.

    A message in a transcript proves that it is taken. The transcripts of the started session (on this machine its id
    is the folder's name) and of the `present` one count, since a person may clear a session at once.
    """
    if _TAKEN in memory.files or not first_prompt.awaited(session_view):
        return False
    for id in filter(None, (Path(session_view.folder).name, session_view.session, present)):
        path = transcript(folder, id, session_view.cwd)
        if has_message(path):
            memory.files[_TAKEN] = path
            return False
    return True


CLAUDE = Adapter(
    name="claude",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    tested=("2.1.197", "2.1.246", "2.1.330", "2.1.332"),
    call=call,
    elsewhere=elsewhere,
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    passes=RESERVED["claude"],
    session_ids="chosen",
    session_ids_elsewhere="chosen",
    began=began,
    look=look,
    words=(STATUS,),
    screens=CLAUDE_SCREENS,
    asks_by_hook=True,
    channel="hook",
    deliver=waking.deliver,
    asks_at_turn_end=True,
    interrupt="Escape",
    last_words=read_last_words,
    chat=chat,
    usage=usage,
    turn=OneTurn(call=turn, read=claude_turn.read),
    takes=("model", "effort"),
    delegates=True,
    skills=".claude/skills",
)
