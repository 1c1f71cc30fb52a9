"""Find the probable word behind a misspelt one."""

from collections.abc import Iterable

ALIKE = 0.5
"""The least likeness, from 0 to 1, of a misspelt word to the right one."""
LONGEST = 80
"""The most letters compared. A longer word is no misspelt name."""


def nearest(word: str, words: Iterable[str], alike: float = ALIKE) -> str:
    """Return the known word nearest to a word, or "" for none."""
    import difflib  # only for an error: it takes longer to import than most commands

    return next(iter(difflib.get_close_matches(word[:LONGEST], list(words), cutoff=alike)), "")
