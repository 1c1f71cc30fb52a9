"""A lead that a guard starts: does it lead (rulings 3.12)? And which environment it and its members get (3.17)."""

import json
import os
import stat
import subprocess
import sys
from datetime import timedelta

import pytest
from msgspec.structs import replace

from pro0 import __version__, installation, processes, resources
from pro0.cli.doctor import team as doctor
from pro0.engine.opening import launch
from pro0.engine.opening.environment import lead_environment, member_environment, start_environment
from pro0.engine.opening.launch import ensure_lead
from pro0.engine.revival import STAYS_DOWN, STOPPED
from pro0.model.runtime import Phase
from pro0.ops.context import IDENTITY, clock
from pro0.ops.team import teams
from pro0.ops.team.members import SeatDraft
from pro0.store.lease import Lease
from tests.engine.crew import PATIENCE, Crew
from tests.waiting import wait_until


def revived(alpha: Crew) -> "subprocess.Popen[bytes]":
    """Start a lead as a guard does."""
    argv = resources.lead_argv("alpha", revived=True)
    with alpha.team.paths.lead_errors.open("ab") as errors:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True)
    alpha.leads.append(process)
    return process


def ends_without_a_word(alpha: Crew) -> bool:
    """Start a lead as a guard does, and say whether it ended well and in silence."""
    before = alpha.team.paths.lead_errors.read_bytes() if alpha.team.paths.lead_errors.exists() else b""
    return revived(alpha).wait(PATIENCE) == 0 and alpha.team.paths.lead_errors.read_bytes() == before


def test_it_leads_and_remembers_that_it_came_back(alpha: Crew) -> None:
    process = revived(alpha)
    me = processes.identify(process.pid)
    wait_until(lambda: alpha.team.runtime.read().lead == me, PATIENCE, "it has signed in")
    runtime = alpha.team.runtime.read()
    assert runtime.revived == (runtime.lead_since,)
    process.kill()
    process.wait()
    alpha.lead()
    assert alpha.team.runtime.read().revived == ()


def test_beside_a_lead_it_ends_without_a_word(alpha: Crew) -> None:
    first = alpha.lead()
    assert ends_without_a_word(alpha)
    assert alpha.team.runtime.read().lead == processes.identify(first.pid)


def test_a_stopped_team_is_left_alone(alpha: Crew) -> None:
    alpha.lead()
    alpha.stop()
    before = alpha.team.runtime.read()
    assert ends_without_a_word(alpha)
    assert alpha.team.runtime.read() == before
    holder = Lease(alpha.team.paths.team).read()
    assert holder
    assert (holder.rests, holder.why) == (True, STOPPED)


def test_a_stop_under_way_is_finished(alpha: Crew) -> None:
    lead = alpha.lead()
    alpha.spawn("w1", "w2")
    lead.kill()
    lead.wait()
    wanted = teams.stop(alpha.context)
    assert wanted.stop
    assert ends_without_a_word(alpha)
    assert alpha.team.runtime.read().phase is Phase.STOPPED
    assert alpha.left() == []


def test_after_three_times_in_a_minute_it_stays_down_and_says_so_once(alpha: Crew) -> None:
    past = tuple(clock() - timedelta(seconds=seconds) for seconds in (30, 20, 10))
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, revived=past)
    for _ in range(2):
        assert ends_without_a_word(alpha)
        holder = Lease(alpha.team.paths.team).read()
        assert holder
        assert (holder.rests, holder.why) == (True, STAYS_DOWN)
    assert alpha.team.runtime.read().lead is None
    [said] = alpha.mail()
    assert (
        said.content
        == "the lead has died 3 times in a minute and stays down; see pro0 team logs, then: pro0 team resume"
    )
    alpha.lead()
    holder = Lease(alpha.team.paths.team).read()
    assert holder
    assert (holder.rests, holder.why) == (False, "lead")
    assert alpha.team.runtime.read().revived == ()


