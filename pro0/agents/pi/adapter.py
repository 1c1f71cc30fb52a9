"""pi (`@earendil-works/pi-coding-agent`, up to 0.73.1 `@mariozechner/pi-coding-agent`).

pi asks for no permission, and speaks MCP only from 1.0 on. The bridge, our extension, adds permissions. The `pro0`
command is pi's way to the team.
"""

import msgspec
from msgspec.structs import replace

from pro0 import resources
from pro0.agents import first_prompt, own_tools, there
from pro0.agents.adapter import Adapter, Brief, Invocation, OneTurn, PermissionChannel
from pro0.agents.bridge.reports import STATES, asked, deliver, look, reply
from pro0.agents.pi import turn as pi_turn
from pro0.agents.pi.chat import chat
from pro0.agents.pi.screens import PI_SCREENS
from pro0.agents.pi.session import FOLDER, SETTINGS, began, read_last_words, usage
from pro0.agents.variables import RESERVED
from pro0.model.runtime import State
from pro0.rules.words import prompts

HOME = "../../../.."
"""The path from the folder of a session, teams/TEAM/sessions/SESSION, to the home of pro0."""
HOME_THERE = "../.."
"""The same on another machine: hosted/SESSION."""


def call(brief: Brief) -> Invocation:
    """Return the command to start or resume a session, with the bridge loaded."""
    prompt, files = first_prompt.words(brief)
    argv = (
        "pi",
        *("--extension", str(resources.PI_BRIDGE)),
        *_words(brief, prompt),
    )
    settings = msgspec.json.encode(_settings(brief, HOME))
    return Invocation(argv=argv, env={FOLDER: brief.folder}, files={SETTINGS: settings, **files})


def elsewhere(brief: Brief) -> Invocation:
    """Return the command for another machine: the bridge goes there in argv; permissions are answered only in pi."""
    prompt, files = first_prompt.words(brief)
    bridge, settings = resources.PI_BRIDGE, _settings(brief, HOME_THERE)
    own = {bridge.name: bridge.read_text(encoding="utf-8"), SETTINGS: msgspec.json.encode(settings).decode()}
    line = f'export {FOLDER}="{there.FOLDER}"; exec pi --extension "{there.FOLDER}/{bridge.name}" "$@"'
    return Invocation(argv=there.started("pi", line, own, *_words(brief, prompt)), files=files)


def turn(brief: Brief) -> Invocation:
    """Return the command of one turn without a terminal; the bridge refuses any act needing permission."""
    usual = call(brief)
    program, *words = usual.argv
    return replace(usual, argv=(program, *pi_turn.WORDS, *words))


def _words(brief: Brief, prompt: str) -> tuple[str, ...]:
    seat = brief.seat
    return (
        *(("--session", brief.session) if brief.resume else ()),
        *(("--model", seat.model) if seat.model else ()),
        *(("--thinking", seat.effort) if seat.effort else ()),
        *((_as_text(prompt),) if prompt else ()),
    )


def _settings(brief: Brief, home: str) -> dict[str, object]:
    """Return the settings of the bridge; `home` is the path from the session's folder to the home of pro0."""
    return {
        "mode": brief.mode,
        "delegates": brief.delegate_only,
        "commands": own_tools.COMMANDS,
        "refusals": prompts.REFUSALS,
        "home": home,
    }


def _as_text(prompt: str) -> str:
    """Return a prompt pi cannot mistake for an option or a file name."""
    return f"\n{prompt}" if prompt.startswith(("-", "@")) else prompt


PI = Adapter(
    name="pi",
    program="pi",
    install="npm install -g @earendil-works/pi-coding-agent",
    tested=("0.73.1", "0.84.3", "0.87.1", "1.5.2", "1.6.0"),
    call=call,
    elsewhere=elsewhere,
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    passes=RESERVED["pi"],
    session_ids="learned",
    session_ids_elsewhere="learned",
    began=began,
    look=look,
    words=(STATES,),
    screens=PI_SCREENS,
    permissions=PermissionChannel(asked=asked, reply=reply),
    channel="bridge",
    deliver=deliver,
    interrupt="Escape",
    last_words=read_last_words,
    chat=chat,
    usage=usage,
    turn=OneTurn(call=turn, read=pi_turn.read),
    takes=("model", "effort"),
    delegates=True,
    skills=".pi/agent/skills",
)
