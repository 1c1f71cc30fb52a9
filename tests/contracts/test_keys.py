"""Shift and the arrows in a team's windows, borders, focus: typed into a terminal that shows the team."""

import shlex
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.model.runtime import Handle
from pro0.sessions import backend_named
from pro0.sessions.backend import Opening, Place
from pro0.sessions.tmux.backend import Tmux
from tests.waiting import STUCK, wait_until


class WatchedSession:
    """A team of four in two windows, and an outer terminal that shows it."""

    def __init__(self, folder: Path) -> None:
        self.place = Place("keys", "0" + uuid.uuid4().hex[1:], folder)  # a 0 in front is no "no" to tmux's conditions
        self.tmux = backend_named("tmux")
        openings = [
            Opening(f"inc-{n}", f"w{n}", ("/bin/sh", "-c", "cat -v"), folder / f"{n}.log", window)
            for n, window in ((1, "front"), (2, "front"), (3, "front"), (4, "back"))
        ]
        self.handles = self.tmux.open(self.place, openings)
        self.inner = ("tmux", "-S", self.handles[0].socket)
        self.outer = ("tmux", "-L", f"outer-{uuid.uuid4().hex[:8]}", "-f", "/dev/null")
        attach = f"env -u TMUX {shlex.join(self.tmux.attach_command(self.place, self.handles))}"
        subprocess.run([*self.outer, "new-session", "-d", "-x", "120", "-y", "40", attach], check=True)
        wait_until(lambda: "w1" in self.drawn(), 20, "the team is shown")  # a client that begins may lose a key

    def ask(self, *words: str) -> str:
        return subprocess.run([*self.inner, *words], check=True, capture_output=True, text=True).stdout.strip()

    def drawn(self) -> str:
        """What the outer terminal shows."""
        return subprocess.run([*self.outer, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout

    def press(self, *keys: str) -> None:
        subprocess.run([*self.outer, "send-keys", *keys], check=True)

    def shown(self) -> str:
        """The member whose pane has the keyboard."""
        return self.ask("display-message", "-p", "-t", "keys", "#{@pro0_title}")

    def close(self) -> None:
        subprocess.run([*self.outer, "kill-server"], check=False)
        self.tmux.dismantle(self.place)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WatchedSession]:
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    team = WatchedSession(tmp_path)
    yield team
    team.close()


def test_shift_and_an_arrow_go_where_they_point(watched: WatchedSession) -> None:
    """Three panes, tiled: w1 and w2 side by side, w3 below both."""
    watched.tmux.focus(watched.handles[0])
    steps = (("S-Right", "w2"), ("S-Left", "w1"), ("S-Down", "w3"), ("S-Up", "w1"), ("S-Right", "w2"), ("S-Down", "w3"))
    for key, member in steps:
        watched.press(key)
        wait_until(lambda member=member: watched.shown() == member, 10, f"{key} leads to {member}")  # type: ignore[misc]


def test_from_a_window_with_one_member_they_go_on_to_the_next_window(watched: WatchedSession) -> None:
    watched.tmux.focus(watched.handles[3])
    assert watched.shown() == "w4"
    watched.press("S-Down")
    wait_until(lambda: watched.shown() in ("w1", "w2", "w3"), 10, "the other window is shown")


def test_in_any_other_window_the_keys_reach_the_program(watched: WatchedSession) -> None:
    watched.ask("new-window", "-t", "keys:", "cat -v")
    watched.press("S-Down", "Enter")
    wait_until(lambda: "^[[1;2B" in watched.ask("capture-pane", "-p", "-t", "keys"), 10, "the key arrives")
    watched.ask("kill-window", "-t", "keys:{end}")  # the person's, so nothing of ours ends it


def test_borders_say_what_each_member_does(watched: WatchedSession) -> None:
    watched.tmux.label({watched.handles[0]: "waiting #(touch renamed)", watched.handles[1]: "idle"})

    def line(handle: Handle) -> str:
        return watched.ask("display-message", "-p", "-t", handle.pane, "#{E:pane-border-format}")

    assert "w1" in line(watched.handles[0])
    assert "touch renamed" in line(watched.handles[0])
    assert "idle" in line(watched.handles[1])
    assert not Path("renamed").exists()


class PersonsTmux:
    """A tmux server of a person's, with a team of one member in a window of its own."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ("tmux", "-L", "mine", "-f", "/dev/null")
        self.ask("new-session", "-d", "-s", "work", "cat")
        self.ask("bind-key", "-n", "S-Up", "display-message", "mine")
        server = self.ask("display-message", "-p", "-t", "work", "#{socket_path},#{pid},#{session_id}")
        self._place, self._backend = Place("keys", uuid.uuid4().hex, folder, server.replace(",$", ",")), Tmux()
        opening = Opening("inc-1", "w1", ("/bin/sh", "-c", "cat"), folder / "log")
        (self.handle,) = self._backend.open(self._place, [opening])

    def ask(self, *words: str) -> str:
        return subprocess.check_output([*self._tmux, *words], text=True, timeout=STUCK).strip()

    def bound_keys(self) -> str:
        return self.ask("list-keys", "-T", "root")

    def dismantle(self) -> None:
        self._backend.dismantle(self._place)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False)


@pytest.fixture
def persons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PersonsTmux]:
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    tmux = PersonsTmux(tmp_path)
    yield tmux
    tmux.close()


def test_keys_of_the_persons_own_stay_and_ours_are_given_back(persons: PersonsTmux) -> None:
    assert "@pro0_window" in next(line for line in persons.bound_keys().splitlines() if "S-Down" in line)
    assert "display-message mine" in next(line for line in persons.bound_keys().splitlines() if "S-Up" in line)
    persons.dismantle()
    assert "@pro0_window" not in persons.bound_keys()
    assert "display-message mine" in persons.bound_keys()


@pytest.mark.parametrize("name", ["", "logs"])
def test_a_window_in_which_a_person_has_a_pane_is_given_back(persons: PersonsTmux, name: str) -> None:
    """Its borders and its name are the person's again; a name that they gave it stays."""
    mine = persons.ask("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", persons.handle.pane, "cat")
    if name:
        persons.ask("rename-window", "-t", mine, name)
    persons.dismantle()
    options = persons.ask("show-options", "-w", "-t", mine)
    assert options == ("automatic-rename off" if name else "")
    assert persons.ask("show-hooks", "-w", "-t", mine) == ""
    wait_until(
        lambda: persons.ask("display-message", "-p", "-t", mine, "#{window_name}") == (name or "cat"), STUCK, "its name"
    )
