"""Small homes in which operations start: each function makes one, in a folder that is not there yet."""

from pathlib import Path

from msgspec.structs import replace

from pro0.model.need import NeedKind, Trouble
from pro0.model.runtime import Hosted, Phase, State
from pro0.model.task import Draft, Gate, Kind, Policy
from pro0.model.team import PlanGate, ShutdownWish, Wish
from pro0.ops import grants, permissions
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks, trees
from pro0.ops.team import plan_approval
from pro0.ops.work import hiring, workers
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, Request
from pro0.store.files import File
from pro0.store.paths import NEW, TRASH
from pro0.store.removal import archive
from pro0.store.teams import Store
from tests.crash.worlds import HEAD, HISTORY, World, small_archive
from tests.teams import ASKED, NOW, make_team, set_state


def empty(home: Path) -> None:
    """A home in which nothing was ever done."""
    home.mkdir(0o700)


def base(home: Path) -> None:
    """A team with a task in every phase, and a mailbox whose head is full."""
    world = World(home, "w")
    make_team(home, "w1", "w2")
    one, w1, w2 = world.human(), world.member("w1"), world.member("w2")
    tasks.create(
        one,
        [
            Draft(title="pending"),
            Draft(title="worked on by w1"),
            Draft(title="blocked", blocked_by=("2",)),
            Draft(title="epic", key="epic", type=Kind.EPIC),
            Draft(title="worked on by w2", parent="epic"),
            Draft(title="completed"),
            Draft(title="reserved for w2"),
        ],
    )
    tasks.claim(w1, "2")
    tasks.claim(w2, "5")
    tasks.claim(w1, "6")
    tasks.complete(w1, "6", "done")
    tasks.assign(one, "7", "w2")
    tasks.comment(one, "2", "the first remark")
    _fill(world, "w2")


def _fill(world: World, to: str, sealed: int = 0) -> None:
    """Send until so many segments are sealed and the head is full, so that the next message seals one more."""
    number = 0
    while len((head := world.team.mailbox(to).head.read()).messages) < HEAD or head.sealed < sealed:
        messages.send(world.human() if to == "w2" else world.member("w1"), to, f"message {number}")
        number += 1


def gated(home: Path) -> None:
    """Task 8 waits for approval, 9 has failed, 10 is supervised and waits for 11, on which w2 works."""
    base(home)
    world = World(home, "w")
    w1, w2, lead = world.member("w1"), world.member("w2"), world.lead()
    drafts = [Draft(title="gated", requires=Gate.APPROVAL), Draft(title="failed")]
    tree = [Draft(title="tree", key="tree", policy=Policy.SUPERVISED), Draft(title="leaf", parent="tree")]
    tasks.create(world.human(), [*drafts, *tree])
    tasks.claim(w1, "8")
    tasks.complete(w1, "8", "look at it")
    tasks.claim(w2, "9")
    tasks.fail(w2, "9", "broken")
    trees.begin(lead, "10", "w1", "inc-w1")
    tasks.complete(w1, "10", "see the leaf")
    trees.begin(lead, "11", "w2", "inc-w2")


def hired(home: Path) -> None:
    """A seat is there for task 1."""
    gated(home)
    hiring.hire(World(home, "w").lead(), "1", "t1")


def wished(home: Path) -> None:
    """A session has begun with task 1, as a human wants."""
    gated(home)
    trees.start(World(home, "w").human(), "1")
    trees.begin(World(home, "w").lead(), "1", "w2", "inc-w2")


def delegated(home: Path) -> None:
    """Task 8 was delegated, and w2 works on it."""
    base(home)
    workers.delegate(World(home, "w").human(), [Draft(title="delegated", shared=True)])
    trees.begin(World(home, "w").lead(), "8", "w2", "inc-w2")


def sealed_once(home: Path) -> None:
    """The mailbox of w2 has one sealed segment."""
    base(home)
    _fill(World(home, "w"), "w2", 1)


def sealed_twice(home: Path) -> None:
    """The mailbox of w2 has two sealed segments."""
    base(home)
    _fill(World(home, "w"), "w2", 2)


def given(home: Path) -> None:
    """W2 was given its messages, and has acknowledged none."""
    base(home)
    messages.inbox(World(home, "w").member("w2"))


def mailed(home: Path) -> None:
    """The person has mail in both mailboxes that are the person's."""
    base(home)
    world = World(home, "w")
    for to in ("human", "lead", "human"):
        messages.send(world.member("w1"), to, f"to {to}")


def much_mailed(home: Path) -> None:
    """Both mailboxes that are the person's have a sealed segment and a full head; some of it was read."""
    base(home)
    world = World(home, "w")
    for to in ("human", "lead"):
        messages.send(world.member("w1"), to, "read")
    messages.inbox(world.human(), acknowledge=True)
    for to in ("human", "lead"):
        _fill(world, to, 1)


def led(home: Path) -> None:
    """A team with a lead agent, whose full mailbox is that of the address `lead`; the person asks w1 to end."""
    make_team(home, "lead", "w1", "w2")
    world = World(home, "w")
    _fill(world, "lead")
    _fill(world, "human")
    _ask(world)


