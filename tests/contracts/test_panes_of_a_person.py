"""What a person has made their own among a team's panes, and servers of theirs, outlives every end of the team."""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Handle
from pro0.sessions.backend import Place
from pro0.sessions.tmux import socket as tmux_socket
from pro0.sessions.tmux.script import Command, word
from pro0.sessions.tmux.windows import Group, bring_up
from tests.contracts.stages import InsideStage, TmuxStage
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.usefixtures("home")

MINE = ("-d", "-P", "-F", "#{pane_id}", "cat", "-")


def respawned(stage: TmuxStage, handle: Handle) -> str:
    stage.tmux("respawn-pane", "-k", "-t", handle.pane, "cat", "-")
    return handle.pane


def respawned_and_moved(stage: TmuxStage, handle: Handle) -> str:
    respawned(stage, handle)
    stage.tmux("break-pane", "-d", "-s", handle.pane)
    return handle.pane


def respawned_after_its_end(stage: TmuxStage, handle: Handle) -> str:
    stage.tmux("set-option", "-p", "-t", handle.pane, "remain-on-exit", "on")
    stage.die(handle)
    dead = ("display-message", "-p", "-t", handle.pane, "#{pane_dead}")
    wait_until(lambda: stage.tmux(*dead) == "1", STUCK, "the pane is dead")
    stage.tmux("respawn-pane", "-t", handle.pane, "cat", "-")
    return handle.pane


def swapped_in(stage: TmuxStage, handle: Handle) -> str:
    """A pane of the person's stands where the member's was."""
    pane = stage.tmux("new-window", *MINE)
    stage.tmux("swap-pane", "-d", "-s", pane, "-t", handle.pane)
    return pane


def split_off(stage: TmuxStage, handle: Handle) -> str:
    """A pane beside the member's in its window."""
    return stage.tmux("split-window", "-t", handle.pane, *MINE)


def joined(stage: TmuxStage, handle: Handle) -> str:
    pane = stage.tmux("new-window", *MINE)
    stage.tmux("join-pane", "-d", "-s", pane, "-t", handle.pane)
    return pane


def marked_as_ours(stage: TmuxStage, handle: Handle) -> str:
    """A pane of the person's with every option of the member's."""
    pane = stage.tmux("new-window", *MINE)
    for option in ("@pro0", "@pro0_team", "@pro0_guard"):
        said = stage.tmux("display-message", "-p", "-t", handle.pane, f"#{{{option}}}")
        stage.tmux("set-option", "-p", "-t", pane, option, said)
    return pane


TAKEN = (respawned, respawned_and_moved, respawned_after_its_end, swapped_in, split_off, joined, marked_as_ours)


def panes(stage: TmuxStage) -> set[str]:
    """Return who runs in which pane."""
    return set(stage.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid}").splitlines())


def of(stage: TmuxStage, pane: str) -> str:
    return stage.tmux("display-message", "-p", "-t", pane, "#{pane_id} #{pane_pid}")


@pytest.fixture
def beside(terminal: TmuxStage) -> Iterator[TmuxStage]:
    """A stage whose server is ended afterwards, for panes of the person's would keep it."""
    yield terminal
    subprocess.run(["tmux", "-S", terminal.socket, "kill-server"], capture_output=True, timeout=STUCK)


@pytest.mark.parametrize("take", TAKEN, ids=lambda take: take.__name__)
def test_a_pane_of_a_person_outlives_the_team(beside: TmuxStage, take: Callable[[TmuxStage, Handle], str]) -> None:
    """43: neither the end of its member nor of the team closes it; the team's own panes all go."""
    before = set() if not beside.place.inside_tmux else panes(beside)
    first, other = beside.open(2)
    mine = of(beside, take(beside, first))
    beside.backend.close(first)
    assert mine in panes(beside)
    beside.backend.dismantle(beside.place)
    wait_until(lambda: panes(beside) == before | {mine}, STUCK, "the rest of the team's is gone")
    assert beside.backend.alive([first, other]) == set()


def moved(stage: TmuxStage, handle: Handle) -> None:
    stage.tmux("break-pane", "-d", "-s", handle.pane)


def swapped(stage: TmuxStage, handle: Handle) -> None:
    stage.tmux("swap-pane", "-d", "-s", stage.tmux("new-window", *MINE), "-t", handle.pane)


