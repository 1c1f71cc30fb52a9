"""Many at once over files and over a database, beside each other: nothing lost, nothing twice (issue 19)."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0.model.message import Notice
from pro0.model.task import Draft, Status
from pro0.ops.tasks import tasks
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.crash.lanes import LANES, SOAK, counted
from tests.postgres import postgres, require
from tests.teams import NOW, human, make_team, member

HOURS = 2 * 3600.0
"""Seconds until a crowd counts as stuck."""
AT_ONCE = 100
"""Tasks made in one act."""


class Size(NamedTuple):
    """How many do how much."""

    claimers: int
    tasks: int
    senders: int
    boxes: int
    messages: int


SIZES = {SOAK: Size(50, 1000, 10, 10, 100_000)}
SMALL = Size(5, 40, 4, 2, 400)


class Outcome(NamedTuple):
    """What came of it, and in how many seconds."""

    number: int
    seconds: float


@pytest.fixture
def homes() -> Iterator[dict[str, tuple[Path, str]]]:
    """A home for each kind of store on one disk, with the URL of its database; both keep what they acknowledge."""
    require()
    top = Path(tempfile.mkdtemp(prefix="pro0-crowds-", dir="/tmp"))
    try:
        with postgres(fsync="on") as server:
            yield {"files": (top / "files", ""), "database": (top / "database", server.url())}
    finally:
        shutil.rmtree(top)


def claim_all(home: Path, name: str, won: Path) -> None:
    """Claim and complete until there is nothing left; note each claim that was won."""
    context, said = member(Store(home).team("alpha"), name), list[str]()
    while task := tasks.take(context):
        said.append(f"{task.id} {task.epoch}\n")
        tasks.complete(context, task.id, "done")
    won.write_text("".join(said))


def claimed(home: Path, url: str, size: Size) -> Outcome:
    """Let all claim until all is done; return the acts."""
    names = [f"w{number}" for number in range(size.claimers)]
    team = make_team(home, *names, url=url)
    for first in range(0, size.tasks, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, size.tasks))
        tasks.create(human(team), [Draft(title=f"task {number}") for number in numbers])
    began = time.monotonic()
    crowd.run(claim_all, [(home, name, home / f"won-{name}") for name in names], HOURS)
    seconds = time.monotonic() - began
    won = [line for name in names for line in (home / f"won-{name}").read_text().splitlines()]
    assert sorted(won) == sorted(f"task-{number} 1" for number in range(1, size.tasks + 1))
    listed = team.tasks.read()
    done = [*listed.tasks, *team.tasks.archived(listed)]
    assert len(done) == size.tasks
    assert {task.status for task in done} == {Status.COMPLETED}
    return Outcome(2 * size.tasks, seconds)


def send_all(home: Path, sender: int, size: Size) -> None:
    team = Store(home).team("beta")
    for number in range(size.messages // size.senders):
        box = team.mailbox(f"w{number % size.boxes}")
        box.post(Notice(id=f"s{sender}-{number}", from_="human", to=box.agent_id, content="x"), lambda: NOW)


def sent(home: Path, url: str, size: Size) -> Outcome:
    """Let all send to all; return the acts."""
    team = make_team(home, *(f"w{number}" for number in range(size.boxes)), name="beta", url=url)
    began = time.monotonic()
    crowd.run(send_all, [(home, sender, size) for sender in range(size.senders)], HOURS)
    seconds = time.monotonic() - began
    assert sum(in_order(team, f"w{number}", size) for number in range(size.boxes)) == size.messages
    return Outcome(size.messages, seconds)


def in_order(team: TeamStore, name: str, size: Size) -> int:
    """Return how many messages a member has; each sender's are all there, once, and in the order they were sent."""
    box = team.mailbox(name)
    messages = [*box.since(box.head.read(), 0)]
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    by_sender: dict[str, list[int]] = {}
    for message in messages:
        sender, _, number = message.id.partition("-")
        by_sender.setdefault(sender, []).append(int(number))
    each = range(int(name[1:]), size.messages // size.senders, size.boxes)
    assert by_sender == {f"s{sender}": [*each] for sender in range(size.senders)}
    return len(messages)


CROWDS: dict[str, Callable[[Path, str, Size], Outcome]] = {"claims and completions": claimed, "messages": sent}


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("what", CROWDS)
def test_nothing_is_lost_in_a_crowd(homes: dict[str, tuple[Path, str]], lane: str, what: str) -> None:
    """50 claimers of 1,000 tasks, 100,000 messages of 10 senders; the table stands beside files and database."""
    size = SIZES.get(lane, SMALL)
    outcomes = {kind: CROWDS[what](home, url, size) for kind, (home, url) in homes.items()}
    print(f"\n{what:<24}" + "".join(f" | {kind:>10}" for kind in outcomes))
    print(f"{'acts':<24}" + "".join(f" | {outcome.number:>10,}" for outcome in outcomes.values()))
    each = [outcome.seconds / outcome.number for outcome in outcomes.values()]
    print(f"{'seconds per act':<24}" + "".join(f" | {seconds:>10.4f}" for seconds in each))
    for kind, outcome in outcomes.items():
        counted(lane, f"{what} in a crowd", kind, outcome.number)
