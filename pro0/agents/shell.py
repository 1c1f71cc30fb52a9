"""The built-in shell agent: it runs the `run` command of tasks, without a model."""

import sys

from pro0.agents.adapter import Adapter, Invocation
from pro0.model.runtime import State

SHELL = Adapter(
    name="shell",
    program="",
    call=lambda _brief: Invocation(argv=(sys.executable, "-I", "-m", "pro0.shell_agent")),
    first_state=State.STARTING,
    delivery="watches",
    answers_shutdown=True,
)
