"""`pro0 team list`, `status` and `attach`."""

import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout

import click

from pro0.cli.context import by_terminal, caller, here, named_team, quiet, store, veiled
from pro0.cli.output import (
    cut,
    drawable,
    json_option,
    json_text,
    local,
    name_option,
    pairs,
    say,
    table,
    terminal,
    write,
    write_json,
)
from pro0.cli.team import needs
from pro0.errors import EnvironmentMissing, ErrorCode, Pro0Error
from pro0.model.caller import Caller, Who
from pro0.model.runtime import Phase
from pro0.model.team import placed
from pro0.ops.context import Context
from pro0.ops.tasks.acting import settings
from pro0.ops.team.status import LeadStatus, LimitStatus, MemberStatus, TeamStatus, completed, remark
from pro0.ops.team.status import status as look_at
from pro0.rules import desktop

AGAIN = 1.0
"""Seconds between two looks of `--watch`."""


@click.command("list")
@click.option("--archived", is_flag=True, help="List removed teams that have an archive.")
@json_option
@name_option
def list_teams(archived: bool, as_json: bool, output: str | None) -> None:
    """List all teams of this home.

    --json prints a list of what `team status --json` prints. A team that cannot be read is named on stderr, exit 5.
    With --archived it prints a list of {name, ended, path, project, tasks, unread}; an unreadable value is null.

    \b
    Examples:
      pro0 team list
      pro0 team list -o name
      pro0 team list --archived
    """
    store().check()
    if archived:
        from pro0.cli.team.archived import print_archives

        print_archives(as_json=as_json, output=output)
        return
    asking, own_team = caller()
    names = store().names() if asking.who is Who.HUMAN else [own_team] if own_team else []
    if output == "name":
        for name in names:
            write(name)
        return
    looks, trouble = _looks(names, asking)
    if as_json:
        write_json(looks)
    elif looks:
        table(("TEAM", "LEAD", "MEMBERS", "TASKS", "PROJECT"), [_team_row(look) for look in looks])
    elif not trouble:
        say("no teams yet; start one: pro0 team start NAME -m w1=shell")
    for error in trouble[1:]:
        say(f"pro0: {error.message}")
    if trouble:
        raise trouble[0]


@click.command()
@named_team
@click.option("--watch", is_flag=True, help="Look again every second, until interrupted.")
@json_option
def status(team: str | None, watch: bool, as_json: bool) -> None:
    """Show lead, members, tasks, and what needs you.

    --json prints name, project, mode, modeReason, phase, paused, lead {pid, state}, outside (the same of your own agent
    that leads the team, or null), members [{name, agentId, agent, state, task, pid, pane, since, startedAt, unread,
    note, incarnation, model, effort, permissionMode, plan, turn}], tasks {status: count}, attention [{id, kind,
    subject, what, why, since, command, member, awaiting, request, look}] and limits [{agent, until, named, note}]; with
    --watch one such line for every change.

    \b
    Examples:
      pro0 team status
      pro0 team status alpha --watch
      pro0 team status --json | jq -r '.members[].state'
    """
    context = here(team)
    quiet()
    team_flag = f" -t {context.team.name}" if team else ""
    if watch:
        _watch(context, team_flag, as_json=as_json)
    elif as_json:
        write_json(look_at(context))
    else:
        show(look_at(context), team_flag)


@click.command()
@named_team
def attach(team: str | None) -> None:
    """Show the members in this terminal.

    For a team in tmux, it shows their panes. For a team in the mode in-process, it shows one member at a time: Shift
    and the arrow keys switch, and Ctrl+T opens a board of members, tasks and messages, where ? lists all keys. For a
    headless team, it prints the members' output as it comes.

    \b
    Examples:
      pro0 team attach
      pro0 team attach alpha
    """
    from pro0.cli.team import attaching

    context = here(team)
    if not terminal():
        attaching.command(context.team)  # a team without panes is refused first
        hint = f"in a terminal: pro0 team attach -t {context.team.name}"
        raise EnvironmentMissing("attaching needs a terminal", code=ErrorCode.NO_TERMINAL, hint=hint)
    attaching.show(context)


def show(look: TeamStatus, team_flag: str) -> None:
    """Print one look at a team; `team_flag` is the option with which printed commands name this team."""
    state = look.phase + (", paused" if look.paused else "")
    head = [("team", f"{look.name}, {state}"), ("project", look.project), ("mode", f"{look.mode}: {look.mode_reason}")]
    led = [("lead agent", f"your own, {_process(look.outside)}")] if look.outside else []
    pairs([*head, ("lead", _lead(look)), *led, ("tasks", counted(look.tasks) or "none yet")])
    pairs([("limits", "\n".join(_limit(limit) for limit in look.limits))])
    if look.members:
        write()
        member_table(look.members)
    if look.attention:
        write("\nneeds you")
        needs.show(look.attention, team_flag)


