"""Every way at hand to pass as another member, the lead agent or a person, by real processes below a real guard."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from pro0.git.commands import Git
from pro0.model.runtime import State
from pro0.model.task import Awaiting, Draft, Status
from pro0.ops import grants
from pro0.ops.identity import GRANT
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.rpc.server import serving
from pro0.store.lease import Lease
from pro0.store.paths import SOCKET
from pro0.store.teams import TeamStore
from pro0.worktrees import Repository
from tests.cli.test_verdicts import typed
from tests.hostile.services import Services, must_run, services
from tests.hostile.ways import IN_SPITE_OF_A_PIN, NO_VERDICTS, PARTS, WAYS, Way
from tests.ops.guarded import below_its_guard, session
from tests.repositories import commit, repository_in
from tests.teams import granted, human, make_team, set_state
from tests.waiting import STUCK, wait_until

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
PYTHON = shlex.quote(sys.executable)
PIN = "correct horse"
WITH_DAEMONS = ("outside", "by the minute")
MEMBERS = ("lead", "w1", "w2", "w3", "w4", "w5")


class World:
    """A team with a lead at work, a person's tmux and repository, and what each way needs."""

    def __init__(self, ways: Mapping[str, Way], home: Path, at: Path, sockets: Path, daemons: Services) -> None:
        self.ways, self.home, self.at, self.repo, self.daemons = ways, home, at, at / "repo", daemons
        self.socket, self.own = sockets / "person", sockets
        self.team = make_team(home, *MEMBERS)
        for name in MEMBERS:
            set_state(self.team, name, State.IDLE, incarnation=f"inc-{name}-{uuid.uuid4()}")
        waiting = [Draft(title=name, awaiting=Awaiting.APPROVAL) for name in ways]
        made = tasks.create(human(self.team), waiting)
        self.task = {name: task.id for name, task in zip(ways, made, strict=True)}
        self.number = {name: number for number, name in enumerate(ways)}
        self.repo.mkdir()
        repository_in(self.repo)
        commit(self.repo, ".gitattributes", "* filter=planted diff=planted\n")
        self.known = self._grants() | {name: session(self.team, name) for name in ("lead", "w2")} | daemons.words
        start = [*self.tmux, "new-session", "-d", "-P", "-F", "#{pane_pid} #{pane_tty}", "-s", "person", "sh"]
        told = subprocess.run(start, check=True, capture_output=True, text=True).stdout
        self.known["person"], self.known["tty"] = told.split()

    @property
    def tmux(self) -> list[str]:
        return ["tmux", "-S", str(self.socket), "-f", "/dev/null"]

    def _grants(self) -> dict[str, str]:
        over = granted(self.team, "w2")[GRANT]
        set_state(self.team, "w2", State.IDLE, incarnation=f"inc-w2-{uuid.uuid4()}")
        revoked = granted(self.team, "w2")[GRANT]
        grants.revoke(human(self.team), "w2")
        known = {name: granted(self.team, who)[GRANT] for name, who in (("stolen", "w2"), ("leads", "lead"))}
        return known | {"over": over, "revoked": revoked}

    def file(self, name: str) -> Path:
        """Where it is told what came of a way."""
        return self.at / f"{self.number[name]}.json"

    def script(self, name: str) -> str:
        """Return what is run for a way, every word in braces filled in."""
        team, folder, file = self.team, self.at / str(self.number[name]), self.file(name)
        folder.mkdir()
        run, told = folder / "run", json.dumps({"who": "-", "approve": 0, "env": 4})
        program = shlex.join([str(PROGRAMS / "probe.py"), self.task[name], str(file)])
        probe = f"{PYTHON} -I {program}"
        run.write_text(f"#!/bin/sh\nPRO0_HOME={self.home} HOME={self.at} PATH={_path()}\nexport PRO0_HOME HOME PATH\n")
        with run.open("a") as more:
            more.write(f"exec {probe}\n")
        run.chmod(0o755)
        words = self.known | {
            "probe": probe,
            "program": program,
            "run": str(run),
            "dir": str(folder),
            "file": str(file),
            "home": str(self.home),
            "python": PYTHON,
            "pro0": f"{PYTHON} -I -m pro0",
            "root": str(ROOT),
            "tmux": f"env -u TMUX tmux -S {self.socket}",
            "own": str(self.own / str(self.number[name])),
            "repo": str(self.repo),
            "task": self.task[name],
            "tasks": str(team.paths.tasks / "tasks.json"),
            "told": f"echo {shlex.quote(told)} > {file}",
            "mcp": f"{PYTHON} -I {PROGRAMS / 'over_mcp.py'} {file}",
            "rpc": f"{PYTHON} -I {PROGRAMS / 'over_rpc.py'} {team.paths.team / SOCKET} {self.task[name]} {file}",
            "unique": f"pro0-{uuid.uuid4()}",
            "launch": str(team.paths.sessions / team.paths.launch(self.known["lead"])),
            "report": str(team.paths.sessions / team.paths.report(self.known["lead"])),
        }
        return re.sub(r"\{([\w-]+)\}", lambda found: words.get(found[1], found[0]), self.ways[name].script)

    def asks(self, name: str) -> str:
        """Return what a message asks for: to be the lead agent, whose incarnation no mail would show in one piece."""
        lead = self.known["lead"]
        return f"PRO0_AGENT_ID=lead PRO0_INCARNATION={lead[:9]}''{lead[9:]} {self.at / str(self.number[name]) / 'run'}"

    def try_all(self, names: list[str]) -> dict[str, tuple[int | None, str]]:
        """Let the members try these ways, and wait for what comes later of itself."""
        done: dict[str, tuple[int | None, str]] = {}
        for member in dict.fromkeys(self.ways[name].of for name in names):
            done |= self._tried([name for name in names if self.ways[name].of == member], member)
        for name in names:
            if self.ways[name].late and done[name][0] == 0:
                wait_until(self.file(name).exists, STUCK, name)
        return done

    def _tried(self, names: list[str], of: str) -> dict[str, tuple[int | None, str]]:
        """Let the agent of one member try these ways, one after the other."""
        table, out = self.at / f"table-{of}.json", self.at / f"out-{of}.json"
        rows = [(name, self.script(name), str(self.file(name)), _bound(self.ways[name])) for name in names]
        table.write_text(json.dumps(rows))
        argv = [sys.executable, "-I", str(PROGRAMS / "trickster.py"), str(table), str(out)]
        below_its_guard(self.team, of, argv, {"HOME": str(self.at), "PATH": _path()})
        found: dict[str, tuple[int | None, str]] = json.loads(out.read_text())
        return found

    def use_shells(self) -> None:
        """Open the shells that a person opens in a terminal."""
        for words in (("-i", "-c", "true"), ("--login", "-i", "-c", "true")):
            typed(*words, program="/bin/bash", HOME=str(self.at))

    def use_git(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Do with the repository what the person's commands do."""
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(self.at / ".gitconfig"))
        repository = Repository(self.repo)
        tree = repository.add(self.at / "tree", "teams/alpha/w1")
        (tree.path / "one").write_text("1\n")
        repository.remove(tree.path, "saved")
        Git(self.repo).run("log", "-p", "--format=%s")

    def came(self, name: str, approved: set[str]) -> str:
        """Return what came of a way: refused, a program of the person's, the person, or another member."""
        found: dict[str, Any] = json.loads(self.file(name).read_text()) if self.file(name).exists() else {}
        if self.task[name] in approved or found.get("env") == 0:
            return "the person"
        if found.get("who") in {"lead", *MEMBERS} - {self.ways[name].of}:
            return f"another: {found['who']}"
        return "a program" if found.get("who") == "human" else "refused"


