"""What a person owns outlives a team that it looks like, however the team's members end."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.runtime import Process, SeatState
from pro0.store.teams import Store
from tests.conftest import Result
from tests.contracts.stages import InsideStage
from tests.crash.lanes import a_few
from tests.e2e.conftest import kill
from tests.engine.crew import gone
from tests.look_alikes import LookAlikes, Seat, in_panes, surround
from tests.repositories import repository_in
from tests.waiting import STUCK, wait_until

NAMES = ("w1", "w2", "w3", "w4")
LAST = {
    "tmux": (("team", "stop"), ("team", "cleanup", "alpha")),
    "tmux-inside": (("team", "cleanup", "alpha", "--force"),),
    "in-process": (("team", "stop", "--force"), ("team", "cleanup", "alpha", "--force")),
}
"""What ends a team at last, in each place of its sessions."""


class Life:
    """One life of the team alpha, from its start to its removal."""

    def __init__(self, cli: Callable[..., Result], home: Path, project: Path, place: str) -> None:
        self.cli, self.home, self.project, self.place = cli, home, project, place
        self.team = Store(home).team("alpha")
        self.flag = project.parent / "flag"
        self.inside: dict[str, str] = {}

    def run(self, *words: str, home: Path | None = None) -> None:
        """Run a command that must succeed, but for doctor, who may have found something."""
        done = self.cli(*words, cwd=self.project, env=self.inside | {"PRO0_HOME": str(home or self.home)})
        assert done.code == 0 or words[0] == "doctor", (words, done)

    def start(self, *members: str) -> None:
        """Start it, with some members."""
        mode = self.place.partition("-inside")[0]
        wanted = [word for name in members for word in ("-m", f"{name}=shell")]
        self.run("team", "start", "alpha", "--detach", "--mode", mode, "--lead", "none", "--worktrees", *wanted)

    def state(self, name: str) -> SeatState:
        """Return what is recorded of a member."""
        return next(state for state in self.team.runtime.read().seats if state.agent_id == name)

    def seat(self, name: str) -> Seat:
        """Return a member as it is, once its agent runs."""
        state = self.state(name)
        assert state.guard
        assert state.agent
        return Seat(name, state.incarnation, state.guard, state.agent)

    def lead(self) -> Process:
        """Return the lead that has signed in."""
        found = self.team.runtime.read().lead
        assert found
        return found

    def guards_gone(self, *seats: Seat) -> None:
        """Wait until the guards of these have ended, as they do after their sweep."""
        for seat in seats:
            wait_until(gone(seat.guard), STUCK, f"the guard of {seat.name} is gone")


@pytest.fixture(params=a_few(LAST, 1))
def life(
    request: pytest.FixtureRequest,
    cli: Callable[..., Result],
    home: Path,
    scripts: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Life]:
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    (tmp_path / "project").mkdir()
    made = Life(cli, home, repository_in(tmp_path / "project"), request.param)
    with ExitStack() as stack:
        if request.param == "tmux-inside":
            person = InsideStage(tmp_path)
            stack.callback(person.leave)
            made.inside = {"TMUX": person.place.inside_tmux, "TMUX_PANE": "%0"}
        stack.callback(cli, "team", "cleanup", "alpha", "--force", cwd=made.project)
        yield made


@pytest.fixture
def alikes(life: Life, tmp_path: Path) -> Iterator[LookAlikes]:
    (tmp_path / "mine").mkdir()
    with ExitStack() as stack:
        yield LookAlikes(life.home, life.project, tmp_path / "mine", stack)


def with_copy(life: Life, alikes: LookAlikes, copy: Path) -> None:
    """Start the team, and another from a copy of its home: same names, same uid."""
    life.start()
    shutil.copytree(life.home, copy, ignore=shutil.ignore_patterns("*.sock"))
    life.run("team", "resume", "alpha", home=copy)
    life.run("member", "spawn", "w2", "--agent", "shell", home=copy)
    runtime = Store(copy).team("alpha").runtime.read()
    [seat] = runtime.seats
    for what, process in (("lead", runtime.lead), ("guard", seat.guard), ("agent", seat.agent)):
        assert process
        alikes.add(f"the {what} of a copied home", process.pid)
    for name in ("w2", "w3", "w4"):
        life.run("member", "spawn", name, "--agent", "shell")


def panes(life: Life, alikes: LookAlikes) -> None:
    """Put a person's programs among the panes of the team."""
    handles = {name: life.state(name).handle for name in (*NAMES, "w5", "w6")}
    found = {name: handle.pane for name, handle in handles.items() if handle}
    handle = handles["w1"]
    assert handle
    mine = "=team:" if life.inside else "=alpha:"
    in_panes(alikes, handle.socket, found, mine, life.team.config.read().uid)


def test_what_a_person_owns_outlives_the_team(life: Life, alikes: LookAlikes, tmp_path: Path) -> None:
    """Sixty that look like the team's: none is ended by any end of a member, lead or team, or by a repair."""
    if life.place == "in-process":
        with_copy(life, alikes, tmp_path / "copy")
    else:
        life.start("w2", "w3", "w4", "w5", "w6")
    life.run("member", "spawn", "w1", "--", "sh", "-c", f"until [ -e {life.flag} ]; do sleep 0.1; done")
    seats = [life.seat(name) for name in NAMES]
    surround(alikes, seats, life.lead(), life.team.config.read().uid)
    if life.place != "in-process":
        panes(life, alikes)
    assert len(alikes.found) >= 60

    def harmless(what: str) -> None:
        assert (what, alikes.ended()) == (what, [])

    harmless("nothing yet")
    life.run("doctor")
    harmless("doctor")
    life.flag.touch()
    life.guards_gone(seats[0])
    harmless("an agent's own end")
    life.run("member", "shutdown", "w2")
    life.guards_gone(seats[1])
    harmless("a member's shutdown")
    life.run("member", "shutdown", "w3", "--force")
    life.guards_gone(seats[2])
    harmless("a member's shutdown by force")
    before = life.lead()
    kill(before.pid)
    wait_until(lambda: life.lead() != before and processes.alive(life.lead()), STUCK, "the lead is revived")
    life.run("doctor", "--repair", "--yes")
    harmless("a revival, and a repair")
    for words in LAST[life.place]:
        life.run(*words)
        harmless(" ".join(words))
    life.guards_gone(seats[3])
    life.run("doctor", "--repair", "--yes")
    harmless("a repair without the team")
    if life.place == "in-process":
        life.run("team", "cleanup", "alpha", "--force", home=tmp_path / "copy")
