"""What is kept in mind between two looks."""

from pro0.agents.memory import Memory, exchanged
from pro0.model.screen import Usage


def test_what_is_counted_again_counts_once_and_the_larger_counts() -> None:
    """Of one answer on several lines only the last has all its output (ecosystem 20)."""
    memory = Memory()
    assert memory.total is None
    memory.count("a", Usage(input_tokens=5, output_tokens=1, models=("m",)))
    memory.count("a", Usage(input_tokens=5, output_tokens=9, models=("m",)))
    memory.count("a", Usage(input_tokens=5, output_tokens=3, models=("m",)))
    memory.count("b", Usage(input_tokens=2, output_tokens=2, cost_usd=0.25, models=("n",)))
    assert memory.total == Usage(input_tokens=7, output_tokens=11, cost_usd=0.25, models=("m", "n"))


def test_one_part_of_a_sum_is_replaced() -> None:
    whole = Usage(input_tokens=10, output_tokens=10, cache_read_tokens=10, cache_write_tokens=10, cost_usd=1.0)
    part = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, cost_usd=0.5)
    assert exchanged(whole, part, part) == whole
    assert exchanged(Usage(), part, Usage()) == part
    assert exchanged(Usage(), Usage(), Usage()).cost_usd is None
