"""A shell's completions for an argument: the present members, tasks and other names."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pro0.errors import Pro0Error

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pro0.model.task import Task
    from pro0.ops.context import Context

Offer = tuple[str, str]
"""A word, and its description for shells that show one."""
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completer(offers: Callable[[click.Context], Iterable[Offer]]) -> Completer:
    """Make a completion for click. On an error it offers nothing, and prints nothing into the person's line."""

    def complete(context: click.Context, _parameter: click.Parameter, start: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        from pro0.cli.output import line

        try:
            words = list(offers(context))
        except (Pro0Error, OSError):
            return []
        if start.isdigit():  # a typed number means the number of a task
            words = [(word.removeprefix("task-"), about) for word, about in words]
        return [CompletionItem(word, help=line(about)) for word, about in words if word.startswith(start)]

    return complete


def _team(context: click.Context) -> "Context":
    from pro0.cli.context import here

    return here(context.params.get("team"))


def _members(context: click.Context) -> Iterable[Offer]:
    from pro0.ops.team.status import status

    return [(member.agent_id, f"{member.agent}, {member.state}") for member in status(_team(context)).members]


def _receivers(context: click.Context) -> Iterable[Offer]:
    return [*_members(context), ("lead", "the lead, or its agent"), ("human", "you")]


def _of_tasks(fits: "Callable[[Task], object]") -> Callable[[click.Context], Iterable[Offer]]:
    def offers(context: click.Context) -> Iterable[Offer]:
        from pro0.ops.tasks.tasks import list_tasks

        return [(task.id, task.title) for task in list_tasks(_team(context)) if fits(task)]

    return offers


def _workers(context: click.Context) -> Iterable[Offer]:
    from pro0.ops.work.workers import workers

    return [(worker.agent_id or worker.task.id, worker.task.title) for worker in workers(_team(context))]


def _roles(_context: click.Context) -> Iterable[Offer]:
    from pro0.cli.context import store
    from pro0.ops.tasks.roles import all_roles

    return [(role.id, role.name) for role in all_roles(store())]


def _agents(_context: click.Context) -> Iterable[Offer]:
    from pro0.cli.context import store
    from pro0.model.agent import offered
    from pro0.ops import trust
    from pro0.ops.team import project

    definitions = trust.settings(store().home, project.root(Path.cwd().resolve()), os.environ).agents
    return [(name, "") for name in sorted({*offered(), *definitions})]


def _layouts(_context: click.Context) -> Iterable[Offer]:
    from pro0.cli.context import store
    from pro0.ops.team import project
    from pro0.ops.trust import layout_names

    return [(name, "") for name in layout_names(project.root(Path.cwd().resolve()), store().home)]


def _hosts(_context: click.Context) -> Iterable[Offer]:
    from pro0 import ssh
    from pro0.cli.context import store
    from pro0.ops import trust
    from pro0.ops.team import project

    command = trust.settings(store().home, project.root(Path.cwd().resolve()), os.environ).ssh
    return [(name, "") for name in ssh.known(command)]


def _archives(_context: click.Context) -> Iterable[Offer]:
    from pro0.cli.context import store

    return dict.fromkeys((archive.name, "") for archive in store().archives())


def _settings(_context: click.Context) -> Iterable[Offer]:
    from pro0.config import SETTINGS

    return [(setting.name, setting.rule.about) for setting in SETTINGS]


def _values(context: click.Context) -> Iterable[Offer]:
    from pro0.config import SETTINGS

    name = context.params.get("name")
    return [(word, setting.rule.about) for setting in SETTINGS if setting.name == name for word in setting.rule.words]


def _statuses(_context: click.Context) -> Iterable[Offer]:
    from pro0.model.task import Status

    return [(status, "") for status in Status]


def _workplaces(context: click.Context) -> Iterable[Offer]:
    return [*_members(context), *_of_tasks(lambda _task: True)(context)]


members = completer(_members)
receivers = completer(_receivers)
tasks = completer(_of_tasks(lambda _task: True))
statuses = completer(_statuses)
waiting_tasks = completer(_of_tasks(lambda task: task.waits))
workers = completer(_workers)
workplaces = completer(_workplaces)
roles = completer(_roles)
agents = completer(_agents)
hosts = completer(_hosts)
layouts = completer(_layouts)
settings = completer(_settings)
setting_values = completer(_values)
archives = completer(_archives)
