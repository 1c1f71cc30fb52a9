"""What Linux tells of its processes in /proc: of those that have ended, that vanish, that are in an exec."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pro0.processes import arguments, linux
from tests.ops.guarded import MOUNTS, refusal
from tests.processes import families
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


def test_who_has_ended_was_called_with_nothing() -> None:
    """A zombie has no command line any more: no argument, which is not one empty argument."""
    with families.running(["true"]) as dead:
        wait_until(lambda: linux.status(dead.pid) is None, 30, "it is a zombie")
        assert arguments.arguments(dead.pid) == []
    with families.running(["sh", "-c", "read _", "name", ""], stdin=subprocess.PIPE) as child:
        wait_until(lambda: arguments.arguments(child.pid)[-2:] == ["name", ""], 30, "it is a shell")


class Vanished:
    """An entry of /proc whose process ended before it was looked at."""

    name = "12345678"

    def stat(self) -> os.stat_result:
        raise FileNotFoundError


def test_who_vanishes_from_proc_belongs_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entries(list[Vanished]):
        def __enter__(self) -> "Entries":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", lambda _path: Entries([Vanished()]))
    assert linux.own_pids() == []


def test_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    """The files of a process are gone once it has ended; what else fails is in test_unseen."""
    before = len(os.listdir("/dev/fd"))
    (tmp_path / "long").write_bytes(b"x" * 200_000)
    assert linux._read(str(tmp_path / "long")) == b"x" * 200_000
    assert linux._read(str(tmp_path / "gone")) == b""
    assert len(os.listdir("/dev/fd")) == before


STAT = "7 ({name}) {state} 3 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 {threads} 0 {start} 1 1"


@pytest.mark.parametrize(
    ("name", "state", "threads", "known"),
    [
        ("sh", "S", 1, (3, "99")),
        ("a) S 1 (b", "R", 1, (3, "99")),
        ("sh", "Z", 1, None),
        ("sh", "Z", 2, (3, "99")),
        ("sh", "X", 2, None),
        ("sh", "x", 1, None),
    ],
)
def test_what_proc_says(
    name: str, state: str, threads: int, known: tuple[int, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first thread that has ended leaves a process that lives as long as others run."""
    line = STAT.format(name=name, state=state, threads=threads, start=99).encode()
    monkeypatch.setattr(linux, "_read", lambda _path: line)
    assert linux.status(7) == known
    for letter, is_stopped in (("T", True), ("t", True), ("S", False)):
        line = STAT.format(name=name, state=letter, threads=threads, start=99).encode()
        assert linux.stopped(7) == is_stopped


@pytest.mark.parametrize(("look", "shown"), [(linux.environment, b"TAG=between"), (linux.command_line, b"execv")])
def test_a_process_that_is_between_two_programs_shows_what_it_was_started_with(
    look: Callable[[int], bytes], shown: bytes
) -> None:
    """What works on as another program is found all the time: who is not found is not ended."""
    again = 'import os, sys; os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", *[sys.argv[1]] * 2])'
    with families.running([sys.executable, "-I", "-S", "-c", again, again], env={"TAG": "between"}) as child:
        try:
            seen = Counter(shown in look(child.pid) for _ in range(2_000))
        finally:
            child.kill()
    assert seen == {True: 2_000}


def test_whoever_has_just_been_started_has_a_command_line() -> None:
    """A guard that is looked for at that moment is not taken for another."""
    for _ in range(10):
        with families.running(["sleep", "600"]) as child:
            assert arguments.arguments(child.pid) == ["sleep", "600"]
            child.kill()


def line(flags: str = "0", code: str = "0", stack: str = "0") -> bytes:
    """Return a stat of a process that sleeps."""
    return f"7 (sh) S 1 1 1 1 1 {flags} {'0 ' * 16}{code} 0 {stack} 0".encode()


def test_nobody_is_waited_for_who_will_never_show_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sweep looks at all processes: some have none, some nobody may look at, some are over."""
    slept: list[float] = []
    monkeypatch.setattr(linux, "time", SimpleNamespace(sleep=slept.append))
    with families.running(["sleep", "600"], env={}) as bare, families.running(["true"]) as over:
        wait_until(lambda: arguments.arguments(bare.pid) == ["sleep", "600"], 30, "it is a sleep")
        wait_until(lambda: linux.status(over.pid) is None, 30, "it has ended")
        assert linux.environment(bare.pid) == linux.environment(over.pid) == b""
        assert slept == []
        bare.kill()
    unfinished, secret, leaving, without = line(), line(code="1"), line(flags=str(0x4)), line(code="94", stack="14")
    for stat, pauses, looks in ((unfinished, 5, 6), (secret, 0, 1), (leaving, 0, 1), (without, 0, 2)):
        slept.clear()
        shown, looked = {"/proc/7/stat": stat, "/proc/7/environ": b"", "/proc/7/cmdline": b""}, Counter[str]()
        monkeypatch.setattr(
            linux, "_read", lambda path, shown=shown, looked=looked: looked.update([path]) or shown[path]
        )
        assert (linux.environment(7), len(slept), looked["/proc/7/environ"]) == (b"", pauses, looks)
        assert (linux.command_line(7), looked["/proc/7/cmdline"]) == (b"", looks)


def test_one_exec_is_told_from_the_next_by_where_its_code_and_stack_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(stat: bytes) -> bytes:
        monkeypatch.setattr(linux, "_read", lambda _path: stat)
        return linux._program(7)

    one = line(code="94", stack="14")
    assert program(one) == b"94 0 14" == program(one.replace(b"(sh)", b"(a) S 1 (b)"))
    assert program(one) == program(one + b" 1 1") == program(one[:-1] + b"5")
    assert len({program(one), program(line(code="95", stack="14")), program(line(code="94", stack="15"))}) == 3


@pytest.mark.parametrize("over", ["{}", "{}/stat", "{}/cmdline"])
def test_what_is_mounted_over_a_process_is_noticed(over: str) -> None:
    """Rulings 5.6: a member that hides its guard so is no person."""
    if why := refusal(*MOUNTS):
        pytest.skip(f"the kernel refuses: {why}")
    place, other = (over.format(f"/proc/{pid}") for pid in ("$$", "1"))
    say = '"$0" -I -c "from pro0.processes import linux; print(linux.forged())"'
    script = f"{say}; mount --bind {other} {place}; {say}; umount {place}"
    said = subprocess.run([*MOUNTS, "sh", "-c", script, sys.executable], capture_output=True, text=True, timeout=STUCK)
    assert said.stdout.split() == ["False", "True"], said


@pytest.mark.parametrize(
    ("place", "over"),
    [("/proc", False), ("/proc/sys/fs", False), ("/srv/1", False), ("/proc/1", True), ("/proc/1/stat", True)],
)
def test_only_what_is_mounted_over_the_entry_of_a_process_counts(
    place: str, *, over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The root of a bind mount, one field before the place, may be such an entry itself."""
    lines = f"21 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 21 0:5 /proc/9 {place} rw - proc proc rw\n"
    monkeypatch.setattr(linux, "_read", {"/proc/self/mountinfo": lines.encode()}.__getitem__)
    assert linux.forged() is over


def test_who_cannot_read_the_mounts_trusts_no_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "_read", lambda _: b"")
    assert linux.forged()
