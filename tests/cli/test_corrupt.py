"""Unreadable is never empty: exit 5, 6 for what is no file, the file stays byte for byte, no traceback (AC-65).

Every kind of file, broken in every way (reliability 23 to 27, 30), under every command that reads or changes it; then
`doctor` names it, `doctor --repair` mends it, and nothing that could be read is lost.
"""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pro0.model.task import Draft
from pro0.ops import permissions
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from tests.cli.broken import BREAKS, LOSSLESS, MAY_BE_MISSING, SENT, files, world
from tests.cli.conftest import Pro0, make, tree
from tests.cli.conftest import commands as program
from tests.conftest import let_scripts
from tests.crash.lanes import SOAK, TEST, a_few, counted
from tests.teams import ASKED, member

TASKS = "task list|task show 1|task ready|task blocked|task query|task next|task tree|team wait|task create x"
TASKS += "|task claim 2|task complete 2|task fail 2|task release 1|task update 1 --title x"
TASKS += (
    "|needs|task cancel 3|task reopen 3|task delete 4 --force|task comment 1 x|team status|team list|member show w1"
)
WANTED = "inbox|team status|team list|member list|member show w1|send w1 hello|broadcast hello|team pause|team unpause"
WANTED += "|team stop --timeout 1|team resume|member spawn w9|member shutdown w1|member restart w1|task assign 3 w1"
READ_BY = {
    "config": "team status|team list",
    "wanted": WANTED,
    "runtime": "needs|team status|team list|member list|send w1 hello|broadcast hi|member spawn w9|member restart w1",
    "environment": "team resume",
    "report": "",
    "ports": "",
    "usage": "team cost",
    "tasks": TASKS,
    "archive": "task list --archived|task list --all|task show 6|task reopen 6|task create x --blocked-by 6",
    "history": "task show 2|task update 2 --title y",
    "comments": "task show 1|task comment 1 x",
    "mailbox": "inbox|inbox --ack|inbox --all|send human hello|team status|needs",
    "segment": "inbox|inbox --all",
    "member's mailbox": "team status",
}
GOES_ON = {"team wait", "team stop", "team resume", "member spawn", "member restart", "member shutdown"}
GOES_ON |= {"delegate", "run", "task start", "task watch"}
"""Commands that wait, or start a lead, unless they meet the corrupt file before."""
OTHERS = (
    "team wait --timeout 0|team logs|team cost|member peek w1|member focus w1|member env w1|team attach|doctor|config"
)
OTHERS += "|task approve 1|task reject 1 x|task retry 1|task continue 1|task close 1|task block 3 4|task unblock 3 4"
OTHERS += "|shutdown approve|shutdown reject x|agent list|config get teammateMode"
OTHERS += "|worker list|worker show 1|worker logs 1|worker merge 1|worker kill 1|plan x|import .|task import ."
OTHERS += "|team show|diff w1|member merge w1"
OTHERS += "|member answer x allow|member forget w1|events"
OTHERS += (
    "|member approve-plan w1|member reject-plan w1 x|config trust|config list|config set bell true|config unset bell"
)
OTHERS += "|member grants|member revoke x|role list|role show backend|role add x|role edit x --prompt y|role remove x"
NOWHERE = {
    "agent explain",
    "agent install-skill",
    "agent prove",
    "completion",
    "demo",
    "help",
    "hosted",
    "lead",
    "man",
    "mcp",
    "member permission-hook",
    "rpc",
    "verdict pin",
    "web devices",
    "web pair",
    "web revoke",
}
NOWHERE |= {"host join", "host leave", "host list"}
NOWHERE |= {"store copy", "team cleanup", "team forget", "team start", "uninstall"}
"""Commands that read no file of a team that is there, remove it, move its bytes as they are, or want a database."""
SOME_CUTS = {f"cut at {n}/16" for n in range(16) if n not in (1, 6, 11, 15)}
CASES = [(file, way) for file in READ_BY for way in BREAKS if not (way == "missing" and file in MAY_BE_MISSING)]
SHORT = [case for case in CASES if case[1] not in SOME_CUTS]
CUT = [case for case in CASES if case[1] in SOME_CUTS]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with everything in it, made once."""
    folder = tmp_path_factory.mktemp("original")
    world(folder / "pro0", folder)
    return folder / "pro0"


@pytest.fixture
def broken_home(original: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; the machine is not looked at, which takes a tmux server each time."""
    shutil.copytree(original, home)
    let_scripts(home)
    monkeypatch.setattr("pro0.cli.doctor.command.machine", lambda: iter(()))
    return home


def commands(file: str, way: str = "") -> Iterator[list[str]]:
    """The commands that read or change a kind of file; of a file that is cut only a few, in turn, for time's sake."""
    every = READ_BY[file].split("|") if READ_BY[file] else []
    cut = int(way.removeprefix("cut at ").partition("/")[0]) if way.startswith("cut") else 0
    yield from map(words_of, every[cut % 7 :: 7] if cut else every)


