"""The adapter of an agent that the settings define by `acp`."""

import sys
from pathlib import Path

import msgspec

from pro0.agents import first_prompt, own_tools
from pro0.agents.acp import orders
from pro0.agents.acp.screens import ACP_SCREENS
from pro0.agents.acp.start import SETTINGS, USED, AcpStart
from pro0.agents.adapter import Adapter, Brief, Invocation, PermissionChannel, SessionView
from pro0.agents.bridge import handing, reports
from pro0.agents.memory import Memory
from pro0.agents.transcripts import sure_value
from pro0.agents.turn_end import kept_words
from pro0.decoding import decoder
from pro0.model.need import PermissionAnswer
from pro0.model.runtime import State
from pro0.model.screen import LastWords
from pro0.model.usage import Usage
from pro0.rules.words import prompts

_USAGE = decoder(Usage)


def call(argv: tuple[str, ...], brief: Brief) -> Invocation:
    """Return the command of our client, which runs the agent with this `argv`."""
    _, files = first_prompt.words(brief)
    prompt_file = f"{brief.folder}/{first_prompt.FILE}" if files else ""
    lost = prompts.conversation_lost(brief.seat.agent_id) if brief.resume else ""
    start = AcpStart(
        argv=argv,
        server=own_tools.server(brief),
        session=brief.session if brief.resume else "",
        lost=lost,
        who=prompts.compacted(brief.seat.agent_id, prompt_file),
        mailbox=brief.mailbox,
    )
    return Invocation(
        argv=(sys.executable, "-I", "-m", "pro0.agents.acp", brief.folder),
        files={SETTINGS: msgspec.json.encode(start), **files},
    )


def deliver(session_view: SessionView, line: str) -> bool:
    """Hand a line to the client, which prompts the agent with it at once, or at the end of the turn."""
    return reports.deliver(session_view, line, lambda: orders.ring(session_view.folder))


def reply(session_view: SessionView, key: str, answer: PermissionAnswer) -> bool:
    """Hand an answer to the client; False when the request is closed, or its content has changed."""
    return reports.reply(session_view, key, answer, lambda: orders.ring(session_view.folder))


def stop(session_view: SessionView) -> bool:
    """Let the client stop the turn."""
    folder = Path(session_view.folder)
    return handing.hand_over(folder, folder / orders.STOP, b"", lambda: orders.ring(session_view.folder))


def began(session_view: SessionView) -> bool:
    """Return True for a session with an id: the client reports the id only when the agent can resume sessions."""
    return bool(session_view.session)


def read_last_words(session_view: SessionView, _memory: Memory) -> LastWords | None:
    """Return the agent's words of the last turn."""
    return kept_words(Path(session_view.folder))


def usage(session_view: SessionView, _memory: Memory) -> Usage | None:
    """Return what the session has cost, as far as its agent says."""
    return sure_value(Path(session_view.folder, USED), _USAGE)


ACP = Adapter(
    name="acp",
    program="",
    call=lambda brief: call((), brief),
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    session_ids="learned",
    began=began,
    look=reports.look,
    words=(reports.STATES,),
    screens=ACP_SCREENS,
    permissions=PermissionChannel(asked=reports.asked, reply=reply),
    channel="protocol",
    deliver=deliver,
    interrupt="Escape",
    stop=stop,
    last_words=read_last_words,
    usage=usage,
)
"""All that agents of this protocol have in common; a definition adds its name and its program."""
