"""What the iTerm2 backend says to `it2`, and what it does when something is missing or another's.

The program is a stand-in that keeps real state; iTerm2 itself runs on macOS only.
"""

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.engine.places import choose_mode
from pro0.errors import BadInput, EnvironmentMissing, Refused
from pro0.model.runtime import Handle
from pro0.sessions.backend import Opening
from pro0.sessions.iterm2 import it2
from tests.contracts.stages import ITerm2Stage
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "You have 2 unread messages: run `pro0 inbox` -s $HOME #(id)"
HOSTILE = '-s it\'s "quoted" $(touch X) `touch X` \\ ; touch X # %s {x} é'
"""48: as a name, a folder and a word of a command."""


@pytest.fixture
def stage(home: Path, tmp_path: Path) -> Iterator[ITerm2Stage]:
    made = ITerm2Stage(tmp_path)
    yield made
    made.leave()


def test_a_nudge_is_typed_once_with_its_enter(stage: ITerm2Stage) -> None:
    handle, record = stage.recorder()
    other, others = stage.recorder()
    assert stage.backend.nudge(handle, LINE)
    wait_until(lambda: record().endswith(b"\r"), SECONDS, "the Enter arrives")
    assert (record(), others()) == (LINE.encode() + b"\r", b"")
    assert stage.backend.press(other, "Escape")
    wait_until(lambda: others() == b"\x1b", SECONDS, "the key arrives")


def test_a_pane_says_whose_it_is_though_its_maker_is_killed_meanwhile(stage: ITerm2Stage) -> None:
    """Else it would stay for ever: nobody closes a pane that is not known to be pro0's."""
    program = "import sys; from pro0.sessions.iterm2 import it2; it2.split(*sys.argv[1:], vertical=True)"
    for _ in range(3):
        before = stage.app.panes().keys()
        words = [sys.executable, "-c", program, stage.app.session, "pro0team", stage.place.uid]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as maker:
            [pane] = wait_until(lambda: stage.app.panes().keys() - before - {""}, SECONDS, "the pane is there")  # noqa: B023
            maker.kill()
        known = f"{stage.place.uid} "
        wait_until(lambda: it2.tagged(pane, "pro0team").startswith(known), SECONDS, "it is known whose it is")  # noqa: B023
    stage.backend.dismantle(stage.place)
    assert stage.app.panes().keys() == {stage.app.session, stage.app.stranger}


def test_a_line_stays_without_its_enter_when_something_speaks_against_it(stage: ITerm2Stage) -> None:
    handle, record = stage.recorder()
    assert not stage.backend.nudge(handle, LINE, lambda: False)
    wait_until(lambda: record() == LINE.encode(), SECONDS, "the line is there")


@pytest.mark.parametrize("line", ["", "  ", "two\nlines", "bell\a", "\x1b[201~"])
def test_a_nudge_is_one_printable_line(stage: ITerm2Stage, line: str) -> None:
    (handle,) = stage.open(1)
    with pytest.raises(BadInput):
        stage.backend.nudge(handle, line)


def test_a_pane_whose_guard_has_ended_gets_nothing(stage: ITerm2Stage) -> None:
    """39, 41: whatever runs there now is not ours."""
    (handle,) = stage.open(1)
    stage.die(handle)
    stage.only_alive((handle,), set())
    calls = len(stage.app.calls())
    acts = (
        lambda: stage.backend.nudge(handle, LINE),
        lambda: stage.backend.peek(handle, 3),
        lambda: stage.backend.focus(handle),
    )
    for act in acts:
        with pytest.raises(Refused) as refused:
            act()
        assert refused.value.code == "backend_stale"
    assert stage.backend.look([handle]) == {}
    assert len(stage.app.calls()) == calls


def test_a_strangers_pane_is_never_closed(stage: ITerm2Stage) -> None:
    """43: only what has our tag is closed, whatever a handle says."""
    (handle,) = stage.open(1)
    stage.backend.close(replace(handle, pane=stage.app.stranger))
    stage.backend.dismantle(stage.place)
    assert set(stage.app.panes()) == {stage.app.session, stage.app.stranger}


