"""Short commands done by a warm process: the same bytes, the same exit code, once or not at all (behaviour 4.4)."""

import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import click
import pytest

from pro0.cli import call
from pro0.cli.call import program
from pro0.cli.interrupts import INTERRUPTED
from pro0.cli.main import SHORT, is_short
from pro0.cli.warm import client
from pro0.cli.warm.client import SOCKET
from pro0.cli.warm.work import Work
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.processes import alike
from pro0.rpc.place import listening
from pro0.rules.mail import LOST
from tests.cli.conftest import become
from tests.crash.lanes import a_few
from tests.forks import forking
from tests.waiting import STUCK, wait_until

PRO0 = (sys.executable, "-m", "pro0")
COMMANDS = {
    "list": ("task", "list"),
    "json": ("team", "status", "--json"),
    "show": ("task", "show", "task-1"),
    "mail": ("inbox", "--sent"),
    "help": ("task", "claim", "--help"),
    "no such task": ("task", "show", "task-99", "--json"),
    "usage": ("task", "claim", "--no-such-option"),
    "no such team": ("task", "list", "-t", "beta"),
    "bytes": ("task", "comment", "task-1", "\udcff\u2028"),
}
"""What prints, refuses, and fails; none of these changes what the next prints."""


@contextmanager
def served(team: Context, before: Callable[[], None] = lambda: None) -> Iterator[int]:
    """Serve one command as the warm process does, after `before` in that process; yield its pid."""
    place = team.team.paths.team / SOCKET
    listener = listening(place)
    with forking():
        worker = os.fork()
    if worker == 0:
        try:
            listener.setblocking(True)
            connection, _ = listener.accept()
            listener.close()
            before()
            Work(connection).do()
        finally:
            os._exit(0)
    listener.close()
    try:
        yield worker
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        place.unlink()


def told(*words: str, stdin: str = "", **variables: str) -> tuple[int, bytes, bytes]:
    """Call the program as a shell does."""
    done = subprocess.run(
        [*PRO0, *words], input=stdin.encode(), capture_output=True, timeout=STUCK, env={**os.environ, **variables}
    )
    return done.returncode, done.stdout, done.stderr


def sent(team: Context) -> list[str]:
    """Return the texts in the mailbox of w1."""
    return [message.content for message in team.team.mailbox("w1").head.read().messages]


@pytest.fixture
def busy(team: Context) -> Context:
    """A team with a task and a message."""
    tasks.create(team, [Draft(title="one")])
    messages.send(team, "human", "hello")
    return team


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_the_same_bytes_and_exit_code(busy: Context, words: tuple[str, ...]) -> None:
    own = told(*words, PRO0_DIRECT="1")
    with served(busy):
        assert told(*words) == own


def test_a_shell_is_offered_the_same(busy: Context) -> None:
    asked = {"_PRO0_COMPLETE": "bash_complete", "COMP_WORDS": "pro0 task show ", "COMP_CWORD": "3"}
    own = told(**asked, PRO0_DIRECT="1")
    with served(busy):
        assert told(**asked) == own
    assert b"task-1" in own[1]