def _bound(way: Way) -> float:
    return 0.0 if way.quiet or way.late else STUCK


def _path() -> str:
    return f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def _missing(way: Way, daemons: Services) -> str:
    """Return why a way cannot be tried here, empty when it can."""
    programs = [one for one in way.needs if not shutil.which(one, path=_path())]
    if not way.daemon or way.daemon in daemons.run:
        return f"there is no {', '.join(programs)}" if programs else ""
    assert not must_run(way.daemon), f"{way.daemon} has to run here: make services; {daemons.why_not}"
    return f"no {way.daemon} runs: {daemons.why_not or 'it is not installed'}"


@pytest.fixture
def world(request: pytest.FixtureRequest, home: Path, tmp_path: Path, short_folder: Path) -> Iterator[World]:
    at, sockets = tmp_path / "ways", short_folder / uuid.uuid4().hex[:6]
    at.mkdir()
    sockets.mkdir()
    ways = PARTS[request.param]
    with services(sockets / "daemons") if request.param in WITH_DAEMONS else nullcontext(Services()) as daemons:
        made = World(ways, home, at, sockets, daemons)
        lease = Lease(made.team.paths.team)
        assert lease.take("lead")
        made.team.paths.logs.mkdir(exist_ok=True)
        try:
            with serving(made.team):
                yield made
        finally:
            lease.drop()
            subprocess.run([*made.tmux, "kill-server"], check=True)


