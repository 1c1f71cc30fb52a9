"""`pro0 doctor`: what is well, what is not, and how to mend it."""

from collections.abc import Iterator
from pathlib import Path

import click

from pro0.cli.checks import Check, Verdict, machine, settings
from pro0.cli.checks_store import home, teams
from pro0.cli.context import store
from pro0.cli.output import json_option, line, table, write, write_json


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check this machine and the store, and say how to mend what is wrong.

    Exit 1 when a check fails; a warning is none. It changes nothing. --json prints a list of {name, verdict, found,
    mend}, the verdict being ok, warn or fail.

    \b
    Examples:
      pro0 doctor
      pro0 doctor --json | jq '.[] | select(.verdict != "ok")'
    """
    checks = list(_all())
    if as_json:
        write_json(checks)
    else:
        table(("", "CHECK", "FOUND"), [(check.verdict, check.name, check.found) for check in checks])
        for check in checks:
            if check.mend:
                write(f"\n{check.name}: {line(check.found)}\n  mend: {line(check.mend)}")
    context.exit(any(check.verdict is Verdict.FAIL for check in checks))


def _all() -> Iterator[Check]:
    yield from machine()
    yield settings(store().home, Path.cwd())
    yield from home(store())
    yield from teams(store())
