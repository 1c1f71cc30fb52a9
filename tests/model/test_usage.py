"""Sums of usage."""

from msgspec.structs import replace

from pro0.model.usage import Usage

WHOLE = Usage(
    input_tokens=10, output_tokens=10, cache_read_tokens=10, cache_write_tokens=10, cost_usd=1.0, models=("m",)
)
PART = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, cost_usd=0.5)


def test_a_part_taken_off_again_leaves_the_whole() -> None:
    assert WHOLE + PART - PART == WHOLE
    assert Usage() + PART == PART + Usage() == PART


def test_a_cost_is_known_as_soon_as_one_part_has_one() -> None:
    assert (Usage() + Usage() - Usage()).cost_usd is None
    assert (Usage(output_tokens=1) + PART).cost_usd == 0.5
    assert (Usage() - PART).cost_usd is None


def test_a_sum_names_each_model_once() -> None:
    assert (WHOLE + Usage(models=("n", "m"))).models == ("m", "n")


def test_a_list_price_is_known_only_if_each_part_has_one() -> None:
    priced = replace(PART, cost_usd=None, list_usd=0.25)
    assert (Usage() + priced + Usage() + priced).list_usd == 0.5
    assert (Usage() + priced - priced).list_usd == 0
    assert (priced + replace(priced, list_usd=None)).list_usd is None
    assert (replace(priced, list_usd=None) + priced).list_usd is None
    assert (Usage() + Usage()).list_usd is None
