"""The prompts of a conversation that wait for the end of a turn."""

from collections import deque
from collections.abc import Callable
from typing import Literal

from pro0.rules.screens.nudges import tells_the_same
from pro0.rules.words import prompts

Sender = Literal["person", "mail"]
WAITING = 64
"""Prompts that wait, at most."""


class WaitingPrompts:
    """Takes prompts in and gives them out, the oldest first; `unread` knows the agent's mail."""

    def __init__(self, unread: Callable[[], bool]) -> None:
        self._unread = unread
        self._prompts: deque[tuple[Sender, str]] = deque()

    def add(self, sender: Sender, text: str) -> str:
        """Add a prompt; return the prompt dropped for lack of room, empty for none.

        Each turn costs, so the same line of mail waits only once, and a fixed line replaces an older one with the
        same news. A person's prompts are dropped only when no mail waits.
        """
        if sender == "mail":
            for place, waiting in enumerate(self._prompts):
                if waiting[0] == "mail" and _tells_the_same(text, waiting[1]):
                    self._prompts[place] = (sender, text)
                    return ""
        self._prompts.append((sender, text))
        if len(self._prompts) <= WAITING:
            return ""
        place = next((place for place, waiting in enumerate(self._prompts) if waiting[0] == "mail"), 0)
        _, dropped = self._prompts[place]
        del self._prompts[place]
        return dropped

    def add_first(self, text: str) -> None:
        """Add a prompt before all others."""
        self._prompts.appendleft(("mail", text))

    def drop_late(self) -> bool:
        """Drop the next prompt if its mail has been read since; return True if it was dropped."""
        if not self._prompts or self._prompts[0][0] != "mail":
            return False
        if not prompts.is_unread_line(self._prompts[0][1]) or self._unread():
            return False
        self._prompts.popleft()
        return True

    def take(self) -> tuple[Sender, str] | None:
        """Return the next prompt, None for none."""
        return self._prompts.popleft() if self._prompts else None


def _tells_the_same(text: str, waiting: str) -> bool:
    both_fixed = prompts.is_fixed_line(text) and prompts.is_fixed_line(waiting)
    return text == waiting or (both_fixed and tells_the_same(text, waiting))
