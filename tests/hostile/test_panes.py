"""The line about mail reaches its pane or none: what a person does with tmux meanwhile (checks 39, 40, 43)."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.runtime import Handle
from pro0.sessions.tmux import backend as tmux
from tests.contracts.stages import RECORDER, InsideStage
from tests.crash.lanes import LANES, SOAK, TEST, counted
from tests.hostile.names import NAMES
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "You have 2 unread messages: run `pro0 inbox`"
SESSIONS = ("tea", "team1", "team-", "teams", "pro0", "pro0-team-1", "1", "%1")
"""Names that begin like the team's, or that tmux might take for something else."""


class Street:
    """A person's tmux full of panes that write down every byte, and one pane of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stage = InsideStage(folder)
        self.records: list[Path] = []
        for number, name in enumerate(SESSIONS):
            self.bystander("new-session", "-d", "-s", name, "-n", f"pro0-{number}")
        for _ in range(2):
            self.bystander("split-window", "-d", "-t", "=team:")
        self.handle, self.record = self.stage.recorder()
        self.sent = 0
        self.stale = 0

    def bystander(self, *words: str) -> str:
        """Open a recording pane of the person; returns its id."""
        record = self.folder / f"bystander-{len(self.records)}"
        record.touch()
        self.records.append(record)
        command = (sys.executable, "-c", RECORDER, str(record))
        pane = self.stage.tmux(*words, "-P", "-F", "#{pane_id}", *command)
        wait_until(lambda: "ready" in self.stage.tmux("capture-pane", "-p", "-t", pane), SECONDS, "it records")
        return pane

    def nudge(self, times: int) -> None:
        """Nudge, and see that every byte came to our pane and none to another."""
        for _ in range(times):
            assert self.stage.backend.nudge(self.handle, LINE)
            self.sent += 1
        expected = (b"\x1b[200~" + LINE.encode() + b"\x1b[201~\r") * self.sent
        wait_until(lambda: len(self.record()) >= len(expected), SECONDS, "all arrives")
        assert self.record() == expected
        self.nothing_else()

    def refused(self, times: int) -> None:
        """Nudge a pane that is no longer ours."""
        for _ in range(times):
            with pytest.raises(Refused):
                self.stage.backend.nudge(self.handle, LINE)
        self.nothing_else()
        self.stale += times

    def nothing_else(self) -> None:
        assert {record.name: record.read_bytes() for record in self.records} == {r.name: b"" for r in self.records}


def as_it_is(street: Street) -> None:
    pass


def moved(street: Street) -> None:
    street.stage.tmux("join-pane", "-d", "-s", street.handle.pane, "-t", "=tea:")


def moved_among_synchronised(street: Street) -> None:
    moved(street)
    street.stage.tmux("set-option", "-w", "-t", "=tea:", "synchronize-panes", "on")
    street.bystander("split-window", "-d", "-t", "=tea:")


def broken_out(street: Street) -> None:
    street.stage.tmux("break-pane", "-d", "-s", street.handle.pane, "-t", "=tea:")


def swapped(street: Street) -> None:
    street.stage.tmux("swap-pane", "-d", "-s", street.handle.pane, "-t", "=tea:")


def zoomed(street: Street) -> None:
    moved(street)
    street.stage.tmux("resize-pane", "-Z", "-t", "=tea:")


def grouped(street: Street) -> None:
    street.stage.tmux("new-session", "-d", "-t", "=team", "-s", "grouped")
    street.stage.tmux("select-window", "-t", "=grouped:{start}")


def renamed(street: Street) -> None:
    street.stage.tmux("rename-session", "-t", "=team", "mine")
    street.stage.tmux("rename-session", "-t", "=tea", "team")
    street.stage.tmux("rename-window", "-t", street.handle.pane, "##(touch renamed)")


def renumbered(street: Street) -> None:
    street.stage.tmux("move-window", "-r", "-t", "=team:")
    street.stage.tmux("set-option", "-g", "base-index", "0")
    street.stage.tmux("set-option", "-wg", "pane-base-index", "0")


def in_copy_mode(street: Street) -> None:
    street.stage.tmux("copy-mode", "-t", street.handle.pane)


def same_tag_elsewhere(street: Street) -> None:
    other = street.stage.tmux("display-message", "-p", "-t", "=tea:", "#{pane_id}")
    street.stage.tmux("set-option", "-p", "-t", other, "@pro0", street.handle.incarnation)


STILL_OURS = [as_it_is, moved, moved_among_synchronised, broken_out, swapped, zoomed, grouped, renamed, renumbered]
STILL_OURS += [in_copy_mode, same_tag_elsewhere]


@pytest.fixture
def street(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Street]:
    monkeypatch.setattr(tmux, "PAUSE", 0.01)
    made = Street(tmp_path)
    try:
        yield made
    finally:
        made.stage.leave()


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("change", STILL_OURS, ids=lambda change: change.__name__)
def test_the_line_reaches_its_pane_alone(change: Callable[[Street], None], lane: str, street: Street) -> None:
    """39: nine a change; in the soak a hundred, a thousand over all changes."""
    change(street)
    street.nudge(100 if lane == SOAK else 9)
    counted(lane, "nudges", change.__name__, street.sent)


def test_a_pane_that_is_another_now_gets_nothing(street: Street) -> None:
    """39: respawned by the person as a recorder, and gone."""
    record = street.folder / "respawned"
    record.touch()
    street.records.append(record)
    pane = street.handle.pane
    street.stage.tmux("respawn-pane", "-k", "-t", pane, sys.executable, "-c", RECORDER, str(record))
    wait_until(lambda: "ready" in street.stage.tmux("capture-pane", "-p", "-t", pane), SECONDS, "it records")
    street.refused(6)
    street.stage.tmux("kill-pane", "-t", pane)
    street.refused(2)
    counted(TEST, "stale nudges", "another program", street.stale)


def test_a_server_with_the_same_ids_gets_nothing(street: Street) -> None:
    """39: killed and started again; %0, %1… are others now."""
    street.stage.kill_server(street.handle)
    street.stage.leave()
    street.stage.restart_server()
    while street.handle.pane not in street.stage.tmux("list-panes", "-a", "-F", "#{pane_id}").split():
        street.bystander("new-session", "-d")
    street.refused(6)
    counted(TEST, "stale nudges", "another server", street.stale)


@pytest.mark.parametrize("uid", ["-", "", "#{pid}"])
def test_a_team_without_a_uid_has_no_panes(uid: str, street: Street) -> None:
    """31: a uid of "-" is what panes without any look like."""
    before = street.stage.bystanders()
    street.stage.backend.dismantle(replace(street.stage.place, uid=uid))
    assert street.stage.bystanders() == before


@pytest.mark.parametrize(
    "kind", ["run by tmux", "format of tmux", "style of tmux", "escape", "clipboard", "substituted"]
)
def test_a_title_is_shown_and_never_run(kind: str, street: Street) -> None:
    """40"""
    text = NAMES[kind].replace("touch x", f"touch {street.folder}/run")
    stage = street.stage
    (handle,) = stage.start([stage.opening("sh", "-c", "exec sleep 600", title=text)])
    form = "#{E:pane-border-format}#{T:status-right}#{pane_title}#{window_name}"
    for _ in range(3):
        stage.tmux("display-message", "-p", "-t", handle.pane, form)
        stage.tmux("refresh-client", "-S") if stage.tmux("list-clients") else None
    assert not (street.folder / "run").exists()


def test_bystanders_outlive_a_dismantled_team(street: Street) -> None:
    """39, 43: panes, sessions and servers with names like ours."""
    look_alike = f"pro0-{street.stage.place.uid[:8]}x"
    subprocess.run(
        ["tmux", "-L", look_alike, "-f", "/dev/null", "new-session", "-d", "-s", "team", "cat -"], check=True
    )
    try:
        before = street.stage.bystanders()
        street.stage.backend.dismantle(street.stage.place)
        assert street.stage.bystanders() == before
        subprocess.run(["tmux", "-L", look_alike, "has-session", "-t", "=team"], check=True)
    finally:
        subprocess.run(["tmux", "-L", look_alike, "kill-server"], check=True)


def test_a_handle_from_a_file_aims_at_nobody(street: Street) -> None:
    """29: hand-edited panes, sockets and tags."""
    for field, value in (("pane", "=tea:"), ("pane", "%0"), ("incarnation", "-"), ("server_start", "x"), ("pid", 1)):
        fields = {name: getattr(street.handle, name) for name in Handle.__struct_fields__} | {field: value}
        with pytest.raises(Refused):
            street.stage.backend.nudge(Handle(**fields), LINE)
    street.nothing_else()
    assert os.path.exists(street.stage.socket)
