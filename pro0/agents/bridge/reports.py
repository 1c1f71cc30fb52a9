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
    """The question answered last, and whether by us."""

    key: str = ""
    elsewhere: bool = False


class BridgeReport(msgspec.Struct, omit_defaults=True):
    """What such a program tells of its agent."""

    state: object = ""
    session: str = ""
    earlier: tuple[str, ...] = ()
    """Its conversations before `session`, which may be among them again."""
    file: str = ""
    turns: int = 0
    error: str = ""
    note: str = ""
    asks: list[AskedPermission] = []
    settled: Settled = msgspec.field(default_factory=Settled)
    settled_before: list[Settled] = []
    """Those answered before that one, the newest ones."""

    def settled_by(self, key: str) -> Settled | None:
        """Return how a question was settled, None while it is not."""
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
    """Return the questions that are asked now, None when the report does not say."""
    report = report_of(session_view)
    return tuple(report.asks) if report else None


def reply(
    session_view: SessionView, key: str, answer: PermissionAnswer, ring: Callable[[], None] = lambda: None
) -> bool:
    """Put an answer where the program takes it; return True when it counted, and take an untaken one back."""
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
    """Put a line into the inbox and wait until it is taken; take an untaken line back."""
    folder = Path(session_view.folder)
    path = folder / INBOX / f"{time.time_ns():020d}-{uuid.uuid4().hex}"
    return handing.hand_over(folder, path, line.encode(), ring)


def _settled_by(session_view: SessionView, key: str) -> Settled | None:
    report = report_of(session_view)
    return report.settled_by(key) if report else None
