"""`pro0 help`: the text of `--help`, as a command."""

from typing import cast

import click

from pro0.cli.output import write


@click.command("help")
@click.argument("command", nargs=-1)
@click.pass_context
def help_of(context: click.Context, command: tuple[str, ...]) -> None:
    """Show the help of a command.

    \b
    Examples:
      pro0 help
      pro0 help task create
    """
    inner = context.find_root()
    for word in command:
        group = inner.command
        if not isinstance(group, click.Group):
            break
        name, subcommand, _ = group.resolve_command(inner, [word])
        inner = click.Context(cast(click.Command, subcommand), info_name=name, parent=inner)
    write(inner.get_help())
