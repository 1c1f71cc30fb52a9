"""A member whose agent speaks ACP, in a team: its mail, its permissions, its conversation after a crash, its end."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pro0.store.paths import LEAD_LOG
from tests.agents import acp_agent
from tests.e2e.conftest import Team, kill, team
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.usefixtures("scripts")

__all__ = ["team"]


class Member:
    """The member w1, and what its agent was sent."""

    def __init__(self, team: Team, log: Path) -> None:
        self.team = team
        self.log = log

    def prompts(self) -> list[str]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        sent = [message for message in map(json.loads, lines) if message.get("method") == "session/prompt"]
        return [message["params"]["prompt"][0]["text"] for message in sent]

    def outcomes(self) -> list[Any]:
        return [
            message["result"]["outcome"]
            for message in map(json.loads, self.log.read_text().splitlines())
            if message.get("result")
        ]

    def says(self, prompt: str) -> None:
        """Let its person type a prompt in its pane, which makes it do that."""
        wait_until(lambda: self.prompts()[-1] == prompt, STUCK, f"it was told {prompt}")

    def asked(self) -> str:
        """Wait for what needs the person about a permission, and return its request."""

        def request() -> str:
            return next((need["request"] for need in self.team.json("needs") if need["kind"] == "permission"), "")

        return self.team.until(request, "it is known what w1 asks")


@pytest.fixture(params=["tmux", "headless"])
def member(request: pytest.FixtureRequest, team: Team, home: Path, tmp_path: Path) -> Member:
    """A team whose one member runs an agent that asks leave in its first turn."""
    log = tmp_path / "log"
    words = [sys.executable, "-I", acp_agent.__file__, f"log={log}"]
    with open(home / "config.yaml", "a", encoding="utf-8") as file:
        file.write(f"agents: {{talker: {{acp: {json.dumps(words)}}}}}\n")
    team("team", "start", "alpha", "--detach", "--mode", request.param, "--lead", "none")
    team("member", "spawn", "w1", "--agent", "talker", "--prompt", "ask\nsay fine")
    return Member(team, log)


def test_it_is_fed_answered_and_ended_by_the_protocol(member: Member) -> None:
    """Issue 17, build 6."""
    team = member.team
    request = member.asked()
    shown = team("member", "answer", request).out
    assert "make" in shown
    assert "Allow (allow_once)" in shown
    assert team.member("w1")["state"] == "waiting"
    env = team.json("member", "env", "w1")
    assert "only a person may" in team("member", "answer", request, "allow", code=4, env=env).err
    assert "w1 has your answer" in team("member", "answer", request, "allow").out
    assert member.outcomes() == [{"outcome": "selected", "optionId": "yes"}]
    assert "answered: allow" in team("member", "answer", request, "deny", code=4).err
    team.until(lambda: team.state("w1") == "idle", "its turn is over")
    team("send", "w1", "have a look")
    wait_until(lambda: "unread message" in member.prompts()[-1], STUCK, "it is told of its mail")
    team.until(lambda: team.json("member", "show", "w1").get("deliveredBy") == "protocol", "it is said what carried it")
    log = [json.loads(line) for line in (team.home / "teams" / "alpha" / "logs" / LEAD_LOG).read_text().splitlines()]
    assert {event["by"] for event in log if event["event"] == "nudged" and not event["queued"]} == {"protocol"}
    team("team", "stop", "--force", "--timeout", "1")


def test_after_a_crash_it_goes_on_where_it_was(member: Member) -> None:
    team = member.team
    team("member", "answer", member.asked(), "deny")
    team.until(lambda: team.state("w1") == "idle", "its turn is over")
    before = len(member.prompts())
    kill(team.member("w1")["pid"])
    team.until(lambda: team.state("w1") == "crashed", "its end is seen")
    team("member", "restart", "w1")
    team.until(lambda: team.state("w1") == "idle", "it is up again")
    loaded = [line for line in member.log.read_text().splitlines() if '"session/load"' in line]
    assert len(loaded) == 1
    assert len(member.prompts()) == before, "nothing is told again"
    assert os.path.exists(member.log)
