"""The parts of the demo: its mode on made-up machines, and checks that do fail when something is off."""

import os
import platform
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from pro0.cli.demo import checks, machine, plan, repository
from pro0.cli.demo.checks import Expectation
from pro0.cli.demo.follow import Look
from pro0.cli.demo.repository import Commit
from pro0.cli.demo.scratch import Scratch
from pro0.cli.demo.stage import Facts, Killing
from pro0.errors import EnvironmentMissing
from pro0.model.message import Message, MessageType
from pro0.model.runtime import State
from pro0.model.task import Entry, Status, Task
from pro0.ops.team.status import MemberStatus

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KILLED = Killing("ben", "task-1", "outline", "old", at=1.0, noticed_after=0.1, retaken_by="ada", back_after=0.3)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is installed but a shell's few words."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    return tmp_path


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_without_tmux_and_a_way_to_it_the_demo_is_headless_and_says_why(bin_folder: Path) -> None:
    mode, why = machine.choose_mode("auto", print)
    assert mode == "headless"
    assert why == "tmux is not installed: no package manager that is known here"
    with pytest.raises(EnvironmentMissing, match="tmux is not installed: no package manager"):
        machine.choose_mode("tmux", print)


def test_a_password_is_never_asked_for(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program(bin_folder, "apk", "exit 0")
    program(bin_folder, "sudo", '[ "$1" = -n ] && exit 1; read password')
    assert machine.choose_mode("auto", print)[1] == "tmux is not installed: installing it needs a password"


@pytest.mark.parametrize("root", [True, False])
def test_tmux_is_installed_when_that_needs_no_password(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, root: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    program(bin_folder, "apk", f'[ "$*" = "add tmux" ] && > {bin_folder}/tmux && /bin/chmod +x {bin_folder}/tmux')
    program(bin_folder, "sudo", 'shift; [ "$1" = true ] || exec "$@"')
    said: list[str] = []
    assert machine.choose_mode("auto", said.append) == ("tmux", "tmux was installed just now")
    assert said == ["tmux is missing, so: " + ("" if root else "sudo -n ") + "apk add tmux"]


def test_an_installation_that_fails_is_said(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    program(bin_folder, "dnf", "exit 1")
    said: list[str] = []
    assert machine.choose_mode("auto", said.append)[1] == "tmux is not installed: installing it failed"
    assert said[-1] == "that did not work"


def test_nothing_of_the_person_reaches_the_demo(home: Path) -> None:
    scratch = Scratch()
    person = {"HOME": "/h", "TMUX": "x", "PRO0_TEAM": "a", "GIT_DIR": "g", "XDG_CONFIG_HOME": "c", "LANG": "C"}
    made = scratch.environment(person)
    inside = {name: value for name, value in made.items() if str(scratch.folder) in value}
    assert set(inside) == {"PRO0_HOME", "TMUX_TMPDIR", "HOME", "PATH"}
    assert {*made} - {*inside} == {"LANG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}
    assert not scratch.folder.exists()


def test_the_socket_of_tmux_fits(home: Path) -> None:
    """A unix socket's path has at most 104 bytes on macOS."""
    assert len(os.fsencode(Scratch().folder / "tmux-4294967295" / "pro0-12345678")) < 104


@pytest.mark.parametrize("flags", [(os.ST_NOEXEC, 0), (os.ST_NOEXEC, os.ST_NOEXEC)])
def test_a_folder_in_which_no_program_runs_is_passed_over(
    flags: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /tmp of hardened servers: the demo broke off in the middle."""
    of_folder = dict(zip((Path("/tmp").resolve(), tmp_path.resolve()), flags, strict=True))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=of_folder[path]))
    if all(flags):
        with pytest.raises(EnvironmentMissing) as missing:
            Scratch()
        assert "TMPDIR=" in str(missing.value.hint)
    else:
        assert Scratch().folder.parent == tmp_path.resolve()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    scratch = Scratch()
    scratch.folder = tmp_path / "gone" / "demo"
    with pytest.raises(EnvironmentMissing, match="cannot be made: No such file"):
        scratch.make()


def entry(act: str, second: int, actor: str, incarnation: str) -> Entry:
    return Entry(at=NOON + timedelta(seconds=second), actor=actor, act=act, incarnation=incarnation)


def task(number: int, title: str, who: str, *entries: Entry, needs: tuple[str, ...] = ()) -> Task:
    return Task(
        id=f"task-{number}",
        title=title,
        status=Status.COMPLETED,
        assignee=who,
        dependencies=needs,
        completed_at=entries[-1].at,
        history=entries,
    )


def letter(to: str, sender: str, text: str, kind: MessageType = MessageType.MESSAGE) -> Message:
    return Message(id=f"{to}{sender}{text}", seq=1, from_=sender, to=to, type=kind, content=text, timestamp=NOON)


def facts() -> Facts:
    """What is seen when all goes well, with two tasks only."""
    lost = (entry("claim", 0, "ben", "old"), entry("died", 1, "lead", "lead"))
    outline = task(1, "outline", "ada", *lost, entry("claim", 2, "ada", "a"), entry("complete", 3, "ada", "a"))
    last = (entry("claim", 4, "ben", "new"), entry("complete", 5, "ben", "new"))
    release = task(2, plan.RELEASE.title, "ben", *last, needs=("task-1",))
    letters = {
        "lead": (letter("lead", "lead", "ben has crashed (killed)", MessageType.NOTIFICATION),),
        "human": (letter("human", "ada", "it works"), letter("human", "ben", "released")),
        "ada": (letter("ada", "ben", "1"), letter("ada", "cleo", "2"), letter("ada", "ben", "3")),
    }
    for name in plan.MEMBERS:
        letters[name] = (*letters.get(name, ()), letter(name, "human", "Welcome", MessageType.BROADCAST))
    members = tuple(MemberStatus(name=n, agent_id=n, agent="shell", state=State.IDLE) for n in plan.MEMBERS)
    return Facts(
        look=Look("running", members, (outline, release), frozenset(), letters),
        killing=KILLED,
        inbox=3,
        commits=[Commit("human", "start"), Commit("ada", "outline"), Commit("ben", plan.RELEASE.title)],
        released=True,
        printed=repository.expected(),
        agreed=dict.fromkeys(plan.MEMBERS, True),
        left=[],
    )


def test_all_that_went_well_holds() -> None:
    assert [check for check in checks.judge(facts()) if not check.held] == []


def with_task(seen: Facts, index: int, **fields: object) -> None:
    assert seen.look
    tasks = list(seen.look.tasks)
    tasks[index] = replace(tasks[index], **fields)
    seen.look = replace(seen.look, tasks=tuple(tasks))


def with_letters(seen: Facts, box: str, *letters: Message) -> None:
    assert seen.look
    seen.look = replace(seen.look, letters={**seen.look.letters, box: letters})


def no_notice(seen: Facts) -> None:
    assert seen.killing
    seen.killing.noticed_after = None


def twice_told(seen: Facts) -> None:
    with_letters(seen, "lead", *[letter("lead", "lead", "ben has crashed", MessageType.NOTIFICATION)] * 2)


def old_session(seen: Facts) -> None:
    with_task(seen, 1, history=(entry("claim", 4, "ben", "old"), entry("complete", 5, "ben", "old")))


OFF: dict[str, Callable[[Facts], None]] = {
    "all done": lambda seen: with_task(seen, 1, status=Status.PENDING),
    "exactly once": lambda seen: with_task(seen, 1, history=(entry("complete", 5, "ben", "new"),)),
    "in order": lambda seen: with_task(seen, 0, completed_at=NOON + timedelta(seconds=4.5)),
    "death noticed": no_notice,
    "work taken over": lambda seen: with_task(seen, 0, assignee="ben"),
    "told once": twice_told,
    "came back": old_session,
    "mail": lambda seen: with_letters(seen, "cleo"),
    "commits": lambda seen: seen.commits.clear(),
    "the program": lambda seen: setattr(seen, "printed", "the 1\n"),
    "shutdown": lambda seen: seen.agreed.update(cleo=False),
    "nothing left": lambda seen: setattr(seen, "left", ["process 7"]),
}


@pytest.mark.parametrize("name", OFF)
def test_a_check_fails_when_it_should(name: str) -> None:
    seen = facts()
    seen.killing = Killing(**vars(KILLED))
    OFF[name](seen)
    assert name in {check.name for check in checks.judge(seen) if not check.held}


def test_there_is_a_way_to_fail_for_every_check() -> None:
    assert [check.name for check in checks.judge(facts())] == list(OFF)


def test_a_story_that_broke_off_does_not_hold() -> None:
    assert checks.judge(Facts(broken="no")) == [Expectation("the story", held=False, detail="no")]
    assert not checks.judge(Facts())[0].held
