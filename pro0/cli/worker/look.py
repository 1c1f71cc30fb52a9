"""`pro0 worker list`, `show` and `logs`."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.diff.sizes import changed, sized
from pro0.cli.output import json_option, line, local, mapping, name_option, pairs, say, table, write, write_json
from pro0.errors import NotFound, Pro0Error
from pro0.model.task import SETTLED
from pro0.ops.context import Context
from pro0.ops.work import diffs, workers
from pro0.ops.work.workers import Worker
from pro0.rules.text import visible


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also list those that are over and left nothing to merge.")
@team_option
@json_option
@name_option
def list_workers(everything: bool, team: str | None, as_json: bool, output: str | None) -> None:
    """List delegated tasks: at work, in line, and those that left something.

    --json prints a list of {task, stage, agentId, place, state}.

    \b
    Examples:
      pro0 worker list
      pro0 worker list --all --json
    """
    context = here(team)
    listed = [w for w in workers.workers(context) if everything or _is_of_interest(w)]
    if as_json:
        write_json(listed)
    elif output == "name":
        for worker in listed:
            write(worker.agent_id or worker.task.id)
    elif not listed:
        say('there are no workers; delegate something: pro0 delegate "what to do"')
    else:
        head = ("WORKER", "TASK", "STAGE", "BRANCH", "SINCE", "TITLE")
        table(head, [_row(worker) for worker in listed])


@click.command()
@click.argument("name", shell_complete=completing.workers)
@team_option
@json_option
def show(name: str, team: str | None, as_json: bool) -> None:
    """Show one worker: how far it is, what it left, and what a merge of that would do.

    --json prints the worker as `worker list --json` does, with merge: null or {conflicts}, and changes: null or
    {commits, files, added, removed, uncommitted}.

    \b
    Examples:
      pro0 worker show t1
    """
    context = here(team)
    worker = workers.find(context, name)
    merge, difference = _prediction(context, worker), diffs.measured(context, worker.task.id)
    if as_json:
        sizes = sized(difference)
        write_json({**mapping(worker), "merge": None if merge is None else {"conflicts": merge}, "changes": sizes})
        return
    task = worker.task
    how = "" if merge is None else f"would conflict in {', '.join(merge)}" if merge else "without conflicts"
    pairs(
        [
            ("worker", worker.agent_id),
            ("task", f"{task.id} {line(task.title)}"),
            ("stage", _stage(worker)),
            ("result", line(task.result or task.closed_reason or "")),
            ("branch", task.branch or ""),
            ("left before", ", ".join(workers.left_before(context, task))),
            ("worktree", task.worktree or ""),
            ("merge", how),
            *changed(difference),
        ]
    )


@click.command()
@click.argument("name", shell_complete=completing.workers)
@click.option("-n", "--lines", type=click.IntRange(1, 10000), default=40, show_default=True, help="How many lines.")
@team_option
@json_option
def logs(name: str, lines: int, team: str | None, as_json: bool) -> None:
    """Print the last lines that a worker showed.

    --json prints them as a list.

    \b
    Examples:
      pro0 worker logs t1
    """
    from pro0.engine.places import backend_of, shown_at
    from pro0.model.runtime import Handle

    context = here(team)
    worker = workers.find(context, name)
    config = context.team.config.read()
    if not worker.agent_id:
        raise NotFound(f"{worker.task.id} has no worker yet", hint="pro0 worker list")
    handle = shown_at(context.team, worker.state) if worker.state else None
    # A log outlives its session, a pane does not.
    log = str(context.team.paths.log(worker.agent_id))
    handle = handle or Handle(backend=config.mode, incarnation=worker.task.session or "gone", log=log)
    screen = visible(backend_of(config).peek(handle, lines)).rstrip("\n")
    if as_json:
        write_json(screen.splitlines())
    else:
        write(screen)


def _is_of_interest(worker: Worker) -> bool:
    return worker.task.status not in SETTLED or bool(worker.task.branch)


def _row(worker: Worker) -> tuple[str, ...]:
    task = worker.task
    since = local(worker.state.since if worker.state else task.updated_at)
    return (worker.agent_id, task.id, _stage(worker), task.branch or "", since, line(task.title))


def _stage(worker: Worker) -> str:
    return f"{worker.stage}, {worker.place}" if worker.place else str(worker.stage)


def _prediction(context: Context, worker: Worker) -> tuple[str, ...] | None:
    """Return the files that would conflict; None when there is nothing to merge."""
    try:
        return workers.predict(context, worker.task.id)
    except Pro0Error:
        return None
