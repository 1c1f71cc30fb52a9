"""The acts on roles: list, show, add, edit, remove."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from pro0.cli import completing
from pro0.cli.context import caller, project_here, store
from pro0.cli.output import json_option, line, name_option, pairs, table, text_or_stdin, write, write_json
from pro0.errors import BadInput
from pro0.model.home import Role
from pro0.model.ids import agent_id_from
from pro0.ops import trust
from pro0.ops.tasks import roles
from pro0.ops.tasks.drafts import known_agent
from pro0.rules.text import visible
from pro0.store.teams import Store

F = TypeVar("F", bound=Callable[..., Any])


def _fields(function: F) -> F:
    """Give a command the options for a role's fields."""
    for option in (
        click.option("--prompt", metavar="TEXT|-", help="What agents with this role are told; - is stdin."),
        click.option(
            "--agent",
            metavar="AGENT",
            shell_complete=completing.agents,
            help="The agent for this role; by default the usual one.",
        ),
        click.option("--model", help="The model for its agent."),
        click.argument("program", nargs=-1, metavar="[-- PROGRAM ARG...]"),
    ):
        function = option(function)
    return function


@click.command("list")
@json_option
@name_option
def list_roles(as_json: bool, output: str | None) -> None:
    """List the roles, including those that come with pro0.

    --json prints a list of {id, name, prompt, agent, model, argv}.

    \b
    Examples:
      pro0 role list
      pro0 role list -o name
    """
    listed = roles.all_roles(_checked_store())
    if as_json:
        write_json(listed)
    elif output == "name":
        for role in listed:
            write(role.id)
    else:
        table(("ROLE", "NAME", "AGENT", "PROMPT"), [(r.id, r.name, r.agent, _beginning(r.prompt)) for r in listed])


@click.command()
@click.argument("name", metavar="ROLE", shell_complete=completing.roles)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show one role with its prompt.

    --json prints {id, name, prompt, agent, model, argv}.

    \b
    Examples:
      pro0 role show engineer
      pro0 role show engineer --json | jq -r .prompt
    """
    _tell(roles.find_role(_checked_store(), name), "", as_json=as_json)


@click.command()
@click.argument("name")
@_fields
@json_option
def add(name: str, as_json: bool, program: tuple[str, ...], **options: str | None) -> None:
    """Add a role, with an id made from its name.

    --json prints the role.

    \b
    Examples:
      pro0 role add "Tech Writer" --prompt "You write documentation." --agent codex
      pro0 role add tester --prompt - < tester.md
      pro0 role add linter -- ./lint-agent
    """
    role = Role(id=agent_id_from(name, "role name"), name=name.strip(), **_fields_of(options, program))  # type: ignore[arg-type]
    _tell(roles.add(_checked_store(), caller()[0], role), "added", as_json=as_json)


@click.command()
@click.argument("name", metavar="ROLE", shell_complete=completing.roles)
@click.option("--name", "new_name", help="Its name; the id stays.")
@_fields
@json_option
def edit(name: str, new_name: str | None, as_json: bool, program: tuple[str, ...], **options: str | None) -> None:
    """Change a role: fields without an option stay, and an empty text removes a field.

    Running sessions keep the role that they were started with.

    --json prints the role.

    \b
    Examples:
      pro0 role edit engineer --prompt - < engineer.md
      pro0 role edit reviewer --agent claude
    """
    changes = _fields_of(options | {"name": new_name}, program)
    if not changes:
        raise BadInput("there is nothing to change", hint="pro0 role edit --help")
    _tell(roles.edit(_checked_store(), caller()[0], name, changes), "changed", as_json=as_json)


@click.command()
@click.argument("name", metavar="ROLE", shell_complete=completing.roles)
@json_option
def remove(name: str, as_json: bool) -> None:
    """Remove a role that no open task and no living member has.

    --json prints the role as it was.

    \b
    Examples:
      pro0 role remove designer
    """
    _tell(roles.remove(_checked_store(), caller()[0], name), "removed", as_json=as_json)


def _checked_store() -> Store:
    opened = store()
    opened.check()
    return opened


def _fields_of(options: dict[str, str | None], program: tuple[str, ...]) -> dict[str, object]:
    """Return the fields with an option. Only the agent `command` has a program."""
    fields: dict[str, object] = {name: value for name, value in options.items() if value is not None}
    if "prompt" in fields:
        fields["prompt"] = text_or_stdin(str(fields["prompt"]))
    if program:
        fields |= {"argv": program, "agent": fields.get("agent", "command")}
    elif fields.get("agent", "command") != "command":
        fields["argv"] = ()
    if agent := options.get("agent"):
        known_agent(agent, trust.settings(store().home, project_here(), os.environ).agents)
    return fields


def _tell(role: Role, verb: str, *, as_json: bool) -> None:
    if as_json:
        write_json(role)
    elif verb:
        write(f"{role.id} {verb}: {line(role.name)}")
    else:
        pairs([("role", f"{role.id} ({role.name})"), *_details(role)])
        write(f"\n{visible(role.prompt)}" if role.prompt else "")


def _details(role: Role) -> list[tuple[str, str]]:
    lines = [("agent", role.agent), ("model", role.model), ("program", " ".join(role.argv))]
    return [(name, value) for name, value in lines if value]


def _beginning(prompt: str) -> str:
    return prompt.strip().splitlines()[0] if prompt.strip() else ""
