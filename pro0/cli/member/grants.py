"""`pro0 member env`, `grants` and `revoke`: programs outside the team that act as a member."""

import shlex

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, say, table, write, write_json
from pro0.ops import grants


@click.command()
@click.argument("name", shell_complete=completing.members)
@click.option("--task", metavar="ID", help="Name this task in PRO0_TASK_ID.")
@team_option
@json_option
def env(name: str, task: str | None, team: str | None, as_json: bool) -> None:
    """Print the variables with which a program acts as a member's present session.

    Each call makes a new grant, which is valid until that session ends or you revoke it. Programs that you start with
    these variables go on when the member ends. Only a person can make a grant, on a terminal; a member never can.

    --json prints a mapping of names to values.

    \b
    Examples:
      eval "$(pro0 member env w1)"
      pro0 member env w1 --task 3 --json
    """
    variables = grants.make(here(team), name, task)
    if as_json:
        write_json(variables)
        return
    for variable, value in variables.items():
        write(f"export {variable}={shlex.quote(value)}")


@click.command("grants")
@click.argument("name", required=False, shell_complete=completing.members)
@team_option
@json_option
def list_grants(name: str | None, team: str | None, as_json: bool) -> None:
    """List the grants that `member env` gave, for one member or for all.

    --json prints a list of {id, agentId, by, at, valid}; `valid` is false once the session of the grant is over.

    \b
    Examples:
      pro0 member grants
      pro0 member grants w1 --json
    """
    context = here(team)
    grant_list = grants.grants(context, name)
    if as_json:
        write_json(grant_list)
    elif not grant_list:
        say(f'there are no grants for members of {context.team.name}; to make one: eval "$(pro0 member env NAME)"')
    else:
        rows = [
            (grant.id, grant.agent_id, grant.by, grant.at, "valid" if grant.valid else "over") for grant in grant_list
        ]
        table(("GRANT", "MEMBER", "BY", "SINCE", "STATE"), rows)


@click.command()
@click.argument("name", metavar="NAME|ID", shell_complete=completing.members)
@team_option
@json_option
def revoke(name: str, team: str | None, as_json: bool) -> None:
    """End grants that `member env` gave: one by its id, or all of a member.

    A program that still uses such a grant is refused from then on, exit 4. --json prints the ids of the ended grants as
    a list.

    \b
    Examples:
      pro0 member revoke w1
      pro0 member revoke 3fa85f64
    """
    ended = grants.revoke(here(team), name)
    if as_json:
        write_json([grant.id for grant in ended])
        return
    for grant in ended:
        say(f"grant {grant.id} of {grant.agent_id} has ended")
