"""The view in a real terminal: keys in, screens out."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from pro0.engine.places import backend_of, shown_at
from pro0.model.task import Awaiting, Draft
from pro0.ops.tasks import gates
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from tests.conftest import Result
from tests.engine.crew import Crew
from tests.repositories import put, repository_in
from tests.view.person import Person
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
PRO0 = Path(sys.executable).with_name("pro0")
ATTACH = f"{PRO0} team attach alpha"
ECHO = """
import sys
print("here is", sys.argv[1], flush=True)
for line in sys.stdin:
    print("got", line.strip(), flush=True)
"""


def program(name: str, code: str, *more: str) -> SeatDraft:
    return SeatDraft(name=name, agent="command", argv=(sys.executable, "-c", code, name, *more))


def chosen(rows: list[str]) -> str:
    """The first row of what is shown, by which members of these tests can be told apart."""
    return rows[0]


def shown_of(alpha: Crew, name: str) -> str:
    handle = shown_at(alpha.team, alpha.state(name))
    assert handle
    return backend_of(alpha.config).peek(handle, 100)


def test_a_start_on_a_terminal_outside_tmux_shows_the_team(
    home: Path, tmp_path: Path, cli: Callable[..., Result]
) -> None:
    """S004-059, must show 5: and the reason is told before and after."""
    try:
        with Person(tmp_path, f"env -u TMUX {PRO0} team start beta --lead none -m w1=shell") as person:
            person.sees(lambda rows: "w1 is ready" in rows[0] and "Ctrl+T board" in rows[-1])
            person.press("C-t", "q")
            person.is_back()
            assert "mode in-process: this is a terminal outside tmux" in "\n".join(person.rows())
        assert "in-process: this is a terminal outside tmux" in cli("team", "status", "-t", "beta").out
    finally:
        assert cli("team", "cleanup", "beta", "--force").code == 0


def test_a_member_that_ends_stays_to_be_read_and_comes_back(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn(program("w1", "input('last words? '); raise SystemExit(3)"))
    with Person(tmp_path, ATTACH) as person:
        person.sees("last words?")
        person.type("none")
        person.press("Enter")
        person.sees("w1 has no terminal now: pro0 member restart w1")
        assert chosen(person.rows()) == "last words? none"
        members.restart(alpha.context, "w1")
        person.sees(lambda rows: chosen(rows) == "last words?")


def test_focus_shows_a_member_in_the_view(alpha: Crew, tmp_path: Path) -> None:
    """`member focus NAME`."""
    alpha.spawn(program("w1", ECHO), program("w2", ECHO))
    with Person(tmp_path, ATTACH) as person:
        person.sees(lambda rows: chosen(rows) == "here is w1" and "w2 running" in rows[-1])
        handle = shown_at(alpha.team, alpha.state("w2"))
        assert handle
        wait_until(lambda: backend_of(alpha.config).focus(handle), SECONDS, "the view is told")
        person.sees(lambda rows: chosen(rows) == "here is w2")


def test_no_member_brings_itself_before_a_person_who_types(alpha: Crew, tmp_path: Path) -> None:
    """What the person typed on would reach it."""
    told = tmp_path / "told"
    asks = f"read x; {PRO0} member focus w2 > {told}.now 2>&1; echo $? >> {told}.now; mv {told}.now {told}; exec cat"
    alpha.spawn(program("w1", ECHO), SeatDraft(name="w2", agent="command", argv=("sh", "-c", asks)))
    with Person(tmp_path, ATTACH) as person:
        person.sees(lambda rows: chosen(rows) == "here is w1" and "w2 running" in rows[-1])
        person.press("S-Down", "Enter", "S-Up")
        wait_until(told.exists, SECONDS, "w2 has its answer")
        assert told.read_text() == (
            "pro0: w2 may not show a member: only a person may, who types there\n"
            "hint: to read: pro0 member peek w2\n4\n"
        )
        person.type("hello")
        person.press("Enter")
        person.sees("got hello")


def test_focus_opens_the_view_where_nobody_watches(alpha: Crew, tmp_path: Path) -> None:
    """What needs you names it: an agent without a channel is answered where it asks."""
    alpha.spawn(program("w1", ECHO), program("w2", ECHO))
    with Person(tmp_path, f"env -u TMUX {PRO0} member focus w2 -t alpha") as person:
        person.sees(lambda rows: chosen(rows) == "here is w2" and "w1 running" in rows[-1])
        person.press("C-t", "q")
        person.is_back()


def test_looking_back_searching_and_copying(alpha: Crew, tmp_path: Path) -> None:
    """10,000 lines are kept."""
    alpha.spawn(program("w1", "for n in range(10000): print('line', n)\ninput()"))
    with Person(tmp_path, ATTACH) as person:
        person.tmux("set-option", "-s", "set-clipboard", "on")
        person.sees("line 9999")
        person.press("S-PPage")
        person.sees("/ search")
        person.press("g")
        person.sees(lambda rows: chosen(rows) == "line 0")
        person.type("/LINE 4321")
        person.press("Enter")
        person.sees(lambda rows: chosen(rows) == "line 4321")
        person.press("Space", "Down", "Down", "y")
        person.sees("3 lines sent to your terminal's clipboard")
        wait_until(lambda: "line 4323" in person.tmux("show-buffer"), SECONDS, "it is on the clipboard")
        assert person.tmux("show-buffer") == "line 4321\nline 4322\nline 4323"
        assert "line 9999" in "\n".join(person.rows())
        person.press("S-PPage")
        person.sees("/ search")
        person.press("y")
        person.sees(lambda rows: "1 line sent to your terminal" in rows[-1])


def test_what_a_member_has_changed_is_one_key_away(alpha: Crew, tmp_path: Path) -> None:
    """issue 14, build 10: from the member's screen and from the board; no character of a file moves the screen."""
    project = repository_in(Path(alpha.config.project))
    alpha.spawn(program("w1", ECHO))
    with Person(tmp_path, ATTACH) as person:
        person.sees("here is w1")
        person.press("S-NPage")
        person.sees("w1 has changed nothing that is not merged")
        person.press("Escape")
        person.sees("here is w1")
        put(project, "README", "hello\n\x1b[2J" + "long " * 40 + "\n")
        person.press("S-NPage")
        rows = person.sees("+\\x1b[2Jlong")
        assert chosen(rows) == "diff --git a/README b/README"
        person.press("Escape", "C-t")
        person.sees("MEMBERS")
        person.press("d")
        person.sees("diff --git")


