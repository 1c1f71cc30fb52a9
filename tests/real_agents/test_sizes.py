"""What a member takes beside the same agent by hand, and what ten cost the lead (issue 17, must show 6)."""

import json
import time
from pathlib import Path
from threading import Event

import psutil
import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.setups import SETUPS
from pro0.scripted_model.turns import say
from tests.crash.lanes import SOAK, counted
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.states import Stage
from tests.real_agents.team import RealTeam
from tests.real_agents.terminal import Terminal

pytestmark = pytest.mark.agents
ALONE, MEMBER = "alone", "as a member"
MEMORY, PROCESSES = "MiB of a real agent", "processes of a real agent"
COST = "thousandths of a core for the lead of ten"
WHILE, LOOKS = 10, 3
"""Seconds of one measurement of the lead, and how many there are; the least of them counts."""
MOST = 6
"""Processes that a member has beside those of its agent: a guard, a server of tools, one that waits or serves."""


@pytest.mark.parametrize("agent", SETUPS)
def test_what_a_member_takes(
    agent: str,
    user: Path,
    provider: Provider,
    project: Path,
    terminal: Terminal,
    team: RealTeam,
) -> None:
    """Idle after one turn. Memory is each process's share (PSS), so what two of them have in common counts once."""
    stage = Stage(agent, provider, project, terminal)
    stage.prompt(say("All is well."))
    stage.shows("All is well.")
    stage.settle(3)
    alone = tree(int(terminal.value("pane_pid")))
    before = len(alone)
    took(agent, ALONE, alone)
    terminal.close()
    provider.script(marker("w1"), teammate(say("All is well.")))
    team.begin("--lead", "none", w1=agent)
    team.becomes("w1", "idle")
    guard = psutil.Process(team.member("w1")["pid"]).ppid()
    member = tree(guard)
    assert before < len(member) <= before + MOST, member
    took(agent, MEMBER, member)


@pytest.mark.soak
@pytest.mark.parametrize("agent", SETUPS)
def test_what_ten_members_cost_the_lead(agent: str, user: Path, provider: Provider, team: RealTeam) -> None:
    """Idle, and in the middle of a turn; what the lead's own children use counts too."""
    names, over = [f"w{number}" for number in range(1, 11)], Event()
    for name in names:
        provider.script(marker(name), teammate(say("Ready."), say("All is well.", after=over)))
    team.begin("--lead", "none", **dict.fromkeys(names, agent))
    lead = psutil.Process(json.loads((team.home / "teams" / team.name / "runtime.json").read_bytes())["lead"]["pid"])
    try:
        costs(agent, "idle", lead, team, names)
        for name in names:
            team("send", name, "Go on.")
        costs(agent, "working", lead, team, names)
    finally:
        over.set()


def costs(agent: str, state: str, lead: psutil.Process, team: RealTeam, names: list[str]) -> None:
    """Write down what the lead uses while all members are in a state."""
    for name in names:
        team.becomes(name, state)
    used = []
    for _ in range(LOOKS):
        before, began = sum(lead.cpu_times()[:4]), time.monotonic()
        time.sleep(WHILE)
        used.append((sum(lead.cpu_times()[:4]) - before) / (time.monotonic() - began))
    assert [team.state(name) for name in names] == [state] * len(names)
    counted(SOAK, COST, f"{agent} {state}", round(1000 * min(used)))


def tree(pid: int) -> list[psutil.Process]:
    """Return a process and all below it."""
    first = psutil.Process(pid)
    return [first, *first.children(recursive=True)]


def took(agent: str, how: str, processes: list[psutil.Process]) -> None:
    """Write down how many processes there are, and how much memory they share out."""
    share = sum(process.memory_full_info().pss for process in processes)
    counted(SOAK, MEMORY, f"{agent} {how}", round(share / 2**20))
    counted(SOAK, PROCESSES, f"{agent} {how}", len(processes))
