"""`pro0 agent`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "list": ("pro0.cli.agent.look:list_agents", "List the agents that members can run"),
    "install-skill": ("pro0.cli.agent.skill:install_skill", "Put the skill “work in a pro0 team” where agents look"),
    "prove": ("pro0.cli.prove.command:prove", "Try out what pro0 relies on with the agents that are installed"),
    "explain": ("pro0.cli.agent.look:explain", "Say which state a screen or a title of an agent means"),
}

HELP = """Look at the programs that members can run.

\b
Examples:
  pro0 agent list
  pro0 agent prove claude
  pro0 member peek w1 | pro0 agent explain claude --screen -
"""

agent = LazyGroup("agent", COMMANDS, HELP, aliases={"ls": "list"})
