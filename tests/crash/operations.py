"""The one table of all that changes the store: where each operation starts, and what it does.

What old and new look like is not written down but measured: `Row.runs` does the operation once, twice and three times
in its world. Acknowledged means that the call returned.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0.errors import NotFound, Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.decision import Harvest
from pro0.model.need import Choice
from pro0.model.runtime import Process
from pro0.model.task import Awaiting, Changes, Draft
from pro0.model.team import Member
from pro0.model.usage import Usage
from pro0.ops import grants, permissions
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, importing, tasks, trees
from pro0.ops.team import archives, costs, members, needs, plan_approval, teams
from pro0.ops.team.members import SeatDraft
from pro0.ops.work import hiring, runs, sessions, workers
from pro0.rules.tickets.importing import Ticket
from pro0.store.lease import Lease
from tests.crash import starts, worlds
from tests.crash.worlds import Picture, Place, Tree, World
from tests.teams import ASKED, NOW, REQUEST, settle_debts

RUNS = "abc"


class Row(msgspec.Struct, frozen=True):
    """One operation in one world; `name` is that of the table of operations, or of what the store and the lead do."""

    name: str
    world: Callable[[Path], None]
    do: Callable[[World], object]
    about: str = ""
    owes: bool = False
    """Whether somebody is told afterwards, which may come later."""

    archives: bool = False
    """Whether the archive begins with the second settled task."""

    @property
    def id(self) -> str:
        """How reports name it."""
        return f"{self.name}{f' ({self.about})' if self.about else ''} in {self.world.__name__}"

    def call(self, home: Path, run: str = RUNS[0]) -> object:
        """Do it; raises what it raises."""
        with self._limits():
            return self.do(World(home, run))

    def _limits(self) -> AbstractContextManager[object]:
        return worlds.small_archive() if self.archives else nullcontext()

    def again(self, home: Path, run: str) -> None:
        """Do it once more, as a caller who had no answer would: it works, or says that it was done."""
        world = World(home, run)
        with suppress(Refused, NotFound), self._limits():
            self.do(world)
        worlds.recover(world)


class Known(msgspec.Struct, frozen=True):
    """What a row looks like: the tree before it, and the pictures before and after one, two and three of it."""

    start: Tree
    old: Picture
    new: Picture
    twice: Picture
    thrice: Picture
    revisions: dict[str, tuple[int, int]]
    """The revision of each document before, and after one."""


def create(world: World) -> object:
    return teams.create(world.store, THE_HUMAN, teams.Home(name="alpha", project=Path("/project")))


def record(world: World) -> None:
    with world.team.runtime.change("record") as change:
        lead = Process(pid=1, start="1", boot_id="b")
        change.value = replace(change.value, lead=lead, revived=(*change.value.revived, NOW))


def enlist(world: World) -> None:
    with world.team.config.change("list members") as change:
        kept = tuple(member for member in change.value.members if member.agent_id != "w3")
        change.value = replace(change.value, members=(*kept, Member(name="w3", agent_id="w3")))


def lease(world: World) -> None:
    taken = Lease(world.team.paths.team)
    try:
        assert taken.take("lead")
        taken.rest("stop")
    finally:
        taken.drop()


def letters(world: World) -> list[messages.Letter]:
    return messages.history(world.member("w2"))


AFTER = [Draft(title="after", blocked_by=("6",))]
TURNED = Changes(title="turned")
SEATS = [SeatDraft(name="w3"), SeatDraft(name="x")]
DRAFTS = [Draft(title="a", key="a", assignee="w1"), Draft(title="b", blocked_by=("a",)), Draft(title="c", parent="4")]
EVERY_HEAD = (starts.base, starts.sealed_once, starts.sealed_twice)
THE_PERSONS = (starts.mailed, starts.much_mailed)

TASKS = (
    Row("task.create", starts.base, lambda w: tasks.create(w.human(), DRAFTS), owes=True),
    Row("task.create", starts.archived, lambda w: tasks.create(w.human(), AFTER), "naming the archived", archives=True),
    Row("task.claim", starts.base, lambda w: tasks.claim(w.member("w1"), "1")),
    Row("task.take", starts.base, lambda w: tasks.take(w.member("w2"))),
    Row("task.release", starts.base, lambda w: tasks.release(w.member("w1"), "2", "cannot")),
    Row("task.complete", starts.base, lambda w: tasks.complete(w.member("w1"), "2", "result")),
    Row("task.complete", starts.base, lambda w: tasks.complete(w.member("w2"), "5", "result"), "the last subtask"),
    Row("task.fail", starts.base, lambda w: tasks.fail(w.member("w1"), "2", "no")),
    Row("task.cancel", starts.base, lambda w: tasks.cancel(w.human(), "2", "no"), owes=True),
    *(Row("task.cancel", world, lambda w: tasks.cancel(w.human(), "4"), "subtasks", True) for world in EVERY_HEAD),
    Row("task.reopen", starts.base, lambda w: tasks.reopen(w.human(), "6", "again"), "a first page of history"),
    Row("task.fail", starts.base, lambda w: tasks.fail(w.member("w1"), "2"), "archiving", archives=True),
    Row("task.complete", starts.archived, lambda w: tasks.complete(w.member("w2"), "5"), "archiving", archives=True),
    Row("task.claim", starts.settled, lambda w: tasks.claim(w.member("w1"), "1"), "two segments", archives=True),
    Row("task.reopen", starts.archived, lambda w: tasks.reopen(w.human(), "6"), "from the archive", archives=True),
    *(Row("task.assign", world, lambda w: tasks.assign(w.human(), "1", "w2"), owes=True) for world in EVERY_HEAD),
    Row("task.assign", starts.base, lambda w: tasks.assign(w.human(), "7", None), "to nobody"),
    Row("task.update", starts.base, lambda w: tasks.update(w.human(), "1", Changes(title="new", priority=0))),
    Row("task.update", starts.spilled, lambda w: tasks.update(w.human(), "3", TURNED), "a page that is begun"),
    Row("task.update", starts.spilled_page, lambda w: tasks.update(w.human(), "3", TURNED), "another page"),
    Row("task.delete", starts.base, lambda w: tasks.delete(w.human(), "2", force=True)),
    Row("task.comment", starts.base, lambda w: tasks.comment(w.human(), "2", "another")),
    Row("task.comment", starts.base, lambda w: tasks.comment(w.member("w2"), "1", "one"), "the first"),
    Row("task.free", starts.ended, lambda w: tasks.free(w.lead(), "w1", "inc-w1", "exited")),
    Row("settle_debts", starts.owing, lambda w: settle_debts(w.lead()), owes=True),
)
GATES = (
    Row("task.approve", starts.gated, lambda w: gates.approve(w.human(), "8", "good")),
    Row("task.reject", starts.gated, lambda w: gates.reject(w.human(), "8", "not yet")),
    Row("task.clear", starts.gated, lambda w: gates.clear(w.human(), "8")),
    Row("task.hold", starts.gated, lambda w: gates.hold(w.human(), "1", Awaiting.WORK, "mine")),
    Row("task.hand_off", starts.gated, lambda w: gates.hand_off(w.member("w1"), "2", Awaiting.INPUT, "which?")),
    Row("task.retry", starts.gated, lambda w: gates.retry(w.human(), "9")),
    Row("task.close", starts.gated, lambda w: gates.close(w.human(), "9", "good enough")),
    Row("task.continue", starts.gated, lambda w: gates.go_on(w.human(), "9", "once more"), owes=True),
    Row("task.start", starts.gated, lambda w: trees.start(w.human(), "1")),
    Row("task.begin", starts.gated, lambda w: trees.begin(w.lead(), "1", "w2", "inc-w2")),
    Row("task.begin", starts.gated, lambda w: trees.begin(w.lead(), "11", "w2", "inc-w2"), "it has it"),
    Row("task.expire", starts.gated, lambda w: trees.expire(w.lead(), "11", 1, 30), owes=True),
    Row("member.hire", starts.gated, lambda w: hiring.hire(w.lead(), "1", "t1")),
    Row("member.dismiss", starts.hired, lambda w: hiring.dismiss(w.lead(), "t1", 1)),
    Row("task.undo_start", starts.gated, lambda w: trees.undo_start(w.lead(), "11", "no program"), owes=True),
    Row("task.undo_start", starts.wished, lambda w: trees.undo_start(w.lead(), "1", "no program"), "a wish"),
    Row("task.complete", starts.gated, lambda w: tasks.complete(w.member("w2"), "11"), "reviewed", owes=True),
    Row("task.fail", starts.gated, lambda w: tasks.fail(w.member("w2"), "11", "no"), "a tree stops", owes=True),
)
CROP = workers.WorkerResult(branch="pro0/alpha/task-8", commits=1)
HARVEST = Harvest(agent_id="w2", incarnation="inc-w2", task="task-8")
TICKETS = [
    Ticket(origin="ticks:1", file="1.md", title="open", status="open", blocked_by=("ticks:2",)),
    Ticket(origin="ticks:2", file="2.md", title="closed", status="closed"),
]
WORKERS = (
    Row("worker.delegate", starts.base, lambda w: workers.delegate(w.human(), [Draft(title="a", shared=True)])),
    Row("worker.kill", starts.delegated, lambda w: workers.kill(w.human(), "8"), owes=True),
    Row(
        "worker.harvested", starts.delegated, lambda w: workers.record_result(w.lead(), HARVEST, CROP, "end"), owes=True
    ),
    Row("task.count", starts.base, lambda w: runs.counted(w.member("w1"), "2", Usage(input_tokens=7), 0.5)),
    Row("run.stop", starts.base, lambda w: runs.stopped(w.member("w1"), "cost limit reached"), owes=True),
    Row("run.stop", starts.led, lambda w: runs.stopped(w.member("w1"), "stuck"), "two are told", True),
    Row("task.import", starts.base, lambda w: importing.import_all(w.human(), TICKETS), owes=True),
)
MAIL = (
    *(Row("message.send", world, lambda w: messages.send(w.human(), "w2", "hello"), "sealing") for world in EVERY_HEAD),
    Row("message.send", starts.base, lambda w: messages.send(w.member("w2"), "w1", "hello")),
    Row("message.send", starts.much_mailed, lambda w: messages.send(w.member("w2"), "human", "hello"), "to the person"),
    Row("message.send", starts.led, lambda w: messages.send(w.human(), "lead", "hello"), "to the lead agent"),
    Row("message.broadcast", starts.sealed_once, lambda w: messages.broadcast(w.human(), "to all")),
    *(Row("message.inbox", world, lambda w: messages.inbox(w.member("w2"))) for world in EVERY_HEAD),
    Row("message.inbox", starts.sealed_once, lambda w: messages.inbox(w.member("w2"), acknowledge=True), "at once"),
    Row("message.inbox", starts.led, lambda w: messages.inbox(w.member("lead")), "of the lead agent"),
    *(Row("message.inbox", world, lambda w: messages.inbox(w.human()), "of the person") for world in THE_PERSONS),
    *(
        Row("message.inbox", world, lambda w: messages.inbox(w.human(), acknowledge=True), "of the person, at once")
        for world in THE_PERSONS
    ),
    Row("message.take_back", starts.given, lambda w: messages.take_back(w.member("w2"))),
    Row("message.acknowledge", starts.sealed_once, lambda w: messages.acknowledge(w.member("w2"), letters(w))),
    Row(
        "message.acknowledge",
        starts.much_mailed,
        lambda w: messages.acknowledge(w.human(), messages.history(w.human())),
        "of the person",
    ),
)
TEAMS = (
    Row("member.spawn", starts.base, lambda w: members.spawn(w.human(), SEATS, 9)),
    Row("member.spawn", starts.ended, lambda w: members.spawn(w.human(), [SeatDraft(name="w1")], 9), "in its seat"),
    Row("member.restart", starts.ended, lambda w: members.restart(w.human(), "w1")),
    Row("member.env", starts.base, lambda w: grants.make(w.human(), "w1")),
    Row("member.env", starts.granted, lambda w: grants.make(w.human(), "w1"), "beside another"),
    Row("member.revoke", starts.granted, lambda w: grants.revoke(w.human(), "w1")),
    Row("member.forget", starts.far_away, lambda w: sessions.forget(w.human(), "w1")),
    Row("member.shutdown", starts.base, lambda w: members.shutdown(w.human(), "w1", reason="enough")),
    Row("shutdown.answer", starts.asked, lambda w: members.answer(w.member("w1"), approve=True), owes=True),
    Row("shutdown.answer", starts.led, lambda w: members.answer(w.member("w1"), approve=True), "two are told", True),
    Row("shutdown.withdraw", starts.asked, lambda w: members.withdraw(w.lead(), "w-900")),
    Row("plan.submit", starts.unplanned, lambda w: plan_approval.submit(w.member("w1"), "first this"), owes=True),
    Row("plan.approve", starts.planned, lambda w: plan_approval.approve(w.human(), "w1")),
    Row("plan.reject", starts.planned, lambda w: plan_approval.reject(w.human(), "w1", "not so"), owes=True),
    Row("permission.ask", starts.base, lambda w: permissions.ask(w.member("w1"), ASKED)),
    Row("permission.relay", starts.base, lambda w: permissions.relay(w.lead(), w.team.runtime.read().seats[0], ASKED)),
    Row("permission.answer", starts.asking_leave, lambda w: permissions.answer(w.human(), REQUEST, Choice.DENY, "no")),
    Row("permission.settle", starts.asking_leave, lambda w: permissions.settle(w.member("w1"), {REQUEST: "taken"})),
    Row("need.seen", starts.troubled, lambda w: needs.mark_seen(w.human(), "t-1")),
    Row("member.undo", starts.base, lambda w: members.undo(w.lead(), "w2", 1, None)),
    Row("team.create", starts.empty, create),
    Row("team.create", starts.half_removed, create, "after half a removal"),
    Row("team.pause", starts.base, lambda w: teams.pause(w.human(), paused=True)),
    Row("team.limit", starts.base, lambda w: costs.limit(w.human(), 5.0)),
    Row("team.stop", starts.base, lambda w: teams.stop(w.human())),
    Row("team.cleanup", starts.alone, lambda w: teams.dismiss(w.member("lead"))),
    Row("team.resume", starts.stopped, lambda w: teams.resume(w.human(), {"PATH": "/bin"})),
    Row("team.discard", starts.sealed_once, lambda w: w.store.discard("alpha", "uid-alpha")),
    Row("team.archive", starts.sealed_once, lambda w: w.store.discard("alpha", "uid-alpha", NOW)),
    Row("team.forget", starts.gone_and_kept, lambda w: archives.forget(w.store, archives.find(w.store, "alpha"))),
    Row("team.sweep", starts.half_archived, lambda w: w.store.sweep(), "with an archive"),
    Row("team.sweep", starts.half_removed, lambda w: w.store.sweep()),
    Row("lead.record", starts.base, record),
    Row("lead.list", starts.base, enlist),
    Row("lead.lease", starts.base, lease),
)
OPERATIONS_UNDER_TEST: tuple[Row, ...] = (*TASKS, *GATES, *WORKERS, *MAIL, *TEAMS)

ELSEWHERE = {
    "worker.merge": "tests/engine/test_workers.py: git merges first, and doing it again merges nothing twice",
    "member.merge": "tests/cli/test_diff.py: git merges, and doing it again merges nothing twice",
    "host.leave": "tests/ops/test_machines.py: it needs a database, and is killed there before each of its acts",
    "team.lead": "tests/ops/test_outside.py: what it writes names the process that does it",
    "team.repair": "test_repairs.py and tests/cli/test_doctor.py: it works on files that are corrupt already",
}
"""Operations that are not in the table, and what shows them instead."""


@cache
def known(row: Row) -> Known:
    """Return what a row looks like when nothing goes wrong; measured once a process."""
    with worlds.folder() as path, worlds.small():
        start = worlds.made(row.world)
        with Place(path).home(start) as home:
            trees = [start]
            row.call(home, RUNS[0])
            trees.append(worlds.tree(home))
            for run in RUNS[1:]:
                row.again(home, run)
                trees.append(worlds.tree(home))
        before, after = (worlds.documents(one) for one in trees[:2])
        found = {n: (worlds.revision(before.get(n, b"")), worlds.revision(after.get(n, b""))) for n in before | after}
        old, new, twice, thrice = (worlds.picture(one) for one in trees)
        return Known(start, old, new, twice, thrice, found)
