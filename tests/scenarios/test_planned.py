"""A teammate that plans first: it may change nothing until a person, or the lead agent where that may, says yes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Result
from tests.e2e.conftest import Team, team
from tests.scenarios.claudes import claudes

pytestmark = pytest.mark.usefixtures("scripts")

__all__ = ["claudes", "team"]


def starts(claudes: Path) -> list[list[str]]:
    """Return argv of every start of an agent."""
    return [json.loads(line) for line in (claudes / "told.jsonl").read_text().splitlines()]


def mode(argv: list[str]) -> str:
    return argv[argv.index("--permission-mode") + 1]


def as_member(team: Team, name: str, *words: str, code: int = 0) -> Result:
    """Run a command as a member's present session."""
    return team(*words, code=code, env=team.json("member", "env", name))


def mail(team: Team, name: str) -> list[dict[str, Any]]:
    """Return a member's messages, given to it."""
    return [letter["message"] for letter in json.loads(as_member(team, name, "inbox", "--json").out)]


def test_it_changes_nothing_before_a_person_says_yes(team: Team, claudes: Path) -> None:
    team("team", "start", "alpha", "--detach", "--mode", "headless", "--permission-mode", "bypass", "-m", "w2=claude")
    team("member", "spawn", "w1", "--agent", "claude", "--plan", "--task", "build it")
    team.until(lambda: team.state("w1") == "idle", "it is up", 40)
    [free, first] = sorted(starts(claudes), key=mode)
    assert (mode(free), mode(first)) == ("bypassPermissions", "plan")
    assert "First you plan, and change nothing" in first[-1]
    assert "First you plan" not in free[-1]
    assert [team.member("w1")[key] for key in ("permissionMode", "plan")] == ["plan", "required"]
    assert "has not handed in a plan" in team("member", "approve-plan", "w1", code=4).err

    as_member(team, "w1", "task", "claim", "1")
    as_member(team, "w1", "plan", "first this, then that")
    assert team.member("w1")["plan"] == "handed in"
    assert "handed in its plan" in team("team", "status").out
    [asked] = [text for text in team.mail("w1") if "hands in its plan" in text]
    assert "first this, then that" in asked

    # Nobody but the person: not itself, not a colleague, whatever they call themselves.
    for name in ("w1", "w2"):
        for words in (("approve-plan", "w1"), ("reject-plan", "w1", "no")):
            assert "a plan: only " in as_member(team, name, "member", *words, code=4).err
    as_member(team, "w2", "plan", "mine", code=4)

    team("member", "reject-plan", "w1", "keep the interface")
    [answer] = [one for one in mail(team, "w1") if one["type"] == "plan_approval_response"]
    assert "keep the interface" in answer["content"]
    assert team.member("w1")["permissionMode"] == "plan"
    as_member(team, "w1", "plan", "only this")
    plan = team.json("member", "show", "w1")["gate"]
    assert (plan["text"], plan["stage"]) == ("only this", "handed in")
    assert "is not the plan" in team("member", "approve-plan", "w1", "--plan", "0" * 12, code=4).err

    before = team.member("w1")
    team("member", "approve-plan", "w1", "--plan", plan["id"])
    team.until(lambda: team.state("w1") == "idle" and len(starts(claudes)) == 3, "it begins again", 40)
    after = team.member("w1")
    assert (after["permissionMode"], after["plan"]) == ("bypass", "approved")
    assert after["incarnation"] != before["incarnation"]
    assert after["session"] == before["session"]
    last = starts(claudes)[-1]
    assert mode(last) == "bypassPermissions"
    assert last[last.index("--resume") + 1] == before["session"]
    [answer] = [
        one for one in mail(team, "w1") if one["type"] == "plan_approval_response" and "approved by" in one["content"]
    ]
    assert "carry it out" in answer["content"]
    task = team.tasks()["task-1"]
    assert (task["status"], task["assignee"], task["claim"]) == ("pending", "w1", None)
    as_member(team, "w1", "task", "claim", "1")
    assert "approved already" in team("member", "approve-plan", "w1", code=4).err


def test_the_lead_agent_decides_where_it_may(team: Team, claudes: Path) -> None:
    words = ("--detach", "--mode", "headless", "--lead", "claude", "--plan-approval", "lead")
    team("team", "start", "alpha", *words, "lead the others")
    as_member(team, "lead", "member", "spawn", "w1", "--agent", "claude", "--plan")
    team.until(lambda: team.state("w1") == "idle", "it is up", 40)
    as_member(team, "w1", "plan", "first this")
    assert [one["from"] for one in mail(team, "lead") if one["type"] == "plan_approval_request"] == ["w1"]
    as_member(team, "lead", "member", "approve-plan", "w1")
    team.until(lambda: team.member("w1")["permissionMode"] == "ask", "it may go on", 40)
