"""The same commands where a team's documents are files, where a database has them, and from another machine.

The other machine is a real sshd on 127.0.0.1, and the database is a server of its own. A network adds its own delay.
"""

import json
import os
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from bench.figure import Figure, interleaved, milliseconds
from bench.scratch import PRO0, TEAM, run, until, world
from pro0.cli.warm.client import SOCKET
from pro0.model.runtime import SeatState, State
from pro0.model.team import Seat, ShutdownWish
from pro0.store.teams import Store
from tests import postgres, sshd

ROUNDS = 15
LOADING = 5.0
MEMBERS = 10
LONGEST = 900.0
"""Seconds until a team counts as stuck."""
BARE, SSH, SELECT = "python -I -c pass", "ssh HOST true", "psql -c 'select 1'"
THERE = """import json, subprocess, sys, time
rounds, place, *commands = sys.argv[1:]
times = {}
for number in range(int(rounds) + 1):
    for name, *words in map(json.loads, commands):
        words = [str(int(rounds) * int(word[1:]) + number + 1) if word.startswith("#") else word for word in words]
        begun = time.perf_counter()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        if number:
            times.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
with open(place + ".new", "w") as file:
    json.dump(times, file)
import os
os.replace(place + ".new", place)
time.sleep(1000)
"""
"""Runs commands in turn on the other machine, and writes how long each took; `#N` is a task's number."""


def figures() -> Iterator[Figure]:
    """Measure claim, send and list in all three places, and how long ten members take to run."""
    yield from here("files")
    if postgres.is_here():
        with postgres.postgres(fsync="on") as server:
            yield from here("database", url=server.url())
    if not sshd.lacks():
        yield from there("over ssh")


def here(place: str, number: int = MEMBERS, *, ended: int = 0, url: str = "") -> Iterator[Figure]:
    """Measure a team of `number` members on this machine, in the database at `url` or else in files.

    The team also has `ended` members that were shut down.
    """
    floors: dict[str, Callable[[], object]] = {BARE: lambda: run(sys.executable, "-I", "-c", "pass")}
    if url and (psql := postgres.program("psql")):
        floors[SELECT] = partial(run, psql, "-q", "-c", "select 1", url)
    store = ("--store", url) if url else ()
    with world() as folder:
        yield _brought_up(folder, place, [*store, *_members(folder, number)], number)
        _had(folder, ended)
        task = iter(range(1, 1000))
        for _ in range(ROUNDS + 1):
            run(PRO0, "task", "create", "something to do", "-t", TEAM)
        until((folder / "home" / "teams" / TEAM / SOCKET).exists, 60)
        commands: dict[str, Callable[[], object]] = {
            "task claim": lambda: run(PRO0, "task", "claim", str(next(task)), "-t", TEAM),
            "send": lambda: run(PRO0, "send", "w1", "a word", "-t", TEAM),
            "task list": lambda: run(PRO0, "task", "list", "-t", TEAM),
        }
        run(PRO0, "task", "list", "-t", TEAM)
        time.sleep(LOADING)
        times = interleaved([*floors.values(), *commands.values()], ROUNDS)
        floor_is, floor = list(zip(floors, times, strict=False))[-1]
        for name, took in zip(commands, times[len(floors) :], strict=True):
            yield Figure(f"{place}: {name}", took, "ms", floor=floor, floor_is=floor_is)


def there(place: str, number: int = MEMBERS, *, ended: int = 0) -> Iterator[Figure]:
    """Measure a team of `number` members on another machine, and of `ended` members that were shut down."""
    with world() as folder, ExitStack() as stack:
        machine = stack.enter_context(sshd.machine(folder / "build1"))
        machine.install()
        os.environ["PRO0_SSH"] = machine.ssh
        floor = interleaved([partial(run, *machine.ssh.split(), machine.name, "true")], ROUNDS)[0]
        yield _brought_up(folder, place, _members(folder, number, host=machine.name), number)
        _had(folder, ended)
        for _ in range(ROUNDS + 1):
            run(PRO0, "task", "create", "something to do", "-t", TEAM)
        result = machine.home / "times.json"
        commands = (["task claim", "pro0", "task", "claim", "#0"], ["send", "pro0", "send", "w1", "a word"])
        words = [json.dumps(one) for one in (*commands, ["task list", "pro0", "task", "list"])]
        measure = [sys.executable, "-c", THERE, str(ROUNDS), str(result), *words]
        run(PRO0, "member", "spawn", "timer", "-t", TEAM, "--host", machine.name, "--", *measure)
        until(result.exists, LONGEST)
        for name, took in json.loads(result.read_text()).items():
            yield Figure(f"{place}: {name}", sorted(took)[ROUNDS // 2], "ms", floor=floor, floor_is=SSH)


def _members(folder: Path, number: int, host: str = "") -> list[str]:
    """Return the options for `number` members; each reports its start, and sleeps."""
    (folder / "up").mkdir()
    program = folder / "probe"
    program.write_text(f"#!/bin/sh\n: > {folder}/up/$$\nexec sleep 1000\n")
    program.chmod(0o755)
    (folder / "home").mkdir(mode=0o700)
    (folder / "home" / "config.yaml").write_text(f"agents: {{probe: {{argv: [{program}]}}}}\n")
    where = f"@{host}" if host else ""
    return [word for place in range(number) for word in ("-m", f"w{place}=probe{where}")]


def _had(folder: Path, number: int) -> None:
    """Record `number` further members of a team, each of which was shut down."""
    if not number:
        return
    run(PRO0, "team", "stop", TEAM)
    team, now = Store(folder / "home").team(TEAM), datetime.now(UTC)
    names, wish = [f"e{place}" for place in range(number)], ShutdownWish("bench", "human", now)
    with team.wanted.change("a bench") as change:
        seats = (Seat(name, name.title(), "shell", shutdown=wish) for name in names)
        change.value = replace(change.value, seats=(*change.value.seats, *seats))
    with team.runtime.change("a bench") as record:
        states = (SeatState(name, 1, str(uuid.uuid4()), State.SHUTDOWN, now, now) for name in names)
        record.value = replace(record.value, seats=(*record.value.seats, *states))
    for name in names:
        team.mailbox(name).make()
    run(PRO0, "team", "resume", TEAM)


def _brought_up(folder: Path, place: str, words: list[str], number: int) -> Figure:
    os.environ["PRO0_MAX_TEAMMATES"] = "100"
    up, project = folder / "up", folder / "project"
    os.chdir(project)

    def start() -> None:
        run(PRO0, "team", "start", TEAM, *words, "--lead", "none", "--mode", "in-process", "--detach")
        until(lambda: len(os.listdir(up)) >= number, LONGEST, pause=0.005)

    took = milliseconds(start)
    shutil.rmtree(up)
    return Figure(f"{place}: team start, {number} programs run", took, "ms")
