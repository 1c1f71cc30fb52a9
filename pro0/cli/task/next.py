"""The next task: `pro0 task ready` and `next`, for agents, and with --awaiting for a person."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, name_option, write_json
from pro0.cli.task import awaiting as waits
from pro0.cli.task.look import print_tasks
from pro0.errors import BadInput
from pro0.model.ids import task_id
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.rules.runs.scope import Scope


@click.command()
@team_option
@json_option
@name_option
def ready(team: str | None, as_json: bool, output: str | None) -> None:
    """List the tasks that could be claimed now, the next one first.

    Tasks that wait for a human, are claimed or are blocked are left out. --json prints a list of tasks with the field
    names of tasks.json.

    \b
    Examples:
      pro0 task ready
      pro0 task ready -o name
    """
    context = here(team)
    print_tasks(context, tasks.ready(context), "no task is ready", as_json=as_json, output=output)


@click.command()
@team_option
@json_option
@name_option
def blocked(team: str | None, as_json: bool, output: str | None) -> None:
    """List the tasks that wait for other tasks, in the order of `next`.

    --json prints a list of tasks with the names of tasks.json.

    \b
    Examples:
      pro0 task blocked
    """
    context = here(team)
    print_tasks(context, tasks.blocked(context), "no task is blocked", as_json=as_json, output=output)


@click.command("next")
@click.argument("epic", required=False, shell_complete=completing.tasks)
@click.option("--epic", "below", metavar="ID", help="Only tasks below this epic or task.")
@click.option("--standalone", is_flag=True, help="Only tasks without a parent.")
@click.option("--orphan", is_flag=True, help="Only tasks whose parent is over.")
@waits.filter_option("Instead, the next task that waits for you; of these kinds, or of any.")
@team_option
@json_option
@name_option
def next_task(
    epic: str | None,
    below: str | None,
    standalone: bool,
    orphan: bool,
    awaiting: str | None,
    team: str | None,
    as_json: bool,
    output: str | None,
) -> None:
    """Show the task that you would be offered next, without claiming it.

    Claimable tasks are ordered: those started before, then by priority, then the oldest. With several of EPIC,
    --standalone and --orphan, a task needs to match only one of them. --json prints the task, or null.

    \b
    Examples:
      pro0 task next
      pro0 task claim "$(pro0 task next -o name)"
      pro0 task next 4 --awaiting approval,review
    """
    context = here(team)
    if awaiting is not None and epic is None and not waits.is_list(awaiting):
        epic, awaiting = awaiting, ""
    scope = Scope(epic=_epic_named(context, epic, below), standalone=standalone, orphan=orphan)
    if awaiting is None:
        task, none = tasks.next_task(context, scope), "no task is ready"
    else:
        waiting = tasks.waiting(context, waits.kinds(awaiting), scope)
        task, none = next(iter(waiting), None), "no task waits for a human"
    if as_json:
        write_json(task)
    else:
        print_tasks(context, [task] if task else [], none, as_json=False, output=output)


def _epic_named(context: Context, epic: str | None, below: str | None) -> str | None:
    """Return the id of the named epic; raises NotFound for a missing one."""
    if epic and below and task_id(epic) != task_id(below):
        raise BadInput(f"which epic, {epic} or {below}?", hint="give it once")
    return tasks.show(context, epic or below or "").id if epic or below else None
