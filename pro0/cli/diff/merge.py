"""`pro0 member merge`."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import line, say, write
from pro0.errors import ErrorCode, Pro0Error, Refused
from pro0.ops.work import diffs


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=completing.members)
@team_option
def merge(names: tuple[str, ...], team: str | None) -> None:
    """Merge what members have committed into the project's checkout, one after the other.

    The commits come from the members' worktrees. Each merge is predicted first: a member whose merge would conflict is
    named and not merged, exit 4, like one in the middle of a rebase or bisection. Nothing is merged while the checkout
    has uncommitted changes, exit 4. A member stays in its worktree, on its branch. Its uncommitted changes are not
    merged, and a message says so.

    \b
    Examples:
      pro0 member merge w1
    """
    context = here(team)
    failed: list[Pro0Error] = []
    for name in names:
        try:
            work, commit = diffs.merge(context, name)
        except Pro0Error as error:
            failed.append(error)
            if len(names) > 1:
                say(f"{name}: {error.message}")
            continue
        write(f"{work.name} is merged as {commit[:12]}")
        difference = diffs.measured(context, work.name)
        if difference and difference.unreadable:
            say(f"what {work.name} has not committed is unknown: {line(difference.unreadable)}")
        elif difference and difference.uncommitted:
            single = difference.uncommitted == 1
            files = f"1 file of {work.name} is" if single else f"{difference.uncommitted} files of {work.name} are"
            say(f"{files} not committed, and not merged: pro0 diff {work.name}")
    if len(failed) > 1:
        raise Refused(
            f"{len(failed)} members are not merged", code=ErrorCode.CONFLICT, hint="pro0 member merge NAME says why"
        )
    if failed:
        raise failed[0]
