"""Starting sessions: all or none, undone and named when it fails, tried again when it is asked for again."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes, sessions
from pro0.config import Settings
from pro0.decoding import decode
from pro0.engine import outcomes
from pro0.engine.apply import Applier
from pro0.engine.background.services import services_of
from pro0.engine.log import Log
from pro0.engine.observe import Observer
from pro0.engine.record import Record
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.model.need import NeedKind
from pro0.model.runtime import Handle, Launch, SeatState, State
from pro0.model.team import Seat
from pro0.ops.context import clock, new_id
from pro0.ops.mail import messages
from pro0.ops.team import members, needs
from pro0.ops.team.members import SeatDraft
from pro0.ops.work import readying
from pro0.rules.lead.supervision import decide
from pro0.sessions.backend import Opening, Place
from pro0.sessions.headless import Headless
from pro0.sessions.memory import InMemory
from tests.agents import placed
from tests.engine.crew import Crew
from tests.faults import fail_about, fault_at
from tests.waiting import STUCK, wait_until


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> InMemory:
    """A backend that starts nothing."""
    backend = InMemory()
    monkeypatch.setattr(sessions, "backend_named", lambda name: backend)
    return backend


@pytest.fixture
def round_(alpha: Crew, memory: InMemory) -> Callable[[], bool]:
    """One round of a lead in this process."""
    return round_of(alpha)


def round_of(alpha: Crew) -> Callable[[], bool]:
    log = Log(alpha.team)
    settings = Settings(end_grace_seconds=1, revive_lead=False)
    services = services_of(alpha.team, settings, log, lambda: None)
    record = Record(alpha.team)
    observer = Observer(alpha.team, settings, services, record, alpha.team.documents.lease())
    applier = Applier(alpha.team, settings, services, record, log, lambda: None)

    def once() -> bool:
        snapshot = observer.snapshot()
        return applier.apply(snapshot, decide(snapshot, new_id))

    return once


def spawn(alpha: Crew, *names: str) -> list[Seat]:
    return members.spawn(alpha.context, [SeatDraft(name=name) for name in names], 10)


def test_sessions_are_opened_together(alpha: Crew, memory: InMemory, round_: Callable[[], bool]) -> None:
    spawn(alpha, "w1", "w2")
    round_()
    assert [opening.title for opening in memory.opened.values()] == ["w1", "w2"]
    assert all(state.handle for state in alpha.team.runtime.read().seats)
    listed = alpha.team.config.read().members
    assert [(m.agent_id, m.session_id == alpha.state(m.agent_id).incarnation) for m in listed] == [
        ("w1", True),
        ("w2", True),
    ]
    round_()
    assert len(memory.opened) == 2


def test_a_spawn_that_fails_is_undone_and_named(alpha: Crew, memory: InMemory, round_: Callable[[], bool]) -> None:
    """rulings 3.3, anchors 60"""
    memory.missing = "no place for a pane"
    seats = spawn(alpha, "w1", "w2")
    round_()
    with pytest.raises(EnvironmentMissing, match="cannot start w1: no place for a pane"):
        outcomes.started(alpha.team, seats, alpha.shown.append)
    assert not alpha.team.wanted.read().seats
    assert not alpha.team.runtime.read().seats
    assert not alpha.team.config.read().members
    assert not list(alpha.team.paths.sessions.iterdir())
    revision = alpha.team.runtime.read().revision
    round_()
    assert alpha.team.runtime.read().revision == revision, "it is not tried again by itself"


def test_a_start_that_nobody_waits_for_leaves_its_seat_to_be_started_again(
    alpha: Crew, memory: InMemory, round_: Callable[[], bool]
) -> None:
    memory.missing = "no place for a pane"
    members.spawn(alpha.context, [SeatDraft(name="w1", unattended=True), SeatDraft(name="w2")], 10)
    round_()
    assert [seat.agent_id for seat in alpha.team.wanted.read().seats] == ["w1"], "w2 is undone, since somebody waits"
    assert (alpha.state("w1").state, alpha.state("w1").note) == (State.CRASHED, "no place for a pane")
    [need] = needs.list_needs(alpha.context)
    assert (need.kind, need.command) == (NeedKind.NOT_STARTED, "pro0 member restart w1")
    round_()
    assert alpha.notices("w1") == ["w1 has crashed (no place for a pane)"]
    revision = alpha.team.runtime.read().revision
    round_()
    assert alpha.team.runtime.read().revision == revision, "it is not tried again by itself"
    members.restart(alpha.context, "w1")
    round_()
    assert alpha.state("w1").state is State.CRASHED, "who waits for the restart hears of it, and the seat is as it was"
    assert [need.kind for need in needs.list_needs(alpha.context)] == [NeedKind.NOT_STARTED]
    memory.missing = ""
    members.restart(alpha.context, "w1")
    round_()
    assert alpha.state("w1").state is State.STARTING
    assert needs.list_needs(alpha.context) == ()


class Late(Headless):
    """A backend that has started the sessions, and gives no answer."""

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        super().open(place, openings)
        launches = [Path(opening.argv[-1]) for opening in openings]
        wait_until(lambda: not any(launch.exists() for launch in launches), STUCK, "the guards have begun")
        raise EnvironmentMissing("tmux did not answer within 5 s", code=ErrorCode.TMUX_TIMEOUT)


def test_one_that_may_run_though_its_start_failed_is_ended(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """anchors 60: its seat stays for that, since a session without a record would run unseen."""
    backend = Late()
    monkeypatch.setattr(sessions, "backend_named", lambda name: backend)
    round_ = round_of(alpha)
    [seat] = spawn(alpha, "w1")
    round_()
    with pytest.raises(EnvironmentMissing, match="tmux did not answer"):
        outcomes.started(alpha.team, [seat], alpha.shown.append)
    state = alpha.state("w1")
    assert state.state is State.CRASHED

    def ended() -> bool:
        round_()
        return bool(alpha.report("w1").agent) and not alpha.left()

    wait_until(ended, STUCK, "nothing of it runs")


def test_a_spawn_that_failed_can_be_asked_for_again(alpha: Crew, memory: InMemory, round_: Callable[[], bool]) -> None:
    memory.missing = "no place for a pane"
    for _ in range(2):
        seats = spawn(alpha, "w1")
        round_()
        with pytest.raises(EnvironmentMissing):
            outcomes.started(alpha.team, seats, alpha.shown.append)
        assert not alpha.team.wanted.read().seats
    memory.missing = ""
    spawn(alpha, "w1")
    round_()
    assert alpha.state("w1").state is State.STARTING
    assert len(memory.opened) == 1


def test_a_restart_that_fails_leaves_the_seat_as_it_was(
    alpha: Crew, memory: InMemory, round_: Callable[[], bool]
) -> None:
    spawn(alpha, "w1")
    round_()
    with alpha.team.runtime.change("a test") as change:
        crashed = replace(change.value.seats[0], state=State.CRASHED, note="killed", told=("x",))
        change.value = replace(change.value, seats=(crashed,))
    round_()
    before = alpha.state("w1")
    memory.missing = "no place for a pane"
    for _ in range(2):
        seat = members.restart(alpha.context, "w1")
        round_()
        with pytest.raises(EnvironmentMissing, match="cannot start w1"):
            outcomes.started(alpha.team, [seat], alpha.shown.append)
        round_()
        assert alpha.state("w1") == before
    memory.missing = ""
    members.restart(alpha.context, "w1")
    round_()
    assert alpha.state("w1").state is State.STARTING
    assert len(memory.opened) == 2


def test_a_conversation_that_cannot_be_read_now_is_not_begun_anew(
    alpha: Crew, memory: InMemory, round_: Callable[[], bool], tmp_path: Path
) -> None:
    """The start is refused with the file's name; a restart once it can be read goes on."""
    home = tmp_path / "ann"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "claude").symlink_to("/bin/true")
    with alpha.team.environment.change("a test") as start:
        start.value = replace(start.value, variables={"HOME": str(home), "PATH": str(home / "bin")})
    members.spawn(alpha.context, [SeatDraft(name="ada", agent="claude")], 10)
    round_()
    session = alpha.state("ada").session
    said = placed.written(home / ".claude/projects/-of-it" / f"{session}.jsonl", placed.recording("claude.jsonl"))
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, seats=(replace(change.value.seats[0], state=State.CRASHED),))
    round_()
    before = alpha.state("ada")
    seat = members.restart(alpha.context, "ada")
    with fault_at(None, fail_about(str(said), errno.EIO), ("open",)):
        round_()
    with pytest.raises(EnvironmentMissing) as refused:
        outcomes.started(alpha.team, [seat], alpha.shown.append)
    assert str(refused.value) == f"cannot start ada: its conversation cannot be read: {said}: Input/output error"
    assert str(refused.value.hint).endswith("pro0 member restart ada --fresh")
    assert alpha.state("ada") == before
    members.restart(alpha.context, "ada")
    round_()
    [*_, launch] = [Path(opening.argv[-1]) for opening in memory.opened.values()]
    assert decode(launch.read_bytes(), Launch).argv[1:3] == ("--resume", session)


