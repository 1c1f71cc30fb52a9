"""`pro0 task watch`: the task list and every change of it, as it happens."""

import select
import sys
from contextlib import closing, suppress

import click

from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, json_text, line, write
from pro0.errors import NotFound
from pro0.ops.team.feed import subscribe
from pro0.rules.feed import FeedEvent
from pro0.store.paths import TASKS

RESCAN = 2.0
"""Seconds until the next look even without a reported change: network file systems may not report one."""


@click.command()
@team_option
@json_option
def watch(team: str | None, as_json: bool) -> None:
    """Show every task, then each change as it happens, until interrupted or the team is gone.

    A change is the difference between two looks at the list, whoever made it. A slow reader gets fewer updates, but
    misses no task.

    --json prints one object per line: {event: snapshot, tasks}, then {event: create or update, task} or {event: delete,
    id}. Tasks have the field names of tasks.json.

    \b
    Examples:
      pro0 task watch
      pro0 task watch --json | jq -c 'select(.event == "update") | [.task.id, .task.status]'
    """
    context = here(team)
    documents = context.team.documents
    with closing(documents.watch([documents.tasks], TASKS.replace(".", r"\."))) as changed:
        feed = subscribe(context)
        with suppress(NotFound):
            while True:
                for event in feed.news():
                    _print(event, as_json=as_json)
                sys.stdout.flush()
                select.select([changed], [], [], RESCAN)
                changed.drain()


def _print(event: FeedEvent, *, as_json: bool) -> None:
    if as_json:
        write(json_text(event, indent=0))
        return
    for task in event.tasks or ():
        write(line(f"{task.id}  {task.status.words}  {task.title}"))
    if event.task:
        write(line(f"{event.event}  {event.task.id}  {event.task.status.words}  {event.task.title}"))
    elif event.id:
        write(f"{event.event}  {event.id}")
