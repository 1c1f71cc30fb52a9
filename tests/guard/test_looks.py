"""What a guard looks at while its agent works: is the team there, does somebody lead it (rulings 3.12)?"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pro0 import processes
from pro0.guard.lookout import TRIES
from pro0.model.runtime import Process, Revival, State
from pro0.model.team import Environment
from pro0.store.files import encode
from pro0.store.lease import Lease
from pro0.store.paths import LEASE
from tests.guard.sessions import PATH, Session, python
from tests.waiting import STUCK, wait_until

STAY = ["sleep", "600"]
OFTEN = 0.02

LEAD = """
import os, sys, time
told = sys.argv[1]
sys.path.insert(0, {root!r})
os.set_blocking(0, False)
line = repr((os.getpid(), dict(os.environ), os.getcwd(), os.getsid(0), os.read(0, 1), sys.argv[2:]))
print("a word of the lead", flush=True)
with open(told, "a") as file:
    file.write(line + "\\n")
if "{what}" == "leads":
    from pathlib import Path
    from pro0.store.lease import Lease
    lease = Lease(Path({team!r}))
    if lease.take("lead of a test"):
        time.sleep(600)
"""


class Place:
    """A home with a team, whose guard looks very often."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.team = self.home / "teams" / "band"
        self.team.mkdir(parents=True)
        self.session = Session(self.team)
        self.told = tmp_path / "told"
        self.errors = tmp_path / "errors"
        self.environment = tmp_path / "environment"
        self.environment.write_bytes(encode(Environment(revision=1, variables={"PATH": PATH, "HOME": "/h", "X": "ü"})))

    def revival(self, what: str = "leads", **changes: object) -> Revival:
        program = LEAD.format(root=str(Path(__file__).parents[2]), team=str(self.team), what=what)
        values: dict[str, object] = {
            "argv": (sys.executable, "-S", "-c", program, str(self.told)),
            "cwd": str(self.session.cwd),
            "lease": str(self.team / LEASE),
            "environment": str(self.environment),
            "variables": {"PRO0_HOME": str(self.home), "PRO0_LEAD": "1"},
            "errors": str(self.errors),
            "patience": 0.2,
            "jitter": 0.1,
        }
        if what == "leads":
            values["argv"] = (sys.executable, *values["argv"][2:])  # type: ignore[index] # with the libraries
        return Revival(**{**values, **changes})  # type: ignore[arg-type]

    def start(self, revival: Revival | None = None, **changes: object) -> "subprocess.Popen[bytes]":
        usual = {"team_folder": str(self.team), "look": OFTEN, "gone": 0.3}
        return self.session.start(STAY, revival=revival, **(usual | changes))

    def starts(self) -> list[tuple[int, dict[str, str], str, int, bytes, list[str]]]:
        """Every lead that was started: pid, environment, folder, session, stdin, further arguments."""
        return [eval(line) for line in self.told.read_text().splitlines()] if self.told.exists() else []

    def leader(self) -> Process | None:
        """The holder of the lease, if it lives."""
        held = Lease(self.team).read()
        named = held and Process(pid=held.pid, start=held.start, boot_id=held.boot_id)
        return named if named and processes.alive(named) else None

    def led(self) -> Process:
        leader = wait_until(self.leader, 20, "somebody leads")
        assert leader
        return leader

    def clean(self) -> None:
        self.session.clean()
        home = str(self.home)
        processes.end(lambda: processes.tagged("PRO0_HOME", [home])[home], 0)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    one = Place(tmp_path)
    yield one
    one.clean()


def looks_on(place: Place, looks: int = 20) -> None:
    """Wait until the guard has slept, and so looked, a number of times more."""
    guard = place.session.guard
    assert guard
    before = switches(guard.pid)
    wait_until(lambda: switches(guard.pid) >= before + looks, 20, "the guard looks on")


