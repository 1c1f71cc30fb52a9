"""`pro0 member`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "spawn": ("pro0.cli.member.acts:spawn", "Start a new member, or an ended one again"),
    "restart": ("pro0.cli.member.acts:restart", "Start a new session of a member that has ended"),
    "list": ("pro0.cli.member.look:list_members", "List the members with what each does"),
    "show": ("pro0.cli.member.look:show", "Show all that is known of one member"),
    "peek": ("pro0.cli.member.look:peek", "Print the last lines that a member shows"),
    "focus": ("pro0.cli.team.focus:focus", "Bring a member's pane to the front"),
    "env": ("pro0.cli.member.grants:env", "Print the variables with which a program acts as a member"),
    "grants": ("pro0.cli.member.grants:list_grants", "List who was given the variables of a member"),
    "revoke": ("pro0.cli.member.grants:revoke", "End what `member env` gave"),
    "approve-plan": ("pro0.cli.member.plan:approve", "Let a member carry its plan out"),
    "reject-plan": ("pro0.cli.member.plan:reject", "Ask a member for another plan"),
    "answer": ("pro0.cli.member.permission:answer", "Answer an agent that asks for a permission"),
    "permission-hook": ("pro0.cli.member.permission:hook", "Ask the person what an agent is about to ask"),
    "merge": ("pro0.cli.diff.merge:merge", "Merge what members have committed into the project's checkout"),
    "forget": ("pro0.cli.member.elsewhere:forget", "Give up what a machine out of reach runs for an ended member"),
    "shutdown": ("pro0.cli.member.acts:shutdown", "Ask a member to shut down"),
}

GROUPS = {
    "Start and end": ("spawn", "restart", "shutdown", "forget", "merge"),
    "Look": ("list", "show", "peek", "focus"),
    "Answer": ("answer", "approve-plan", "reject-plan"),
    "Act as a member": ("env", "grants", "revoke"),
}
"""The commands as the help shows them."""

ALIASES = {"ls": "list", "add": "spawn"}

HELP = """Spawn, look at and end the members of a team.

\b
Examples:
  pro0 member spawn w4 --agent shell
  pro0 member list
  pro0 member shutdown w4
"""

member = LazyGroup("member", COMMANDS, HELP, aliases=ALIASES, groups=GROUPS, hidden=frozenset({"permission-hook"}))
