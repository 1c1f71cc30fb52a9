"""The end of what a crashed agent printed, in this process: of a log, and of a pane of tmux."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from pro0.guard import output
from tests.guard.test_own_terminal import log


@pytest.mark.parametrize("size", [0, 3, output.LENGTH - 1, output.LENGTH, output.LENGTH + 1, 9999])
def test_the_end_of_a_log_is_told(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX_PANE", raising=False)
    text = "".join(chr(ord("a") + n % 26) for n in range(size))
    (tmp_path / "log").write_text(text)
    with log(tmp_path / "log"):
        told = output.last_output(None)
    assert told == text[-output.LENGTH :]


def test_what_is_no_file_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX_PANE", raising=False)
    reading, writing = os.pipe()
    zeros = os.open("/dev/zero", os.O_RDONLY)
    with ExitStack() as stack:
        kept = os.dup(1)
        stack.callback(os.close, kept)
        stack.callback(os.dup2, kept, 1)
        told = []
        for stdout in (writing, zeros):
            os.dup2(stdout, 1)
            told.append(output.last_output(None))
        os.close(1)
        told.append(output.last_output(None))
    for descriptor in (reading, writing, zeros):
        os.close(descriptor)
    assert told == ["", "", ""]


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What a program called tmux does that this pane's guard asks."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/at/here,1,0")
    monkeypatch.setenv("TMUX_PANE", "%7")

    def does(script: str) -> None:
        program = tmp_path / "tmux"
        program.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return does


def test_a_pane_is_asked_of_the_server_that_it_is_on(
    tmux: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux('echo complaint >&2; printf "  %s  \\n" "$@"; printf "é\\n\\n"')
    before = open_here()
    words = ["-S", "/at/here", "capture-pane", "-p", "-J", "-t", "%7", "é"]
    told = output.last_output(None)
    assert [line.strip() for line in told.splitlines()] == words
    assert not any(line.endswith(" ") for line in told.splitlines())
    assert open_here() == before
    monkeypatch.delenv("TMUX")
    assert [line.strip() for line in output.last_output(None).splitlines()][:3] == ["-S", "", "capture-pane"]


ASKED = f"""#!{sys.executable} -IS
import os, signal
nothing = os.stat(os.devnull)
print(*(os.path.samestat(os.fstat(number), nothing) for number in (0, 2)), end=" ")
print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGUSR2).name)
"""


def open_here() -> int:
    return len(os.listdir("/dev/fd"))


def test_a_pane_is_asked_by_a_program_with_nothing_of_this_one(
    tmux: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its input and its complaints lead nowhere, and no signal is held back or ignored."""
    tmux(ASKED)
    reading, writing = os.pipe()
    kept = {number: os.dup(number) for number in (0, 2)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    handled = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        os.dup2(reading, 0)
        os.dup2(writing, 2)
        told = output.last_output(None).split()
    finally:
        signal.signal(signal.SIGUSR2, handled)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, descriptor in kept.items():
            os.dup2(descriptor, number)
        for descriptor in (reading, writing, *kept.values()):
            os.close(descriptor)
    assert told == ["True", "True", "set()", "SIG_DFL"]


@pytest.mark.parametrize(
    "script", ["exec sleep 600", "while :; do echo x; sleep 0.05; done"], ids=["says nothing", "never ends"]
)
def test_a_tmux_that_takes_too_long_is_ended(
    tmux: Callable[[str], None], script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.5)
    tmux(f"trap '' HUP INT QUIT TERM USR1 USR2; echo $$ > {tmp_path}/pid; {script}")
    assert output.last_output(None) == ""
    with suppress(FileNotFoundError), pytest.raises(ProcessLookupError):  # it was ended before it could say who it is
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_tmux_that_has_told_is_waited_for(tmux: Callable[[str], None], tmp_path: Path) -> None:
    tmux(f"echo $$ > {tmp_path}/pid; echo told; sleep 0.2; echo whole; exec >&-; sleep 0.3")
    assert output.last_output(None) == "told\nwhole"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
