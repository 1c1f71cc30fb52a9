"""What a backend with terminals promises: nudges, titles, and never a stranger's pane."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pro0.errors import BadInput, EnvironmentMissing, Refused
from pro0.model.runtime import Handle
from pro0.sessions.backend import Place
from pro0.sessions.tmux import server as tmux_server
from pro0.sessions.tmux.script import Command, line
from pro0.sessions.tmux.windows import Group, bring_up
from tests.contracts.elsewhere import SCROLLS, left_on_a_screen
from tests.contracts.stages import STAGES, InsideStage, TmuxStage, incarnations
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "pro0: 2 unread messages; run `pro0 inbox` #(touch X) $HOME -R"

pytestmark = pytest.mark.usefixtures("home")


def test_a_nudge_arrives_once_and_exactly(terminal: TmuxStage) -> None:
    """35, 36: the program gets the fixed line and one Enter, and no other pane gets anything."""
    handle, record = terminal.recorder()
    _, other = terminal.recorder()
    assert terminal.backend.nudge(handle, LINE)
    wait_until(lambda: record().endswith(b"\r"), SECONDS, "the Enter arrives")
    assert record() == b"\x1b[200~" + LINE.encode() + b"\x1b[201~\r"
    assert other() == b""
    assert terminal.tmux("list-buffers") == ""


@pytest.mark.parametrize("line", ["", "  ", "two\nlines", "bell\a", "\x1b[201~", "tab\t"])
def test_a_nudge_is_one_printable_line(terminal: TmuxStage, line: str) -> None:
    """36: no sequence can end the paste early."""
    handle, record = terminal.recorder()
    with pytest.raises(BadInput):
        terminal.backend.nudge(handle, line)
    assert record() == b""


@pytest.mark.parametrize(("mode", "arrives"), [("copy-mode", True), ("clock-mode", False), ("choose-tree", False)])
def test_a_pane_in_a_mode(terminal: TmuxStage, mode: str, arrives: bool) -> None:
    """38: copy mode is left; while a person uses the pane for something else nothing is sent."""
    handle, record = terminal.recorder()
    terminal.tmux(mode, "-t", handle.pane)
    assert terminal.backend.nudge(handle, LINE) is arrives
    if arrives:
        wait_until(lambda: record().endswith(b"\r"), SECONDS, "the Enter arrives")
    assert record().count(LINE.encode()) == arrives


def test_peek_reads_what_scrolled_away_and_joins_long_lines(terminal: TmuxStage) -> None:
    (handle,) = terminal.start([terminal.opening(sys.executable, "-c", SCROLLS)])
    terminal.shows(handle, "x" * 500)
    if terminal.history:
        assert terminal.backend.peek(handle, 30).split("\n")[0] == "line 271"
        return
    size = terminal.tmux("display-message", "-p", "-t", handle.pane, "#{pane_width} #{pane_height}").split()
    assert terminal.backend.peek(handle, 300).split("\n") == left_on_a_screen(*map(int, size))


def test_bystanders_stay_as_they_are(home: Path, tmp_path: Path) -> None:
    """42, 43: 0 bytes, sizes, names or focus changed for what is not ours."""
    stage = InsideStage(tmp_path)
    try:
        before = stage.bystanders()
        handles = stage.open(8) + stage.open(5)
        assert stage.bystanders() == before
        stage.backend.close(handles[0])
        stage.backend.dismantle(stage.place)
        stage.only_alive(handles, set())
        assert stage.bystanders() == before
        assert stage.tmux("list-panes", "-a", "-F", "#{pane_id}").count("\n") + 1 == before.count("\n") + 1
    finally:
        stage.leave()


def test_a_pane_a_person_moved_stays_ours_and_their_window_is_never_filled(home: Path, tmp_path: Path) -> None:
    """39: moved, joined, zoomed: identity goes with the pane, and new panes never land beside a stranger's."""
    stage = InsideStage(tmp_path)
    try:
        first, second, third = handles = stage.open(3)
        stage.tmux("join-pane", "-d", "-s", first.pane, "-t", "=team-2:")
        stage.tmux("resize-pane", "-Z", "-t", second.pane)
        more = stage.open(2)
        assert stage.backend.alive(handles + more) == incarnations(handles + more)
        windows = dict(
            line.split() for line in stage.tmux("list-panes", "-a", "-F", "#{pane_id} #{window_id}").splitlines()
        )
        assert {windows[handle.pane] for handle in more} == {windows[third.pane]} != {windows[first.pane]}
        stage.backend.dismantle(stage.place)
        stage.only_alive(handles + more, set())
    finally:
        stage.leave()


