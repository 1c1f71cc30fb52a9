"""The checks of a proof, one function each: it returns when the check holds, and raises NotHeld when it does not."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event

from pro0 import looking, processes
from pro0.cli.prove.model import MARKER
from pro0.cli.prove.pane import NotHeld
from pro0.cli.prove.stage import MEMBER, STARTING, TEAM, ProofStage
from pro0.model.home import ProofCheck
from pro0.model.runtime import ENDED, State
from pro0.scripted_model.turns import say, shell

DRAFT = "please do not sen"
OVER = (State.IDLE, State.ERROR)


def ready(stage: ProofStage) -> None:
    """Check that the agent starts, takes its first prompt, and is then seen as idle."""
    stage.begin()
    stage.until(lambda: stage.model.last or stage.state() in ENDED, "its model got no request", STARTING)
    stage.becomes(State.IDLE)


def idle_mail(stage: ProofStage) -> None:
    """Check that an idle agent reads a letter once."""
    _read(stage, stage.letter())


def working(stage: ProofStage) -> None:
    """Check that a running turn is seen as working."""
    with _at_work(stage):
        stage.becomes(State.WORKING)
    stage.becomes(State.IDLE)


def working_mail(stage: ProofStage) -> None:
    """Check that a letter in the middle of a turn is read once, after the turn."""
    with _at_work(stage):
        text = stage.letter()
        stage.never(lambda: text in stage.model.heard, "its mail came in the middle of a turn")
    _read(stage, text)


def draft(stage: ProofStage) -> None:
    """Check that typed text is found in the input, and seen as a draft."""
    with _typed(stage):
        stage.until(lambda: stage.pane().holds(DRAFT), "what is typed is not found in its input")
        stage.becomes(State.DRAFT)
    stage.becomes(State.IDLE)


def draft_mail(stage: ProofStage) -> None:
    """Check that a letter leaves a draft as it is, and is read once."""
    with _typed(stage):
        stage.until(lambda: stage.pane().shows(DRAFT), "what is typed does not show")
        text = stage.letter()
        if stage.adapter.deliver:
            stage.until(lambda: text in stage.model.heard, "its mail is not read")
        else:
            stage.never(lambda: text in stage.model.heard, "its mail came beside a draft")
        if DRAFT in stage.model.told():
            raise NotHeld("a draft was sent")
        stage.until(lambda: stage.pane().shows(DRAFT), "a draft is gone")
    _read(stage, text)
    if DRAFT in stage.model.told():
        raise NotHeld("a draft was sent")


def permission(stage: ProofStage) -> None:
    """Check that a permission question is seen."""
    with _asking(stage):
        pass
    stage.becomes(*OVER)


def permission_mail(stage: ProofStage) -> None:
    """Check that a letter does not answer an open question, and is read once after the answer."""
    with _asking(stage) as made:
        text = stage.letter()
        stage.never(lambda: looking.exists(made) or text in stage.model.heard, "mail went into an open question")
        stage.becomes(State.WAITING)
    _read(stage, text)
    if looking.exists(made):
        raise NotHeld("a question was answered with yes by mail")


def channel(stage: ProofStage) -> None:
    """Check that all lines about mail went through the agent's own channel, none by typed keys."""
    if (carriers := stage.carriers()) != {stage.adapter.channel}:
        raise NotHeld(
            f"mail went by {' and '.join(sorted(carriers)) or 'nothing'}, not by its {stage.adapter.channel} alone"
        )


def answer(stage: ProofStage) -> None:
    """Check that `pro0 member answer` can allow one permission request, and deny another."""
    for choice in ("allow", "deny"):
        with _asking(stage) as made:
            stage.until(lambda: _request(stage), "its request is not known")
            stage.pro0("member", "answer", _request(stage), choice)
            if choice == "allow":
                stage.until(partial(looking.exists, made), "its request was allowed, but it did not act")
            stage.until(lambda: stage.state() is not State.WAITING, f"it still waits after the answer {choice}")
        stage.becomes(*OVER)
        if choice == "deny" and looking.exists(made):
            raise NotHeld("its request was denied, but it acted")


