"""Many processes at once: one winner, nothing lost, nothing twice (AC-61, AC-62, AC-69, AC-72; reliability 1, 4, 5)."""

import json
import random
from pathlib import Path
from typing import Any

from pro0.errors import Refused
from pro0.model.message import MessageType
from pro0.model.task import Draft, Status
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.store.mailbox import Box
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.teams import human, make_team, member


def team_in(home: Path) -> TeamStore:
    return Store(home).team("alpha")


def note(path: Path, line: dict[str, object]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def notes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def claim_all(home: Path, name: str, number: int) -> None:
    context = member(team_in(home), name)
    for id in range(1, number + 1):
        try:
            tasks.claim(context, str(id))
        except Refused as refused:
            note(home / name, {"task": f"task-{id}", "code": refused.code, "said": refused.message})
        else:
            note(home / name, {"task": f"task-{id}", "code": "won"})


def test_one_winner_for_each_task_and_the_others_are_told_who(home: Path) -> None:
    """AC-61, AC-62, S004-037, reliability 4: 10 processes, 30 tasks."""
    names = [f"w{number}" for number in range(10)]
    team = make_team(home, *names)
    tasks.create(human(team), [Draft(title=f"t{number}") for number in range(30)])
    crowd.run(claim_all, [(home, name, 30) for name in names])
    said = [(name, line) for name in names for line in notes(home / name)]
    assert len(said) == 300
    for task in team.tasks.read().tasks:
        winners = [name for name, line in said if line["task"] == task.id and line["code"] == "won"]
        losers = [line for _, line in said if line["task"] == task.id and line["code"] != "won"]
        assert winners == [task.assignee]
        assert task.claim is not None
        assert (task.claim.agent_id, task.epoch, len(task.history)) == (winners[0], 1, 2)
        assert [line["code"] for line in losers] == ["conflict"] * 9
        assert all(line["said"] == f"{task.id} is claimed by {winners[0]} (epoch 1)" for line in losers)


def work(home: Path, name: str, number: int) -> None:
    context = member(team_in(home), name)
    while True:
        task = tasks.take(context)
        if task:
            note(home / name, {"task": task.id})
            tasks.complete(context, task.id, f"by {name}")
        elif all(task.status is Status.COMPLETED for task in tasks.list_tasks(context)):
            return


def test_a_graph_is_drained_in_order_and_each_task_once(home: Path) -> None:
    """Reliability 5, S004-038: 8 processes, 60 tasks, none before its dependencies."""
    dice = random.Random(3)
    names = [f"w{number}" for number in range(8)]
    team = make_team(home, *names)
    drafts = [
        Draft(title=f"t{n}", blocked_by=tuple(str(d + 1) for d in dice.sample(range(n), min(n, dice.randint(0, 3)))))
        for n in range(60)
    ]
    tasks.create(human(team), drafts)
    crowd.run(work, [(home, name, 60) for name in names])
    taken = [line["task"] for name in names if (home / name).exists() for line in notes(home / name)]
    assert sorted(taken) == sorted(f"task-{number}" for number in range(1, 61))
    done = {task.id: task for task in team.tasks.read().tasks}
    for task in done.values():
        assert (task.status, task.epoch) == (Status.COMPLETED, 1)
        for id in task.dependencies:
            finished, started = done[id].completed_at, task.started_at
            assert finished is not None
            assert started is not None
            assert finished <= started
            assert [entry.act for entry in task.history] == ["create", "claim", "complete"]


def send_once(home: Path, number: int) -> None:
    messages.send(human(team_in(home)), "W1", str(number))


def test_fifty_writers_to_one_mailbox(home: Path) -> None:
    """AC-72."""
    team = make_team(home, "w1")
    crowd.run(send_once, [(home, number) for number in range(50)])
    head = json.loads(team.mailbox("w1").head.path.read_bytes())
    assert sorted(int(message["content"]) for message in head["messages"]) == list(range(50))
    assert [message["seq"] for message in head["messages"]] == list(range(1, 51))


def say_to_all(home: Path, name: str) -> None:
    messages.broadcast(member(team_in(home), name), f"from {name}")


def test_three_broadcasts_at_once(home: Path) -> None:
    """AC-69: each has all but its own."""
    names = ["w1", "w2", "w3"]
    team = make_team(home, *names)
    crowd.run(say_to_all, [(home, name) for name in names])

    def got(box: Box) -> list[str]:
        found = box.head.read().messages
        assert all(message.type is MessageType.BROADCAST for message in found)
        return sorted(message.from_ for message in found)

    for name in names:
        assert got(team.mailbox(name)) == [other for other in names if other != name]
    assert got(team.mailbox("lead")) == got(team.mailbox("human")) == []


def change(home: Path, verb: str) -> None:
    context, w1 = human(team_in(home)), member(team_in(home), "w1")
    try:
        if verb == "claim":
            tasks.claim(w1, "1")
        elif verb == "cancel":
            tasks.cancel(context, "1")
        elif verb == "assign":
            tasks.assign(context, "1", "w1")
        elif verb == "delete":
            tasks.delete(context, "1")
        else:
            tasks.create(context, [Draft(title="more", blocked_by=("1",))])
    except Refused:
        note(home / "refused", {"verb": verb})


def test_pairs_of_acts_on_one_task_end_as_one_after_the_other(home: Path) -> None:
    """Reliability 6: no field lost, whichever comes first."""
    verbs = ["claim", "cancel", "assign", "create"]
    for turn, (one, other) in enumerate((a, b) for a in verbs for b in verbs if a < b):
        place = home / str(turn)
        team = make_team(place, "w1")
        tasks.create(human(team), [Draft(title="t")])
        crowd.run(change, [(place, one), (place, other)])
        after = team.tasks.read()
        task, acts = after.tasks[0], [entry.act for entry in after.tasks[0].history]
        refused = [line["verb"] for line in notes(place / "refused")] if (place / "refused").exists() else []
        done = [verb for verb in (one, other) if verb not in refused]
        assert sorted(acts[1:]) == sorted(verb for verb in done if verb != "create"), (one, other)
        assert len(after.tasks) == 1 + ("create" in done)
        assert (task.status is Status.CANCELLED) == ("cancel" in done)
