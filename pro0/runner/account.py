"""The spending of a run: per task, per session in a file for the lead's accounts, and in total for its limit."""

from contextlib import suppress

import msgspec
from msgspec.structs import asdict, replace

from pro0.agents.runner import USED
from pro0.errors import Pro0Error
from pro0.model.usage import SessionUsage, Usage
from pro0.ops.context import Context
from pro0.ops.team import costs
from pro0.ops.work import runs
from pro0.runner.turns import Ran
from pro0.store import atomic


class Account:
    """The cost of one run. `spent` is in US dollars, as far as agents or list prices tell it."""

    def __init__(self, context: Context, agent: str) -> None:
        self._context = context
        self._agent = agent
        self._total = Usage()
        self.spent = 0.0
        self.unpriced = 0
        """Turns whose cost neither the agent nor a list of prices tells."""

    def add(self, task: str, ran: Ran) -> None:
        """Count one turn. An unrecorded cost still counts for the limit."""
        used = ran.usage
        try:
            price = costs.price(self._entry(used))
        except OSError:  # the price list cannot be opened now; an error here would repeat the turn
            price = None
        cost = price or 0.0
        self.spent += cost
        self.unpriced += price is None
        self._total = self._total + replace(used, cost_usd=cost)
        if used == Usage() and self._agent == "shell":
            return  # a command is no agent's turn, and this would cost one more write per command
        with suppress(Pro0Error):  # the task may be gone or claimed by others
            runs.counted(self._context, task, used, cost)
        if used == Usage():
            return
        folder = self._context.team.paths.agent_folder(self._context.caller.incarnation)
        with suppress(OSError), atomic.folder(folder) as place:  # without this record the turn still counts
            atomic.replace(place, USED, msgspec.json.encode(self._total), durable=False)

    @property
    def told(self) -> float | None:
        """Return the known cost of the run, None when no turn has reported any."""
        return None if self.unpriced and not self.spent else self.spent

    def _entry(self, used: Usage) -> SessionUsage:
        return SessionUsage(
            agent_id=self._context.caller.agent_id,
            incarnation=self._context.caller.incarnation,
            agent=self._agent,
            **asdict(used),
        )
