"""Which word was probably meant."""

from collections.abc import Iterable

LONGEST = 80
"""Letters that are looked at: what is longer is no misspelt name."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that was probably meant, "" for none."""
    import difflib  # only for an error: it takes longer to import than most commands

    return next(iter(difflib.get_close_matches(word[:LONGEST], list(known), cutoff=0.5)), "")
