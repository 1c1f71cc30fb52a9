"""The panes of all members, and which of them is shown."""

from collections.abc import Callable
from datetime import datetime

from pro0.model.runtime import ENDED, Phase
from pro0.view.bar import HINT
from pro0.view.news import News
from pro0.view.pane import Pane


class Panes:
    """One pane for each member. `recall` fetches the last screen of a member that ended before the view started."""

    def __init__(self, size: tuple[int, int], recall: Callable[[Pane], None]) -> None:
        self._size = size
        self._recall = recall
        self._panes: dict[str, Pane] = {}
        self._news = News()
        self._shown: Pane | None = None
        self._recalled: set[tuple[str, datetime | None]] = set()

    @property
    def shown(self) -> Pane | None:
        """Return the pane that is shown, even if its member is gone; None until the team has had a member."""
        return self._shown

    def named(self, name: str) -> Pane | None:
        """Return the pane of one member."""
        return self._panes.get(name)

    def by_descriptor(self) -> dict[int, Pane]:
        """Return the connected panes by the descriptor to wait for."""
        return {pane.connection.fileno(): pane for pane in self._panes.values() if pane.connection}

    def meet(self, news: News) -> None:
        """Connect to all current sessions. A shown member that is gone stays on the screen and takes no key."""
        self._news = news
        names = [member.agent_id for member in news.members]
        for gone in self._panes.keys() - set(names):
            self._panes.pop(gone).let_go()
        for name in names:
            pane = self._panes.setdefault(name, Pane(name))
            incarnation, socket = news.sockets.get(name, ("", ""))
            if socket:
                pane.meet(incarnation, socket)
                pane.fit(*self._size)
        if names and not self._shown:  # never replace a pane whose member is gone: keys typed for it would go astray
            self.show(names[0])
        self._recall_shown()

    def show(self, name: str) -> None:
        """Show another pane; for an unknown member, show a pane that says so."""
        if self._shown:
            self._shown.unwatch()
        self._shown = self._panes.get(name)
        if self._shown is None:
            self._shown = Pane(name)
            self._shown.let_go()
        self._shown.watch(*self._size)
        self._recall_shown()

    def show_wanted(self) -> bool:
        """Show a pane that was asked for from outside; return True if there was one."""
        wanted_panes = [pane for pane in self._panes.values() if pane.wanted]
        for pane in wanted_panes:
            pane.wanted = False
            self.show(pane.name)
        return bool(wanted_panes)

    def step(self, step: int) -> None:
        """Show the next or previous pane, in the order of members."""
        order = [member.agent_id for member in self._news.members if member.agent_id in self._panes]
        if order:
            name = self._shown.name if self._shown else ""
            at = order.index(name) if name in order else min(-step, 0)
            self.show(order[(at + step) % len(order)])

    def fit(self, columns: int, lines: int) -> None:
        """Give all sessions another size."""
        self._size = columns, lines
        for pane in self._panes.values():
            pane.fit(columns, lines)

    def leave(self) -> None:
        """Close all connections."""
        for pane in self._panes.values():
            pane.leave()

    def notice(self) -> str:
        """Return the notice about a shown member without a terminal: it is gone, or how to restart it."""
        pane = self._shown
        if pane is None or pane.connection:
            return ""
        if pane.gone:
            return f"{pane.name} is gone: {HINT}"
        member = self._news.member(pane.name)
        if member is None or member.state not in ENDED:
            return f"{pane.name} has no terminal now"
        goes_on = self._news.status is None or self._news.status.phase is Phase.RUNNING
        way = f"member restart {pane.name}" if goes_on else "team resume"
        return f"{pane.name} has no terminal now: pro0 {way}"

    def _recall_shown(self) -> None:
        """Request the last screen of the shown member, once for each of its ends."""
        pane = self._shown
        member = self._news.member(pane.name) if pane and not pane.gone else None
        if pane is None or member is None or pane.connection or pane.rows or member.state not in ENDED:
            return
        end = (member.agent_id, member.since)
        if end not in self._recalled:
            self._recalled.add(end)
            pane.nothing = f"looking for the last screen of {pane.name} …"
            self._recall(pane)
