"""opencode (`opencode-ai`); its behaviour was measured with 1.18.33."""

import random
import secrets
import socket
from contextlib import suppress

import msgspec

from pro0.agents import layers, own_tools, there
from pro0.agents.adapter import Adapter, Brief, Invocation, OneTurn, PermissionChannel
from pro0.agents.first_prompt import words
from pro0.agents.opencode import turn as opencode_turn
from pro0.agents.opencode.chat import chat
from pro0.agents.opencode.database import FINISHES, ROLES, began, read_last_words, usage
from pro0.agents.opencode.screens import OPENCODE_SCREENS
from pro0.agents.opencode.server import PASSWORD, SERVER, STATUSES, OpenCodeServer, asked, deliver, look, reply, stop
from pro0.agents.variables import RESERVED
from pro0.model.runtime import State
from pro0.model.team import PermissionMode

CONTENT = "OPENCODE_CONFIG_CONTENT"
"""The variable with the settings that override all others."""
OF_PRO0 = "opencode.json"
"""The file with pro0's settings on another machine."""
PORTS = range(10_000, 20_000)
"""The ports for its server: below those of outgoing connections, which could take a port before the server listens."""
TRIES = 100


def call(brief: Brief) -> Invocation:
    """Return the command to start or resume a session, with its own local server behind a password."""
    prompt, files = words(brief)
    server = OpenCodeServer(port=_free_port(), password=secrets.token_urlsafe(32))
    argv = (
        "opencode",
        *("--port", str(server.port), "--hostname", "127.0.0.1"),
        *_again(brief),
        *_options(brief),
        *((f"--prompt={prompt}",) if prompt else ()),
    )
    env = {PASSWORD: server.password, CONTENT: _content(brief)}
    return Invocation(argv=argv, env=env, files={SERVER: msgspec.json.encode(server), **files})


def elsewhere(brief: Brief) -> Invocation:
    """Return the command for another machine: without a server, and with pro0's settings instead of the variable's."""
    prompt, files = words(brief)
    line = f'{CONTENT}=$(cat "{there.FOLDER}/{OF_PRO0}") && export {CONTENT} && exec opencode "$@"'
    own = {OF_PRO0: msgspec.json.encode(_settings(brief)).decode()}
    first = (f"--prompt={prompt}",) if prompt else ()
    argv = there.started("opencode", line, own, *_again(brief), *_options(brief), *first)
    return Invocation(argv=argv, files=files)


def turn(brief: Brief) -> Invocation:
    """Return the command of one turn without a terminal; any act needing permission is refused."""
    _, files = words(brief)
    argv = ("opencode", "run", "--format", "json", *_options(brief))
    return Invocation(argv=argv, env={CONTENT: _content(brief)}, files=files)


def _again(brief: Brief) -> tuple[str, ...]:
    return ("--session", brief.session) if brief.resume else ()


def _options(brief: Brief) -> tuple[str, ...]:
    return (
        *(("--auto",) if brief.mode is PermissionMode.BYPASS and not brief.delegate_only else ()),
        *(("--agent", "plan") if brief.mode is PermissionMode.PLAN else ()),
        *(("--model", brief.seat.model) if brief.seat.model else ()),
    )


def _content(brief: Brief) -> str:
    """Return pro0's settings on top of the person's in the same variable."""
    settings = layers.merged(layers.parsed(brief.environment.get(CONTENT) or "{}", CONTENT), _settings(brief))
    return msgspec.json.encode(settings).decode()


def _settings(brief: Brief) -> layers.Settings:
    server = {"type": "local", "command": own_tools.server(brief), "enabled": True}
    return {"mcp": {own_tools.SERVER: server}, "permission": _permissions(brief)}


def _permissions(brief: Brief) -> layers.Settings:
    """Return the permissions; the last matching rule wins.

    A key that the person's settings have too keeps its place there, before all new ones. What must win in any case
    therefore has a key that nobody else writes: in a key, as in a pattern, ? is any character.
    """
    own_tools_allowed = {f"{own_tools.SERVER}_*": "allow"}
    if brief.delegate_only:
        return {"*": "deny", "?*": "deny", **_READING, **own_tools_allowed}
    if brief.mode is PermissionMode.BYPASS:
        return dict(own_tools_allowed)
    commands = {f"pro0 {command}*": "allow" for command in own_tools.COMMANDS}
    return {
        "*": "ask",
        **_READING,
        "edit": _EDIT[brief.mode],
        "bash": {"*": "ask", **commands, **_REDIRECTED},
        "external_directory": {f"{brief.folder}/*": "allow"},
        **own_tools_allowed,
        "b?sh": {**commands, **_REDIRECTED},
        **({"e?it": "deny"} if brief.mode is PermissionMode.PLAN else {}),
    }


_REDIRECTED = {"pro0 *>*": "ask", "pro0 *<*": "ask"}
"""A redirection needs a yes: rules match it as part of the command, and `>` writes any text of the agent."""
_READING: layers.Settings = {
    "read": {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"},
    **dict.fromkeys(("grep", "glob", "list", "lsp", "skill", "todowrite", "question"), "allow"),
}
"""Permissions changing nothing; secrets in .env files need a yes, as by opencode's default."""
_EDIT = {PermissionMode.ASK: "ask", PermissionMode.EDITS: "allow", PermissionMode.PLAN: "deny"}


def _free_port() -> int:
    with socket.socket() as listener:
        for port in random.sample(PORTS, TRIES):
            with suppress(OSError):
                listener.bind(("127.0.0.1", port))
                return port
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


OPENCODE = Adapter(
    name="opencode",
    program="opencode",
    install="npm install -g opencode-ai",
    tested=("1.18.22", "1.18.33", "1.18.34"),
    call=call,
    elsewhere=elsewhere,
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    passes=RESERVED["opencode"],
    session_ids="learned",
    session_ids_elsewhere="learned",
    began=began,
    look=look,
    words=(STATUSES, ROLES, FINISHES),
    screens=OPENCODE_SCREENS,
    permissions=PermissionChannel(asked=asked, reply=reply),
    channel="server",
    deliver=deliver,
    stop=stop,
    interrupt="Escape",
    last_words=read_last_words,
    chat=chat,
    usage=usage,
    turn=OneTurn(call=turn, read=opencode_turn.read, reads_stdin=True),
    takes=("model",),
    delegates=True,
    skills=".config/opencode/skills",
)
