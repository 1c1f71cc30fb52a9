"""A guard's own judgement, in this process: what an end means, what its agent's terminal is, and what is said last."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from pro0.guard import agent, run, tree
from pro0.guard.run import ASKED, BY_ITSELF, FAILED, HANG_UP, TEAM_GONE, Guard
from pro0.processes import table
from tests.guard.sessions import Session
from tests.guard.test_last_words import launched
from tests.waiting import STUCK, wait_until

ENDS = {
    "well": (BY_ITSELF, 0, ("exited", 0, None, "", ""), 0),
    "with a code": (BY_ITSELF, 3 << 8, ("crashed", 3, None, "", "why"), 3),
    "by a signal of its own": (BY_ITSELF, signal.SIGABRT, ("crashed", None, 6, "", "why"), 134),
    **{
        f"by {number.name} from outside": (BY_ITSELF, number, ("crashed", None, int(number), "", "why"), 128 + number)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    },
    "asked to": (ASKED, 0, ("shutdown", 0, None, ASKED, ""), 0),
    "asked to, with a code": (ASKED, 3 << 8, ("shutdown", 3, None, ASKED, ""), 3),
    "asked to, by a signal": (ASKED, signal.SIGTERM, ("shutdown", None, 15, ASKED, ""), 143),
    "hung up": (HANG_UP, 0, ("crashed", 0, None, HANG_UP, ""), 0),
    "its team gone": (TEAM_GONE, 3 << 8, ("crashed", 3, None, TEAM_GONE, ""), 3),
    "its guard failed": (FAILED, signal.SIGABRT, ("crashed", None, 6, FAILED, ""), 134),
}


@pytest.mark.parametrize("how", ENDS)
def test_what_an_end_means(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody asked to end keeps what it printed last."""
    cause, status, told, code = ENDS[how]
    said: list[object] = []
    monkeypatch.setattr(Guard, "_last_output", lambda _: "why")
    guard = Guard.__new__(Guard)
    guard.cause, guard._pid = cause, 7
    guard._pipe = SimpleNamespace(open=False)  # type: ignore[assignment]
    guard._report = SimpleNamespace(ended=lambda *words: said.append(words))  # type: ignore[assignment]
    guard._agent_ended(status)
    assert (said, guard._code, guard._pid) == ([told], code, 0)


