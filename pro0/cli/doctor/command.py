"""`pro0 doctor`: the result of each check, and how to mend it. With --repair it mends all that loses no data."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pro0 import looking
from pro0.cli import completing
from pro0.cli.context import caller, given, project_here, store, team_names
from pro0.cli.doctor import home as checks_home
from pro0.cli.doctor import team as checks_team
from pro0.cli.doctor.checks import Check, Health, machine, settings
from pro0.cli.output import json_option, line, live, table, write, write_json
from pro0.errors import BadInput, ErrorCode, NotFound, Refused
from pro0.ops import trust
from pro0.store.paths import TeamPaths

if TYPE_CHECKING:
    from pro0.cli.doctor.repairs import Done
    from pro0.store.teams import Store

QUICK = 1.0
"""Seconds before the current check is shown as progress."""
_STOP = "stop the team, or end only its lead (TERM to that pid; the members go on), then repair again"


@click.command()
@json_option
@click.option(
    "-t",
    "--team",
    metavar="NAME",
    shell_complete=team_names,
    help="Check only this team, besides the machine and the home.",
)
@click.option(
    "--host",
    type=given,
    shell_complete=completing.hosts,
    metavar="HOST",
    help="Check over ssh whether another machine could run members of your teams.",
)
@click.option(
    "--repair", is_flag=True, help="Repair what can be repaired without losing anything, and say what was done."
)
@click.option("--yes", is_flag=True, help="With --repair: end left-over processes without asking.")
@click.pass_context
def doctor(
    context: click.Context, team: str | None, host: str | None, *, as_json: bool, repair: bool, yes: bool
) -> None:
    """Check this machine and the store, and say how to fix what is wrong.

    Exit 1 when a check fails; a warning is no failure. Without --repair nothing is changed.

    With --repair, unreadable files are moved aside (NAME.corrupt-TIME, never deleted) and rebuilt from their readable
    parts and from other files. Claims of dead sessions are released. Half-done creations and removals are completed.
    Leftover processes of stopped or removed teams are ended, after asking. A file that only the lead writes is not
    repaired while the lead is alive, exit 4. A file of a newer pro0 is never touched.

    With --host only another machine is checked. `ssh HOST` must reach it without asking anything, and it needs pro0 in
    the same version.

    --json prints {checks: [{name, state, what, mend, team}], repaired: [what was done]}; a state is ok, warn or fail.

    \b
    Examples:
      pro0 doctor
      pro0 doctor --repair -t alpha
      pro0 doctor --host build1
      pro0 doctor --json | jq '.checks[] | select(.state != "ok")'
    """
    if host and (team or repair):
        raise BadInput(
            "--host goes with neither --team nor --repair", hint=f"repair it there: ssh {host} pro0 doctor --repair"
        )
    _raise_unless_known(team)
    done = _mended(team, yes=yes) if repair else None
    with live() as show:
        checks = list(_of_host(host, _patient(show)) if host else _all(team, _patient(show)))
    repaired = done.repaired if done else []
    if as_json:
        write_json({"checks": [_as_data(check) for check in checks], "repaired": repaired})
    else:
        _write(checks, repaired)
    if done and done.refused:
        raise Refused("; ".join(done.refused), code=ErrorCode.LEAD_ALIVE, hint=_STOP)
    context.exit(int(any(check.verdict is Health.FAIL for check in checks)))


def _raise_unless_known(team: str | None) -> None:
    """Raise BadInput for an impossible team name, NotFound for a team that does not exist."""
    if team is not None and not looking.exists(TeamPaths(store().home, team).team):
        raise NotFound(f"there is no team {team}", hint="list them: pro0 team list")


def _all(team: str | None, look: Callable[[str], None]) -> Iterator[Check]:
    home_store = store()
    for part in (machine(), settings(home_store.home, Path.cwd()), checks_home.home(home_store, team)):
        for check in part:
            look(check.name)
            yield check
    yield from checks_home.told("teams", _of_teams(home_store, team, look))


def _of_teams(home_store: "Store", team: str | None, look: Callable[[str], None]) -> Iterator[Check]:
    for name in home_store.names():
        if team in (None, name):
            look(f"team {name}")
            yield from checks_team.by_name(home_store, name)


def _of_host(name: str, look: Callable[[str], None]) -> Iterator[Check]:
    from pro0.cli.doctor.host import host

    look(name)
    yield from host(name, trust.settings(store().home, project_here(), os.environ).ssh)


def _mended(team: str | None, *, yes: bool) -> "Done":
    from pro0.cli.doctor.repairs import mend

    return mend(store(), caller()[0], team, yes=yes)


def _patient(show: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that shows the current check, but only once the doctor takes long."""
    began = time.monotonic()

    def look(text: str) -> None:
        if time.monotonic() - began > QUICK:
            show(f"looking at {text}")

    return look


def _as_data(check: Check) -> dict[str, str]:
    row = {"name": check.name, "state": str(check.verdict), "what": check.found, "mend": check.mend}
    return row | {"team": check.team} if check.team else row


def _write(checks: list[Check], repaired: list[str]) -> None:
    for text in repaired:
        write(f"repaired: {line(text)}")
    if repaired:
        write()
    table(("", "CHECK", "FOUND"), [(check.verdict, check.name, check.found) for check in checks])
    for check in checks:
        if check.mend:
            write(f"\n{check.name}: {line(check.found)}\n  fix: {line(check.mend)}")
    write("\nWhat pro0 promises, and how that is tested: pro0 man reliability")
    sys.stdout.flush()
