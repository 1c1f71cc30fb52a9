"""Who a process is, who belongs to it, and what carries a tag."""

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import psutil
import pytest

from pro0 import processes
from pro0.model.runtime import Process
from pro0.processes import linux, portable, table
from tests.processes import families
from tests.waiting import wait_until


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with families.running(["sleep", "600"]) as child:
        yield child


def identity(pid: int) -> Process:
    found = processes.identify(pid)
    assert found
    return found


def test_a_process_is_alive_as_long_as_it_runs(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identity(sleeper.pid)
    assert found.pid == sleeper.pid
    assert processes.alive(found)
    assert identity(sleeper.pid) == found


def test_a_zombie_is_dead(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identity(sleeper.pid)
    sleeper.kill()
    wait_until(lambda: not processes.alive(found), 30, "the killed child counts as dead before anyone waited for it")
    assert psutil.Process(sleeper.pid).status() == psutil.STATUS_ZOMBIE
    assert processes.identify(sleeper.pid) is None


@pytest.mark.parametrize("change", [{"start": "1"}, {"boot_id": "another boot"}, {"pid": 2**22 + 1}])
def test_whoever_differs_in_anything_is_someone_else(
    sleeper: "subprocess.Popen[bytes]", change: dict[str, object]
) -> None:
    """Reliability 51, 57: a reused pid and a process of an earlier boot are not alive."""
    assert not processes.alive(msgspec.structs.replace(identity(sleeper.pid), **change))


@pytest.mark.parametrize("name", ["plain", "with space", ") Z 1 2 (", "((", "))"])
def test_a_programs_name_does_not_confuse(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    shutil.copy(shutil.which("sleep") or "", program)
    with families.running([program, "600"]) as child:
        assert processes.alive(identity(child.pid))
        assert os.getpid() in [one.pid for one in processes.ancestors(child.pid)]


def test_ancestors_come_nearest_first() -> None:
    expected = [one.pid for one in psutil.Process().parents()]
    found = [one.pid for one in processes.ancestors(os.getpid())]
    assert found == [pid for pid in expected if pid]


def test_there_is_nobody_below_or_above_who_is_not_there() -> None:
    assert processes.ancestors(2**22 + 1) == []
    assert processes.descendants(2**22 + 1) == []


def test_descendants_are_all_below(tmp_path: Path) -> None:
    child = families.start(tmp_path, "x", "plain", "setsid", "forking", "untagged")
    try:
        family = families.settled(tmp_path, "agent", "plain", "setsid", "forking", "untagged")
        head = family.pop("agent")
        wait_until(lambda: len(processes.descendants(head.pid)) == 5, 30, "the forking one has its child")
        assert {one.pid for one in processes.descendants(head.pid)} > {one.pid for one in family.values()}
    finally:
        processes.end(lambda: families.all_of(child.pid, "x"), 0)
        child.wait()


@pytest.mark.parametrize(("value", "spared"), [("1", True), ("0", False), ("", False)])
def test_what_was_started_for_others_can_be_spared(value: str, spared: bool) -> None:
    """A lead that a command inside a session has started, and whatever is below that."""
    with families.running(["sh", "-c", "sleep 600 & wait"], env={table.SPARED: value}) as lead:
        try:
            wait_until(lambda: processes.descendants(lead.pid), 30, "it has a child")
            family = {lead.pid, *(one.pid for one in processes.descendants(lead.pid))}
            for sparing in (False, True):
                found = {one.pid for one in processes.descendants(os.getpid(), sparing=sparing)}
                assert (family & found) == (set() if sparing and spared else family)
        finally:
            processes.end(lambda: processes.descendants(lead.pid), 0)


def test_one_scan_finds_the_tags_of_many(sleeper: "subprocess.Popen[bytes]") -> None:
    """A tag is the whole value, of exactly that variable."""
    one, two, none = (str(uuid.uuid4()) for _ in range(3))
    settings: list[dict[str, str]] = [
        {"PRO0_X": one},
        {"PRO0_X": two},
        {"PRO0_X": two},
        {"PRO0_X": one + "0"},
        {"PRO0_X": one[:-1]},
        {"XPRO0_X": one},
        {"PRO0_X1": one},
        {"Y": f"PRO0_X={one}"},
        {"Y": f"a\nPRO0_X={one}"},
    ]
    children = [subprocess.Popen(["sleep", "600"], env=variables) for variables in settings]
    try:
        found = processes.tagged("PRO0_X", [one, two, none])
    finally:
        for child in children:
            child.kill()
            child.wait()
    assert {value: [process.pid for process in those] for value, those in found.items()} == {
        one: [children[0].pid],
        two: [children[1].pid, children[2].pid],
        none: [],
    }


def test_an_empty_tag_is_not_no_tag(sleeper: "subprocess.Popen[bytes]") -> None:
    assert sleeper.pid not in [process.pid for process in processes.tagged("PRO0_NOBODY_HAS", [""])[""]]


def test_a_tagged_process_that_dies_is_found_no_more() -> None:
    tag = str(uuid.uuid4())
    with families.running(["sleep", "600"], env={"PRO0_X": tag}) as child:
        wait_until(lambda: processes.tagged("PRO0_X", [tag])[tag], 30, "found")
        child.kill()
        wait_until(lambda: not processes.tagged("PRO0_X", [tag])[tag], 30, "a zombie carries nothing")


@pytest.mark.skipif(sys.platform != "linux", reason="compares the two ways to look, and Linux alone has both")
def test_both_ways_to_look_see_the_same(sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch) -> None:
    """What macOS uses is psutil, which runs on Linux too."""
    tag = str(uuid.uuid4())
    with families.running(["sleep", "600"], env={"PRO0_X": tag}) as child:
        wait_until(lambda: processes.tagged("PRO0_X", [tag])[tag], 30, "it carries its tag")
        seen = []
        for system in (linux, portable):
            monkeypatch.setattr(table, "system", system)
            seen.append(looks(system, child.pid, tag))
        child.kill()
    assert seen[0] == seen[1]


def looks(system: ModuleType, pid: int, tag: str) -> dict[str, object]:
    own = os.getpid()
    assert processes.alive(identity(pid))
    assert system.boot_id()
    return {
        "parent": system.status(pid)[0],
        "nobody": system.status(2**22 + 1),
        "environment": system.environment(pid),
        "tagged": [one.pid for one in processes.tagged("PRO0_X", [tag])[tag]],
        "below": pid in [one.pid for one in processes.descendants(own)],
        "above": [one.pid for one in processes.ancestors(pid)],
        "session": {own, pid} <= {one.pid for one in table.in_session(os.getsid(own))},
        "group": {own, pid} <= {one.pid for one in processes.in_group(os.getpgid(own))},
        "own": own in system.own_pids(),
    }
