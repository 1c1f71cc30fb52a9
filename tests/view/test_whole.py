"""A person's whole work with a team of five and its lead agent, in one terminal (issue 5, must show 2)."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.view.person import Person

PRO0 = Path(sys.executable).with_name("pro0")
ECHO = r"""
import os, signal, sys
def tell(*words): os.write(1, f"{' '.join(map(str, words))}\n".encode())
signal.signal(signal.SIGWINCH, lambda *_: tell("size", *os.get_terminal_size()))
tell("here is", os.environ["PRO0_AGENT_ID"])
for line in sys.stdin: tell("got", line.strip())
"""
BOX = r"""
import os, signal, sys
def draw(*_):
    columns, lines = os.get_terminal_size()
    rows = ["┌" + "─" * (columns - 2) + "┐"]
    rows += ["│" + f"{columns}x{lines}".center(columns - 2) + "│"] * (lines - 2) + ["└" + "─" * (columns - 2) + "┘"]
    drawn = "".join(f"\x1b[{n};1H\x1b[{31 + n % 7}m{row}" for n, row in enumerate(rows, 1))
    os.write(1, f"\x1b[?1049h\x1b[2J{drawn}".encode())
signal.signal(signal.SIGWINCH, draw)
draw()
sys.stdin.read()
"""
ASKS = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, "\x1b[2J\x1b[HDo you want to proceed?\r\n❯ 1. Yes\r\n  2. No\r\n".encode())
key = os.read(0, 1).decode()
os.write(1, f"\x1b[2J\x1b[Hyou said {key}\r\n> ".encode())
while os.read(0, 100): pass
"""
SIGNS = {"prompt": "> ", "waiting": ["Do you want to proceed?"]}
NAMES = ("lead", "w1", "w2", "w3", " w4 running", "w5", "Ctrl+T")
TEAM = ("lead=echo", "w1=echo", "w2=echo", "w3=echo", "w4=box", "w5=asks")
START = " ".join([f"{PRO0} team start alpha --lead echo", *(f"-m {member}" for member in TEAM[1:])])


def first(text: str) -> Callable[[list[str]], bool]:
    return lambda rows: rows[0] == text


def boxed(columns: int, lines: int) -> Callable[[list[str]], bool]:
    """The box fills all but the last line, which has every member and the keys."""
    inner = columns - 2
    middle = f"│{f'{columns}x{lines - 1}'.center(inner)}│"
    box = [f"┌{'─' * inner}┐", *[middle] * (lines - 3), f"└{'─' * inner}┘"]
    return lambda rows: rows[:-1] == box and all(name in rows[-1] for name in NAMES)


@pytest.fixture
def pro0(
    home: Path, tmp_path: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., str]]:
    """The program in this project, where three scripted agents are known."""
    agents: dict[str, dict[str, object]] = {}
    for name, code in (("echo", ECHO), ("box", BOX), ("asks", ASKS)):
        (tmp_path / name).write_text(code)
        agents[name] = {"argv": [sys.executable, str(tmp_path / name), "{prompt}"]}
    agents["asks"]["screens"] = SIGNS
    monkeypatch.setenv("PRO0_AGENTS", json.dumps(agents))
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    def call(*words: str, code: int = 0) -> str:
        done = cli(*words, cwd=tmp_path)
        assert done.code == code, done
        return done.out

    yield call
    cli("team", "cleanup", "alpha", "--force", cwd=tmp_path)


@pytest.fixture
def person(pro0: Callable[..., str], tmp_path: Path) -> Iterator[Person]:
    """Somebody who has started the team in a large terminal without tmux."""
    with Person(tmp_path, f"env -u TMUX {START}", 200, 50) as person:
        person.sees(lambda rows: rows[0] == "here is lead" and "w5 waiting" in rows[-1])
        yield person


def test_a_person_works_with_a_team(person: Person, pro0: Callable[..., str], home: Path, tmp_path: Path) -> None:
    """AC-79, S004-056: every screen is as it should be, at each size."""
    goes_round(person)
    answers_a_prompt(person)
    types_into_the_third(person, pro0)
    writes_to_the_second(person, home)
    approves(person, pro0)
    resizes(person)
    person.press("C-t", "q")
    person.is_back()
    person.sees("the team alpha goes on")
    assert "mode in-process: this is a terminal outside tmux" in "\n".join(person.rows())
    assert {one["state"] for one in json.loads(pro0("team", "status", "--json"))["members"]} <= {"running", "idle"}
    comes_back(tmp_path)


