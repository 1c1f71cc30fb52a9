"""Which word was probably meant."""

import pytest

from pro0.rules.spelling import nearest

KNOWN = ("team", "task", "member", "maxTeammates")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("taks", "task"),
        ("tex", "team"),
        ("maxTeamates", "maxTeammates"),
        ("members", "member"),
        ("zzz", ""),
        ("", ""),
        ("m" * 500, ""),
    ],
)
def test_the_nearest_word_or_none(word: str, meant: str) -> None:
    assert nearest(word, KNOWN) == meant
