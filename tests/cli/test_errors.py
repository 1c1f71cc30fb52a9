"""Errors: one sentence, one hint, one exit code, JSON beside it (rulings 4)."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.cli.interrupts import INTERRUPTED
from pro0.cli.member import acts
from pro0.engine import outcomes
from pro0.errors import EnvironmentMissing, Pro0Error
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from tests.cli.conftest import Pro0, become, make
from tests.waiting import STUCK, wait_until

EXITS = [
    pytest.param(("task", "show", "9"), 3, "not_found", id="S004-036 unknown task"),
    pytest.param(("task", "show", "x9"), 2, "bad_input", id="no task id"),
    pytest.param(("task", "claim", "9"), 3, "not_found", id="S004-050 unknown task"),
    pytest.param(("task", "fail", "1"), 4, "wrong_phase", id="AC-62 not claimed"),
    pytest.param(("task", "claim", "2"), 4, "not_ready", id="S004-038 blocked"),
    pytest.param(("send", "nobody", "x"), 3, "not_found", id="AC-68 unknown recipient"),
    pytest.param(("send", "w1", ""), 2, "bad_input", id="empty message"),
    pytest.param(("member", "show", "nobody"), 3, "not_found", id="unknown member"),
    pytest.param(("member", "peek", "w1"), 3, "not_found", id="nothing to show"),
    pytest.param(("member", "restart", "w1"), 4, "conflict", id="running"),
    pytest.param(("shutdown", "approve"), 4, "not_allowed", id="AC-74 a human has no session"),
    pytest.param(("task", "list", "-t", "beta"), 3, "not_found", id="unknown team"),
    pytest.param(("task", "list", "-t", "../x"), 2, "bad_input", id="S004-068 bad team"),
    pytest.param(("config", "get", "nothing"), 3, "unknown_setting", id="unknown setting"),
    pytest.param(("nonsense",), 2, "usage", id="no such command"),
    pytest.param(("task", "list", "--nonsense"), 2, "usage", id="no such option"),
    pytest.param(("task", "claim"), 2, "usage", id="an argument is missing"),
    pytest.param(("task", "create", "x", "--priority", "high"), 2, "usage", id="no number"),
    pytest.param(("team", "wait", "--timeout", "nan"), 2, "bad_input", id="no time"),
    pytest.param(("inbox", "--wait", "-1"), 2, "bad_input", id="no time to wait"),
    pytest.param(("inbox", "--wait", "0"), 124, "timed_out", id="nothing came"),
]


@pytest.mark.parametrize(("arguments", "code", "slug"), EXITS)
def test_exit_codes_and_their_two_forms(
    arguments: tuple[str, ...], code: int, slug: str, pro0: Pro0, team: Context
) -> None:
    pro0("task", "create", "one")
    pro0("task", "create", "two", "--blocked-by", "1")
    plain = pro0(*arguments)
    assert plain.code == code
    first, *rest = plain.err.splitlines()[-2:] if code == 124 else plain.err.splitlines()
    assert "pro0: " in plain.err
    assert not plain.out
    assert all(line.startswith("hint: ") for line in rest if not first.startswith("no messages"))
    told = pro0(*arguments, "--json")
    assert told.code in (code, 2)
    if told.code == code != 2:
        body = json.loads(told.err.splitlines()[-1])["error"]
        assert body["code"] == slug
        assert set(body) == {"code", "message", "hint"}


def test_an_unexpected_fault_is_one_line(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(_context: Context, **_how: object) -> None:
        raise ZeroDivisionError("a\nb")

    monkeypatch.setattr(tasks, "list_tasks", fault)
    called = pro0("task", "list")
    assert (called.code, called.out) == (1, "")
    assert called.err.splitlines()[0] == "pro0: internal error: ZeroDivisionError: a\\nb"
    assert "PRO0_DEBUG=1" in called.err.splitlines()[1]
    monkeypatch.setenv("PRO0_DEBUG", "1")
    assert "Traceback" in pro0("task", "list").err


@pytest.mark.parametrize("into", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_is_130_and_says_nothing(
    pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch, into: type[BaseException]
) -> None:
    """Also one of which Python makes another error."""

    def interrupted(_context: Context, **_how: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise into("release unlocked lock")

    monkeypatch.setattr(tasks, "list_tasks", interrupted)
    called = pro0("task", "list")
    assert (called.code, called.out, called.err.strip()) == (130, "", "")


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "w9 is still starting: pro0 member show w9 -t alpha"),
        (EnvironmentMissing("w9 did not come up in 60 s", hint="look at it"), 6, "hint: look at it"),
    ],
)
def test_the_task_of_a_member_that_is_not_waited_for_is_named(
    what: BaseException, code: int, said: str, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made when the member is there, so nobody makes it who stops waiting before."""

    def ends(*_how: object) -> None:
        raise what

    monkeypatch.setattr(acts, "need_lead", lambda *_how: None)
    monkeypatch.setattr(outcomes, "started", ends)
    called = pro0("member", "spawn", "w9", "--task", "run the tests")
    assert called.code == code
    command = "pro0 task create 'run the tests' --assignee w9 -t alpha"
    assert f"{said}; its task is not made; once it has started: {command}" in called.err
    assert pro0("task", "list").err == "no tasks\n"


