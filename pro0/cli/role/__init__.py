"""`pro0 role`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "list": ("pro0.cli.role.acts:list_roles", "List the roles"),
    "show": ("pro0.cli.role.acts:show", "Show one role with its prompt"),
    "add": ("pro0.cli.role.acts:add", "Add a role"),
    "edit": ("pro0.cli.role.acts:edit", "Change a role"),
    "remove": ("pro0.cli.role.acts:remove", "Remove a role that no open task and no living member has"),
}

ALIASES = {"create": "add", "update": "edit", "delete": "remove", "rm": "remove", "ls": "list", "get": "show"}

HELP = """What agents are told to be: roles for tasks and members, the same in all teams.

\b
Examples:
  pro0 role list
  pro0 role add tester --prompt "You write tests and change nothing else." --agent claude
  pro0 task create "test the parser" --role tester
"""

role = LazyGroup("role", COMMANDS, HELP, aliases=ALIASES)
