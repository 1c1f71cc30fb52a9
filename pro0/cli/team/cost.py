"""`pro0 team cost`."""

import click

from pro0.cli.context import here, named_team
from pro0.cli.output import json_option, say, table, write, write_json
from pro0.ops.team import costs
from pro0.ops.team.costs import Cost


@click.command()
@named_team
@click.option("--limit", type=float, metavar="USD", help="Set what the team may cost; 0 for no limit.")
@json_option
def cost(team: str | None, limit: float | None, as_json: bool) -> None:
    """Show what members have used, and about what it costs.

    The figures come from the agents' transcripts, at list prices where an agent does not say its own: estimates. At
    80 % of a limit you are told, at 100 % no new session starts. --json prints members [{agentId, agent, sessions,
    models, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd}], total, limitUsd and estimate.

    \b
    Examples:
      pro0 team cost
      pro0 team cost --limit 20
      pro0 team cost alpha --json | jq .total.costUsd
    """
    context = here(team)
    if limit is not None:
        costs.limit(context, limit)
    known = costs.cost(context)
    if as_json:
        write_json(known)
        return
    if not known.members:
        say(f"no member of {context.team.name} has used a model yet")
    else:
        head = ("MEMBER", "AGENT", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST", "MODELS")
        table(head, [_row(one) for one in (*known.members, known.total)])
    if known.limit_usd:
        write(f"limit ${known.limit_usd:.2f}")


def _row(one: Cost) -> tuple[str, ...]:
    tokens = (one.input_tokens, one.output_tokens, one.cache_read_tokens, one.cache_write_tokens)
    about = "no price known" if one.cost_usd is None else f"about ${one.cost_usd:.2f}"
    return (one.agent_id, one.agent, *(f"{number:,}" for number in tokens), about, ", ".join(one.models))
