"""The `command` agent: any program, run as it is."""

from pro0.agents.adapter import Adapter, Invocation
from pro0.model.runtime import State

COMMAND = Adapter(
    name="command",
    program="",
    call=lambda brief: Invocation(argv=brief.seat.argv),
    elsewhere=lambda brief: Invocation(argv=brief.seat.argv),
    first_state=State.RUNNING,
    delivery="none",
    no_prompt="a program is run as it is, without a prompt",
    answers_shutdown=False,
)
