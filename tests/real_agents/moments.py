"""The moments at which mail comes to a real agent, as its person and its model bring them about."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Thread, Timer

from pro0.agents.drawings import drawing_named
from pro0.rules.screens.screens import typed
from pro0.scripted_model.request import ModelRequest, Utterance
from pro0.scripted_model.turns import ModelTurn, fail, say, shell, use
from tests.real_agents.scripts import MAIL
from tests.real_agents.team import RealTeam
from tests.real_agents.terminal import Client, Pane

STEP = re.compile(r"take step (\d+)\.")
QUESTION = {
    "claude": "Do you want to proceed?",
    "codex": "Would you like to run",
    "opencode": "Permission required",
    "pi": "Allow bash?",
    "gemini": "Allow execution",
}
"""What an agent asks when it may not run a command by itself."""
SLOWLY = 0.3
"""Seconds between two letters of a person who thinks."""
AGAIN = 5
"""Seconds after which a person does something when nothing came of what they did."""


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
        told = _said(request.news)
        self._named |= {int(number) for number in STEP.findall(told)}
        if MAIL.search(told):
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
            if not done() and time.monotonic() - pressed > AGAIN and self.holds(text):
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


@contextmanager
def idle(scene: Scene) -> Iterator[None]:
    """Nothing goes on."""
    yield


@contextmanager
def working(scene: Scene) -> Iterator[None]:
    """The model thinks."""
    answers = Event()
    scene.step(say("That was that.", after=answers))
    yield
    answers.set()


@contextmanager
def permission(scene: Scene) -> Iterator[None]:
    """The agent asks whether it may run a command; nobody answers but the person, with yes or with Esc."""
    name = f"allowed-{scene.number}"
    made = scene.team.project / name
    scene.step(shell(f"touch {name}", outside=True))
    scene.until(lambda: asks(scene, name), "it asks", every=0.02)
    since = time.monotonic()
    scene.until(lambda: scene.state() == "waiting", "the status says that it waits", every=0.02)
    scene.unseen.append(time.monotonic() - since)
    yield
    _answer(scene, made)


@contextmanager
def opening(scene: Scene) -> Iterator[None]:
    """The agent is about to ask whether it may run a command: its model has just said so, or says so now."""
    name, says = f"allowed-{scene.number}", Event()
    scene.step(shell(f"touch {name}", outside=True, after=says))
    Timer(scene.random.uniform(0, 1), says.set).start()
    yield
    scene.until(lambda: asks(scene, name), "it asks")
    _answer(scene, scene.team.project / name)


@contextmanager
def shrunk(scene: Scene) -> Iterator[None]:
    """The agent asks whether it may run a command, and its terminal is made smaller."""
    name = f"allowed-{scene.number}"
    scene.step(shell(f"touch {name}", outside=True))
    scene.until(lambda: asks(scene, name), "it asks")
    with scene.pane.smaller():
        yield
    _answer(scene, scene.team.project / name)


def _answer(scene: Scene, made: Path) -> None:
    """Let the person give the permission that is asked for, or refuse it."""
    assert not made.exists()
    scene.until(lambda: asks(scene, made.name), "it still asks")
    yes = scene.random.random() < 0.5
    if yes:
        scene.allowed.add(made.name)
    scene.hands.press("Enter" if yes else "Escape")
    scene.refused_at = None if yes else time.monotonic()
    scene.until(lambda: scene.state() != "waiting", "the question is answered")
    if yes:
        scene.until(made.exists, "the command has run")
    else:
        scene.until(lambda: scene.state() not in ("waiting", "working"), "the refused turn is over")


def asks(scene: Scene, name: str) -> bool:
    """Tell whether the question about a command is on the screen; Codex shows the command itself a second earlier."""
    screen = scene.pane.screen()
    return QUESTION[scene.agent] in screen and name in screen


@contextmanager
def draft(scene: Scene) -> Iterator[None]:
    """The person has typed something, which afterwards they send, or erase."""
    text = _draft_of(scene)
    scene.type(text)
    yield
    _end_draft(scene, text)


@contextmanager
def typing(scene: Scene) -> Iterator[None]:
    """The person types slowly, on and on."""
    text = _draft_of(scene)
    slowly = Thread(target=scene.hands.type, args=(text, SLOWLY))
    slowly.start()
    yield
    slowly.join()
    _end_draft(scene, text)


def _draft_of(scene: Scene) -> str:
    return f"Draft {scene.number}: pleas"


def _end_draft(scene: Scene, text: str) -> None:
    """Let the person send what they have typed, or erase it."""
    assert text not in scene.model.told()
    scene.until(lambda: scene.holds(text), "the draft still stands there")
    if scene.random.random() < 0.5:
        scene.sent.add(text)
        scene.press_enter(text, lambda: text in scene.model.told())
    else:
        scene.kept.add(text)
        scene.erase(text)


@contextmanager
def copy_mode(scene: Scene) -> Iterator[None]:
    """The person looks back in what the pane has shown."""
    scene.pane.copy_mode()
    yield
    with suppress(RuntimeError):  # pro0 may have left it before
        scene.pane.copy_mode(leave=True)


@contextmanager
def interrupted(scene: Scene) -> Iterator[None]:
    """The person has stopped a turn; some agents put their prompt back into the input, and the person erases it."""
    answers = Event()
    scene.step(say("Too late.", after=answers))
    time.sleep(scene.random.uniform(0, 0.5))
    scene.hands.press(*["Escape"] * (2 if scene.agent == "opencode" else 1))
    yield
    answers.set()
    scene.erase(scene.named())


@contextmanager
def failed(scene: Scene) -> Iterator[None]:
    """The API has answered with an error; Claude Code puts the prompt back into the input at times."""
    scene.step(fail(400))
    yield
    scene.model.forget(scene.number)
    scene.erase(scene.named())


MOMENTS: dict[str, Callable[[Scene], AbstractContextManager[None]]] = {
    "idle": idle,
    "working": working,
    "permission": permission,
    "opening": opening,
    "shrunk": shrunk,
    "draft": draft,
    "typing": typing,
    "copy-mode": copy_mode,
    "interrupted": interrupted,
    "failed": failed,
}
DEAF = frozenset({"working", "permission", "shrunk"})
"""The moments in which no mail can be read. A draft does not keep a turn that goes on from reading it."""


def files_made(folder: Path) -> set[str]:
    """Return the files that commands have made for which the agent had to ask."""
    return {path.name for path in folder.glob("allowed-*")}
