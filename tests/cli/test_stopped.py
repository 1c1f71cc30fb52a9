"""A team that is stopped: what it is called, and what a person is told who wants something of it."""

import pytest
from msgspec.structs import replace

from pro0.cli.output import going_on
from pro0.cli.team import attaching
from pro0.errors import Refused
from pro0.model.runtime import Phase, Process, State
from pro0.model.team import Wish
from pro0.ops.context import Context
from tests.cli.conftest import Pro0


@pytest.fixture
def stopped(team: Context) -> Context:
    """The team alpha, after a `team stop`."""
    with team.team.wanted.change("stop") as wanted:
        wanted.value = replace(wanted.value, wish=Wish.STOP)
    with team.team.runtime.change("stop") as runtime:
        agent = Process(pid=4194000, start="1", boot_id="x")
        ended = [replace(seat, state=State.SHUTDOWN, agent=agent) for seat in runtime.value.seats]
        runtime.value = replace(runtime.value, phase=Phase.STOPPED, seats=tuple(ended))
    return team


def test_that_no_lead_is_there_is_as_it_should_be(pro0: Pro0, stopped: Context) -> None:
    assert "lead     stopped\n" in pro0("team", "status").out
    assert pro0("team", "list").out.splitlines()[1].split()[:2] == ["alpha", "stopped"]
    assert "gone" in pro0("team", "status", "--json").out


def test_a_member_that_has_ended_has_no_process(pro0: Pro0, stopped: Context) -> None:
    shown = pro0("member", "list").out.splitlines()[1]
    assert shown.split()[:4] == ["w1", "w1", "shell", "shutdown"]
    assert shown.split()[4] != "4194000"


def test_starting_it_again_is_resuming_it(pro0: Pro0, stopped: Context) -> None:
    """Its members and tasks are there: attaching shows nothing, and a cleanup would take them."""
    called = pro0("team", "start", "alpha", "-m", "w1=shell")
    assert called.code == 4
    said, hint = called.err.splitlines()
    assert said == "pro0: there is a team alpha already, which is stopped"
    assert hint == "hint: go on with it: pro0 team resume -t alpha, or remove it: pro0 team cleanup alpha"


@pytest.mark.usefixtures("project")
def test_who_starts_a_team_is_told_that_somebody_stops_it(pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is theirs then: it stays, and nobody waits for members that will not start."""

    def stops(*_: object) -> str:
        assert pro0("team", "stop", "beta", "--no-wait").code == 0
        return ""

    monkeypatch.setattr("pro0.engine.opening.launch.ensure_lead", lambda *_: "")
    monkeypatch.setattr("pro0.cli.team.start.need_lead", stops)
    called = pro0("team", "start", "beta", "--mode", "headless", "-m", "w1=shell")
    assert called.code == 4, called
    said, hint = called.err.splitlines()[-2:]
    assert said == "pro0: beta is being stopped: w1 will not start"
    assert hint == "hint: see: pro0 team status -t beta; to go on: pro0 team resume -t beta"
    assert pro0("team", "status", "beta").code == 0


def test_nothing_is_delegated_to_nobody(pro0: Pro0, stopped: Context) -> None:
    called = pro0("delegate", "look", "--agent", "shell", "--run", "true", "--shared")
    assert (called.code, called.out) == (4, "")
    assert called.err == "pro0: alpha is stopping or stopped\nhint: pro0 team resume -t alpha\n"
    assert pro0("task", "list").err == "no tasks\n"


def test_attaching_says_how_there_would_be_something_to_see(stopped: Context) -> None:
    with pytest.raises(Refused) as nothing:
        attaching.command(stopped.team)
    assert nothing.value.hint == "it is stopped; go on: pro0 team resume -t alpha"
    with stopped.team.runtime.change("run") as runtime:
        runtime.value = replace(runtime.value, phase=Phase.RUNNING)
    with pytest.raises(Refused) as nothing:
        attaching.command(stopped.team)
    assert nothing.value.hint == "all its members have ended; start one again: pro0 member restart w1 -t alpha"


def test_who_stops_waiting_is_told_what_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), going_on("alpha is still stopping: pro0 team status -t alpha"):
        raise KeyboardInterrupt
    assert capfd.readouterr().err == "\nalpha is still stopping: pro0 team status -t alpha\n"
    with going_on("nothing"):
        pass
    assert capfd.readouterr().err == ""
