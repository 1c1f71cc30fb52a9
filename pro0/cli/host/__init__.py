"""`pro0 host`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "join": ("pro0.cli.host.sharing:join", "Let this machine take part in a team that a database keeps"),
    "list": ("pro0.cli.host.sharing:list_hosts", "List the machines that share a team"),
    "leave": ("pro0.cli.host.sharing:leave", "Take this machine out of a team, or give up a machine that is gone"),
}

HELP = """Machines that share a team in a PostgreSQL database, each with members of its own.

A member on another machine needs none of this without a lead there: pro0 member spawn --host.

\b
Examples:
  pro0 host join postgresql://me@db.example.org/agents
  pro0 host list
  pro0 host leave alpha
"""

host = LazyGroup("host", COMMANDS, HELP, aliases={"ls": "list"})
