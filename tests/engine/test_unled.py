"""After a reboot nobody leads and nobody lives: a person who looks is told so, and how to go on (issue 14, build 1)."""

import json
import os
import signal
from collections.abc import Callable

from pro0.model.runtime import State
from pro0.ops.team import needs, status
from tests.conftest import Result
from tests.engine.crew import Crew
from tests.waiting import STUCK, wait_until


def test_a_team_that_died_as_a_whole_is_not_called_idle(alpha: Crew, cli: Callable[..., Result]) -> None:
    lead = alpha.lead()
    alpha.spawn("w1", "w2")
    assert needs.list_needs(alpha.context) == ()
    lead.kill()
    lead.wait()
    assert needs.list_needs(alpha.context) == (), "a guard that lives starts another lead"
    assert status.status(alpha.context).members[0].state is State.IDLE
    for guard, agent in alpha.pids().values():
        for pid in (guard, agent):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: needs.list_needs(alpha.context), STUCK, "they are dead")
    [need] = needs.list_needs(alpha.context)
    assert need.command == "pro0 team resume"
    wait_until(
        lambda: {member.state for member in status.status(alpha.context).members} == {State.CRASHED},
        STUCK,
        "nobody is called idle",
    )
    assert "no work goes on" in cli("needs", "-t", "alpha").out
    assert json.loads(cli("team", "status", "alpha", "--json").out)["attention"][0]["kind"] == "no lead"
    alpha.lead()
    wait_until(lambda: not any(n.kind == "no lead" for n in needs.list_needs(alpha.context)), STUCK, "it is led again")


def test_a_lead_that_is_suspended_is_no_stopped_team(alpha: Crew, cli: Callable[..., Result]) -> None:
    """A SIGSTOP, as by a debugger: the processes are there, and yet nobody is started, watched or ended."""
    lead = alpha.lead()
    alpha.spawn("w1")
    assert needs.list_needs(alpha.context) == ()
    lead.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: needs.list_needs(alpha.context), STUCK, "it is suspended")
        shown = cli("team", "status", "alpha").out
        assert f"lead     suspended (pid {lead.pid})\n" in shown
        assert f"    kill -CONT {lead.pid}\n" in cli("needs", "-t", "alpha").out
    finally:
        lead.send_signal(signal.SIGCONT)
    wait_until(lambda: not needs.list_needs(alpha.context), STUCK, "it goes on")
