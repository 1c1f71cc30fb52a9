"""Who may do what: every operation, every kind of caller, dead and strange sessions (rulings 2.3, 3.11)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.errors import Pro0Error, Refused
from pro0.model.caller import ANYONE, Who
from pro0.model.decision import Harvest
from pro0.model.message import Message, MessageType
from pro0.model.need import Choice
from pro0.model.runtime import ENDED, State
from pro0.model.task import Awaiting, Changes, Draft
from pro0.model.usage import Usage
from pro0.ops import grants, permissions
from pro0.ops.catalog import NOUNS, OPERATIONS
from pro0.ops.context import Context
from pro0.ops.mail import delivery, listing, messages
from pro0.ops.repair import repair
from pro0.ops.tasks import gates, importing, roles, tasks, trees
from pro0.ops.team import (
    costs,
    events,
    feed,
    machines,
    members,
    needs,
    outside,
    plan_approval,
    progress,
    status,
    teams,
)
from pro0.ops.work import diffs, hiring, runs, sessions, workers
from pro0.store.teams import Store
from tests.faults import contents
from tests.teams import ASKED, NOW, as_who, human, make_team, member, set_state

HUMAN, LEAD, AGENT, MEMBER, OUTSIDE = Who.HUMAN, Who.LEAD, Who.LEAD_AGENT, Who.MEMBER, Who.OUTSIDE
PEOPLE, CHARGE, SESSIONS = {HUMAN, AGENT, MEMBER}, {HUMAN, AGENT}, {AGENT, MEMBER}

SENT = Message(id="m1", seq=1, from_="w2", to="w1", type=MessageType.MESSAGE, content="hello", timestamp=NOW)

CALLS: dict[str, tuple[set[Who] | frozenset[Who], Callable[[Context], object]]] = {
    "member.spawn": (CHARGE, lambda c: members.spawn(c, [members.SeatDraft(name="new")], 9)),
    "member.restart": (CHARGE, lambda c: members.restart(c, "w1")),
    "member.shutdown": (CHARGE, lambda c: members.shutdown(c, "w1")),
    "member.undo": ({LEAD}, lambda c: members.undo(c, "w1", 1, None)),
    "shutdown.answer": (SESSIONS, lambda c: members.answer(c, approve=True)),
    "permission.ask": (SESSIONS, lambda c: permissions.ask(c, ASKED)),
    "permission.relay": ({LEAD}, lambda c: permissions.relay(c, c.team.runtime.read().seats[0], ASKED)),
    "permission.answer": ({HUMAN}, lambda c: permissions.answer(c, "none", Choice.ALLOW)),
    "permission.settle": ({*SESSIONS, LEAD}, lambda c: permissions.settle(c, {})),
    "permission.list": (CHARGE, lambda c: permissions.list_requests(c)),
    "permission.show": ({*SESSIONS, HUMAN}, lambda c: permissions.show(c, "none")),
    "plan.submit": ({MEMBER}, lambda c: plan_approval.submit(c, "a plan")),
    "plan.approve": (CHARGE, lambda c: plan_approval.approve(c, "w1")),
    "plan.reject": (CHARGE, lambda c: plan_approval.reject(c, "w1", "no")),
    "shutdown.withdraw": ({LEAD}, lambda c: members.withdraw(c, "r1")),
    "member.hire": ({LEAD}, lambda c: hiring.hire(c, "1", "t1")),
    "member.dismiss": ({LEAD}, lambda c: hiring.dismiss(c, "t1", 1)),
    "role.list": (ANYONE, lambda c: roles.roles(c)),
    "member.list": (ANYONE, lambda c: members.members(c)),
    "member.env": ({HUMAN}, lambda c: grants.make(c, "w1")),
    "member.grants": ({HUMAN}, lambda c: grants.grants(c)),
    "member.forget": ({HUMAN}, lambda c: sessions.forget(c, "w1")),
    "member.revoke": ({HUMAN}, lambda c: grants.revoke(c, "w1")),
    "message.send": (PEOPLE, lambda c: messages.send(c, "w1", "hello")),
    "message.broadcast": (PEOPLE, lambda c: messages.broadcast(c, "hello")),
    "message.inbox": (PEOPLE, lambda c: messages.inbox(c)),
    "message.acknowledge": (PEOPLE, lambda c: messages.acknowledge(c, [])),
    "message.take_back": (SESSIONS, lambda c: messages.take_back(c)),
    "message.fate": (PEOPLE, lambda c: delivery.fate(c, SENT)),
    "message.history": (PEOPLE, lambda c: messages.history(c)),
    "message.sent": (PEOPLE, lambda c: messages.sent(c)),
    "message.list": (PEOPLE, lambda c: listing.listed(c)),
    "message.show": (PEOPLE, lambda c: listing.show(c, "x")),
    "session.list": (PEOPLE, lambda c: sessions.listed(c)),
    "session.show": (PEOPLE, lambda c: sessions.show(c, "inc-w1")),
    "event.list": (PEOPLE, lambda c: events.listed(c)),
    "message.conversation": (PEOPLE, lambda c: messages.conversation(c, "w1")),
    "message.unread": (ANYONE, lambda c: messages.unread(c)),
    "host.list": (ANYONE, lambda c: machines.list_machines(c)),
    "host.leave": ({HUMAN}, lambda c: machines.give_up(c, "two")),
    "need.list": (ANYONE, lambda c: needs.list_needs(c)),
    "need.seen": ({HUMAN}, lambda c: needs.mark_seen(c, "x")),
    "team.status": (ANYONE, lambda c: status.status(c)),
    "team.cost": (ANYONE, lambda c: costs.cost(c)),
    "team.limit": ({HUMAN}, lambda c: costs.limit(c, 1.0)),
    "team.lead": ({OUTSIDE}, lambda c: outside.lead(c)),
    "team.cleanup": (CHARGE, lambda c: teams.dismiss(c)),
    "team.progress": (ANYONE, lambda c: progress.progress(c)),
    "team.pause": (CHARGE, lambda c: teams.pause(c, paused=True)),
    "team.stop": (CHARGE, lambda c: teams.stop(c)),
    "team.repair": ({HUMAN}, lambda c: repair.repair(c, "/")),
    "team.resume": ({HUMAN}, lambda c: teams.resume(c)),
    "task.create": (PEOPLE, lambda c: tasks.create(c, [Draft(title="t")])),
    "task.claim": (PEOPLE, lambda c: tasks.claim(c, "1")),
    "task.take": (PEOPLE, lambda c: tasks.take(c)),
    "task.release": (ANYONE, lambda c: tasks.release(c, "1")),
    "task.complete": (PEOPLE, lambda c: tasks.complete(c, "1")),
    "task.fail": (ANYONE, lambda c: tasks.fail(c, "1")),
    "task.reopen": (PEOPLE, lambda c: tasks.reopen(c, "1")),
    "task.assign": (PEOPLE, lambda c: tasks.assign(c, "1", "w1")),
    "task.cancel": (PEOPLE, lambda c: tasks.cancel(c, "1")),
    "task.update": (PEOPLE, lambda c: tasks.update(c, "1", Changes(title="u"))),
    "task.delete": (CHARGE, lambda c: tasks.delete(c, "1")),
    "worker.delegate": (CHARGE, lambda c: workers.delegate(c, [Draft(title="t", shared=True)])),
    "worker.list": (ANYONE, lambda c: workers.workers(c)),
    "worker.kill": (CHARGE, lambda c: workers.kill(c, "1")),
    "worker.predict": (ANYONE, lambda c: workers.predict(c, "1")),
    "worker.merge": (CHARGE, lambda c: workers.merge(c, "1")),
    "worker.harvested": (
        {LEAD},
        lambda c: workers.record_result(c, Harvest("t1", "inc-t1", "1"), workers.WorkerResult(), ""),
    ),
    "diff.show": (ANYONE, lambda c: diffs.show(c, "1")),
    "member.predict": (ANYONE, lambda c: diffs.predict(c, "w1")),
    "member.merge": (CHARGE, lambda c: diffs.merge(c, "w1")),
    "task.approve": ({HUMAN}, lambda c: gates.approve(c, "1")),
    "task.reject": ({HUMAN}, lambda c: gates.reject(c, "1", "no")),
    "task.hold": ({HUMAN}, lambda c: gates.hold(c, "1", Awaiting.WORK)),
    "task.clear": ({HUMAN}, lambda c: gates.clear(c, "1")),
    "task.close": ({HUMAN}, lambda c: gates.close(c, "1")),
    "task.continue": ({HUMAN}, lambda c: gates.go_on(c, "1")),
    "task.retry": (CHARGE, lambda c: gates.retry(c, "1")),
    "task.hand_off": (PEOPLE, lambda c: gates.hand_off(c, "1", Awaiting.INPUT, "which?")),
    "task.start": ({HUMAN}, lambda c: trees.start(c, "1")),
    "task.begin": ({LEAD}, lambda c: trees.begin(c, "1", "w1", "inc-w1")),
    "task.undo_start": ({LEAD}, lambda c: trees.undo_start(c, "1", "no program")),
    "task.expire": ({LEAD}, lambda c: trees.expire(c, "1", 1, 30)),
    "task.free": ({LEAD}, lambda c: tasks.free(c, "w1", "inc-w1", "died")),
    "task.import": ({HUMAN}, lambda c: importing.import_all(c, [])),
    "run.stop": ({MEMBER}, lambda c: runs.stopped(c, "cost limit reached")),
    "task.count": ({MEMBER}, lambda c: runs.counted(c, "1", Usage(output_tokens=1), 0.1)),
    "task.comment": (PEOPLE, lambda c: tasks.comment(c, "1", "a remark")),
    "task.remarks": (ANYONE, lambda c: tasks.remarks(c, "1")),
    "task.history": (ANYONE, lambda c: tasks.history(c, "1")),
    "task.show": (ANYONE, lambda c: tasks.show(c, "1")),
    "task.list": (ANYONE, lambda c: tasks.list_tasks(c)),
    "task.ready": (ANYONE, lambda c: tasks.ready(c)),
    "task.blocked": (ANYONE, lambda c: tasks.blocked(c)),
    "task.watch": (ANYONE, lambda c: feed.subscribe(c).news()),
    "task.waiting": (ANYONE, lambda c: tasks.waiting(c, frozenset(Awaiting))),
    "task.next": (ANYONE, lambda c: tasks.next_task(c)),
}


FORBIDDEN = [name for name, (by, _) in CALLS.items() if MEMBER not in by]
"""What no member may do."""


def test_the_table_is_whole() -> None:
    """Every operation is here, and says in its first line what it does."""
    assert set(CALLS) == set(OPERATIONS)
    assert {name: set(operation.by) for name, operation in OPERATIONS.items()} == {
        name: set(by) for name, (by, _) in CALLS.items()
    }
    assert all(operation.summary.endswith(".") for operation in OPERATIONS.values())
    assert len(NOUNS) == 27


REFUSED_BY_RULES = {"task.reopen", "task.assign", "task.cancel", "task.update", "plan.approve", "plan.reject"}
"""What a rule may refuse to some of those that the table lets through; the rules' tests say whom."""