def test_a_launch_file_that_cannot_be_written_is_such_a_failure(
    alpha: Crew, memory: InMemory, round_: Callable[[], bool], tmp_path: Path
) -> None:
    folder = alpha.team.paths.sessions
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    seats = spawn(alpha, "w1")
    round_()
    with pytest.raises(EnvironmentMissing, match="cannot start w1"):
        outcomes.started(alpha.team, seats, alpha.shown.append)
    assert not alpha.team.wanted.read().seats


def test_a_project_that_is_gone_is_named(alpha: Crew, memory: InMemory, round_: Callable[[], bool]) -> None:
    alpha.project.rmdir()
    seats = spawn(alpha, "w1")
    round_()
    with pytest.raises(EnvironmentMissing, match=r"the project folder .* does not exist"):
        outcomes.started(alpha.team, seats, alpha.shown.append)


def test_one_that_is_slow_to_begin_is_no_failure(
    alpha: Crew, memory: InMemory, round_: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without an agent is: nothing says that it will ever begin."""
    monkeypatch.setattr(outcomes, "START_PATIENCE", 0.0)
    seats = spawn(alpha, "w1")
    round_()
    with pytest.raises(EnvironmentMissing, match="w1 did not come up in 0 s") as slow:
        outcomes.started(alpha.team, seats, alpha.shown.append)
    assert slow.value.hint == "look at it: pro0 member peek w1 -t alpha"
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(
            change.value, seats=(replace(change.value.seats[0], agent=processes.identify(os.getpid())),)
        )
    [state] = outcomes.started(alpha.team, seats, alpha.shown.append)
    assert (state.agent_id, state.state) == ("w1", State.STARTING)
    assert alpha.shown == ["w1 is starting: its program runs, its state is not known yet"]


def test_a_program_that_never_shows_a_state_keeps_nobody_waiting(
    alpha: Crew, memory: InMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program runs: that is said, with what is not known. One of the others is waited for as long as before."""
    monkeypatch.setattr(outcomes, "READY_PATIENCE", 0.0)
    program = tmp_path / "codex"
    program.symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    seats = members.spawn(alpha.context, [SeatDraft(name="w1"), SeatDraft(name="ada", agent="codex")], 10)
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, seats=tuple(begun(seat) for seat in seats))
    ready = replace(begun(seats[0]), state=State.IDLE)

    def show(line: str) -> None:
        alpha.shown.append(line)
        with alpha.team.runtime.change("a test") as change:
            change.value = replace(change.value, seats=(ready, *change.value.seats[1:]))

    states = outcomes.started(alpha.team, seats, show)
    assert [(state.agent_id, state.state) for state in states] == [("w1", State.IDLE), ("ada", State.STARTING)]
    assert alpha.shown == ["ada is starting: its program runs, its state is not known yet", "w1 is idle"]


