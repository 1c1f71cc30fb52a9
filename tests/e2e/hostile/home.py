"""The home that an attacker's machine is joined to: a team at work, and all of it that must stay as it is."""

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from pro0 import processes
from pro0.model.need import PermissionRequest
from pro0.model.runtime import ENDED, Process, State
from pro0.model.task import Draft, Gate
from pro0.ops.mail import messages
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from tests import world
from tests.conftest import Result, let_scripts, program
from tests.e2e.hostile.attacker import GO, PLAN, TOLD
from tests.engine.crew import Crew, crew
from tests.hostile.test_printing import harmless
from tests.repositories import commit, git, repository_in
from tests.sshd import Machine, machine
from tests.waiting import STUCK, wait_until

ROOT = Path(__file__).parents[3]
CODED = "cora"
"""The member whose code is on that machine."""
ADA = "pro0 task claim task-1; while read -r _; do pro0 inbox --ack; done"
"""A member at home, at work on a task. She reads her mail when the lead types her a line."""
SECRET = "the person's own secret"
APART = re.compile(
    r"/pro0/(?:teams|tasks|mailboxes)/alpha/|/\.git(?:/(?:objects|logs|refs|packed-refs|index|ORIG_HEAD)|$)"
)
"""What is compared by its meaning: documents of the team, and what git keeps."""
MAIL_WITHIN = 60.0
"""Seconds for mail at home meanwhile, on a machine that is busy with other things."""
MOST_OF_A_LINK, MOST_OF_A_LEAD = 192 << 20, 96 << 20
"""Bytes of memory that a link may have, and a lead may get more, whatever another machine sends."""
Seen = dict[str, object]
Letters = dict[tuple[str, int], tuple[str, str]]


