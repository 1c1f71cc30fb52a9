"""What the real programs draw now is read as it was when their screens were recorded (issue 4, line 4)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.agents.drawings import drawing_named
from pro0.model.runtime import State
from pro0.rules.screens import screens
from pro0.rules.screens.states import ATTENTION, combine
from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import hang, say, shell
from tests.real_agents.agents import ASKING, BARE
from tests.real_agents.questions import quoting
from tests.real_agents.states import PATIENCE, PROMPT, Stage
from tests.real_agents.terminal import Terminal
from tests.waiting import wait_until

pytestmark = pytest.mark.agents
ASKERS = [agent for agent in BARE if agent != "pi"]
DRAFT = "please do not send thi"
SIZES = {"claude": (80, 20), "codex": (200, 60), "opencode": (80, 20), "pi": (200, 60), "gemini": (80, 20)}


@pytest.fixture
def stage(agent: str, user: Path, provider: Provider, project: Path, home: Path) -> Iterator[Stage]:
    """An agent that is set up, in a small terminal or a large one."""
    terminal = Terminal(*SIZES[agent])
    yield Stage(agent, provider, project, terminal)
    terminal.close()


def state(stage: Stage) -> State:
    """Return what is read from the agent's title and screen together, nothing remembered."""
    reading = combine(None, screens.read(drawing_named(stage.agent), stage.terminal.look()))
    return reading.state if reading else State.UNKNOWN


def becomes(stage: Stage, wanted: State) -> None:
    """Wait until a state is read; a failure tells what is shown."""
    try:
        wait_until(lambda: state(stage) is wanted, PATIENCE, f"{stage.agent} is read as {wanted}", every=0.1)
    except AssertionError as error:
        error.add_note(f"it is read as {state(stage)}:\n{stage.terminal.screen()}")
        raise


@pytest.mark.parametrize("agent", BARE)
def test_an_agent_is_idle_until_somebody_types(stage: Stage) -> None:
    stage.start(*BARE[stage.agent])
    becomes(stage, State.IDLE)
    stage.terminal.paste(DRAFT)
    becomes(stage, State.DRAFT)
    drawing = drawing_named(stage.agent)  # an agent may draw its screen anew at this moment
    wait_until(lambda: screens.typed(drawing, stage.terminal.look()) == DRAFT, PATIENCE, "all of it is read", every=0.1)


@pytest.mark.parametrize("agent", BARE)
def test_an_agent_works_while_its_model_thinks(stage: Stage) -> None:
    stage.prompt(hang())
    stage.asked()
    becomes(stage, State.WORKING)
    stage.terminal.paste("And another thi")
    becomes(stage, State.DRAFT)


@pytest.mark.parametrize("agent", ASKERS)
def test_a_permission_is_seen_until_it_is_answered(stage: Stage) -> None:
    """Once it is drawn nothing else is read, until the person presses Esc."""
    stage.start(*ASKING[stage.agent], PROMPT, turns=(shell("touch made.txt", outside=True), say("It is made.")))
    becomes(stage, State.WAITING)
    assert all(state(stage) in ATTENTION for _ in range(20))
    (*_, drawn) = screens.read(drawing_named(stage.agent), stage.terminal.look())
    assert "touch" in drawn.note
    stage.terminal.keys("Escape")
    wait_until(lambda: state(stage) not in ATTENTION, PATIENCE, f"the question of {stage.agent} is gone", every=0.1)


@pytest.mark.parametrize("agent", BARE)
def test_what_a_model_quotes_is_not_taken_for_its_agent(stage: Stage) -> None:
    quoting(stage)
    becomes(stage, State.IDLE)
