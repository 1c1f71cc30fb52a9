"""`pro0 run`: the run engine's command, for the person who starts a run."""

import os
import shutil

import click
from msgspec.structs import replace

from pro0 import processes
from pro0.agents import adapter_named, defined
from pro0.agents.installed import USUAL, first_installed, require
from pro0.cli import completing
from pro0.cli.context import given, need_lead, team_option
from pro0.cli.help.sections import SectionedCommand
from pro0.cli.output import json_option, live, terminal
from pro0.cli.team.own_team import own_team, settings_here, team_or_none
from pro0.config import MAY, PERMISSIONS, Settings
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, NotFound
from pro0.model.agent import AGENTS, Definition
from pro0.model.ids import task_id
from pro0.model.run import RUNNER, RunOptions
from pro0.model.runtime import SeatState
from pro0.model.task import Kind
from pro0.model.team import PermissionMode
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.tasks.drafts import SeatDraft, limitable, takeable
from pro0.ops.work import runs
from pro0.rules.runs.running import epic_of
from pro0.rules.tasks.board import Board

AUTO_DEBOUNCE = 1.0
"""Seconds for which `--auto` leaves a task alone after a change."""
_PROGRAM = "pro0.program"


class _WithProgram(SectionedCommand):
    """A command that takes a program and its arguments after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before `--`, and keep those behind it."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_PROGRAM] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the pieces of the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- PROGRAM ARG...]"]


@click.command(
    cls=_WithProgram,
    sections={
        "The agent": "--agent --model --effort --permission-mode --worktree",
        "Which tasks": "--include-standalone --include-orphans --all",
        "When it stops": "--auto --max-iterations --max-cost --timeout",
        "How it waits": "--debounce --poll",
    },
)
@click.argument("epic", required=False, shell_complete=completing.tasks)
@click.option("--auto", is_flag=True, help="Wait for new work when no task is ready, until all tasks are over.")
@click.option("--headless", is_flag=True, help="Print plain lines, also on a terminal.")
@click.option(
    "--agent",
    type=given,
    shell_complete=completing.agents,
    metavar="AGENT",
    help="The agent that does the work: claude (default), shell, ...",
)
@click.option("--model", default="", help="The model for its agent.")
@click.option("--effort", default="", help="The effort of the model, in a word that its agent knows.")
@click.option(
    "--permission-mode", "mode", type=click.Choice(PERMISSIONS), help=f"What it may do without asking: {MAY}."
)
@click.option(
    "--max-iterations",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Turns per task at most; 0 is no limit.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0, 1e9),
    default=10.0,
    show_default=True,
    help="Begin no turn once this many dollars are spent; 0 is no limit.",
)
@click.option(
    "--debounce", type=click.FloatRange(0, 86400), metavar="S", help="Leave a task alone for S seconds after a change."
)
@click.option(
    "--timeout", type=click.FloatRange(0, 86400), default=0.0, metavar="S", help="Wait S seconds for work at most."
)
@click.option(
    "--poll", type=click.FloatRange(0.1, 3600), default=2.0, metavar="S", help="Look for work every S seconds."
)
@click.option("--include-standalone", "standalone", is_flag=True, help="Also take tasks without an epic.")
@click.option("--include-orphans", "orphans", is_flag=True, help="Also take tasks whose parent is over.")
@click.option("--all", "everything", is_flag=True, help="Also take tasks of both these kinds.")
@click.option("--worktree", is_flag=True, help="Work in a git worktree of its own, which stays.")
@team_option
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    epic: str | None,
    auto: bool,
    headless: bool,
    agent: str | None,
    model: str,
    effort: str,
    mode: str | None,
    max_iterations: int,
    max_cost: float,
    debounce: float | None,
    timeout: float,
    poll: float,
    standalone: bool,
    orphans: bool,
    everything: bool,
    worktree: bool,
    team: str | None,
    as_json: bool,
) -> None:
    """Run an agent on one task after the other, and never wait for a person.

    It takes the next ready task, runs the agent on it, reads the signal at the end of the agent's last message, and
    goes on. Tasks handed to you wait while others are done; approve and reject in a second terminal. Without EPIC it
    works through all epics. It ends when no task is ready, or with --auto when no task is left. It skips tasks that
    wait for you, are blocked, are claimed by others or are settled. A PROGRAM gets the prompt on stdin; the agent
    `shell` runs the command of each task. Interrupting the run releases its task.

    \b
    Signals, alone in the last line:
      <promise>COMPLETE</promise>                   the task is done
      <promise>APPROVAL_NEEDED: reason</promise>    done, but needs an approval
      <promise>INPUT_NEEDED: question</promise>     cannot go on without an answer
      <promise>REVIEW_REQUESTED: url</promise>      a pull request to be reviewed
      <promise>CONTENT_REVIEW: what</promise>       texts or a design to be judged
      <promise>ESCALATE: issue</promise>            something unexpected
      <promise>CHECKPOINT: summary</promise>        a phase is done
      <promise>EJECT: reason</promise>              only a person can do it

    Exit 0 when all that could be done is done, 1 when an agent failed or is stuck, a limit is reached, or a task
    failed. --json prints one event per line: at, incarnation, event, task, text, number, spent, unpriced, code.

    \b
    Examples:
      pro0 run task-1
      pro0 run --auto --agent codex --permission-mode edits
      pro0 run 1 --headless -- ./my-agent --fast
    """
    program: tuple[str, ...] = ctx.meta[_PROGRAM]
    context = team_or_none(team)
    settings = settings_here(context)
    chosen = agent or ("command" if program else _usual())
    definition = settings.agents.get(chosen)
    _able(chosen, program, definition)
    context = context or _new_team(settings, epic)
    options = RunOptions(
        client=processes.identify(os.getpid()),
        epic=_epic(context, epic) if epic else None,
        auto=auto,
        standalone=standalone or everything,
        orphans=orphans or everything,
        agent=chosen,
        definition=definition,
        program=program,
        max_iterations=max_iterations,
        max_cost=max_cost,
        debounce=(AUTO_DEBOUNCE if auto else 0.0) if debounce is None else debounce,
        timeout=timeout,
        poll=poll,
    )
    permission = PermissionMode(mode) if mode else None
    draft = SeatDraft(name=RUNNER, model=model, effort=effort, permission_mode=permission, worktree=worktree or None)
    takeable(runner := replace(draft, agent=chosen, definition=definition))
    limitable(runner, permission or context.team.config.read().permission_mode)
    code = _follow(context, _started(context, options, draft, settings), options, plain=headless, as_json=as_json)
    ctx.exit(code)


def _new_team(settings: Settings, epic: str | None) -> Context:
    """Return a team that is made for this; raises NotFound with an epic, which no new team has."""
    if epic:
        text = f"there is no {task_id(epic)}: no team belongs to this project"
        raise NotFound(text, hint="leave it out, or look for its team: pro0 team list")
    return own_team(settings)


def _epic(context: Context, id: str) -> str:
    """Return the id of an epic; raises BadInput for a task, and names the task's epic."""
    task = tasks.show(context, id)
    if task.type is Kind.EPIC:
        return task.id
    above = epic_of(Board([*tasks.board(context), task]), task)
    hint = f"pro0 run {above.id}" if above else "leave the id out, and give --include-standalone"
    raise BadInput(f"{task.id} is not an epic", code=ErrorCode.NOT_AN_EPIC, hint=hint)


