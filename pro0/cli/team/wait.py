"""`pro0 team wait`."""

import time

import click

from pro0.cli.context import here, named_team
from pro0.cli.output import json_option, line, live, write, write_json
from pro0.cli.team import needs
from pro0.cli.team.look import counted
from pro0.errors import BadInput, ErrorCode, Pro0Error, Refused, TimedOut
from pro0.ops.context import Context
from pro0.ops.team.progress import Progress, WorkState, progress

LOOK = 0.2
"""Seconds between two looks."""


@click.command()
@named_team
@click.option("--timeout", type=float, metavar="S", help="Give up after this many seconds, with exit 124.")
@json_option
def wait(team: str | None, timeout: float | None, as_json: bool) -> None:
    """Wait until a team can do no more work.

    Exit 0 when every task is completed or cancelled, 1 when a task failed or is blocked by a failed one, 4 when the
    remaining tasks wait for a human or for a member, 124 after --timeout. --json prints moving, outcome, counts, left
    and needs.

    \b
    Examples:
      pro0 team wait
      pro0 team wait alpha --timeout 600 || pro0 task list --status failed
    """
    if timeout is not None and not timeout >= 0:
        raise BadInput(f"cannot wait {timeout:g} seconds", hint="0 or more")
    context = here(team)
    result = _until_it_stands(context, timeout)
    if as_json:
        write_json(result)
    else:
        _print(result, f" -t {context.team.name}" if team else "")
    _conclude(context.team.name, result, timeout)


def _until_it_stands(context: Context, timeout: float | None) -> Progress:
    deadline = None if timeout is None else time.monotonic() + timeout
    with live() as show:
        while (result := progress(context)).moving:
            seconds = LOOK if deadline is None else deadline - time.monotonic()
            if seconds <= 0:
                break
            show(_counts(result))
            time.sleep(min(LOOK, seconds))
    return result


def _print(result: Progress, team_flag: str) -> None:
    write(_counts(result))
    needed = {name for need in result.needs for name in (need.subject, *need.others)}
    for entry in result.left:
        if entry.partition(" ")[0] not in needed:  # its need is printed below, with the command
            write(f"  {line(entry)}")
    if result.needs:
        write("needs you")
        needs.show(result.needs, team_flag)


def _counts(result: Progress) -> str:
    return counted(result.counts) or "no tasks"


def _conclude(team: str, result: Progress, timeout: float | None) -> None:
    task_count = f"{len(result.left)} {'task is' if len(result.left) == 1 else 'tasks are'}"
    if result.moving:
        hint = f"see who does what: pro0 team status -t {team}"
        raise TimedOut(f"{team} still works after {timeout:g} s; {task_count} left", hint=hint)
    if result.outcome is WorkState.SOMETHING_FAILED:
        hint = f"pro0 task list --status failed -t {team}"
        raise Pro0Error(
            f"{team} can do no more: {task_count} failed, or not done", code=ErrorCode.WORK_FAILED, hint=hint
        )
    if result.outcome is WorkState.WAITS:
        hint = f"see what needs you: pro0 team status -t {team}"
        raise Refused(
            f"{team} can do no more: {task_count} waiting for a human or for a member",
            code=ErrorCode.WAITS,
            hint=hint,
        )
