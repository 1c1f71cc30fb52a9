"""Who is at the other end, and the team in question; nobody says by a parameter who they are (behaviour 5.6)."""

from collections.abc import Callable
from pathlib import Path

from pro0.errors import ErrorCode, Refused
from pro0.model.caller import Caller, Who
from pro0.ops import verdicts
from pro0.ops.context import Context
from pro0.ops.withheld import veil
from pro0.rpc.subscriptions import Subscriptions
from pro0.store.teams import Store, TeamStore


def by_program(home: Path, project: Callable[[], Path], act: str) -> None:
    """Refuse a verdict, unless the person lets every program of theirs give some (behaviour 5.3, 5.4)."""
    verdicts.by_program(home, project, act)


class RpcClient:
    """One caller at one team, and what it is subscribed to."""

    def __init__(self, team: TeamStore, caller: Caller, own: str | None) -> None:
        if caller.who is not Who.HUMAN and own != team.name:
            raise Refused(f"{caller.agent_id} is not a member of {team.name}", code=ErrorCode.NOT_MEMBER)
        self._team = team
        self.caller = caller
        self.store = Store(team.paths.home)
        self.subscriptions = Subscriptions()

    @property
    def context(self) -> Context:
        """Return the caller at the team; raises NotFound when that is gone."""
        self.store.check()
        return Context(self._team.require(), self.caller, vouch=by_program)

    def veil(self) -> Callable[[str], str]:
        """Return what takes the incarnations of others out of a text for this caller."""
        return veil(Context(self._team, self.caller, vouch=by_program))
