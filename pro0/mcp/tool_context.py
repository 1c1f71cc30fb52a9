"""The caller and the team of one MCP server. The caller is never the human (behaviour 2.3)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model.caller import Caller, Who
from pro0.model.ids import LEAD
from pro0.ops.context import PARENT_TASK_ID, TASK_ID, Context, caller_of, new_id, nobody
from pro0.ops.identity import GRANT
from pro0.ops.tasks import tasks
from pro0.ops.withheld import veil
from pro0.store.teams import Store

POCKODE = ("POCKODE_TASK_ID", "POCKODE_TICKET_ID")
"""The names of the same variable in other programs."""


class ToolContext:
    """The caller that one server speaks for. An agent outside any team may make a team."""

    def __init__(self, environment: Mapping[str, str], home: Path) -> None:
        self.environment = dict(environment)
        self.store = Store(home)
        caller, self._team = caller_of(environment, home)
        self.caller = caller if caller.who is not Who.HUMAN else Caller(Who.OUTSIDE, LEAD, new_id())
        self._own = self.store.team(self._team) if self._team else None
        """Kept from call to call: its files are decoded again only when somebody has changed them."""
        self._leads: Context | None = None
        self.leading = Lock()
        """Held while this agent takes the lead of a team; it leads only one team at a time."""

    @property
    def context(self) -> Context:
        """Return the context of the caller at its team; raises Refused for an agent without a team."""
        if self._leads:
            return self._leads
        if self.caller.who is Who.OUTSIDE:
            raise Refused("this agent leads no team", code=ErrorCode.NO_TEAM, hint="call create_team first")
        if not self._own:
            raise Refused(f"{self.caller.agent_id} is a member of no team", code=ErrorCode.NOT_MEMBER)
        self.store.check()
        if self.environment.get(GRANT):  # a person may have ended it since
            caller_of(self.environment, self.store.home)
        return Context(self._own.require(), self.caller, vouch=nobody)

    def veil(self) -> Callable[[str], str]:
        """Return the filter that hides the incarnations of others from this caller."""
        team = self._leads.team if self._leads else self._own
        return veil(Context(team, self.caller, vouch=nobody)) if team else str

    def lead(self, context: Context | None) -> None:
        """Let this agent lead a team from now on; None ends its lead."""
        self._leads = context

    @property
    def team(self) -> str | None:
        """Return the name of the caller's team."""
        return self._leads.team.name if self._leads else self._team

    @property
    def task(self) -> str | None:
        """Return the task of this session, None for a session that picks its tasks itself."""
        names = (TASK_ID, *POCKODE)
        return next((self.environment[name] for name in names if self.environment.get(name)), None)

    def own_task(self, task_id: str | None) -> str:
        """Return the task that a call means: the named one, that of this session, or the only one it has claimed."""
        if chosen := task_id or self.task:
            return chosen
        mine = self.context.caller.incarnation
        held = [task.id for task in tasks.board(self.context) if task.claim and task.claim.incarnation == mine]
        if len(held) == 1:
            return held[0]
        why = f"you work on {', '.join(held)}" if held else "you work on no task"
        raise BadInput(f"which task? {why}", hint="name it by its id")

    def shared_task(self, task_id: str | None) -> str:
        """Return the task whose comments are shared with others: the named one, the parent, else the own one."""
        if chosen := task_id or self.environment.get(PARENT_TASK_ID):
            return chosen
        task = tasks.show(self.context, self.own_task(None))
        return task.parent or task.id
