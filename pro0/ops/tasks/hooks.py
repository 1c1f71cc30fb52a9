"""Hooks: a person's own commands, asked before a task is made or completed, told of changes.

A command gets one JSON object on stdin, with the usual field names of such hooks. Exit 2 refuses, with stderr as the
reason. So does a hook whose program is missing or cannot begin, until the person repairs or removes it: a gate without
a keeper is closed. Any other failure is logged in events.jsonl and changes nothing. No hook runs under a lock. A
project's hooks run only while the person has agreed to their present text: anybody may write that file, even an agent.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from pro0.errors import ErrorCode, Refused
from pro0.model.caller import Caller, Who
from pro0.model.home import HookEvent
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.ops.tasks.acting import environ
from pro0.store.teams import TeamStore

Commands = Mapping[HookEvent, tuple[str, ...]]


def in_force(home: Path, project: Path) -> Commands:
    """Return each event's commands: the person's, then the project's if the person agreed."""
    from pro0 import config  # start-up time
    from pro0.ops import trust

    ours, theirs = config.hooks(home), trust.granted(home, project)
    both = {event: (*ours.get(event, ()), *theirs.get(event, ())) for event in HookEvent}
    return {event: commands for event, commands in both.items() if commands}


def gate(context: Context, event: HookEvent, tasks: Callable[[], list[Task]], **about: object) -> None:
    """Ask the hooks before tasks are made or completed; raises Refused with the text of a refusal.

    `tasks` returns the tasks after the change, and raises any error in the way. It is called only when hooks exist.
    """
    team = context.team.require()
    home, project = team.paths.home, Path(team.config.read().project)
    commands = in_force(home, project).get(event, ())
    if not commands:
        return
    from pro0.ops import trust  # start-up time
    from pro0.ops.tasks.hook_runs import UNDECIDED, Runs

    runs = Runs(team, trust.settings(home, project, environ(context)).hook_timeout_seconds)
    agent_id = "" if context.caller.who is Who.HUMAN else context.caller.agent_id
    for task in tasks():
        details = {"task_id": task.id, "task_subject": task.title, "task_description": task.description, "task": task}
        if objection := runs.ask(commands, event, agent_id, workplace(team, context.caller), details | about):
            hint = f"a person mends it, or takes it out of the settings (hooks, {event}); pro0 doctor looks for it"
            is_broken = objection.endswith(UNDECIDED)
            raise Refused(objection, code=ErrorCode.BLOCKED_BY_HOOK, hint=hint if is_broken else None)


def workplace(team: TeamStore, caller: Caller) -> str:
    """Return a caller's working folder: its worktree, else the project."""
    seats = team.runtime.read().seats if caller.who in (Who.MEMBER, Who.LEAD_AGENT) else ()
    worktree = next((seat.worktree for seat in seats if seat.incarnation == caller.incarnation), "")
    return worktree or team.config.read().project
