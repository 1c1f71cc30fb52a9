"""How each kind of need arises for real, and how it is answered."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.config import USER_FILE
from pro0.errors import Refused
from pro0.model.agent import Definition, Modes, Signs
from pro0.model.caller import Caller, Who
from pro0.model.need import NeedKind, Surface
from pro0.model.runtime import RateLimit
from pro0.model.task import Awaiting, Draft, Policy
from pro0.model.team import OutsideAgent
from pro0.ops.context import Context, clock
from pro0.ops.mail import messages
from pro0.ops.repair import repair
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import costs, members, needs, plan_approval
from pro0.ops.team.members import SeatDraft
from tests.engine.crew import Crew
from tests.engine.test_announcing import is_over_its_cost

PUPPET = """
import os, pathlib, time
shown, file = None, pathlib.Path(os.environ["PRO0_AGENT_ID"] + ".shows")
while True:
    text = file.read_text() if file.exists() else "> "
    if text != shown:
        print("\\x1b[2J\\x1b[H" + text, end="", flush=True)
        shown = text
    time.sleep(0.05)
"""
SIGNS = Signs(prompt="> ", waiting=("Allow this?",), dialog=("Pick one",), error=("API Error",))
ANY = Modes(ask=(), edits=(), plan=(), bypass=())
AGENT = Definition(argv=(sys.executable, "-S", "-c", PUPPET, "{options}"), modes=ANY, screens=SIGNS)
PUPPETS = ("asker", "chooser", "failing", "holder")
"""Members that show what a file of theirs says; `worker` and `dying` are shells."""
NO_SUCH, FAILING = "no-such-program-of-mine", "nobody hears this"


def puppet(name: str, **more: object) -> SeatDraft:
    return SeatDraft(name=name, agent="puppet", definition=AGENT, **more)  # type: ignore[arg-type]


def show(alpha: Crew, name: str, text: str = "> ") -> None:
    new = alpha.project / f"{name}.new"
    new.write_text(text)
    new.rename(alpha.project / f"{name}.shows")


def shows(name: str, text: str) -> Callable[[Crew], object]:
    return lambda alpha: show(alpha, name, text)


def calm(name: str) -> Callable[[Crew], object]:
    return lambda alpha: show(alpha, name)


def as_member(alpha: Crew, name: str, **more: object) -> Context:
    return replace(alpha.context, caller=Caller(Who.MEMBER, name, alpha.state(name).incarnation), **more)


def titled(alpha: Crew, title: str) -> str:
    [id] = [task.id for task in tasks.board(alpha.context) if task.title == title]
    return id


def asks(kind: Awaiting) -> tuple[Callable[[Crew], object], Callable[[Crew], object]]:
    title = f"it awaits {kind}"

    def answer(alpha: Crew) -> None:
        gates.approve(alpha.context, titled(alpha, title), "yes")

    return lambda alpha: alpha.give(Draft(title=title, run="true", awaiting=kind)), answer


def cancelled(title: str) -> Callable[[Crew], object]:
    return lambda alpha: tasks.cancel(alpha.context, titled(alpha, title))


def is_strange_from_its_start(alpha: Crew) -> None:
    """What is known once stays known, so nothing has to be."""
    show(alpha, "lost", "what is this")
    members.spawn(alpha.context, [puppet("lost")], 10)


def has_enough(alpha: Crew) -> None:
    """A provider has enough for three hours: of that, words on a screen tell nothing, so it is written down."""
    now = clock()
    limit = RateLimit(agent="puppet", since=now, at=now, until=now + timedelta(hours=3), named=True, note="enough")
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, limits=(limit,))


def dies(alpha: Crew) -> None:
    os.kill(alpha.pids()["dying"][1], signal.SIGKILL)


def is_deaf(alpha: Crew) -> None:
    os.kill(alpha.pids()["deaf"][1], signal.SIGSTOP)
    members.shutdown(alpha.context, "deaf", timeout=0.5)


def is_out_of_reach(alpha: Crew) -> None:
    """The link of a member on another machine says so, as this program does."""
    script = """echo '{"state": "unreachable"}' >&$PRO0_STATE_FD; exec sleep 600"""
    members.spawn(alpha.context, [SeatDraft(name="far", agent="command", argv=("sh", "-c", script))], 20)


def hands_in(alpha: Crew) -> None:
    plan_approval.submit(as_member(alpha, "planner"), "first this, then that")


def cannot_start(alpha: Crew) -> None:
    members.spawn(alpha.context, [SeatDraft(name="unready", worktree=True)], 10)


def starts(alpha: Crew) -> None:
    (alpha.project / "ready").touch()
    cannot_start(alpha)


def never_comes_up(alpha: Crew) -> None:
    draft = SeatDraft(name="unborn", agent="command", argv=("./unborn",), unattended=True)
    members.spawn(alpha.context, [draft], 20)


def comes_up(alpha: Crew) -> None:
    (alpha.project / "unborn").write_text("#!/bin/sh\nexec sleep 600\n")
    (alpha.project / "unborn").chmod(0o755)
    members.restart(alpha.context, "unborn")


def fails(alpha: Crew) -> None:
    alpha.settled(*alpha.give(Draft(title="it fails", run="exit 3", assignee="worker")))


def reopened(alpha: Crew) -> None:
    tasks.cancel(alpha.context, tasks.reopen(alpha.context, titled(alpha, "it fails")).id)


def is_stuck(alpha: Crew) -> None:
    [first] = alpha.give(Draft(title="first", awaiting=Awaiting.WORK))
    alpha.give(Draft(title="it is stuck", blocked_by=(first,), run="true"))
    tasks.cancel(alpha.context, first)


def holds_and_is_idle(alpha: Crew) -> None:
    """It has held a task for ten minutes; that it is idle as long is written down while nobody leads."""
    earlier = clock() - timedelta(minutes=10)
    alpha.give(Draft(title="it is held", assignee="holder"))
    tasks.claim(as_member(alpha, "holder", now=lambda: earlier), titled(alpha, "it is held"))


def is_done(alpha: Crew) -> None:
    tasks.complete(as_member(alpha, "holder"), titled(alpha, "it is held"), "done")


def no_hook(alpha: Crew) -> None:
    path = alpha.store.home / USER_FILE
    before = path.read_text()
    settings = json.loads(before)
    path.write_text(json.dumps(settings | {"hooks": settings["hooks"] | {"TaskCreated": NO_SUCH}}))
    with pytest.raises(Refused, match="cannot run"):
        alpha.give(Draft(title="never made"))
    path.write_text(before)


def is_repaired(alpha: Crew) -> None:
    """The mailbox of a member is cut in the middle of its letters, and mended while nobody leads."""
    for number in range(3):
        messages.send(alpha.context, "worker", f"letter {number}")
    path = alpha.team.mailbox("worker").head.path
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    repair.repair(alpha.context, str(alpha.project))


def leads_and_goes(alpha: Crew) -> None:
    agent = subprocess.Popen(["sleep", "600"])
    me = processes.identify(agent.pid)
    assert me
    with alpha.team.wanted.change("a test") as change:
        change.value = replace(change.value, outside=OutsideAgent(incarnation="outside-1", process=me, since=clock()))
    agent.kill()
    agent.wait()


def trouble_over(kind: NeedKind) -> Callable[[Crew], object]:
    def answer(alpha: Crew) -> None:
        for one in alpha.team.troubles.read().troubles:
            if one.kind is kind:
                needs.mark_seen(alpha.context, one.id)

    return answer


class Row(NamedTuple):
    """How a need arises, in the order of this table, and how it is answered, in the opposite order."""

    begin: Callable[[Crew], object]
    answer: Callable[[Crew], object]


def nothing(_alpha: Crew) -> None:
    """It arises, or goes, with another."""


ROWS: dict[NeedKind, Row] = {
    NeedKind.LOST: Row(is_strange_from_its_start, calm("lost")),
    NeedKind.WORKTREE: Row(cannot_start, starts),
    NeedKind.PERMISSION: Row(shows("asker", "Allow this?\n> "), calm("asker")),
    NeedKind.DIALOG: Row(shows("chooser", "Pick one\n> "), calm("chooser")),
    NeedKind.ERROR: Row(shows("failing", "API Error\n> "), calm("failing")),
    NeedKind.LIMIT: Row(has_enough, nothing),
    NeedKind.QUESTION: Row(*asks(Awaiting.INPUT)),
    NeedKind.GATE: Row(*asks(Awaiting.CONTENT)),
    NeedKind.REVIEW: Row(*asks(Awaiting.REVIEW)),
    NeedKind.ESCALATION: Row(*asks(Awaiting.ESCALATION)),
    NeedKind.PLAN: Row(hands_in, lambda alpha: plan_approval.approve(alpha.context, "planner")),
    NeedKind.CRASH: Row(dies, lambda alpha: members.restart(alpha.context, "dying")),
    NeedKind.NOT_STARTED: Row(never_comes_up, comes_up),
    NeedKind.UNRESPONSIVE: Row(is_deaf, lambda alpha: members.shutdown(alpha.context, "deaf", timeout=0, force=True)),
    NeedKind.UNREACHABLE: Row(
        is_out_of_reach, lambda alpha: members.shutdown(alpha.context, "far", timeout=0, force=True)
    ),
    NeedKind.FAILED: Row(fails, reopened),
    NeedKind.STUCK: Row(is_stuck, cancelled("it is stuck")),
    NeedKind.STALLED: Row(
        lambda alpha: alpha.give(Draft(title="it stalls", policy=Policy.SUPERVISED)), cancelled("it stalls")
    ),
    NeedKind.UNTAKEN: Row(
        lambda alpha: alpha.give(Draft(title="words only", assignee="worker")), cancelled("words only")
    ),
    NeedKind.IDLE_CLAIM: Row(holds_and_is_idle, is_done),
    NeedKind.MAIL: Row(
        lambda alpha: messages.send(as_member(alpha, "worker"), "human", "red or blue?"),
        lambda alpha: messages.acknowledge(alpha.context, messages.inbox(alpha.context)),
    ),
    NeedKind.HOOK: Row(no_hook, trouble_over(NeedKind.HOOK)),
    NeedKind.LOSSES: Row(is_repaired, trouble_over(NeedKind.LOSSES)),
    NeedKind.OWN_AGENT: Row(leads_and_goes, lambda alpha: alpha.led()),
    NeedKind.COST: Row(is_over_its_cost, lambda alpha: costs.limit(alpha.context, 0.0)),
    NeedKind.NOTICE: Row(
        lambda alpha: alpha.give(Draft(title=FAILING, awaiting=Awaiting.INPUT)), trouble_over(NeedKind.NOTICE)
    ),
}

UNLED = (NeedKind.LIMIT, NeedKind.IDLE_CLAIM, NeedKind.LOSSES)
"""What arises while nobody leads."""
DEAF = {Surface.HOOK: NeedKind.HOOK, Surface.NOTIFY: NeedKind.NOTICE}
"""What each surface is not asked to tell: that it fails."""
LAST = NeedKind.NOTICE
"""A later notice that arrives would end it."""