def goes_round(person: Person) -> None:
    """Shift+Down six times: the five teammates, and the lead agent again."""
    shown = [first("here is w1"), first("here is w2"), first("here is w3"), boxed(200, 50)]
    for condition in (*shown, first("Do you want to proceed?"), first("here is lead")):
        person.press("S-Down")
        person.sees(condition)


def answers_a_prompt(person: Person) -> None:
    person.press("S-Up")
    person.sees("  2. No")
    person.type("1")
    person.sees(first("you said 1"))
    person.sees(lambda rows: "w5 waiting" not in rows[-1] and " w5 " in rows[-1])


def types_into_the_third(person: Person, pro0: Callable[..., str]) -> None:
    person.press("S-Left", "S-Left")
    person.sees(first("here is w3"))
    person.type("only for you")
    person.press("Enter")
    person.sees("got only for you")
    for name in ("lead", "w1", "w2", "w4", "w5"):
        assert "only for you" not in pro0("member", "peek", name)


def writes_to_the_second(person: Person, home: Path) -> None:
    person.press("C-t")
    person.sees("MEMBERS")
    choose(person, "w2")
    person.press("m")
    person.type("well done; $(x)")
    person.sees(lambda rows: rows[-1] == "to w2: well done; $(x)")
    person.press("Enter")
    person.sees("sent to w2")
    letters = json.loads((home / "mailboxes" / "alpha" / "w2" / "messages.json").read_bytes())["messages"]
    assert [letter["content"] for letter in letters if letter["from"] == "human"] == ["well done; $(x)"]
    person.press("Escape")
    person.sees(lambda rows: rows[0] == "here is w3" and "w2 running ✉1" in rows[-1])


def approves(person: Person, pro0: Callable[..., str]) -> None:
    pro0("task", "create", "look at it", "--requires", "approval")
    pro0("task", "claim", "1")
    pro0("task", "complete", "1", code=4)
    person.sees(lambda rows: "1 wait" in rows[-1])  # the board opens on it, and holds the line it opened on
    person.press("C-t")
    person.sees("WAITS FOR YOU")
    person.press("Tab", "a")
    person.sees("choose a task that waits for you")
    person.press("n")
    person.sees(lambda rows: chosen(rows) == "task-1")
    person.press("Space")
    person.sees("in progress, human, awaiting approval")
    person.press("Escape")
    person.sees("WAITS FOR YOU")
    person.press("a", "Enter")
    person.sees("task-1 approved")
    assert json.loads(pro0("task", "show", "1", "--json"))["status"] == "completed"
    person.press("Escape")
    person.sees(first("here is w3"))


def resizes(person: Person) -> None:
    """From 200x50 to 80x24 and back: who draws itself anew fills the new size, and text stays."""
    person.press("S-Down")
    person.sees(boxed(200, 50))
    for columns, lines in ((80, 24), (200, 50)):
        person.resize(columns, lines)
        person.sees(boxed(columns, lines))
        person.press("S-Up")
        size = f"size {columns} {lines - 1}"
        person.sees(lambda rows, size=size: "got only for you" in rows and size in rows)  # type: ignore[misc]
        person.press("C-t")
        person.sees(lambda rows, lines=lines: "MEMBERS" in rows and len(rows) == lines)  # type: ignore[misc]
        person.press("Escape", "S-Down")
        person.sees(boxed(columns, lines))


def comes_back(folder: Path) -> None:
    """In a terminal of another size."""
    with Person(folder, f"{PRO0} team attach alpha", 120, 30) as person:
        person.sees(first("here is lead"))
        person.press("S-Down", "S-Down", "S-Down")
        person.sees(lambda rows: rows[0] == "here is w3" and "got only for you" in rows)
        person.press("S-Down")
        person.sees(boxed(120, 30))
        person.press("S-Down")
        person.sees(first("you said 1"))
        person.press("C-t", "q")
        person.is_back()


def choose(person: Person, what: str) -> None:
    """Go down the board until this is chosen; each step is seen before the next."""
    for _ in range(12):
        now = chosen(person.rows())
        if now == what:
            return
        person.press("Down")
        person.sees(lambda rows, now=now: chosen(rows) not in ("", now))  # type: ignore[misc]
    raise AssertionError(f"{what} cannot be chosen: {person.rows()}")


def chosen(rows: list[str]) -> str:
    """Return the first word of the line that is chosen, "" while there is none."""
    return next((row.split()[1] for row in rows if row.startswith("› ")), "")
