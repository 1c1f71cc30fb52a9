"""The moments at which mail comes to a real agent, as its person and its model bring them about."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread, Timer

from pro0.scripted_model.turns import fail, say, shell
from tests.real_agents.scene import Scene
from tests.real_agents.team import AGAIN

QUESTION = {
    "claude": "Do you want to proceed?",
    "codex": "Would you like to run",
    "opencode": "Permission required",
    "pi": "Allow bash?",
    "gemini": "Allow execution",
}
"""What an agent asks when it may not run a command by itself."""
BELOW = {"gemini": "Type your message"}
"""What an agent draws below a question that is over; rows of before a change of size stay above it."""
SLOWLY = 0.3
"""Seconds between two letters of a person who thinks."""


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
    pressed = _press_until_it_goes(scene, "Enter" if yes else "Escape", made.name)
    scene.refused_at = None if yes else pressed
    if yes:
        scene.until(made.exists, "the command has run")
    else:
        scene.until(lambda: scene.state() not in ("waiting", "working"), "the refused turn is over")


def _press_until_it_goes(scene: Scene, key: str, name: str) -> float:
    """Answer a question as a person who looks: Claude Code takes no key while it has only just drawn one.

    A screen that is only just drawn anew may lack it for a moment. Return when the key was pressed last.
    """
    pressed = 0.0

    def gone() -> bool:
        nonlocal pressed
        if asks(scene, name) and time.monotonic() - pressed > AGAIN:
            pressed = time.monotonic()
            scene.hands.press(key)
        return not asks(scene, name) and scene.state() != "waiting"

    scene.until(gone, "the question is answered")
    return pressed


def asks(scene: Scene, name: str) -> bool:
    """Tell whether the question about a command is on the screen; Codex shows the command itself a second earlier."""
    screen = scene.pane.screen()
    before, question, after = screen.rpartition(QUESTION[scene.agent])
    is_over = scene.agent in BELOW and BELOW[scene.agent] in after
    return bool(question) and name in before + after and not is_over


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
