"""Groups of commands that are imported only when they are called."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import cast

import click

from pro0.cli.interrupts import at_once
from pro0.cli.synonyms import command_for
from pro0.errors import BadInput, ErrorCode
from pro0.rules.spelling import nearest

Rows = Mapping[str, tuple[str, str]]
"""Name → ("module:attribute", the line in the help)."""


def helped(command: click.Command) -> click.Command:
    """Give a command both -h and --help, even when called on its own, and plain words for the limits of numbers.

    click would keep only the first help option, and show such a number as INTEGER RANGE with 1<=x<=9.
    """
    command.context_settings.setdefault("help_option_names", ["-h", "--help"])
    for option in command.params:
        if isinstance(option.type, click.IntRange | click.FloatRange):
            option.metavar = option.metavar or "N"
            option.type._describe_range = partial(_limits, option.type)  # type: ignore[method-assign]
    return command


def _limits(allowed: click.IntRange | click.FloatRange) -> str:
    return f"{allowed.min:.15g} " + ("and above" if allowed.max is None else f"to {allowed.max:.15g}")


class HintingGroup(click.Group):
    """A group that answers an unknown command with the name of the nearest one."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        command = super().get_command(ctx, cmd_name)
        return command and helped(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command named by the first word; raises BadInput, with the likely command, for an unknown word."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            likely = " or ".join(f"{ctx.command_path} {command}" for command in self.likely(ctx, name))
            hint = f"did you mean {likely}?" if likely else f"{ctx.command_path} --help"
            raise BadInput(f"there is no command {ctx.command_path} {name}", code=ErrorCode.USAGE, hint=hint)
        return super().resolve_command(ctx, args)

    def likely(self, ctx: click.Context, name: str) -> list[str]:
        """Return the commands that a word may mean: by a synonym, else by the nearest name."""
        commands = self.list_commands(ctx)
        guess = command_for(name, commands) or nearest(name, commands)
        return [guess] if guess else []

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the complete first sentence of each command, like the table of a `LazyGroup`."""
        shown = sorted((name, command) for name, command in self.commands.items() if not command.hidden)
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(limit=1000).removesuffix(".")) for name, one in shown])


class LazyGroup(HintingGroup):
    """A group made of a table; its help comes from the table alone."""

    def __init__(
        self,
        name: str,
        rows: Rows,
        about: str,
        *,
        aliases: Mapping[str, str] | None = None,
        hidden: frozenset[str] = frozenset(),
        groups: Mapping[str, tuple[str, ...]] | None = None,
        more: str | None = None,
    ) -> None:
        super().__init__(name, help=about, epilog=more, no_args_is_help=False, invoke_without_command=False)
        self.rows = rows
        self.aliases = aliases or {}
        self._hidden = hidden
        self._groups = groups

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; without any argument, show the help on stderr, exit 2."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names that the help shows."""
        return [name for name in self.rows if name not in self._hidden]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Import and return a command, by its name or alias."""
        row = self.rows.get(self.aliases.get(cmd_name, cmd_name))
        if row is None:
            return None
        module, _, attribute = row[0].partition(":")
        with at_once():
            return helped(cast(click.Command, getattr(import_module(module), attribute)))

    def likely(self, ctx: click.Context, name: str) -> list[str]:
        """Return matching commands of subgroups, by name or synonym, else the nearest command of this group."""
        groups = [(path, self.get_command(ctx, path)) for path in self.list_commands(ctx)]
        below = [
            f"{path} {inner}" for path, group in groups if isinstance(group, LazyGroup) and (inner := group.named(name))
        ]
        if exact := [path for path in below if path.endswith(f" {name}")]:
            return exact
        near = command_for(name, self.rows) or nearest(name, [*self.list_commands(ctx), *self.aliases])
        return below or [near] * bool(near)

    def named(self, name: str) -> str:
        """Return the command of this group that a word names, directly or as a synonym."""
        return name if name in self.rows else command_for(name, self.rows)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help from the table, without importing the commands."""
        for title, names in (self._groups or {"Commands": tuple(self.list_commands(ctx))}).items():
            with formatter.section(title):
                formatter.write_dl([(name, self.rows[name][1]) for name in names])
