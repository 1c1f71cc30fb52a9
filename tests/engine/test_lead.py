"""The lead process: alone, hard to end, and replaceable at any time (rulings 3.3, 3.12)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pro0 import processes
from pro0.engine.opening import launch
from pro0.engine.opening.launch import ensure_lead, leads
from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Phase, State
from pro0.model.task import Draft, Status
from pro0.model.team import Display, Seat
from pro0.ops.team import members, teams
from pro0.ops.team.members import SeatDraft
from pro0.store.lease import Lease
from pro0.store.teams import TeamStore
from tests.engine.crew import PATIENCE, Crew, gone, kill, switches
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

ENSURE = """
import os, sys
from pathlib import Path
from pro0.engine.opening.launch import ensure_lead
from pro0.store.teams import Store
ensure_lead(Store(Path(os.environ["PRO0_HOME"])).team("alpha"))
"""


def test_beside_a_living_lead_no_other_can_start(alpha: Crew) -> None:
    """must show 4"""
    first = alpha.lead()
    second = subprocess.run(
        [sys.executable, "-I", "-m", "pro0", "lead", "alpha"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert second.returncode == 4
    assert second.stderr.startswith(f"pro0: alpha has a lead already: pid {first.pid} ")
    assert first.poll() is None


def test_a_lease_that_somebody_deletes_is_put_back(alpha: Crew) -> None:
    """must show 4, reliability 19"""
    first = alpha.lead()
    alpha.team.paths.lease.unlink()
    second = subprocess.run(
        [sys.executable, "-I", "-m", "pro0", "lead", "alpha"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert second.returncode == 4, second.stderr

    def named() -> bool:
        holder = Lease(alpha.team.paths.team).read()
        return holder is not None and holder.pid == first.pid

    wait_until(named, PATIENCE, "it is there again")
    assert leads(alpha.team)


def test_a_lead_that_the_system_does_not_start_is_told_in_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with pytest.raises(EnvironmentMissing, match="the lead of alpha cannot be started: No such file") as error:
        ensure_lead(make_team(home))
    assert error.value.hint == "try again: pro0 team resume -t alpha"


def test_of_many_who_make_sure_that_there_is_a_lead_one_starts_it(alpha: Crew) -> None:
    """anchors 56"""
    racers = [
        subprocess.Popen([sys.executable, "-c", ENSURE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [racer.communicate(timeout=PATIENCE) for racer in racers]
    lead = alpha.team.runtime.read().lead
    try:
        assert [racer.returncode for racer in racers] == [0] * 4, said
        assert lead
        assert processes.alive(lead)
        assert alpha.log().count('"lead starts"') == 1
    finally:
        processes.end(alpha.leads_of_others, 5)  # one that came too late would take over when the first ends


def test_a_lead_that_is_killed_while_it_comes_up_is_started_again(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    spawn = launch._spawn
    started: list[subprocess.Popen[bytes]] = []

    def kill_the_first(team: TeamStore) -> subprocess.Popen[bytes]:
        started.append(spawn(team))
        if len(started) == 1:
            started[0].kill()
        return started[-1]

    monkeypatch.setattr(launch, "_spawn", kill_the_first)
    try:
        assert ensure_lead(alpha.team) == ""
        assert len(started) == 2
        assert leads(alpha.team)
    finally:
        processes.end(alpha.leads_of_others, 5)
        for one in started:
            one.wait(PATIENCE)


def test_a_stopped_team_needs_no_lead(alpha: Crew) -> None:
    alpha.lead()
    alpha.stop()
    assert not ensure_lead(alpha.team)
    assert not leads(alpha.team)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_sessions_go_on_without_a_lead_and_the_next_one_adopts_them(alpha: Crew, number: int) -> None:
    """must show 4, anchors 56"""
    first = alpha.lead()
    alpha.spawn("w1", "w2", SeatDraft(name="prog", agent="command", argv=("sleep", "300")))
    before = alpha.pids()
    first.send_signal(number)
    first.wait(PATIENCE)
    assert Lease(alpha.team.paths.team).holder() is None
    done = alpha.settled(*alpha.give(Draft(title="t", run="echo without a lead")))
    assert done[0].result == "without a lead"
    alpha.lead()
    alpha.settled(*alpha.give(Draft(title="t", run="echo with one")))
    for name in ("w1", "w2"):
        alpha.reaches(name, State.IDLE)
    assert alpha.state("prog").state is State.RUNNING
    assert alpha.pids() == before
    assert alpha.log().count('"start"') == 3
    assert not alpha.notices("crashed")


def test_who_died_while_there_was_no_lead_is_found_dead(alpha: Crew) -> None:
    first = alpha.lead()
    alpha.spawn("w1", "w2")
    task = alpha.give(Draft(title="t", run="sleep 300", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    first.kill()
    first.wait()
    report = alpha.report("w1")
    kill(report.guard)
    wait_until(gone(report.guard), PATIENCE, "the guard is dead")
    alpha.lead()
    alpha.reaches("w1", State.CRASHED)
    wait_until(lambda: alpha.task(task).assignee != "w1", PATIENCE, "its task is free")
    assert len(alpha.notices("w1 has crashed")) == 1
    assert report.agent
    wait_until(gone(report.agent), PATIENCE, "what it left is ended")


def test_a_hang_up_is_none_of_a_leads_business(alpha: Crew) -> None:
    """must show 4: closing the terminal changes nothing"""
    lead = alpha.lead()
    lead.send_signal(signal.SIGHUP)
    alpha.spawn("w1")
    assert lead.poll() is None


def test_a_crash_of_a_library_is_written_down(alpha: Crew) -> None:
    lead = alpha.lead()
    lead.send_signal(signal.SIGSEGV)
    assert lead.wait() == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in alpha.team.paths.lead_errors.read_text()
    alpha.team.paths.lead_errors.write_text("")  # no test may leave that


def test_a_corrupt_file_is_said_once_and_work_goes_on_when_it_is_mended(alpha: Crew) -> None:
    """anchors F5"""
    lead = alpha.lead()
    alpha.spawn("w1")
    path = alpha.team.tasks.path
    good = path.read_bytes()
    path.write_bytes(b"{ broken")
    wait_until(lambda: '"event":"trouble"' in alpha.log(), PATIENCE, "the trouble is logged")
    kill(alpha.report("w1").guard)
    os.utime(path)
    before = switches(lead.pid)
    wait_until(lambda: switches(lead.pid) > before, PATIENCE, "it looks again")
    assert alpha.log().count('"event":"trouble"') == 1, alpha.log()
    assert path.read_bytes() == b"{ broken", "a file that cannot be read is never overwritten"
    path.write_bytes(good)
    alpha.reaches("w1", State.CRASHED)
    assert lead.poll() is None


def test_a_mailbox_that_cannot_be_used_keeps_nobody_else_waiting(alpha: Crew) -> None:
    alpha.lead()
    alpha.spawn("w1", "w2")
    box = alpha.team.mailbox("lead").head.path
    good = box.read_bytes()
    box.write_bytes(b"{")
    task = alpha.give(Draft(title="t", run="test -e go || { touch begun; sleep 300; }", assignee="w1"))[0]
    wait_until((alpha.project / "begun").exists, STUCK, "the command is at work")
    (alpha.project / "go").touch()
    kill(alpha.report("w1").guard)
    alpha.reaches("w1", State.CRASHED)
    assert alpha.settled(task)[0].assignee == "w2"
    box.write_bytes(good)
    wait_until(lambda: alpha.notices("w1 has crashed"), PATIENCE, "the notice comes when it can")
    assert len(alpha.notices("w1 has crashed")) == 1


def test_a_seat_whose_mailbox_is_yet_to_be_made_does_not_end_the_lead(alpha: Crew) -> None:
    lead = alpha.lead()
    with alpha.team.wanted.change("a spawn, half way") as change:
        change.value = members.with_seat(change.value, Seat(agent_id="w1", name="w1", agent="shell"))
    alpha_up = wait_until(lambda: alpha.team.runtime.read().seats, PATIENCE, "the session is there")
    assert alpha_up
    alpha.reaches("w1", State.IDLE)
    assert lead.poll() is None


def test_the_lead_ends_when_its_team_is_gone(alpha: Crew) -> None:
    lead = alpha.lead()
    alpha.store.discard("alpha", alpha.config.uid)
    assert lead.wait(PATIENCE) == 0


def test_a_lead_at_rest_hardly_wakes(alpha: Crew) -> None:
    """Not a time but a count: the look every two seconds, and the watching thread's second."""
    lead = alpha.lead()
    alpha.spawn("w1", "w2", "w3")
    wait_until(lambda: all(s.told for s in alpha.team.runtime.read().seats), PATIENCE, "all is told and recorded")
    revision, before, since = alpha.team.runtime.read().revision, switches(lead.pid), time.monotonic()
    while time.monotonic() < since + 4:
        time.sleep(0.5)
    woken = switches(lead.pid) - before
    assert alpha.team.runtime.read().revision == revision, "nothing is written at rest"
    assert woken / (time.monotonic() - since) < 100, f"{woken} waits in 4 s"


