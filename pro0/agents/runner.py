"""The runner of `pro0 run`: a member that runs other agents, one turn each, on one task after the other."""

import sys
from pathlib import Path

import msgspec

from pro0.agents import AGENTS, adapter_named
from pro0.agents.adapter import Adapter, Brief, Call, Sight
from pro0.agents.memory import Memory
from pro0.agents.transcripts import value
from pro0.model.run import RUNNER as NAME
from pro0.model.runtime import State
from pro0.model.screen import Usage

USED = "used.json"
"""What its turns have used so far, in its session's folder."""
_USAGE = msgspec.json.Decoder(Usage)


def call(brief: Brief) -> Call:
    """Return how it is started; what it is to do is the one word of its seat's argv."""
    return Call(argv=(sys.executable, "-I", "-m", "pro0.runner", *brief.seat.argv))


def usage(sight: Sight, _memory: Memory) -> Usage | None:
    """Return what it says that its turns have used."""
    return value(Path(sight.folder, USED), _USAGE)


RUNNER = Adapter(
    name=NAME,
    program="",
    call=call,
    first_state=State.STARTING,
    delivery="watches",
    answers_shutdown=True,
    # Whichever it runs gets its own of these, and not those of the others.
    passes=tuple(pattern for name in AGENTS if name != NAME for pattern in adapter_named(name).passes),
    takes=("model", "effort"),
    look=lambda _sight, _memory: None,
    usage=usage,
)
