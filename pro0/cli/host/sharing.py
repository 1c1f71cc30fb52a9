"""`pro0 host join`, `list` and `leave`."""

import os
import re
import socket

import click

from pro0.cli.context import by_terminal, caller, here, human_only, named_team, need_lead, project_here, store
from pro0.cli.output import json_option, live, local, say, table, talk, terminal, write, write_json
from pro0.errors import Kept
from pro0.model import ids
from pro0.ops import trust
from pro0.ops.context import Context
from pro0.ops.team import machines
from pro0.ops.team.machines import MachineStatus


@click.command()
@click.argument("url", metavar="URL")
@click.argument("there", required=False, metavar="[TEAM]")
@click.option("--as", "machine", metavar="NAME", help="The name of this machine in the team; by default its host name.")
@click.option("--mode", help="Where members of this machine are shown; by default from the settings.")
@json_option
def join(url: str, there: str | None, machine: str | None, mode: str | None, as_json: bool) -> None:
    """Let this machine take part in a team that a database keeps.

    A lead starts on this machine and runs the members that you spawn here. They work in this directory's project, so
    run this command in a clone of the team's repository. Tasks, mail and verdicts are shared by the whole team. TEAM
    can be left out when the database has only one team.

    --json prints what `host list --json` prints.

    \b
    Examples:
      pro0 host join postgresql://me@db.example.org/agents
      pro0 host join postgresql://me@db.example.org/agents alpha --as laptop2
    """
    from pro0.engine.machines import join as join_team

    human_only("let a machine take part in a team")
    store().check()
    own_name = ids.machine(machine if machine is not None else _own_name())
    project = project_here()
    settings = trust.settings(store().home, project, os.environ, {"teammateMode": mode})
    asked = ids.team_name(there) if there is not None else ""
    joined = join_team(store(), url, asked, own_name, project, settings, terminal=terminal())
    with live() as show:
        show("starting the lead of this machine")
        need_lead(joined, show)
    if as_json:
        write_json(machines.list_machines(Context(joined, caller()[0], vouch=by_terminal)))
        return
    write(f"{own_name} takes part in {joined.name}, with {project}")
    say(f"start a member here: pro0 member spawn NAME --agent claude -t {joined.name}")


@click.command("list")
@named_team
@json_option
def list_hosts(team: str | None, as_json: bool) -> None:
    """List the machines that share a team.

    --json prints a list of {name, hostname, here, present, since, version, members}. `name` is empty for the machine
    that made the team.

    \b
    Examples:
      pro0 host list
      pro0 host list alpha --json
    """
    all_machines = machines.list_machines(here(team))
    if as_json:
        write_json(all_machines)
    else:
        head = ("MACHINE", "LEAD", "SINCE", "VERSION", "MEMBERS")
        table(head, [_row(machine) for machine in all_machines])


@click.command()
@named_team
@click.option("--machine", metavar="NAME", help="Give up another machine, which is gone for good.")
@click.option("--force", is_flag=True, help="End what still runs here, and leave without the database if need be.")
def leave(team: str | None, machine: str | None, force: bool) -> None:
    """Take this machine out of a team, or give up a machine that is gone.

    Its members leave with it, and their tasks are released. Uncommitted changes of members on this machine are saved in
    a commit first. Unmerged branches stay, exit 7. A machine that was given up ends its members when it comes back.

    \b
    Examples:
      pro0 host leave alpha
      pro0 host leave alpha --machine laptop2
    """
    human_only("take a machine out of a team")
    context = here(team)
    if machine is not None and machine != context.team.machine:
        gone = machines.give_up(context, machine)
        members = f"; gone: {', '.join(gone)}" if gone else ""
        write(f"{machine} no longer takes part in {context.team.name}{members}")
        return
    from pro0.engine.machines import leave as leave_team
    from pro0.ops.work import checkouts

    kept = leave_team(store(), context.team, context, talk(), force=force)
    if kept:
        message = f"this machine has left {context.team.name}; not merged, so kept: {', '.join(kept)}"
        raise Kept(message, hint=checkouts.next_step(kept[0]))
    write(f"this machine has left {context.team.name}")


def _own_name() -> str:
    """Return this machine's host name as the name of a machine."""
    first = socket.gethostname().partition(".")[0].lower()
    return re.sub(r"[^a-z0-9-]+", "-", first).strip("-")[:48] or "machine"


def _row(machine: MachineStatus) -> tuple[str, ...]:
    name = machine.name or f"{machine.hostname or 'unknown'} (made the team)"
    lead = "at work" if machine.present else "none"
    since = local(machine.since) if machine.since else ""
    return (
        name + (", here" if machine.here else ""),
        lead,
        since,
        machine.version,
        ", ".join(machine.members) or "nobody",
    )
