"""What is kept in mind between two looks."""

from datetime import UTC, datetime

from pro0.agents.codex.screens import CODEX_SCREENS
from pro0.agents.gemini.screens import GEMINI_SCREENS
from pro0.agents.memory import Memory
from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.model.usage import Usage
from pro0.rules.screens.screens import Drawing


def test_what_is_counted_again_counts_once_and_the_larger_counts() -> None:
    """Of one answer on several lines only the last has all its output (ecosystem 20)."""
    memory = Memory()
    assert memory.total is None
    memory.count("a", Usage(input_tokens=5, output_tokens=1, models=("m",)))
    memory.count("a", Usage(input_tokens=5, output_tokens=9, models=("m",)))
    memory.count("a", Usage(input_tokens=5, output_tokens=3, models=("m",)))
    memory.count("b", Usage(input_tokens=2, output_tokens=2, cost_usd=0.25, models=("n",)))
    assert memory.total == Usage(input_tokens=7, output_tokens=11, cost_usd=0.25, models=("m", "n"))


def test_each_call_is_priced_by_itself_unless_its_agent_tells_its_cost() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    asked = list[tuple[int, datetime]]()

    def price(used: Usage, moment: datetime, _: int) -> float | None:
        asked.append((used.output_tokens, moment))
        return used.output_tokens / 2

    memory = Memory(price)
    memory.count("a", Usage(output_tokens=1), at)
    memory.part("rollout").count("a", Usage(output_tokens=3), at)
    memory.count("a", Usage(output_tokens=5), at)
    memory.count("b", Usage(output_tokens=2, cost_usd=4.0), at)
    assert memory.total == Usage(output_tokens=7, cost_usd=4.0, list_usd=2.5)
    assert memory.part("rollout").total == Usage(output_tokens=3, list_usd=1.5)
    assert asked == [(1, at), (3, at), (5, at)]


def test_a_screen_that_stays_is_read_once_by_one_drawing() -> None:
    """Most agents stand still, and each look of the lead sees them again."""
    drawings = GEMINI_SCREENS, CODEX_SCREENS
    memory, read = Memory(), list[tuple[Drawing, Screen]]()

    def reading(drawing: Drawing, screen: Screen) -> tuple[Reading, ...]:
        read.append((drawing, screen))
        return (Reading(state=State.IDLE, source="screen", rule=screen.title),)

    first, changed = Screen(rows=("a",), title="one"), Screen(rows=("a",), title="two")
    same = Screen(rows=("a",), title="one")
    seen = [memory.drawn(drawing, screen, reading) for drawing in drawings for screen in (first, same, changed)]
    assert [readings[0].rule for readings in seen] == ["one", "one", "two"] * 2
    assert read == [(drawing, screen) for drawing in drawings for screen in (first, changed)]