class Home:
    """The person's side."""

    def __init__(self, crew: Crew, there: Machine, folder: Path) -> None:
        self.crew, self.there, self.folder = crew, there, folder
        self.team, self.project, self.path = crew.team, crew.project, crew.store.home
        self.mark = folder / "mark"
        """A file that nobody may make."""
        self._count = 0
        self.known: Seen | None = None
        """What stood after the last try, and so before the next."""
        self._lead = self._lead_process()
        self._lead_had = psutil.Process(self._lead.pid).memory_info().rss

    # What is tried

    def plan(self, **acts: object) -> None:
        """Say what the attacker does when pro0 there is called: its verb → a function and arguments."""
        plan(self.there, **acts)

    def join(self, agent: str, *, worktree: bool = False) -> str:
        """Start a member on the attacker's machine."""
        self._count += 1
        name = f"bob{self._count}"
        argv = ("true",) if agent == "command" else ()
        members.spawn(
            self.crew.context,
            [SeatDraft(name=name, agent=agent, argv=argv, host=self.there.name, worktree=worktree)],
            1000,
        )
        return name

    def told(self, name: str) -> dict[str, Any]:
        """Wait until the attacker has done its act, and return what it knows."""
        wait_until(lambda: (self.there.at / TOLD).exists() or self.is_over(name), STUCK, "the act is done", every=0.1)
        assert (self.there.at / TOLD).exists(), (name, self.crew.state(name), self.shown(name))
        told: dict[str, Any] = json.loads((self.there.at / TOLD).read_text())
        return told

    def go(self) -> None:
        """Let the attacker come to its end."""
        (self.there.at / GO).touch()

    def is_over(self, name: str) -> bool:
        """Return True when a member has ended here."""
        state = next((one for one in self.team.runtime.read().seats if one.agent_id == name), None)
        return bool(state and state.state in ENDED)

    def comes_to_its_end(self, name: str) -> None:
        """Wait until a member has ended here."""
        wait_until(lambda: self.is_over(name), STUCK, f"{name} is over", every=0.1)

    def is_proven(self, name: str) -> None:
        """Wait until a member's machine has said that its session is over."""
        wait_until(
            lambda: not self.team.hosted(self.crew.state(name).incarnation), STUCK, f"{name} is over there", every=0.1
        )

    def state(self, name: str) -> State:
        return self.crew.state(name).state

    def shown(self, name: str) -> str:
        """Return what its terminal shows."""
        return self("member", "peek", name, codes=(0, 3)).out

    def end(self, name: str) -> None:
        """End a member as a person does who waits for nobody."""
        self("member", "shutdown", name, "--force", "--timeout", "0", codes=(0, 4, 6))

    def member(self, name: str) -> dict[str, Any]:
        """Return a member as the person is told."""
        found: list[dict[str, Any]] = json.loads(self("team", "status", "--json").out)["members"]
        return next(one for one in found if one["agentId"] == name)

    def requests(self) -> tuple[PermissionRequest, ...]:
        """Return the permissions that were asked for."""
        return self.team.permissions.read().requests

    def threads(self, name: str) -> int:
        """Return the number of threads of a member's link."""
        report = self.crew.report(name)
        assert report.agent
        return psutil.Process(report.agent.pid).num_threads()

    def bring(self, acts: tuple[Any, ...], *, comes: bool) -> None:
        """Let the attacker give commits of a member, and bring these home."""
        places = {"MARK": str(self.mark), "USER": str(self.folder / "user"), "PROJECT": str(self.project)}
        name, *arguments = acts
        for word, place in places.items():
            arguments = [one.replace(word, place) if isinstance(one, str) else one for one in arguments]
        self.plan(give=(name, *arguments))
        before = self.branch()
        done = self("diff", CODED, "--stat", codes=(0,) if comes else (6,))
        assert harmless(done.out + done.err)
        assert len(done.out + done.err) < 1 << 20
        assert (self.branch() != before) == comes, done

    def branch(self) -> str:
        """Return the commit of the member whose code is on that machine."""
        return git(self.project, "rev-parse", f"refs/heads/teams/alpha/{CODED}")

    # What must hold

    def __call__(self, *words: str, codes: tuple[int, ...] = (0,), **options: Any) -> Result:
        """Call the program as the person."""
        result = program(*words, cwd=self.project, **options)
        assert result.code in codes, (words, result)
        assert "Traceback" not in result.err
        assert "internal error" not in result.err
        return result

    def works(self, name: str = "") -> None:
        """Hold that home works meanwhile, within bounds: mail gets read, and the lead is the same."""
        began = time.monotonic()
        number = messages.send(self.crew.context, "ada", f"mail {self._count}").seq
        box = self.team.mailbox("ada")
        wait_until(lambda: box.head.read().acked >= number, STUCK, "ada reads her mail", every=0.1)
        took = time.monotonic() - began
        assert took < MAIL_WITHIN
        assert self._lead_process() == self._lead
        lead = psutil.Process(self._lead.pid).memory_info().rss - self._lead_had
        link = self.link_size(name) if name else 0
        assert link < MOST_OF_A_LINK, f"the link has {link >> 20} MiB"
        assert lead < MOST_OF_A_LEAD, f"the lead has {lead >> 20} MiB more"

    def shows_nothing(self, name: str) -> None:
        """Hold that what the person is told of a member is text, and fits a screen or two."""
        for words in (("team", "status"), ("member", "show", name), ("needs", "--json"), ("needs",)):
            done = self(*words)
            assert harmless(done.out)
            assert harmless(done.err)
            assert len(done.out) < 100_000, (words, len(done.out))

    def link_size(self, name: str) -> int:
        """Return the most memory that the link of a member has had, 0 when it is over."""
        report = self.team.report(self.crew.state(name).incarnation)
        try:
            status = Path(f"/proc/{report.agent.pid}/status").read_text() if report and report.agent else ""
        except (FileNotFoundError, ProcessLookupError):
            return 0
        found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
        return int(found[1]) << 10 if found else 0

    def seen(self) -> Seen:
        """Return all that a member may not change."""
        refs = git(self.project, "for-each-ref").splitlines()
        wanted = self.team.wanted.read()
        seats = [seat for seat in wanted.seats if not seat.agent_id.startswith("bob")]
        tasks = self.team.tasks.read()
        ada = self.crew.state("ada")
        return {
            **dict(world.files(self.path, self.folder / "user", self.project, but=APART)),
            "refs": [ref for ref in refs if not re.search(rf"refs/heads/teams/(alpha/)?{CODED}(/saved-\d+)?$", ref)],
            "checkout": (git(self.project, "status", "--porcelain"), git(self.project, "ls-files", "--stage")),
            "tasks": tasks.tasks,
            "config": self.team.config.read().project,
            "wish": (wanted.wish, wanted.paused, wanted.max_cost, wanted.outside, seats),
            "ada": (ada.incarnation, ada.guard, ada.agent, ada.state in ENDED),
            "mark": self.mark.exists(),
            "teams": self.crew.store.names(),
        }

    def letters(self) -> Letters:
        """Return all mail: mailbox and number → sender and text."""
        boxes = {name: self.crew.mail(name) for name in self.team.mailbox_owners()}
        return {(name, one.seq): (one.from_, one.content) for name, box in boxes.items() for one in box}

    def got_nothing_forged(self, before: Letters) -> None:
        """Hold that all mail that has come is of such members, or tells of them, or is the test's own."""
        for place, (sender, text) in self.letters().items():
            told = "bob" in text or "@build1" in text
            assert place in before or told or sender.startswith(("bob", "human")), (place, sender, text)

    def _lead_process(self) -> Process:
        lead = self.team.runtime.read().lead
        assert lead
        assert processes.alive(lead)
        return lead