TELLS = r"""
import os, tty
tty.setraw(0)
os.write(1, b"\x1b[?1000h\x1b[?1006h\x1b[?2004hready\r\n")
got = b""
while True:
    got += os.read(0, 4096)
    os.write(1, b"\x1b[2;1H" + repr(got).encode())
"""


def test_the_mouse_and_pastes_reach_the_program(alpha: Crew, tmp_path: Path) -> None:
    """Must show 3: as they come, and keys of the view within a paste are none."""
    alpha.spawn(program("w1", TELLS), program("w2", ECHO))
    with Person(tmp_path, ATTACH) as person:
        person.sees(lambda rows: chosen(rows) == "ready" and "w2 running" in rows[-1])
        wait_until(
            lambda: person.ask("#{mouse_any_flag} #{mouse_sgr_flag}") == "1 1", SECONDS, "the mouse is asked for"
        )
        click = "\x1b[<0;10;5M\x1b[<0;10;5m"
        person.type(click)
        person.sees(repr(click.encode()))
        person.tmux("set-buffer", "two\nlines", ";", "paste-buffer", "-p")
        pasted = f"{click}\x1b[200~two\rlines\x1b[201~"
        person.sees(repr(pasted.encode()))
        person.type("\x1b[200~\x1b[1;2B\x14\x1b[201~")
        person.sees(repr(f"{pasted}\x1b[200~\x1b[1;2B\x14\x1b[201~".encode()))
        person.press("S-Down")
        person.sees(lambda rows: chosen(rows) == "here is w2")
        person.type("\x1b[<0;10;5M\x1b[<0;10;5mseen")
        person.press("Enter")
        person.sees("got seen")


def test_who_does_not_read_is_said_and_keeps_nobody_waiting(alpha: Crew, tmp_path: Path) -> None:
    """Must show 4: what is typed for it is let go, and the view goes on."""
    alpha.spawn(
        program("w1", "import time, tty; tty.setraw(0); print('deaf', flush=True); time.sleep(600)"),
        program("w2", ECHO),
    )
    with Person(tmp_path, ATTACH, 120) as person:
        person.sees(lambda rows: chosen(rows) == "deaf" and "w2 running" in rows[-1])
        (tmp_path / "much").write_text("x" * 1_500_000)
        person.tmux("load-buffer", str(tmp_path / "much"), ";", "paste-buffer")
        person.sees("w1 does not read what is typed")
        person.press("S-Down")
        person.sees(lambda rows: chosen(rows) == "here is w2")
        person.type("hello")
        person.press("Enter")
        person.sees("got hello")


def test_the_view_rings_once_for_each_need(alpha: Crew, tmp_path: Path) -> None:
    """Issue 14, must show 2: by the bytes that the terminal got; the end of a title is no bell."""
    raw = tmp_path / "raw"

    def bells() -> int:
        return re.sub(b"\x1b]2;[^\a]*\a", b"", raw.read_bytes()).count(b"\a")

    alpha.spawn("w1")
    kinds = (Awaiting.INPUT, Awaiting.CONTENT, Awaiting.REVIEW, Awaiting.ESCALATION)
    with Person(tmp_path, f"read x; env -u TMUX {ATTACH}", columns=120) as person:
        person.tmux("pipe-pane", f"cat > {raw}")
        person.press("Enter")
        person.sees(lambda rows: "w1 is ready" in rows[0] and "Ctrl+T board" in rows[-1])
        for number, kind in enumerate(kinds, 1):
            alpha.give(Draft(title=f"the {kind} of it", run="true", awaiting=kind))
            person.sees(lambda rows, n=number: f"{n} wait" in rows[-1])  # type: ignore[misc]
            wait_until(lambda n=number: bells() == n, STUCK, "it rings")  # type: ignore[misc]
        gates.approve(alpha.context, "task-1", "yes")
        person.sees(lambda rows: f"{len(kinds) - 1} wait" in rows[-1])
        person.press("C-t")
        person.sees("task-4")
        assert bells() == len(kinds), "an answer does not ring"
