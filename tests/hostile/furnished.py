"""A team in which every field of every file holds something, and how to edit those files by hand."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from pro0 import processes
from pro0.model.caller import THE_HUMAN
from pro0.model.message import Notice
from pro0.model.runtime import Exit, Failure, Handle, Refusal, Report, SeatState, State
from pro0.model.task import Awaiting, Claim, Draft, Status, Wait
from pro0.model.team import Answer, Display, Member, Seat, ShutdownWish
from pro0.ops.context import Context, clock
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import teams
from pro0.store.files import File
from pro0.store.teams import Store

INCARNATION = "11111111-2222-4333-8444-555555555555"


class Place(NamedTuple):
    """One value in one file."""

    file: str
    path: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"{self.file}:{'.'.join(map(str, self.path))}"


class Furnished:
    """The team, and its files as people see them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.team = context.team
        self.home = context.team.paths.home
        paths = context.team.paths
        self.files = {
            "config": paths.team / "config.json",
            "wanted": paths.team / "wanted.json",
            "runtime": paths.team / "runtime.json",
            "tasks": paths.tasks / "tasks.json",
            "messages": paths.mailboxes / "human" / "messages.json",
            "mail of w1": paths.mailboxes / "w1" / "messages.json",
            "comments": paths.tasks / "task-1" / "comments.json",
            "report": paths.sessions / f"{INCARNATION}.json",
        }

    def edit(self, place: Place, value: object) -> None:
        """Put a value into a file, as an editor would."""
        document = json.loads(self.files[place.file].read_bytes())
        put(document, place.path, value)
        self.files[place.file].write_bytes(json.dumps(document).encode())

    def places(self, file: str) -> Iterator[tuple[Place, Any]]:
        """Yield every value of a file that is not a container."""
        yield from ((Place(file, path), value) for path, value in leaves(json.loads(self.files[file].read_bytes())))


def put(document: Any, path: tuple[str | int, ...], value: object) -> None:
    """Set one value in a document."""
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def leaves(document: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every value that is not a container, with its path."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, (*path, key))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from leaves(value, (*path, number))
    else:
        yield path, document


def furnish(home: Path, project: Path, name: str = "alpha") -> Furnished:
    """Make that team; no process belongs to it."""
    home_of_it = teams.Home(name=name, project=project, display=Display(mode_reason="a test"))
    context = teams.create(Store(home), THE_HUMAN, home_of_it)
    _members(context)
    _tasks(context)
    for to in ("human", "lead"):
        messages.send(context, to, f"to {to}")
    context.team.mailbox("w1").post(Notice(id="mail", from_="human", to="w1", content="to w1"), clock)
    _notices(context)
    full = Furnished(context)
    assert all(path.is_file() for path in full.files.values())
    return full


def _members(context: Context) -> None:
    now, team = clock(), context.team
    gone = processes.identify(os.getpid())
    assert gone
    dead = replace(gone, start="1")
    wish = ShutdownWish(id="wish", by="human", at=now, reason="why")
    answer = Answer(request_id="wish", incarnation=INCARNATION, approve=False, at=now, reason="busy")
    seat = Seat(
        agent_id="w1", name="W1", agent="shell", role="r", prompt="p", argv=("a",), shutdown=wish, answer=answer
    )
    handle = Handle(backend="headless", incarnation=INCARNATION, log=str(team.paths.log("w1")), pane="%1", socket="/s")
    ended = Exit(at=now, code=1, reason="r")
    state = SeatState(
        agent_id="w1",
        generation=1,
        incarnation=INCARNATION,
        state=State.CRASHED,
        since=now,
        started_at=now,
        task="task-1",
        guard=dead,
        agent=dead,
        handle=handle,
        exit=ended,
        note="n",
        reported_at=now,
        asked="wish",
        asked_at=now,
        ending_since=now,
        told=(f"{INCARNATION}:ended",),
    )
    failure = Failure(agent_id="w2", generation=1, at=now, message="m", hint="h")
    refusal = Refusal(request_id="wish", stayed={"w1": "busy"})
    with team.wanted.change("test") as wanted:
        wanted.value = replace(wanted.value, seats=(seat, Seat(agent_id="w2", name="W2", agent="shell")))
    with team.runtime.change("test") as runtime:
        runtime.value = replace(
            runtime.value, seats=(state,), lead=dead, failures=(failure,), refusals=(refusal,), lead_since=now
        )
    listed = Member(name="W1", agent_id="w1", category="c", session_id=INCARNATION, spawned_at=now, agent="shell")
    with team.config.change("test") as config:
        config.value = replace(config.value, members=(listed,))
    for name in ("w1", "w2"):
        team.mailbox(name).make()
    report = Report(
        agent_id="w1",
        incarnation=INCARNATION,
        guard=dead,
        agent=dead,
        state=State.CRASHED,
        since=now,
        task="task-1",
        note="n",
        exit=ended,
    )
    File(team.paths.sessions, team.paths.report(INCARNATION), Report).create(report)
    team.paths.log("w1").write_text("what it said\n")


def _tasks(context: Context) -> None:
    first = Draft(title="one", description="d", acceptance="a", labels=("l",), run="true", timeout=5.0, key="a")
    tasks.create(
        context, [first, Draft(title="two", parent="task-1"), Draft(title="three", blocked_by=("a",), key="c")]
    )
    tasks.create(context, [Draft(title="four"), Draft(title="five")])
    tasks.claim(context, "1")
    tasks.comment(context, "1", "a comment")
    tasks.claim(context, "4")
    tasks.fail(context, "4", "it broke")
    now = clock()
    claim = Claim(agent_id="w1", incarnation=INCARNATION, epoch=1, claimed_at=now)
    wait = Wait(kind=Awaiting.INPUT, since=now, by="w1", reason="what now")
    with context.team.tasks.change("test") as change:
        one, two, *rest, five = change.value.tasks
        one = replace(one, claim=claim, assignee="w1", result="r", closed_reason="c", created_by="human")
        five = replace(five, status=Status.IN_PROGRESS, awaiting=wait)
        change.value = replace(change.value, tasks=(one, two, *rest, five))


def _notices(context: Context) -> None:
    owed = Notice(id="owed", from_="lead", to="w2", content="owed")
    with context.team.tasks.change("test") as change:
        change.value = replace(change.value, outbox=(owed,))
