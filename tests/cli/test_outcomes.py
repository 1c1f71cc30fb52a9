"""What an act on a task prints is what came of it, and not what the act is called."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.model.task import Awaiting, Entry, Gate, Kind, Policy, Status, Task, Wait
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become

pytestmark = pytest.mark.usefixtures("scripts")

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAIT = Wait(kind=Awaiting.INPUT, since=NOW, by="w1", reason="which one?")
GIVEN_BACK = (Entry(at=NOW, actor="w1", act="release"),) * 2
UNAGREED: dict[str, Any] = {"run": "make", "unagreed": True}
ALMOST: dict[str, Any] = {"escalations": 3}
FAILED: dict[str, Any] = {"status": Status.FAILED}
WAITS: dict[str, Any] = {"status": Status.IN_PROGRESS, "awaiting": WAIT}
DISPATCHED: dict[str, Any] = {"policy": Policy.SUPERVISED, "history": GIVEN_BACK}
EPIC_IS_OVER: dict[str, Any] = {"type": Kind.EPIC, "status": Status.CANCELLED}

ACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("w1", "release 1", {}),
    ("w1", "release 1", DISPATCHED),
    ("w1", "release 1", DISPATCHED | ALMOST),
    ("w1", "release 1", UNAGREED),
    ("w1", "complete 1", {}),
    ("w1", "complete 1", {"requires": Gate.REVIEW}),
    ("w1", "fail 1 broken", {}),
    ("w1", "update 1 --awaiting escalation", {}),
    ("w1", "update 1 --awaiting escalation", ALMOST),
    ("w1", "update 1 --awaiting input", ALMOST),
    ("human", "update 1 --awaiting work", {}),
    ("human", "update 1 --awaiting none", WAITS),
    ("human", "update 1 --awaiting none", WAITS | UNAGREED),
    ("human", "update 1 --awaiting none", {}),
    ("human", "update 1 --verdict rejected", WAITS),
    ("human", "approve 1", WAITS),
    ("human", "approve 1", WAITS | UNAGREED),
    ("human", "approve 1", WAITS | {"session": "living"}),
    ("human", "reject 1", WAITS),
    ("human", "retry 1", FAILED),
    ("human", "retry 1", FAILED | UNAGREED),
    ("human", "reopen 1", FAILED),
    ("human", "reopen 1", FAILED | UNAGREED),
    ("human", "reopen 1", EPIC_IS_OVER),
    ("human", "close 1", FAILED),
    ("human", "close 1", WAITS),
    ("human", "continue 1", FAILED | {"session": "living"}),
    ("human", "cancel 1", {}),
    ("human", "cancel 1", WAITS),
]
WORDS = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "waits": "waits for",
    "goes on": "goes on with w1",
    "pending": "pending again|back to the agents|waits for nobody",
}
"""A state → the words that say it."""


def state_of(task: Task) -> str:
    """Return the state in one word, from the stored task."""
    if task.status is Status.PENDING and not task.waits:
        return "pending"
    return "waits" if task.waits else "goes on" if task.claim else str(task.status)


def said_by(line: str) -> set[str]:
    """Return the states that a line speaks of."""
    line = line.replace("waits for nobody", "back to the agents")
    return {state for state, words in WORDS.items() if any(word in line for word in words.split("|"))}


@pytest.mark.parametrize(("who", "act", "fields"), ACTS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_state_that_is_printed_is_the_stored_one(
    who: str, act: str, fields: dict[str, Any], pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """behaviour 2.7, 2.9, 2.15: a limit, a command that nobody agreed to, and an epic end an act otherwise"""
    pro0("task", "create", "one")
    if fields.get("type") is Kind.EPIC:
        pro0("task", "create", "two", "--parent", "1")
        pro0("task", "done", "2")
    if who == "w1" or fields.get("session"):
        with monkeypatch.context() as member:
            become(member, team, "w1")
            assert pro0("task", "claim", "1").code == 0
    with team.team.tasks.change("test") as change:
        first, *rest = change.value.tasks
        kept = {name: value for name, value in fields.items() if name != "session"}
        kept |= {"claim": None} if kept.get("status") else {}
        change.value = replace(change.value, tasks=(replace(first, **kept), *rest))
    with monkeypatch.context() as member:
        if who == "w1":
            become(member, team, "w1")
        called = pro0("task", *act.split())
    assert called.code == 0, called
    task = team.team.tasks.read().tasks[0]
    assert said_by(called.out) == {state_of(task)}, (called.out, task)
    if task.waits and "complete" not in act:
        assert f"waits for {task.waits.kind}" in called.out