def usage(stage: ProofStage) -> None:
    """Check that pro0 counts the same tokens as the model."""

    def counted() -> bool:
        rows = json.loads(stage.pro0("team", "cost", "--json"))["members"]
        row = next((row for row in rows if row["agentId"] == MEMBER), None)
        spent = stage.provider.spent(MARKER)
        return row is not None and (row["inputTokens"], row["cacheReadTokens"], row["outputTokens"]) == (
            spent.fresh,
            spent.cached,
            spent.output,
        )

    stage.until(counted, "pro0 counts other tokens than its model reported")


def resume(stage: ProofStage) -> None:
    """Check that a killed agent continues the same conversation after a restart."""
    before, agent = stage.seat(), stage.seat().agent
    if agent is None or not before.session:
        raise NotHeld("its session is not known")
    processes.signal_process(agent, signal.SIGKILL)  # not by its pid alone, which may be reused
    stage.becomes(State.CRASHED, State.EXITED)
    stage.pro0("member", "restart", MEMBER)
    stage.becomes(State.IDLE)
    text = stage.letter()
    stage.until(lambda: text in stage.model.heard, "its mail is not read after the restart")
    if stage.seat().session != before.session or "Letter 1 of this proof." not in stage.model.told():
        raise NotHeld("it has begun a new conversation")


def end(stage: ProofStage) -> None:
    """Check that the agent shuts down when asked, with all processes that it started."""
    stage.pro0("team", "stop", TEAM)
    stage.until(lambda: stage.state() is State.SHUTDOWN, f"it is {stage.state()}, not shutdown")
    stage.until(lambda: not stage.session_processes(), "some of its processes still run")


CHECKS: dict[ProofCheck, Callable[[ProofStage], None]] = {
    ProofCheck.READY: ready,
    ProofCheck.IDLE_MAIL: idle_mail,
    ProofCheck.WORKING: working,
    ProofCheck.WORKING_MAIL: working_mail,
    ProofCheck.DRAFT: draft,
    ProofCheck.DRAFT_MAIL: draft_mail,
    ProofCheck.PERMISSION: permission,
    ProofCheck.PERMISSION_MAIL: permission_mail,
    ProofCheck.CHANNEL: channel,
    ProofCheck.ANSWER: answer,
    ProofCheck.USAGE: usage,
    ProofCheck.RESUME: resume,
    ProofCheck.END: end,
}
"""Each check and its function, in order."""


@contextmanager
def _at_work(stage: ProofStage) -> Iterator[None]:
    """Keep the model busy with a turn until the end of the block."""
    goes_on = Event()
    number = stage.next_number()
    try:
        stage.letter(stage.model.plan(number, say("That was that.", after=goes_on)))
        stage.until(lambda: number in stage.model.taken, "its mail is not read")
        yield
    finally:
        goes_on.set()


@contextmanager
def _typed(stage: ProofStage) -> Iterator[None]:
    """Type a draft into the input, and erase it at the end of the block."""
    stage.becomes(*OVER)
    stage.pane().type(DRAFT)
    try:
        yield
    finally:
        with suppress(NotHeld):
            _erase(stage)


def _erase(stage: ProofStage) -> None:
    def gone() -> bool:
        stage.pane().erase()
        return not stage.pane().shows(DRAFT)

    stage.until(gone, "a draft cannot be erased")


@contextmanager
def _asking(stage: ProofStage) -> Iterator[Path]:
    """Make the agent ask for permission to make a file; yield the file, and refuse at the end of the block."""
    number = stage.next_number()
    made = stage.project / f"asked-{number}"
    stage.letter(stage.model.plan(number, shell(f"touch {made.name}", outside=True)))
    stage.until(lambda: number in stage.model.taken, "its mail is not read")
    try:
        stage.becomes(State.WAITING)
        yield made
    finally:
        with suppress(NotHeld):
            if not looking.exists(made) and stage.state() not in OVER:
                stage.pane().escape()


def _request(stage: ProofStage) -> str:
    needs = json.loads(stage.pro0("needs", "--json"))
    return next((str(need["request"]) for need in needs if need["kind"] == "permission" and need.get("request")), "")


def _read(stage: ProofStage, text: str) -> None:
    stage.until(lambda: text in stage.model.heard, "its mail is not read")
    stage.becomes(*OVER)
    if (times := stage.model.told().count(text)) > 1:
        raise NotHeld(f"its mail was read {times} times")
