"""Ten members at work, and something happens to them every two seconds (issue 3, must show 12)."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.engine.cleanup import cleanup
from pro0.errors import Pro0Error
from pro0.model.task import SETTLED, Draft, Status
from pro0.ops.tasks import tasks
from tests.bystanders import somebodys_tmux
from tests.crash.lanes import LANES, SOAK, TEST, counted
from tests.engine.crew import PATIENCE, Crew, crew
from tests.scenarios.leads import one_after_the_other
from tests.soak.audit import audit
from tests.soak.band import WORKERS, Band
from tests.soak.gauge import Gauge
from tests.soak.mischief import Mischief
from tests.teams import make_team
from tests.waiting import wait_until
from tests.world import World, changes, world

SECONDS = {TEST: 12, SOAK: 600}
EVERY = 2.0
"""Seconds between two faults."""


@pytest.fixture
def outside(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], World]]:
    """What is nobody's business: another team, somebody's tmux; how to look at all that."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    make_team(home, "w1", name="beta")
    places = (home, Path(os.environ["HOME"]), Path(os.environ["TMUX_TMPDIR"]))
    with somebodys_tmux("alpha", "alpha-2"):
        yield lambda: world(*places)


@pytest.fixture
def before(outside: Callable[[], World]) -> World:
    """How it was before there was a team."""
    return outside()


@pytest.fixture
def team(before: World, home: Path, tmp_path: Path) -> Iterator[Crew]:
    """A team in tmux with the product's own intervals, but for a short grace."""
    with crew(home, tmp_path, "tmux") as made:
        yield made
        made.remember()
        processes.end(lambda: [*made.left(), *filter(processes.alive, made.leads_of_others())], 0)


@pytest.mark.parametrize("lane", LANES)
def test_whatever_happens(before: World, outside: Callable[[], World], team: Crew, lane: str, tmp_path: Path) -> None:
    seconds = float(os.environ.get("SOAK_SECONDS", SECONDS[lane]))
    seed = random.randrange(10**6)
    band = Band(team, tmp_path / "log", seed)
    mischief, gauge = Mischief(band, seed), Gauge(team)
    if lane == SOAK:
        _settled_before(team)
    band.start()
    _play(band, mischief, gauge, seconds)
    _report(band, mischief, gauge, seed)
    assert [*mischief.seen, *audit(band), *gauge.grown(), *_doctor()] == []
    one_after_the_other(team)
    team.stop(timeout=30, force=True)
    assert cleanup(team.store, "alpha", force=False, show=team.shown.append) == "alpha is removed"
    for kept in team.store.archives():
        team.store.forget(kept)
    with suppress(AssertionError):
        wait_until(lambda: outside() == before, PATIENCE, "the world is as it was")
    assert changes(before, outside()) == []
    _count(band, mischief, lane, seconds)
    growth = gauge.growth()
    counted(lane, "lead growth", "memory", growth.memory >> 10)
    counted(lane, "lead files", "open", growth.files)


def _play(band: Band, mischief: Mischief, gauge: Gauge, seconds: float) -> None:
    """Work and mischief side by side; then everyone is brought back until all is done and read.

    What is not done even then, the audit says.
    """
    over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(band.work, over), pool.submit(band.care, over)]
        try:
            _happen(mischief, gauge, seconds)
        finally:
            over.set()
        for other in others:
            other.result()
    with suppress(AssertionError):
        wait_until(lambda: band.all_up() and _is_done(band), PATIENCE * 5, "all is done and read")


def _happen(mischief: Mischief, gauge: Gauge, seconds: float) -> None:
    """Do one thing after the other; in the second half the lead lives, so that it can be seen not to grow."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        mischief.some(spare_the_lead=passed > seconds / 2)
        gauge.read()
        time.sleep(max(0.0, passed + EVERY - (time.monotonic() - began)))


def _is_done(band: Band) -> bool:
    with suppress(Pro0Error):
        heads = [band.crew.team.mailbox(name).head.read() for name in WORKERS]
        listed = tasks.list_tasks(band.crew.context)
        return all(task.status in SETTLED for task in listed) and all(h.acked == h.next_seq - 1 for h in heads)
    return False


def _settled_before(alpha: Crew) -> None:
    """Fill the list of settled tasks, so that it can grow no more."""
    alpha.give(*(Draft(title="long over") for _ in range(1000)))
    with alpha.team.tasks.change("a test") as change:
        over = (replace(task, status=Status.CANCELLED) for task in change.value.tasks)
        change.value = replace(change.value, tasks=tuple(over))


def _doctor() -> list[str]:
    """Return what the doctor does not like about the team."""
    done = subprocess.run([sys.executable, "-m", "pro0", "doctor", "--json"], capture_output=True, text=True)
    checks = json.loads(done.stdout)["checks"]
    return [f"doctor: {check['name']}: {check['what']}" for check in checks if check["state"] == "fail"]


def _report(band: Band, mischief: Mischief, gauge: Gauge, seed: int) -> None:
    print(f"seed {seed}: {len(band.given)} tasks, {sum(map(len, band.sent.values()))} messages, {gauge}")
    print(f"{band.resumed} times resumed; at most {band.alone:.1f} s without a lead beside a guard")
    print(", ".join(f"{name} {number}" for name, number in mischief.done.most_common()))


def _count(band: Band, mischief: Mischief, lane: str, seconds: float) -> None:
    counted(lane, "soak seconds", "all", round(seconds))
    counted(lane, "soak tasks", "all", len(band.given))
    counted(lane, "soak mail", "all", sum(map(len, band.sent.values())))
    for name, number in mischief.done.items():
        counted(lane, "soak faults", name, number)
