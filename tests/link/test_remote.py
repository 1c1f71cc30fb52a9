"""A session on the machine that has its agent: begun once, ended for certain, whoever looks after it."""

import errno
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.agents import first_prompt
from pro0.engine import hosts
from pro0.engine.uninstall import traces, uninstall
from pro0.engine.uninstall.in_home import in_home
from pro0.engine.uninstall.removing import refuse_while_running
from pro0.errors import EnvironmentMissing, Refused
from pro0.link import remote
from pro0.link.remote import KILLED, LOST, NEVER, Order, Remote
from pro0.model.runtime import Report, State
from pro0.ops.identity import INCARNATION
from pro0.store import atomic, paths
from pro0.store.teams import Store
from tests.agents import placed
from tests.faults import fail_about, fault_at
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

THERE = f"there-{os.getpid()}"
"""Another worker's sessions of one name would be taken for leftovers of this one's, and ended."""


def order(*argv: str, again: bool = False) -> Order:
    return Order(
        earlier="",
        earlier_argv=(),
        passes=(),
        code="",
        agent="command",
        conversation="",
        prompt="",
        team="alpha",
        agent_id="bob",
        argv=argv,
        first_state=State.RUNNING,
        grace=1.0,
        again=again,
        columns=80,
        lines=24,
    )


LASTING = order("sh", "-c", "echo begun >> begun; while :; do sleep 0.1; done")
LASTING_ALONE = order("sh", "-c", "trap '' TERM HUP; echo begun >> begun; while :; do sleep 0.1; done")
"""One that goes on when its guard is killed, and its terminal with it."""


@pytest.fixture
def place(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of pro0 there; nothing runs below it at the end."""
    monkeypatch.chdir(os.environ["HOME"])
    yield home
    remote.end(home, THERE, STUCK)
    assert not processes.proven(INCARNATION, [THERE])[THERE]


def up(session: Remote) -> Report:
    """Wait until the agent runs."""
    wait_until(lambda: (report := session.report()) and report.agent, STUCK, "its agent runs")
    report = session.report()
    assert report
    return report


def kill_guard(report: Report) -> None:
    """Kill the guard of a lasting program that has begun."""
    wait_until(Path("begun").exists, STUCK, "it has begun")
    processes.signal_process(report.guard, signal.SIGKILL)
    wait_until(lambda: not processes.alive(report.guard), STUCK, "its guard is gone")


def over(session: Remote) -> dict[str, object]:
    wait_until(session.over, STUCK, "it is over")
    return session.over() or {}


def test_a_session_that_left_no_report_is_over_within_the_time_of_one_call(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only that machine's own word ends a session (behaviour 3.32), so it comes, though a power cut took the report."""
    beyond = hosts.SLACK - remote.COMING_UP
    paths.hosted(place, THERE).mkdir(parents=True)
    monkeypatch.setattr(remote, "COMING_UP", 0.1)
    ended = remote.end(place, THERE, 0.1 + beyond)
    assert ended
    assert ended["reason"] == NEVER


def test_it_begins_once_however_often_it_is_asked_to(place: Path) -> None:
    """Issue 19, must show 2."""
    first, second = Remote(place, THERE), Remote(place, THERE)
    for session in (first, second, first):
        session.begin(LASTING)
    agent = up(first).agent
    assert up(second).agent == agent
    wait_until(lambda: Path("begun").exists() and Path("begun").read_text(), STUCK, "it has begun")
    assert Path("begun").read_text() == "begun\n"
    assert first.over() is second.over() is None


@pytest.mark.parametrize("there", [True, False], ids=["there", "gone"])
def test_it_goes_on_with_the_conversation_that_is_there(place: Path, there: bool) -> None:
    """Issue 19, build 2: only this machine knows; where it has it no more, it begins with the prompt."""
    if there:
        placed.written(
            Path(os.environ["HOME"], ".claude/projects/-of-it", f"{placed.CLAUDE}.jsonl"),
            placed.recording("claude.jsonl"),
        )
    wait = "while :; do sleep 0.1; done"
    asked = replace(
        order("sh", "-c", f"touch anew; {wait}"),
        agent="claude",
        conversation="c-new",
        prompt="count the lines",
        earlier=placed.CLAUDE,
        earlier_argv=("sh", "-c", f"touch again; {wait}"),
    )
    session = Remote(place, THERE)
    session.begin(asked)
    up(session)
    wait_until(Path("again" if there else "anew").exists, STUCK, "it has begun")
    assert Path("again").exists() is not Path("anew").exists()
    assert Remote(place, THERE).conversation(asked) == (placed.CLAUDE if there else "c-new")
    assert first_prompt.was_given(str(session.folder)) is not there


def test_a_conversation_there_that_cannot_be_read_now_is_not_begun_anew(place: Path) -> None:
    """The next try may find it."""
    transcript = Path(os.environ["HOME"], ".claude/projects/-of-it", f"{placed.CLAUDE}.jsonl")
    placed.written(transcript, placed.recording("claude.jsonl"))
    anew = order("touch", "anew")
    asked = replace(anew, agent="claude", earlier=placed.CLAUDE, earlier_argv=("touch", "again"))
    with (
        fault_at(None, fail_about(str(transcript), errno.EIO), ("open",)),
        pytest.raises(EnvironmentMissing, match=r"its conversation cannot be read: .*\.jsonl: Input/output error"),
    ):
        Remote(place, THERE).begin(asked)
    session = Remote(place, THERE)
    assert not session.folder.exists()
    session.begin(asked)
    over(session)
    assert (Path("again").exists(), Path("anew").exists()) == (True, False)


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("exit 0", {"code": 0, "signal": None, "reason": ""}),
        ("exit 7", {"code": 7, "signal": None, "reason": ""}),
        ("kill -9 $$", {"code": None, "signal": 9, "reason": ""}),
    ],
)
def test_how_it_ended_is_told_as_often_as_somebody_asks(place: Path, script: str, how: dict[str, object]) -> None:
    """Issue 19, build 4: the telling may be cut off, too."""
    session = Remote(place, THERE)
    session.begin(order("sh", "-c", script))
    assert over(session) == how
    assert Remote(place, THERE).over() == how
    assert remote.end(place, THERE, STUCK) == how
    session.begin(LASTING)
    assert not Path("begun").exists()
    assert [path.name for path in session.folder.iterdir()] == [paths.HOSTED_OVER]