def member_table(members: Sequence[MemberStatus]) -> None:
    """Print a line for each member."""
    table(
        ("MEMBER", "AGENT", "MODE", "STATE", "TASK", "UNREAD", "SINCE", "NOTE"),
        [_member_row(member) for member in members],
        optional=("MODE", "TASK", "UNREAD"),
    )


def _limit(limit: LimitStatus) -> str:
    when = "until" if limit.named else "at least until"
    return f"no new session of {limit.agent} {when} {local(limit.until)}: {limit.note}"


def _lead(look: TeamStatus) -> str:
    """Return the state of the lead. A stopped team is expected to have none."""
    return "stopped" if look.phase is Phase.STOPPED and not look.lead.pid else _process(look.lead)


def _process(lead: LeadStatus) -> str:
    state = "suspended" if lead.state == "stopped" else lead.state  # a stopped team has a stopped lead, too
    return f"{state} (pid {lead.pid})" if lead.pid else state


def _watch(context: Context, team_flag: str, *, as_json: bool) -> None:
    last_look: TeamStatus | None = None
    bell = settings(context).bell and not as_json
    print_it: Callable[[TeamStatus], None] = _print_line if as_json else lambda look: show(look, team_flag)
    while True:
        look = look_at(context)
        if look != last_look:
            if drawable() and not as_json:
                _paint(look, team_flag)
            else:
                write(end="\n" if last_look and not as_json else "")
                print_it(look)
            if last_look and bell:
                _ring(look, {need.id for need in last_look.attention})
            sys.stdout.flush()
            last_look = look
        time.sleep(AGAIN)


class _Page(io.StringIO):
    """A buffer for the output of one look, which is then written to the terminal in one piece."""

    def isatty(self) -> bool:
        return True


def _paint(look: TeamStatus, team_flag: str) -> None:
    """Show a look in place of the last one, cut to the size of the terminal."""
    with redirect_stdout(_Page()) as page:
        show(look, team_flag)
    room = shutil.get_terminal_size()
    lines = [cut(text, room.columns) if text.isprintable() else text for text in page.getvalue().splitlines()]
    if len(lines) >= room.lines:
        hidden = len(lines) - room.lines + 2
        lines = [*lines[: room.lines - 2], cut(f"… {hidden} more lines: pro0 team status{team_flag}", room.columns)]
    write("\x1b[H\x1b[2J" + "\n".join([*lines, ""]), end="")


def _ring(look: TeamStatus, known_ids: Collection[str]) -> None:
    """Ring the person's terminal, if there is one, for needs that are new since the last look."""
    if sys.stdout.isatty():
        write(desktop.rung(os.environ, f"pro0 {look.name}", look.attention, known_ids), end="")


def _print_line(look: TeamStatus) -> None:
    write(json_text(look, indent=0))


def _looks(names: list[str], asking: Caller) -> tuple[list[TeamStatus], list[Pro0Error]]:
    looks: list[TeamStatus] = []
    trouble: list[Pro0Error] = []
    for name in names:
        try:
            context = Context(store().team(name), asking, vouch=by_terminal)
            veiled(context)
            looks.append(look_at(context))
        except Pro0Error as error:
            trouble.append(error)
    return looks, trouble


def _team_row(look: TeamStatus) -> list[str]:
    live = sum(member.lives for member in look.members)
    return [look.name, _lead(look).split()[0], f"{live}/{len(look.members)}", completed(look.tasks), look.project]


def counted(tasks: Mapping[str, int]) -> str:
    """Return the number of tasks of each status, and how many of the pending ones are ready."""
    ready = f" ({tasks['ready']} ready)" if tasks.get("ready") else ""
    words = {"pending": f"pending{ready}", "in_progress": "in progress"}
    return ", ".join(f"{count} {words.get(name, name)}" for name, count in tasks.items() if count and name != "ready")


def _agent(member: MemberStatus) -> str:
    """Return the agent's name, with its machine, and with its chosen model and effort."""
    chosen = ", ".join(filter(None, (member.model, member.effort)))
    agent = placed(member.agent, member.host)
    return f"{agent} ({chosen})" if chosen else agent


def _member_row(member: MemberStatus) -> list[str]:
    unread = str(member.unread) if member.unread else ""
    return [
        member.agent_id,
        _agent(member),
        member.permission_mode,
        member.state,
        member.task or "",
        unread,
        local(member.since),
        remark(member),
    ]