def _usual() -> str:
    """Return the default agent; raises EnvironmentMissing when only other agents are installed, and names one."""
    installed = first_installed()
    if installed not in (None, USUAL[0]):
        text = f"{USUAL[0]}, the default agent of pro0 run, is not installed"
        raise EnvironmentMissing(text, code=ErrorCode.AGENT_MISSING, hint=f"pro0 run --agent {installed}")
    return USUAL[0]


def _able(agent: str, program: tuple[str, ...], definition: Definition | None) -> None:
    """Raise BadInput for an agent without turns, EnvironmentMissing for a missing program."""
    adapter = defined(agent, definition)
    if agent not in ("command", "shell") and adapter.turn is None:
        able = [name for name in AGENTS if name in ("command", "shell") or adapter_named(name).turn]
        hint = f"define them: agents.{agent}.turn in the settings" if definition else f"one of {', '.join(able)}"
        raise BadInput(f"the agent {agent} cannot do single turns", hint=hint)
    if bool(program) != (agent == "command"):
        raise BadInput("a program and --agent command go together", hint="pro0 run --agent command -- PROGRAM ARG...")
    require(adapter, os.environ.get("PATH", os.defpath))
    started = program or (definition.turn if definition else ())
    if started and not shutil.which(started[0]):
        hint = "name one that is on the PATH, or by its path"
        raise EnvironmentMissing(f"{started[0]} is not installed", code=ErrorCode.AGENT_MISSING, hint=hint)


def _started(context: Context, options: RunOptions, draft: SeatDraft, settings: Settings) -> SeatState:
    from pro0.cli.run.follow import until
    from pro0.engine.outcomes import started

    with live() as show:
        show("starting the runner")
        need_lead(context.team, show)
        until(lambda: not runs.abandoned(context))
        seat = runs.start(context, options, draft, settings.max_teammates)
        return started(context.team, [seat], show)[0]


def _follow(context: Context, state: SeatState, options: RunOptions, *, plain: bool, as_json: bool) -> int:
    from pro0.cli.run import follow as run_follow

    if as_json:
        return run_follow.follow(context, state, run_follow.Lines(as_json=True))
    if plain or not terminal() or os.environ.get("TERM", "dumb") == "dumb":
        return run_follow.follow(context, state, run_follow.Lines(as_json=False))
    from pro0.cli.run.view import RunView

    with RunView(context, options) as view:
        return run_follow.follow(context, state, view)
