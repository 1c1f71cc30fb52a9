"""The runner of `pro0 run`: a member running other agents, one turn each, on one task after the other."""

import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0.agents.adapter import Adapter, Brief, Invocation, SessionView
from pro0.agents.memory import Memory
from pro0.agents.transcripts import sure_value
from pro0.agents.variables import ALL
from pro0.decoding import decode, decoder
from pro0.model.run import RUNNER as NAME
from pro0.model.run import RunOptions
from pro0.model.runtime import State
from pro0.model.team import Seat
from pro0.model.usage import Usage

USED = "used.json"
"""The file of its turns' usage so far, in its session's folder."""
_USAGE = decoder(Usage)


def call(brief: Brief) -> Invocation:
    """Return the command of the runner; the seat's argv, one word, holds its orders."""
    return Invocation(argv=(sys.executable, "-I", "-m", "pro0.runner", *brief.seat.argv))


def usage(session_view: SessionView, _memory: Memory) -> Usage | None:
    """Return the turns' usage so far, as the runner reports it."""
    return sure_value(Path(session_view.folder, USED), _USAGE)


def passes_of(seat: Seat) -> tuple[str, ...]:
    """Return the variables of one run's agent, for an agent from the settings."""
    definition = None
    with suppress(IndexError, msgspec.MsgspecError):  # a seat edited by hand: its runner will report it
        definition = decode(seat.argv[0], RunOptions).definition
    return definition.environment if definition else ()


RUNNER = Adapter(
    name=NAME,
    program="",
    call=call,
    first_state=State.STARTING,
    delivery="watches",
    answers_shutdown=True,
    # Each agent it runs gets only its own part of these.
    passes=ALL,
    passes_of=passes_of,
    takes=("model", "effort"),
    look=lambda _sight, _memory: None,
    usage=usage,
)
