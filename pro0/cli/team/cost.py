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

    The figures come from the agents' transcripts. The cost is an estimate at list prices where an agent does not report
    it. At 80 % of a limit you are told; at 100 % no new session starts. --json prints members [{agentId, agent,
    sessions, models, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd, knownUsd}], total, limitUsd
    and estimate. Where a part has no known price, costUsd is null, and only knownUsd counts towards the limit.

    \b
    Examples:
      pro0 team cost
      pro0 team cost --limit 20
      pro0 team cost alpha --json | jq .total.costUsd
    """
    context = here(team)
    if limit is not None:
        costs.limit(context, limit)
    team_cost = costs.cost(context)
    if as_json:
        write_json(team_cost)
        return
    if not team_cost.members:
        say(f"no model use is known for the members of {context.team.name}")
    else:
        head = ("MEMBER", "AGENT", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST", "MODELS")
        table(head, [_row(entry) for entry in (*team_cost.members, team_cost.total)])
    if team_cost.limit_usd:
        uncounted = "; what has no known price does not count" if team_cost.total.cost_usd is None else ""
        write(f"limit ${team_cost.limit_usd:.2f}{uncounted}")


def _row(entry: Cost) -> tuple[str, ...]:
    tokens = (entry.input_tokens, entry.output_tokens, entry.cache_read_tokens, entry.cache_write_tokens)
    counts = (f"{number:,}" for number in tokens)
    return (entry.agent_id, entry.agent, *counts, _about(entry), ", ".join(entry.models))


def _about(entry: Cost) -> str:
    if entry.cost_usd is not None:
        return f"about ${entry.cost_usd:.2f}"
    return f"at least ${entry.known_usd:.2f}" if entry.known_usd else "no price known"
