"""The same commands where a team's documents are files, where a database has them, and from another machine.

The other machine is a real sshd on 127.0.0.1, and the database a server of its own: what a network adds comes on top.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.figure import Figure, interleaved, milliseconds
from bench.scratch import PRO0, TEAM, run, until, world
from pro0.cli.warm.client import SOCKET
from tests import postgres, sshd

ROUNDS = 15
LOADING = 5.0
MEMBERS = 10
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
    yield from _here("files", "")
    if postgres.is_here():
        with postgres.postgres(fsync="on") as server:
            yield from _here("database", server.url())
    if not sshd.lacks():
        yield from _there()


def _here(place: str, url: str) -> Iterator[Figure]:
    floors: dict[str, Callable[[], object]] = {BARE: lambda: run(sys.executable, "-I", "-c", "pass")}
    if url and (psql := postgres.program("psql")):
        floors[SELECT] = partial(run, psql, "-q", "-c", "select 1", url)
    store = ("--store", url) if url else ()
    with world() as folder:
        yield _brought_up(folder, place, [*store, *_members(folder)])
        number = iter(range(1, 1000))
        for _ in range(ROUNDS + 1):
            run(PRO0, "task", "create", "something to do", "-t", TEAM)
        until((folder / "home" / "teams" / TEAM / SOCKET).exists, 60)
        commands: dict[str, Callable[[], object]] = {
            "task claim": lambda: run(PRO0, "task", "claim", str(next(number)), "-t", TEAM),
            "send": lambda: run(PRO0, "send", "w1", "a word", "-t", TEAM),
            "task list": lambda: run(PRO0, "task", "list", "-t", TEAM),
        }
        run(PRO0, "task", "list", "-t", TEAM)
        time.sleep(LOADING)
        times = interleaved([*floors.values(), *commands.values()], ROUNDS)
        floor_is, floor = list(zip(floors, times, strict=False))[-1]
        for name, took in zip(commands, times[len(floors) :], strict=True):
            yield Figure(f"{place}: {name}", took, "ms", floor=floor, floor_is=floor_is)


def _there() -> Iterator[Figure]:
    with world() as folder, ExitStack() as stack:
        machine = stack.enter_context(sshd.machine(folder / "build1"))
        machine.install()
        os.environ["PRO0_SSH"] = machine.ssh
        floor = interleaved([partial(run, *machine.ssh.split(), machine.name, "true")], ROUNDS)[0]
        yield _brought_up(folder, "over ssh", _members(folder, host=machine.name))
        for _ in range(ROUNDS + 1):
            run(PRO0, "task", "create", "something to do", "-t", TEAM)
        result = machine.home / "times.json"
        commands = (["task claim", "pro0", "task", "claim", "#0"], ["send", "pro0", "send", "w1", "a word"])
        words = [json.dumps(one) for one in (*commands, ["task list", "pro0", "task", "list"])]
        measure = [sys.executable, "-c", THERE, str(ROUNDS), str(result), *words]
        run(PRO0, "member", "spawn", "timer", "-t", TEAM, "--host", machine.name, "--", *measure)
        until(result.exists, 120)
        for name, took in json.loads(result.read_text()).items():
            yield Figure(f"over ssh: {name}", sorted(took)[ROUNDS // 2], "ms", floor=floor, floor_is=SSH)


def _members(folder: Path, host: str = "") -> list[str]:
    """Return the words for ten members, each of which says that it runs, and sleeps."""
    (folder / "up").mkdir()
    program = folder / "probe"
    program.write_text(f"#!/bin/sh\n: > {folder}/up/$$\nexec sleep 1000\n")
    program.chmod(0o755)
    (folder / "home").mkdir(mode=0o700)
    (folder / "home" / "config.yaml").write_text(f"agents: {{probe: {{argv: [{program}]}}}}\n")
    where = f"@{host}" if host else ""
    return [word for number in range(MEMBERS) for word in ("-m", f"w{number}=probe{where}")]


def _brought_up(folder: Path, place: str, words: list[str]) -> Figure:
    os.environ["PRO0_MAX_TEAMMATES"] = str(2 * MEMBERS)
    up, project = folder / "up", folder / "project"
    os.chdir(project)

    def start() -> None:
        run(PRO0, "team", "start", TEAM, *words, "--lead", "none", "--mode", "in-process", "--detach")
        until(lambda: len(os.listdir(up)) >= MEMBERS, 120)

    took = milliseconds(start)
    shutil.rmtree(up)
    return Figure(f"{place}: team start, {MEMBERS} programs run", took, "ms")