def switches(pid: int) -> int:
    """How often a process went to sleep."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="nobody can set this of another process there")
def test_a_report_that_did_not_fit_is_written_at_a_look(place: Place, tmp_path: Path) -> None:
    """A word that the agent never says again: without it the session starts for ever."""
    wait = f"until [ -e {tmp_path}/on ]; do sleep 0.01; done\n"
    words = """printf '{"note": "said once"}\\n' >&$PRO0_STATE_FD\n"""
    said = f"touch {tmp_path}/said\nexec sleep 600"
    guard = place.session.start(["sh", "-c", wait + words + said], team_folder=str(place.team), look=OFTEN)
    place.session.agent()
    before = resource.prlimit(guard.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(guard.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    (tmp_path / "on").touch()
    wait_until((tmp_path / "said").exists, STUCK, "the agent has said it")
    looks_on(place)
    assert place.session.report().note == ""
    resource.prlimit(guard.pid, resource.RLIMIT_FSIZE, before)
    place.session.reported(lambda report: report.note == "said once", "what was owed")


def test_a_lead_that_is_gone_is_started(place: Place) -> None:
    """In the team's environment, with nobody's identity, as nobody's child; once, if it is up within the patience."""
    guard = place.start(place.revival())
    leader = place.led()
    looks_on(place)
    [(pid, env, cwd, session, _, _)] = [start for start in place.starts() if start[0] == leader.pid]
    assert len(place.starts()) < TRIES
    tags = {"PRO0_HOME": str(place.home), "PRO0_LEAD": "1"}
    env.pop("LC_CTYPE", None)  # by Python itself
    assert env == {"PATH": PATH, "HOME": "/h", "X": "ü", **tags}
    assert cwd == str(place.session.cwd)
    assert session != guard.pid
    assert guard.pid not in [ancestor.pid for ancestor in processes.ancestors(pid)]
    assert set(place.errors.read_text().splitlines()) == {"a word of the lead"}
    assert place.session.report().state is State.STARTING


def test_it_comes_back_again_and_again(place: Place) -> None:
    place.start(place.revival())
    seen = set()
    for _ in range(4):
        leader = place.led()
        seen.add(leader.pid)
        assert processes.signal_process(leader, signal.SIGKILL)
        wait_until(lambda leader=leader: not processes.alive(leader), 10, "it is dead")  # type: ignore[misc]
    seen.add(place.led().pid)
    assert len(seen) == 5


def test_the_lead_outlives_the_session_that_started_it(place: Place) -> None:
    guard = place.start(place.revival())
    leader = place.led()
    guard.terminate()
    assert guard.wait(STUCK) == 143
    assert processes.alive(leader)


def test_what_becomes_an_orphan_later_still_comes_to_the_guard(place: Place) -> None:
    """The guard lets go of orphans only for the moment of a start."""
    ready = place.home / "ready"
    script = f"until [ -e {ready} ]; do sleep 0.01; done; (env -i setsid sleep 600 &) ; exec sleep 600"
    usual = {"team_folder": str(place.team), "look": OFTEN, "revival": place.revival()}
    guard = place.session.start(["sh", "-c", script], **usual)
    place.led()
    ready.touch()

    def orphans() -> list[Process]:
        below = processes.descendants(guard.pid)
        return [one for one in below if one.pid != place.session.agent().pid] if len(below) == 2 else []

    [orphan] = wait_until(orphans, 10, "the orphan is the guard's")
    guard.terminate()
    assert guard.wait(STUCK) == 143
    assert not processes.alive(orphan)


@pytest.mark.parametrize("how", ["alive", "rests", "off", "patience"])
def test_when_there_is_nothing_to_do(place: Place, how: str) -> None:
    lease = Lease(place.team)
    if how in ("alive", "rests"):
        assert lease.take("lead")
    if how == "rests":
        lease.rest("stays down")
        values = json.loads((place.team / LEASE).read_text())
        (place.team / LEASE).write_text(json.dumps(values | {"pid": 2**22 + 1}))
    try:
        place.start(None if how == "off" else place.revival(patience=600.0 if how == "patience" else 0.0))
        place.session.agent()
        looks_on(place)
        assert place.starts() == []
    finally:
        lease.drop()