@pytest.mark.parametrize("in_worktree", [False, True])
def test_only_who_has_a_worktree_is_looked_at_for_its_set_up(
    alpha: Crew, memory: InMemory, monkeypatch: pytest.MonkeyPatch, in_worktree: bool
) -> None:
    """Issue 15, build 6: a look into each one's log, thirty times a second, was a third of a start's own work."""
    monkeypatch.setattr(outcomes, "START_PATIENCE", 0.0)
    looked: list[str] = []

    def progress(_team: object, agent_id: str) -> str:
        looked.append(agent_id)
        return ""

    monkeypatch.setattr(readying, "progress", progress)
    seats = [replace(seat, worktree=in_worktree) for seat in spawn(alpha, "w1")]
    with pytest.raises(EnvironmentMissing, match="did not come up"):
        outcomes.started(alpha.team, seats, alpha.shown.append)
    assert looked == (["w1"] if in_worktree else [])


def begun(seat: Seat) -> SeatState:
    """What is recorded of a session whose program runs and has shown nothing."""
    me = processes.identify(os.getpid())
    return SeatState(
        agent_id=seat.agent_id,
        generation=seat.generation,
        incarnation=new_id(),
        state=State.STARTING,
        since=clock(),
        started_at=clock(),
        agent=me,
    )