def _expected(way: Way, *, pin: bool) -> set[str]:
    """What may come of a way: with a PIN nobody is the person but by the files and by other code."""
    if way.open in NO_VERDICTS:
        return {"a program"}
    if not way.open:
        return {"refused"}
    if pin and way.open not in IN_SPITE_OF_A_PIN:
        return {"a program", "refused"}
    return {"the person", "another: lead"}


@pytest.mark.parametrize(
    "pin", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["without a PIN", "with a PIN"]
)
@pytest.mark.parametrize(
    "world",
    [pytest.param(part, marks=pytest.mark.soak if part == "by the minute" else ()) for part in PARTS],
    indirect=True,
)
def test_each_way_is_refused_or_named(
    world: World, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch, pin: bool
) -> None:
    """Rulings 5.6: each is tried, for a verdict and for a grant; what is open stands in SECURITY.md."""
    if pin:
        assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    if "a message that asks for it" in world.ways:
        messages.send(human(world.team), "w1", world.asks("a message that asks for it"))
    missing = {name: _missing(way, world.daemons) for name, way in world.ways.items()}
    done = world.try_all([name for name, why in missing.items() if not why])
    if any(way.quiet for way in world.ways.values()):
        world.use_git(monkeypatch)
        world.use_shells()
    approved = _approved(world.team)
    for name, way in world.ways.items():
        with subtests.test(name):
            if missing[name]:
                pytest.skip(f"{name}: {missing[name]}")
            code, said = done[name]
            if way.may_fail and code and not world.file(name).exists():
                pytest.skip(f"{name}: the machine refuses: {said.strip()[-200:]}")
            assert world.file(name).exists() or (way.quiet and code == 0), (name, code, said)
            assert world.came(name, approved) in _expected(way, pin=pin), (name, code, said, _content(world.file(name)))


def _approved(team: TeamStore) -> set[str]:
    return {task.id for task in team.tasks.read().tasks if task.status is Status.COMPLETED}


def _content(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def test_there_are_many() -> None:
    assert len(WAYS) >= 40


def test_what_is_open_is_named() -> None:
    """Each heading of what is open stands in SECURITY.md, below the part that it belongs to."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    without, both = page.partition(" open without a PIN\n")[2].split(" open with a PIN too\n")
    for way in WAYS.values():
        always = way.open in IN_SPITE_OF_A_PIN | NO_VERDICTS
        assert not way.open or f"\n**{way.open}.**\n" in (both if always else without), way


def test_an_agents_own_question_takes_its_answer_from_whoever_types(home: Path, tmp_path: Path) -> None:
    """What a PIN leaves, since the question is the agent's: another member sends keys to the pane in which it is."""
    team = make_team(home, "w1")
    tmux = ["tmux", "-S", os.path.join(os.environ["TMUX_TMPDIR"], "team"), "-f", "/dev/null"]
    answered = tmp_path / "answered"
    subprocess.run(
        [*tmux, "new-session", "-d", f"read answer; echo $answer > {answered}.new; mv {answered}.new {answered}"]
    )
    try:
        below_its_guard(team, "w1", [*tmux, "send-keys", "yes", "Enter"])
        wait_until(answered.exists, STUCK, "it is answered")
        assert answered.read_text() == "yes\n"
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True)
    assert "\n**An agent's own questions.**\n" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_who_reads_the_persons_keys_learns_the_pin(home: Path, tmp_path: Path) -> None:
    """What a PIN leaves: a member puts another `pro0` where the person's shell finds it first."""
    team = make_team(home, "w1")
    false, learned = tmp_path / "bin" / "pro0", tmp_path / "learned"
    false.parent.mkdir()
    text = f"#!/bin/sh\nprintf 'PIN for your verdicts: '; read pin; echo \"$pin\" > {learned}\n"
    below_its_guard(team, "w1", ["sh", "-c", 'printf %s "$1" > "$2"; chmod +x "$2"', "sh", text, str(false)])
    path = f"{false.parent}:{_path()}"
    assert typed("-c", "pro0 task approve 1", program="/bin/sh", answers=(PIN,), PATH=path).code == 0
    assert learned.read_text() == f"{PIN}\n"
    assert "\n**Reading your keys.**\n" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