def test_titles_are_never_run(terminal: TmuxStage) -> None:
    """40: `#(…)` and `#{…}` are shown as they are."""
    title = f"#(touch {terminal.folder}/X)#{{pid}}##;'\"\\$HOME%"
    (handle,) = terminal.start([terminal.opening("sh", "-c", "exec sleep 600", title=title)])
    show = ("display-message", "-p", "-t", handle.pane)
    assert terminal.backend.look([handle])[handle.incarnation].title == title
    # A client that ends takes its format programs with it, so this one stays until the last of them has run.
    wait = f"for i in $(seq 100); do test -e {terminal.folder}/Y && exit; sleep 0.05; done"
    border = (*show, "#{T:pane-border-format} #{E:pane-border-format}")
    terminal.tmux(*border, ";", *show, f"#(touch {terminal.folder}/Y)", ";", "run-shell", wait)
    assert (terminal.folder / "Y").exists(), "tmux would not have run it anyway"
    assert not (terminal.folder / "X").exists()


def test_argv_reaches_the_program_word_for_word(terminal: TmuxStage) -> None:
    """35: no shell and no tmux reads it."""
    argv = ["a b", ";", "x;", "\\;", "$HOME", "#{pid}", "#(id)", "'", '"', "{", "}", "é", "", "-x", "%1", "~", "a\nb"]
    code = "import sys, json, time; print(json.dumps(sys.argv[1:])); sys.stdout.flush(); time.sleep(600)"
    (handle,) = terminal.start([terminal.opening(sys.executable, "-c", code, *argv)])
    terminal.shows(handle, "]")
    assert json.loads(terminal.backend.peek(handle, 5)) == argv


def test_a_server_that_is_killed(terminal: TmuxStage) -> None:
    """45: none alive, nothing raised, and what is left behind goes."""
    handles = terminal.open(3)
    terminal.kill_server(handles[0])
    terminal.only_alive(handles, set())
    with pytest.raises(Refused, match="gone") as refused:
        terminal.backend.peek(handles[0], 3)
    assert refused.value.code == "backend_stale"
    terminal.backend.close(handles[0])
    terminal.backend.dismantle(terminal.place)
    if not terminal.place.inside_tmux:
        assert not Path(terminal.socket).exists()


def test_a_reused_pane_id_is_refused(terminal: TmuxStage) -> None:
    """39: after a restart of the server the ids begin anew; a handle of before never reaches the new pane."""
    old = terminal.open(2)
    terminal.kill_server(old[0])
    terminal.only_alive(old, set())
    terminal.restart_server()
    new = terminal.open(2)
    assert [handle.pane for handle in new] == [handle.pane for handle in old]
    assert terminal.backend.alive([*old, *new]) == incarnations(new)
    for act in (lambda: terminal.backend.peek(old[0], 3), lambda: terminal.backend.nudge(old[0], LINE)):
        with pytest.raises(Refused, match=f"pane {old[0].pane} now belongs to another process") as refused:
            act()
        assert refused.value.code == "backend_stale"
    terminal.backend.close(old[0])
    assert terminal.backend.alive(new) == incarnations(new)


def test_a_server_that_ends_with_its_last_pane_is_followed_by_another(home: Path, tmp_path: Path) -> None:
    """A member that is restarted may meet the server that its last pane takes with it."""
    stage = STAGES["tmux"](tmp_path)
    try:
        for _ in range(10):
            (handle,) = stage.open(1)
            assert stage.backend.alive([handle]) == {handle.incarnation}
            stage.backend.close(handle)
    finally:
        stage.leave()


