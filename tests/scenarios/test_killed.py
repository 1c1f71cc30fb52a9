"""Members that are killed: noticed, replaced in their work, told once; everyone else goes on (rulings 3.11)."""

import signal
from collections.abc import Callable

import pytest

from pro0 import processes
from pro0.model.runtime import Process, Report, State
from pro0.model.task import Draft, Status
from pro0.ops.team import members
from tests import elsewhere
from tests.engine.crew import PATIENCE, Crew, gone, kill
from tests.waiting import wait_until

Victims = Callable[[Process, Process], list[Process]]
VICTIMS: dict[str, Victims] = {
    "agent": lambda guard, agent: [agent],
    "guard": lambda guard, agent: [guard],
    "both": lambda guard, agent: [guard, agent],
}


def guard_and_agent(report: Report) -> tuple[Process, Process]:
    assert report.agent
    return report.guard, report.agent


def tree(*reports: Report) -> list[Process]:
    """The processes of a session, on each machine that has some."""
    found = (guard_and_agent(report) for report in reports)
    return [one for guard, agent in found for one in (guard, agent, *processes.descendants(agent.pid))]


def noticed(alpha: Crew, *names: str) -> None:
    """All of these are known as crashed; how soon that is, the bench shows."""
    for name in names:
        alpha.reaches(name, State.CRASHED)


@pytest.mark.parametrize("victims", VICTIMS)
def test_a_killed_member(alpha: Crew, victims: str) -> None:
    """must show 4, AC-76"""
    member_dies(alpha, alpha.report, VICTIMS[victims])


@pytest.mark.parametrize("alpha", elsewhere.MODES, indirect=True)
@pytest.mark.parametrize("victims", VICTIMS)
def test_a_member_that_is_killed_there(alpha: Crew, victims: str) -> None:
    """Issue 19, must show 3: by whom its machine is, while all at home goes on."""
    member_dies(alpha, alpha.report_there, VICTIMS[victims])


def member_dies(alpha: Crew, where: Callable[[str], Report], victims: Victims) -> None:
    """Kill a member at work, and see that another does its task and nothing of it is left."""
    alpha.spawn("w1", "w2", "w3")
    others = {name: pids for name, pids in alpha.pids().items() if name != "w1"}
    task = alpha.give(Draft(title="t", run="echo $PRO0_AGENT_ID; test -e go || sleep 300", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    all_of_it = tree(alpha.report("w1"), alpha.report_there("w1"))
    chosen = victims(*guard_and_agent(where("w1")))
    (alpha.place / "go").touch()
    for process in chosen:
        processes.signal_process(process, signal.SIGKILL)  # the guard's end may have ended the agent
    noticed(alpha, "w1")
    done = alpha.settled(task)[0]
    assert (done.status, done.result) == (Status.COMPLETED, done.assignee)
    assert done.assignee in ("w2", "w3")
    assert [entry.act for entry in done.history] == ["create", "claim", "died", "claim", "complete"]
    assert done.history[2].text.startswith("w1 crashed: ")
    assert len(alpha.notices("w1 has crashed")) == 1
    assert f"pending again: {task}" in alpha.notices("w1 has crashed")[0]
    assert {name: pids for name, pids in alpha.pids().items() if name != "w1"} == others
    wait_until(gone(*all_of_it), PATIENCE, "nothing of it is left")


def test_a_killed_member_comes_back_in_its_seat(alpha: Crew) -> None:
    """rulings 3.11: same id, same mailbox, a new incarnation"""
    first = alpha.spawn("w1")[0]
    kill(alpha.report("w1").guard)
    alpha.reaches("w1", State.CRASHED)
    members.restart(alpha.context, "W1")
    second = alpha.reaches("w1", State.IDLE)
    assert (second.generation, second.incarnation != first.incarnation) == (2, True)
    assert alpha.settled(*alpha.give(Draft(title="t", run="true")))[0].assignee == "w1"
    assert len(alpha.notices("w1 has crashed")) == 1


@pytest.mark.parametrize("alpha", ["tmux", f"tmux@{elsewhere.HOST}"], indirect=True)
def test_a_killed_tmux_server(alpha: Crew) -> None:
    """must show 4, anchors 45"""
    names = ("w1", "w2", "w3")
    alpha.spawn(*names)
    ids = alpha.give(*[Draft(title=name, run="test -e go || sleep 300", assignee=name) for name in names])
    for name in names:
        alpha.reaches(name, State.WORKING)
    handle = alpha.state("w1").handle
    assert handle
    server = processes.identify(handle.server_pid)
    assert server
    everyone = [one for name in names for one in tree(alpha.report(name), alpha.report_there(name))]
    kill(server)
    noticed(alpha, *names)
    wait_until(lambda: {alpha.task(id).status for id in ids} == {Status.PENDING}, PATIENCE, "all tasks are pending")
    wait_until(gone(*everyone), PATIENCE, "nobody is left")
    assert sorted(text.split()[0] for text in alpha.notices("has crashed")) == list(names)
    (alpha.place / "go").touch()
    for name in names:
        members.restart(alpha.context, name)
    for name in names:
        alpha.reaches(name, State.IDLE, State.WORKING)
    alpha.remember()
    assert {task.status for task in alpha.settled(*ids)} == {Status.COMPLETED}
    assert len(alpha.notices("has crashed")) == 3


def test_the_lead_is_killed_in_the_middle_of_the_work(alpha: Crew) -> None:
    """must show 4: teammates go on; the next lead adopts them, also who died meanwhile"""
    alpha.spawn("w1", "w2")
    before = alpha.pids()
    ids = alpha.give(*[Draft(title="t", run="sleep 0.1") for _ in range(10)])
    alpha.leads[0].kill()
    alpha.leads[0].wait()
    assert {task.status for task in alpha.settled(*ids)} == {Status.COMPLETED}
    alpha.lead()
    for name in ("w1", "w2"):
        alpha.reaches(name, State.IDLE)
    assert alpha.pids() == before
    alpha.stop()
    assert not alpha.left()
