"""However a view ends, the terminal is the person's again, and no agent has noticed (issue 5, must show 4)."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.crash.lanes import LANES, SOAK
from tests.engine.crew import Crew
from tests.view.person import SECONDS, Person
from tests.view.test_driven import ATTACH, PRO0, program, shown_of
from tests.waiting import wait_until

KILLED = {SOAK: 100}
MODES = r"print('\x1b[?1002h\x1b[?1h\x1b[?2004h\x1b[?1049hready', flush=True); input()"
COUNTS = """
import os, signal, sys, time
def heard(number, _):
    with open(sys.argv[2], "a") as told:
        told.write(signal.Signals(number).name)
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGWINCH}:
    signal.signal(number, heard)
for n in range(10**6):
    print("line", n, flush=True)
    time.sleep(0.01)
"""
FROM_ELSEWHERE = f"""
import os, subprocess, sys
keyboard, keys = os.openpty()
view = subprocess.Popen([{str(PRO0)!r}, "team", "attach", "alpha"], stdin=keys)
os.close(keys)
sys.stdin.readline()
os.close(keyboard)
sys.exit(view.wait())
"""
"""A view whose keyboard is another terminal, which is gone after an Enter."""
BREAKS = """
import sys
from pro0.cli.call import run
from pro0.view import app
bar, left = app.bar, [3]
def broken(*words):
    left.append(left.pop() - 1)
    return bar(*words) if left[0] else 1 / 0
app.bar = broken
sys.exit(run(["team", "attach", "alpha"]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal(alpha: Crew, tmp_path: Path, number: signal.Signals) -> None:
    alpha.spawn(program("w1", MODES))
    with Person(tmp_path, ATTACH) as person:
        _mirrored(person)
        (view,) = psutil.Process(person.process()).children()
        view.send_signal(number)
        person.is_back()


def test_a_stop_and_fg(alpha: Crew, tmp_path: Path) -> None:
    """A shell uses the terminal meanwhile; then it shows the team again, and takes its keys."""
    alpha.spawn(program("w1", MODES))
    with Person(tmp_path, ATTACH) as person:
        _mirrored(person)
        terminal = person.ask("#{pane_tty}")
        (view,) = psutil.Process(person.process()).children()
        view.suspend()
        subprocess.run(["stty", "-F", terminal, "sane"], check=True)
        Path(terminal).write_text("\x1b[?1049l\x1b[?1002l\x1b[?2004l\x1b[2Ja shell's words")
        view.resume()
        _mirrored(person)
        person.sees(lambda rows: "w1 running" in rows[-1] and not any("a shell's words" in row for row in rows))
        person.press("C-t", "q")
        person.is_back()


def test_q(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn(program("w1", MODES))
    with Person(tmp_path, ATTACH) as person:
        _mirrored(person)
        person.press("C-t", "q")
        person.is_back()


def test_the_end_of_what_is_typed(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn(program("w1", MODES))
    (tmp_path / "runner.py").write_text(FROM_ELSEWHERE)
    with Person(tmp_path, f"{sys.executable} {tmp_path}/runner.py") as person:
        _mirrored(person)
        person.press("Enter")
        person.is_back()
        person.sees("the team alpha goes on")


def test_an_error(alpha: Crew, tmp_path: Path) -> None:
    """Should the view itself fail."""
    alpha.spawn(program("w1", MODES))
    (tmp_path / "breaks.py").write_text(BREAKS)
    with Person(tmp_path, f"{sys.executable} {tmp_path}/breaks.py") as person:
        person.is_back()
        person.sees("division by zero")
        assert any(row.startswith("code ") and row != "code 0" for row in person.rows())


def _mirrored(person: Person) -> None:
    person.sees("ready")
    wait_until(lambda: person.ask("#{mouse_any_flag} #{keypad_cursor_flag}") == "1 1", SECONDS, "it is mirrored")


@pytest.mark.parametrize("lane", LANES)
def test_killed_at_any_moment(alpha: Crew, tmp_path: Path, lane: str) -> None:
    """No agent notices: it hears no signal, goes on printing, and its guard keeps no connection."""
    heard = tmp_path / "heard"
    (state,) = alpha.spawn(program("w1", COUNTS, str(heard)))
    before, chance = alpha.pids(), random.Random(lane)
    for moment in range(KILLED.get(lane, 5)):
        with Person(tmp_path, f"exec {ATTACH}") as person:
            if moment % 2:
                person.sees("line ")
            time.sleep(chance.uniform(0, 0.5))
            os.kill(person.process(), signal.SIGKILL)
    assert alpha.pids() == before
    assert alpha.state("w1").incarnation == state.incarnation
    guard = psutil.Process(before["w1"][0])
    wait_until(lambda: guard.num_fds() < 20, SECONDS, "their connections are closed")
    shown = shown_of(alpha, "w1")
    wait_until(lambda: shown_of(alpha, "w1") != shown, SECONDS, "it goes on")
    numbers = [int(row.split()[1]) for row in shown_of(alpha, "w1").splitlines()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "nothing is missing"
    assert not heard.exists()
