"""No member is shown another's incarnation (rulings 5.6): not on the command line, not over MCP, not in mail."""

import json
from pathlib import Path

import pytest

from pro0.mcp.tool_context import ToolContext
from pro0.model.caller import Who
from pro0.model.runtime import State
from pro0.ops.withheld import WITHHELD, may_see, veil
from pro0.store.teams import Store, TeamStore
from tests.cli.conftest import Pro0, become, pro0, project
from tests.teams import as_who, granted, human, make_team, member, set_state

__all__ = ["pro0", "project"]

OWN, OTHER, LEADS = "11111111-aaaa", "22222222-bbbb", "33333333-cccc"
INCARNATIONS = {"w1": OWN, "w2": OTHER, "lead": LEADS}
EVERYTHING = f"{OWN} {OTHER}, x{OTHER} {OTHER}-2 ({LEADS})"


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team whose sessions have left their reports."""
    team = make_team(home, *INCARNATIONS)
    for name, incarnation in INCARNATIONS.items():
        set_state(team, name, State.IDLE, incarnation=incarnation)
        (team.paths.sessions / team.paths.report(incarnation)).write_text("{}")
    return team


def test_a_member_knows_its_own_session_alone(team: TeamStore) -> None:
    mine = member(team, "w1", OWN)
    assert [may_see(mine, one) for one in (OWN, OTHER, LEADS)] == [True, False, False]
    assert veil(mine)(EVERYTHING) == f"{OWN} {WITHHELD}, x{OTHER} {OTHER}-2 ({WITHHELD})", "whole words alone"
    leading = member(team, "lead", LEADS)
    assert veil(leading)(EVERYTHING) == f"{WITHHELD} {WITHHELD}, x{OTHER} {OTHER}-2 ({LEADS})"


def test_a_session_that_has_not_reported_is_hidden_too(team: TeamStore) -> None:
    (team.paths.sessions / team.paths.launch("44444444-dddd")).write_text("{}")
    (team.paths.sessions / ".json").write_text("{}")
    assert veil(member(team, "w1", OWN))(f"{OWN} (44444444-dddd)") == f"{OWN} ({WITHHELD})"


@pytest.mark.parametrize("who", [Who.HUMAN, Who.LEAD])
def test_the_person_and_the_lead_know_all(team: TeamStore, who: Who) -> None:
    assert all(may_see(as_who(team, who), one) for one in INCARNATIONS.values())
    assert veil(as_who(team, who))(EVERYTHING) == EVERYTHING


def test_an_agent_from_outside_knows_none(team: TeamStore) -> None:
    assert not any(may_see(as_who(team, Who.OUTSIDE), one) for one in INCARNATIONS.values())
    assert OTHER not in veil(as_who(team, Who.OUTSIDE))(f"of {OTHER}")


def test_one_that_is_alone_or_has_no_folder_is_told_what_it_says(home: Path) -> None:
    alone = make_team(home, "w1")
    assert veil(member(alone, "w1", OWN))(EVERYTHING) == EVERYTHING
    alone.paths.sessions.rmdir()
    assert veil(member(alone, "w1", OWN))(EVERYTHING) == EVERYTHING


LINES = ("team status --json", "team status", "member list --json", "member show w2 --json", "team list --json")


def test_no_command_prints_it_for_a_member(
    team: TeamStore, pro0: Pro0, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """The person sees it; the same line for a member does not have it, nor does mail that names it."""
    seen = [pro0(*line.split(), *(() if "list" in line else ("-t", "alpha"))).out for line in LINES]
    assert any(OTHER in said for said in seen)
    pro0("send", "w1", f"it is {OTHER}", "-t", "alpha")
    become(monkeypatch, human(team), "w1")
    for line in (*LINES, "inbox --json"):
        called = pro0(*line.split())
        assert called.code == 0, (line, called)
        assert OTHER not in called.out + called.err, line
        assert LEADS not in called.out + called.err, line
    assert OWN in pro0("member", "show", "w1", "--json").out


def test_no_tool_tells_it(team: TeamStore, home: Path) -> None:
    """Over MCP."""
    tool_context = ToolContext(granted(team, "w1"), home)
    assert tool_context.veil()(json.dumps([OWN, OTHER])) == json.dumps([OWN, WITHHELD])
    assert Store(home).team("alpha").runtime.read().session(OTHER), "it is known there"
