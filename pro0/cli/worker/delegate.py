"""`pro0 delegate`."""

import os

import click

from pro0.agents import defined
from pro0.agents.installed import USUAL, first_installed, require
from pro0.cli import completing
from pro0.cli.context import given, need_lead, project_here, team_option
from pro0.cli.output import json_option, line, name_option, say, write, write_json
from pro0.cli.team.own_team import own_team, settings_here, team_or_none
from pro0.engine.opening.launch import awake
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.ops.context import Context
from pro0.ops.tasks.drafts import SeatDraft, with_definitions
from pro0.ops.team.members import path_of
from pro0.ops.work import workers
from pro0.worktrees import Repository


@click.command()
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option("-n", "--times", type=click.IntRange(1, 100), default=1, help="How many workers each TEXT gets.")
@click.option(
    "--agent",
    type=given,
    shell_complete=completing.agents,
    metavar="AGENT",
    help="The agent of the workers; by default the setting taskAgent, else the first one installed.",
)
@click.option("--run", help="The shell command of each task; a shell worker executes it.")
@click.option("--worktree/--shared", default=True, help="A git worktree for each, or all in the project's checkout.")
@team_option
@json_option
@name_option
def delegate(
    texts: tuple[str, ...],
    times: int,
    agent: str | None,
    run: str | None,
    worktree: bool,
    team: str | None,
    as_json: bool,
    output: str | None,
) -> None:
    """Give tasks to workers: one task, one fresh worktree and branch, one process each.

    Up to maxWorkers workers run at once; the others wait in line. A worker goes when its task is over: its uncommitted
    changes are committed for it, and its branch stays until it is merged. The leader is told how each task went. A
    project without a team gets one. --json prints the tasks.

    \b
    Examples:
      pro0 delegate "fix the flaky test" "update the README"
      pro0 delegate -n 3 --agent claude "find out why the build is slow"
      pro0 delegate "run the checks" --agent shell --run "make check" && pro0 team wait
    """
    drafts = [workers.draft(each, agent=agent, shared=not worktree, run=run) for each in texts for _ in range(times)]
    context = _team(team, agent, run, worktree)
    delegated = workers.delegate(context, drafts)
    need_lead(context.team)
    if as_json:
        write_json(delegated)
        return
    for task in delegated:
        write(task.id if output == "name" else f"{task.id} is delegated: {line(task.title)}")
    say(f"watch: pro0 worker list -t {context.team.name}")


def _team(team: str | None, agent: str | None, run: str | None, worktree: bool) -> Context:
    """Return the chosen team; for a project without one, make a team once the request is checked."""
    context = team_or_none(team)
    settings = settings_here(context)
    if chosen := agent or settings.task_agent:
        [drafted] = with_definitions([SeatDraft(name="worker", agent=chosen)], settings.agents)
        require(
            defined(drafted.agent, drafted.definition),
            path_of(context) if context else os.environ.get("PATH", os.defpath),
        )
    elif not (run or first_installed()):
        hint = f"install one of {', '.join(USUAL)}, or give a command: --agent shell --run 'make'"
        raise EnvironmentMissing("no agent for this work is installed", code=ErrorCode.AGENT_MISSING, hint=hint)
    if context is None:
        if worktree:
            Repository(project_here()).head()
        return own_team(settings)
    awake(context.team)
    return context
