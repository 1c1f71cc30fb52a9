"""`pro0 task create`."""

import click

from pro0.cli import completing
from pro0.cli.context import given, here, team_option
from pro0.cli.help.sections import SectionedCommand
from pro0.cli.output import json_option, label_option, line, name_option, say, text_or_stdin, write, write_json
from pro0.errors import BadInput
from pro0.model.task import Awaiting, Draft, Gate, Kind, Policy, Task
from pro0.ops.tasks import tasks
from pro0.ops.team.needs import beyond_all
from pro0.rules.tasks.gates import wait_in_words

_KINDS = click.Choice([str(kind) for kind in Kind])
_GATES = click.Choice([str(gate) for gate in Gate])
_AWAITING = click.Choice([str(kind) for kind in Awaiting])
_POLICIES = click.Choice([str(policy) for policy in Policy])
_TYPES = {"type": Kind, "requires": Gate, "awaiting": Awaiting, "policy": Policy}


@click.command(
    cls=SectionedCommand,
    sections={
        "The task": "--description --acceptance --type --run --timeout --labels",
        "When it is worked on": "--blocked-by --parent --priority",
        "Who works on it": "--assignee --role --policy",
        "What it needs from you": "--requires --awaiting",
        "Many tasks": "--file",
    },
)
@click.argument("title", required=False)
@click.option("--run", help="The shell command of the task; a shell member executes it.")
@click.option("--timeout", type=float, metavar="S", help="The limit of that command in seconds.")
@click.option(
    "--blocked-by",
    "blocked_by",
    multiple=True,
    shell_complete=completing.tasks,
    metavar="ID",
    help="A task that must be completed first; repeatable.",
)
@click.option(
    "--parent", type=given, shell_complete=completing.tasks, metavar="ID", help="The task that this is a part of."
)
@click.option("--priority", type=int, help="Lower goes first; 0 to 4 are usual; 2, or last in a supervised tree.")
@click.option("--assignee", metavar="MEMBER", shell_complete=completing.members, help="Reserve it for this member.")
@label_option("Labels; repeatable.")
@click.option("-d", "--description", metavar="TEXT|-", help="The description; - is stdin.")
@click.option("--acceptance", metavar="TEXT", help="How to tell that it is done.")
@click.option("--type", "kind", type=_KINDS, help="An epic only groups tasks.  [default: task]")
@click.option("--requires", type=_GATES, help="What a person has to give before it is completed.")
@click.option(
    "--awaiting",
    type=_AWAITING,
    help="It waits for you from the start, and agents skip it: work (you do it), input (you answer), approval, "
    "review, content, escalation or checkpoint (you approve or reject).",
)
@click.option("--manual", is_flag=True, hidden=True, help="Deprecated: --awaiting work.")
@click.option("--role", metavar="ROLE", shell_complete=completing.roles, help="The role of whoever works on it.")
@click.option(
    "--policy",
    type=_POLICIES,
    help="Who works on it and on what is below it: pool, members that take it; supervised, a session for each task, "
    "one after the other; dispatch, a worker in a worktree for each, side by side.  [default: pool]",
)
@click.option("-f", "--file", "file", metavar="FILE|-", help="Add all tasks of a YAML or JSON file; - is stdin.")
@team_option
@json_option
@name_option
@click.pass_context
def create(
    context: click.Context, /, file: str | None, team: str | None, as_json: bool, output: str | None, **options: object
) -> None:
    """Add a task, or all tasks of a file.

    A FILE is a list of tasks, or {tasks: [...]}. A task has the keys title, key, description, acceptance, type, run,
    timeout, blockedBy, parent, priority, assignee, labels, requires, awaiting, role, agent, shared and policy;
    blockedBy and parent name ids, or the keys of other tasks of the file. Either all tasks are added, or none. --json
    prints the task; with -f the list of tasks.

    \b
    Examples:
      pro0 task create "build it" --run make --timeout 600
      pro0 task create "test it" --run "make test" --blocked-by 1
      pro0 task create "new price list" --requires content
      pro0 task create -f tasks.yaml
    """
    team_here = here(team)
    if file is None:
        created = tasks.create(team_here, [_draft(options)])
    else:
        _alone(context)
        from pro0.cli.task.file import read

        created = tasks.create(team_here, read(file))
    _tell(created, as_json=as_json, output=output, single=file is None)
    if warning := beyond_all(team_here, created):
        say(f"Warning: {warning}")


def _draft(options: dict[str, object]) -> Draft:
    """Return the task that the options describe; its other fields have their defaults."""
    names = {"kind": "type"}
    fields = {names.get(name, name): value for name, value in options.items() if value is not None}
    if "title" not in fields:
        raise BadInput("a task needs a title", hint='pro0 task create "what to do", or -f FILE')
    if "description" in fields:
        fields["description"] = text_or_stdin(str(fields["description"]))
    if fields.pop("manual"):
        say("Warning: --manual is deprecated, use --awaiting work instead")
        fields.setdefault("awaiting", Awaiting.WORK)
    fields |= {name: kind(str(fields[name])) for name, kind in _TYPES.items() if name in fields}
    return Draft(**fields)  # type: ignore[arg-type]


def _alone(context: click.Context) -> None:
    """Refuse options for one task together with a file of tasks."""
    for name, value in context.params.items():
        if name not in ("file", "team", "as_json", "output") and value not in (None, (), False):
            raise BadInput(f"-f FILE takes no {name.replace('_', '-')}", hint="put it into the file")


def _tell(created: list[Task], *, as_json: bool, output: str | None, single: bool) -> None:
    if as_json:
        write_json(created[0] if single else created)
        return
    for task in created:
        if output == "name":
            write(task.id)
        else:
            held = f" (waits for a human: {wait_in_words(task.awaiting)})" if task.awaiting else ""
            write(f"{task.id} created: {line(task.title)}{held}")
