"""A person's answers to tasks that wait or have failed: approve, reject, retry, continue, close."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, text_or_stdin
from pro0.cli.task.acts import again, outcome, write_outcome
from pro0.ops.tasks import gates


@click.command()
@click.argument("id", shell_complete=completing.waiting_tasks)
@click.argument("text", default="", metavar="[TEXT|-]")
@team_option
@json_option
def approve(id: str, text: str, team: str | None, as_json: bool) -> None:
    """Approve a task that waits for you.

    A task that waits for work, approval, review or content is completed, but never past a gate that it still requires.
    A task that waits for input, or with an escalation or a checkpoint, goes back to the agents with your text. Only a
    person may approve. --json prints the task.

    \b
    Examples:
      pro0 task approve 3
      pro0 task approve 4 "blue, like the logo"
    """
    task = gates.approve(here(team), id, text_or_stdin(text))
    write_outcome(task, f"approved ({outcome(task)})", as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.waiting_tasks)
@click.argument("feedback", default="", metavar="[FEEDBACK|-]")
@team_option
@json_option
def reject(id: str, feedback: str, team: str | None, as_json: bool) -> None:
    """Reject a task that waits for you, with feedback for whoever takes it up.

    The task goes back to the agents; a task that waits for input or with an escalation is cancelled. Feedback and
    verdict are stored in one write. Only a person may reject. --json prints the task.

    \b
    Examples:
      pro0 task reject 3 "the tests for empty input are missing"
      pro0 task reject 4 - < review.txt
    """
    task = gates.reject(here(team), id, text_or_stdin(feedback))
    write_outcome(task, f"rejected ({outcome(task)})", as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("text", default="", metavar="[TEXT|-]")
@team_option
@json_option
def retry(id: str, text: str, team: str | None, as_json: bool) -> None:
    """Make a failed task pending again.

    --json prints the task.

    \b
    Examples:
      pro0 task retry 3 "the compiler is there now"
    """
    task = gates.retry(here(team), id, text_or_stdin(text))
    write_outcome(task, again(task), as_json=as_json)


@click.command("continue")
@click.argument("id", shell_complete=completing.tasks)
@click.argument("text", default="", metavar="[TEXT|-]")
@team_option
@json_option
def go_on(id: str, text: str, team: str | None, as_json: bool) -> None:
    """Let the session that last worked on a task continue it.

    The task must have failed or wait. The session gets your text as a message. If the session is over, exit 4: use
    `task retry` instead. --json prints the task.

    \b
    Examples:
      pro0 task continue 3 "you were nearly there"
    """
    task = gates.go_on(here(team), id, text_or_stdin(text))
    write_outcome(task, outcome(task), as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("result", default="", metavar="[RESULT|-]")
@team_option
@json_option
def close(id: str, result: str, team: str | None, as_json: bool) -> None:
    """Mark a failed or waiting task as complete, as it is.

    A task that requires an approval waits for the approval instead, exit 4. --json prints the task.

    \b
    Examples:
      pro0 task close 3 "done by hand"
    """
    task = gates.close(here(team), id, text_or_stdin(result))
    write_outcome(task, f"closed ({outcome(task)})", as_json=as_json)