def ended_first(stage: ITerm2Stage, handle: Handle) -> None:
    """The person has their terminal keep a pane whose program has ended."""
    stage.app.tmux("set-option", "-g", "remain-on-exit", "on")
    stage.die(handle)
    ended = ("list-panes", "-a", "-f", "#{pane_dead}", "-F", "#{@it2}")
    wait_until(lambda: stage.app.tmux(*ended) == handle.pane, SECONDS, "the pane is a dead one")


@pytest.mark.parametrize("before", [lambda *_: None, ended_first], ids=["at work", "after its end"])
def test_a_pane_that_the_person_has_restarted_is_theirs(
    stage: ITerm2Stage, before: Callable[[ITerm2Stage, Handle], None]
) -> None:
    """It keeps its id and our variables, and its root is another process; the others are closed."""
    restarted, _ = stage.open(2)
    before(stage, restarted)
    stage.app.restart(restarted.pane, "cat", "-")
    stage.backend.close(restarted)
    stage.backend.dismantle(stage.place)
    assert set(stage.app.panes()) == {stage.app.session, stage.app.stranger, restarted.pane}


def test_a_pane_that_was_kept_after_its_end_is_closed(stage: ITerm2Stage) -> None:
    (handle,) = stage.open(1)
    ended_first(stage, handle)
    stage.backend.dismantle(stage.place)
    assert set(stage.app.panes()) == {stage.app.session, stage.app.stranger}


def test_hostile_values_are_arguments_and_never_run(stage: ITerm2Stage, tmp_path: Path) -> None:
    """48: names, folders and commands with quotes, dollars, backslashes: each arrives as it is."""
    project = tmp_path / HOSTILE.replace("/", "")
    project.mkdir()
    place = replace(stage.place, project=project)
    code = "import os, sys, time; print(os.getcwd() == sys.argv[1], sys.argv[2:] == [sys.argv[3]] * 2, flush=True)"
    argv = (sys.executable, "-c", f"{code}\ntime.sleep(600)", str(project), HOSTILE, HOSTILE)
    (handle,) = stage.backend.open(place, [Opening("inc-1", HOSTILE, argv, tmp_path / "log")])
    stage.shows(handle, "True True")
    assert stage.app.panes()[handle.pane] == HOSTILE
    stage.backend.label({handle: "waiting"})
    assert stage.app.panes()[handle.pane] == f"{HOSTILE} · waiting"
    typed = [call[-1] for call in stage.app.calls() if call[1] == "send"]
    assert all(set(line) <= set(" exec/bin/sh/tmp/pro0-inc-1_abcdefghijklmnopqrstuvwxyz0123456789\r") for line in typed)
    assert not list(tmp_path.rglob("X"))
    assert not Path("X").exists()


def test_panes_are_made_beside_the_person_and_then_by_halving_the_tallest(stage: ITerm2Stage) -> None:
    stage.open(4)
    split = [(call[-1], "-v" in call) for call in stage.app.calls() if call[1] == "split"]
    assert split[0] == (stage.app.session, True)
    assert not any(vertical or target in (stage.app.session, stage.app.stranger) for target, vertical in split[1:])
    stage.open(1)
    assert [call[-1] for call in stage.app.calls() if call[1] == "split"][-1] not in (stage.app.session, "")


def test_peek_reads_what_scrolled_away_when_the_screen_has_too_few_lines(stage: ITerm2Stage) -> None:
    """Build 7: the same as in a pane of tmux; an it2 that cannot tell it shows the screen."""
    script = "for i in range(900): print('line', i)\nimport time; time.sleep(600)"
    (handle,) = stage.start([stage.opening(sys.executable, "-c", script)])
    stage.shows(handle, "line 899")
    assert stage.backend.peek(handle, 850).split("\n") == [f"line {number}" for number in range(50, 900)]
    calls = len(stage.app.calls())
    assert stage.backend.peek(handle, 60).split("\n")[-1] == "line 899"
    assert len(stage.app.calls()) == calls + 1, "as a lead looks, again and again"
    stage.app.lacks("capture")
    assert stage.backend.peek(handle, 850).split("\n")[-1] == "line 899"