def renamed(stage: TmuxStage, handle: Handle) -> None:
    stage.tmux("rename-window", "-t", handle.pane, "mine")


@pytest.mark.parametrize("change", [moved, swapped, renamed], ids=lambda change: change.__name__)
def test_a_pane_of_the_team_is_closed_wherever_it_is(
    beside: TmuxStage, change: Callable[[TmuxStage, Handle], None]
) -> None:
    """43: who put it elsewhere did not make its program theirs."""
    beside.tmux("set-option", "-g", "exit-empty", "off") if beside.place.inside_tmux else None
    first, second = beside.open(2)
    change(beside, first)
    left = panes(beside) - {of(beside, first.pane), of(beside, second.pane)}
    beside.backend.dismantle(beside.place)
    assert beside.backend.alive([first, second]) == set()
    if left:
        wait_until(lambda: panes(beside) == left, STUCK, "all others are there")


@pytest.fixture
def own(home: Path, tmp_path: Path) -> Iterator[TmuxStage]:
    stage = TmuxStage(tmp_path)
    yield stage
    subprocess.run(["tmux", "-S", stage.socket, "kill-server"], capture_output=True, timeout=STUCK)


def theirs(stage: TmuxStage, *words: str) -> None:
    """Start a server of the person's where the team's listens, or would."""
    folder = Path(stage.socket).parent
    folder.mkdir(mode=0o700, exist_ok=True)
    Path(stage.socket).unlink(missing_ok=True)
    strange = {name: value for name, value in os.environ.items() if not name.startswith("PRO0_")}
    argv = ["tmux", "-S", stage.socket, "-f", "/dev/null", *words]
    subprocess.run(argv, check=True, capture_output=True, timeout=STUCK, env=strange)