@pytest.fixture
def base(home: Path) -> Path:
    """A team with a lead agent, a member and one pending task."""
    tasks.create(human(make_team(home, "lead", "w1")), [Draft(title="t")])
    return home


@pytest.mark.parametrize("who", Who)
@pytest.mark.parametrize("name", CALLS)
def test_allowed_exactly_as_the_table_says(base: Path, name: str, who: Who) -> None:
    """Rulings 2.3: refusal is exit 4, `not_allowed`, and nothing is written."""
    by, call = CALLS[name]
    before = contents(base)
    code = ""
    try:
        call(as_who(Store(base).team("alpha"), who))
    except Pro0Error as error:
        code = error.code
    if who in by:
        assert code not in ("stale_session", "not_member")
        assert code != "not_allowed" or name in REFUSED_BY_RULES
    else:
        assert code == "not_allowed"
        assert contents(base) == before


@pytest.mark.parametrize("act", ["task.reopen", "task.assign", "task.cancel", "task.update"])
def test_a_member_is_not_in_charge(base: Path, act: str) -> None:
    """Rulings 2: the rule refuses what the table of operations lets through."""
    before = contents(base)
    with pytest.raises(Refused):
        CALLS[act][1](member(Store(base).team("alpha"), "w1"))
    assert contents(base) == before


CHANGING = [name for name, operation in OPERATIONS.items() if operation.changes and MEMBER in operation.by]


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("what", ["another incarnation", "no member", *sorted(ENDED)])
def test_a_session_that_is_over_changes_nothing(base: Path, name: str, what: str) -> None:
    """Rulings 2.11, 3.11; reliability 21: late calls of dead sessions."""
    team = Store(base).team("alpha")
    context = member(team, "w1")
    if what == "another incarnation":
        context = member(team, "w1", "inc-older")
    elif what == "no member":
        context = member(team, "stranger")
    else:
        set_state(team, "w1", State(what))
    before = contents(base)
    with pytest.raises(Refused) as raised:
        CALLS[name][1](context)
    assert raised.value.code == ("not_member" if what == "no member" else "stale_session")
    assert contents(base) == before
