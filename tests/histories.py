"""Histories of many clients on one team, and whether some order of their operations explains what each was told.

A client writes down when it asks and what it was told; one that is killed leaves an operation that happened or did not.
The model is what a team's tasks and one mailbox promise, without files or locks. `linearizable` searches for an order
that keeps to real time and in which the model gives every answer (Wing and Gong 1993, with Lowe's memory of what was
tried). Tasks and mail do not touch each other, so each is judged by itself.
"""

import json
import os
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from pro0.errors import Pro0Error
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.store.teams import Store, TeamStore
from tests.faults import EVERY, Shim, kill_before
from tests.teams import NOW, human, make_team, member

NEVER = 1 << 62
BOX = "box"
Answer = tuple[object, ...]
_write = os.write  # clients write their history down while a shim stands in for os.write


class Call(NamedTuple):
    """One operation: who did what to which task, or with which text; when; and the answer, None when there was none."""

    who: str
    verb: str
    about: str
    asked: int
    told: int
    answer: Answer | None


class Item(NamedTuple):
    """A task in the model; `by` holds it, or completed it."""

    status: str = "pending"
    by: str = ""
    epoch: int = 0


Tasks = tuple[Item, ...]
Mail = tuple[int, tuple[str, ...]]
"""The number of messages so far, and the texts that are unread."""


def start_of_tasks(number: int) -> Tasks:
    return (Item(),) * number


START_OF_MAIL: Mail = (0, ())
SETTLED = ("completed", "failed", "cancelled")


def tasks_step(state: Tasks, call: Call) -> tuple[Tasks, Answer]:
    """Return what a team's tasks are after an operation, and what it is told."""
    verb, who = call.verb, call.who
    if verb == "create":
        return (*state, Item()), ("ok", len(state) + 1)
    if verb == "list":
        return state, ("ok", *(item.status for item in state))
    if verb == "take":
        ready = [(not item.epoch, n) for n, item in enumerate(state) if item.status == "pending"]
        return _set(state, min(ready)[1], _claimed(state[min(ready)[1]], who), True) if ready else (state, ("ok", None))
    index = int(call.about) - 1
    if index >= len(state):
        return state, ("no", "not_found")
    item = state[index]
    if verb == "show":
        return state, ("ok", item.status, item.by if item.status == "in_progress" else "", item.epoch)
    refused, after = _act(item, verb, who)
    return (state, ("no", refused)) if refused else _set(state, index, after, verb == "claim")


def _act(item: Item, verb: str, who: str) -> tuple[str, Item]:
    working = item.status == "in_progress"
    if verb == "claim":
        why = "conflict" if working else "" if item.status == "pending" else "not_ready"
        return why, _claimed(item, who)
    if verb == "cancel":
        return ("wrong_phase" if item.status in SETTLED else ""), item._replace(status="cancelled", by="")
    if verb == "reopen":
        return ("" if item.status in SETTLED else "wrong_phase"), item._replace(status="pending", by="")
    if verb == "complete" and item.status == "completed" and item.by == who:
        return "", item
    why = "wrong_phase" if not working else "" if item.by == who else "not_owner"
    if verb == "release":
        return why, item._replace(status="pending", by="")
    status = {"complete": "completed", "fail": "failed"}[verb]
    return why, item._replace(status=status, by=who if verb == "complete" else "")


def _claimed(item: Item, who: str) -> Item:
    return Item("in_progress", who, item.epoch + 1)


def _set(state: Tasks, index: int, item: Item, numbered: bool) -> tuple[Tasks, Answer]:
    told = (index + 1, item.epoch) if numbered else ()
    return (*state[:index], item, *state[index + 1 :]), ("ok", *told)


def mail_step(state: Mail, call: Call) -> tuple[Mail, Answer]:
    """Return what the mailbox is after an operation, and what it is told."""
    number, unread = state
    if call.verb == "send":
        return (number + 1, (*unread, call.about)), ("ok", number + 1)
    return (number, ()), ("ok", *unread)


def linearizable(calls: Iterable[Call], step: Callable[[Any, Call], tuple[Any, Answer]], start: object) -> bool:
    """Return whether some order of the operations, each between question and answer, explains every answer."""
    listed = sorted(calls, key=lambda call: call.asked)
    owed = sum(1 << n for n, call in enumerate(listed) if call.answer is not None)
    left: list[tuple[int, Any]] = [(0, start)]
    tried = set(left)
    while left:
        done, state = left.pop()
        if done & owed == owed:
            return True
        open_ones = [n for n in range(len(listed)) if not done >> n & 1]
        limit = min(listed[n].told for n in open_ones)
        for n in reversed([n for n in open_ones if listed[n].asked <= limit]):
            after, answer = step(state, listed[n])
            given = listed[n].answer
            fits = after != state if given is None else answer == given
            found = (done | 1 << n, after)
            if fits and found not in tried:
                tried.add(found)
                left.append(found) if given is not None else left.insert(0, found)
    return False


