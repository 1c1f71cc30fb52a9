"""Looking at tasks: list, show, tree."""

from collections.abc import Sequence

import click
from msgspec.structs import replace

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import (
    json_option,
    json_text,
    label_option,
    line,
    local,
    mapping,
    name_option,
    pairs,
    say,
    table,
    words,
    write,
    write_json,
)
from pro0.cli.task import awaiting as waits
from pro0.errors import BadInput, NotFound
from pro0.model.ids import HUMAN, LEAD, task_id
from pro0.model.task import Kind, Status, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.rules.tasks import answers
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.tasks.gates import wait_in_words
from pro0.rules.text import visible


@click.command("list")
@click.option(
    *("--status", "statuses"),
    multiple=True,
    metavar="STATUS,...",
    callback=lambda _context, _parameter, given: frozenset(map(_status, words(given))),
    shell_complete=completing.statuses,
    help="Only tasks of one of these statuses.",
)
@click.option("--assignee", metavar="MEMBER", shell_complete=completing.members, help="Only tasks of this member.")
@label_option("Only with all these labels.")
@waits.filter_option("Only tasks that wait for a human; of these kinds, or of any.")
@click.option("--archived", is_flag=True, help="Only archived tasks.")
@click.option("--all", "everything", is_flag=True, help="Archived tasks too.")
@team_option
@json_option
@name_option
def list_tasks(
    statuses: frozenset[Status],
    assignee: str | None,
    labels: tuple[str, ...],
    awaiting: str | None,
    archived: bool,
    everything: bool,
    team: str | None,
    as_json: bool,
    output: str | None,
) -> None:
    """List tasks: pending ones by priority, then the others, the latest change first.

    When more than 1,000 tasks are settled, the older ones are in the archive.

    --json prints a list of tasks with the field names of tasks.json.

    \b
    Examples:
      pro0 task list
      pro0 task list --status failed,cancelled -o name
      pro0 task list --assignee w1 --json
      pro0 task list --awaiting approval,review
    """
    context = here(team)
    kinds = None if awaiting is None else waits.kinds(awaiting)
    address = _address(context, assignee) if assignee is not None else None
    matching = [
        task
        for task in tasks.list_tasks(context, live=everything or not archived, archived=everything or archived)
        if task.status in (statuses or Status)
        and address in (None, task.assignee)
        and set(labels).issubset(task.labels)
        if kinds is None or (task.waits and task.waits.kind in kinds)
    ]
    print_tasks(context, matching, "no tasks", as_json=as_json, output=output)


def _status(word: str) -> Status:
    try:
        return Status(word.lower())
    except ValueError:
        raise BadInput(f"a task is never {word!r}", hint=f"one of {', '.join(Status)}") from None


@click.command()
@team_option
def query(team: str | None) -> None:
    """Print every task as one line of JSON, with the field names of tasks.json; archived tasks too.

    \b
    Examples:
      pro0 task query | jq -r 'select(.status == "failed") | .title'
    """
    for task in tasks.list_tasks(here(team), archived=True):
        write(json_text(task, indent=0))


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@team_option
@json_option
def show(id: str, team: str | None, as_json: bool) -> None:
    """Show one task, what it waits for, and what was said about it.

    --json prints the task with the field names of tasks.json, and whyNotReady, remarks and changes. whyNotReady is null
    for a ready task. remarks is [{at, author, text, act, task, role, kind, asked, to}], where kind and asked say what a
    person's act answered. changes is null or {commits, files, added, removed, uncommitted, of}; if the task was done in
    a member's worktree, it covers the whole worktree, and `of` names the member.

    \b
    Examples:
      pro0 task show 3
      pro0 task show task-3 --json | jq .result
    """
    from pro0.cli.diff.sizes import changed, sized
    from pro0.ops.work import diffs

    context = here(team)
    task = tasks.show(context, id)
    board = tasks.board(context)
    remarks = tasks.remarks(context, task.id)
    worker, difference = diffs.measured_task(context, task)
    if as_json:
        whole = replace(task, history=tuple(tasks.history(context, task.id)), earlier=0)
        details = {"whyNotReady": why_not_ready(board, task), "remarks": remarks}
        write_json({**mapping(whole), **details, "changes": sized(difference, worker)})
        return
    pairs([*_fields(board, task, tasks.family(context, task.id).children(task.id)), *changed(difference, worker)])
    if remarks:
        write("\nremarks")
    for remark in remarks:
        write(f"  {local(remark.at)} {line(remark.author)}{f' ({line(remark.act)})' if remark.act else ''}")
        write("    " + visible(answers.line(remark)).replace("\n", "\n    "))