def test_a_server_that_took_the_place_of_ours_is_left(own: TmuxStage) -> None:
    """45: its socket was removed, and a person's server listens there now."""
    handles = own.open(2)
    server = handles[0].server_pid
    theirs(own, "new-session", "-d", "-s", own.place.team, "cat", "-")
    try:
        mine = panes(own)
        assert own.backend.alive(handles) == set()
        for handle in handles:
            own.backend.close(handle)
        own.backend.dismantle(own.place)
        own.backend.dismantle(own.place)
        assert panes(own) == mine
    finally:
        os.kill(server, 9)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_first_start_that_fails_ends_no_server_of_a_person(
    own: TmuxStage, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """60: one that listened there before, without a pane that could be seen, or has come in that moment."""

    def failing(place: Place, groups: Iterable[Group], *, start: bool, server: Iterable[Command]) -> str:
        assert start
        if when == "meanwhile":
            theirs(own, "new-session", "-d", "-s", "mine", "cat", "-")
        return bring_up(place, groups, start=start, server=server).replace(
            '"list-panes"', '"kill-pane" "-t" "%999" ; "list-panes"'
        )

    monkeypatch.setattr("pro0.sessions.tmux.backend.LEAVING", 0.1)
    monkeypatch.setattr("pro0.sessions.tmux.backend.bring_up", failing)
    if when == "before":
        theirs(own, "start-server", ";", "set-option", "-g", "exit-empty", "off")
    with pytest.raises(EnvironmentMissing, match=r"made 3 of 3 panes .*%999"):
        own.open(3)
    assert own.tmux("list-sessions", "-F", "#{session_name}") == ("mine" if when == "meanwhile" else "")


def test_a_window_of_a_person_keeps_its_name(own: TmuxStage) -> None:
    """A member's pane that stands there now counts in no name; in a window of the team it does."""
    moved, stays = own.open(2)
    own.tmux("join-pane", "-d", "-s", moved.pane, "-t", own.tmux("new-window", *MINE))

    def shown(handle: Handle, form: str) -> str:
        return own.tmux("display-message", "-p", "-t", handle.pane, form)

    for count in (1, 0):
        own.backend.mark({moved: bool(count), stays: False}, count)
        assert shown(moved, "#{@pro0_needed}") == "1" * count
        assert shown(stays, "#{window_name}").endswith(" ?1") == bool(count)
        assert "?" not in shown(moved, "#{window_name}")
        assert shown(moved, "#{automatic-rename}") == "1", "tmux goes on naming it by itself"


def test_a_name_that_a_person_gave_a_window_stays_as_it_is(own: TmuxStage) -> None:
    """tmux keeps a backslash of a name as two: without care each count would double them all."""
    (handle,) = own.open(1)
    own.tmux("rename-window", "-t", handle.pane, r"my\work")

    def name() -> str:
        return own.tmux("display-message", "-p", "-t", handle.pane, "#{window_name}")

    before = name()
    for count, end in ((1, " ?1"), (2, " ?2"), (0, ""), (3, " ?3"), (0, "")):
        own.backend.mark({handle: bool(count)}, count)
        assert name() == f"{before}{end}"


def test_new_members_take_nothing_from_a_pane_that_floats_above_them(own: TmuxStage) -> None:
    """From tmux 3.7 on a person can put a pane where a new one would be looked for; before, beside the others."""
    members = own.open(2)
    floats = "new-pane" in own.tmux("list-commands", "-F", "#{command_list_name}").split()
    theirs = own.tmux("new-pane" if floats else "split-window", "-t", members[1].pane, *MINE)
    if floats:
        own.tmux("resize-pane", "-t", theirs, "-x", "100%", "-y", "100%")
    before = panes(own)
    more = own.start(own.sleepers(2))
    assert own.backend.alive([*members, *more]) == {handle.incarnation for handle in (*members, *more)}
    assert before < panes(own)
    assert own.tmux("display-message", "-p", "-t", theirs, "#{@pro0}") == ""


def test_a_member_keeps_its_pane_when_a_new_one_is_not_where_it_is_looked_for(
    own: TmuxStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = own.open(2)
    before = panes(own)

    def elsewhere(*arguments: Any, **named: Any) -> str:
        return bring_up(*arguments, **named).replace(word("{bottom-right}")[1:-1], word("{top-left}")[1:-1])

    monkeypatch.setattr("pro0.sessions.tmux.backend.bring_up", elsewhere)
    with pytest.raises(EnvironmentMissing, match="already set"):
        own.open(1)
    assert panes(own) == before
    assert own.backend.alive(members) == {handle.incarnation for handle in members}


def test_another_team_in_the_same_tmux_keeps_its_panes(home: Path, tmp_path: Path) -> None:
    """43: two teams of one person, in windows side by side."""
    stage = InsideStage(tmp_path)
    try:
        handles = stage.open(2)
        first, stage.place = stage.place, Place("other", "f" * 32, tmp_path, stage.place.inside_tmux)
        others = stage.open(2)
        stage.backend.dismantle(first)
        assert stage.backend.alive([*handles, *others]) == {other.incarnation for other in others}
    finally:
        stage.leave()


@pytest.fixture
def inside(home: Path, tmp_path: Path) -> Iterator[InsideStage]:
    stage = InsideStage(tmp_path)
    yield stage
    stage.leave()


def test_a_person_who_closed_the_session_of_the_start_sees_new_panes_in_another(inside: InsideStage) -> None:
    """The one that has the team's panes already, else any."""
    session = tmux_socket.SurroundingTmux(inside.place.inside_tmux).session
    inside.tmux("new-session", "-d", "-s", "later", "cat", "-")
    inside.tmux("kill-session", "-t", session)
    first = inside.open(1)
    assert inside.backend.alive(first) == {handle.incarnation for handle in first}
    where = ("display-message", "-p", "-t", first[0].pane, "#{session_id}")
    second = inside.open(1)
    assert inside.tmux(*where) == inside.tmux(*where[:3], second[0].pane, where[-1]) != session


@pytest.mark.parametrize("another", [False, True], ids=["no server", "a later server"])
def test_a_server_that_is_gone_is_said_with_what_helps(inside: InsideStage, another: bool) -> None:
    place = inside.place
    inside.leave()
    wait_until(lambda: not tmux_socket.listening(inside.socket), STUCK, "the server is gone")
    if another:
        inside.restart_server()
    inside.place = place
    with pytest.raises(EnvironmentMissing, match="the tmux that this team was started in is gone") as raised:
        inside.open(1)
    assert raised.value.hint == (
        "pro0 team stop -t team, then in the terminal that is to show it: pro0 team resume -t team"
    )
