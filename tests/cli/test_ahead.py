"""A process that does one command after the other is the same after each (behaviour 4.4)."""

import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from pro0.cli import call
from pro0.cli.warm import ahead, server
from pro0.cli.warm.ahead import BUSY, WAITS, Ahead
from pro0.cli.warm.client import SOCKET
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.processes import mark
from pro0.rpc.place import listening
from tests.cli.test_warm import COMMANDS, PRO0, told
from tests.forks import forking
from tests.teams import granted
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere commands do their work themselves")


class Forked:
    """Such a process, as its parent sees it."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self.pid = pid
        self._end = end

    def news(self) -> bytes:
        """Return what it told until it waits again, or ended."""
        text = b""
        while not text.endswith(WAITS) and (part := self._end.recv(64)):
            text += part
        return text

    def shown(self) -> tuple[object, ...]:
        """Return what others see of it: folder, streams, limits, number of descriptors."""
        process = Path(f"/proc/{self.pid}")
        places = [(process / place).readlink() for place in ("cwd", "fd/0", "fd/1", "fd/2")]
        return *places, (process / "limits").read_text(), len(os.listdir(process / "fd"))


@contextmanager
def waiting(team: Context, before: Callable[[], None] = lambda: None) -> Iterator[Forked]:
    """Fork a process that does commands for this team, after `before` in it."""
    place = team.team.paths.team / SOCKET
    listener, (ours, its) = listening(place), socket.socketpair()
    with forking():
        pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            before()
            Ahead(team.team.name, listener, its).work()
        finally:
            os._exit(0)
    its.close()
    listener.close()
    ours.settimeout(STUCK)
    try:
        yield Forked(pid, ours)
    finally:
        ours.close()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        place.unlink()


@pytest.fixture
def busy(team: Context) -> Context:
    """A team with a task and a message."""
    tasks.create(team, [Draft(title="one")])
    messages.send(team, "human", "hello")
    return team


def test_many_commands_of_all_kinds_print_what_they_print_alone(busy: Context) -> None:
    """In any order, each in an environment of its own."""
    drawn = random.Random(15)
    calls = [(words, {"TZ": zone}) for words in COMMANDS.values() for zone in ("XYZ-3", "ABC+4") for _ in range(2)]
    drawn.shuffle(calls)
    own = {(words, around["TZ"]): told(*words, PRO0_DIRECT="1", **around) for words, around in calls}
    with waiting(busy) as process:
        assert process.news() == WAITS
        before = process.shown()
        for words, around in calls:
            assert told(*words, **around) == own[words, around["TZ"]]
            assert process.news() == BUSY + WAITS, words
            assert process.shown() == before, words


def test_each_command_is_its_own_callers(busy: Context) -> None:
    """A member's is the member's, a person's is the person's; nothing of one is left for the next."""
    member = granted(busy.team, "w1")
    with waiting(busy) as process:
        before = process.shown() if process.news() else ()
        for turn in range(6):
            assert told("send", "w2", str(turn), **(member if turn % 2 else {}))[0] == 0
            assert process.news() == BUSY + WAITS
            assert process.shown() == before
    letters = busy.team.mailbox("w2").head.read().messages
    assert [(one.content, one.from_) for one in letters] == [(str(n), "w1" if n % 2 else "human") for n in range(6)]


def test_limits_and_marks_are_taken_for_one_command(busy: Context) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with waiting(busy) as process:
        before = process.shown() if process.news() else ()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 2, hard))
        mark.put_on("of a session")
        try:
            assert told("task", "list")[0] in (0, 4)  # a mark of no session
        finally:
            mark.take_off()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert process.news() == BUSY + WAITS
        assert process.shown() == before


def test_a_process_whose_cpu_is_limited_does_its_work_itself(busy: Context) -> None:
    """The one that serves has used some for others."""
    limited = ("sh", "-c", 'ulimit -S -t 600; exec "$@"', "sh", *PRO0, "task", "list")
    with waiting(busy) as process:
        process.news()
        done = subprocess.run(limited, capture_output=True, timeout=STUCK)
        assert (done.returncode, done.stdout) == told("task", "list", PRO0_DIRECT="1")[:2]
        assert process.news() == BUSY + WAITS


def test_the_streams_end_with_the_command(busy: Context) -> None:
    """A reader of its output waits for nobody else."""
    with waiting(busy) as process:
        piped = subprocess.run(
            ["sh", "-c", '"$@" | cat', "sh", *PRO0, "task", "list"], capture_output=True, timeout=STUCK
        )
        assert b"one" in piped.stdout
        os.kill(process.pid, 0)


def _leave_a_descriptor() -> None:
    os.open(os.devnull, os.O_RDONLY)


def _leave_a_thread() -> None:
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def _leave_half_a_line() -> None:
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), 1)
    sys.stdout.write("half a line")


@pytest.mark.parametrize("leaves", [_leave_a_descriptor, _leave_a_thread, _leave_half_a_line])
def test_a_process_in_which_something_is_left_does_no_other_command(
    busy: Context, monkeypatch: pytest.MonkeyPatch, leaves: Callable[[], None]
) -> None:
    run = call.run

    def leaving(arguments: list[str]) -> int:
        code = run(arguments)
        leaves()
        return code

    monkeypatch.setattr(call, "run", leaving)
    monkeypatch.setattr(ahead, "REHEARSED", ())
    with waiting(busy) as process:
        assert process.news() == WAITS
        assert told("send", "w1", "once")[0] == 0
        assert process.news() == BUSY, "it is over"
        assert told("send", "w1", "again")[0] == 0, "by the command itself"
    assert [letter.content for letter in busy.team.mailbox("w1").head.read().messages] == ["once", "again"]


def test_a_variable_that_a_command_sets_is_gone_with_it(busy: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    run = call.run

    def sets(arguments: list[str]) -> int:
        code = run(["task", "create", os.environ.get("LEFT", "nothing")])
        os.environ["LEFT"] = "something"
        return code

    monkeypatch.setattr(call, "run", sets)
    monkeypatch.setattr(ahead, "REHEARSED", ())
    with waiting(busy):
        for _ in range(2):
            assert told("task", "list")[0] == 0
    assert [task.title for task in tasks.board(busy)] == ["one", "nothing", "nothing"]


def test_it_does_so_many_commands_and_no_more(busy: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "COMMANDS", 2)
    with waiting(busy) as process:
        for _ in range(2):
            assert process.news().endswith(WAITS)
            assert told("task", "list")[0] == 0
        assert process.news() == BUSY


@pytest.fixture(params=[1, 8])
def warm(busy: Context, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[psutil.Process]:
    """The warm process of the team, without a lead, where one process is enough, or eight are."""
    monkeypatch.setattr(server, "LINGERING", 0.1)
    monkeypatch.setattr(server, "ENOUGH", request.param)
    place = busy.team.paths.team / SOCKET
    lifeline, ours = os.pipe()
    with listening(place) as listener:
        with forking():
            pid = os.fork()
        if pid == 0:
            try:
                os.close(ours)
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
                server._keep_some_waiting(busy.team.name, listener, lifeline)
            finally:
                os._exit(0)
    os.close(lifeline)
    process = psutil.Process(pid)
    try:
        yield process
    finally:
        children = process.children()
        os.close(ours)
        os.waitpid(pid, 0)
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.wait(STUCK)
        place.unlink()


def test_a_command_that_waits_keeps_no_other_waiting(busy: Context, warm: psutil.Process) -> None:
    """Another process does the next one, and leaves when nobody needs it any more."""
    wait_until(lambda: len(warm.children()) == 1, STUCK, "one waits")
    with busy.team.tasks.change("a test"):
        first = subprocess.Popen([*PRO0, "task", "create", "two"], stdout=subprocess.DEVNULL)
        wait_until(lambda: (busy.team.paths.tasks / ".queue").exists(), STUCK, "it waits for the lock")
        wait_until(lambda: len(warm.children()) == 2, STUCK, "another process waits for commands")
        assert told("inbox", "--sent") == told("inbox", "--sent", PRO0_DIRECT="1")
    assert first.wait(STUCK) == 0
    wait_until(lambda: len(warm.children()) == 1, STUCK, "one is enough")
    assert [task.title for task in tasks.board(busy)] == ["one", "two"]


def only(processes: list[psutil.Process]) -> list[psutil.Process]:
    """The processes when there is one, none else: of two, one leaves at any moment."""
    return processes if len(processes) == 1 else []


def test_another_process_waits_when_one_is_killed(busy: Context, warm: psutil.Process) -> None:
    for _ in range(3):
        [child] = wait_until(lambda: only(warm.children()), STUCK, "one waits")
        child.kill()
        child.wait(STUCK)
        assert told("task", "list")[0] == 0
