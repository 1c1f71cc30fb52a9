"""The built-in shell agent: it runs the `run` command of tasks, without a model."""

import sys

from pro0.agents.adapter import Adapter, Invocation
from pro0.model.runtime import State

ELSEWHERE = ("hosted", "shell")
"""The words of pro0 on another machine that are this agent there."""

SHELL = Adapter(
    name="shell",
    program="",
    call=lambda _brief: Invocation(argv=(sys.executable, "-I", "-m", "pro0.shell_agent")),
    elsewhere=lambda _brief: Invocation(argv=("pro0", *ELSEWHERE)),
    first_state=State.STARTING,
    delivery="watches",
    no_prompt='a shell reads no prompt; what it runs comes with a task: pro0 task create "…" --run COMMAND',
    answers_shutdown=True,
)
