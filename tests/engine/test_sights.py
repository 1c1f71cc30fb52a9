"""How often the lead looks at its agents, and what becomes of a look that fails."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.agents.adapter import Memory, SessionView
from pro0.engine.background import agent_states
from pro0.engine.background.agent_states import AgentStates
from pro0.engine.log import Log
from pro0.model.agent import AGENTS
from pro0.model.runtime import Handle, Process, Report, SeatState, State
from pro0.model.screen import Reading, Screen
from pro0.model.team import Seat
from pro0.ops.context import clock
from pro0.rules.lead.turns import LOOK
from tests.engine import test_nudging
from tests.engine.crew import Crew
from tests.engine.test_nudging import TOY, WORKING, Hand, Pane, drawn, pane

__all__ = ["pane"]
BUSY = 0.25
"""Seconds that one look takes on a machine that is busy."""


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1e9

    def monotonic(self) -> float:
        """Return the time."""
        return self.now


def test_a_slow_look_is_no_reason_to_leave_the_next_one_out(
    pane: Pane, alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a question is seen a second later on a busy machine (issue 4, line 5)."""
    hand, clock, looks = Hand(alpha), Clock(), list[float]()

    def look(_handles: Sequence[Handle]) -> dict[str, Screen]:
        looks.append(clock.now)
        clock.now += BUSY
        return {"inc-1": pane.screen}

    monkeypatch.setattr(agent_states, "time", clock)
    monkeypatch.setattr(pane, "look", look)
    for _ in range(3):
        began = clock.now
        hand.look()
        hand.look()
        clock.now = began + LOOK.total_seconds()
    assert len(looks) == 3


def test_an_agent_whose_files_make_its_look_fail_stops_no_other(
    pane: Pane, alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes them itself: it keeps its last state, the log says so once, and the rest of the team is supervised."""
    broken = set[str]()

    def look(session_view: SessionView, _memory: Memory) -> Reading:
        if session_view.session in broken:
            raise TypeError("can't compare these")
        return Reading(state=State.IDLE if broken else State.WORKING, source="transcript", rule="said")

    monkeypatch.setattr(test_nudging, "FRAIL", replace(TOY, screens=None, look=look), raising=False)
    monkeypatch.setitem(AGENTS, "toy", "toy:FRAIL")
    monkeypatch.setattr(agent_states, "PAUSE", 0.0)
    now, me = clock(), Process(pid=1, start="1", boot_id="1")
    names = ("w1", "w2")
    seats = [
        SeatState(
            agent_id=name,
            generation=1,
            incarnation=f"inc-{name}",
            session=name,
            state=State.IDLE,
            since=now,
            started_at=now,
        )
        for name in names
    ]
    reports = {
        f"inc-{name}": Report(agent_id=name, incarnation=f"inc-{name}", guard=me, agent=me, since=now) for name in names
    }
    wanted = replace(
        alpha.team.wanted.read(), seats=tuple(Seat(agent_id=name, name=name, agent="toy") for name in names)
    )
    runtime = replace(alpha.team.runtime.read(), seats=tuple(seats))
    states = AgentStates(alpha.team, pane, Log(alpha.team))

    def seen() -> dict[str, State]:
        return {name: sighting.state for name, sighting in states.look(wanted, runtime, reports).items()}

    assert seen() == {"inc-w1": State.WORKING, "inc-w2": State.WORKING}
    broken.add("w1")
    assert [seen(), seen()] == [{"inc-w1": State.WORKING, "inc-w2": State.IDLE}] * 2
    assert alpha.log().count("TypeError: can't compare these") == 1
    broken.add("w2")
    broken.discard("w1")
    assert seen() == {"inc-w1": State.IDLE, "inc-w2": State.IDLE}


def test_an_idle_screen_counts_once_the_agent_has_begun(
    pane: Pane, alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex shows its prompt and an empty input for a moment before it takes the prompt; its files tell nothing yet."""
    told: list[Reading] = []
    monkeypatch.setattr(test_nudging, "LATER", replace(TOY, look=lambda *_: next(iter(told), None)), raising=False)
    monkeypatch.setitem(AGENTS, "toy", "toy:LATER")
    monkeypatch.setattr(agent_states, "PAUSE", 0.0)
    folder = alpha.team.paths.agent_folder("inc-1")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / first_prompt.FILE).write_text("say hello")

    def seen(hand: Hand, screen: Screen) -> State:
        pane.screen = screen
        return hand.look()["inc-1"].state

    for idle in (drawn(), drawn(last="> say hello")):
        told.clear()
        hand = Hand(alpha, State.STARTING)
        assert seen(hand, idle) is State.STARTING
        assert seen(hand, drawn(foot=WORKING)) is State.WORKING
        assert seen(hand, idle) is State.IDLE, "its first turn is over"
        hand = Hand(alpha, State.STARTING)
        assert seen(hand, idle) is State.STARTING
        told.append(Reading(state=State.IDLE, source="transcript", rule="a turn is over"))
        assert seen(hand, idle) is State.IDLE
