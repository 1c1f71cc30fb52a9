"""`pro0 member answer`: a person's answer to a permission request, and the hook that asks and waits."""

import os
import re
import select
import sys
import time
from contextlib import closing, suppress

import click
from msgspec.structs import replace

from pro0 import processes
from pro0.agents.claude import permission as claude
from pro0.cli.context import acting, here, team_option
from pro0.cli.output import json_option, line, live, text_or_stdin, write, write_json
from pro0.errors import NotFound, Pro0Error
from pro0.model.need import Choice, PermissionAnswer, PermissionRequest
from pro0.ops import permissions
from pro0.ops.context import Context, new_id
from pro0.rules.person.permissions import over_in_words
from pro0.store.paths import PERMISSIONS
from pro0.store.places.folder import Folder

LOOK = 2.0
"""Seconds between two looks without a change."""


@click.command()
@click.argument("request")
@click.argument("choice", required=False, type=click.Choice([choice.value for choice in Choice]))
@click.argument("text", required=False, metavar="TEXT|-")
@team_option
@json_option
def answer(request: str, choice: str | None, text: str | None, team: str | None, as_json: bool) -> None:
    """Answer an agent that asks for a permission; without a choice, show the whole request.

    `always` allows it for the rest of the session, if the agent offers that. TEXT is the reason for `deny`, which the
    agent reads. The agent's own dialog stays open in its pane, and the first answer counts.

    --json prints {id, agentId, incarnation, tool, input, key, choices, at, answer, outcome, asker, machine}.

    \b
    Examples:
      pro0 needs
      pro0 member answer 3f9a01c2be77
      pro0 member answer 3f9a01c2be77 allow
      pro0 member answer 3f9a01c2be77 deny "use the test database"
    """
    if choice is None:
        context = here(team)
        shown = permissions.show(context, request)
        write_json(shown) if as_json else _write(shown, context.team.machine, f" -t {team}" if team else "")
        return
    context = acting(team)
    given = permissions.answer(context, request, Choice(choice), text_or_stdin(text) if text else "")
    with live() as show:
        show(f"giving {given.agent_id} your answer")
        over = permissions.wait_until_taken(context, given)
    write_json(over) if as_json else write(f"{over.agent_id} has your answer: {choice}")


def _write(request: PermissionRequest, machine: str, team_flag: str) -> None:
    write(f"{request.agent_id} asks for a permission: {line(request.tool)}")
    for text in request.input.splitlines():
        write(f"  {line(text)}")
    if over := over_in_words(request):
        write(f"It is {over}.")
    elif permissions.is_unheard(request, machine):
        write("The agent no longer waits for an answer.")
    else:
        write(f"Answer with: pro0 member answer {request.id} {'|'.join(request.choices)}{team_flag}")


@click.command("permission-hook", hidden=True)
@team_option
def hook(team: str | None) -> None:
    """Pass on an agent's question to the person, and wait for the answer; Claude Code calls this hook.

    \b
    Examples:
      pro0 member permission-hook < event.json
    """
    event = claude.read(sys.stdin.buffer.read())
    if event is None:
        return
    if claude.is_own(event):
        sys.stdout.buffer.write(claude.allowed())
        return
    with suppress(Pro0Error):  # the dialog in the pane stays, whatever fails here
        context = here(team)
        question = replace(claude.asked(event, new_id()), asker=processes.identify(os.getpid()))
        asked = permissions.ask(context, question)
        with suppress(NotFound):
            if given := _awaited(context, asked):
                sys.stdout.buffer.write(claude.decision(event, given))
                sys.stdout.buffer.flush()
                permissions.settle(context, {asked.id: "taken"})


def _awaited(context: Context, asked: PermissionRequest) -> PermissionAnswer | None:
    """Return the person's answer, or None if the request ends without one."""
    above = processes.ancestors(os.getpid())
    dialog = claude.Dialog(above, os.environ)
    documents, dialog_place = context.team.documents, Folder(dialog.folder)
    places = [documents.team, *([dialog_place] if dialog_place.is_there() else [])]
    with closing(documents.watch(places, "|".join(map(re.escape, (PERMISSIONS, *dialog.files))))) as changed:
        while True:
            request = permissions.show(context, asked.id)
            if request.outcome or above[0].pid != os.getppid():
                return None
            if dialog.is_over(time.monotonic()) or (request.answer and dialog.has_gone_on()):
                permissions.settle(context, {asked.id: "elsewhere"})
                return None
            if request.answer:
                return request.answer
            select.select([changed], [], [], claude.FOR_GOOD if dialog.may_be_over else LOOK)
            changed.drain()
