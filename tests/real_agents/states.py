"""How a real agent, by hand in a terminal, is brought into each state that its screen can show."""

import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import ModelTurn, fail, hang, in_turn, say, shell
from tests.real_agents.agents import ASKING, BARE, BY_HAND
from tests.real_agents.terminal import Terminal
from tests.waiting import wait_until

PATIENCE = 300
"""Seconds that an agent gets to start and to answer, on a machine that is busy with other things."""
PROMPT = "Please look after the file made.txt."
LINES = "".join(f"line {number}: it's `quoted` and $HOME\n" for number in range(1, 201))


@dataclass(frozen=True)
class Stage:
    """An agent that is set up but not started, its terminal, and the provider."""

    agent: str
    provider: Provider
    project: Path
    terminal: Terminal

    def start(self, *words: str, turns: tuple[ModelTurn, ...] = ()) -> None:
        """Start the agent with words of its own, and let its model take these turns."""
        self.provider.script(PROMPT, in_turn(*turns))
        self.terminal.run(shlex.join(words), self.project)

    def prompt(self, *turns: ModelTurn) -> None:
        """Start the agent with the prompt and no need to ask, and let its model take these turns."""
        self.start(*BY_HAND[self.agent].interactive, PROMPT, turns=turns)

    def asked(self) -> None:
        """Wait until the model was asked."""
        wait_until(lambda: self.provider.of(PROMPT), PATIENCE, "the model was asked")

    def shows(self, text: str) -> None:
        """Wait until the screen holds a text."""
        wait_until(lambda: text in self.terminal.screen(), PATIENCE, f"the screen holds {text}", every=0.1)

    def settle(self, seconds: float = 1.5, at_most: float = 30) -> None:
        """Wait until the screen stays as it is for a while; one that never does is left to move."""
        deadline, since, last = time.monotonic() + at_most, time.monotonic(), ""
        while (now := time.monotonic()) < deadline and (now - since < seconds or not last.strip()):
            if (screen := self.terminal.screen()) != last:
                since, last = now, screen
            time.sleep(0.1)


def idle(stage: Stage) -> None:
    """Started, nothing said yet."""
    stage.start(*BARE[stage.agent])
    stage.settle(3)


def idle_after_turn(stage: Stage) -> None:
    """After a whole turn."""
    stage.prompt(say("All is well."))
    stage.shows("All is well.")
    stage.settle()


def idle_after_tool(stage: Stage) -> None:
    """After a whole turn with a command in it."""
    stage.prompt(shell("echo made > made.txt; cat made.txt"), say("All is well."))
    stage.shows("All is well.")
    stage.settle()


def working(stage: Stage) -> None:
    """The model thinks."""
    stage.prompt(hang())
    stage.asked()
    stage.settle(at_most=4)


def working_tool(stage: Stage) -> None:
    """A command runs."""
    stage.prompt(shell("touch begun; sleep 300"))
    wait_until((stage.project / "begun").exists, PATIENCE, "the command runs")
    stage.settle(at_most=4)


def working_queued(stage: Stage) -> None:
    """The model thinks, and a message was typed and sent meanwhile."""
    working(stage)
    stage.terminal.paste("And another thing.")
    stage.settle(0.5)
    stage.terminal.keys("Enter")
    stage.settle(at_most=4)


def working_draft(stage: Stage) -> None:
    """The model thinks, and somebody types."""
    working(stage)
    stage.terminal.paste("And another thi")
    stage.settle(at_most=4)


def permission(stage: Stage) -> None:
    """The agent asks whether it may run a command."""
    stage.start(*ASKING[stage.agent], PROMPT, turns=(shell("touch made.txt", outside=True), say("It is made.")))
    stage.asked()
    stage.settle(3)


def after_denial(stage: Stage) -> None:
    """The agent asked whether it may run a command, and Esc was pressed."""
    permission(stage)
    stage.terminal.keys("Escape")
    stage.settle(3)


def draft(stage: Stage) -> None:
    """Somebody typed and did not send."""
    idle(stage)
    stage.terminal.paste("please do not send thi")
    stage.settle()


def draft_pasted(stage: Stage) -> None:
    """Somebody pasted many lines and did not send."""
    idle(stage)
    stage.terminal.paste(LINES)
    stage.settle(3)


def interrupted(stage: Stage) -> None:
    """The model thought, and Esc was pressed: twice for opencode, which asks for that."""
    working(stage)
    stage.terminal.keys("Escape")
    if stage.agent == "opencode":
        stage.terminal.keys("Escape")
    stage.settle(3)


def retrying(status: int) -> Callable[[Stage], None]:
    """The provider answers with an error, again and again."""

    def state(stage: Stage) -> None:
        stage.prompt(*[fail(status, 30 if status == 429 else None)] * 99)
        stage.asked()
        stage.settle(at_most=4)

    return state


def error(status: int) -> Callable[[Stage], None]:
    """The provider answered with errors until the agent gave up, if it does."""

    def state(stage: Stage) -> None:
        retrying(status)(stage)
        stage.settle(15, at_most=120)

    return state


def trust(stage: Stage) -> None:
    """The agent asks whether it may trust the folder."""
    elsewhere = stage.project.with_name("elsewhere")
    elsewhere.mkdir()
    subprocess.run(["git", "init", "--quiet", str(elsewhere)], check=True)
    words = [word for word in BARE[stage.agent] if word != "--skip-trust"]
    stage.terminal.run(shlex.join(["env", "-u", "GEMINI_CLI_TRUST_WORKSPACE", *words]), elsewhere)
    stage.settle(3)


STATES: dict[str, Callable[[Stage], None]] = {
    "idle": idle,
    "idle-after-turn": idle_after_turn,
    "idle-after-tool": idle_after_tool,
    "working": working,
    "working-tool": working_tool,
    "working-queued": working_queued,
    "working-draft": working_draft,
    "permission": permission,
    "after-denial": after_denial,
    "draft": draft,
    "draft-pasted": draft_pasted,
    "interrupted": interrupted,
    "trust": trust,
    **{f"retrying-{status}": retrying(status) for status in (401, 429, 500, 529)},
    **{f"error-{status}": error(status) for status in (400, 401, 429, 500, 529)},
}
