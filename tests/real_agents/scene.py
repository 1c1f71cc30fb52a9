"""A member in its pane, its scripted model, and its person, as the moments of mail need them."""

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from pro0.agents.drawings import drawing_named
from pro0.rules.screens.screens import typed
from pro0.scripted_model.request import ModelRequest, Utterance
from pro0.scripted_model.turns import ModelTurn, say, use
from tests.real_agents.scripts import MAIL
from tests.real_agents.team import AGAIN, RealTeam
from tests.real_agents.terminal import Client, Pane

GO_ON = "Please go on."
STEP = re.compile(r"take step (\d+)\.")


class Steps:
    """A scripted model that takes the steps its person names, and reads its mail when it is told of any."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.heard = ""
        """All that the tools answered."""
        self.last: ModelRequest | None = None
        self._turns: dict[int, ModelTurn] = {}
        self._named: set[int] = set()

    def plan(self, number: int, turn: ModelTurn) -> None:
        """Let this be the turn when that step is named; an error again and again, anything else once."""
        self._turns[number] = turn

    def forget(self, number: int) -> None:
        """Take no such turn any more."""
        self._turns.pop(number, None)

    def told(self) -> str:
        """Return all that was said to the model, as it was told last."""
        return _said(self.last.entries) if self.last else ""

    def __call__(self, request: ModelRequest) -> ModelTurn:
        """Return the next turn."""
        self.last = request
        self.heard += "\n".join(request.results())
        # Of all that was said: what comes while OpenCode asks its model stands before the answer, and was not asked.
        self._named |= {int(number) for number in STEP.findall(_said(request.entries))}
        if MAIL.search(_said(request.news)):
            return use("check_messages")
        for number in sorted(self._named & self._turns.keys()):
            turn = self._turns[number]
            if turn.status == 200:
                self.forget(number)
            self.taken.add(number)
            return turn
        return say("Nothing is left to do.")


@dataclass
class Scene:
    """One member in its pane, its model, and what its person has done so far."""

    agent: str
    team: RealTeam
    pane: Pane
    hands: Client
    model: Steps
    random: Random
    number: int = 0
    """Which moment this is."""
    allowed: set[str] = field(default_factory=set)
    """The files that the person has allowed to be made."""
    sent: set[str] = field(default_factory=set)
    """The drafts that the person has sent."""
    kept: set[str] = field(default_factory=set)
    """The drafts that the person has not sent."""
    unseen: list[float] = field(default_factory=list)
    """For how many seconds each question stood on the screen until the status told of it."""
    refused_at: float | None = None
    """When the person refused the permission of this moment, if they did."""
    late: list[float] = field(default_factory=list)
    """For how many seconds after that mail lay unread, the rest of the turn among them."""

    def until(self, condition: Callable[[], object], what: str, every: float = 0.1) -> None:
        """Wait for something to become true in this moment."""
        self.team.eventually(condition, f"moment {self.number}: {what}", every=every)

    def state(self) -> str:
        """Return the state that the lead has recorded."""
        runtime = json.loads((self.team.home / "teams" / self.team.name / "runtime.json").read_bytes())
        return str(runtime["seats"][0]["state"])

    def holds(self, text: str) -> bool:
        """Tell whether a text stands in the input, wrapped anywhere."""
        shown = typed(drawing_named(self.agent), self.pane.look()) or ""
        return _bare(text) in _bare(shown)

    def enter(self, text: str, done: Callable[[], bool]) -> None:
        """Type a text and send it, as a person who looks whether it went."""
        self.type(text)
        self.press_enter(text, done)

    def type(self, text: str) -> None:
        """Type a text; a screen on which it does not come up is drawn anew: Claude Code garbles its own at times."""
        self.hands.type(text)
        since = time.monotonic()

        def stands() -> bool:
            nonlocal since
            if time.monotonic() - since > AGAIN:
                self.pane.redraw()
                since = time.monotonic()
            return self.holds(text)

        self.until(stands, f"{text} stands in the input")

    def press_enter(self, text: str, done: Callable[[], bool]) -> None:
        """Send what stands in the input."""
        pressed = 0.0

        def went() -> bool:
            nonlocal pressed
            if done() or time.monotonic() - pressed < AGAIN:
                return done()
            told = self.model.told()
            if self.holds(text):
                self.hands.press("Enter")
                pressed = time.monotonic()
            elif pressed and text[:-1] in told and text not in told:  # Gemini CLI at times leaves the last letter
                self.hands.type(text)
                pressed = time.monotonic()
            elif self.agent == "opencode" and pressed and text not in told and self.state() == "idle":
                # OpenCode keeps a prompt that comes while a turn ends, and answers it with the next one.
                self.hands.type(GO_ON)
                self.hands.press("Enter")
                pressed = time.monotonic()
            return done()

        self.until(went, f"{text} was sent")

    def step(self, turn: ModelTurn) -> None:
        """Tell the agent to take a step, and wait until its model was asked."""
        number = self.number
        self.model.plan(number, turn)
        self.enter(self.named(), lambda: number in self.model.taken)

    def named(self) -> str:
        """Return what the person says of the step of this moment."""
        return f"Please take step {self.number}."

    def erase(self, text: str) -> None:
        """Take a text out of the input, and what else stands there."""

        def gone() -> bool:
            if self.holds(text):
                self.hands.press(*["BSpace"] * 100)
            return not self.holds(text)

        self.until(gone, f"{text} is erased")


def _said(entries: Iterable[Utterance]) -> str:
    """Return all that the model has not said itself: Claude Code passes on as the system what is typed meanwhile."""
    return "\n".join(entry.text for entry in entries if entry.who != "assistant")


def _bare(text: str) -> str:
    return "".join(text.split())
