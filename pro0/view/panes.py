"""The panes of all members, and which of them is shown."""

from collections.abc import Callable
from datetime import datetime

from pro0.model.runtime import ENDED
from pro0.view.news import News
from pro0.view.pane import Pane


class Panes:
    """One pane for each member; `recall` gets the last screen of one that ended before the view came."""

    def __init__(self, size: tuple[int, int], recall: Callable[[Pane], None]) -> None:
        self._size = size
        self._recall = recall
        self._panes: dict[str, Pane] = {}
        self._news = News()
        self._name = ""
        self._recalled: set[tuple[str, datetime | None]] = set()

    @property
    def shown(self) -> Pane | None:
        """Return the pane that is shown, None in a team of nobody."""
        return self._panes.get(self._name)

    def named(self, name: str) -> Pane | None:
        """Return the pane of one member."""
        return self._panes.get(name)

    def by_descriptor(self) -> dict[int, Pane]:
        """Return the connected panes by what to wait for."""
        return {pane.connection.fileno(): pane for pane in self._panes.values() if pane.connection}

    def meet(self, news: News) -> None:
        """Connect to all current sessions."""
        self._news = news
        names = [member.agent_id for member in news.members]
        for gone in self._panes.keys() - set(names):
            self._panes.pop(gone).leave()
        for name in names:
            pane = self._panes.setdefault(name, Pane(name))
            incarnation, socket = news.sockets.get(name, ("", ""))
            if socket:
                pane.meet(incarnation, socket)
                pane.fit(*self._size)
        if self._name not in self._panes:
            self.show(names[0] if names else "")
        self._recall_shown()

    def show(self, name: str) -> None:
        """Show another pane."""
        if self.shown:
            self.shown.unwatch()
        self._name = name
        if self.shown:
            self.shown.watch(*self._size)
            self._recall_shown()

    def show_wanted(self) -> bool:
        """Show the pane that somebody asked for; return True if there was one."""
        wanted_panes = [pane for pane in self._panes.values() if pane.wanted]
        for pane in wanted_panes:
            pane.wanted = False
            self.show(pane.name)
        return bool(wanted_panes)

    def step(self, step: int) -> None:
        """Show the next or previous pane, in the order of members."""
        order = [member.agent_id for member in self._news.members if member.agent_id in self._panes]
        if order:
            at = order.index(self._name) if self._name in order else 0
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

    def _recall_shown(self) -> None:
        """Ask once for each end for the last screen of the shown member."""
        pane, member = self.shown, self._news.member(self._name)
        if pane is None or member is None or pane.connection or pane.rows or member.state not in ENDED:
            return
        end = (member.agent_id, member.since)
        if end not in self._recalled:
            self._recalled.add(end)
            pane.nothing = f"the last screen of {pane.name} is looked for …"
            self._recall(pane)
