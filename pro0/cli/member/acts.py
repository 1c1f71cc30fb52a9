"""`pro0 member spawn`, `restart` and `shutdown`."""

import shlex
from collections.abc import Sequence

import click
from msgspec.structs import replace

from pro0.cli import completing
from pro0.cli.context import acting, given, need_lead, no_wait_option, store, team_option
from pro0.cli.help.sections import SectionedCommand
from pro0.cli.member.seating import say_unread, seated
from pro0.cli.output import going_on, json_option, line, live, mapping, say, talk, write, write_json
from pro0.config import MAY, PERMISSIONS
from pro0.errors import Pro0Error, Unwritable
from pro0.model.agent import offered
from pro0.model.runtime import SeatState
from pro0.model.task import Draft, Task
from pro0.model.team import PermissionMode, Seat
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.tasks.drafting import require_makeable
from pro0.ops.tasks.drafts import SeatDraft, takeable, with_definitions
from pro0.ops.tasks.roles import agent_of
from pro0.ops.team import members
from pro0.ops.team.needs import beyond_all
from pro0.rules import text


@click.command(
    cls=SectionedCommand,
    sections={
        "Its agent": "--agent --model --effort --nudge",
        "Its work": "--role --prompt --task --host --worktree",
        "What it may do": "--permission-mode --plan",
    },
)
@click.argument("name")
@click.argument("program", nargs=-1, metavar="[-- PROGRAM ARG...]")
@click.option(
    "--agent",
    type=given,
    shell_complete=completing.agents,
    metavar="AGENT",
    help=f"One of {', '.join(offered())}; command with a PROGRAM; else its role's, or shell.",
)
@click.option("--role", default="", shell_complete=completing.roles, help="The role id.")
@click.option("--prompt", default="", help="The first prompt.")
@click.option("--task", "title", metavar="TEXT", help="A task to make and reserve for it.")
@click.option("--model", default="", help="The model for its agent.")
@click.option("--effort", default="", help="The effort of the model, in a word that its agent knows.")
@click.option(
    "--permission-mode",
    "mode",
    type=click.Choice(PERMISSIONS),
    help=f"What it may do without asking: {MAY}; by default as the lead.",
)
@click.option("--nudge", is_flag=True, help="Show it one line when it has mail; for a program that reads its terminal.")
@click.option("--plan", is_flag=True, help="It hands in a plan first, and changes nothing until that is approved.")
@click.option(
    "--host",
    default="",
    shell_complete=completing.hosts,
    metavar="HOST",
    help="Run its program on another machine, by its name for ssh.",
)
@click.option("--worktree/--shared", default=None, help="Give it a git worktree of its own, or the shared checkout.")
@team_option
@no_wait_option
@json_option
def spawn(
    name: str,
    program: tuple[str, ...],
    agent: str | None,
    role: str,
    prompt: str,
    title: str | None,
    model: str,
    effort: str,
    mode: str | None,
    nudge: bool,
    plan: bool,
    host: str,
    worktree: bool | None,
    team: str | None,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Start a new member, or an ended one again with the same id and mailbox.

    With --no-wait, a member that cannot be started stays in the team, and `pro0 needs` lists it.

    --json prints the member as `member list --json` does, and `made`: the ids of the tasks that were made for it.

    \b
    Examples:
      pro0 member spawn w4
      pro0 member spawn "Test Runner" --agent shell --task "run the tests"
      pro0 member spawn server -- python -m http.server 8000
      pro0 member spawn bob --host build1 -- make -C src check
    """
    context = acting(team)
    settings = settings_to_hire(context)
    chosen = (agent or "command", program) if agent or program else agent_of(store(), role)
    draft = SeatDraft(
        name=name,
        agent=chosen[0],
        role=role,
        prompt=prompt,
        argv=chosen[1],
        nudge=nudge,
        model=model,
        effort=effort,
        permission_mode=PermissionMode(mode) if mode else None,
        host=host,
        worktree=worktree,
        plan=plan,
        unattended=no_wait,
    )
    task_drafts = [Draft(title=text.title(title))] if title is not None else []
    for task_draft in task_drafts:
        require_makeable(context, task_draft)
    drafts = with_definitions([draft], settings.agents)
    takeable(drafts[0])
    seats = members.spawn(context, [seated(say_unread(drafts[0]))], settings.max_teammates)
    owed = [_creating(context, seats[0], task_draft) for task_draft in task_drafts]
    _started(context, seats[0], no_wait=no_wait, quiet=as_json, owed=owed)
    new_tasks = _create_tasks(context, seats[0], task_drafts, owed)
    if warning := beyond_all(context, new_tasks):
        say(f"Warning: {warning}")
    if as_json:
        write_json(_look(context, seats[0]) | {"made": [task.id for task in new_tasks]})
        return
    for task in new_tasks:
        write(f"{task.id} is reserved for {task.assignee}: {line(task.title)}")


@click.command()
@click.argument("name", shell_complete=completing.members)
@click.option("--fresh", is_flag=True, help="Begin a new conversation, even if the agent could continue its last one.")
@team_option
@json_option
def restart(name: str, fresh: bool, team: str | None, as_json: bool) -> None:
    """Start a new session of a member that has ended.

    The agent continues its earlier conversation if it can, unless --fresh is given.

    --json prints the member as `member list --json` does.

    \b
    Examples:
      pro0 member restart w1
      pro0 member restart ada --fresh
    """
    context = acting(team)
    seat = members.restart(context, name, fresh=fresh, definitions=settings_to_hire(context).agents)
    _started(context, seat, quiet=as_json)
    if as_json:
        write_json(_look(context, seat))


@click.command()
@click.argument("name", shell_complete=completing.members)
@click.option("--reason", default="", help="What the member is told.")
@click.option(
    "--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Seconds to wait for its agreement."
)
@click.option("--force", is_flag=True, help="End it with all its processes if it has not agreed by then.")
@team_option
@no_wait_option
@json_option
def shutdown(
    name: str, reason: str, timeout: float, force: bool, team: str | None, no_wait: bool, as_json: bool
) -> None:
    """Ask a member to shut down.

    A working member answers "not yet" and is asked again when it is free. If it stays, the command says why, exit 4.

    --json prints the member as `member list --json` does, and `exit`: {at, code, signal, reason}, or null when the
    command did not wait for the end.

    \b
    Examples:
      pro0 member shutdown w1
      pro0 member shutdown w1 --timeout 5 --force
    """
    from pro0.engine.outcomes import shut_down

    context = acting(team)
    try:
        seat = members.shutdown(context, name, reason=reason, timeout=timeout, force=force)
    except Unwritable as error:
        if not force:
            raise
        from pro0.engine.force import end_member

        seat = end_member(context, name, error, talk())
    need_lead(context.team)
    if no_wait:
        say(f"{seat.agent_id} is asked to shut down: pro0 member show {seat.agent_id}")
    with going_on(
        f"{seat.agent_id} is still asked to shut down: pro0 member show {seat.agent_id} -t {context.team.name}"
    ):
        state = None if no_wait else shut_down(context.team, seat, talk())
    if as_json:
        write_json(_look(context, seat) | {"exit": state.exit if state else None})
    elif state:
        write(f"{seat.agent_id} has ended: {line(_how(state))}")
    elif not no_wait:
        write(f"{seat.agent_id} has ended and is gone")


def _creating(context: Context, seat: Seat, draft: Draft) -> str:
    """Return the command that makes the task of a new member, in case this process is ended before."""
    return shlex.join(["pro0", "task", "create", draft.title, "--assignee", seat.agent_id, "-t", context.team.name])


def _create_tasks(context: Context, seat: Seat, drafts: list[Draft], owed: Sequence[str]) -> list[Task]:
    """Make and return the tasks of a new member; an error says that the member exists, since its start stays."""
    try:
        return tasks.create(context, [replace(draft, assignee=seat.agent_id) for draft in drafts])
    except Pro0Error as error:
        error.message = f"{seat.agent_id} is in the team, but its task is not made: {error.message}"
        error.hint = "; ".join(filter(None, (error.hint, *owed)))
        raise


def _started(
    context: Context, seat: Seat, *, no_wait: bool = False, quiet: bool = False, owed: Sequence[str] = ()
) -> None:
    """Wait until a member is up; on an error, name the `owed` commands, which would have followed."""
    from pro0.engine.outcomes import started

    if no_wait:
        need_lead(context.team)
        say(f"{seat.agent_id}: to be started; see: pro0 member list")
        return
    see = f"pro0 member show {seat.agent_id} -t {context.team.name}"
    rest = f"; its task is not made; once it has started: {'; '.join(owed)}" if owed else ""
    try:
        with going_on(f"{seat.agent_id} is still starting: {see}{rest}"), live() as show:
            show(f"starting {seat.agent_id}")
            need_lead(context.team, show)
            states = started(context.team, [seat], show)
    except Pro0Error as error:
        error.hint = f"{error.hint or see}{rest}" if rest else error.hint
        raise
    if not states:
        say(f"{seat.agent_id}: {_look(context, seat)['note']}")
    for state in [] if quiet else states:
        pid = f" (pid {state.agent.pid})" if state.agent else ""
        write(f"{state.agent_id} is {state.state}{pid}")


def _look(context: Context, seat: Seat) -> dict[str, object]:
    from pro0.ops.team.status import of_seat

    return mapping(of_seat(context, seat))


def _how(state: SeatState) -> str:
    end = state.exit
    if end is None:
        return state.state
    if end.signal is not None:
        return f"{state.state}, signal {end.signal}"
    return f"{state.state}, exit code {end.code}" if end.code is not None else f"{state.state}, {end.reason}"