def test_what_a_pane_shows(stage: ITerm2Stage) -> None:
    first, second = stage.open(2)
    stage.shows(first, "here is 0")
    stage.shows(second, "here is 1")
    seen = stage.backend.look([first, second])
    assert [("here is 0" in seen[one.incarnation].rows, seen[one.incarnation].title) for one in (first, second)] == [
        (True, "w-0"),
        (False, "w-1"),
    ]


def test_an_api_that_is_turned_off_ends_nobody(stage: ITerm2Stage) -> None:
    handles = stage.open(2)
    stage.app.breaks("Failed to connect to iTerm2")
    assert len(stage.backend.alive(handles)) == 2
    with pytest.raises(EnvironmentMissing, match="it2 session read failed: Error: Failed to connect"):
        stage.backend.peek(handles[0], 3)
    stage.die(handles[0])
    stage.only_alive(handles, {handles[1].incarnation})
    (stage.app.folder / "broken").unlink()


def test_a_shell_that_never_comes_up_is_said_and_undone(stage: ITerm2Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.app.tmux("set-option", "-g", "default-command", "sleep 600")
    monkeypatch.setattr("pro0.sessions.iterm2.backend.STARTING", 0.5)
    with pytest.raises(EnvironmentMissing, match=r"made 2 of 2 panes .* did not start '[^']+' within") as error:
        stage.open(2)
    assert "open a new pane by hand" in str(error.value.hint)
    assert set(stage.app.panes()) == {stage.app.session, stage.app.stranger}


def full(**_options: str) -> str:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/pro0-x")


@pytest.mark.parametrize(("makes", "panes"), [(full, 0), (lambda **_: "/tmp/pro0-is-not-there", 2)], ids=["0", "2"])
def test_a_disk_that_takes_no_script_is_said_and_undone(
    stage: ITerm2Stage, monkeypatch: pytest.MonkeyPatch, makes: Callable[..., str], panes: int
) -> None:
    """Else one more pane would stay with each round of the lead."""
    monkeypatch.setattr(tempfile, "mkdtemp", makes)
    with pytest.raises(EnvironmentMissing, match=f"made {panes} of 2 panes .* cannot write /tmp/pro0-") as error:
        stage.open(2)
    assert error.value.hint == "free some space in /tmp"
    assert set(stage.app.panes()) == {stage.app.session, stage.app.stranger}


def test_a_shell_that_is_slow_to_come_up_is_waited_for(stage: ITerm2Stage) -> None:
    """41: what is typed meanwhile is read by the shell that comes, or by nobody: a start-up file reads nothing."""
    stage.app.tmux("set-option", "-g", "default-command", "sleep 1; PS1='$ ' exec /bin/sh")
    handles = stage.open(2)
    stage.only_alive(handles, {handle.incarnation for handle in handles})


def test_the_session_it_was_started_in_being_gone_is_said(stage: ITerm2Stage) -> None:
    """peers: a remembered session that was closed."""
    stage.place = replace(stage.place, iterm2_session="GONE")
    with pytest.raises(EnvironmentMissing, match="this team was started in is gone") as raised:
        stage.open(1)
    assert "pro0 team resume -t team" in (raised.value.hint or "")


def test_the_mode_says_exactly_what_is_missing(stage: ITerm2Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """R6.3: no silent fall-back; each cause has its mend."""
    assert choose_mode("iterm2", os.environ, terminal=True) == ("iterm2", "asked for")

    def refused() -> EnvironmentMissing:
        with pytest.raises(EnvironmentMissing) as error:
            choose_mode("iterm2", os.environ, terminal=True)
        assert error.value.exit_code == 6
        return error.value

    stage.app.breaks("Failed to connect to iTerm2")
    assert refused().hint == it2.ENABLE
    (stage.app.folder / "broken").unlink()
    with monkeypatch.context() as other:
        other.setenv("ITERM_SESSION_ID", "w0t0p0:GONE")
        assert "does not know the session of this terminal, GONE" in refused().message
        other.delenv("ITERM_SESSION_ID")
        assert "ITERM_SESSION_ID is not set" in refused().message
    (stage.app.folder / "it2").write_text("#!/bin/sh\necho usage: another program\n")
    assert "is not the it2 that pro0 knows" in refused().message
    (stage.app.folder / "it2").unlink()
    assert "it2 is not installed" in refused().message
