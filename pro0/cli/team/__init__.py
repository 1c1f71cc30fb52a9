"""`pro0 team`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "start": ("pro0.cli.team.start:start", "Make a team, start its lead and its members"),
    "list": ("pro0.cli.team.look:list_teams", "List all teams of this home"),
    "status": ("pro0.cli.team.look:status", "Show lead, members, tasks, and what needs you"),
    "show": ("pro0.cli.team.archive:show", "Show the tasks, results and mail of a team, even of a removed one"),
    "attach": ("pro0.cli.team.look:attach", "Show the members in this terminal"),
    "logs": ("pro0.cli.team.logs:logs", "Show what happened in a team"),
    "cost": ("pro0.cli.team.cost:cost", "Show what members have used, and about what it costs"),
    "wait": ("pro0.cli.team.wait:wait", "Wait until a team can do no more work"),
    "pause": ("pro0.cli.team.end:pause", "Stop the claiming of tasks"),
    "unpause": ("pro0.cli.team.end:unpause", "Let tasks be claimed again"),
    "stop": ("pro0.cli.team.end:stop", "Ask every member to shut down, then end the lead"),
    "resume": ("pro0.cli.team.resume:resume", "Let a team run again, adopting every living session"),
    "cleanup": ("pro0.cli.team.end:cleanup", "Remove a team that is stopped, and all that was made for it"),
    "forget": ("pro0.cli.team.archive:forget", "Remove the archive of a removed team"),
}

GROUPS = {
    "Start and end": ("start", "stop", "resume", "cleanup", "forget"),
    "Look": ("status", "attach", "wait", "list", "show", "logs", "cost"),
    "Pause": ("pause", "unpause"),
}
"""The commands as the help shows them."""

ALIASES = {"ls": "list", "rm": "cleanup"}

HELP = """Start, watch, stop and remove teams.

\b
Examples:
  pro0 team start alpha -m w1=shell -m w2=shell
  pro0 team status
  pro0 team stop alpha && pro0 team cleanup alpha
"""

team = LazyGroup("team", COMMANDS, HELP, aliases=ALIASES, groups=GROUPS)
