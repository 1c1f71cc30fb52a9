"""A small model of the rules for tasks, in words of its own: what rulings 2 says, without history, times or texts.

It shares nothing with `pro0.rules`: an act is a method that returns whether it is allowed, and changes a dictionary.
"""

from collections import Counter
from dataclasses import dataclass, field

SETTLED = ("completed", "failed", "cancelled")
COMPLETES = ("work", "approval", "review", "content")
CANCELS = ("input", "escalation")
AGENTS = ("w1", "w2", "lead agent")
IN_CHARGE = ("human", "lead agent")
CYCLES = 1
"""Reviews in a row without progress that are allowed here, so that random walks get there."""
RETURNS = 3
"""How often in a row a task of sessions of its own is given back, until a human is asked."""


ESCALATIONS = 3
"""How often an escalation may be approved without progress, until the next one ends the task."""


def mail(who: str) -> str:
    """The mailbox that somebody reads: a lead agent reads the lead's."""
    return "lead" if who == "lead agent" else who


@dataclass
class Item:
    """A task of the model."""

    parent: int | None = None
    deps: set[int] = field(default_factory=set)
    epic: bool = False
    policy: str | None = None
    requires: str | None = None
    status: str = "pending"
    waits: str | None = None
    holder: str | None = None
    assignee: str | None = None
    last: str | None = None
    unagreed: bool = False
    wish: bool = False
    watch: set[int] = field(default_factory=set)
    open_before: int | None = None
    cycles: int = 0
    returned: int = 0
    escalated: int = 0
    from_done: bool = False
    just_started: bool = False
    kept_open: bool = False
    at_gate: bool = False
    begun: bool = False
    """Whether anybody has had it since it was last free: its assignee worked on it, and is no reservation."""

    @property
    def stopped(self) -> bool:
        """Whether it waits for a human, or has failed."""
        return self.status == "failed" or (self.waits is not None and self.open)

    @property
    def phase(self) -> str:
        """Where it stands, in one word."""
        if not self.open:
            return self.status
        if self.waits:
            return "awaiting"
        return "working" if self.status == "in_progress" else self.status

    @property
    def open(self) -> bool:
        """Whether it is not settled."""
        return self.status not in SETTLED