def test_what_was_ended_before_it_began_never_begins(place: Path) -> None:
    """Issue 19, must show 2: a word to begin may come late."""
    ended = remote.end(place, THERE, STUCK)
    assert ended
    assert ended["reason"] == NEVER
    session = Remote(place, THERE)
    session.begin(LASTING)
    assert session.over() == ended
    assert not Path("begun").exists()


def test_a_session_whose_files_are_gone_is_not_begun_again(place: Path) -> None:
    """Issue 19, must show 2."""
    session = Remote(place, THERE)
    session.begin(order("touch", "begun", again=True))
    assert over(session)["reason"] == LOST
    assert not Path("begun").exists()


BEFORE = pytest.mark.parametrize("again", [True, False], ids=["home knows", "home does not know"])
"""Whether home knows that it has begun: the word of it may be cut off."""


@BEFORE
@pytest.mark.parametrize("killed", [False, True], ids=["guarded", "left"])
def test_a_home_that_is_away_ends_nothing_that_runs(
    killed: bool, again: bool, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unmounted home is no word of an end (behaviour 3.32); what a killed guard left ends when it is back.

    And nothing begins a second time while it is away.
    """
    session = Remote(place, THERE)
    session.begin(LASTING_ALONE)
    report = up(session)
    assert report.agent
    if killed:
        kill_guard(report)
    away = place.rename(place.with_name("away"))
    monkeypatch.setattr(remote, "COMING_UP", 0.0)
    late = Remote(place, THERE)
    with pytest.raises(EnvironmentMissing, match="pro0 member shutdown bob"):
        late.begin(replace(LASTING_ALONE, again=again))
    assert late.over() is None
    assert not place.exists()
    assert processes.alive(report.agent)
    away.rename(place)
    back = Remote(place, THERE)
    back.begin(replace(LASTING_ALONE, again=again))
    if killed:
        assert over(back)["reason"] == KILLED
    else:
        assert back.over() is None
        assert up(back).agent == report.agent


@BEFORE
def test_what_a_killed_guard_left_ends_once_its_files_are_gone(again: bool, place: Path) -> None:
    """S004-063: no guard is there to end it."""
    session = Remote(place, THERE)
    session.begin(LASTING_ALONE)
    report = up(session)
    kill_guard(report)
    shutil.rmtree(session.folder)
    late = Remote(place, THERE)
    late.begin(replace(LASTING_ALONE, again=again))
    assert over(late)["reason"] == LOST
    assert report.agent
    assert not processes.alive(report.agent)
    assert Path("begun").read_text() == "begun\n"


def test_a_killed_guard_leaves_nothing(place: Path) -> None:
    """Issue 19, build 4."""
    session = Remote(place, THERE)
    session.begin(LASTING)
    report = up(session)
    processes.signal_process(report.guard, signal.SIGKILL)
    assert over(session)["reason"] == KILLED
    assert report.agent
    assert not processes.alive(report.agent)


def test_it_ends_with_all_that_it_has_started(place: Path) -> None:
    """Issue 19, build 1."""
    session = Remote(place, THERE)
    session.begin(order("sh", "-c", "trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & wait"))
    up(session)
    assert remote.end(place, THERE, STUCK)
    assert not processes.proven(INCARNATION, [THERE])[THERE]


@pytest.mark.parametrize("killed", [False, True], ids=["guarded", "left"])
def test_pro0_is_not_taken_away_below_it(killed: bool, place: Path) -> None:
    """Its guard does not end for a home that is gone, so only its end comes first (behaviour 3.29)."""
    session, store = Remote(place, THERE), Store(place)
    session.begin(LASTING_ALONE)
    report = up(session)
    if killed:
        kill_guard(report)
    with pytest.raises(Refused, match="bob runs here for another machine") as refused:
        uninstall(store, Path.cwd(), [], lambda _: None)
    assert refused.value.hint == (
        f"end it on its team's machine: pro0 member shutdown bob -t alpha; or here: pro0 hosted end {THERE}"
    )
    trace = next(trace for trace in in_home(store) if trace.kind == "session")
    assert (trace.name, trace.note) == ("bob", "it runs for another machine: end it first")
    assert session.folder.exists()
    assert remote.end(place, THERE, STUCK)
    refuse_while_running(store)
    assert [trace.kind for trace in in_home(store)] == ["home"]


def test_one_that_starts_while_teams_are_removed_keeps_the_home(place: Path) -> None:
    store, session = Store(place), Remote(place, THERE)
    make_team(place)

    def show(text: str) -> None:
        if text == "team alpha: removed":
            session.begin(LASTING)
            up(session)

    with pytest.raises(Refused, match="bob runs here for another machine"):
        uninstall(store, Path.cwd(), traces(store, Path.cwd()), show)
    assert session.report()
    assert remote.end(place, THERE, STUCK)


def test_a_folder_that_is_removed_takes_the_session_along(place: Path) -> None:
    """S004-063: whoever takes pro0 away leaves no agent behind."""
    session = Remote(place, THERE)
    session.begin(LASTING)
    agent = up(session).agent
    for path in session.folder.iterdir():
        path.unlink()
    session.folder.rmdir()
    assert agent
    wait_until(lambda: not processes.alive(agent), STUCK, "its guard has ended it")


def test_a_start_without_room_leaves_no_secret(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment holds keys of the person's (behaviour 3.32); what a kill leaves goes with a later start."""
    folder, replaced = paths.hosted(place, THERE).parent, atomic.replace

    def without_room(descriptor: int, name: str, data: bytes) -> None:
        if name == first_prompt.FILE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replaced(descriptor, name, data)

    with monkeypatch.context() as full:
        full.setattr(atomic, "replace", without_room)
        with pytest.raises(OSError, match="No space left"):
            Remote(place, THERE).begin(replace(LASTING, prompt="do it"))
    assert [*folder.iterdir()] == []
    old, young = (folder / f"{paths.NEW}{THERE}-{number}" for number in (1, 2))
    for half in (old, young):
        half.mkdir()
        (half / paths.HOSTED_LAUNCH).write_text("a secret")
    long_ago = old.stat().st_mtime - remote.HALF_MADE - 1
    os.utime(old, (long_ago, long_ago))
    Remote(place, THERE).begin(LASTING)
    assert (old.exists(), young.exists()) == (False, True)