@pytest.mark.parametrize("survivors", [0, 2])
def test_the_end_is_on_disk_for_good(tmp_path: Path, survivors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be ended is said, and the terminal goes when nobody prints any more."""
    order: list[object] = []
    synced: list[int] = []

    def end(belonging: object, grace: float) -> list[None]:
        order.append(grace)
        return [None] * survivors

    monkeypatch.setattr(run, "end", end)
    guard = Guard.__new__(Guard)
    guard._launch = SimpleNamespace(grace=2.5)  # type: ignore[assignment]
    guard._terminal = SimpleNamespace(end=lambda: order.append("terminal"))  # type: ignore[assignment]
    guard._report = launched(tmp_path)
    guard._report.ended("shutdown", 0, None, "ended: asked to")
    monkeypatch.setattr(os, "fsync", synced.append)
    guard.finish()
    assert order == [2.5, "terminal"]
    assert synced
    text = (tmp_path / "inc-w1.json").read_text()
    assert ("2 processes cannot be ended" in text) is bool(survivors)
    assert '"state":"shutdown"' in text


@pytest.mark.parametrize(("pane", "term", "told"), [("%9", "tmux-256color", "tmux-256color"), ("", "xterm", "mine")])
def test_in_a_pane_its_terminal_is_tmuxs(
    session: Session, pane: str, term: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever terminal the team was started in; elsewhere what the launch says counts."""
    monkeypatch.setenv("TMUX_PANE", pane)
    monkeypatch.setenv("TERM", term)
    file = session.cwd / "term"
    session.start(["sh", "-c", f'echo "$TERM" > {file}'], env={"TERM": "mine", "PATH": os.environ["PATH"]})
    session.reported(lambda report: report.exit, "the end", STUCK)
    assert file.read_text() == f"{told}\n"


def test_a_pane_without_a_kind_leaves_what_the_launch_says(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX_PANE", "%9")
    monkeypatch.delenv("TERM", raising=False)
    file = session.cwd / "term"
    session.start(["sh", "-c", f'echo "$TERM" > {file}'], env={"TERM": "mine", "PATH": os.environ["PATH"]})
    session.reported(lambda report: report.exit, "the end", STUCK)
    assert file.read_text() == "mine\n"


class Desk:
    """A guard that waits, by a clock that the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: str = "/t") -> None:
        self.now, self.waits, self.done = 100.0, [], []  # type: float, list[object], list[str]
        self.ready: list[object] = []
        self.guard = Guard.__new__(Guard)
        self.guard._report = SimpleNamespace(write_owed=lambda: None)  # type: ignore[assignment] # nothing is owed
        self.guard.cause, self.guard._look_at = BY_ITSELF, 104.0
        self.guard._launch = SimpleNamespace(team_folder=folder, look=2.0, incarnation="inc")  # type: ignore[assignment]
        self.reading, self.guard._wake = os.pipe()
        self.guard._wake, self.reading = self.reading, self.guard._wake
        self.guard._pipe = SimpleNamespace(open=True, fileno=77)  # type: ignore[assignment]
        monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(run, "select", SimpleNamespace(select=self.select))
        for name in ("_listen", "_reap"):
            monkeypatch.setattr(Guard, name, lambda _, name=name: self.done.append(name))

    def select(self, sources: list[int], *rest: object) -> tuple[list[object], list[object], list[object]]:
        self.waits.append((sources, *rest))
        return self.ready, [], []

    def close(self) -> None:
        os.close(self.reading)
        os.close(self.guard._wake)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(monkeypatch)
    yield made
    made.close()


def test_it_waits_until_the_next_look(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = desk.guard
    monkeypatch.setattr(Guard, "_look", lambda _: desk.done.append("look"))
    guard._wait()
    assert (desk.waits, desk.done) == ([([guard._wake, 77], [], [], 4.0)], [])
    desk.now, desk.waits = 104.0, []
    guard._wait()
    assert (desk.waits, desk.done) == ([([guard._wake, 77], [], [], 0.0)], ["look"])
    desk.now, desk.waits, desk.done = 109.0, [], []
    guard._pipe.open = False
    guard._wait()
    assert (desk.waits, desk.done) == ([([guard._wake], [], [], 0.0)], ["look"])
    guard._launch.team_folder, desk.waits, desk.done = "", [], []
    guard._wait()
    assert (desk.waits, desk.done) == ([([guard._wake], [], [], None)], [])


@pytest.mark.parametrize(
    ("numbers", "cause"),
    [
        ([signal.SIGCHLD], BY_ITSELF),
        ([signal.SIGCHLD, signal.SIGTERM], ASKED),
        ([signal.SIGHUP, signal.SIGCHLD], HANG_UP),
        ([signal.SIGHUP, signal.SIGTERM], ASKED),
        ([signal.SIGINT], BY_ITSELF),
    ],
)
def test_a_request_comes_before_the_end_that_it_brings(desk: Desk, numbers: list[int], cause: str) -> None:
    os.write(desk.reading, bytes(numbers))
    desk.ready = [77, desk.guard._wake]
    desk.guard._wait()
    assert (desk.guard.cause, desk.done) == (cause, ["_listen", "_reap"])


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("cause", [BY_ITSELF, ASKED])
def test_a_look_ends_a_session_whose_team_is_gone(desk: Desk, there: bool, cause: str) -> None:
    guard = desk.guard
    guard._lookout = SimpleNamespace(look=lambda: there, pause=lambda usual: usual / 4)  # type: ignore[assignment]
    guard.cause = cause
    guard._look()
    assert guard.cause == (cause if there or cause else TEAM_GONE)
    assert guard._look_at == 100.5


def test_a_look_that_fails_is_said_and_comes_again_in_a_minute(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(run, "_complain", said.append)
    desk.guard._lookout = SimpleNamespace(look=lambda: [][0])  # type: ignore[assignment]
    desk.guard._look()
    assert said == ["cannot check on the team and its lead: list index out of range"]
    assert (desk.guard.cause, desk.guard._look_at) == (BY_ITSELF, 160.0)


@pytest.mark.parametrize(
    ("subreaper", "shown", "leaders"), [(True, True, ()), (False, False, (0,)), (False, True, (0, 7))]
)
def test_whose_processes_are_looked_for(
    desk: Desk, subreaper: bool, shown: bool, leaders: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where orphans do not come to it, those of its terminal sessions too; what has ended is reaped after the look."""
    asked: list[object] = []
    me = table.entry(os.getpid())
    assert me

    def belonging(*words: object) -> list[table.ProcessEntry]:
        asked.append((*words, list(desk.done)))
        return [me]

    monkeypatch.setattr(tree, "belonging", belonging)
    guard = desk.guard
    guard._subreaper, guard._pid, guard._terminal = subreaper, 7, object() if shown else None  # type: ignore[assignment]
    assert guard._belonging() == [me]
    expected = tuple(pid or me.pid for pid in leaders)
    assert (asked, desk.done) == ([("inc", expected, [])], ["_reap"])


def test_all_that_have_ended_are_reaped_and_the_agent_is_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[object] = []
    monkeypatch.setattr(Guard, "_agent_ended", lambda _, status: ends.append(status))
    guard = Guard.__new__(Guard)
    guard._pid = 7
    for last in ((0, 0), None):
        left = [(5, 1), (7, 256), (6, 0), *([last] if last else [])]

        def waitpid(pid: int, options: int, left: list[tuple[int, int]] = left) -> tuple[int, int]:
            assert (pid, options) == (-1, os.WNOHANG)
            if not left:
                raise ChildProcessError
            return left.pop(0)

        monkeypatch.setattr(run, "os", SimpleNamespace(waitpid=waitpid, WNOHANG=os.WNOHANG))
        guard._reap()
        assert left == []
    assert ends == [256, 256]


def test_what_cannot_be_told_of_the_output_keeps_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(run, "_complain", said.append)
    guard = Guard.__new__(Guard)
    guard._terminal = SimpleNamespace(last_output=lambda *_: [][0])  # type: ignore[assignment]
    assert guard._last_output() == ""
    assert said == ["cannot tell what the agent printed last: list index out of range"]
    guard._terminal = SimpleNamespace(last_output=lambda *_: "why")  # type: ignore[assignment]
    assert guard._last_output() == "why"


def test_a_complaint_is_one_line_and_fails_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    run._complain("it is late")
    assert said.getvalue() == "pro0 guard: it is late\n"
    for stderr in (None, SimpleNamespace(write=lambda _: os.close(-1))):
        monkeypatch.setattr(sys, "stderr", stderr)
        run._complain("nobody hears")


def test_a_program_without_a_terminal_keeps_the_guards_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open(os.devnull) as inherited:
        pid = agent.start(["/bin/sh", "-c", "echo here > file"], str(tmp_path), {}, inherited.fileno())
    assert os.waitpid(pid, 0)[1] == 0
    assert (tmp_path / "file").read_text() == "here\n"


def test_a_program_gets_its_bytes_and_holds_no_signal_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the guard does with signals; what is no UTF-8 reaches it as it was."""
    monkeypatch.chdir(tmp_path)
    told = tmp_path / "told"
    code = f"open({str(told)!r}, 'w').write(ascii((os.environb[b'X'], os.fsencode(sys.argv[1]), MASK, USR2)))"
    masks = "MASK = signal.pthread_sigmask(signal.SIG_BLOCK, ()); USR2 = signal.getsignal(signal.SIGUSR2).name"
    argv = [sys.executable, "-S", "-c", f"import os, signal, sys; {masks}; {code}", "\udcff"]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    handled = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        with open(os.devnull) as inherited:
            pid = agent.start(argv, str(tmp_path), {"X": "ü\udcfe"}, inherited.fileno())
        assert os.waitpid(pid, 0)[1] == 0
    finally:
        signal.signal(signal.SIGUSR2, handled)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert told.read_text() == ascii((b"\xc3\xbc\xfe", b"\xff", set(), "SIG_DFL"))


def test_a_system_that_refuses_subreapers_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> int:
        raise OSError

    monkeypatch.setattr(agent, "_prctl", refused)
    assert not agent.become_subreaper()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans go to the first process")
def test_what_becomes_an_orphan_comes_to_the_guard(session: Session) -> None:
    guard = session.start(["sh", "-c", "(setsid sleep 600 &) ; exec sleep 600"])
    agents = session.agent()
    children = Path(f"/proc/{guard.pid}/task/{guard.pid}/children")
    below = wait_until(lambda: [pid for pid in children.read_text().split() if int(pid) != agents.pid], STUCK, "it has")
    assert len(below) == 1
