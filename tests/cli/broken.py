"""Ways in which a file of the store can be broken, and a home where every kind of file is there."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from msgspec.structs import replace

from pro0.model.message import MessageType, Notice
from pro0.model.runtime import Process, Report, State
from pro0.model.task import Changes, Draft
from pro0.model.usage import SessionUsage
from pro0.ops.context import Context, clock
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.ops.work.ports import port_base
from pro0.rules.tasks import archive
from pro0.rules.tasks.archive import HISTORY_COUNT
from pro0.store.files import File
from tests.cli.conftest import make, seat

SENT = 230
"""Messages to the human: more than a head holds, so that there is a sealed segment."""


def world(home: Path, project: Path) -> Context:
    """The team alpha with every kind of file that the store knows, and the team beta beside it."""
    team = make(home, "alpha", project)
    known = seat(team, "w1", State.CRASHED)
    tasks.create(team, [Draft(title=f"number {n}", run="true", description='a "{[\\') for n in range(1, 6)])
    tasks.claim(team, "1")
    tasks.comment(team, "1", "first")
    tasks.comment(team, "1", "second")
    _age(team)
    for number in range(1, SENT + 1):
        notice = Notice(id=f"m{number}", from_="w1", to="human", content=f"text {number}", type=MessageType.MESSAGE)
        team.team.mailbox("human").post(notice, clock)
    gone = Process(pid=2**22 - 1, start="1", boot_id="x")
    with team.team.runtime.change("test") as change:
        change.value = replace(change.value, seats=(replace(known, guard=gone),))
    report = Report(
        agent_id="w1", incarnation=known.incarnation, guard=gone, state=State.CRASHED, since=clock(), note="of a test"
    )
    paths = team.team.paths
    File(paths.sessions, paths.report(known.incarnation), Report).create(report)
    with team.team.usage.change("test") as used:
        entry = SessionUsage(agent_id="w1", incarnation=known.incarnation, agent="claude", input_tokens=7)
        used.value = replace(used.value, sessions=(entry,))
    members.members(team)
    port_base(team.team, "w1")
    make(home, "beta", project / "elsewhere")
    return team


def _age(team: Context) -> None:
    """Let task 2 have older history in a page of its own, and let tasks 6 and 7 be in the archive."""
    for number in range(HISTORY_COUNT + 2):
        tasks.update(team, "2", Changes(title=f"title {number}"))
    tasks.create(team, [Draft(title="old"), Draft(title="older")])
    with patch.object(archive, "SETTLED_COUNT", 1):
        for id in ("6", "7"):
            tasks.cancel(team, id)


def files(home: Path) -> dict[str, Path]:
    """Every kind of file, by a short name."""
    team, mail = home / "teams" / "alpha", home / "mailboxes" / "alpha"
    return {
        "config": team / "config.json",
        "wanted": team / "wanted.json",
        "runtime": team / "runtime.json",
        "environment": team / "environment.json",
        "ports": team / "ports.json",
        "usage": team / "usage.json",
        "report": next(path for path in sorted((team / "sessions").glob("*.json"))),
        "tasks": home / "tasks" / "alpha" / "tasks.json",
        "archive": home / "tasks" / "alpha" / "archive" / "000001.json",
        "history": home / "tasks" / "alpha" / "task-2" / "history" / "000001.json",
        "comments": home / "tasks" / "alpha" / "task-1" / "comments.json",
        "mailbox": mail / "human" / "messages.json",
        "segment": mail / "human" / "archive" / "000001.json",
        "member's mailbox": mail / "w1" / "messages.json",
    }


Break = Callable[[Path], None]


def _bytes(change: Callable[[bytes], bytes]) -> Break:
    def broken(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return broken


def _keys(change: Callable[[dict[str, object]], dict[str, object]]) -> Break:
    return _bytes(lambda data: json.dumps(change(json.loads(data)), indent=1).encode())


def _random(data: bytes) -> bytes:
    noise = random.Random(7).randbytes(40)
    return data[: len(data) // 2] + b"\xff" + noise + data[len(data) // 2 + 41 :]


def _sparse(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 30)


def _link(path: Path) -> None:
    outside = next(place for place in path.parents if place.name == "pro0").with_name("outside")
    path.rename(outside)
    path.symlink_to(outside)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _wrong_types(data: bytes) -> bytes:
    return data.replace(b'"revision": ', b'"revision": "x", "schemaVersion": ', 1)


BREAKS: dict[str, Break] = {
    "empty": _bytes(lambda _: b""),
    **{f"cut at {n}/16": _bytes(lambda data, n=n: data[: len(data) * n // 16]) for n in range(1, 16)},  # type: ignore[misc]
    "NULs": _bytes(lambda data: b"\0" * len(data)),
    "random bytes": _bytes(_random),
    "bad UTF-8": _bytes(lambda data: data.replace(b'"revision"', b'"\xff": 1, "revision"', 1)),
    "wrong types": _keys(lambda value: value | {"revision": "x"}),
    "a list": _bytes(lambda _: b"[]"),
    "null": _bytes(lambda _: b"null"),
    "deep": _bytes(lambda _: b"[" * 100_000),
    "5000 digits": _bytes(lambda data: data.replace(b'"revision": ', b'"revision": ' + b"9" * 5000, 1)),
    "garbage behind": _bytes(lambda data: data + b"x"),
    "unknown key": _keys(lambda value: value | {"surprise": 1}),
    "a key twice": _bytes(lambda data: data.replace(b'"revision"', b'"revision": 1, "revision"', 1)),
    "sparse": _sparse,
    "link": _link,
    "pipe": _pipe,
    "missing": Path.unlink,
}
LOSSLESS = ("bad UTF-8", "wrong types", "5000 digits", "garbage behind", "unknown key", "a key twice")
"""What breaks a file without making any of its objects unreadable."""
MAY_BE_MISSING = ("report", "comments", "environment", "ports", "usage")