PROGRAMS = {
    "no-such-program": "cannot start prog: there is no program 'no-such-program'",
    "./gone": "cannot start prog: there is no program './gone'",
    "/": "cannot start prog: there is no program '/'",
    "./text": "cannot start prog: './text' is not executable",
}


@pytest.mark.parametrize(("program", "said"), PROGRAMS.items(), ids=PROGRAMS.keys())
def test_a_program_that_cannot_be_started_is_named_and_undone(
    program: str, said: str, alpha: Crew, memory: InMemory, round_: Callable[[], bool]
) -> None:
    """rulings 3.3, anchors 60: exec missing; it is nobody else's failure"""
    (alpha.project / "text").touch()
    draft = SeatDraft(name="prog", agent="command", argv=(program,))
    seats = members.spawn(alpha.context, [draft, SeatDraft(name="w1")], 10)
    round_()
    with pytest.raises(EnvironmentMissing, match=said):
        outcomes.started(alpha.team, seats, alpha.shown.append)
    for listed in (alpha.team.wanted.read().seats, alpha.team.runtime.read().seats, alpha.team.config.read().members):
        assert [one.agent_id for one in listed] == ["w1"]
    assert len(memory.opened) == 1
    assert len(list(alpha.team.paths.sessions.iterdir())) == 1


def test_a_program_of_the_project_is_found(alpha: Crew, memory: InMemory, round_: Callable[[], bool]) -> None:
    (alpha.project / "bin").mkdir()
    (alpha.project / "bin" / "mine").touch(0o700)
    members.spawn(alpha.context, [SeatDraft(name="prog", agent="command", argv=("bin/mine",))], 10)
    round_()
    assert len(memory.opened) == 1


def test_a_folder_of_the_path_that_cannot_be_searched_hides_no_program(
    alpha: Crew, memory: InMemory, round_: Callable[[], bool]
) -> None:
    """A look into such a folder fails; a name that is too long fails like a folder of somebody else."""
    (alpha.project / "mine").touch(0o700)
    with alpha.team.environment.change("a test") as change:
        search = f"/{'x' * 300}:{alpha.project}"
        change.value = replace(change.value, variables={**change.value.variables, "PATH": search})
    members.spawn(alpha.context, [SeatDraft(name="prog", agent="command", argv=("mine",))], 10)
    round_()
    assert len(memory.opened) == 1


def test_a_program_that_the_system_cannot_run_is_named(alpha: Crew) -> None:
    """Only who tries can know."""
    alpha.lead()
    (alpha.project / "odd").touch(0o700)
    draft = SeatDraft(name="prog", agent="command", argv=("./odd",))
    with pytest.raises(EnvironmentMissing, match=r"prog did not come up: cannot start \./odd"):
        alpha.spawn(draft)
    assert alpha.state("prog").state is State.CRASHED
    wait_until(lambda: not alpha.left(), 20, "nothing is left")


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_that_ends_at_once_has_started(alpha: Crew, code: int) -> None:
    alpha.lead()
    alpha.spawn(SeatDraft(name="prog", agent="command", argv=("sh", "-c", f"exit {code}")))
    ended = alpha.reaches("prog", State.EXITED, State.CRASHED)
    assert ended.exit
    assert (ended.exit.code, ended.state) == (code, State.CRASHED if code else State.EXITED)


def test_a_line_that_waits_does_not_fill_the_log(alpha: Crew, memory: InMemory, round_: Callable[[], bool]) -> None:
    """It is decided about twice a second; the log tells of every try."""
    members.spawn(alpha.context, [SeatDraft(name="w1", agent="command", argv=("sleep", "9"), nudge=True)], 10)
    round_()
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, seats=(replace(change.value.seats[0], state=State.RUNNING),))
    messages.send(alpha.context, "w1", "hello")
    round_()
    wait_until(lambda: '"nudged"' in alpha.log(), 10, "the line was tried")
    round_()
    assert '"action":"nudge"' not in alpha.log()
