"""A whole team on three machines, from its start to its cleanup: what the demo checks holds there too."""

import json
from pathlib import Path
from typing import Any

import pytest

from pro0.cli.demo.follow import CRASHED
from pro0.model.ids import LEAD
from pro0.rules.tasks.acts import Act
from pro0.store.teams import Store, TeamStore
from tests.e2e.conftest import Team
from tests.e2e.machines import records, sessions
from tests.e2e.test_agents_there import install, told
from tests.e2e.test_permission_there import asked
from tests.machines.apart import Apart
from tests.repositories import git

pytestmark = pytest.mark.machines

WORKERS = [f"w{number}" for number in range(1, 10)]
TASKS = 100
HELD = 50
"""The task in the middle of which its member is killed."""
PATIENCE = 60.0
WORK = """
echo {number} >> "$HOME/ran"
test {number} != {held} || test -e "$HOME/killed" || {{ touch "$HOME/held"; sleep 1000; }}
echo {number} > {number}.txt; git add {number}.txt; git commit -qm "task {number}"
pro0 send human "task {number} is done"
"""


def host(name: str) -> str:
    return f"build{int(name[1:]) % 3 + 1}"


def reports(machine: Apart) -> list[dict[str, Any]]:
    """What the guards of the sessions there report."""
    return [json.loads(path.read_text()) for path in (machine.home / "pro0" / "hosted").glob("*/report.json")]


def stored(team: Team) -> TeamStore:
    return Store(team.home).team(team.name)


def told_to_lead(team: Team) -> list[str]:
    """The texts that the lead's address got."""
    box = stored(team).mailbox(LEAD)
    return [message.content for message in box.since(box.head.read(), 0)]


def ran(machines: dict[str, Apart]) -> list[int]:
    """The numbers of the tasks, once for each time that one was begun."""
    places = [machine.home / "ran" for machine in machines.values()]
    return sorted(int(number) for place in places if place.exists() for number in place.read_text().split())


def out_of_turn(team: Team) -> list[str]:
    """The tasks that were not done once, or were claimed before one that they wait for was completed."""
    known = {task.id: task for task in stored(team).tasks.read().tasks}
    odd = []
    for id, task in known.items():
        entries = [entry for entry in task.history if entry.act in (Act.CLAIM, Act.DIED, Act.COMPLETE)]
        killed = [Act.CLAIM, Act.DIED, Act.CLAIM, Act.COMPLETE]
        acts = [entry.act for entry in entries]
        late = [before for before in task.dependencies if known[before].completed_at > entries[0].at]  # type: ignore[operator]
        if acts != (killed if id == f"task-{HELD}" else [Act.CLAIM, Act.COMPLETE]) or late:
            odd.append(f"{id}: {acts}, before {late}")
    return odd


def nothing_left_on(team: Team, machines: dict[str, Apart]) -> None:
    for machine in machines.values():
        team.until(lambda machine=machine: not sessions(machine), f"nothing runs on {machine.name}")  # type: ignore[misc]
        left = [name for name in ("code", "worktrees") for _ in (machine.home / "pro0" / name).glob("*")]
        assert left == []
    assert not records(team)
    assert not (team.home / "teams" / team.name).exists()


def tasks() -> list[dict[str, Any]]:
    """A hundred tasks: each waits for one or two of the ten before it."""
    drawn = range(1, TASKS + 1)
    return [
        {
            "title": f"task {number}",
            "key": f"t{number}",
            "run": WORK.format(number=number, held=HELD),
            "blockedBy": sorted({f"t{before}" for before in (number - 10, number - 3) if before > 0 and number > 10}),
        }
        for number in drawn
    ]


def test_a_team_works_on_three_machines(team: Team, machines: dict[str, Apart], tmp_path: Path) -> None:
    """Issue 19, must show 1: ten members, a hundred tasks, messages, a permission, a death, shutdown, cleanup."""
    install(machines["build1"], "claude")
    for machine in machines.values():
        (machine.home / ".gitconfig").write_text("[user]\n name = a worker\n email = worker@example.org\n")
    (tmp_path / "tasks.json").write_text(json.dumps(tasks()))
    members = [word for name in WORKERS for word in ("-m", f"{name}=shell@{host(name)}")]
    words = ("team", "start", "alpha", "--detach", "--mode", "in-process", "--lead", "none", "--worktrees")
    team(*words, *members, "-m", "bob=claude@build1")
    team("task", "create", "-f", str(tmp_path / "tasks.json"))
    team("send", "bob", "ASK before you go on")
    request = team.until(lambda: asked(team), "the person is asked", PATIENCE)
    team("member", "answer", request, "allow")
    victim = str(team.until(lambda: team.tasks()[f"task-{HELD}"].get("assignee"), "the middle is reached", PATIENCE))
    machine = machines[host(victim)]
    team.until((machine.home / "held").exists, "it is in the middle of it", PATIENCE)
    for each in machines.values():
        (each.home / "killed").touch()
    [guard] = [int(report["guard"]["pid"]) for report in reports(machine) if report["agentId"] == victim]
    machine.kill(guard)
    team.until(lambda: team.state(victim) == "crashed", "its death is noticed", PATIENCE)
    team("member", "restart", victim)
    team.until(lambda: all(task["status"] == "completed" for task in team.tasks().values()), "all is done", PATIENCE)
    for name in (*WORKERS, "bob"):
        team("send", name, "well done")
    team.until(
        lambda: not any(member["unread"] for member in team.json("team", "status")["members"]), "all is read", PATIENCE
    )
    assert out_of_turn(team) == []
    assert ran(machines) == sorted([*range(1, TASKS + 1), HELD])
    assert sorted(mail for mail in team.mail() if mail.endswith("is done")) == sorted(
        f"task {number} is done" for number in range(1, TASKS + 1)
    )
    deaths = [text for text in told_to_lead(team) if CRASHED in text]
    assert [text.startswith(f"{victim} {CRASHED}") for text in deaths] == [True], deaths
    assert any("the hook is over: {" in str(note) for note in told(machines["build1"]))
    team("team", "stop", "--timeout", "60")
    assert {member["state"] for member in team.json("team", "status")["members"]} == {"shutdown"}
    team("team", "cleanup", "alpha", code=7)
    commits = [
        git(team.project, "log", "--format=%s", f"main..teams/alpha/{name}").splitlines()
        for name in WORKERS
        if git(team.project, "for-each-ref", f"refs/heads/teams/alpha/{name}")
    ]
    assert sorted(title for branch in commits for title in branch) == sorted(f"task {n}" for n in range(1, TASKS + 1))
    nothing_left_on(team, machines)
