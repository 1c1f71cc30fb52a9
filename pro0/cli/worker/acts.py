"""`pro0 worker kill` and `merge`."""

import click

from pro0.cli import completing
from pro0.cli.context import acting, need_lead, team_option
from pro0.cli.output import say, write
from pro0.errors import BadInput, ErrorCode, Pro0Error, Refused
from pro0.model.task import SETTLED, Status
from pro0.ops.context import Context
from pro0.ops.work import workers


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=completing.workers)
@team_option
def kill(names: tuple[str, ...], team: str | None) -> None:
    """End workers: TERM, ten seconds, KILL, the whole process tree. Their tasks fail, and their work is saved.

    A worker whose task is settled already stays as it is.

    \b
    Examples:
      pro0 worker kill t1 t2
    """
    context = acting(team)
    try:
        for name in names:
            worker = workers.kill(context, name)
            over = worker.task.status in SETTLED
            write(f"{worker.task.id} is already {worker.task.status}" if over else f"{worker.agent_id} is being ended")
    finally:  # even if a later name is refused, the lead has to end those before it
        need_lead(context.team)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=completing.workers)
@click.option("--all", "everything", is_flag=True, help="Merge all that workers left, except of failed tasks.")
@team_option
def merge(names: tuple[str, ...], everything: bool, team: str | None) -> None:
    """Merge what workers left into the project's checkout, one after the other.

    Each merge is predicted first, without touching any checkout. A branch that would conflict is named and left alone,
    exit 4. Nothing is merged while the checkout has uncommitted changes, exit 4. A merged branch is removed.

    \b
    Examples:
      pro0 worker merge t1
      pro0 worker merge --all
    """
    context = acting(team)
    if everything == bool(names):
        raise BadInput("name workers, or give --all", hint="pro0 worker list shows what they left")
    chosen = _unmerged(context) if everything else names
    failed = [error for name in chosen if (error := _merged(context, name, alone=len(chosen) == 1))]
    if len(failed) > 1:
        text = f"{len(failed)} branches are not merged"
        raise Refused(text, code=ErrorCode.CONFLICT, hint="merge them by hand: git merge BRANCH")
    if failed:
        raise failed[0]


def _unmerged(context: Context) -> list[str]:
    """Return the tasks with branches to merge; only name the branches of failed tasks and earlier workers."""
    delegated = workers.workers(context)
    with_a_worktree = [worker for worker in delegated if workers.is_open(context, worker)]
    unsaved = [worker.task for worker in with_a_worktree if workers.is_over(worker)]
    over = [worker.task for worker in delegated if worker.task.branch and worker not in with_a_worktree]
    earlier = [(worker.task.id, branch) for worker in delegated for branch in workers.left_before(context, worker.task)]
    for task in unsaved:
        say(f"{task.worktree} of {task.id} could not be saved, and is left out; why: pro0 worker merge {task.id}")
    for task in over:
        if task.status is Status.FAILED:
            say(f"{task.id} has failed, so {task.branch} is left out; if it is good: pro0 worker merge {task.id}")
    for id, branch in earlier:
        say(f"an earlier worker of {id} left {branch}, which is left out; if it is good: git merge {branch}")
    if not over and not earlier and not unsaved:
        say("no worker has left anything that is not merged")
    return [task.id for task in over if task.status is not Status.FAILED]


def _merged(context: Context, name: str, *, alone: bool) -> Pro0Error | None:
    """Merge the branch of one worker; return the error, if any, and print it unless the worker is `alone`."""
    try:
        task = workers.merge(context, name)
    except Pro0Error as error:
        if not alone:
            say(f"{name}: {error.message}")
        return error
    write(f"{task.id} is merged")
    return None
