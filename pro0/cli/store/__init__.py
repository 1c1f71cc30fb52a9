"""`pro0 store`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "copy": ("pro0.cli.store.copying:copy", "Move a stopped team between files and a database"),
}

ALIASES = {"move": "copy", "mv": "copy", "cp": "copy"}

HELP = """Where the documents of a team are kept: in files, or in a PostgreSQL database.

\b
Examples:
  pro0 store copy alpha postgresql://me@db.example.org/agents
  pro0 store copy alpha files
"""

store = LazyGroup("store", COMMANDS, HELP, aliases=ALIASES)