class Model:
    """All tasks by number, and how often each address was told something."""

    def __init__(self) -> None:
        self.items: dict[int, Item] = {}
        self.told: Counter[str] = Counter()
        self.next = 1

    # --- what follows from the state

    def above(self, number: int) -> list[int]:
        found = []
        parent = self.items[number].parent
        while parent in self.items:
            found.append(parent)
            parent = self.items[parent].parent
        return found

    def policy(self, number: int) -> str | None:
        return next((self.items[n].policy for n in (number, *self.above(number)) if self.items[n].policy), None)

    def watcher(self, number: int) -> int | None:
        """The supervised task whose session looks after this one."""
        for n in self.above(number):
            if not self.items[n].epic:
                return n if self.policy(n) == "supervised" else None
        return None

    def watched(self, number: int) -> set[int]:
        real = {n for n, item in self.items.items() if not item.epic and number in self.above(n)}
        return {n for n in real if next(m for m in self.above(n) if not self.items[m].epic) == number}

    def awaited(self, number: int) -> set[int]:
        """What a parent waits for: under the supervised policy also what its epics group."""
        below = set(self.children(number, still_open=False))
        if self.items[number].epic or self.policy(number) != "supervised":
            return below
        return self.watched(number) | {n for n in below if self.items[n].epic}

    def left(self, number: int) -> int:
        """How many of those are open."""
        return sum(self.items[n].open for n in self.awaited(number))

    def open_below(self, number: int) -> bool:
        """Whether anything below is open, at any depth."""
        return any(item.open and number in self.above(n) for n, item in self.items.items())

    def children(self, number: int, *, still_open: bool = True) -> list[int]:
        return [n for n, item in self.items.items() if item.parent == number and (item.open or not still_open)]

    def ready(self, number: int) -> bool:
        item = self.items[number]
        if item.epic or item.waits or item.status != "pending":
            return False
        if any(d not in self.items or self.items[d].status != "completed" for d in item.deps):
            return False
        if any(self.items[n].stopped for n in self.above(number)):
            return False
        watcher = self.watcher(number)
        if watcher is None:
            return True
        if self.items[watcher].status != "done" or not self.items[watcher].holder:
            return False
        others = [self.items[n] for n in self.watched(watcher) - {number}]
        return not any(other.stopped or other.status in ("in_progress", "done") for other in others)

    def circular(self) -> bool:
        """Whether tasks wait for each other: for dependencies, and parents for their subtasks."""
        left = {n: {d for d in item.deps if d in self.items} for n, item in self.items.items()}
        for n, item in self.items.items():
            if item.parent in left:
                left[item.parent].add(n)
        left |= {-n: self.before_the_work(n) for n in self.items}
        for n in self.items:
            left[n] |= self.turn(n)
        while free := [n for n, waits in left.items() if not waits]:
            left = {n: waits - set(free) for n, waits in left.items() if n not in free}
        return bool(left)

    def turn(self, number: int) -> set[int]:
        """The work of a pending supervised parent, as its negative number: a pending subtask waits for it."""
        watcher = self.watcher(number)
        both = [self.items[n].status for n in (number, watcher) if n is not None]
        return {-watcher} if watcher is not None and both == ["pending", "pending"] else set()

    def before_the_work(self, number: int) -> set[int]:
        deps = {d for d in self.items[number].deps if d in self.items and self.items[d].status != "completed"}
        return deps | self.turn(number)

    def follow(self, *moved: int | None) -> None:
        """Let parents that are over end, and supervised ones look at what is through.

        An epic that a person reopened or did not let through ends only when one of its subtasks has changed since:
        it is named in `moved`, or no longer kept open.
        """
        parents = set(moved)
        changed = True
        while changed:
            changed = False
            for n, item in self.items.items():
                below = [self.items[m].status for m in self.children(n, still_open=False)]
                begun = item.epic and item.status == "pending" and bool(below) and "failed" not in below
                begun = begun and not (item.kept_open and n not in parents)
                settles = begun or (item.status == "done" and (item.epic or self.policy(n) != "supervised"))
                if settles and not item.waits and not self.children(n):
                    self.finish(n)
                    self.tell_of_stop(n, "lead")
                    item.kept_open = False
                    self.changed(n)
                    parents.add(item.parent)
                    changed = True
        for n, item in self.items.items():
            if item.status != "done" or item.epic or self.policy(n) != "supervised":
                continue
            through = {m for m in item.watch if m not in self.awaited(n) or self._through(m)}
            item.watch = (item.watch - through) | {m for m in self.awaited(n) if self.items[m].open}
            if through:
                self.told[mail(item.assignee or "lead")] += 1
                if item.holder:
                    item.status, item.returned = "in_progress", 0

    def changed(self, number: int) -> None:
        """An epic is kept open until something below it changes."""
        parent = self.items[number].parent
        if parent in self.items:
            self.items[parent].kept_open = False

    def _through(self, number: int) -> bool:
        return self.items[number].status in ("completed", "cancelled")

    def finish(self, number: int, passed: str | None = None) -> None:
        """End a task's own work: open subtasks, then the gate, then completed (2.1)."""
        item = self.items[number]
        item.holder, item.waits, item.wish, item.escalated = None, None, False, 0
        if self.left(number):
            item.status = "done"
        elif item.requires and passed != item.requires:
            item.status, item.waits, item.at_gate = "in_progress", item.requires, True
        else:
            item.status = "completed"

    def back(self, number: int) -> None:
        item = self.items[number]
        item.status, item.holder, item.last = "pending", None, None
        item.assignee, item.begun = None if item.begun else item.assignee, False
        item.waits = "escalation" if item.unagreed else None
        item.cycles, item.open_before = 0, None

    def give(self, number: int, session: str) -> None:
        item = self.items[number]
        item.from_done = item.status == "done"
        item.status, item.waits, item.wish, item.begun = "in_progress", None, False, True
        item.holder = item.assignee = item.last = session

    def cancel_all(self, number: int, who: str) -> None:
        """Cancel a task and what is open below it; who works on any of it is told."""
        for n in [number, *(m for m in self.items if number in self.above(m) and self.items[m].open)]:
            item = self.items[n]
            if item.holder and item.holder != who:
                self.told[mail(item.holder)] += 1
            item.status, item.holder, item.waits, item.wish = "cancelled", None, None, False

    def tell_of_stop(self, number: int, who: str) -> None:
        item, watcher = self.items[number], self.watcher(number)
        if not item.stopped:
            return
        everyone: set[str] = set()
        above = watcher if watcher is not None else item.parent if item.status == "failed" else None
        if above in self.items and self.items[above].assignee:
            everyone.add(self.items[above].assignee or "")
        if watcher is not None:
            everyone.add("lead")
        for address in {mail(name) for name in everyone}:
            if who == "lead" or address != mail(who):
                self.told[address] += 1
