"""What the view does with the person's terminal besides drawing: bell, title, wheel, colours; and who ended before."""

import re
import threading
from pathlib import Path

import pytest

from pro0.engine import outcomes
from pro0.model.runtime import State
from pro0.model.task import Draft, Status
from pro0.ops import permissions
from pro0.ops.context import Context
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.view import acts
from tests.engine.crew import Crew
from tests.teams import ASKED, REQUEST, human, make_team, member
from tests.view.person import Person
from tests.view.test_driven import ATTACH, ECHO, program
from tests.waiting import STUCK, wait_until

COLOUR = re.compile(r"\x1b\[[0-9;]*?\b(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;:]*m")


def test_a_need_rings_once_and_stands_in_the_title(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn("w1")
    raw = tmp_path / "raw"
    with Person(tmp_path, f"read x; {ATTACH}") as person:
        before = person.ask("#{pane_title}")
        person.tmux("pipe-pane", f"cat > {raw}")
        person.press("Enter")
        wait_until(lambda: person.ask("#{pane_title}") == "pro0 alpha", STUCK, "the view names the team")
        alpha.settled(*alpha.give(Draft(title="break", run="false")))
        titled = "pro0 alpha · 1 wait"
        wait_until(lambda: person.ask("#{pane_title}").startswith(titled), STUCK, "the title counts it")
        person.press("C-t")
        person.sees("WAITS FOR YOU")
        person.press("q")
        person.is_back()
        assert person.ask("#{pane_title}") == before
    written = raw.read_text(errors="replace")
    titles = re.findall("\x1b]2;pro0 alpha([^\x07]*)\x07", written)
    needs = sum(map(int, re.findall("[0-9]+", titles[-1])))
    rings = re.sub("\x1b]2;[^\x07]*\x07", "", written).count("\a")
    assert 1 <= rings <= needs <= 2, "each need rings once: the failure, and the word about it when that comes later"


def test_the_wheel_looks_back_over_a_member_that_does_not_read_the_mouse(alpha: Crew, tmp_path: Path) -> None:
    lines = "print(*(f'line {n}' for n in range(100)), sep='\\n', flush=True); input()"
    alpha.spawn(program("w1", lines))
    with Person(tmp_path, ATTACH) as person:
        person.sees("line 99")
        assert person.ask("#{mouse_standard_flag} #{mouse_sgr_flag}") == "1 1"
        person.type("\x1b[<64;3;3M")
        person.sees("Esc back")
        for _ in range(9):
            person.type("\x1b[<64;3;3M")
        person.sees("line 66")
        person.press("Escape")
        person.sees(lambda rows: "Ctrl+T" in rows[-1] and "line 99" in "\n".join(rows))


def test_the_wheel_works_on_the_board_after_a_member_that_reads_more_of_the_mouse(alpha: Crew, tmp_path: Path) -> None:
    """A terminal reports nothing of the mouse after a reset of any of its modes."""
    reads = r"print('\x1b[?1000h\x1b[?1002h\x1b[?1006hready', flush=True); input()"
    alpha.spawn(program("w1", reads))
    modes = "#{mouse_button_flag} #{mouse_standard_flag} #{mouse_sgr_flag}"
    with Person(tmp_path, ATTACH) as person:
        person.sees("ready")
        wait_until(lambda: person.ask(modes) == "1 0 1", STUCK, "the member reads the mouse")
        person.press("C-t")
        wait_until(lambda: person.ask(modes) == "0 1 1", STUCK, "the board reads its wheel")


def test_no_colour_is_shown_where_none_is_wanted(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn("w1")
    alpha.settled(*alpha.give(*(Draft(title="break", run="false") for _ in range(2))))
    for wish, is_coloured in (("NO_COLOR=", True), ("NO_COLOR=1", False)):
        with Person(tmp_path, f"env {wish} {ATTACH}") as person:
            person.sees("Ctrl+T")
            person.press("C-t")
            person.sees("task-1 has failed")
            person.sees("task-2 has failed")
            assert bool(COLOUR.search("\n".join(person.rows("-e")))) is is_coloured
            person.press("q")
            person.is_back()


def test_the_last_screen_of_one_that_ended_before_the_view_came(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn(program("w1", ECHO))
    seat = members.shutdown(alpha.context, "w1", force=True)
    outcomes.shut_down(alpha.team, seat, alpha.shown.append)
    alpha.spawn("w2")
    with Person(tmp_path, ATTACH) as person:
        person.press("S-Up")
        person.sees("here is w1")
        person.sees("w1 shutdown")


def test_no_key_reaches_an_idle_shell_that_is_to_be_interrupted(alpha: Crew, tmp_path: Path) -> None:
    """Ux 4: it would end it."""
    alpha.spawn("w1")
    alpha.reaches("w1", State.IDLE)
    before = alpha.pids()["w1"]
    with Person(tmp_path, ATTACH) as person:
        person.sees("w1 idle")
        person.press("C-t")
        person.sees("MEMBERS")
        person.press("i")
        person.sees("w1 is idle: there is no turn to interrupt")
    assert (alpha.state("w1").state, alpha.pids()["w1"]) == (State.IDLE, before)


def test_a_store_that_cannot_be_read_keeps_an_interrupt_back_and_not_the_view(alpha: Crew, tmp_path: Path) -> None:
    alpha.spawn(program("w1", "try: input('at work')\nexcept KeyboardInterrupt: input('stopped')"))
    wanted = alpha.team.paths.team / "wanted.json"
    before = wanted.read_bytes()
    with Person(tmp_path, ATTACH, 400) as person:
        person.sees("at work")
        person.press("C-t")
        person.sees("MEMBERS")
        wanted.write_bytes(b"{")
        person.press("i", "y")
        person.sees(lambda rows: "wanted.json is corrupt" in rows[-1])
        wanted.write_bytes(before)
        person.sees(lambda rows: "corrupt" not in "".join(rows))
        person.press("i", "y")
        person.sees("w1 is interrupted")
        person.press("Escape")
        person.sees("stopped")


@pytest.mark.parametrize("to", ["@w1", "w1", "@@w1"])
def test_a_message_in_one_line_may_begin_with_the_sign_again(to: str, alpha: Crew) -> None:
    """The field for `@` already holds one."""
    alpha.spawn(SeatDraft(name="w1"))
    context: Context = alpha.context
    assert acts.message(context, "", f"{to} go on") == "sent to w1"
    assert acts.create(context, "", "write it") == "task-1 is made"
    assert alpha.task("1").status is Status.PENDING


@pytest.mark.parametrize(("act", "text", "choice"), [("allow", "y", "allow"), ("deny", "not now", "deny")])
def test_a_permission_is_answered_on_the_board(
    act: str, text: str, choice: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board says that the agent has its answer once it has, and a "no" to the question answers nothing."""
    monkeypatch.setattr(acts, "ensure_lead", lambda _team: "")
    team = make_team(home, "w1")
    permissions.ask(member(team, "w1"), ASKED)
    if act == "allow":
        assert acts.ACTS[act](human(team), REQUEST, "n") == "the request still waits"
        assert permissions.list_requests(human(team))

    def take() -> None:
        wait_until(lambda: permissions.show(human(team), REQUEST).answer, 10, "it is answered")
        permissions.settle(member(team, "w1"), {REQUEST: "taken"})

    agent = threading.Thread(target=take)
    agent.start()
    assert acts.ACTS[act](human(team), REQUEST, text) == f"w1 has your answer: {choice}"
    agent.join()
    answer = permissions.show(human(team), REQUEST).answer
    assert answer
    assert (answer.choice, answer.text) == (choice, "" if act == "allow" else text)
