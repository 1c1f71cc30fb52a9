"""A lead that may open no more files, or that has started and buried many sessions (reliability 50, 77)."""

import errno
import json
import os
import queue
import resource
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import MethodType
from typing import NamedTuple
from uuid import uuid4

import msgspec
import psutil
import pytest

from pro0 import processes
from pro0.config import USER_FILE
from pro0.engine import loop, outcomes
from pro0.engine.background import stuck
from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Hosted, State
from pro0.ops import trust
from pro0.ops.mail import messages
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.ops.work import workers
from pro0.rules.lead import idling
from pro0.sessions.headless import Headless
from pro0.store.files import File
from pro0.store.paths import ANNOUNCED
from tests.crash.lanes import LANES, SOAK
from tests.engine.crew import PATIENCE, Crew
from tests.faults import Call, Shim, fail_with, fault_at
from tests.repositories import repository_in
from tests.waiting import wait_until


def is_in(alpha: Crew, name: str, state: State) -> bool:
    return any((seat.agent_id, seat.state) == (name, state) for seat in alpha.team.runtime.read().seats)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="nobody can set this of another process there")
def test_a_lead_that_may_open_no_more_files_lives_on(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """77: who waits is told, nobody is ended, and with room again it goes on."""
    lead = psutil.Process(alpha.lead().pid)
    alpha.spawn("w1")
    monkeypatch.setattr(outcomes, "START_PATIENCE", 2.0)
    before, pids = resource.prlimit(lead.pid, resource.RLIMIT_NOFILE), alpha.pids()
    resource.prlimit(lead.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    with pytest.raises(EnvironmentMissing, match="w2 did not come up") as slow:
        alpha.spawn("w2")
    assert slow.value.hint == "look at it: pro0 team logs -t alpha"
    assert alpha.leads[-1].poll() is None
    resource.prlimit(lead.pid, resource.RLIMIT_NOFILE, before)
    wait_until(lambda: is_in(alpha, "w2", State.IDLE), PATIENCE, "it comes up after all")
    assert alpha.pids().items() >= pids.items()


@contextmanager
def led_here(alpha: Crew) -> Iterator[loop.Lead]:
    """Kill the lead of a team, and lead it by rounds that the test makes."""
    alpha.leads[-1].kill()
    alpha.leads[-1].wait()
    lease = alpha.team.documents.lease()
    assert lease.take("lead")
    try:
        lead = loop.Lead(alpha.team, trust.settings(alpha.store.home, alpha.project, os.environ), lease)
        lead._sign_in()
        lead._round()
        yield lead
    finally:
        lease.drop()


def test_a_disk_that_takes_nothing_keeps_no_leftover_alive(alpha: Crew) -> None:
    """A forced end needs no disk: not even the launch file has to go, which it shows by trying again."""
    alpha.lead()
    alpha.spawn("w1")
    report = alpha.report("w1")
    with led_here(alpha) as lead, fault_at(None, fail_with(errno.EROFS), ("unlink", "rename", "mkdir")):
        agent = report.agent
        assert agent
        processes.signal_process(report.guard, signal.SIGKILL)
        wait_until(lambda: not processes.alive(report.guard), PATIENCE, "the guard is gone")
        lead._round()
        wait_until(lambda: not processes.alive(agent), PATIENCE, "its agent is ended")


def test_a_guard_that_cannot_be_looked_at_is_not_dead(alpha: Crew) -> None:
    """One failed open in /proc: the round is another time, and nobody loses a claim or a life."""
    alpha.lead()
    alpha.spawn("w1")
    report = alpha.report("w1")
    stat = f"/proc/{report.guard.pid}/stat"
    failed: list[object] = []

    def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if args[0] == stat and not failed:
            failed.append(args[0])
            return fail_with(errno.ENFILE)(shim, name, real, args, kwargs)
        return real(*args, **kwargs)

    with led_here(alpha) as lead:
        before = alpha.state("w1")
        with Shim(("open",), None, fault):
            lead._round()
        assert failed == [stat]
        lead._round()
        assert (alpha.state("w1").state, alpha.state("w1").incarnation) == (before.state, before.incarnation)
        assert not lead._applier._ending
    assert report.agent
    assert processes.alive(report.guard)
    assert processes.alive(report.agent)
    assert "the system's table of processes cannot be read" in alpha.log()


class Held(NamedTuple):
    """What a lead has, and what there is of its team."""

    files: int
    threads: int
    children: int
    paths: set[Path]

    def fits(self, other: "Held") -> bool:
        """Say whether there is no more of anything than in the other."""
        return all(mine <= theirs for mine, theirs in zip(self, other, strict=True))  # type: ignore[operator]


def held(alpha: Crew) -> Held:
    """Look at a lead, and at its team's files but for logs, mail and what the guards of old sessions have told."""
    lead = psutil.Process(alpha.leads[-1].pid)
    paths = {path for path in alpha.store.home.rglob("*") if not {"logs", "mailboxes"} & {*path.parts}}
    reports = {path for path in alpha.team.paths.sessions.glob("*.json") if len(path.stem) == len(str(uuid4()))}
    return Held(lead.num_fds(), lead.num_threads(), len(lead.children()), paths - reports)


@pytest.mark.parametrize("lane", LANES)
def test_sessions_that_come_and_go_leave_nothing_with_the_lead(alpha: Crew, lane: str) -> None:
    """50: no open file, no thread, no zombie, and no other file."""
    alpha.lead()
    members.spawn(alpha.context, [SeatDraft(name="w1", agent="command", argv=("true",))], 10)
    looks: list[Held] = []
    wait_until(
        (alpha.team.paths.team / ANNOUNCED).exists, PATIENCE, "the first end is announced, by a thread that stays"
    )
    for number in range({SOAK: 1000}.get(lane, 8)):
        wait_until(lambda: is_in(alpha, "w1", State.EXITED), PATIENCE, "it has ended")
        looks.append(held(alpha))
        members.restart(alpha.context, "w1")
        again = number + 2
        wait_until(lambda again=again: alpha.state("w1").generation == again, PATIENCE, "it starts again")  # type: ignore[misc]
    alpha.reaches("w1", State.EXITED)
    wait_until(lambda: held(alpha).fits(looks[3]), PATIENCE, f"the lead has no more than it had: {looks[3]}")


def remembered(what: object, name: str = "", seen: set[int] | None = None) -> Counter[str]:
    """Count what all containers hold that are reached from an object, by where they are; documents are no memory."""
    seen = set() if seen is None else seen
    sizes: Counter[str] = Counter()
    if id(what) in seen or type(what).__module__.startswith("pro0.model."):
        return sizes
    seen.add(id(what))
    if isinstance(what, (dict, set, frozenset, list, tuple, deque)):
        sizes[name] += len(what)
    for inner_name, inner in within(what, name):
        sizes += remembered(inner, inner_name, seen)
    return sizes


def within(what: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield what an object holds, with the name of the attribute that leads there."""
    if isinstance(what, dict):
        yield from ((name, value) for value in list(what.values()))
    elif isinstance(what, (set, frozenset, list, tuple, deque)):
        yield from ((name, value) for value in list(what))
    elif isinstance(what, queue.Queue):
        yield name, what.queue
    elif isinstance(what, MethodType):
        yield name, what.__self__
    elif type(what).__module__.startswith("pro0."):
        fields = what.__struct_fields__ if isinstance(what, msgspec.Struct) else tuple(getattr(what, "__dict__", ()))
        yield from ((f"{type(what).__name__}.{field}", getattr(what, field)) for field in fields)


class Generations:
    """A lead whose rounds a test makes, with sessions that come, do all that a session does, and go."""

    def __init__(self, alpha: Crew) -> None:
        self.alpha = alpha
        self.idle = alpha.project / "idle"
        hooks = {"TeammateIdle": f"echo x >> {self.idle}"}
        (alpha.store.home / USER_FILE).write_text(json.dumps({"hooks": hooks}))
        repository_in(alpha.project)
        lease = alpha.team.documents.lease()
        assert lease.take("lead")
        self.lead = loop.Lead(alpha.team, trust.settings(alpha.store.home, alpha.project, os.environ), lease)
        self.lead._sign_in()
        reads = SeatDraft(name="reads", agent="command", nudge=True, argv=("sleep", "300"))
        members.spawn(alpha.context, [reads, SeatDraft(name="rests")], 10)
        self.number = 0

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Make rounds until something is so."""

        def made() -> object:
            self.lead._round()
            self.lead._exits.ended()
            return condition()

        wait_until(made, PATIENCE, what)

    def acts(self) -> tuple[int, int, int]:
        """Return how often a line was handed over, the hook asked and a worker's report written."""
        told, asked = (
            self.alpha.log().count('"event":"nudged"'),
            self.idle.exists() and self.idle.read_text().count("x"),
        )
        return told, int(asked), len(self.alpha.notices("Worker t"))

    def come_and_go(self) -> None:
        """One is told of its mail, one is idle and its hook is asked, one is a worker, one fails, one is elsewhere."""
        alpha, self.number = self.alpha, self.number + 1
        if self.number > 1:
            for name in ("reads", "rests"):
                members.restart(alpha.context, name)
        [task] = workers.delegate(alpha.context, [workers.draft("true", agent="shell", run="true")])
        messages.send(alpha.context, "reads", "read this")
        self.until(lambda: self.acts()[0] == self.number, "it is told of its mail")
        self.until(lambda: self.acts()[1] == self.number, "its hook is asked")
        for name in ("reads", "rests"):
            members.shutdown(alpha.context, name, timeout=PATIENCE, force=True)
            self.until(lambda name=name: is_in(alpha, name, State.SHUTDOWN), f"{name} is ended")  # type: ignore[misc]
        self.until(lambda: not any(seat.task for seat in alpha.team.wanted.read().seats), f"{task.id} is harvested")
        self.start_in_vain()
        self.end_elsewhere()

    def start_in_vain(self) -> None:
        """Ask for a member whose program is missing, until its seat is taken away again."""
        members.spawn(self.alpha.context, [SeatDraft(name="fails", agent="command", argv=("/missing",))], 10)
        self.until(lambda: "fails" not in {s.agent_id for s in self.alpha.team.wanted.read().seats}, "it fails")

    def end_elsewhere(self) -> None:
        """Have a session that may run on another machine, which is out of reach until a person gives it up."""
        team, name = self.alpha.team, str(uuid4())
        hosted = Hosted(
            agent_id="there", incarnation=name, there="t", host="h", ssh="false", team="a", project="/", argv=("x",)
        )
        File(team.paths.sessions, team.paths.hosted(name), Hosted).create(hosted)
        self.until(lambda: name in self.lead._services.host_sweep._due, "its machine is asked in vain")
        team.drop_hosted(name)


@pytest.mark.parametrize("lane", LANES)
def test_a_lead_remembers_no_session_for_ever(alpha: Crew, lane: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """50: no container of the lead grows with the sessions that were; nor is anything done for one of them again."""
    monkeypatch.setattr(idling, "IDLE_AFTER", timedelta())
    monkeypatch.setattr(stuck, "KEPT", 1)
    monkeypatch.setattr(Headless, "nudge", lambda *_: True)  # nobody reads there
    generations, number = Generations(alpha), {SOAK: 50}.get(lane, 4)
    for _ in range(number):
        generations.come_and_go()
    before = remembered(generations.lead)
    for _ in range(number):
        generations.come_and_go()
    grown = dict[str, tuple[int, int]]()

    def has_grown() -> bool:
        now = remembered(generations.lead)
        grown.clear()
        grown.update({name: (before[name], size) for name, size in now.items() if size > before[name] + 1})  # by chance
        return bool(grown)

    try:
        generations.until(lambda: not has_grown(), "no container has grown")
    except AssertionError as error:
        raise AssertionError(f"these grow with each session: {grown}") from error
    assert generations.acts() == (2 * number,) * 3