def test_a_pane_with_another_program_is_refused(terminal: TmuxStage) -> None:
    """39: the agent replaced by a shell in the same pane."""
    (handle,) = terminal.open(1)
    terminal.tmux("respawn-pane", "-k", "-t", handle.pane, "cat", "-")
    assert terminal.backend.alive([handle]) == set()
    with pytest.raises(Refused):
        terminal.backend.nudge(handle, LINE)
    terminal.tmux("kill-pane", "-t", handle.pane)  # the person's now, so nothing of ours ends it


def test_a_stopped_server_stops_nobody(terminal: TmuxStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """46: every call has a limit, and says so."""
    (handle,) = terminal.open(1)
    with monkeypatch.context() as impatient:
        impatient.setattr(tmux_server, "LIMIT", 0.2)
        os.kill(handle.server_pid, signal.SIGSTOP)
        try:
            for act in (lambda: terminal.backend.alive([handle]), lambda: terminal.backend.dismantle(terminal.place)):
                with pytest.raises(EnvironmentMissing) as error:
                    act()
                assert error.value.code == "tmux_timeout"
        finally:
            os.kill(handle.server_pid, signal.SIGCONT)


def test_a_failure_half_way_removes_what_was_made(terminal: TmuxStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """60: the panes made before the failing step are gone, those of before and everybody else's are not."""

    def failing(place: Place, groups: Iterable[Group], *, start: bool, server: Iterable[Command]) -> str:
        script = bring_up(place, groups, start=start, server=server)
        return script.replace('"list-panes"', '"kill-pane" "-t" "%999" ; "list-panes"')

    monkeypatch.setattr("pro0.sessions.tmux.backend.bring_up", failing)
    world = terminal.world()
    with pytest.raises(EnvironmentMissing, match=r"made 8 of 8 panes .*%999"):
        terminal.open(8)
    wait_until(lambda: terminal.world() == world, SECONDS, "nothing is left")
    monkeypatch.setattr("pro0.sessions.tmux.backend.bring_up", bring_up)
    handles = terminal.open(2)
    monkeypatch.setattr("pro0.sessions.tmux.backend.bring_up", failing)
    with pytest.raises(EnvironmentMissing):
        terminal.open(6)
    assert terminal.backend.alive(handles) == incarnations(handles)
    assert len(terminal.tmux("list-panes", "-a", "-f", "#{@pro0}").splitlines()) == 2


def test_without_tmux_the_error_says_what_to_do(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = STAGES["tmux"](tmp_path)
    program = shutil.which("sleep")
    assert program
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match="tmux is not installed") as error:
        stage.start([stage.opening(program, "600")])
    assert error.value.hint == "install tmux, or use --mode headless"


def test_the_persons_tmux_being_gone_is_said(home: Path, tmp_path: Path) -> None:
    stage = InsideStage(tmp_path)
    stage.leave()
    with pytest.raises(EnvironmentMissing, match="is gone"):
        stage.open(1)
    assert stage.backend.alive([]) == set()


def test_a_team_comes_up_in_one_call_of_tmux(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure that bench/ publishes rests on this count."""
    calls = []
    start = subprocess.Popen.__init__

    def counting(self: subprocess.Popen[str], *arguments: Any, **named: Any) -> None:
        calls.append(arguments)
        start(self, *arguments, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", counting)
    stage = STAGES["tmux"](tmp_path)
    handles = stage.open(20)
    assert len(calls) == 1
    stage.backend.alive(handles)
    assert len(calls) == 2
    stage.leave()


ATTACH = ("attach-session", "-t", "=team")


def test_the_command_to_watch_fits_the_terminal(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs neither libtmux nor tmux, and works inside that tmux, inside another, and outside of any."""
    for name in ("COLORTERM", "TERM_PROGRAM", "LC_TERMINAL", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "linux")
    own = STAGES["tmux"](tmp_path)
    assert isinstance(own, TmuxStage)
    handle = Handle(backend="tmux", incarnation="i", socket=own.socket, pane="%3")
    theirs = Handle(backend="tmux", incarnation="i", socket="/s", pane="%3")
    renamed = "#{&&:#{!=:#{session_name},},#{!=:#{session_name},team}}"
    to_pane, to_team = line(("select-window", "-t", "%3"), ("attach-session", "-t", "%3")), line(ATTACH)
    attach = ("tmux", "-S", own.socket, "if-shell", "-F", "-t", "%3", renamed, to_pane, to_team)
    assert own.backend.attach_command(own.place, [handle]) == attach
    outside = ("tmux", "-S", "/s", "select-window", "-t", "%3", ";", "attach-session", "-t", "%3")
    assert own.backend.attach_command(own.place, [theirs]) == outside
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert own.backend.attach_command(own.place, [handle]) == ("tmux", "-T", "RGB,usstyle", *attach[1:])
    monkeypatch.setenv("TERM_PROGRAM", "Apple_Terminal")
    assert own.backend.attach_command(own.place, [handle]) == ("tmux", "-T", "RGB", *attach[1:])
    monkeypatch.delenv("COLORTERM")
    assert own.backend.attach_command(own.place, [handle]) == attach
    monkeypatch.delenv("TERM_PROGRAM")
    monkeypatch.setenv("TMUX", "/s,1,0")
    inside = ("env", "-u", "TMUX", "tmux", "-T", "RGB,usstyle", *attach[1:])
    assert own.backend.attach_command(own.place, [handle]) == inside
    assert own.backend.attach_command(own.place, [theirs]) == ("tmux", "-S", "/s", "switch-client", "-t", "%3")


def test_a_person_who_attaches_sees_the_team(terminal: TmuxStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command works on a terminal outside of any tmux."""
    handles = terminal.open(2)
    command = terminal.backend.attach_command(terminal.place, handles)
    clients = ("list-clients", "-F", "#{session_name} #{window_name}")
    with a_terminal_running(command):
        wait_until(lambda: terminal.tmux(*clients) == "team pro0-team", SECONDS, "somebody watches the team")
        assert terminal.tmux("display-message", "-p", "-t", "=team:", "#{@pro0_window}") == terminal.place.uid


@pytest.mark.parametrize("what", ["untouched", "renamed to mine", "renamed to 0", "its pane is gone"])
def test_a_person_attaches_to_the_teams_own_server_whatever_became_of_its_session(
    home: Path, tmp_path: Path, what: str
) -> None:
    """In the window that was shown there last, unless it was renamed."""
    stage = STAGES["tmux"](tmp_path)
    assert isinstance(stage, TmuxStage)
    try:
        handles = stage.open(2)
        stage.tmux("new-window", "-t", "=team:", "-n", "theirs", "sleep 600")
        session, window = "team", "theirs"
        if what.startswith("renamed"):
            session, window = what.rpartition(" ")[2], "pro0-team"
            stage.tmux("rename-session", "-t", "=team", session)
        elif what == "its pane is gone":
            stage.backend.close(handles[0])
        with a_terminal_running(stage.backend.attach_command(stage.place, handles)):
            clients = ("list-clients", "-F", "#{session_name} #{window_name}")
            wait_until(lambda: stage.tmux(*clients) == f"{session} {window}", SECONDS, f"{session} is watched")
    finally:
        stage.tmux("kill-server")


def test_a_person_inside_that_tmux_switches_to_the_team(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command works in a pane of the tmux that shows the team."""
    stage = InsideStage(tmp_path)
    try:
        handles = stage.open(2)
        with a_terminal_running(("tmux", "-S", stage.socket, "attach-session", "-t", "=team-2")):
            wait_until(lambda: stage.tmux("list-clients"), SECONDS, "somebody is there")
            monkeypatch.setenv("TMUX", stage.place.inside_tmux)
            subprocess.run(stage.backend.attach_command(stage.place, handles), check=True, timeout=STUCK)
            assert stage.tmux("list-clients", "-F", "#{session_name} #{@pro0_window}") == f"team {stage.place.uid}"
    finally:
        stage.leave()


@contextmanager
def a_terminal_running(command: Sequence[str]) -> Iterator[None]:
    master, slave = os.openpty()
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    ) as person:
        try:
            yield
        finally:
            person.terminate()
            os.close(slave)
            os.close(master)
