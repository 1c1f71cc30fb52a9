"""`pro0 config`: the settings in force and where each comes from."""

import os
from pathlib import Path

import click

from pro0.cli import completing
from pro0.cli.context import by_terminal, human_only, project_here
from pro0.cli.lazy import HintingGroup
from pro0.cli.output import json_option, line, pairs, say, table, write, write_json
from pro0.config import PROJECT_FILE, USER_FILE, Chosen, setting_named
from pro0.errors import Pro0Error
from pro0.ops import trust as consent
from pro0.ops.team import settings_file
from pro0.store import paths

POWERS = frozenset({"verdicts", "permissionMode", "planApproval"})
"""Settings that decide what agents may do without a person. Changing one of them is a verdict."""
project_option = click.option("--project", "in_project", is_flag=True, help="In the project's .pro0/config.yaml.")


@click.group(cls=HintingGroup, invoke_without_command=True)
@click.option(
    "-l", "--long", "in_full", is_flag=True, help="Also show what each sets, its values, default and variable."
)
@json_option
@click.pass_context
def config(context: click.Context, in_full: bool, as_json: bool) -> None:
    """Show the settings in force and where each comes from.

    A flag has precedence over the environment, the environment over .pro0/config.yaml in the project, and that file
    over config.yaml in PRO0_HOME.

    --json prints a list of {name, value, source}; with --long also about, values, default and variable.

    \b
    Examples:
      pro0 config
      pro0 config --long
      pro0 config get maxTeammates
      pro0 config set maxTeammates 20
    """
    if context.invoked_subcommand is None:
        _show(as_json=as_json, in_full=in_full)


@config.command("list", hidden=True)
@json_option
def list_settings(as_json: bool) -> None:
    """Show the settings in force and where each comes from, like `pro0 config`.

    --json prints a list of {name, value, source}.

    \b
    Examples:
      pro0 config list
    """
    _show(as_json=as_json)


def _show(*, as_json: bool, in_full: bool = False) -> None:
    chosen = _chosen()
    if as_json:
        write_json([_row(setting) | (_explained(setting.name) if in_full else {}) for setting in chosen])
        return
    if in_full:
        for setting in chosen:
            _explain(setting)
    else:
        rows = [(setting.name, _text(setting.value), setting.source) for setting in chosen]
        table(("SETTING", "VALUE", "SOURCE"), rows)
    say_withheld(*_place())


def _explain(setting: Chosen) -> None:
    texts = _explained(setting.name)
    write(f"{setting.name}: {texts['about']}")
    default, variable = _text(texts["default"]) or "nothing", texts["variable"]
    pairs(
        [
            ("  is", f"{_text(setting.value) or 'nothing'} ({setting.source})"),
            ("  may be", str(texts["values"])),
            ("  default", default),
            ("  variable", str(variable)),
        ]
    )


def _explained(name: str) -> dict[str, object]:
    setting = setting_named(name)
    rule = setting.rule
    return {"about": rule.about, "values": rule.allowed, "default": setting.default, "variable": rule.variable}


@config.command()
@click.argument("name", shell_complete=completing.settings)
@json_option
def get(name: str, as_json: bool) -> None:
    """Print the value of one setting.

    --json prints {name, value, source}.

    \b
    Examples:
      pro0 config get teammateMode
    """
    setting = _in_force(name)
    if as_json:
        write_json(_row(setting))
    else:
        write(_text(setting.value))


@config.command("set")
@click.argument("name", shell_complete=completing.settings)
@click.argument("value", shell_complete=completing.setting_values)
@project_option
def put(name: str, value: str, in_project: bool) -> None:
    """Set a value in config.yaml of PRO0_HOME, or with --project in the project's .pro0/config.yaml.

    All other lines of the file and all comments stay as they are. Separate the values of a list with commas.

    \b
    Examples:
      pro0 config set maxTeammates 20
      pro0 config set teammateMode tmux --project
    """
    path = _file(name, in_project=in_project)
    settings_file.put(path, name, value)
    _say_result(path, name)


@config.command()
@click.argument("name", shell_complete=completing.settings)
@project_option
def unset(name: str, in_project: bool) -> None:
    """Remove a setting from config.yaml of PRO0_HOME, or with --project from the project's .pro0/config.yaml.

    \b
    Examples:
      pro0 config unset maxTeammates
    """
    path = _file(name, in_project=in_project)
    settings_file.drop(path, name)
    _say_result(path, name)


@config.command()
@click.option("--show", is_flag=True, help="Only show these settings, and trust nothing.")
def trust(show: bool) -> None:
    """Trust the settings in this project's .pro0 as they are now.

    Whoever can write these files could run commands as you, or let agents do more than you allow. So these settings
    take effect only after this command, and only until they change: commands to run (hooks, layouts, agents, worktree,
    notify, ssh), data to hand out (passEnvironment, store), rights beyond your own settings (permissionMode,
    planApproval, verdicts), and limits above yours (such as maxWorkers). Settings in PRO0_HOME need no trust.

    \b
    Examples:
      pro0 config trust --show
      pro0 config trust
    """
    home, folder = _place()
    human_only("trust the settings of a project")
    if not show:
        by_terminal(home, lambda: folder, "trust the settings of a project")
    powers = (consent.requests_of if show else consent.agree)(home, folder)
    if not powers:
        say(f"{folder} has no settings that need your trust")
    for name, commands in powers.items():
        for command in commands:
            write(f"{name}: {line(command)}")


def say_withheld(home: Path, folder: Path) -> None:
    """Tell a person which settings of the project are not in force until they are trusted."""
    if withheld := consent.withheld(home, folder):
        names = ", ".join(withheld)
        say(f"until you trust them, settings of this project have no effect: {names}: pro0 config trust --show")


def _in_force(name: str) -> Chosen:
    setting_named(name)
    return next(setting for setting in _chosen() if setting.name == name)


def _file(name: str, *, in_project: bool) -> Path:
    human_only("change settings")
    home, folder = _place()
    if name in POWERS:
        by_terminal(home, lambda: folder, f"change {name}")
    return folder / PROJECT_FILE if in_project else home / USER_FILE


def _say_result(path: Path, name: str) -> None:
    """Print the value in force and its source, and say so when another source overrides the changed file."""
    try:
        setting = _in_force(name)
    except Pro0Error as error:  # the file is changed nevertheless
        write(f"{path} is changed: {name}")
        say(f"no setting takes effect yet: {error.message}")
        return
    write(f"{name} is {_text(setting.value) or 'empty'} ({setting.source})")
    if setting.source not in (str(path), "default"):
        say(f"{setting.source} has precedence over {path}")
    say_withheld(*_place())


def _chosen() -> tuple[Chosen, ...]:
    return consent.chosen(*_place(), os.environ)


def _place() -> tuple[Path, Path]:
    return paths.home(os.environ), project_here()


def _row(chosen: Chosen) -> dict[str, object]:
    return {"name": chosen.name, "value": chosen.value, "source": chosen.source}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
