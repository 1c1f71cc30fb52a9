"""A person's own agent leads a team from outside: made, taken up again, never a human, never two at once (3.16)."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN, Caller, Who
from pro0.model.runtime import Process, State
from pro0.model.task import Draft, Status
from pro0.model.team import Wish
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members, outside, status, teams
from pro0.ops.team.members import SeatDraft
from pro0.store.teams import Store, TeamStore
from tests.faults import contents
from tests.teams import make_team, member, set_state


def agent(name: str = "inc-1") -> Caller:
    return Caller(Who.OUTSIDE, "lead", name)


def made(home: Path, caller: Caller | None = None) -> Context:
    return teams.create(Store(home), caller or agent(), teams.Home("alpha", home))


def left_behind(team: TeamStore) -> Process:
    """Let the record name a process that has ended."""
    gone = subprocess.Popen(["sleep", "60"])
    process = processes.identify(gone.pid)
    gone.kill()
    gone.wait()
    assert process
    with team.wanted.change("a test") as change:
        assert change.value.outside
        change.value = replace(change.value, outside=replace(change.value.outside, process=process))
    return process


def test_who_makes_a_team_from_outside_leads_it(home: Path) -> None:
    context = made(home)
    noted = context.team.wanted.read().outside
    assert noted
    assert (noted.process.pid, noted.incarnation) == (os.getpid(), "inc-1")
    assert context.caller == Caller(Who.LEAD_AGENT, "lead", "inc-1")
    [seat] = members.spawn(context, [SeatDraft(name="w1")], 9)
    [task] = tasks.create(context, [Draft(title="a", assignee=seat.agent_id)])
    assert (task.created_by, task.assignee) == ("lead", "w1")


def test_it_reads_the_mailbox_of_the_lead_and_the_person_reads_their_own(home: Path) -> None:
    """Rulings 3.8: when that agent has gone, the person reads both again."""
    context = made(home)
    human = Context(context.team, THE_HUMAN)
    messages.send(human, "lead", "to the lead")
    assert messages.unread(human) == 0
    assert status.status(human).attention == ()
    assert [letter.message.content for letter in messages.inbox(context)] == ["to the lead"]
    assert status.status(human).outside == status.LeadStatus(os.getpid(), "running")
    left_behind(context.team)
    assert messages.unread(human) == 1
    look = status.status(human)
    assert look.outside == status.LeadStatus(None, "gone")
    assert look.attention[0].what.startswith("your own agent")


def test_it_is_never_human(home: Path) -> None:
    """Rulings 2.3."""
    context = made(home)
    [task] = tasks.create(context, [Draft(title="a", run="rm -rf x")])
    assert task.waits
    with pytest.raises(Refused, match="may not"):
        teams.resume(context)


@pytest.mark.parametrize("caller", [Caller(Who.MEMBER, "w1", "i"), Caller(Who.LEAD_AGENT, "lead", "i")])
def test_no_member_makes_a_team(home: Path, caller: Caller) -> None:
    with pytest.raises(Refused) as raised:
        made(home, caller)
    assert raised.value.code == "not_allowed"
    assert Store(home).names() == []


def test_an_agent_that_came_back_takes_its_team_up_again(home: Path) -> None:
    """Its unread mail is given again, what it had claimed is free."""
    context = made(home)
    tasks.create(context, [Draft(title="a")])
    tasks.claim(context, "1")
    messages.send(Context(context.team, THE_HUMAN), "lead", "hello")
    messages.inbox(context)
    left_behind(context.team)
    again = outside.lead(Context(context.team, agent("inc-2")))
    assert again.caller == Caller(Who.LEAD_AGENT, "lead", "inc-2")
    assert tasks.show(again, "1").status is Status.PENDING
    assert [(letter.message.content, letter.again) for letter in messages.inbox(again)] == [("hello", True)]
    tasks.claim(again, "1")
    with pytest.raises(Refused) as raised:
        tasks.complete(context, "1", "late")
    assert raised.value.code == "stale_session"


def test_a_team_that_is_led_is_not_taken(home: Path) -> None:
    context = made(home)
    before = contents(home)
    with pytest.raises(Refused, match="led by another agent") as raised:
        outside.lead(Context(context.team, agent("inc-2")))
    assert raised.value.code == "conflict"
    assert contents(home) == before


def test_a_team_of_the_person_is_not_taken(home: Path) -> None:
    team = make_team(home, "w1")
    with pytest.raises(Refused, match="there is a team alpha already"):
        outside.lead(Context(team, agent()))


def test_of_two_who_take_it_up_at_once_one_does(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = made(home)
    left_behind(context.team)
    free = tasks.free

    def slow(*args: object) -> object:
        monkeypatch.setattr(tasks, "free", free)
        outside.lead(Context(context.team, agent("inc-2")))
        return free(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(tasks, "free", slow)
    with pytest.raises(Refused, match="led by another agent"):
        outside.lead(Context(context.team, agent("inc-3")))
    found = context.team.wanted.read().outside
    assert found
    assert found.incarnation == "inc-2"


def test_a_team_is_let_go_only_without_teammates(home: Path) -> None:
    """S004-048: cleanup fails while a teammate is active."""
    team = make_team(home, "lead", "w1", "w2")
    with pytest.raises(Refused, match="w1, w2 of alpha still run") as raised:
        teams.dismiss(member(team, "lead"))
    assert raised.value.code == "live_sessions"
    set_state(team, "w1", State.SHUTDOWN)
    set_state(team, "w2", State.CRASHED)
    assert teams.dismiss(member(team, "lead"))
    wanted = team.wanted.read()
    assert (wanted.wish, wanted.remove) == (Wish.STOP, True)
    assert wanted.stop
    members.withdraw(Context(team, Caller(Who.LEAD, "lead", "lead")), wanted.stop.id)
    assert not team.wanted.read().remove


def test_who_has_no_session_in_it_may_remove_it_at_once(home: Path) -> None:
    context = made(home)
    before = context.team.wanted.read()
    assert not teams.dismiss(context)
    assert context.team.wanted.read() == before