def test_a_closed_pipe_is_quiet(team: Context) -> None:
    for number in range(300):
        with team.team.tasks.change("test") as change:
            from pro0.model.caller import THE_HUMAN
            from pro0.model.task import Draft
            from pro0.rules.tasks import making

            draft = Draft(title=f"{number}" * 200)
            change.value, _ = making.create(change.value, [draft], THE_HUMAN, team.now(), team.new_id)
    reading, writing = os.pipe()
    os.close(reading)
    program = subprocess.Popen(
        [sys.executable, "-m", "pro0", "task", "list", "--json"], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    _, err = program.communicate(timeout=STUCK)
    assert (program.returncode, err) == (1, b"")


@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1", "1 2", "0 1 2"])
def test_a_closed_stream_is_no_fault(team: Context, closed: str) -> None:
    """As some daemons start programs: the act is done and told where it can be, exit 0, no traceback."""
    shut = " ".join(f"{number}>&-" for number in closed.split())
    call = ["sh", "-c", f'"$0" -m pro0 task create x --run true {shut}', sys.executable]
    done = subprocess.run(call, capture_output=True, text=True, timeout=STUCK)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    said = done.stderr if "1" in closed else done.stdout
    assert said == ("" if closed.endswith("1 2") else "task-1 created: x\n")
    assert [task.title for task in team.team.tasks.read().tasks] == ["x"]


@pytest.mark.parametrize("buffered", ["", "1"])
def test_what_is_done_and_cannot_be_printed(team: Context, buffered: str) -> None:
    """A full disk behind stdout: it is done, and said that it may be."""
    with open("/dev/full", "wb") as full:
        call = [sys.executable, "-m", "pro0", "task", "create", "x", "--run", "true"]
        done = subprocess.run(
            call, env=os.environ | {"PYTHONUNBUFFERED": buffered}, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr.startswith("pro0: the output cannot be written to stdout: No space left on device\n")
    assert len(team.team.tasks.read().tasks) == 1


def test_a_help_that_cannot_be_printed_is_no_fault_of_pro0() -> None:
    """The help is printed by click, with no word about what failed."""
    with open("/dev/full", "wb") as full:
        call = [sys.executable, "-m", "pro0", "task", "--help"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        done = subprocess.run(call, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=STUCK)
    assert done.returncode == 1
    assert done.stderr.startswith("pro0: the output cannot be written to stdout: No space left on device\nhint: ")
    assert done.stderr.count("\n") == 2


@pytest.mark.parametrize("target", ["/dev/full", "a pipe without a reader"])
@pytest.mark.parametrize(
    "words", ["task show 99", "task list --nonsense", "config set maxWorkers 5", "worker merge --all"]
)
def test_talk_that_cannot_be_written_changes_no_exit_code(team: Context, words: str, target: str) -> None:
    """Stderr may be a file on a full disk, or a pipe that nobody reads any more."""
    call = [sys.executable, "-m", "pro0", *words.split()]
    sound = subprocess.run(call, capture_output=True, timeout=STUCK, env=os.environ | {"PRO0_MAX_WORKERS": "3"})
    assert sound.stderr
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full" if target == "/dev/full" else writing, "wb") as errors:
        done = subprocess.run(
            call, stdout=subprocess.PIPE, stderr=errors, timeout=STUCK, env=os.environ | {"PRO0_MAX_WORKERS": "3"}
        )
    assert (done.returncode, done.stdout) == (sound.returncode, sound.stdout)


def test_mail_that_could_not_be_shown_stays_unread(pro0: Pro0, team: Context) -> None:
    """S004-053: a person's mail counts as read only once it was shown."""
    pro0("send", "human", "precious")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "pro0", "inbox"], stdout=writing, stderr=subprocess.PIPE, timeout=STUCK
    )
    os.close(writing)
    assert done.returncode == 1
    again = pro0("inbox")
    assert "precious" in again.out
    assert "again" in again.out
    assert not pro0("inbox").out


ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a program to end: a person's, and those of a tool that takes too long or whose terminal goes."""


@pytest.mark.parametrize("end", ENDS)
def test_mail_whose_showing_was_interrupted_is_given_again(
    end: signal.Signals, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.4: as at the time limit of an agent's tool, when its reader has not read all, and never does."""
    pro0("send", "w1", "-", stdin="x" * 200_000)
    become(monkeypatch, team, "w1")
    monkeypatch.setenv("PRO0_DIRECT", "1")
    reading, writing = os.pipe()
    program = subprocess.Popen([sys.executable, "-m", "pro0", "inbox"], stdout=writing, stderr=subprocess.DEVNULL)
    os.close(writing)
    with open(reading, "rb"):
        assert select.select([reading], [], [], STUCK)[0], "it shows its mail"
        program.send_signal(end)
        code = program.wait(STUCK)
    assert "#1 · again" in pro0("inbox").out
    assert not pro0("inbox").out
    assert code == INTERRUPTED


GIVEN = """
import os, sys
from pro0.cli import main
from pro0.ops.mail import messages
hand_out, end = messages.inbox, int(sys.argv.pop())
def inbox(context):
    letters = hand_out(context)
    if letters:
        os.kill(os.getpid(), end)
    return letters
messages.inbox = inbox
sys.exit(main.entry())
"""
"""The program, which is asked to end as soon as it has mail, before it has shown any of it."""


@pytest.fixture
def session(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> Callable[..., "subprocess.Popen[str]"]:
    """A session that was shown a message; start its next `pro0 inbox`, by this program, waiting for mail."""
    become(monkeypatch, team, "w1")
    pro0("send", "w1", "shown before")
    assert "#1" in pro0("inbox").out
    monkeypatch.setenv("PRO0_DIRECT", "1")

    def look(program: str, *words: str) -> "subprocess.Popen[str]":
        before, argv = team.team.mailbox("w1").stamp(), [sys.executable, "-c", program, "inbox", "--wait", "600"]
        started = subprocess.Popen([*argv, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: team.team.mailbox("w1").stamp() != before, STUCK, "it has looked")
        return started

    return look


@pytest.mark.parametrize("end", ENDS)
def test_mail_that_was_given_and_not_shown_is_given_again(
    end: signal.Signals, session: Callable[..., "subprocess.Popen[str]"], pro0: Pro0
) -> None:
    program = session(GIVEN, str(int(end)))
    pro0("send", "w1", "precious")
    out, err = program.communicate(timeout=STUCK)
    again = pro0("inbox").out
    assert ("#2 · again" in again, "shown before" in again) == (True, False)
    assert not pro0("inbox").out
    assert (program.returncode, out, err) == (INTERRUPTED, "", "\n")


@pytest.mark.parametrize("end", ENDS)
def test_who_waits_for_mail_ends_when_asked_to_and_gets_no_mail_twice(
    end: signal.Signals, session: Callable[..., "subprocess.Popen[str]"], pro0: Pro0
) -> None:
    program = session("from pro0.cli.main import entry; raise SystemExit(entry())")
    program.send_signal(end)
    program.communicate(timeout=STUCK)
    assert program.returncode == INTERRUPTED
    assert not pro0("inbox").out


def test_an_error_never_carries_control_characters(pro0: Pro0, team: Context) -> None:
    called = pro0("member", "show", "\x1b[2J\u202ex")
    assert "\\x1b" in called.err
    assert "\x1b" not in called.err
    assert "\u202e" not in called.err


def test_the_hint_names_what_to_try(pro0: Pro0, project: Path) -> None:
    called = pro0("task", "list")
    assert called.code == 3
    assert "hint: start one: pro0 team start" in called.err


def test_a_store_that_belongs_to_nobody_here(pro0: Pro0, home: Path, tmp_path: Path) -> None:
    make(home, "beta", tmp_path)
    called = pro0("task", "list")
    assert (called.code, called.err.splitlines()[-1]) == (0, "no tasks"), "the project above this directory"


def test_report_speaks_json_without_colour() -> None:
    error = Pro0Error("x", hint=None)
    assert (error.exit_code, error.code) == (1, "failed")
