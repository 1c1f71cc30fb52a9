"""`pro0 hosted`: the command that pro0 on another machine calls over `ssh`."""

import json
import os
import re
from functools import partial
from pathlib import Path

import click

from pro0.cli.output import say, write
from pro0.errors import BadInput, Pro0Error, TimedOut
from pro0.store import paths
from pro0.store.files import add_links, make_folder

SESSION, CODE = ("serve", "end"), ("receive", "make", "give", "leave")
"""The acts on a session, and the acts on the code of a member."""
_MEMBER = re.compile(r"[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*")


@click.command(hidden=True)
@click.argument("act", type=click.Choice([*SESSION, *CODE]))
@click.argument("whose", metavar="SESSION|TEAM/MEMBER")
@click.option("--patience", type=float, default=20.0, show_default=True, metavar="S", help="Seconds to wait.")
@click.option("--branch", default="", metavar="NAME", help="The member's branch.")
@click.option("--save", is_flag=True, help="Commit what is not committed, before it is given.")
@click.option("--tip", default="", metavar="COMMIT", help="The newest commit that is home.")
def hosted(act: str, whose: str, patience: float, branch: str, save: bool, tip: str) -> None:
    """Run a member for another machine, and keep its code; called by pro0 there.

    `serve` starts or finds the session on this machine, and passes messages over stdin and stdout. `end` ends it, and
    prints how it ended once its whole process tree is gone. `receive` and `give` are this end of a git push and a git
    fetch. `make` makes the member's worktree from the received commits. `leave` removes the worktree once the other
    machine has all its commits.

    \b
    Examples:
      pro0 hosted end 6f1c2a
    """
    home = paths.home(os.environ)
    if act in CODE:
        _code(home, act, whose, branch, f"{whose.partition('/')[2]}: what was not committed" if save else "", tip)
        return
    if act == "serve":
        from pro0.link.far import Far

        Far(home, whose).serve()
        return
    from pro0.link import remote

    over = remote.end(home, whose, patience)
    if over is None:
        raise TimedOut(f"the session {whose} has not ended in {patience:g} s")
    write(json.dumps(over))


def work_there(folder: str) -> int:
    """Run as the shell agent of another machine's team; that machine carries out its pro0 commands."""
    from pro0.link.calling import ask_home
    from pro0.ops import trust
    from pro0.ops.context import AGENT_ID
    from pro0.shell_agent.elsewhere import ShellAgentElsewhere, Typed

    grace = trust.settings(paths.home(os.environ), Path.cwd(), os.environ).end_grace_seconds
    agent = ShellAgentElsewhere(partial(ask_home, folder), os.environ.get(AGENT_ID, ""), Typed(), grace)
    return agent.work()


def make_gemini_home(folder: str) -> int:
    """Make the home of Gemini CLI for a member of another machine's team; return 1 when none is made."""
    from pro0.agents import layers
    from pro0.agents.gemini import home

    own = Path(folder)
    try:
        if home.is_sandboxed(os.environ, "."):
            return 1
        ours = layers.parsed((own / home.OURS).read_bytes(), home.OURS)
        (own / home.SETTINGS).write_bytes(home.settings(os.environ, ours))
        add_links(own, home.links(os.environ))
    except (Pro0Error, OSError) as error:
        say(f"pro0: gemini has no tools of its team: {error}")
        return 1
    return 0


def _code(home: Path, act: str, member: str, branch: str, save: str, tip: str) -> None:
    from pro0.worktrees.travels import Guest

    if not _MEMBER.fullmatch(member):
        raise BadInput(f"{member!r} is no member of a team", hint="TEAM/MEMBER")
    place, tree = paths.guest(home, member)
    make_folder(place.parent)
    guest = Guest(place, tree)
    if act == "receive":
        guest.receive()
    elif act == "give":
        guest.give(branch, save)
    elif act == "make":
        write(json.dumps({"worktree": str(guest.make(branch).path)}))
    else:
        guest.leave(branch, tip)
