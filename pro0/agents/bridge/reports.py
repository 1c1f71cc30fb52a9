"""The report of a program beside an agent, and what the lead hands to it: lines, and answers to permissions."""

import time
import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.bridge import handing
from pro0.agents.memory import Memory
from pro0.agents.transcripts import shortened, value
from pro0.decoding import decoder
from pro0.model.need import INPUT_LIMIT, AskedPermission, PermissionAnswer
from pro0.model.runtime import State
from pro0.model.screen import Reading
from pro0.rules.screens.words import Words
from pro0.rules.text import digest

STATE = "state.json"
INBOX = "inbox"
ANSWERS = "answers"
_LARGEST = 64 * INPUT_LIMIT
"""The longest report to read, in bytes."""
_LONGEST_NAME = 255
"""The longest name of a file, in bytes."""


class Settled(msgspec.Struct):
    """The outcome of one question; `elsewhere` is True when the answer came from pro0, not from the pane."""

    key: str = ""
    elsewhere: bool = False


class BridgeReport(msgspec.Struct, omit_defaults=True):
    """The report of a program beside an agent."""

    state: object = ""
    session: str = ""
    earlier: tuple[str, ...] = ()
    """The agent's conversations before `session`; `session` may be one of them."""
    file: str = ""
    turns: int = 0
    error: str = ""
    note: str = ""
    asks: list[AskedPermission] = []
    settled: Settled = msgspec.field(default_factory=Settled)
    settled_before: list[Settled] = []
    """The questions settled before `settled`; only the newest ones are kept."""

    def settled_by(self, key: str) -> Settled | None:
        """Return the outcome of a question, None while it is open."""
        return next((settled for settled in (self.settled, *self.settled_before) if settled.key == key), None)


_REPORT = decoder(BridgeReport)
STATES = Words(
    source="bridge",
    place="state",
    states={
        "starting": State.STARTING,
        "idle": State.IDLE,
        "working": State.WORKING,
        "waiting": State.WAITING,
    },
)


def report_of(session_view: SessionView) -> BridgeReport | None:
    """Return the present report, None for none."""
    return value(Path(session_view.folder, STATE), _REPORT, _LARGEST)


def look(session_view: SessionView, _memory: Memory) -> Reading | None:
    """Read the state from the report."""
    report = report_of(session_view)
    if not report:
        return None
    state = STATES.meaning(report.state)
    if state is None or state is State.UNKNOWN:
        return STATES.reading(report.state, report.session)
    rule, note = str(report.state), report.note
    if state is State.IDLE and report.error:
        state, rule, note = State.ERROR, "failed turn", shortened(report.error)
    elif state is State.IDLE and not report.turns and first_prompt.load(session_view.folder):
        state, rule = State.STARTING, first_prompt.UNTAKEN
    return Reading(state=state, source="bridge", rule=rule, note=note, session=report.session)


def asked(session_view: SessionView) -> tuple[AskedPermission, ...] | None:
    """Return the open questions, None without a report."""
    report = report_of(session_view)
    return tuple(report.asks) if report else None


def reply(
    session_view: SessionView, key: str, answer: PermissionAnswer, ring: Callable[[], None] = lambda: None
) -> bool:
    """Hand an answer to the program, and remove it if it is not taken; return True when the answer counted."""
    folder = Path(session_view.folder)
    path = folder / ANSWERS / _name(key)
    if not handing.put(folder, path, msgspec.json.encode({"choice": answer.choice, "text": answer.text})):
        return False
    handing.wait(lambda: _settled_by(session_view, key) is not None, ring)
    handing.take_back(path)
    settled = _settled_by(session_view, key)
    return settled is not None and settled.elsewhere


def _name(key: str) -> str:
    """Return the name of an answer's file: the key, or the digest of a key too long for a name."""
    name = key.encode().hex()
    return name if len(name) <= _LONGEST_NAME else digest(key.encode())


def deliver(session_view: SessionView, line: str, ring: Callable[[], None] = lambda: None) -> bool:
    """Put a line into the inbox, and remove it if it is not taken in time; return True when it was taken."""
    folder = Path(session_view.folder)
    path = folder / INBOX / f"{time.time_ns():020d}-{uuid.uuid4().hex}"
    return handing.hand_over(folder, path, line.encode(), ring)


def _settled_by(session_view: SessionView, key: str) -> Settled | None:
    report = report_of(session_view)
    return report.settled_by(key) if report else None
