"""Gemini CLI (`@google/gemini-cli`); its behaviour was measured with 0.61.0."""

import msgspec
from msgspec.structs import replace

from pro0.agents import first_prompt, layers, own_tools, there
from pro0.agents.adapter import Adapter, Brief, Invocation, OneTurn
from pro0.agents.gemini import home
from pro0.agents.gemini import hooks as gemini_hooks
from pro0.agents.gemini import trust as gemini_trust
from pro0.agents.gemini import turn as gemini_turn
from pro0.agents.gemini.chat import chat
from pro0.agents.gemini.chats import KINDS, began, look, read_last_words, usage
from pro0.agents.gemini.screens import GEMINI_SCREENS
from pro0.agents.layers import toml
from pro0.agents.variables import RESERVED
from pro0.model.runtime import State
from pro0.model.team import PermissionMode

MODES = {
    PermissionMode.ASK: "default",
    PermissionMode.EDITS: "auto_edit",
    PermissionMode.PLAN: "plan",
    PermissionMode.BYPASS: "yolo",
}
POLICY = "policy.toml"
READING = ("read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content")
"""Gemini's own tools still allowed in a delegate-only session."""


def call(brief: Brief) -> Invocation:
    """Return the command to start or resume a session; its settings are files in the session's own folder.

    Gemini may ask to trust the folder. It then restarts itself, and refuses to restart with the same id.
    In this case Gemini chooses the id itself.
    """
    trusting = gemini_trust.variables(brief.environment, brief.cwd, brief.project)
    asks = not trusting and gemini_trust.asks(brief.environment, brief.cwd)
    if asks and not brief.resume and brief.prompt:
        brief = replace(brief, session="")
    return _call(brief, "--prompt-interactive")


def elsewhere(brief: Brief) -> Invocation:
    """Return the command for another machine, without hooks; the pro0 there makes Gemini's home.

    Only that machine knows whether it trusts the folder, so Gemini chooses the id of a new session itself.
    """
    prompt, files = first_prompt.words(brief)
    own = {home.OURS: msgspec.json.encode(_ours(brief)).decode(), POLICY: _policy(brief)}
    line = f'{home.THERE}exec gemini --admin-policy "{there.FOLDER}/{POLICY}" "$@"'
    resume = ("--resume", brief.session) if brief.resume else ()
    first = (f"--prompt-interactive={prompt}",) if prompt else ()
    return Invocation(argv=there.started("gemini", line, own, *resume, *_options(brief), *first), files=files)


def turn(brief: Brief) -> Invocation:
    """Return the command of one turn without a terminal; any act needing permission is refused."""
    return _call(brief, "--prompt", "--output-format", "stream-json")


def _call(brief: Brief, flag: str, *words: str) -> Invocation:
    prompt, files = first_prompt.words(brief)
    folder = brief.folder
    argv = (
        "gemini",
        *words,
        *(("--resume" if brief.resume else "--session-id", brief.session) if brief.session else ()),
        *("--admin-policy", f"{folder}/{POLICY}"),
        *(("--include-directories", folder) if first_prompt.is_long(brief.prompt) else ()),
        *_options(brief),
        *((f"{flag}={prompt}",) if prompt else ()),
    )
    files = {POLICY: _policy(brief).encode(), **files}
    trusting = gemini_trust.variables(brief.environment, brief.cwd, brief.project)
    if home.is_sandboxed(brief.environment, brief.cwd):
        return Invocation(argv=argv, env=trusting, files=files)
    return Invocation(
        argv=argv,
        env={**home.variables(brief.environment, folder), **trusting},
        files={home.SETTINGS: home.settings(brief.environment, _ours(brief)), **files},
        links=home.links(brief.environment),
    )


def _options(brief: Brief) -> tuple[str, ...]:
    seat = brief.seat
    return (
        *("--approval-mode", MODES[PermissionMode.ASK if brief.delegate_only else brief.mode]),
        *(("--model", seat.model) if seat.model else ()),
    )


def _ours(brief: Brief) -> layers.Settings:
    program, *arguments = own_tools.server(brief)
    ours: layers.Settings = {
        "mcpServers": {own_tools.SERVER: {"command": program, "args": arguments, "trust": True}},
    }
    if brief.mailbox:
        line = gemini_hooks.command(brief.mailbox, brief.folder)
        hook = {"type": "command", "name": "pro0", "command": line, "timeout": 10_000}
        ours["hooks"] = {
            event: [{"matcher": matcher, "hooks": [hook]}] for event, matcher in gemini_hooks.EVENTS.items()
        }
    return ours


def _policy(brief: Brief) -> str:
    """Return the rules of allowed and denied acts, as TOML."""
    commands = [f"pro0 {command}" for command in own_tools.COMMANDS]
    rules = [
        {"mcpName": own_tools.SERVER, "toolName": "*", "decision": "allow", "priority": 900},
        {"toolName": "run_shell_command", "commandPrefix": commands, "decision": "allow", "priority": 900},
    ]
    if brief.delegate_only:
        rules[1:] = [
            {"toolName": READING, "decision": "allow", "priority": 900},
            {"toolName": "*", "decision": "deny", "priority": 500},
        ]
    return "\n".join(line for rule in rules for line in ("[[rule]]", *(f"{k} = {toml(v)}" for k, v in rule.items())))


GEMINI = Adapter(
    name="gemini",
    program="gemini",
    install="npm install -g @google/gemini-cli",
    tested=("0.55.1", "0.56.0", "0.61.0"),
    call=call,
    elsewhere=elsewhere,
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    passes=RESERVED["gemini"],
    session_ids="chosen",
    session_ids_elsewhere="learned",
    began=began,
    look=look,
    words=(KINDS,),
    screens=GEMINI_SCREENS,
    asks_at_turn_end=True,
    interrupt="Escape",
    forgets=True,
    last_words=read_last_words,
    chat=chat,
    usage=usage,
    turn=OneTurn(call=turn, read=gemini_turn.read),
    takes=("model",),
    delegates=True,
    skills=".gemini/skills",
)