@pytest.mark.parametrize("change", ["start", "bootId"])
def test_another_process_with_the_same_pid_does_not_lead(place: Place, change: str) -> None:
    lease = Lease(place.team)
    assert lease.take("lead")
    values = json.loads((place.team / LEASE).read_text())
    lease.drop()
    (place.team / LEASE).write_text(json.dumps(values | {change: "1"}))
    place.start(place.revival())
    assert place.led().pid != os.getpid()


def test_looking_keeps_nobody_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard takes no lock: the lease of a team without lead is free at every moment, at the first try."""
    monkeypatch.setattr("pro0.store.lease.TRIES", 1)
    place.start(place.revival(patience=600.0), look=0.0)
    place.session.agent()
    lease = Lease(place.team)
    for _ in range(300):
        assert lease.take("lead")
        lease.drop()


def test_a_lead_that_never_comes_is_not_tried_for_ever(place: Place) -> None:
    place.start(place.revival("ends at once", patience=0.0, jitter=0.0))
    wait_until(lambda: len(place.starts()) == TRIES, 20, "it was tried")
    looks_on(place, 40)
    assert len(place.starts()) == TRIES


@pytest.mark.parametrize("broken", ["no program", "no environment", "no folder for the log", "no lease"])
def test_whatever_goes_wrong_with_looking_the_agent_works_on(place: Place, broken: str) -> None:
    changes: dict[str, dict[str, Any]] = {
        "no program": {"argv": ("/no/such/program",)},
        "no environment": {"environment": "/no/such/file"},
        "no folder for the log": {"errors": "/no/such/folder/log"},
        "no lease": {"lease": "/no/such/folder/lease"},
    }
    guard = place.start(place.revival(patience=0.0, jitter=0.0, **changes[broken]))
    agent = place.session.agent()
    looks_on(place, 40)
    assert guard.poll() is None
    assert processes.alive(agent)
    if broken == "no program":
        assert "the lead cannot be started" in place.errors.read_text()


Take = Callable[[Place], object]
GONE: dict[str, Take] = {
    "removed": lambda place: shutil.rmtree(place.team),
    "renamed": lambda place: place.team.rename(place.home / "teams" / ".trash-band"),
}
STAYS: dict[str, Take] = {
    "home moved": lambda place: place.home.rename(place.home.with_name("elsewhere")),
    "home emptied, as by an unmount": lambda place: shutil.rmtree(place.home / "teams"),
    "sessions removed": lambda place: shutil.rmtree(place.session.reports),
    "no permission": lambda place: (place.home / "teams").chmod(0),
}


@pytest.mark.parametrize("take", GONE.values(), ids=GONE)
def test_a_team_that_is_gone_takes_its_sessions_along(place: Place, take: Take) -> None:
    """Rulings 3.12; and nothing is brought back."""
    guard = place.start()
    agent = place.session.agent()
    take(place)
    assert guard.wait(STUCK) == 143
    assert not processes.alive(agent)
    assert not place.team.exists()


@pytest.mark.parametrize("take", STAYS.values(), ids=STAYS)
def test_an_agent_is_not_ended_for_want_of_a_home(place: Place, take: Take) -> None:
    guard = place.start(gone=0.0)
    agent = place.session.agent()
    take(place)
    try:
        looks_on(place)
        assert guard.poll() is None
        assert processes.alive(agent)
    finally:
        if (place.home / "teams").exists():
            (place.home / "teams").chmod(0o700)


def test_a_team_that_is_back_at_the_second_look_was_never_gone(place: Place) -> None:
    """It takes both looks, and the time between them."""
    guard = place.start(gone=600.0)
    agent = place.session.agent()
    away = place.team.rename(place.home / "away")
    looks_on(place)
    away.rename(place.team)
    looks_on(place)
    assert guard.poll() is None
    assert processes.alive(agent)


def test_an_agent_that_talks_all_the_time_keeps_no_guard_from_looking(place: Place) -> None:
    chatter = "import os\nwhile True: os.write(int(os.environ['PRO0_STATE_FD']), b'{}\\n')"
    usual = {"team_folder": str(place.team), "look": OFTEN, "gone": 0.1}
    guard = place.session.start(python(chatter), **usual)
    place.session.agent()
    place.team.rename(place.home / "away")
    assert guard.wait(STUCK) == 143
