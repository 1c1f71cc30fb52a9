"""The table of commands and their modules. They are named as text, so that the table imports none of them."""

COMMANDS: dict[str, tuple[str, str]] = {
    "team": ("pro0.cli.team:team", "Start, watch, stop and remove teams"),
    "member": ("pro0.cli.member:member", "Spawn, look at and end the members of a team"),
    "task": ("pro0.cli.task:task", "The shared task list"),
    "verdict": ("pro0.cli.config.verdict:verdict", "Protect your verdicts with a PIN"),
    "role": ("pro0.cli.role:role", "What agents are told to be: roles for tasks and members"),
    "run": ("pro0.cli.run.command:run", "Run an agent on one task after the other, never waiting for a person"),
    "delegate": ("pro0.cli.worker.delegate:delegate", "Give tasks to workers, each in a worktree of its own"),
    "worker": ("pro0.cli.worker:worker", "Look at workers, end them, and merge what they left"),
    "needs": ("pro0.cli.team.needs:needs", "List what needs you now, and the command that answers each"),
    "diff": ("pro0.cli.diff.command:diff", "Show what a member, a worker or the session of a task has changed"),
    "send": ("pro0.cli.message:send", "Send a message to one member"),
    "broadcast": ("pro0.cli.message:broadcast", "Send a message to every living member"),
    "inbox": ("pro0.cli.message:inbox", "Read your unread messages"),
    "plan": ("pro0.cli.member.plan:plan", "Hand in the plan that your session was asked for"),
    "shutdown": ("pro0.cli.member.shutdown:shutdown", "Answer the shutdown that your session was asked for"),
    "mcp": ("pro0.cli.mcp:mcp", "Serve the tools of a team to an agent, over stdio (MCP)"),
    "rpc": ("pro0.cli.rpc.command:rpc", "Call one method of JSON-RPC, or let an editor speak to a team"),
    "web": ("pro0.cli.web.command:web", "Serve a page of your teams to a browser, and pair devices with it"),
    "agent": ("pro0.cli.agent:agent", "Look at the programs that members can run"),
    "config": ("pro0.cli.config.settings:config", "Show the settings in force and where each comes from"),
    "host": ("pro0.cli.host:host", "Machines that share a team in a database"),
    "store": ("pro0.cli.store:store", "Where a team's documents are kept: files, or a database"),
    "doctor": ("pro0.cli.doctor.command:doctor", "Check this machine and the store, and say how to fix what is wrong"),
    "uninstall": ("pro0.cli.uninstall.command:uninstall", "Remove all that pro0 put on this machine, except work"),
    "completion": ("pro0.cli.help.completion:completion", "Print the completion script of a shell"),
    "man": ("pro0.cli.help.man:man", "Show the manual page of a command"),
    "help": ("pro0.cli.help.helping:help_of", "Show the help of a command"),
    "demo": ("pro0.cli.demo.command:demo", "Watch a whole team at work, from start to cleanup"),
    "events": ("pro0.cli.team.logs:logs", "Show what happened in a team"),
    "import": ("pro0.cli.task.importing:import_tasks", "Make tasks from the tickets of other programs"),
    "hosted": ("pro0.cli.member.hosted:hosted", "Run a member for another machine; called by pro0 there"),
    "lead": ("pro0.cli.lead:lead", "Run the lead of a team; started by the other commands"),
}
"""For each command: "module:attribute", and its line in the help."""

GROUPS = {
    "Teams": ("team", "member", "needs", "diff", "web"),
    "Work": ("task", "run", "delegate", "worker", "role"),
    "Messages": ("send", "broadcast", "inbox"),
    "What members answer": ("plan", "shutdown"),
    "Other programs": ("mcp", "rpc"),
    "Set up and repair": ("agent", "config", "verdict", "store", "host", "doctor", "completion", "uninstall"),
    "Learn": ("demo", "man"),
}
"""The commands by subject, as the help shows them."""

HIDDEN = frozenset({"events", "help", "hosted", "import", "lead"})
"""Commands left out of the help: internal ones, and aliases of `--help`, `pro0 team logs` and `pro0 task import`."""
