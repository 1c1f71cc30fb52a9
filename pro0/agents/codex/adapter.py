"""Codex (`@openai/codex`); its behaviour was measured with 0.169.0."""

from msgspec.structs import replace

from pro0.agents import first_prompt, own_tools, there
from pro0.agents.adapter import Adapter, Brief, Invocation, OneTurn, PermissionChannel
from pro0.agents.codex import server, starter
from pro0.agents.codex import turn as codex_turn
from pro0.agents.codex.chat import chat
from pro0.agents.codex.rollout import EVENTS, began, read_last_words
from pro0.agents.codex.screens import CODEX_SCREENS
from pro0.agents.codex.usage import usage
from pro0.agents.layers import toml
from pro0.agents.variables import RESERVED
from pro0.model.runtime import State
from pro0.model.team import PermissionMode

READ_ONLY = ("--sandbox", "read-only", "--ask-for-approval", "never")
MODES = {
    PermissionMode.ASK: ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
    PermissionMode.EDITS: ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
    PermissionMode.PLAN: READ_ONLY,
    PermissionMode.BYPASS: ("--dangerously-bypass-approvals-and-sandbox",),
}
SERVED = {
    PermissionMode.ASK: ("read-only", "on-request"),
    PermissionMode.EDITS: ("workspace-write", "on-request"),
    PermissionMode.PLAN: ("read-only", "never"),
    PermissionMode.BYPASS: ("danger-full-access", "never"),
}
"""The same modes as settings of a server: the sandbox, and the policy for asking."""
IN_ONE_TURN = {
    PermissionMode.ASK: ("--sandbox", "read-only"),
    PermissionMode.EDITS: ("--sandbox", "workspace-write"),
    PermissionMode.PLAN: ("--sandbox", "read-only"),
    PermissionMode.BYPASS: ("--dangerously-bypass-approvals-and-sandbox",),
}
"""`codex exec` never asks for permission."""
ELSEWHERE = f"""
{there.installed("codex")}
case $(codex --help </dev/null 2>/dev/null) in *{starter.ALONE}* | "") alone={starter.ALONE} ;; *) alone= ;; esac
[ "$1" = resume ] || exec codex $alone "$@"
id=$2
shift 2
exec codex resume "$id" $alone "$@"
"""
"""The script for a shell on another machine: it starts a codex without a server."""


def call(brief: Brief) -> Invocation:
    """Return the command to start or resume a session; all settings are in argv, and none of them is secret."""
    prompt, files = first_prompt.words(brief)
    permissions = READ_ONLY if brief.delegate_only else MODES[brief.mode]
    first, last = (
        ("codex", *(("resume", brief.session) if brief.resume else ())),
        (*_settings(brief), *(("--", prompt) if prompt else ())),
    )
    # Without --no-daemon codex starts a server that outlives the session; later sessions share its environment.
    alone = (*first, "--no-daemon", *permissions, *last)
    # A client that resumes a session must not set the permissions; the server keeps those of the session.
    client = (*first, "--remote", server.address(brief.folder), *(() if brief.resume else permissions), *last)
    before = server.resuming(brief.folder, brief.session, *_permitted(brief)) if brief.resume else ()
    started = server.settings(brief.folder, _served(brief), client, before)
    return Invocation(argv=(*starter.command(brief.folder), *alone), files={**started, **files})


def elsewhere(brief: Brief) -> Invocation:
    """Return the command for another machine: it has no server of its own, and its calls of tools are done at home."""
    prompt, files = first_prompt.words(brief)
    permissions = READ_ONLY if brief.delegate_only else MODES[brief.mode]
    resume = ("resume", brief.session) if brief.resume else ()
    words = (*resume, *permissions, *_settings(brief), *(("--", prompt) if prompt else ()))
    return Invocation(argv=("/bin/sh", "-c", ELSEWHERE, "codex", *words), files=files)


def turn(brief: Brief) -> Invocation:
    """Return the command of one turn without a terminal; any act outside the sandbox is refused."""
    _, files = first_prompt.words(brief)
    sandbox = IN_ONE_TURN[PermissionMode.PLAN if brief.delegate_only else brief.mode]
    return Invocation(
        argv=("codex", "exec", "--json", "--skip-git-repo-check", *sandbox, *_settings(brief), "-"), files=files
    )


def _settings(brief: Brief) -> tuple[str, ...]:
    seat = brief.seat
    return (
        *("--config", f"mcp_servers.{own_tools.SERVER}={_server(brief)}"),
        *(("--model", seat.model) if seat.model else ()),
        *(("--config", f"model_reasoning_effort={toml(seat.effort)}") if seat.effort else ()),
    )


def _served(brief: Brief) -> tuple[str, ...]:
    """Return the settings of the session's own server."""
    seat = brief.seat
    sandbox, policy = _permitted(brief)
    entries = {"sandbox_mode": sandbox, "approval_policy": policy, "model": seat.model}
    words = (("--config", f"{key}={toml(value)}") for key, value in entries.items() if value)
    return (*(word for pair in words for word in pair), *_settings(replace(brief, seat=replace(seat, model=""))))


def _permitted(brief: Brief) -> tuple[str, str]:
    return SERVED[PermissionMode.PLAN if brief.delegate_only else brief.mode]


def _server(brief: Brief) -> str:
    """Return the MCP server as TOML; it gets only the named variables, and runs outside the sandbox."""
    program, *arguments = own_tools.server(brief)
    entries = {
        "command": program,
        "args": arguments,
        "env_vars": own_tools.variables(brief),
        "default_tools_approval_mode": "approve",
    }
    return "{" + ",".join(f"{key}={toml(value)}" for key, value in entries.items()) + "}"


CODEX = Adapter(
    name="codex",
    program="codex",
    install="npm install -g @openai/codex",
    tested=("0.165.0", "0.169.0", "0.171.0"),
    call=call,
    elsewhere=elsewhere,
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    passes=RESERVED["codex"],
    session_ids="learned",
    session_ids_elsewhere="learned",
    began=began,
    look=server.look,
    words=(EVENTS, server.FLAGS),
    screens=CODEX_SCREENS,
    permissions=PermissionChannel(asked=server.asked, reply=server.reply),
    channel="server",
    deliver=server.deliver,
    interrupt="Escape",
    last_words=read_last_words,
    chat=chat,
    usage=usage,
    turn=OneTurn(call=turn, read=codex_turn.read, reads_stdin=True),
    takes=("model", "effort"),
    delegates=True,
    skills=".codex/skills",
)