def test_a_lead_of_another_version_is_said(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    alpha.lead()
    assert ensure_lead(alpha.team) == ""
    monkeypatch.setattr(launch, "__version__", "9.9.9")
    update = "update it: pro0 team stop -t alpha && pro0 team resume -t alpha"
    assert ensure_lead(alpha.team) == f"the lead of alpha is pro0 {__version__}, this command is 9.9.9; {update}"


def test_a_lead_of_another_commit_is_said(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version is the same, and its code is not; a commit that nobody knows says nothing."""
    own = installation.commit()
    alpha.lead()
    for known, said in (("", ()), ("f" * 40, (f"the lead of alpha is pro0 of commit {own[:12]}, {OTHER}", UPDATE))):
        monkeypatch.setattr(installation, "commit", lambda known=known: known)
        assert launch.other_version(alpha.team) == said
        told = [(check.found, check.mend) for check in doctor.team(alpha.team) if "the lead of" in check.found]
        assert told == ([said] if said else [])


OTHER = f"this command is of commit {'f' * 12}"
UPDATE = "update it: pro0 team stop -t alpha && pro0 team resume -t alpha"


STARTER = {
    "PATH": "/bin",
    "LC_ALL": "C.UTF-8",
    "PRO0_MAX_TEAMMATES": "3",
    "MY_TOKEN": "secret",
    "MY_OTHER": "x",
    "ANTHROPIC_API_KEY": "k",
    "UNKNOWN_API_KEY": "k",
    "PRO0_HOME": "/elsewhere",
    "PRO0_LEAD": "1",
    "PRO0_STATE_FD": "5",
    "BROKEN": "\udcff",
    "TZ": "\udcff",
    **dict.fromkeys(IDENTITY, "somebody"),
}
USUAL = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "PRO0_MAX_TEAMMATES": "3", "ANTHROPIC_API_KEY": "k"}
"""The keys of agents are kept; each agent is given its own."""


@pytest.mark.parametrize(
    ("more", "besides"),
    [
        ((), {}),
        (("MY_TOKEN", "NOT_THERE"), {"MY_TOKEN": "secret"}),
        (("MY_*",), {"MY_TOKEN": "secret", "MY_OTHER": "x"}),
        (("PRO0*", "PRO0_TEAM", "BROKEN"), {}),
    ],
)
def test_what_a_team_keeps_of_its_starters_environment(more: tuple[str, ...], besides: dict[str, str]) -> None:
    """Rulings 3.17: by allow-list; never a member's identity, whatever is asked for."""
    assert start_environment(STARTER, more) == USUAL | besides


def test_nobodys_identity_gets_through() -> None:
    forged = {"PATH": "/bin", **dict.fromkeys(IDENTITY, "somebody")}
    assert set(lead_environment(forged, "/home")) == {"PATH", "PRO0_HOME", "PRO0_LEAD"}
    assert set(member_environment(forged, {"PRO0_TEAM": "alpha"})) == {"PATH", "PRO0_TEAM"}


def test_members_get_the_teams_environment_whoever_started_the_lead(
    alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "KEPT": "of the start", "PRO0_REVIVE_LEAD": "0"}
    with alpha.team.environment.change("a test") as change:
        change.value = replace(change.value, variables=kept)
    assert stat.S_IMODE(alpha.team.environment.path.stat().st_mode) == 0o600
    monkeypatch.setenv("LANG", "of the lead")
    alpha.lead()
    show = "import json, os; json.dump(dict(os.environ), open('shown', 'w')); os.rename('shown', 'told')"
    alpha.spawn(SeatDraft(name="w1", agent="command", argv=(sys.executable, "-S", "-c", show)))
    wait_until((alpha.project / "told").exists, PATIENCE, "it has told")
    told = json.loads((alpha.project / "told").read_text())
    assert (told["KEPT"], told.get("LANG")) == ("of the start", None)


def test_a_persons_resume_renews_the_environment(alpha: Crew) -> None:
    teams.resume(alpha.context, {"PATH": "/new"})
    assert alpha.team.environment.read().variables == {"PATH": "/new"}
    teams.resume(alpha.context)
    assert alpha.team.environment.read().variables == {"PATH": "/new"}
