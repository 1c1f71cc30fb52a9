"""The ledger: what sessions use is written down, the last of it too."""

from msgspec.structs import replace

from pro0.agents.adapter import Memory, SessionView
from pro0.engine.background.agent_states import WatchedSession
from pro0.engine.background.ledger import Ledger
from pro0.model.runtime import SeatState, State
from pro0.model.usage import Usage
from pro0.ops.context import clock
from tests.engine.crew import Crew
from tests.engine.test_nudging import TOY


class Meter:
    """A session whose transcript says so many tokens."""

    def __init__(self, name: str) -> None:
        self.tokens = 0
        state = SeatState(
            agent_id=name, generation=1, incarnation=f"inc-{name}", state=State.IDLE, since=clock(), started_at=clock()
        )
        session_view = SessionView(session="", agent=None, started_at=clock(), cwd="/", folder="/", environment={})
        self.watched = WatchedSession(replace(TOY, usage=self.used), state, session_view, Memory())

    def used(self, _sight: SessionView, _memory: Memory) -> Usage | None:
        return Usage(output_tokens=self.tokens) if self.tokens else None


def test_a_session_that_has_ended_is_counted_to_its_end(alpha: Crew) -> None:
    """Its last turn is over only when nobody looks at it any more."""
    ledger, first, second = Ledger(alpha.team), Meter("w1"), Meter("w2")

    def counted() -> dict[str, int]:
        return {entry.agent_id: entry.output_tokens for entry in alpha.team.usage.read().sessions}

    first.tokens = second.tokens = 10
    ledger.look([first.watched, second.watched], 0.0)
    assert counted() == {"w1": 10, "w2": 10}
    first.tokens = second.tokens = 25
    ledger.look([second.watched], 0.0)
    assert counted() == {"w1": 25, "w2": 10}, "the one that lives is looked at from time to time"
    first.tokens = 99
    ledger.look([second.watched], 0.0)
    ledger.look([], 0.0)
    assert counted() == {"w1": 25, "w2": 25}
