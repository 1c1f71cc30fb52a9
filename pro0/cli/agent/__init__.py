"""`pro0 agent`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "list": ("pro0.cli.agent.look:list_agents", "List the agents that members can run"),
    "install-skill": ("pro0.cli.agent.skill:install_skill", "Install the skill “work in a pro0 team” for agents"),
    "prove": ("pro0.cli.prove.command:prove", "Test what pro0 relies on in the installed agents"),
    "explain": ("pro0.cli.agent.look:explain", "Say which state an agent's screen or title means"),
}

HELP = """Look at the programs that members can run.

\b
Examples:
  pro0 agent list
  pro0 agent prove claude
  pro0 member peek w1 | pro0 agent explain claude --screen -
"""

agent = LazyGroup("agent", COMMANDS, HELP, aliases={"ls": "list"})
