"""What is kept in mind between two looks."""

from pro0.agents.memory import Memory
from pro0.model.usage import Usage


def test_what_is_counted_again_counts_once_and_the_larger_counts() -> None:
    """Of one answer on several lines only the last has all its output (ecosystem 20)."""
    memory = Memory()
    assert memory.total is None
    memory.count("a", Usage(input_tokens=5, output_tokens=1, models=("m",)))
    memory.count("a", Usage(input_tokens=5, output_tokens=9, models=("m",)))
    memory.count("a", Usage(input_tokens=5, output_tokens=3, models=("m",)))
    memory.count("b", Usage(input_tokens=2, output_tokens=2, cost_usd=0.25, models=("n",)))
    assert memory.total == Usage(input_tokens=7, output_tokens=11, cost_usd=0.25, models=("m", "n"))