def words_of(command: str) -> list[str]:
    """Return a command as it is called, with the team where it has one."""
    words = command.split()
    homely = words[0] in ("agent", "config", "doctor", "role") or words == ["team", "list"]
    return words if homely else [*words, "-t", "alpha"]


def every() -> list[str]:
    """Return the commands that can be called whatever is corrupt."""
    known = dict.fromkeys("|".join((*READ_BY.values(), OTHERS)).split("|"))
    return [
        command
        for command in known
        if (command and " ".join(command.split()[:2]) not in GOES_ON) or "--timeout 0" in command
    ]


def content(path: Path) -> object:
    """What is at a path: of a regular file its bytes, but for very long ones."""
    status = path.lstat() if os.path.lexists(path) else None
    if status is None or not stat.S_ISREG(status.st_mode):
        return status and (status.st_mode, status.st_ino)
    return path.read_bytes() if status.st_size < 1 << 20 else (status.st_size, status.st_blocks)


def world_of(home: Path) -> dict[str, object]:
    return {str(p): content(p) for p in sorted(home.rglob("*")) if p.name not in (".lock", "lead.lock")}


@pytest.mark.parametrize(("file", "way"), a_few(SHORT, 90), ids=[f"{file}-{way}" for file, way in SHORT])
def test_refused_named_mended(file: str, way: str, pro0: Pro0, broken_home: Path) -> None:
    """Issue 3, must show 6."""
    refused_named_mended(file, way, pro0, broken_home, TEST)


@pytest.mark.soak
@pytest.mark.parametrize(("file", "way"), CUT, ids=[f"{file}-{way}" for file, way in CUT])
def test_refused_named_mended_wherever_it_is_cut(file: str, way: str, pro0: Pro0, broken_home: Path) -> None:
    """Issue 3, must show 6."""
    refused_named_mended(file, way, pro0, broken_home, SOAK)


def refused_named_mended(file: str, way: str, pro0: Pro0, home: Path, lane: str) -> None:
    path = files(home)[file]
    BREAKS[way](path)
    before = content(path)
    called = [words for words in commands(file, way) if refused(pro0, words, 6 if way in ("link", "pipe") else 5)]
    assert content(path) == before
    assert pro0("task", "list", "-t", "beta").code == 0
    _doctor_names_it(pro0, home, path)
    _doctor_mends_it(pro0, home, file, way)
    counted(lane, "corrupt", f"{file} {way}", len(called) + 4)


def refused(pro0: Pro0, words: list[str], code: int) -> bool:
    called = pro0(*words)
    assert called.code == code, (words, called)
    assert "Traceback" not in called.err
    assert "internal error" not in called.err
    return True


def test_every_command_is_tried() -> None:
    leaves = {name.removeprefix("pro0 ") for name, command in program() if not isinstance(command, click.Group)}
    tried = [f"{command} " for command in every()]
    assert {
        name for name in leaves if not any(words.startswith(f"{name} ") for words in tried)
    } == NOWHERE | GOES_ON - {"team wait"}


@pytest.mark.soak
@pytest.mark.parametrize(("file", "way"), CASES, ids=[f"{file}-{way}" for file, way in CASES])
def test_no_command_is_broken_by_it(file: str, way: str, pro0: Pro0, broken_home: Path) -> None:
    """Issue 3, must show 6: also those that need not read it; the file stays as it is, and so does the other team."""
    path = files(broken_home)[file]
    BREAKS[way](path)
    before = content(path)
    for command in every():
        called = pro0(*words_of(command))
        assert called.code in (0, 1, 2, 3, 4, 5, 6, 124), (command, called)
        assert "Traceback" not in called.err, (command, called)
        assert "internal error" not in called.err, (command, called)
        assert content(path) == before, (command, called)
    assert pro0("task", "list", "-t", "beta").code == 0
    counted(SOAK, "corrupt", f"{file} {way} every command", len(every()))


def _doctor_names_it(pro0: Pro0, home: Path, path: Path) -> None:
    before = world_of(home)
    called = pro0("doctor", "--json")
    assert called.code == 1, called
    assert any(str(path) in row["what"] and row["state"] == "fail" for row in json.loads(called.out)["checks"])
    assert world_of(home) == before


def _doctor_mends_it(pro0: Pro0, home: Path, file: str, way: str) -> None:
    called = pro0("doctor", "--repair", "--json")
    assert called.code == 0, called
    assert len(json.loads(called.out)["repaired"]) >= 1
    after = world_of(home)
    again = pro0("doctor", "--repair", "--json")
    assert (again.code, json.loads(again.out)["repaired"]) == (0, [])
    assert world_of(home) == after
    for words in commands(file, way):
        if words[:2] not in (
            ["team", "wait"],
            ["team", "stop"],
            ["team", "resume"],
            ["member", "spawn"],
            ["member", "restart"],
        ):
            assert pro0(*words).code not in (1, 5, 6), words
    if way in LOSSLESS:
        _nothing_is_lost(pro0)