CLIENTS = tuple(f"w{number}" for number in range(8))
VERBS = ("claim", "claim", "complete", "release", "fail", "take", "show", "list", "create", "cancel", "reopen", "send")
FIRST_TASKS = 3
KILLS_PER_CALL = 0.02


def make(home: Path) -> None:
    """Make the team of a history."""
    team = make_team(home, *CLIENTS, BOX)
    tasks.create(_still(human(team)), [Draft(title=str(number)) for number in range(FIRST_TASKS)])


def client(home: Path, name: str, seed: str, number: int) -> None:
    """Do random operations, as far as the number in this client's file; some end the process in the middle."""
    path, team = home / f"history-{name}", Store(home).team("alpha")
    begun = path.read_bytes().count(b'"asked"') if path.exists() else 0
    dice = random.Random(f"{seed} {name} {begun}")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    while begun < number:
        begun += 1
        verb, about = _chosen(dice, name, begun)
        killed_at = dice.randint(1, 40) if dice.random() < KILLS_PER_CALL else 0
        _note(descriptor, {"verb": verb, "about": about, "asked": time.monotonic_ns()})
        with Shim(EVERY if killed_at else (), killed_at, kill_before):
            answer = _answer(team, name, verb, about)
        _note(descriptor, {"told": time.monotonic_ns(), "answer": answer})


def _chosen(dice: random.Random, name: str, number: int) -> tuple[str, str]:
    verb = dice.choice(VERBS)
    if verb == "send" and name == CLIENTS[0]:
        return "read", ""
    return verb, f"{name} {number}" if verb == "send" else str(dice.randint(1, FIRST_TASKS + 2))


def _note(descriptor: int, line: dict[str, object]) -> None:
    _write(descriptor, json.dumps(line).encode() + b"\n")


def _answer(team: TeamStore, name: str, verb: str, about: str) -> Answer:
    me, one = _still(member(team, name)), _still(human(team))
    try:
        return _done(team, me, one, verb, about)
    except Pro0Error as error:
        return "no", error.code


def _done(team: TeamStore, me: Context, one: Context, verb: str, about: str) -> Answer:
    match verb:
        case "create":
            return "ok", int(tasks.create(me, [Draft(title="more")])[0].id.removeprefix("task-"))
        case "list":
            return "ok", *(str(task.status) for task in team.tasks.read().tasks)
        case "show":
            task = tasks.show(me, about)
            return "ok", str(task.status), task.claim.agent_id if task.claim else "", task.epoch
        case "take":
            taken = tasks.take(me)
            return ("ok", int(taken.id.removeprefix("task-")), taken.epoch) if taken else ("ok", None)
        case "claim":
            return "ok", int(about), tasks.claim(me, about).epoch
        case "send":
            return "ok", messages.send(me, BOX, about).seq
        case "read":
            letters = messages.inbox(_still(member(team, BOX)), acknowledge=True)
            return "ok", *(letter.message.content for letter in letters)
    acts: dict[str, tuple[Callable[..., object], Context]] = {
        "complete": (tasks.complete, me),
        "release": (tasks.release, me),
        "fail": (tasks.fail, me),
        "cancel": (tasks.cancel, one),
        "reopen": (tasks.reopen, one),
    }
    act, context = acts[verb]
    act(context, about)
    return ("ok",)


def _still(context: Context) -> Context:
    return replace(context, now=lambda: NOW)


def read(home: Path) -> list[Call]:
    """Return what the clients wrote down."""
    calls = []
    for name in CLIENTS:
        asked: dict[str, Any] = {}
        lines = [json.loads(line) for line in (home / f"history-{name}").read_text().splitlines()]
        for line in (*lines, {"asked": 0}):
            if "asked" in line:
                if asked:
                    calls.append(Call(name, asked["verb"], asked["about"], asked["asked"], NEVER, None))
                asked = line
            else:
                times = (asked["asked"], line["told"])
                calls.append(Call(name, asked["verb"], asked["about"], *times, tuple(line["answer"])))
                asked = {}
    return calls


def explained(calls: list[Call]) -> bool:
    """Return whether the history of a team is what the model allows."""
    mail = [call for call in calls if call.verb in ("send", "read")]
    others = [call for call in calls if call.verb not in ("send", "read")]
    return linearizable(others, tasks_step, start_of_tasks(FIRST_TASKS)) and linearizable(
        mail, mail_step, START_OF_MAIL
    )