def test_it_is_done_in_the_other_process_from_here(
    busy: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the streams, the folder, the umask, the variables and the limits of the command."""
    notes = tmp_path / "notes"

    def elsewhere() -> None:
        os.chdir("/")
        os.umask(0)
        for variable in ("TZ", "HOME", "PRO0_HOME"):
            os.environ[variable] = "/nowhere"
        run = call.run

        def noted(arguments: list[str]) -> int:
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            notes.write_text(f"{os.getpid()} {Path.cwd()} {os.umask(0o27):o} {time.tzname[0]} {limit}")
            return run(arguments)

        monkeypatch.setattr(call, "run", noted)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = os.umask(0o27)
    try:
        with served(busy, elsewhere) as worker:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 2, hard))
            code, out, _ = told("send", "w1", "-", "--json", stdin="by stdin", TZ="XYZ-3")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.umask(before)
    assert (code, sent(busy), out[:1]) == (0, ["by stdin"], b"{")
    assert notes.read_text() == f"{worker} {Path.cwd()} 27 XYZ {soft - 2}"


def test_a_closed_pipe_and_a_full_disk_are_told_as_ever(busy: Context) -> None:
    for target in ("/dev/full", None):
        codes = []
        for direct in ("1", ""):
            with served(busy), open(target or os.devnull, "wb") as out:
                argv, reader = [*PRO0, "task", "list"], subprocess.PIPE if target is None else out
                process = subprocess.Popen(
                    argv, stdout=reader, stderr=subprocess.PIPE, env={**os.environ, "PRO0_DIRECT": direct}
                )
                if target is None:
                    assert process.stdout
                    process.stdout.close()
                assert process.stderr
                codes.append((process.stderr.read(), process.wait(STUCK)))
                process.stderr.close()
        assert codes[0] == codes[1]


@pytest.mark.parametrize("size", [5, 100_000], ids=["at the end", "in between"])
@pytest.mark.parametrize("target", ["a full disk", "a closed pipe"])
@pytest.mark.parametrize("done_by", ["itself", "a warm process"])
def test_mail_that_a_session_could_not_print_is_given_again(
    team: Context, done_by: str, target: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.4: else its next call would count as read what nobody has seen."""
    messages.send(team, "w1", "x" * size)
    become(monkeypatch, team, "w1")
    for words in (["inbox"], ["inbox", "--json"], ["inbox", "--ack"]):
        with served(team) if done_by == "a warm process" else nullcontext(), unwritable(target) as out:
            done = subprocess.run([*PRO0, *words], stdout=out, stderr=subprocess.PIPE, timeout=STUCK)
        assert done.returncode == 1
    messages.send(team, "w1", "later")
    shown = []
    while part := json.loads(told("inbox", "--json", PRO0_DIRECT="1")[1]):
        shown += [(letter["message"]["content"], letter["again"]) for letter in part]
    assert shown == [("x" * size, True), ("later", False)]


@contextmanager
def unwritable(target: str) -> Iterator[int]:
    """Give the descriptor of a file that takes nothing."""
    if target == "a full disk":
        out = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, out = os.pipe()
        os.close(reading)
    try:
        yield out
    finally:
        os.close(out)


@contextmanager
def _listener(team: Context) -> Iterator[socket.socket]:
    with listening(team.team.paths.team / SOCKET) as made:
        yield made


def _nobody(team: Context) -> Iterator[None]:
    yield


def _left_behind(team: Context) -> Iterator[None]:
    with _listener(team):
        pass
    yield


def _a_file(team: Context) -> Iterator[None]:
    (team.team.paths.team / SOCKET).write_text("no socket")
    yield


def _full(team: Context) -> Iterator[None]:
    with _listener(team) as listener:
        listener.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect(str(team.team.paths.team / SOCKET))
        yield
        for one in waiting:
            one.close()


def _silent(team: Context) -> Iterator[None]:
    """It takes a connection and never answers; what it would begin later, it cannot begin."""
    with _listener(team):
        yield


def _answering(answer: bytes) -> Callable[[Context], Iterator[None]]:
    def answers(team: Context) -> Iterator[None]:
        with _listener(team) as listener:
            listener.setblocking(True)
            with forking():
                process = os.fork()
            if process == 0:
                try:
                    connection, _ = listener.accept()
                    connection.send(answer)
                finally:
                    os._exit(0)
            yield
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)

    return answers


def _another_version(team: Context) -> Iterator[None]:
    def other() -> None:
        client.stamp.__code__ = (lambda: b"0.0.1").__code__

    with served(team, other):
        yield


def _confined(team: Context) -> Iterator[None]:
    """It may do more than the command may, or less."""

    def other() -> None:
        alike.alike.__code__ = (lambda pid: False).__code__

    with served(team, other):
        yield


