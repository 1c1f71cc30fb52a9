"""`pro0 task start`."""

import click

from pro0.cli import completing
from pro0.cli.context import acting, given, need_lead, no_wait_option, team_option
from pro0.cli.output import going_on, json_option, line, live, say, write, write_json
from pro0.model.agent import offered
from pro0.ops.tasks import trees


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.option(
    "--agent",
    type=given,
    shell_complete=completing.agents,
    metavar="AGENT",
    help=f"One of {', '.join(offered())}; by default its role's, or the usual one.",
)
@team_option
@no_wait_option
@json_option
def start(id: str, agent: str | None, team: str | None, no_wait: bool, as_json: bool) -> None:
    """Open a session of its own for a task, and for its subtasks one after the other.

    The task is supervised unless its policy says otherwise: its session plans, completes the task to let the first
    subtask start, and is told when a subtask is over. Its agent is the first of these: --agent, the agent of its role,
    the setting taskAgent, the agent of its parent task, shell. The same command starts a task again whose subtasks wait
    for a session that is gone. Only a person may start one. --json prints the task.

    \b
    Examples:
      pro0 task start 1
      pro0 task start 1 --agent claude
    """
    from pro0.engine.outcomes import begun

    context = acting(team)
    task = trees.start(context, id, agent)
    need_lead(context.team)
    if no_wait:
        say(f"{task.id} is to be started: pro0 task show {task.id}")
    else:
        see = f"pro0 task show {task.id} -t {context.team.name}"
        with going_on(f"{task.id} is still starting: {see}"), live() as show:
            show(f"starting {task.id}")
            task = begun(context.team, task, show)
    if as_json:
        write_json(task)
    elif not no_wait:
        write(f"{task.id} started by {task.assignee}: {line(task.title)}")
