"""The steps of `pro0 doctor --repair`: the home, every team, then the processes that teams left running."""

import os
from collections.abc import Callable

import click
import msgspec

from pro0 import config, looking
from pro0.cli.context import by_terminal, project_here
from pro0.cli.output import say, terminal
from pro0.errors import Pro0Error
from pro0.model.caller import Caller
from pro0.ops.context import Context
from pro0.ops.repair import repair, repair_home
from pro0.ops.work import checkouts
from pro0.store import health
from pro0.store.teams import Store


class Done(msgspec.Struct):
    """The repairs done, and those refused because a lead is alive, as sentences."""

    repaired: list[str] = []
    refused: list[str] = []


def mend(store: Store, caller: Caller, team: str | None, *, yes: bool) -> Done:
    """Repair all teams or one, as far as possible; a failed repair is reported and does not stop the others."""
    repair_home.permit(caller)
    done = Done()
    if not looking.is_folder(store.home):
        return done
    if team is None:
        _trying(lambda: repair_home.tidy(store, done.repaired.append))
    for name in store.names():
        if team in (None, name):
            _trying(lambda: _team(store, caller, name, done))  # noqa: B023 - called at once
    _trying(lambda: _processes(store, team, done, yes=yes))
    if team is None:
        _trying(lambda: repair_home.remove_sockets(store, done.repaired.append))
        _trying(lambda: checkouts.clear_left_over(store, done.repaired.append))
    return done


def _team(store: Store, caller: Caller, name: str, done: Done) -> None:
    outcome = repair.repair(Context(store.team(name), caller, vouch=by_terminal), str(project_here()))
    done.repaired += outcome.done
    repair_home.sweep_temporary(done.repaired.append, *health.folders(store.home, name))
    done.refused += outcome.refused


def _processes(store: Store, team: str | None, done: Done, *, yes: bool) -> None:
    teams = repair_home.left_over(store, team)
    count = sum(map(len, teams.values()))
    if not count:
        return
    question = (
        f"end {count} processes of {', '.join(teams)}, which {'is' if len(teams) == 1 else 'are'} stopped or gone?"
    )
    if yes or (terminal() and click.confirm(question, err=True)):
        grace = config.load(store.home, None, os.environ, {}).end_grace_seconds
        repair_home.end_left_over(store, teams, grace, done.repaired.append)


def _trying(step: Callable[[], None]) -> None:
    try:
        step()
    except (Pro0Error, OSError) as error:
        say(f"cannot repair: {error.message if isinstance(error, Pro0Error) else error}")