UNUSABLE = {
    "nobody": _nobody,
    "left behind": _left_behind,
    "a file": _a_file,
    "full": _full,
    "silent": _silent,
    "closing": _answering(b""),
    "garbage": _answering(b"!"),
    "another version": _another_version,
    "more allowed": _confined,
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_command_does_its_work_itself(busy: Context, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Whoever cannot do it keeps nobody from it, and nobody sees a difference."""
    own = told("task", "list", PRO0_DIRECT="1")
    with contextmanager(UNUSABLE[case])(busy):
        assert told("task", "list") == own
        assert told("send", "w1", "once")[0] == 0
    assert sent(busy) == ["once"]


def test_another_users_socket_gets_nothing(busy: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(busy):
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
        assert client.call(["task", "list"]) is None


MOMENTS = [(who, number) for who in ("the worker", "the command") for number in range(0, 500, 2)]


@pytest.mark.parametrize(("who", "number"), a_few(MOMENTS, 8))
def test_killed_at_any_moment_it_is_done_once_or_not_at_all(busy: Context, who: str, number: int) -> None:
    """A moment is one thing that the interpreter reports: a file opened, a name replaced, a value looked up."""
    reader, writer = os.pipe()

    def die_at() -> None:
        command = int.from_bytes(os.read(reader, 4), "big")
        moments = iter(range(number + 1))

        def look(_event: str, _arguments: object) -> None:
            if next(moments, None) == number:
                os.kill(os.getpid() if who == "the worker" else command, signal.SIGKILL)

        sys.addaudithook(look)

    with served(busy, die_at) as worker:
        process = subprocess.Popen([*PRO0, "send", "w1", "once"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.write(writer, process.pid.to_bytes(4, "big"))
        _, err = process.communicate(timeout=STUCK)
        over = os.WEXITED | os.WNOHANG | os.WNOWAIT
        wait_until(lambda: os.waitid(os.P_PID, worker, over), STUCK, "the work is over")
    os.close(reader)
    os.close(writer)
    assert len(sent(busy)) <= 1
    if process.returncode == 0:
        assert sent(busy) == ["once"]
    else:
        assert process.returncode == (client.KILLED if who == "the worker" else -signal.SIGKILL), err


def test_a_persons_hook_runs_below_the_command_itself(busy: Context, home: Path, tmp_path: Path) -> None:
    """What a command starts is its own, and ends with what it belongs to."""
    asked = tmp_path / "asked"
    (home / "config.yaml").write_text(f"hooks: {{TaskCreated: 'echo $PPID >> {asked}'}}\n")
    with served(busy):
        process = subprocess.Popen([*PRO0, "task", "create", "two"], stdout=subprocess.DEVNULL)
        assert process.wait(STUCK) == 0
    assert asked.read_text() == f"{process.pid}\n"
    assert [task.title for task in tasks.board(busy)] == ["one", "two"]


def test_ctrl_c_ends_the_work(busy: Context) -> None:
    """Which waits for a lock here; the command is over at once, and so is the work."""
    with busy.team.tasks.change("a test"), served(busy) as worker:
        process = subprocess.Popen([*PRO0, "task", "create", "never"], stderr=subprocess.PIPE)
        wait_until(lambda: (busy.team.paths.tasks / ".queue").exists(), STUCK, "it waits for the lock")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=STUCK)
        over = os.WEXITED | os.WNOHANG | os.WNOWAIT
        wait_until(lambda: os.waitid(os.P_PID, worker, over), STUCK, "the work is over")
    assert process.returncode == INTERRUPTED
    assert [task.title for task in tasks.board(busy)] == ["one"]


def test_mail_is_given_again_when_the_command_ends_while_it_is_shown(
    busy: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.4: its reader has not read all, and the work ends all the same."""
    messages.send(busy, "w1", "x" * 200_000)
    become(monkeypatch, busy, "w1")
    reading, writing = os.pipe()
    with open(reading, "rb"), served(busy) as worker:
        process = subprocess.Popen([*PRO0, "inbox"], stdout=writing)
        os.close(writing)
        assert select.select([reading], [], [], STUCK)[0], "it shows its mail"
        process.send_signal(signal.SIGINT)
        assert process.wait(STUCK) == INTERRUPTED
        over = os.WEXITED | os.WNOHANG | os.WNOWAIT
        wait_until(lambda: os.waitid(os.P_PID, worker, over), 20, "the work is over")
    handed = busy.team.mailbox("w1").head.read().handed
    assert handed
    assert handed.incarnation == LOST


def test_mail_is_given_again_when_the_command_ends_before_any_of_it_is_shown(
    busy: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages.send(busy, "w1", "precious")
    become(monkeypatch, busy, "w1")
    reader, writer = os.pipe()
    hand_out = messages.inbox

    def ends_then() -> None:
        command = int.from_bytes(os.read(reader, 4), "big")

        def inbox(context: Context) -> list[messages.Letter]:
            letters = hand_out(context)
            os.kill(command, signal.SIGKILL)
            time.sleep(STUCK)
            return letters

        messages.inbox = inbox  # type: ignore[assignment]

    with served(busy, ends_then) as worker:
        process = subprocess.Popen([*PRO0, "inbox"], stdout=subprocess.PIPE)
        os.write(writer, process.pid.to_bytes(4, "big"))
        assert process.communicate(timeout=STUCK)[0] == b""
        over = os.WEXITED | os.WNOHANG | os.WNOWAIT
        wait_until(lambda: os.waitid(os.P_PID, worker, over), STUCK, "the work is over")
    os.close(reader)
    os.close(writer)
    handed = busy.team.mailbox("w1").head.read().handed
    assert handed
    assert handed.incarnation == LOST


@pytest.mark.parametrize(
    ("words", "short"),
    [
        (("send", "w1", "x"), True),
        (("task", "list"), True),
        (("inbox", "--wait", "3"), False),
        (("team", "status", "--watch"), False),
        (("task", "approve", "1"), False),
        (("task",), False),
        (("team", "attach"), False),
        (("--help",), False),
        ((), False),
    ],
)
def test_which_commands_are_short(words: tuple[str, ...], short: bool) -> None:
    assert is_short([*words]) is short


def test_short_commands_are_commands() -> None:
    for noun, verbs in SHORT.items():
        for verb in verbs.split():
            group = program.get_command(click.Context(program), noun)
            assert isinstance(group, click.Group)
            assert group.get_command(click.Context(group), verb), (noun, verb)
