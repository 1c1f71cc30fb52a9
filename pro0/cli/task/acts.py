"""The acts on a task: claim, release, complete, fail, assign, comment."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, line, say, text_or_stdin, write, write_json
from pro0.errors import BadInput
from pro0.model.task import Status, Task
from pro0.ops.tasks import tasks
from pro0.ops.team.needs import beyond_all
from pro0.rules.tasks import answers
from pro0.rules.text import visible


def write_outcome(task: Task, outcome: str, *, as_json: bool) -> None:
    """Print what happened to a task, or the task as JSON."""
    if as_json:
        write_json(task)
    else:
        write(f"{task.id} {line(outcome)}: {line(task.title)}")


def outcome(task: Task) -> str:
    """Return the outcome of an act on a task, in words; it can differ from the name of the act."""
    if task.waits:
        return f"waits for {task.waits.kind} now"
    if task.status is Status.PENDING:
        return "back to the agents"
    if task.status is Status.DONE:
        return "done, but has open subtasks"
    return f"goes on with {task.claim.agent_id}" if task.claim else task.status.words


def again(task: Task) -> str:
    """Return the outcome of an act that makes a task pending again."""
    return "is pending again" if task.status is Status.PENDING and not task.waits else outcome(task)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@team_option
@json_option
def claim(id: str, team: str | None, as_json: bool) -> None:
    """Take a ready task.

    Of several callers exactly one gets it; the others are told who has it, exit 4. --json prints the task.

    \b
    Examples:
      pro0 task claim 3
      pro0 task claim task-3 --json
    """
    task = tasks.claim(here(team), id)
    write_outcome(task, f"claimed by {task.assignee}", as_json=as_json)
    for answer in () if as_json else answers.unread_answers(task.history):
        write(visible(f"a person {answers.line(answer)}"))


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("reason", default="", metavar="[REASON|-]")
@team_option
@json_option
def release(id: str, reason: str, team: str | None, as_json: bool) -> None:
    """Give a claimed task back.

    --json prints the task.

    \b
    Examples:
      pro0 task release 3 "needs somebody who knows the parser"
    """
    task = tasks.release(here(team), id, text_or_stdin(reason))
    write_outcome(task, f"released ({outcome(task)})", as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("result", default="", metavar="[RESULT|-]")
@team_option
@json_option
def complete(id: str, result: str, team: str | None, as_json: bool) -> None:
    """Finish a claimed task with its result, so that its dependents become ready.

    --json prints the task.

    \b
    Examples:
      pro0 task complete 3 "all tests pass"
      make test | tail | pro0 task complete 3 -
    """
    task = tasks.complete(here(team), id, text_or_stdin(result))
    words = f"waits for a human ({task.waits.reason})" if task.waits else task.status.words
    write_outcome(task, words, as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("reason", default="", metavar="[REASON|-]")
@team_option
@json_option
def fail(id: str, reason: str, team: str | None, as_json: bool) -> None:
    """Mark a claimed task as failed.

    --json prints the task.

    \b
    Examples:
      pro0 task fail 3 "the compiler is missing"
    """
    task = tasks.fail(here(team), id, text_or_stdin(reason))
    write_outcome(task, outcome(task), as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("member", required=False, shell_complete=completing.members)
@click.option("--nobody", is_flag=True, help="Drop the reservation.")
@team_option
@json_option
def assign(id: str, member: str | None, nobody: bool, team: str | None, as_json: bool) -> None:
    """Reserve a pending task for one member, who is told so; --nobody drops the reservation.

    --json prints the task.

    \b
    Examples:
      pro0 task assign 3 w1
      pro0 task assign 3 --nobody
    """
    if (member is None) is not nobody:
        raise BadInput("assign to whom?", hint=f"pro0 task assign {id} MEMBER, or --nobody")
    context = here(team)
    task = tasks.assign(context, id, member)
    write_outcome(task, f"reserved for {task.assignee}" if task.assignee else "free for anybody", as_json=as_json)
    if warning := beyond_all(context, [task]):
        say(f"Warning: {warning}")


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("text", metavar="TEXT|-")
@click.option(
    "--from", "author", type=click.Choice(["human", "agent"]), help="Who it is from; an agent cannot write as a human."
)
@team_option
@json_option
def comment(id: str, text: str, author: str | None, team: str | None, as_json: bool) -> None:
    """Add a remark to a task.

    A remark is only read; it changes nothing else in the task. With --from agent a person's script can add a remark
    that does not count as a person's. --json prints the remark.

    \b
    Examples:
      pro0 task comment 3 "the fault is in parse()"
      pro0 task comment 3 - < notes.txt
    """
    note = tasks.comment(here(team), id, text_or_stdin(text), author=author)
    if as_json:
        write_json(note)
    else:
        write(f"noted by {note.author}")
