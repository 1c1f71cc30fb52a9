"""Supervised trees with scripted agents: what they are to do, and what they have done."""

import json
import random
import sys
from pathlib import Path

from pro0.engine import outcomes
from pro0.model.caller import THE_HUMAN
from pro0.model.home import Role
from pro0.model.task import Draft
from pro0.ops.tasks import roles, tasks, trees
from tests.engine.crew import Crew

SPECIALIST = Path(__file__).parents[1] / "programs" / "specialist.py"
ROOT = "task-1"

Plan = dict[str, object]


def work(title: str, priority: int | None = None, needs: str = "") -> Plan:
    """A piece of work."""
    return {"title": title, "priority": priority, "script": {"work": needs}}


def plan(title: str, *below: Plan, priority: int | None = None) -> Plan:
    """A task that plans others."""
    return {"title": title, "priority": priority, "script": {"plan": below}}


def shuffled(count: int, seed: int = 1, **needs: str) -> list[Plan]:
    """Pieces of work in no order, each with its place as its priority: `w07` goes eighth."""
    pieces = [work(f"w{number:02}", number, needs.get(f"w{number:02}", "")) for number in range(count)]
    random.Random(seed).shuffle(pieces)
    return pieces


def begin(crew: Crew, root: Plan) -> None:
    """Start a tree; all its sessions are those of the scripted agent."""
    argv = (sys.executable, "-I", str(SPECIALIST))
    roles.add(crew.store, THE_HUMAN, Role(id="specialist", name="Specialist", agent="command", argv=argv))
    script = json.dumps(root["script"])
    [made] = tasks.create(crew.context, [Draft(title=str(root["title"]), description=script, role="specialist")])
    outcomes.begun(crew.team, trees.start(crew.context, made.id), crew.shown.append)


def journal(crew: Crew) -> list[str]:
    """What was worked on, in order; each piece begins and ends before the next one does."""
    lines = (crew.project / "journal").read_text().splitlines() if (crew.project / "journal").exists() else []
    begun = [line.removeprefix("begin ") for line in lines[::2]]
    assert lines == [f"{word} {title}" for title in begun for word in ("begin", "end")]
    return begun


def told(crew: Crew, name: str, word: str) -> list[str]:
    """What a mailbox got with this word in it."""
    return [message.content for message in crew.mail(name) if word in message.content]


def acts(crew: Crew, id: str) -> list[str]:
    """What was done to a task, in order."""
    return [entry.act for entry in tasks.history(crew.context, id)]
