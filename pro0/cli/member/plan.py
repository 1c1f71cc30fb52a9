"""`pro0 plan`, and `pro0 member approve-plan` and `reject-plan`: plans that are approved before anything is changed."""

import click

from pro0.cli import completing
from pro0.cli.context import acting, here, need_lead, team_option
from pro0.cli.output import json_option, text_or_stdin, write, write_json
from pro0.model.team import Seat
from pro0.ops.team import plan_approval
from pro0.rules.lead.plan_approval import view

plan_option = click.option("--plan", "about", metavar="ID", help="Only if this is its latest plan.")


@click.command()
@click.argument("text", metavar="TEXT|-")
@team_option
def plan(text: str, team: str | None) -> None:
    """Hand in the plan that your session was asked for; change nothing until it is approved.

    Whoever decides on the plan gets it as a message, and you are told the verdict. Another plan replaces one that still
    waits.

    \b
    Examples:
      pro0 plan "first the parser, then its tests; nothing else is touched"
      pro0 plan - < plan.md
    """
    seat = plan_approval.submit(here(team), text_or_stdin(text))
    write(f"handed in: {seat.gate.id if seat.gate else ''}; end your turn now, you are told the verdict")


@click.command("approve-plan")
@click.argument("name", shell_complete=completing.members)
@plan_option
@team_option
@json_option
def approve(name: str, about: str | None, team: str | None, as_json: bool) -> None:
    """Approve the plan of a member, which then carries it out.

    Its agent continues the same conversation in a new session, with the member's own permission mode.

    --json prints {agentId, id, text, stage, at, by, feedback}.

    \b
    Examples:
      pro0 member show w1
      pro0 member approve-plan w1
    """
    context = acting(team)
    seat = plan_approval.approve(context, name, about=about)
    need_lead(context.team)
    _say(seat, f"the plan of {seat.agent_id} is approved: it goes on", as_json=as_json)


@click.command("reject-plan")
@click.argument("name", shell_complete=completing.members)
@click.argument("feedback", metavar="FEEDBACK|-")
@plan_option
@team_option
@json_option
def reject(name: str, feedback: str, about: str | None, team: str | None, as_json: bool) -> None:
    """Reject the plan of a member, and ask for another.

    --json prints {agentId, id, text, stage, at, by, feedback}.

    \b
    Examples:
      pro0 member reject-plan w1 "leave the interface as it is"
    """
    seat = plan_approval.reject(acting(team), name, text_or_stdin(feedback), about=about)
    _say(seat, f"the plan of {seat.agent_id} is not approved: it is asked for another", as_json=as_json)


def _say(seat: Seat, message: str, *, as_json: bool) -> None:
    if as_json:
        write_json(view(seat))
    else:
        write(message)
