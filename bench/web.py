"""The page's server: its cost for terminals that repaint, how soon it tells a change, and its cost when idle."""

import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event, Thread
from typing import Any

import psutil
from websockets.sync.client import ClientConnection, connect

from bench.figure import Figure, milliseconds
from bench.rpc import _wake_ups
from bench.scratch import PRO0, TEAM, add_tasks, make_team, run, until, world
from bench.view import REPAINT
from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft

TERMINALS = 10
SECONDS = 10.0
IDLE_SECONDS = 10.0
CHANGES = 40
CPU_GOAL = 20.0
BEHIND_GOAL = 100.0
WAKE_UP_GOAL = 1.0
TOLD_GOAL = 150.0
DATED = REPAINT.replace("frame {n}", "frame {n} @{time.time():.4f}")
"""A program that repaints its screen ten times a second, with the time of each repaint on it."""
SAID = re.compile(rb"@(\d+\.\d{4})")


class Page:
    """A paired browser, as the server sees one on the network."""

    def __init__(self, url: str, opened: ExitStack) -> None:
        base, _, code = url.partition("/#pair=")
        self._base, self._opened = base, opened
        headers = {"Content-Type": "application/json", "Origin": base}
        request = urllib.request.Request(f"{base}/pair", json.dumps({"code": code}).encode(), headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            self._cookie = answer.headers["Set-Cookie"].partition(";")[0]
            self._secret = json.load(answer)["secret"]

    def open(self, path: str) -> ClientConnection:
        """Open a WebSocket."""
        settings: dict[str, Any] = {
            "origin": self._base,
            "subprotocols": ["pro0", f"secret.{self._secret}"],
            "additional_headers": {"Cookie": self._cookie},
        }
        address = f"ws{self._base.removeprefix('http')}{path}"
        socket: ClientConnection = connect(address, proxy=None, max_size=None, **settings)
        return self._opened.enter_context(socket)


def figures() -> Iterator[Figure]:
    """Measure `pro0 web` at a team whose members have terminals of their own."""
    with world() as folder, ExitStack() as opened:
        context = make_team(folder, "in-process")
        with (context.team.paths.home / "config.yaml").open("a") as settings:
            settings.write("verdicts: scripts\n")
        run(PRO0, "team", "resume", "-t", TEAM)
        add_tasks(context, 100)
        server = opened.enter_context(
            subprocess.Popen([PRO0, "web", "--no-open"], stdout=subprocess.PIPE, text=True, env=os.environ)
        )
        opened.callback(server.terminate)
        assert server.stdout
        page = Page(server.stdout.readline().partition(": ")[2].strip(), opened)
        process = psutil.Process(server.pid)
        yield from _idle(process, "an idle server")
        rpc = page.open(f"/rpc/{TEAM}")
        _ask(rpc, "task.list.subscribe")
        _ask(rpc, "need.list.subscribe")
        yield from _idle(process, "an idle server with a page")
        told = sorted(_told(context, rpc, number) for number in range(CHANGES))
        what = "web, a change is told to a page, 19 in 20"
        yield Figure(what, told[int(len(told) * 0.95) - 1], "ms", TOLD_GOAL, "ms")
        names = [f"r{number}" for number in range(TERMINALS)]
        drafts = [SeatDraft(name=name, agent="command", argv=("python3", "-c", DATED)) for name in names]
        members.spawn(context, drafts, TERMINALS + 5)
        roster = context.team.runtime
        until(lambda: sum(seat.handle is not None for seat in roster.read().seats) == TERMINALS, 60)
        time.sleep(3)
        yield from _repainting(process, [page.open(f"/terminal/{TEAM}/{name}") for name in names])


def _ask(rpc: ClientConnection, method: str) -> None:
    rpc.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}))
    rpc.recv()


def _idle(server: psutil.Process, what: str) -> Iterator[Figure]:
    time.sleep(3)
    before, used = _wake_ups(server.pid), _used(server)
    time.sleep(IDLE_SECONDS)
    woken = (_wake_ups(server.pid) - before) / IDLE_SECONDS
    yield Figure(f"web, {what}, wake-ups", woken, "a second", WAKE_UP_GOAL, "a second")
    yield Figure(f"web, {what}, CPU", (_used(server) - used) / IDLE_SECONDS * 100, "% of a core")
    yield Figure(f"web, {what}, memory", server.memory_full_info().uss / 2**20, "MiB")


def _told(context: Any, rpc: ClientConnection, number: int) -> float:
    def change() -> None:
        tasks.create(context, [Draft(title=f"change {number}")])
        while json.loads(rpc.recv(10)).get("method") != "task.list.changed":
            pass

    time.sleep(0.1)
    return milliseconds(change)


def _repainting(server: psutil.Process, sockets: list[ClientConnection]) -> Iterator[Figure]:
    over, frames, behind = Event(), [0] * len(sockets), list[float]()

    def read(number: int) -> None:
        while not over.is_set():
            try:
                heard = sockets[number].recv(1)
            except TimeoutError:
                continue
            if isinstance(heard, bytes) and (said := SAID.findall(heard)):
                frames[number] += 1
                behind.append((time.time() - float(said[-1])) * 1000)

    readers = [Thread(target=read, args=(number,), daemon=True) for number in range(len(sockets))]
    for reader in readers:
        reader.start()
    time.sleep(2)
    before, counted = _used(server), sum(frames)
    behind.clear()
    time.sleep(SECONDS)
    used, shown = (_used(server) - before) / SECONDS * 100, (sum(frames) - counted) / SECONDS / len(sockets)
    over.set()
    for reader in readers:
        reader.join()
    yield Figure(
        f"web, {TERMINALS} repainting terminals, CPU of the server", used, "% of a core", CPU_GOAL, "% of a core"
    )
    yield Figure(f"web, {TERMINALS} repainting terminals, frames of each", shown, "a second")
    behind.sort()
    what = f"web, {TERMINALS} repainting terminals, behind"
    yield Figure(what, behind[len(behind) // 2], "ms")
    yield Figure(f"{what}, 19 in 20", behind[int(len(behind) * 0.95) - 1], "ms", BEHIND_GOAL, "ms")


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
