"""The words by which an agent's own sources tell its state, and the one rule about unknown words.

A later version of an agent brings new words. An unknown word must not look like silence. Silence and an empty input
would make the member idle, and pro0 would type a line into the unknown state. So each source has a table of its state
words. Any other word makes the member `unknown`, until the source uses a known one. Beside it, `states.py` counts only
work and a wait for a person.

Each source decides its state words. A field that holds the state gives its value. A growing file gives the kind of an
entry, since the last entry tells the state. New kinds of entries within a turn say nothing: the turn's end does.
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
    """The state words of one place in one source, each with its state; None for a word without one."""

    source: str
    place: str
    states: Mapping[str, State | None]

    def meaning(self, word: object) -> State | None:
        """Return a word's state: `unknown` when it is not in the table, or is no word at all."""
        return self.states.get(word, State.UNKNOWN) if isinstance(word, str) else State.UNKNOWN

    def reading(self, word: object, session: str = "") -> Reading:
        """Return the unknown reading for an unknown word."""
        note = " ".join(str(word).split())[:_LETTERS]
        return Reading(state=State.UNKNOWN, source=self.source, rule=RULE, note=note, session=session)

    def state_entry(self, entries: Iterable[Entry], word: Callable[[Entry], str]) -> tuple[Entry, State] | None:
        """Return the entry that tells the state, and its state; None when no entry does."""
        state_entry = None
        for entry in entries:
            state = self.meaning(word(entry))
            in_a_turn = state_entry is not None and state_entry[1] is State.WORKING
            if state and not (state is State.UNKNOWN and in_a_turn):
                state_entry = (entry, state)
        return state_entry
