"""The home, the project, the team and the caller of a command."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from pro0.cli.output import REMINDERS, VEIL, line, say
from pro0.errors import BadInput, ErrorCode, NotFound, Refused
from pro0.model.caller import Caller, Who
from pro0.ops.context import TEAM, Context, caller_of
from pro0.ops.team import project
from pro0.store import paths
from pro0.store.teams import Store, TeamStore

if TYPE_CHECKING:
    from pro0.engine.opening.early import EarlyLead

P = ParamSpec("P")
R = TypeVar("R")


def team_names(_context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    """Return the teams that a shell offers."""
    return [name for name in store().names() if name.startswith(start)]


team_option = click.option(
    "-t",
    "--team",
    "team",
    metavar="NAME",
    help=f"The team; else {TEAM}, else the team of this project.",
    shell_complete=team_names,
)

no_wait_option = click.option("--no-wait", is_flag=True, help="Return at once, without waiting for the result.")


def given(text: str) -> str:
    """Return an option's text; raises BadParameter for an empty one, which may come from an unset variable."""
    if not text.strip():
        raise click.BadParameter("it is empty")
    return text


def named_team(function: Callable[..., R]) -> Callable[..., R]:
    """Let a command about a whole team take the team's name as an argument too."""

    @team_option
    @click.argument("name", required=False, metavar="[NAME]", shell_complete=team_names)
    @wraps(function)
    def either(*args: object, name: str | None, team: str | None, **kwargs: object) -> R:
        if name is not None and team is not None and name != team:
            raise BadInput(f"which team, {name!r} or {team!r}?", hint="give its name once")
        return function(*args, team=team if name is None else name, **kwargs)

    return either


def store() -> Store:
    """Return the store of this home."""
    return Store(paths.home(os.environ))


def project_here() -> Path:
    """Return the project of this directory."""
    return project.root(Path.cwd().resolve())


def caller() -> tuple[Caller, str | None]:
    """Return the caller, and the team of a member."""
    return caller_of(os.environ, paths.home(os.environ))


def team_name(team: str | None) -> str:
    """Return the name of the chosen team, even of one that does not exist."""
    store().check()
    asking, own_team = caller()
    return _chosen_team(team, asking, own_team)


def here(team: str | None) -> Context:
    """Return the context of a command: the caller and the chosen team, which exists."""
    store().check()
    asking, own_team = caller()
    context = Context(store().team(_chosen_team(team, asking, own_team)).require(), asking, vouch=by_terminal)
    veiled(context)
    if root := click.get_current_context(silent=True):
        root.find_root().meta[REMINDERS] = lambda: _reminders(context, f" -t {team}" if team else "")
    return context


def veiled(context: Context) -> None:
    """Hide the ids of others' sessions in all output of this command, if its caller is no person."""
    if (root := click.get_current_context(silent=True)) and context.caller.who is not Who.HUMAN:
        from pro0.ops.withheld import veil

        root.find_root().meta[VEIL] = veil(context)


def acting(team: str | None) -> Context:
    """Return the context of a command for the lead to carry out; raises Refused at once when the lead is stopped."""
    from pro0.engine.opening.launch import awake

    context = here(team)
    awake(context.team)
    return context


def need_lead(
    team: TeamStore, show: Callable[[str], None] = lambda _text: None, early: "EarlyLead | None" = None
) -> None:
    """Return once a lead is at work, and print news such as another version of it; raises EnvironmentMissing.

    `show` shows progress; its line is cleared before anything is printed. An `early` lead is used if there is no other.
    """
    from pro0.engine.opening.launch import ensure_lead

    if news := ensure_lead(team, early.go) if early else ensure_lead(team):
        show("")
        say(f"pro0: {news}")


def human_only(act: str) -> None:
    """Refuse an act to anybody but a person; for acts outside the operations of a team."""
    asking, _ = caller()
    if asking.who is not Who.HUMAN:
        raise Refused(f"{asking.agent_id} may not {act}: only a person may", code=ErrorCode.NOT_ALLOWED)


def by_terminal(home: Path, project: Callable[[], Path], act: str) -> None:
    """Refuse a verdict unless a person gives it on a terminal, with the PIN if one is set (behaviour 5.3, 5.4)."""
    from pro0.ops import verdicts

    verdicts.on_terminal(home, project, act)


def _reminders(context: Context, option: str) -> list[str]:
    """Return the reminder for a person after a command: the most urgent need (behaviour 3.8)."""
    if context.caller.who is not Who.HUMAN or not context.team.exists():
        return []
    from pro0.ops.team import needs

    open_needs = needs.list_needs(context)
    if not open_needs:
        return []
    others = f", and {len(open_needs) - 1} more" if open_needs[1:] else ""
    return [f"{line(open_needs[0].sentence).removesuffix('.')}{others}: pro0 needs{option}"]


def quiet() -> None:
    """Let this command end without reminders, since it shows the needs itself."""
    click.get_current_context().find_root().meta.pop(REMINDERS, None)


def _chosen_team(team: str | None, asking: Caller, own_team: str | None) -> str:
    if asking.who is not Who.HUMAN and own_team:
        if team not in (None, own_team):
            text = f"{asking.agent_id} belongs to the team {own_team}, not to {team}"
            raise Refused(text, code=ErrorCode.NOT_MEMBER, hint="leave the name of the team out")
        return own_team
    if chosen := team if team is not None else os.environ.get(TEAM):
        return chosen
    if team == "":
        return team
    return _bound()


def _bound() -> str:
    names = project.bound(store(), Path.cwd().resolve())
    if len(names) > 1:
        raise project.several(names)
    if not names:
        teams = ", ".join(store().names())
        choices = f", or choose one with -t: {teams}" if teams else ""
        hint = f"start one: pro0 team start NAME -m w1=shell{choices}"
        raise NotFound("no team belongs to this directory", code=ErrorCode.NO_TEAM, hint=hint)
    return names[0]
