"""The hook that waits beside Claude Code: it wakes it once for each line, whoever is killed meanwhile."""

import json
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from pro0.agents.adapter import SessionView
from pro0.agents.bridge import handing
from pro0.agents.claude import adapter, waiter, waking
from tests.agents import placed
from tests.agents.test_calls import BRIEF
from tests.waiting import STUCK, wait_until

LINE = "You have 2 unread messages: run `pro0 inbox`"
Start = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def view(tmp_path: Path) -> SessionView:
    return placed.session_view(tmp_path, placed.CLAUDE)


@pytest.fixture
def start(view: SessionView) -> Iterator[Start]:
    """Start waiters as Claude does: by a shell, with an event on stdin."""
    started: list[subprocess.Popen[bytes]] = []

    def one() -> subprocess.Popen[bytes]:
        words = ["sh", "-c", str(waking.hook(view.folder)["command"])]
        stdin = subprocess.DEVNULL
        started.append(subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for a waiter that does not come."""
    monkeypatch.setattr(handing, "PATIENCE", 0.2)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a waiter that comes, however slow the machine is."""
    monkeypatch.setattr(handing, "PATIENCE", STUCK)


def waits(view: SessionView, process: subprocess.Popen[bytes]) -> bool:
    """Return True when a process sleeps in the opening of the pipe."""
    pipe = Path(view.folder, waiter.PIPE)
    return pipe.exists() and process.poll() is None and psutil.Process(process.pid).status() == "sleeping"


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Return the exit code and what Claude is told with it."""
    return process.wait(STUCK), (process.stderr.read() if process.stderr else b"")


def left(view: SessionView) -> set[str]:
    return {path.name for path in Path(view.folder).iterdir()} - {waiter.LOCK, waiter.PIPE, waiter.TAKEN}


@pytest.mark.usefixtures("patient")
def test_a_line_wakes_the_session_by_the_exit_of_the_waiter(view: SessionView, start: Start) -> None:
    one = start()
    wait_until(lambda: waits(view, one), STUCK, "it waits")
    assert waking.deliver(view, LINE)
    assert ended(one) == (waiter.WAKE, LINE.encode())
    assert left(view) == set()


@pytest.mark.usefixtures("patient")
def test_a_line_waits_for_a_waiter_that_is_just_starting(view: SessionView, start: Start) -> None:
    Path(view.folder, waiter.LOCK).touch()
    with ThreadPoolExecutor() as pool:
        taken = pool.submit(waking.deliver, view, LINE)
        wait_until(Path(view.folder, waiter.LINE).exists, STUCK, "the line lies there")
        one = start()
        assert taken.result(STUCK)
    assert ended(one) == (waiter.WAKE, LINE.encode())


def test_where_no_waiter_ever_came_up_the_line_goes_another_way_at_once(view: SessionView) -> None:
    """Hooks may be switched off."""
    assert not waking.deliver(view, LINE)
    assert left(view) == set()


@pytest.mark.usefixtures("hasty")
def test_the_line_of_a_killed_waiter_is_taken_back(view: SessionView, start: Start) -> None:
    one = start()
    wait_until(lambda: waits(view, one), STUCK, "it waits")
    one.kill()
    one.wait(STUCK)
    assert not waking.deliver(view, LINE)
    assert left(view) == set()


def test_what_a_killed_lead_has_put_there_is_still_told(view: SessionView, start: Start) -> None:
    Path(view.folder, waiter.LINE).write_text(LINE)
    assert ended(start()) == (waiter.WAKE, LINE.encode())


@pytest.mark.usefixtures("patient")
def test_of_many_waiters_one_waits_and_the_others_are_over(view: SessionView, start: Start) -> None:
    """Each turn starts them anew."""
    many = [start() for _ in range(6)]
    wait_until(lambda: sum(process.poll() is None for process in many) == 1, STUCK, "one is left")
    (one,) = (process for process in many if process.poll() is None)
    assert [ended(process) for process in many if process is not one] == [(0, b"")] * 5
    assert waking.deliver(view, LINE)
    assert ended(one) == (waiter.WAKE, LINE.encode())


@pytest.mark.usefixtures("hasty")
def test_a_line_is_never_told_twice_nor_told_after_it_was_taken_back(view: SessionView, start: Start) -> None:
    """Waiters are killed at any moment; a line that counts as taken was told, or died with its waiter."""
    dice = Random(6)
    told: list[bytes] = []
    for n in range(25):
        taken, code, text = killed_around(view, f"line {n}", start(), dice)
        told.append(text)
        assert taken or not text
        assert not text or text == f"line {n}".encode()
        assert not text or code in (waiter.WAKE, -signal.SIGKILL)
        assert left(view) == set()
    assert len([text for text in told if text]) == len({text for text in told if text})


def killed_around(view: SessionView, line: str, one: subprocess.Popen[bytes], dice: Random) -> tuple[bool, int, bytes]:
    """Deliver a line to a waiter that is killed now or then; return whether it was taken, and the waiter's end."""
    if dice.random() < 0.8:
        wait_until(lambda: waits(view, one) or one.poll() is not None, STUCK, "it waits")
    with ThreadPoolExecutor() as pool:
        taken = pool.submit(waking.deliver, view, line)
        if dice.random() < 0.5:
            wait_until(lambda: taken.done() or not waits(view, one), STUCK, "it wakes")
            one.kill()
        was_taken = taken.result(STUCK)
    one.kill()
    return was_taken, *ended(one)


def test_a_waiter_is_small(view: SessionView, start: Start) -> None:
    """One waits beside each session: mostly the interpreter's pages, which all processes share."""
    one = start()
    wait_until(lambda: waits(view, one), STUCK, "it waits")
    assert psutil.Process(one.pid).memory_info().rss < 16 << 20


def hooks(call: Any) -> dict[str, list[Any]]:
    return dict(json.loads(call.files[adapter.SETTINGS])["hooks"])


@pytest.mark.parametrize("event", waking.EVENTS)
def test_each_event_starts_a_waiter_beside_the_turn(event: str) -> None:
    own = [hook for entry in hooks(adapter.call(BRIEF))[event] for hook in entry["hooks"] if "asyncRewake" in hook]
    (hook,) = own
    assert (hook["async"], hook["asyncRewake"]) == (True, True)
    assert shlex.split(hook["command"])[-2:] == [waiter.__file__, BRIEF.folder]


@pytest.mark.parametrize(("prompt", "matchers"), [("You are w1.", ["resume|clear|compact"]), ("", [""])])
def test_a_line_is_no_turn_before_the_first_prompt(prompt: str, matchers: list[str]) -> None:
    """On a busy machine mail may come while Claude still waits for its tools, and would begin a turn without it."""
    entries = hooks(adapter.call(replace(BRIEF, prompt=prompt, resume=not prompt)))["SessionStart"]
    waiting = [entry for entry in entries if any("asyncRewake" in hook for hook in entry["hooks"])]
    assert [entry.get("matcher", "") for entry in waiting] == matchers


def test_nobody_waits_in_one_turn_without_a_terminal() -> None:
    """There Claude would wait for the hook."""
    assert "asyncRewake" not in json.dumps(hooks(adapter.turn(BRIEF)))
    assert "asyncRewake" not in json.dumps(hooks(adapter.call(replace(BRIEF, mailbox=""))))