def installed(there: Machine, **acts: object) -> None:
    """Put the attacker's program into the place of pro0 on a machine."""
    there.install(f'cd {ROOT} && exec {sys.executable} -m tests.e2e.hostile.attacker {there.at} "$@"')
    plan(there, **acts)


def plan(there: Machine, **acts: object) -> None:
    """Say what the attacker does when pro0 there is called: its verb → a function and arguments."""
    for name in (TOLD, GO):
        (there.at / name).unlink(missing_ok=True)
    (there.at / PLAN).write_text(json.dumps(acts))


@contextmanager
def home(folder: Path, sockets: Path) -> Iterator[Home]:
    """A team of the person's with one member at home, one whose code is on the machine, and another team."""
    with pytest.MonkeyPatch.context() as patch, machine(folder / "build1") as there:
        (folder / "user" / ".ssh").mkdir(parents=True)
        (folder / "user" / ".ssh" / "id").write_text(SECRET)
        patch.setenv("HOME", str(folder / "user"))
        patch.setenv("PRO0_HOME", str(folder / "pro0"))
        patch.setenv("TMUX_TMPDIR", tempfile.mkdtemp(dir=sockets))
        patch.setenv("PRO0_END_GRACE_SECONDS", "1")
        patch.setenv("PRO0_REVIVE_LEAD", "0")
        patch.setenv("PRO0_SSH", there.ssh)
        let_scripts(folder / "pro0")
        honest = f'cd {there.home} && exec {sys.executable} -m pro0 "$@"'
        there.install(honest)
        with crew(folder / "pro0", folder, "in-process") as made:
            repository_in(made.project)
            (made.project / "secret.yaml").write_text(f"- title: {SECRET}\n")
            commit(made.project, "src/main", "the program\n")
            git(made.project, "tag", "v1")
            made.give(Draft(title="one"), Draft(title="two", requires=Gate.REVIEW))
            made.lead()
            made.spawn(SeatDraft(name="ada", agent="command", nudge=True, argv=("sh", "-c", ADA)))
            made.spawn(SeatDraft(name=CODED, agent="command", argv=("sleep", "1"), host="build1", worktree=True))
            wait_until(lambda: made.task("task-1").claim, STUCK, "ada has claimed it")
            wait_until(lambda: made.notices(f"{CODED} has exited"), STUCK, "it has ended")
            installed(there)
            yield Home(made, there, folder)
