"""What must be true of a team after all that was done to it: one line for each violation."""

from collections import Counter
from collections.abc import Iterator

from pro0 import processes
from pro0.model.message import Message
from pro0.model.runtime import ENDED
from pro0.model.task import Status, Task
from pro0.ops.context import INCARNATION, TEAM_UID
from pro0.ops.tasks import tasks
from tests.scenarios.leads import leader
from tests.soak.band import MISFITS, WORKERS, Band


def audit(band: Band) -> list[str]:
    """Return every violation of a team that is at rest."""
    return [*_tasks(band), *_mail(band), *_notices(band), *_processes(band)]


def _tasks(band: Band) -> Iterator[str]:
    """Every task that was acknowledged is there and done, once, and each further run is accounted for by a death."""
    found = {task.id: task for task in tasks.list_tasks(band.crew.context, archived=True)}
    said = [line.split() for line in band.log.read_text().splitlines()]
    runs: dict[str, list[tuple[str, str]]] = {}
    for what, id, incarnation in said:
        runs.setdefault(id, []).append((what, incarnation))
    for id in band.given:
        if id not in found:
            yield f"{id} was acknowledged, and is lost"
    titles = Counter(task.title for task in found.values() if task.title in band.doubtful)
    yield from (f"{title!r} is there {count} times" for title, count in titles.items() if count > 1)
    for id, task in found.items():
        if task.run and task.run != "true":
            yield from _one_task(band, task, runs.get(id, []))


def _one_task(band: Band, task: Task, runs: list[tuple[str, str]]) -> Iterator[str]:
    history = tasks.history(band.crew.context, task.id)
    acts = Counter(entry.act for entry in history)
    begun = [incarnation for what, incarnation in runs if what == "begin"]
    if task.status is not Status.COMPLETED or not (task.result or "").endswith(f"did {task.id}"):
        yield f"{task.id} is {task.status}: {task.result} {dict(acts)} {history[-1].text}"
    if acts["complete"] != 1 or acts["claim"] != acts["died"] + 1:
        yield f"{task.id} was claimed and given back by halves: {dict(acts)}"
    if len(begun) > acts["claim"] or len(set(begun)) != len(begun) or not begun:
        yield f"{task.id} ran {len(begun)} times for {acts['claim']} claims"
    over: set[str] = set()
    for _, incarnation in runs:
        if incarnation in over:
            yield f"{task.id} ran in two sessions at once"
        over |= {other for other in begun[: begun.index(incarnation)] if other != incarnation}


def _mail(band: Band) -> Iterator[str]:
    """Everything that was acknowledged came once, in order, and was read; what may have come came once at most."""
    lines = Counter(tuple(line.split()[:2]) for line in band.log.read_text().splitlines())
    for name in WORKERS:
        box = band.crew.team.mailbox(name)
        head = box.head.read()
        got = list(box.since(head, 0))
        yield from _numbered(name, got)
        texts = [message.content for message in got]
        count = Counter(texts)
        if [text for text in texts if text in set(band.sent[name])] != band.sent[name]:
            lost = [text for text in band.sent[name] if not count[text]]
            yield f"mail to {name} was lost, doubled or reordered; lost: {lost}"
        yield from (f"{text!r} came {count[text]} times to {name}" for text in band.doubtful if count[text] > 1)
        for text, times in count.items():
            if text.startswith("mail "):
                id = text.removeprefix("mail ")
                if not lines[f"sent-{name}", id] <= times <= lines["begin", id]:
                    yield f"{text!r} came {times} times to {name}"
        if head.acked != head.next_seq - 1:
            yield f"{name} has read {head.acked} of {head.next_seq - 1} messages"


def _numbered(name: str, got: list[Message]) -> Iterator[str]:
    if [message.seq for message in got] != list(range(1, len(got) + 1)):
        yield f"the mailbox of {name} has gaps"
    if len({message.id for message in got}) != len(got):
        yield f"the mailbox of {name} has a message twice"


def _notices(band: Band) -> Iterator[str]:
    """The lead address was told of each end once at most."""
    box = band.crew.team.mailbox("lead")
    got = list(box.since(box.head.read(), 0))
    yield from _numbered("lead", got)
    for name in (*WORKERS, *MISFITS):
        told = sum(message.content.startswith((f"{name} has crashed", f"{name} has exited")) for message in got)
        state = band.crew.state(name)
        if told > state.generation - (state.state not in ENDED):
            yield f"{told} ends of {name} were told, in generation {state.generation}, which is {state.state}"


def _processes(band: Band) -> Iterator[str]:
    """Whoever carries the team's tag is of a living session; there is one lead."""
    uid = band.crew.config.uid
    living = {state.incarnation for state in band.crew.team.runtime.read().seats if state.state not in ENDED}
    tagged = processes.having((TEAM_UID, INCARNATION))
    for process, values in tagged:
        if values[TEAM_UID] == uid and values[INCARNATION] not in living:
            yield f"pid {process.pid} is of a session that is over"
    if not leader(band.crew):
        yield "there is no lead"