def archived(home: Path) -> None:
    """A team whose completed task is in the archive."""
    base(home)
    with small_archive():
        tasks.complete(World(home, "w").member("w1"), "2")


def settled(home: Path) -> None:
    """Three settled tasks, none of them archived yet: more than a segment of the archive may hold."""
    base(home)
    world = World(home, "w")
    for id in ("2", "7"):
        tasks.cancel(world.human(), id)


def spilled(home: Path) -> None:
    """A task with one entry in a page of its older history; the next one is put into that page."""
    base(home)
    turn(World(home, "w"), 1)


def spilled_page(home: Path) -> None:
    """A task with a full page of older history; the next entry begins another."""
    base(home)
    turn(World(home, "w"), HISTORY)


def turn(world: World, earlier: int) -> None:
    """Do something to task 3 until so many entries of its history are in pages."""
    turns = 0
    while tasks.show(world.human(), "3").earlier < earlier:
        tasks.assign(world.human(), "3", ("w1", None)[turns % 2])
        turns += 1


def owing(home: Path) -> None:
    """A task list that owes two notices, since whoever made them was killed."""
    sealed_once(home)
    world = World(home, "w")
    with world.team.tasks.change("leave debts") as change:
        for id, to in (("1", "w2"), ("7", "w1")):
            asked = replace(Request(act=Act.ASSIGN, caller=world.human().caller, now=NOW), assignee=to)
            change.value, _ = changes.assign(change.value, f"task-{id}", asked, f"w-9{id}")


def troubled(home: Path) -> None:
    """A team with a hook that could not run, which the person has not seen yet."""
    base(home)
    with World(home, "w").team.troubles.change("note a trouble") as change:
        trouble = Trouble(id="t-1", kind=NeedKind.HOOK, subject="make check", why="exit code 127", at=NOW)
        change.value = replace(change.value, troubles=(trouble,))


def asking_leave(home: Path) -> None:
    """A team whose w1 asks for a permission."""
    base(home)
    permissions.ask(World(home, "w").member("w1"), ASKED)


def granted(home: Path) -> None:
    """Somebody acts as w1 from outside."""
    base(home)
    grants.make(World(home, "w").human(), "w1")


def asked(home: Path) -> None:
    """The member w1 is asked to end."""
    base(home)
    _ask(World(home))


def _ask(world: World) -> None:
    with world.team.wanted.change("ask") as change:
        wish = ShutdownWish(id="w-900", by="human", at=NOW)
        seats = (replace(seat, shutdown=wish if seat.agent_id == "w1" else None) for seat in change.value.seats)
        change.value = replace(change.value, seats=tuple(seats))


def unplanned(home: Path) -> None:
    """The member w1 is asked for a plan."""
    base(home)
    _gate(World(home), PlanGate())


def planned(home: Path) -> None:
    """The member w1 has handed its plan in."""
    unplanned(home)
    plan_approval.submit(World(home, "w").member("w1"), "first this")


def _gate(world: World, gate: PlanGate) -> None:
    with world.team.wanted.change("ask for a plan") as change:
        seats = (replace(seat, gate=gate) if seat.agent_id == "w1" else seat for seat in change.value.seats)
        change.value = replace(change.value, seats=tuple(seats))


def ended(home: Path) -> None:
    """The session of w1 has ended, its claims are not given back yet."""
    base(home)
    set_state(World(home).team, "w1", State.EXITED)


def far_away(home: Path) -> None:
    """The session of w1 has ended here, and its machine has not said that it has ended there."""
    ended(home)
    hosted = Hosted(
        agent_id="w1", incarnation="inc-w1", there="t-1", host="h", ssh="ssh", team="alpha", project="/", argv=("x",)
    )
    paths = World(home).team.paths
    File(paths.sessions, paths.hosted("inc-w1"), Hosted).create(hosted)


def alone(home: Path) -> None:
    """A team in which only the lead agent's session lives."""
    make_team(home, "lead")


def stopped(home: Path) -> None:
    """A stopped team, all of whose sessions have ended."""
    base(home)
    team = World(home).team
    for name in ("w1", "w2"):
        set_state(team, name, State.SHUTDOWN)
    with team.wanted.change("stop") as change:
        change.value = replace(change.value, wish=Wish.STOP, stop=ShutdownWish(id="w-900", by="human", at=NOW))
    with team.runtime.change("stop") as change_:
        change_.value = replace(change_.value, phase=Phase.STOPPED)


def half_removed(home: Path) -> None:
    """A team whose removal was only begun, and one that was only half made."""
    base(home)
    (home / "teams" / "alpha").rename(home / "teams" / f"{TRASH}alpha.uid-alpha")
    (home / "teams" / f"{NEW}beta").mkdir(0o700)
    (home / "tasks" / "beta").mkdir(0o700)


def gone_and_kept(home: Path) -> None:
    """A team that was removed, of which an archive is left."""
    sealed_once(home)
    Store(home).discard("alpha", "uid-alpha", NOW)


def half_archived(home: Path) -> None:
    """A team whose removal is committed, and whose archive is begun."""
    sealed_once(home)
    archive.begin(home, "alpha", "uid-alpha", NOW)
    (home / "teams" / "alpha").rename(home / "teams" / f"{TRASH}alpha.uid-alpha")
