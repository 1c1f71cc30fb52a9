"""`pro0 uninstall`: what pro0 put on this machine, and its end."""

import click

from pro0.cli.context import by_terminal, human_only, project_here, store
from pro0.cli.output import json_option, pairs, say, talk, terminal, write, write_json
from pro0.engine.uninstall import Trace, TraceFate, by_fate, traces
from pro0.engine.uninstall import uninstall as take_away
from pro0.engine.uninstall.removing import prepare
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode

HEADS = {
    TraceFate.REMOVED: "pro0 uninstall removes:",
    TraceFate.KEPT: "stays, since it holds work or is not pro0's:",
    TraceFate.YOURS: "stays, and is yours to remove:",
}


@click.command()
@click.option("--show", "only_show", is_flag=True, help="List what there is, and change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Remove without asking.")
@json_option
def uninstall(only_show: bool, yes: bool, as_json: bool) -> None:
    """Remove all that pro0 put on this machine, except work.

    It removes its home with teams, archives, settings and worktrees, the skill in the folders of agents and projects,
    the completion files, and leftovers of killed commands. It prints the list first, then asks; --show only prints the
    list. Entries in the settings of other programs, and the program itself, are listed with the command to remove each.

    It is a verdict: without a terminal it is refused, exit 4, even with --yes, unless you let scripts give verdicts. It
    is also refused, exit 4, while a team runs, while a session for another machine runs, for a team that machines
    share, and when more would be removed than the list says. A worktree with uncommitted files or unmerged commits
    stays and is named, exit 7. Nothing is committed, and no unmerged branch is removed.

    --show --json prints a list of {kind, name, fate, note, command}; fate is removed, kept or yours.

    \b
    Examples:
      pro0 uninstall --show
      pro0 uninstall
    """
    human_only("uninstall pro0")
    if as_json and not only_show:
        raise BadInput("--json goes with --show", hint="pro0 uninstall --show --json")
    home, project = store(), project_here()
    if not only_show:
        prepare(home)
    found_traces = traces(home, project)
    if as_json:
        write_json(found_traces)
        return
    if not only_show and by_fate(found_traces).get(TraceFate.REMOVED):
        by_terminal(home.home, lambda: project, "uninstall pro0")
    _print(found_traces)
    if only_show or not _agreed(yes=yes):
        return
    for trace in take_away(home, project, found_traces, talk()):
        if trace.command:
            say(f"{trace.kind} {trace.name}: {trace.command}")
    write("pro0 is removed, except the program itself")


def _agreed(*, yes: bool) -> bool:
    if yes:
        return True
    if not terminal():
        hint = "--yes removes it without asking"
        raise EnvironmentMissing("asking first needs a terminal", code=ErrorCode.NO_TERMINAL, hint=hint)
    if click.confirm("remove it for good?", err=True):
        return True
    say("nothing is removed")
    return False


def _print(all_traces: list[Trace]) -> None:
    for fate, group in by_fate(all_traces).items():
        if group:
            write(HEADS[fate])
            pairs(
                (f"  {trace.kind}", "\n".join(filter(None, (trace.name, trace.note, trace.command)))) for trace in group
            )
