"""The changes of a task: update, block, unblock, cancel, reopen, delete."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.help.sections import SectionedCommand
from pro0.cli.output import json_option, label_option, say, text_or_stdin
from pro0.cli.task.acts import again, outcome, write_outcome
from pro0.cli.task.awaiting import NOTHING, kind
from pro0.errors import BadInput
from pro0.model.ids import task_id
from pro0.model.task import Changes, Gate, Verdict
from pro0.ops.context import Context
from pro0.ops.tasks import gates, tasks

_GATES = click.Choice([*map(str, Gate), "none", "null", ""])
_VERDICTS = click.Choice([str(verdict) for verdict in Verdict])


@click.command(
    cls=SectionedCommand,
    sections={
        "The task": "--title --description --acceptance --run --timeout --labels",
        "When it is worked on": "--priority --add-dependency --drop-dependency",
        "Who works on it": "--role",
        "What it needs from you": "--requires --awaiting --verdict",
    },
)
@click.argument("id", shell_complete=completing.tasks)
@click.argument("text", default="", metavar="[TEXT|-]")
@click.option("--title", help="The title.")
@click.option("-d", "--description", metavar="TEXT|-", help="The description; - is stdin.")
@click.option("--acceptance", metavar="TEXT", help="How to tell that it is done.")
@click.option("--run", help="The shell command of the task; an empty one removes it.")
@click.option("--timeout", type=float, metavar="S", help="The limit of that command in seconds; 0 removes it.")
@click.option("--priority", type=int, help="Lower goes first.")
@label_option("The new labels, in place of all old ones; repeatable; an empty one removes all.")
@click.option(
    "--role",
    metavar="ROLE",
    shell_complete=completing.roles,
    help="The role of whoever works on it; an empty one removes it.",
)
@click.option("--requires", type=_GATES, help="What a person has to give before it is completed; only a person may.")
@click.option(
    "--add-dependency",
    multiple=True,
    shell_complete=completing.tasks,
    metavar="ID",
    help="A task that must be completed first; repeatable.",
)
@click.option(
    "--drop-dependency",
    multiple=True,
    shell_complete=completing.tasks,
    metavar="ID",
    help="A task that it no longer waits for; repeatable.",
)
@click.option("--awaiting", metavar="KIND|none", help="Hand it to a person, TEXT saying why; none takes it back.")
@click.option("--verdict", type=_VERDICTS, help="Answer a task that waits for you, like approve and reject.")
@team_option
@json_option
def update(
    id: str, text: str, awaiting: str | None, verdict: str | None, team: str | None, as_json: bool, **options: object
) -> None:
    """Change fields of a task that is not settled; fields without an option stay.

    With --awaiting the task waits for a person: for work, approval, input, review, content, escalation or checkpoint.
    A member can hand off only its own task; a person can hold any task. --json prints the task.

    \b
    Examples:
      pro0 task update 3 --priority 0 --label urgent
      pro0 task update 7 --drop-dependency 5
      pro0 task update 3 --awaiting input "which of the two formats?"
    """
    changes, context = _changes(options), here(team)
    given_kinds = [changes != Changes(), awaiting is not None, verdict is not None]
    if not any(given_kinds):
        hint = f"pro0 task update {id} --title TEXT, --priority N, --awaiting KIND; pro0 task update --help"
        raise BadInput("there is nothing to change", hint=hint)
    if given_kinds.count(True) != 1 or (text and given_kinds[0]):
        hint = "fields, or --awaiting KIND [TEXT], or --verdict VERDICT [TEXT]; pro0 task update --help"
        raise BadInput("one kind of change at a time", hint=hint)
    if awaiting is not None:
        _await(context, id, awaiting, text_or_stdin(text), as_json=as_json)
    elif verdict is not None:
        task = gates.answer(context, id, Verdict(verdict), text_or_stdin(text))
        write_outcome(task, f"{verdict} ({outcome(task)})", as_json=as_json)
    else:
        write_outcome(tasks.update(context, id, changes), "updated", as_json=as_json)


def _changes(options: dict[str, object]) -> Changes:
    """Return the fields with an option; the other fields stay as they are."""
    names = {"add_dependency": "add_dependencies", "drop_dependency": "drop_dependencies"}
    fields = {names.get(name, name): value for name, value in options.items() if value not in (None, ())}
    if "description" in fields:
        fields["description"] = text_or_stdin(str(fields["description"]))
    if fields.get("requires") in NOTHING:
        fields["requires"] = ""
    if fields.get("labels") == ("",):
        fields["labels"] = ()
    return Changes(**fields)  # type: ignore[arg-type]


def _await(context: Context, id: str, word: str, why: str, *, as_json: bool) -> None:
    if word in NOTHING:
        task = gates.clear(context, id, why)
        write_outcome(task, outcome(task) if task.waits else "waits for nobody", as_json=as_json)
    else:
        task = gates.await_human(context, id, kind(word), why)
        write_outcome(task, outcome(task), as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("others", nargs=-1, required=True, metavar="OTHER...", shell_complete=completing.tasks)
@team_option
@json_option
def block(id: str, others: tuple[str, ...], team: str | None, as_json: bool) -> None:
    """Let a task wait for others: either all of them are added, or none.

    The others may also be separated by commas. --json prints the task.

    \b
    Examples:
      pro0 task block 7 5 6
    """
    changes = Changes(add_dependencies=_each(others))
    write_outcome(tasks.update(here(team), id, changes), "updated", as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("others", nargs=-1, required=True, metavar="OTHER...", shell_complete=completing.tasks)
@team_option
@json_option
def unblock(id: str, others: tuple[str, ...], team: str | None, as_json: bool) -> None:
    """Let a task no longer wait for others.

    --json prints the task.

    \b
    Examples:
      pro0 task unblock 7 5
    """
    context, dependencies = here(team), _each(others)
    before = tasks.show(context, id).dependencies
    task = tasks.update(context, id, Changes(drop_dependencies=dependencies))
    needless = [name for name in dict.fromkeys(map(task_id, dependencies)) if name not in before]
    words = f"did not wait for {', '.join(needless)}" if needless else ""
    if words and task.dependencies != before:
        say(f"{task.id} {words}")
        words = ""
    write_outcome(task, words or "updated", as_json=as_json)


def _each(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for word in words for name in word.split(",") if name)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("reason", default="", metavar="[REASON|-]")
@team_option
@json_option
def cancel(id: str, reason: str, team: str | None, as_json: bool) -> None:
    """Cancel a task and its open subtasks; members that work on one are told.

    --json prints the task.

    \b
    Examples:
      pro0 task cancel 3 "no longer wanted"
    """
    task = tasks.cancel(here(team), id, text_or_stdin(reason))
    write_outcome(task, outcome(task), as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.argument("reason", default="", metavar="[REASON|-]")
@team_option
@json_option
def reopen(id: str, reason: str, team: str | None, as_json: bool) -> None:
    """Make a settled task pending again, with its history.

    --json prints the task.

    \b
    Examples:
      pro0 task reopen 3 "the fix was not complete"
    """
    task = tasks.reopen(here(team), id, text_or_stdin(reason))
    write_outcome(task, again(task), as_json=as_json)


@click.command()
@click.argument("id", shell_complete=completing.tasks)
@click.option("--force", is_flag=True, help="Even if other tasks name it, or somebody works on it.")
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
    write_outcome(tasks.delete(here(team), id, force=force), "deleted", as_json=as_json)