def _nothing_is_lost(pro0: Pro0) -> None:
    listed = json.loads(pro0("task", "list", "-t", "alpha", "--all", "--json").out)
    assert {f"task-{n}" for n in (1, 2, 5)} <= {task["id"] for task in listed}
    assert "second" in pro0("task", "show", "1", "-t", "alpha").out
    letters = json.loads(pro0("inbox", "--all", "-t", "alpha", "--json").out)
    assert {f"text {n}" for n in range(1, SENT + 1)} <= {letter["message"]["content"] for letter in letters}
    assert "w1" in pro0("member", "list", "-t", "alpha").out


@pytest.mark.parametrize("file", READ_BY)
def test_a_newer_file_is_never_touched(file: str, pro0: Pro0, broken_home: Path) -> None:
    """rulings 3.5, reliability 25"""
    path = files(broken_home)[file]
    for data in (
        path.read_bytes().replace(b'"schemaVersion": 1', b'"schemaVersion": 99'),
        b'{"schemaVersion": 99, "revision": 1, "a": ',
    ):
        path.write_bytes(data)
        for words in commands(file, "cut at 1/16"):
            assert pro0(*words).code in (0, 4, 5), words
        assert pro0("doctor", "--repair").code == 1
        assert path.read_bytes() == data


def test_a_newer_file_is_said_to_be_newer(pro0: Pro0, team: Context) -> None:
    team.team.tasks.path.write_bytes(b'{"schemaVersion": 99, "revision": 1, "nextId": 1, "tasks": [], "outbox": []}')
    called = pro0("task", "create", "x", "--json")
    assert called.code == 5
    assert '"code":"newer_schema"' in called.err


@pytest.mark.parametrize("way", [way for way in BREAKS if way not in (*SOME_CUTS, "missing")])
def test_requests_that_cannot_be_read_are_one_need_among_the_others(way: str, pro0: Pro0, team: Context) -> None:
    """Behaviour 3.27: an agent may wait, so the person is told, and of all else too."""
    failed = tasks.create(team, [Draft(title="x")])[0].id
    tasks.claim(team, failed)
    tasks.fail(team, failed, "no")
    w1 = team.team.runtime.read().seats[0]
    permissions.ask(member(team.team, "w1", w1.incarnation), ASKED)
    before = [need["subject"] for need in json.loads(pro0("needs", "--json").out)]
    BREAKS[way](team.team.permissions.path)
    told = json.loads(pro0("needs", "--json").out)
    assert [need["subject"] for need in told] == ["permissions", *before]
    assert (told[0]["kind"], told[0]["command"]) == ("permission", "pro0 doctor")
    assert "permissions.json cannot be read" in pro0("team", "status").out
    assert pro0("member", "list").code == 0
    assert pro0("member", "answer", "x").code in (5, 6)
    assert pro0("doctor", "--repair").code == 0
    assert "permissions.json cannot be read" not in pro0("needs").out


def test_other_teams_work_beside_a_corrupt_one(pro0: Pro0, home: Path, team: Context, tmp_path: Path) -> None:
    make(home, "broken", tmp_path / "elsewhere").team.config.path.write_bytes(b"{")
    assert pro0("task", "list").code == 0
    listed = pro0("team", "list")
    assert listed.code == 5
    assert "alpha" in listed.out
    assert "broken" in listed.err


@pytest.mark.parametrize("shown", [(), ("--json",), ("-o", "name")], ids=["table", "json", "names"])
def test_other_teams_are_listed_beside_one_whose_place_is_corrupt(
    shown: tuple[str, ...], pro0: Pro0, home: Path, team: Context, tmp_path: Path
) -> None:
    (make(home, "a-broken", tmp_path / "elsewhere").team.paths.team / "store.json").write_bytes(b"{")
    listed = pro0("team", "list", *shown)
    assert listed.code == (0 if "name" in shown else 5)
    assert "alpha" in listed.out
    assert ("store.json is corrupt" in listed.err) == (listed.code == 5)


def test_the_only_team_that_could_be_meant_is_corrupt(pro0: Pro0, team: Context) -> None:
    team.team.config.path.write_bytes(b"{")
    assert pro0("task", "list").code == 5


def test_doctor_names_it_and_changes_nothing(pro0: Pro0, home: Path, team: Context) -> None:
    team.team.tasks.path.write_bytes(b"{")
    before = tree(home)
    called = pro0("doctor")
    assert called.code == 1
    assert str(team.team.tasks.path) in called.out
    assert tree(home) == before
