"""`pro0 config`: the settings in force and where each comes from."""

import os
from pathlib import Path

import click

from pro0.cli.context import human_only
from pro0.cli.output import json_option, line, say, table, write, write_json
from pro0.config import Chosen, explain
from pro0.errors import NotFound
from pro0.ops import hooks, project
from pro0.store import paths


@click.group(invoke_without_command=True)
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
    if context.invoked_subcommand is not None:
        return
    chosen = _chosen()
    if as_json:
        write_json([_row(one) for one in chosen])
    else:
        table(("SETTING", "VALUE", "SOURCE"), [(one.name, _text(one.value), one.source) for one in chosen])


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
        hint = f"there are {', '.join(one.name for one in chosen)}"
        raise NotFound(f"there is no setting {name!r}", code="unknown_setting", hint=hint)
    if as_json:
        write_json(_row(found))
    else:
        write(_text(found.value))


@config.command()
def trust() -> None:
    """Let the hooks of this project's .pro0/config.yaml run, as they are now.

    Anybody who may write that file could run commands as you, so its hooks run only after this, and only until they
    change. Yours, in config.yaml in PRO0_HOME, need no such word.

    \b
    Examples:
      pro0 config trust
    """
    human_only("agree to hooks")
    folder = project.root(Path.cwd().resolve())
    agreed = hooks.agree(paths.home(os.environ), folder)
    if not agreed:
        say(f"{folder} has no hooks")
    for event, commands in agreed.items():
        for command in commands:
            write(f"{event}: {line(command)}")


def _chosen() -> tuple[Chosen, ...]:
    return explain(paths.home(os.environ), project.root(Path.cwd().resolve()), os.environ, {})


def _row(chosen: Chosen) -> dict[str, object]:
    return {"name": chosen.name, "value": chosen.value, "source": chosen.source}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
