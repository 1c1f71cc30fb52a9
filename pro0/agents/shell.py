"""The built-in shell agent, which needs no model: it runs the `run` command of tasks."""

import sys

from pro0.agents.adapter import Adapter, Call
from pro0.model.runtime import State

SHELL = Adapter(
    name="shell",
    program="",
    call=lambda _brief: Call(argv=(sys.executable, "-I", "-m", "pro0.shell_agent")),
    first_state=State.STARTING,
    delivery="watches",
    answers_shutdown=True,
)
