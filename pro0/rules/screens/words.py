"""The words by which an agent's own sources tell its state, and the one rule about those that nobody knows.

A later version of an agent brings new words. What is unknown must not look like nothing said: then an empty input would
make its member idle, and a line would be typed into whatever the word means. So each source has a table of its state
words. A word that is not in there makes the member `unknown`, until the source uses one that is; `states.py` lets
nothing but work and what waits for a person count beside it.

What is a state word is decided per source: the value of a field that holds the state; in a file that grows, the kind of
an entry, since what stands last tells the state. New kinds of entries in the midst of a turn say nothing: its end does.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from pro0.model.runtime import State
from pro0.model.screen import Reading

Entry = TypeVar("Entry")
RULE = "a word that is not known"
_LETTERS = 60


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """The state words of one place in one source: what each means, None for one that says nothing of the state."""

    source: str
    place: str
    known: Mapping[str, State | None]

    def meaning(self, word: object) -> State | None:
        """Return what a word means: `unknown` when it is not in the table, or no word at all."""
        return self.known.get(word, State.UNKNOWN) if isinstance(word, str) else State.UNKNOWN

    def reading(self, word: object, session: str = "") -> Reading:
        """Return the reading that nobody knows a word."""
        note = " ".join(str(word).split())[:_LETTERS]
        return Reading(state=State.UNKNOWN, source=self.source, rule=RULE, note=note, session=session)

    def last(self, entries: Iterable[Entry], word: Callable[[Entry], str]) -> tuple[Entry, State] | None:
        """Return the entry that tells the state, and what it means; None when none does."""
        found = None
        for entry in entries:
            state = self.meaning(word(entry))
            in_a_turn = found is not None and found[1] is State.WORKING
            if state and not (state is State.UNKNOWN and in_a_turn):
                found = (entry, state)
        return found