def test_idle_is_told_once(alpha: Crew) -> None:
    """AC-73"""
    alpha.led()
    alpha.lead()
    alpha.spawn("w1")
    wait_until(lambda: alpha.notices("w1 is idle"), PATIENCE, "the first idle")
    alpha.settled(*alpha.give(Draft(title="t", run="echo 42")))
    wait_until(lambda: len(alpha.notices("w1 is idle")) == 2, PATIENCE, "the second idle")
    assert alpha.notices("w1 is idle") == ["w1 is idle", "w1 is idle; last: task-1 completed: 42"]


def test_stopped_means_stopped(alpha: Crew) -> None:
    lead = alpha.lead()
    alpha.spawn("w1", SeatDraft(name="prog", agent="command", argv=("sleep", "300")))
    alpha.stop()
    assert lead.wait(PATIENCE) == 0
    assert alpha.team.runtime.read().phase is Phase.STOPPED
    assert {state.state for state in alpha.team.runtime.read().seats} == {State.SHUTDOWN}
    assert not alpha.left()
    assert not list(alpha.team.paths.sessions.iterdir())
    assert not alpha.notices("has ")


def test_a_stopped_team_goes_on_with_new_sessions(alpha: Crew) -> None:
    alpha.lead()
    first = alpha.spawn("w1")[0]
    alpha.stop()
    teams.resume(alpha.context)
    alpha.lead()
    second = alpha.reaches("w1", State.IDLE)
    assert (second.generation, second.incarnation != first.incarnation) == (2, True)
    assert alpha.settled(*alpha.give(Draft(title="t", run="true")))[0].status is Status.COMPLETED


def test_while_a_session_lives_the_team_stays_where_it_is_shown(alpha: Crew) -> None:
    """3.13: it is shown elsewhere only when nothing would be left behind."""
    first = alpha.lead()
    guard = alpha.spawn("w1")[0].guard
    assert guard
    here = Display(mode="tmux", mode_reason="asked for", sockets="/here")

    def shown() -> str:
        teams.resume(alpha.context, display=here)
        return alpha.team.config.read().mode

    assert shown() == "headless", "a lead goes on with what it has read"
    first.kill()
    first.wait()
    assert shown() == "headless"
    kill(guard)
    wait_until(gone(guard), PATIENCE, "the guard is dead")
    assert shown() == "tmux"