@click.command()
@click.argument("id", required=False, shell_complete=completing.tasks)
@team_option
@json_option
def tree(id: str | None, team: str | None, as_json: bool) -> None:
    """Show tasks under their parents, including archived subtasks of tasks that are not archived.

    --json prints a list of tasks with the field names of tasks.json, each with its children as a list of the same kind.

    \b
    Examples:
      pro0 task tree
      pro0 task tree 3
    """
    context = here(team)
    board = tasks.board(context)
    family = tasks.family(context, id)
    roots = [task for task in family if (task.id == task_id(id) if id else family.get(task.parent or "") is None)]
    if id is not None and not roots:
        raise NotFound(f"there is no {task_id(id)}", hint="list them: pro0 task list")
    if as_json:
        write_json([_nested(family, task) for task in roots])
    elif not roots:
        say("no tasks")
    for task in [] if as_json else roots:
        _branch(board, family, task, "", "")


def _address(context: Context, text: str) -> str:
    folded = text.strip().casefold()
    if folded in (LEAD, HUMAN):
        return folded
    from pro0.ops.team import members  # start-up time

    return members.members(context).find(text).agent_id


def print_tasks(context: Context, listed: Sequence[Task], none: str, *, as_json: bool, output: str | None) -> None:
    """Print a list of tasks in the requested form; say `none` when the list is empty."""
    if as_json:
        write_json(listed)
    elif output == "name":
        for task in listed:
            write(task.id)
    elif not listed:
        say(none)
    else:
        board = tasks.board(context)
        rows = [
            (task.id, task.status.words, str(task.priority), task.assignee or "", task.title, _note(board, task))
            for task in listed
        ]
        table(("TASK", "STATUS", "PRI", "ASSIGNEE", "TITLE", "NOTE"), rows, flexible=4)


def _note(board: Board, task: Task) -> str:
    """Return the note beside a task's status: ready, its blockers, its wait, or the reason of its end."""
    why = why_not_ready(board, task)
    if why is None:
        return "ready"
    if why == f"is {task.status.words}":
        return task.closed_reason
    if task.waits:
        return f"awaiting {wait_in_words(task.waits)}"
    return "epic" if task.type is Kind.EPIC else why.removeprefix("is ")


def _fields(board: Board, task: Task, children: Sequence[Task]) -> list[tuple[str, str]]:
    claim = task.claim
    held = f"{claim.agent_id} since {local(claim.claimed_at)} (epoch {claim.epoch})" if claim else ""
    return [
        ("task", task.id),
        ("title", task.title),
        ("type", task.type if task.type is not Kind.TASK else ""),
        ("status", task.status.words),
        ("note", _note(board, task)),
        ("assignee", task.assignee or ""),
        ("claim", held),
        ("priority", str(task.priority)),
        ("labels", ", ".join(task.labels)),
        ("parent", task.parent or ""),
        ("subtasks", ", ".join(child.id for child in children)),
        ("blocked by", ", ".join(task.dependencies)),
        ("description", task.more),
        ("acceptance", task.acceptance),
        ("run", task.run or ""),
        ("timeout", f"{task.timeout:g} s" if task.timeout else ""),
        ("requires", task.requires or ""),
        ("role", task.role or ""),
        ("policy", task.policy or ""),
        ("result", task.result or ""),
        ("origin", task.origin or ""),
        ("created", f"{local(task.created_at)} by {task.created_by}"),
        ("started", local(task.started_at)),
        ("completed", local(task.completed_at)),
    ]


def _branch(board: Board, family: Board, task: Task, lead: str, below: str) -> None:
    note = _note(board, task)
    state = f"{task.status.words}{f', {note}' if note else ''}"
    write(f"{lead}{task.id}  {line(task.title)}  ({line(state)})")
    children = family.children(task.id)
    for child in children:
        is_last = child is children[-1]
        _branch(board, family, child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  "))


def _nested(family: Board, task: Task) -> dict[str, object]:
    return {**mapping(task), "children": [_nested(family, child) for child in family.children(task.id)]}
