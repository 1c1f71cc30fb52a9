"""What an agent prints does nothing but appear, in every mode, to who watches it in a terminal (checks 34, 36, 40)."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest

from pro0.ops.team.members import SeatDraft
from tests import sshd
from tests.conftest import Result
from tests.contracts.stand_in import terminal_for
from tests.e2e.hostile.home import installed
from tests.engine.crew import Crew, crew
from tests.hostile.payloads import PAYLOADS
from tests.sshd import machine
from tests.view.person import SECONDS, Person
from tests.waiting import wait_until

MODES = ("tmux", "headless", "in-process", "iterm2")
END = "and that was all of it"
OBEYED = [f"\x1b]{number};" for number in (0, 1, 2, 7, 8, 9, 52, 133, 777, 1337)]
ASKED = [f"\x1b]{number};" for number in (4, 10, 11)]
"""Colours, which newer versions of tmux ask every terminal for."""
OBEYED += [
    "\x1bPtmux",
    "\x1bPq",
    "\x1b_",
    "\x1b^",
    "\x1bX",
    "\x1bk",
    "\x1bc",
    "\x1b[21t",
    "\x1b[5i",
    "\a",
    "\x9b",
    "\x9d",
]


OUR_TITLE = re.compile("pro0 alpha( · [0-9]+ waits?)?( · [0-9]+ mail)?")
"""The one text that the view sets as a title: the team's name, and numbers."""


ELSEWHERE = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())
HERE_AND_THERE = [*((mode, False) for mode in MODES), *(pytest.param((m, True), marks=ELSEWHERE) for m in MODES[::2])]


@pytest.fixture(params=HERE_AND_THERE, ids=lambda given: f"{given[0]}, elsewhere" if given[1] else given[0])
def printing(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, SeatDraft]]:
    """Where a team is shown, and one who prints everything that could do harm, then, on a clear screen, that is all."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    mode, elsewhere = request.param
    with terminal_for(mode, tmp_path), machine(tmp_path / "build1") if elsewhere else nullcontext() as there:
        if there:
            monkeypatch.setenv("PRO0_SSH", there.ssh)
            installed(there, serve=("draws", list(PAYLOADS.values()), END))
            yield mode, SeatDraft(name="w1", agent="command", argv=("true",), host=there.name)
            return
        (tmp_path / "payloads").write_bytes(b"\r\n".join(text.encode(errors="replace") for text in PAYLOADS.values()))
        prints = f"stty -echo; cat {tmp_path}/payloads; printf '\\033\\\\\\033[201~\\033c\\n{END}\\n'; exec sleep 600"
        yield mode, SeatDraft(name="w1", agent="command", argv=("sh", "-c", prints))


@pytest.fixture
def mode(printing: tuple[str, SeatDraft]) -> str:
    return printing[0]


@pytest.fixture
def alpha(mode: str, printing: tuple[str, SeatDraft], home: Path, tmp_path: Path) -> Iterator[Crew]:
    """A team with that member."""
    with crew(home, tmp_path, mode) as made:
        made.lead()
        made.spawn(printing[1])
        yield made


def leave(person: Person, mode: str) -> None:
    if mode == "in-process":
        person.press("C-t")
        person.sees("MEMBERS")
        person.press("q")
    elif mode == "tmux":
        person.press("C-b", "d")
    elif mode == "headless":
        (follows,) = psutil.Process(person.process()).children()
        follows.send_signal(signal.SIGINT)


def test_it_is_only_drawn(alpha: Crew, mode: str, cli: Callable[..., Result], tmp_path: Path) -> None:
    """Issue 19, must show 4, for one on another machine."""

    def peek() -> str:
        return cli("member", "peek", "w1", "-t", "alpha").out

    wait_until(lambda: END in peek(), SECONDS, "all is printed")
    assert all(letter.isprintable() or letter in "\n\t" for letter in peek())
    raw = tmp_path / "raw"
    with Person(tmp_path, f"read x; {Path(sys.executable).with_name('pro0')} team attach alpha") as person:
        for option in (("-s", "set-clipboard", "on"), ("-g", "allow-rename", "on"), ("-g", "automatic-rename", "off")):
            person.tmux("set-option", *option)
        person.tmux("pipe-pane", f"cat > {raw}")
        title = person.ask("#{pane_title} #{window_name}")
        person.press("Enter")
        if mode != "iterm2":
            person.sees(END)
        if mode == "in-process":
            assert OUR_TITLE.fullmatch(person.ask("#{pane_title}"))
        leave(person, mode)
        person.is_back()
        assert person.tmux("list-buffers") == ""
        assert person.ask("#{pane_title} #{window_name}") == title
        assert "^[" not in "\n".join(person.rows()), "no answer of a terminal was typed"
    drawn = raw.read_bytes().decode(errors="replace")
    if mode == "in-process":
        drawn, titles = re.subn(f"\x1b]2;{OUR_TITLE.pattern}\a", "", drawn)
        assert titles, "the view names itself, and a bell that is not the end of its title is one of w1's"
    assert [text for text in (*OBEYED, *(ASKED if mode != "tmux" else ())) if text in drawn] == []
    assert [name for _, _, names in os.walk(tmp_path) for name in names if name in ("x", "X", "ran")] == []
