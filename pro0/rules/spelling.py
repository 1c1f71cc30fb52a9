"""Which word was probably meant."""

from collections.abc import Iterable

ALIKE = 0.5
"""How alike, from 0 to 1, two words are of which one may be meant by the other."""
LONGEST = 80
"""Letters that are looked at: what is longer is no misspelt name."""


def nearest(word: str, known: Iterable[str], alike: float = ALIKE) -> str:
    """Return the known word that was probably meant, "" for none."""
    import difflib  # only for an error: it takes longer to import than most commands

    return next(iter(difflib.get_close_matches(word[:LONGEST], list(known), cutoff=alike)), "")
