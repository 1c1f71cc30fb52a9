"""`pro0 demo`."""

import os
import sys

import click

from pro0.cli.context import store
from pro0.cli.interrupts import at_once
from pro0.cli.output import json_option, terminal, write_json
from pro0.config import load, require_enabled
from pro0.errors import BadInput, ErrorCode, Pro0Error

MODES = ("auto", "tmux", "headless")


@click.command()
@click.option(
    "--mode", type=click.Choice(MODES), default="auto", show_default=True, help="Where the members are shown."
)
@click.option("--attach/--no-attach", default=False, help="Show the tmux panes in this terminal while they work.")
@click.option("--keep", is_flag=True, help="Keep the folder of the demo, and say where it is.")
@json_option
def demo(mode: str, attach: bool, keep: bool, as_json: bool) -> None:
    """Watch a whole team at work, from start to cleanup.

    A lead and three members build, test and release a small program in a git repository of their own. One of them is
    killed on the way. Your own home, tmux and repositories are not touched. Exit 0 only if every check passed.

    --mode auto shows the members in tmux, and installs it if that needs no password; otherwise they run headless.

    \b
    Examples:
      pro0 demo
      pro0 demo --mode headless --json
    """
    with at_once():  # perform() changes this while there is something to clear up
        _demonstrate(mode, attach=attach, keep=keep, as_json=as_json)


def _demonstrate(mode: str, *, attach: bool, keep: bool, as_json: bool) -> None:
    from pro0.cli.demo.story import perform
    from pro0.cli.demo.summary import show
    from pro0.cli.demo.view import live_terminal

    if attach and not (terminal() and sys.stderr.isatty()):
        raise BadInput("--attach needs a terminal", hint="pro0 demo --no-attach")
    require_enabled(load(store().home, None, os.environ, {}))
    summary = perform(mode, keep=keep, attach=attach, live=live_terminal())
    if as_json:
        write_json(summary)
    else:
        show(summary)
    if broken := [f"{check.name} ({check.detail})" for check in summary.checks if not check.held]:
        hint = None if keep else "pro0 demo --keep leaves its folder for a look"
        raise Pro0Error(f"checks of the demo failed: {'; '.join(broken)}", code=ErrorCode.DEMO_FAILED, hint=hint)
