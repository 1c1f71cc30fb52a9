"""`pro0 member`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "spawn": ("pro0.cli.member.acts:spawn", "Start a new member, or an ended one again"),
    "restart": ("pro0.cli.member.acts:restart", "Start a new session of a member that has ended"),
    "list": ("pro0.cli.member.look:list_members", "List the members and what each is doing"),
    "show": ("pro0.cli.member.look:show", "Show all that is known about one member"),
    "peek": ("pro0.cli.member.look:peek", "Print the last lines that a member shows"),
    "focus": ("pro0.cli.team.focus:focus", "Bring a member's pane to the front"),
    "env": ("pro0.cli.member.grants:env", "Print the variables with which a program acts as a member"),
    "grants": ("pro0.cli.member.grants:list_grants", "List the grants that `member env` gave"),
    "revoke": ("pro0.cli.member.grants:revoke", "End grants that `member env` gave"),
    "approve-plan": ("pro0.cli.member.plan:approve", "Approve the plan of a member"),
    "reject-plan": ("pro0.cli.member.plan:reject", "Reject the plan of a member, and ask for another"),
    "answer": ("pro0.cli.member.permission:answer", "Answer an agent that asks for a permission"),
    "permission-hook": ("pro0.cli.member.permission:hook", "Pass on an agent's question to the person"),
    "merge": ("pro0.cli.diff.merge:merge", "Merge what members have committed into the project's checkout"),
    "forget": ("pro0.cli.member.elsewhere:forget", "Give up an ended member's program on an unreachable machine"),
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
