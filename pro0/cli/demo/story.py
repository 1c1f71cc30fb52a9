"""One performance of the demo, from making its folder to removing it."""

import os
from collections.abc import Sequence

from pro0.cli.demo import machine, plan
from pro0.cli.demo.acts import ACTS
from pro0.cli.demo.scratch import Scratch, inside
from pro0.cli.demo.stage import Performance
from pro0.cli.demo.summary import Summary, summarize
from pro0.cli.demo.view import DemoView
from pro0.cli.interrupts import interruptible, is_interrupt
from pro0.errors import Pro0Error
from pro0.model.task import Draft


def perform(
    mode: str = "auto",
    *,
    keep: bool = False,
    attach: bool = False,
    live: bool = False,
    tasks: Sequence[Draft] = plan.TASKS,
) -> Summary:
    """Play the demo and return its summary; whatever happens, nothing of it runs afterwards.

    Raises EnvironmentMissing without git, or without tmux when that was requested. Raises KeyboardInterrupt when it is
    interrupted.
    """
    view = DemoView(live=live)
    with interruptible() as interruption:
        machine.require_git()
        chosen, reason = machine.choose_mode(mode, view.say)
        scratch = Scratch()
        stage = Performance(
            scratch, view, chosen, reason, tasks, interruption, attach=attach, inside_tmux=bool(os.environ.get("TMUX"))
        )
        try:
            view.open(str(scratch.folder))  # before the folder exists, so that any leftover has a known name
            with inside(scratch):
                scratch.make()
                _play(stage)
        except (KeyboardInterrupt, Exception) as error:
            if not is_interrupt(error):
                raise
            view.hide()
            view.say("interrupted: ending and removing everything", "bad")
            raise KeyboardInterrupt from None
        finally:
            interruption.clearing_up = True  # no call in between, where a signal could be handled
            _clear_up(stage, keep=keep)
    interruption.check()
    return summarize(stage, str(scratch.folder) if keep else None)


def _play(stage: Performance) -> None:
    """Play act after act, until the end or the first failure."""
    for act in ACTS:
        stage.interruption.check()
        stage.view.act(act.title, act.command)
        try:
            act.play(stage)
        except Pro0Error as error:
            hint = f" ({error.hint})" if error.hint else ""
            stage.facts.broken = f"it broke off at “{act.title}”: {error.message}{hint}"
            return


def _clear_up(stage: Performance, *, keep: bool) -> None:
    """End what still runs, and remove the folder."""
    stage.view.hide()
    stage.view.release()
    if stubborn := stage.scratch.end():
        stage.view.say(f"cannot end {', '.join(str(process.pid) for process in stubborn)}", "bad")
    if keep:
        stage.view.say(f"kept: {stage.scratch.folder}")
    else:
        stage.scratch.remove()
