"""The checks of the demo's facts. Each has a name, and a detail that proves it or names the failure."""

from collections.abc import Iterable

import msgspec

from pro0.cli.demo import plan
from pro0.cli.demo.follow import CRASHED, Look
from pro0.cli.demo.repository import expected
from pro0.cli.demo.stage import Facts, Killing
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import Message, MessageType
from pro0.model.runtime import State
from pro0.model.task import Status, Task
from pro0.rules.tasks.acts import Act


class Expectation(msgspec.Struct, frozen=True):
    """One thing that must hold."""

    name: str
    held: bool
    detail: str


def judge(facts: Facts) -> list[Expectation]:
    """Return the checks of the whole demo, or one failed check for a demo that broke off."""
    if facts.broken:
        return [Expectation("the story", held=False, detail=facts.broken)]
    look, killing = facts.look, facts.killing
    if look is None or killing is None:
        return [Expectation("the story", held=False, detail="it did not begin")]
    return [
        all_done(look),
        once(look, killing),
        in_order(look),
        noticed(killing),
        retaken(look, killing),
        told_once(look, killing),
        returned(look, killing),
        mail(look, facts.inbox),
        committed(look, facts),
        works(facts),
        agreed(facts),
        clean(facts),
    ]


def all_done(look: Look) -> Expectation:
    """Every task is completed, by a member."""
    missing = [task.id for task in look.tasks if task.status is not Status.COMPLETED or not task.assignee]
    return _check("all done", missing, f"{len(look.tasks)} tasks are completed", "not completed")


def once(look: Look, killing: Killing) -> Expectation:
    """Every task was claimed and completed once; the dead member's was claimed twice."""
    odd = []
    for task in look.tasks:
        acts = [entry.act for entry in task.history if entry.act in (Act.CLAIM, Act.DIED, Act.COMPLETE)]
        killed = [Act.CLAIM, Act.DIED, Act.CLAIM, Act.COMPLETE]
        if acts != (killed if task.id == killing.task else [Act.CLAIM, Act.COMPLETE]):
            odd.append(f"{task.id} ({', '.join(acts)})")
    return _check(
        "exactly once", odd, "no task ran twice, except the one whose member was killed", "ran another number of times"
    )


def in_order(look: Look) -> Expectation:
    """No task was ever claimed before everything it waits for was completed."""
    tasks = {task.id: task for task in look.tasks}
    early = [
        f"{task.id} before {id}"
        for task in look.tasks
        for id in task.dependencies
        if not _after(_claimed(task), tasks[id])
    ]
    edges = sum(len(task.dependencies) for task in look.tasks)
    return _check("in order", early, f"{edges} dependencies were respected", "too early")


def noticed(killing: Killing) -> Expectation:
    """The death was noticed; the detail names the delay, which depends on the load of the machine."""
    after = killing.noticed_after
    return Expectation("death noticed", after is not None, f"after {after} s" if after is not None else "it was not")


def retaken(look: Look, killing: Killing) -> Expectation:
    """The task of the dead member was finished by another."""
    by = look.task(killing.title).assignee
    held = by is not None and by != killing.member
    return Expectation("work taken over", held, f"{killing.task} went from {killing.member} to {by}")


def told_once(look: Look, killing: Killing) -> Expectation:
    """The lead address was told of the death exactly once."""
    notices = [letter for letter in look.letters[LEAD] if letter.content.startswith(f"{killing.member} {CRASHED}")]
    detail = (
        "the lead address was told of the death once"
        if len(notices) == 1
        else f"the lead was told {len(notices)} times"
    )
    return Expectation("told once", len(notices) == 1, detail)


def returned(look: Look, killing: Killing) -> Expectation:
    """The restarted member, in a new session, did the task that was reserved for it."""
    task = look.task(plan.RELEASE.title)
    done = next((entry for entry in reversed(task.history) if entry.act == Act.COMPLETE), None)
    held = done is not None and done.actor == killing.member and done.incarnation != killing.incarnation
    return Expectation("came back", held, f"{task.id} was done by {task.assignee}, in a new session")


def mail(look: Look, inbox: int) -> Expectation:
    """Every message was delivered once and read."""
    between, yours = between_members(look), from_members(look)
    reached = {letter.to for letter in _all(look) if letter.type is MessageType.BROADCAST}
    unread = [member.agent_id for member in look.members if member.unread]
    trouble = [f"unread: {name}" for name in unread]
    trouble += [] if reached == set(plan.MEMBERS) else [f"the broadcast reached {sorted(reached)}"]
    trouble += [] if len(between) == len(plan.MODULES) else [f"{len(between)} messages between members"]
    trouble += [] if len(yours) == 2 and inbox >= 2 else [f"{len(yours)} messages from members to you"]
    return _check("mail", trouble, "every message arrived, once, and was read", "trouble")


def committed(look: Look, facts: Facts) -> Expectation:
    """Every task left one commit by the member that finished it, and the release names the last."""
    commits = [(commit.subject, commit.author) for commit in facts.commits]
    wrong = [task.title for task in look.tasks if commits.count((task.title, task.assignee or "")) != 1]
    wrong += [] if facts.released else [f"{plan.TAG} is not the last commit, or something is uncommitted"]
    wrong += [] if len(commits) == len(look.tasks) + 1 else [f"{len(commits)} commits"]
    return _check("commits", wrong, f"one for each task, by the member that did it, tagged {plan.TAG}", "wrong")


def works(facts: Facts) -> Expectation:
    """The team's program prints the expected text."""
    good = facts.printed == expected()
    return Expectation(
        "the program", good, "it was built, and prints what it should" if good else f"it prints {facts.printed!r}"
    )


def agreed(facts: Facts) -> Expectation:
    """Every member agreed to its shutdown, and ended in this way."""
    refused = [name for name, yes in facts.agreed.items() if not yes]
    refused += [f"{state.agent_id}: {state.state}" for state in facts.ended if state.state is not State.SHUTDOWN]
    return _check("shutdown", refused, "every member agreed, and ended", "did not")


def clean(facts: Facts) -> Expectation:
    """Nothing of the team is left."""
    return _check("nothing left", facts.left or [], "no process, no tmux server, no file of the team", "left")


def between_members(look: Look) -> list[Message]:
    """Return the messages that members sent to each other."""
    return [m for m in _all(look) if m.type is MessageType.MESSAGE and {m.from_, m.to} <= set(plan.MEMBERS)]


def from_members(look: Look) -> list[Message]:
    """Return the messages that members sent to the person."""
    return [m for m in look.letters[HUMAN] if m.type is MessageType.MESSAGE and m.from_ in plan.MEMBERS]


def from_you(look: Look) -> list[Message]:
    """Return the person's messages, a broadcast once for each recipient."""
    written = (MessageType.MESSAGE, MessageType.BROADCAST)
    return [m for m in _all(look) if m.type in written and m.from_ == HUMAN]


def _all(look: Look) -> list[Message]:
    return [letter for letters in look.letters.values() for letter in letters]


def _claimed(task: Task) -> list[float]:
    return [entry.at.timestamp() for entry in task.history if entry.act == Act.CLAIM]


def _after(claims: Iterable[float], needed: Task) -> bool:
    return needed.completed_at is not None and all(at >= needed.completed_at.timestamp() for at in claims)


def _check(name: str, trouble: list[str], good: str, bad: str) -> Expectation:
    return Expectation(name, not trouble, f"{bad}: {', '.join(trouble)}" if trouble else good)
