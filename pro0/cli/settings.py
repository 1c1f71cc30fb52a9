"""`pro0 config`: the settings in force and where each comes from."""

import os
from pathlib import Path

import click

from pro0.cli.context import human_only
from pro0.cli.lazy import HintingGroup
from pro0.cli.output import json_option, line, say, table, write, write_json
from pro0.config import Chosen
from pro0.errors import NotFound
from pro0.ops import project
from pro0.ops import trust as consent
from pro0.rules.spelling import nearest
from pro0.store import paths


@click.group(cls=HintingGroup, invoke_without_command=True)
@json_option
@click.pass_context
def config(context: click.Context, as_json: bool) -> None:
    """Show the settings in force and where each comes from.

    A flag wins over the environment, that over the project's .pro0/config.yaml, that over config.yaml in PRO0_HOME.
    --json prints a list of {name, value, source}.

    \b
    Examples:
      pro0 config
      pro0 config get maxTeammates
    """
    if context.invoked_subcommand is None:
        _show(as_json=as_json)


@config.command("list", hidden=True)
@json_option
def list_settings(as_json: bool) -> None:
    """Show the settings in force and where each comes from: what `pro0 config` does.

    --json prints a list of {name, value, source}.

    \b
    Examples:
      pro0 config list
    """
    _show(as_json=as_json)


def _show(*, as_json: bool) -> None:
    chosen = _chosen()
    if as_json:
        write_json([_row(one) for one in chosen])
        return
    table(("SETTING", "VALUE", "SOURCE"), [(one.name, _text(one.value), one.source) for one in chosen])
    say_withheld(*_place())


@config.command()
@click.argument("name")
@json_option
def get(name: str, as_json: bool) -> None:
    """Print the value of one setting.

    --json prints {name, value, source}.

    \b
    Examples:
      pro0 config get teammateMode
    """
    chosen = _chosen()
    found = next((one for one in chosen if one.name == name), None)
    if found is None:
        near = nearest(name, [one.name for one in chosen])
        hint = f"did you mean {near}?" if near else "pro0 config shows them all"
        raise NotFound(f"there is no setting {name!r}", code="unknown_setting", hint=hint)
    if as_json:
        write_json(_row(found))
    else:
        write(_text(found.value))


@config.command()
@click.option("--show", is_flag=True, help="Only show what it is, and agree to nothing.")
def trust(show: bool) -> None:
    """Agree to what this project's .pro0 asks for, as it is now.

    Whoever may write those files could have commands run as you, or agents do more than you let them. So its hooks,
    agents, layouts, variables for members (passEnvironment), a permissionMode or planApproval that allows more than
    yours, and limits above yours (as maxWorkers), count only after this, and only until they change. What is in
    PRO0_HOME is yours and needs no such word.

    \b
    Examples:
      pro0 config trust --show
      pro0 config trust
    """
    human_only("agree to what a project asks for")
    home, folder = _place()
    powers = (consent.asked if show else consent.agree)(home, folder)
    if not powers:
        say(f"{folder} asks for nothing that you would have to agree to")
    for name, said in powers.items():
        for one in said:
            write(f"{name}: {line(one)}")


def say_withheld(home: Path, folder: Path) -> None:
    """Tell a person what a project's settings ask for in vain."""
    if withheld := consent.withheld(home, folder):
        say(f"of the project's settings {', '.join(withheld)} wait for your yes: pro0 config trust --show")


def _chosen() -> tuple[Chosen, ...]:
    return consent.chosen(*_place(), os.environ)


def _place() -> tuple[Path, Path]:
    return paths.home(os.environ), project.root(Path.cwd().resolve())


def _row(chosen: Chosen) -> dict[str, object]:
    return {"name": chosen.name, "value": chosen.value, "source": chosen.source}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
