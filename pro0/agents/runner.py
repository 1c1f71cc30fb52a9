"""The runner of `pro0 run`: a member that runs other agents, one turn each, on one task after the other."""

import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0.agents import AGENTS, adapter_named
from pro0.agents.adapter import Adapter, Brief, Call, Sight
from pro0.agents.memory import Memory
from pro0.agents.transcripts import value
from pro0.model.run import RUNNER as NAME
from pro0.model.run import RunOptions
from pro0.model.runtime import State
from pro0.model.screen import Usage
from pro0.model.team import Seat

USED = "used.json"
"""What its turns have used so far, in its session's folder."""
_USAGE = msgspec.json.Decoder(Usage)


def call(brief: Brief) -> Call:
    """Return how it is started; what it is to do is the one word of its seat's argv."""
    return Call(argv=(sys.executable, "-I", "-m", "pro0.runner", *brief.seat.argv))


def usage(sight: Sight, _memory: Memory) -> Usage | None:
    """Return what it says that its turns have used."""
    return value(Path(sight.folder, USED), _USAGE)


def passes_of(seat: Seat) -> tuple[str, ...]:
    """Return the variables of the agent of one run, when the settings define that."""
    definition = None
    with suppress(IndexError, msgspec.MsgspecError):  # of a seat that was edited by hand: its runner will say so
        definition = msgspec.json.decode(seat.argv[0], type=RunOptions).definition
    return definition.environment if definition else ()


RUNNER = Adapter(
    name=NAME,
    program="",
    call=call,
    first_state=State.STARTING,
    delivery="watches",
    answers_shutdown=True,
    # Whichever it runs gets its own of these, and not those of the others.
    passes=tuple(pattern for name in AGENTS if name != NAME for pattern in adapter_named(name).passes),
    passes_of=passes_of,
    takes=("model", "effort"),
    look=lambda _sight, _memory: None,
    usage=usage,
)
