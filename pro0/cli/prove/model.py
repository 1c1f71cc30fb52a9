"""The scripted model of a proof: it reads its mail, takes the steps named in letters, and shuts down when asked."""

import re
from collections.abc import Iterable

from pro0.scripted_model.request import ModelRequest, Utterance
from pro0.scripted_model.turns import ModelTurn, say, use

MARKER = "You are w1, a teammate"
"""The beginning of the only member's first prompt."""
_STEP = re.compile(r"take step (\d+)\.")
_MAIL = re.compile(r"You have \d+ unread message")
_ASKED_TO_LEAVE = "Please shut down"


class ProofModel:
    """A model that takes each planned step once, as soon as a letter has named it."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.heard = ""
        """All answers of its tools."""
        self.last: ModelRequest | None = None
        self._turns: dict[int, ModelTurn] = {}
        self._named: set[int] = set()

    def plan(self, number: int, turn: ModelTurn) -> str:
        """Plan the turn to return for a step; return the text that asks the model for this step."""
        self._turns[number] = turn
        return f"Please take step {number}."

    def told(self) -> str:
        """Return all texts in the model's last conversation, except its own."""
        return _said(self.last.entries) if self.last else ""

    def __call__(self, request: ModelRequest) -> ModelTurn:
        """Return the next turn."""
        self.last = request
        results = "\n".join(request.results())
        self.heard += results
        news = _said(request.news)
        self._named |= {int(number) for number in _STEP.findall(news)}
        if _ASKED_TO_LEAVE in results:
            return use("approve_shutdown")
        if _MAIL.search(news):
            return use("check_messages")
        for number in sorted(self._named & self._turns.keys()):
            self.taken.add(number)
            return self._turns.pop(number)
        return say("Nothing is left to do.")


def _said(entries: Iterable[Utterance]) -> str:
    return "\n".join(entry.text for entry in entries if entry.who != "assistant")
