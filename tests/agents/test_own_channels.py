"""What the agents' own channels tell is the whole state: without a screen as with one, and without them as before."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.agents.acp.adapter import ACP
from pro0.agents.adapter import Adapter, SessionView
from pro0.agents.bridge import reports
from pro0.agents.codex import server as codex_server
from pro0.agents.memory import Memory
from pro0.agents.opencode import server as opencode_server
from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import screens
from pro0.rules.screens.states import combine
from tests.agents import codex_program, placed
from tests.agents.placed import recording
from tests.agents.test_opencode import ASKED, BUSY, Answers, answers
from tests.agents.test_states import rollout, session_file
from tests.recorded import recordings
from tests.waiting import STUCK

__all__ = ["answers"]

WORKING, IDLE, WAITING, ERROR = State.WORKING, State.IDLE, State.WAITING, State.ERROR
TOLD = (WORKING, IDLE, WAITING)
AGENTS = ("claude", "codex", "opencode", "pi", "acp")
Tell = Callable[[State], SessionView]
"""Lets an agent's own channel tell a state, and returns the session that is looked at."""


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tell(
    agent: str, tmp_path: Path, short_folder: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Tell]:
    monkeypatch.setattr(codex_server, "LOOK", STUCK)
    monkeypatch.setattr(opencode_server, "PATIENCE", STUCK)
    serving: list[codex_program.Server] = []

    def claude(state: State) -> SessionView:
        words = {WORKING: ("busy", None), IDLE: ("idle", None), WAITING: ("waiting", "permission prompt")}
        status, waiting_for = words[state]
        return placed.claude(tmp_path, b"", session_file(status=status, waitingFor=waiting_for))

    def codex(state: State) -> SessionView:
        events = ["task_started", *(["task_complete"] if state is IDLE else [])]
        view = replace(placed.codex(tmp_path, rollout(*events)), session="main")
        path = short_folder / f"{os.urandom(4).hex()}.sock"
        if not serving:
            serving.append(codex_program.Server())
            ending.enter_context(serving[0].serving(str(path)))
            named = codex_server.CodexServer(socket=str(path), argv=(), client=())
            Path(view.folder, "server.json").write_bytes(msgspec.json.encode(named))
        serving[0].asks, serving[0].works = state is WAITING, state is WORKING
        return replace(view, session=placed.CODEX)

    def opencode(state: State) -> SessionView:
        view = placed.opencode(tmp_path, recording("opencode.sql")) if not Path(tmp_path, "session").exists() else None
        view = view or placed.session_view(tmp_path, placed.OPENCODE)
        # The recorded session's last turn failed, so it is looked at as one that was resumed since.
        placed.written(tmp_path / "session/server.json", msgspec.json.encode(answers.server))
        answers.status = BUSY if state is not IDLE else {}
        answers.permission = ASKED if state is WAITING else []
        return replace(view, started_at=view.started_at.replace(year=2030))

    def bridge(state: State) -> SessionView:
        view = placed.session_view(tmp_path, "")
        Path(view.folder, reports.STATE).write_text(json.dumps({"state": str(state), "turns": 1}))
        return view

    with ExitStack() as ending:
        yield {"claude": claude, "codex": codex, "opencode": opencode, "pi": bridge, "acp": bridge}[agent]


def adapter_of(agent: str) -> Adapter:
    return ACP if agent == "acp" else adapter_named(agent)


def own(agent: str, view: SessionView) -> tuple[Reading, ...]:
    adapter = adapter_of(agent)
    assert adapter.look
    reading = adapter.look(view, Memory())
    return (reading,) if reading else ()


def drawn(agent: str, screen: Screen) -> tuple[Reading, ...]:
    drawing = adapter_of(agent).screens
    return screens.read(drawing, screen)


def shown(agent: str, state: State) -> list[Screen]:
    """Return the recorded screens of an agent in a state; pi asks for its person in a menu, as for anything else."""
    drawn_as = State.DIALOG if (agent, state) == ("pi", WAITING) else state
    found = [recorded.screen for recorded in recordings() if (recorded.agent, recorded.state) == (agent, drawn_as)]
    assert found, f"no screen of {agent} is recorded that is {state}"
    return found


def state_of(*readings: Reading) -> State | None:
    combined = combine(None, readings)
    return combined.state if combined else None


@pytest.mark.parametrize("state", TOLD)
def test_without_a_screen_the_state_is_the_same(agent: str, state: State, tell: Tell) -> None:
    """Issue 17, must show 3: the screen reader switched off."""
    words = own(agent, tell(state))
    assert state_of(*words) is state
    for screen in shown(agent, state):
        assert state_of(*words, *drawn(agent, screen)) is state


@pytest.mark.parametrize("state", TOLD)
def test_a_screen_that_is_not_read_any_more_changes_nothing(agent: str, state: State, tell: Tell) -> None:
    """A new version draws otherwise: what nobody knows overwrites nothing."""
    nothing = Screen(rows=("what no rule knows", "~~~"))
    assert state_of(*own(agent, tell(state)), *drawn(agent, nothing)) is state


@pytest.mark.parametrize("state", TOLD)
def test_with_its_channel_cut_the_screen_tells_as_before(agent: str, state: State, tmp_path: Path) -> None:
    """Issue 17, must show 3: nothing is left of what the channel would say."""
    view = placed.session_view(tmp_path, "")
    for screen in shown(agent, state):
        alone = state_of(*drawn(agent, screen))
        assert state_of(*own(agent, view), *drawn(agent, screen)) is alone
        assert alone in (state, ERROR, State.DRAFT, State.DIALOG), "never more harmless than it is"


@pytest.mark.parametrize("state", [WORKING, WAITING])
def test_an_idle_screen_does_not_outvote_the_channel(agent: str, state: State, tell: Tell) -> None:
    """A line typed there would answer for the person, or be lost in a turn."""
    words = own(agent, tell(state))
    for screen in shown(agent, IDLE):
        told = state_of(*words, *(reading for reading in drawn(agent, screen) if reading.source == "screen"))
        assert told in (state, State.DRAFT)
