"""What is changed about a task: update, cancel, reopen, delete."""

import click

from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, text_or_stdin
from pro0.cli.task_acts import told
from pro0.errors import BadInput
from pro0.model.task import Changes
from pro0.ops import tasks


@click.command()
@click.argument("id")
@click.option("--title", help="The title.")
@click.option("-d", "--description", metavar="TEXT|-", help="The description; - is stdin.")
@click.option("--run", help="The shell command of the task; an empty one removes it.")
@click.option("--timeout", type=float, metavar="S", help="The limit of that command in seconds.")
@click.option("--priority", type=int, help="Lower goes first.")
@click.option("--label", "labels", multiple=True, help="The labels, all of them; repeatable.")
@click.option("--add-dependency", multiple=True, metavar="ID", help="A task that must be completed before; repeatable.")
@click.option("--drop-dependency", multiple=True, metavar="ID", help="A task that need not be any more; repeatable.")
@team_option
@json_option
def update(
    id: str,
    title: str | None,
    description: str | None,
    run: str | None,
    timeout: float | None,
    priority: int | None,
    labels: tuple[str, ...],
    add_dependency: tuple[str, ...],
    drop_dependency: tuple[str, ...],
    team: str | None,
    as_json: bool,
) -> None:
    """Change fields of a task that is not settled; what is not named stays.

    --json prints the task.

    \b
    Examples:
      pro0 task update 3 --priority 0 --label urgent
      pro0 task update 7 --drop-dependency 5
    """
    changes = Changes(
        title=title,
        description=None if description is None else text_or_stdin(description),
        run=run,
        timeout=timeout,
        priority=priority,
        labels=labels or None,
        add_dependencies=add_dependency,
        drop_dependencies=drop_dependency,
    )
    if changes == Changes():
        raise BadInput("nothing to change", hint="pro0 task update --help")
    told(tasks.update(here(team), id, changes), "updated", as_json=as_json)


@click.command()
@click.argument("id")
@click.argument("reason", default="", metavar="[REASON|-]")
@team_option
@json_option
def cancel(id: str, reason: str, team: str | None, as_json: bool) -> None:
    """Cancel a task and its open subtasks; whoever works on one is told.

    --json prints the task.

    \b
    Examples:
      pro0 task cancel 3 "no longer wanted"
    """
    told(tasks.cancel(here(team), id, text_or_stdin(reason)), "cancelled", as_json=as_json)


@click.command()
@click.argument("id")
@click.argument("reason", default="", metavar="[REASON|-]")
@team_option
@json_option
def reopen(id: str, reason: str, team: str | None, as_json: bool) -> None:
    """Make a settled task pending again; its history stays.

    --json prints the task.

    \b
    Examples:
      pro0 task reopen 3 "the fix was not complete"
    """
    told(tasks.reopen(here(team), id, text_or_stdin(reason)), "is pending again", as_json=as_json)


@click.command()
@click.argument("id")
@click.option("--force", is_flag=True, help="Also when others name it, or somebody works on it.")
@team_option
@json_option
def delete(id: str, force: bool, team: str | None, as_json: bool) -> None:
    """Remove a task for good.

    --json prints the task as it was.

    \b
    Examples:
      pro0 task delete 3
      pro0 task delete 3 --force
    """
    told(tasks.delete(here(team), id, force=force), "deleted", as_json=as_json)
