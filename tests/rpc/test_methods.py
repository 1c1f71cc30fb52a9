"""Every method, one by one: it is reached, its result is of its schema, and who may not call it is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from pro0.model.caller import PEOPLE_AND_AGENTS, Who
from pro0.model.runtime import Hosted
from pro0.model.task import Awaiting, Draft, Gate
from pro0.model.team import PlanGate
from pro0.model.usage import SessionUsage
from pro0.ops import permissions
from pro0.ops.catalog import OPERATIONS
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import members, plan_approval
from pro0.rpc.discovery import DISCOVER, callers, document
from pro0.rpc.table import METHODS, NOT_SERVED
from pro0.store.files import File
from pro0.store.teams import TeamStore
from pro0.wire import INVALID_PARAMS, METHOD_NOT_FOUND
from tests.conftest import let_scripts
from tests.crash.lanes import a_few
from tests.faults import contents
from tests.rpc.calling import Failed, call, client
from tests.teams import ASKED, REQUEST, human, make_team, member

TASK = "task-1"


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team with a lead agent and two teammates, whose person lets programs give verdicts."""
    let_scripts(home)
    return make_team(home, "lead", "w1", "w2")


Prepare = Callable[[TeamStore], object]


def a_task(team: TeamStore) -> None:
    tasks.create(human(team), [Draft(title="parse"), Draft(title="print", requires=Gate.REVIEW)])


def claimed(team: TeamStore) -> None:
    a_task(team)
    tasks.claim(member(team, "w1"), TASK)


def failed(team: TeamStore) -> None:
    claimed(team)
    tasks.fail(member(team, "w1"), TASK, "no parser")


def asking_leave(team: TeamStore) -> None:
    permissions.ask(member(team, "w1"), ASKED)


def asking(team: TeamStore) -> None:
    claimed(team)
    gates.hand_off(member(team, "w1"), TASK, Awaiting.INPUT, "tabs?")


def waiting(team: TeamStore) -> None:
    a_task(team)
    gates.hold(human(team), TASK, Awaiting.WORK, "you do it")


def completed(team: TeamStore) -> None:
    claimed(team)
    tasks.complete(member(team, "w1"), TASK)


def asked_to_end(team: TeamStore) -> None:
    members.shutdown(human(team), "w1")


def mail(team: TeamStore) -> None:
    messages.send(human(team), "w1", "hello")
    messages.send(member(team, "w1"), "human", "hello")


def costly(team: TeamStore) -> None:
    with team.usage.change("a test") as change:
        used = SessionUsage(agent_id="w1", incarnation="inc-w1", agent="claude", input_tokens=5, cost_usd=0.5)
        change.value = replace(change.value, sessions=(used,))


def planning(team: TeamStore) -> None:
    with team.wanted.change("a test") as change:
        seats = tuple(replace(seat, gate=PlanGate()) for seat in change.value.seats)
        change.value = replace(change.value, seats=seats)


def planned(team: TeamStore) -> None:
    planning(team)
    plan_approval.submit(member(team, "w1"), "first the parser")


def chatting(team: TeamStore) -> None:
    mail(team)
    failed(team)


def granted(team: TeamStore) -> None:
    call(client(team), "member.env", name="w1")


def elsewhere(team: TeamStore) -> None:
    """Another machine may still run what a session that is over has begun."""
    hosted = Hosted(
        agent_id="w1", incarnation="inc-9", there="t-9", host="h", ssh="ssh", team="alpha", project="/", argv=("x",)
    )
    File(team.paths.sessions, team.paths.hosted("inc-9"), Hosted).create(hosted)


W1 = Who.MEMBER
IN_ORDER: dict[str, tuple[Prepare | None, Who, dict[str, object]]] = {
    "agent.role.list": (None, W1, {}),
    "agent.role.create": (None, Who.HUMAN, {"name": "Tester", "role_prompt": "You test."}),
    "agent.role.update": (None, Who.HUMAN, {"role_id": "engineer", "name": "Builder", "role_prompt": "You build."}),
    "agent.role.delete": (None, Who.HUMAN, {"role_id": "designer"}),
    "member.predict": (None, W1, {"name": "w1"}),
    "member.peek": (None, W1, {"name": "w1", "lines": 5}),
    "host.leave": (None, Who.HUMAN, {"machine": "laptop2"}),
    "host.list": (None, W1, {}),
    "member.merge": (None, Who.LEAD_AGENT, {"name": "w1"}),
    "diff.show": (None, W1, {"name": "w1"}),
    "diff.patch": (None, W1, {"name": "w1"}),
    "event.list": (mail, W1, {"latest": 10}),
    "event.list.subscribe": (mail, Who.HUMAN, {}),
    "event.list.unsubscribe": (None, W1, {"id": "…"}),
    "cost.list.subscribe": (costly, W1, {}),
    "cost.list.unsubscribe": (None, W1, {"id": "…"}),
    "member.list": (a_task, W1, {}),
    "member.list.subscribe": (a_task, W1, {}),
    "member.list.unsubscribe": (None, W1, {"id": "…"}),
    "need.list.subscribe": (asking, W1, {}),
    "need.list.unsubscribe": (None, W1, {"id": "…"}),
    "member.shutdown": (None, Who.LEAD_AGENT, {"name": "w1", "reason": "enough", "timeout": 5, "force": True}),
    "member.env": (None, Who.HUMAN, {"name": "w1"}),
    "member.grants": (granted, Who.HUMAN, {}),
    "member.forget": (elsewhere, Who.HUMAN, {"name": "w1"}),
    "member.revoke": (granted, Who.HUMAN, {"named": "w1"}),
    "message.send": (None, W1, {"to": "w2", "content": "hello", "urgent": True}),
    "message.broadcast": (None, W1, {"content": "hello"}),
    "message.inbox": (mail, W1, {"acknowledge": True}),
    "message.acknowledge": (mail, W1, {"up_to": {"w1": 1}}),
    "message.history": (mail, Who.HUMAN, {}),
    "message.sent": (mail, Who.HUMAN, {}),
    "message.conversation": (mail, Who.HUMAN, {"correspondent": "w1"}),
    "message.unread": (mail, W1, {}),
    "message.list": (mail, W1, {"latest": 10}),
    "message.list.subscribe": (mail, Who.HUMAN, {}),
    "message.list.unsubscribe": (None, W1, {"id": "…"}),
    "message.show": (mail, W1, {"id": "m-1"}),
    "need.list": (asking, W1, {}),
    "need.seen": (None, Who.HUMAN, {"id": "no-such"}),
    "permission.answer": (asking_leave, Who.HUMAN, {"id": REQUEST, "choice": "deny", "said": "not now"}),
    "permission.list": (asking_leave, Who.HUMAN, {}),
    "permission.show": (asking_leave, W1, {"id": REQUEST}),
    "plan.submit": (planning, W1, {"said": "first the parser"}),
    "plan.show": (planned, W1, {"name": "w1"}),
    "plan.approve": (planned, Who.HUMAN, {"name": "w1"}),
    "plan.reject": (planned, Who.HUMAN, {"name": "w1", "feedback": "smaller"}),
    "shutdown.answer": (asked_to_end, W1, {"approve": False, "reason": "not yet"}),
    "session.list": (claimed, W1, {}),
    "session.chat.subscribe": (chatting, W1, {"session_id": "inc-w1"}),
    "session.chat.unsubscribe": (None, W1, {"id": "…"}),
    "session.chat.show": (chatting, W1, {"session_id": "w1", "item_id": "t-1"}),
    "session.chat.send": (None, Who.HUMAN, {"session_id": "w1", "content": "hello", "urgent": True}),
    "task.approve": (asking, Who.HUMAN, {"task_id": TASK, "said": "tabs"}),
    "task.assign": (a_task, Who.LEAD_AGENT, {"task_id": TASK, "to": "w2"}),
    "task.blocked": (a_task, W1, {}),
    "task.cancel": (a_task, Who.LEAD_AGENT, {"task_id": TASK, "reason": "no more"}),
    "task.claim": (a_task, W1, {"task_id": "1"}),
    "task.clear": (waiting, Who.HUMAN, {"task_id": TASK}),
    "task.close": (failed, Who.HUMAN, {"task_id": TASK, "result": "by hand"}),
    "task.comment.create": (claimed, W1, {"task_id": TASK, "content": "see parser.py"}),
    "task.comment.list": (failed, W1, {"task_id": TASK}),
    "task.complete": (claimed, W1, {"task_id": TASK, "result": "done"}),
    "task.continue": (asking, Who.HUMAN, {"task_id": TASK, "said": "tabs"}),
    "task.create": (a_task, Who.HUMAN, {"title": "x", "description": "y", "role_id": "engineer", "parent_id": TASK}),
    "task.delete": (a_task, Who.HUMAN, {"task_id": TASK}),
    "task.fail": (claimed, W1, {"task_id": TASK, "reason": "no"}),
    "task.hand_off": (claimed, W1, {"task_id": TASK, "kind": "input", "reason": "tabs?"}),
    "task.history": (failed, W1, {"task_id": TASK}),
    "task.hold": (a_task, Who.HUMAN, {"task_id": TASK, "kind": "work", "reason": "mine"}),
    "task.list": (failed, W1, {"archived": True}),
    "task.list.subscribe": (asking, W1, {}),
    "task.list.unsubscribe": (None, W1, {"id": "…"}),
    "task.next": (a_task, W1, {"scope": {"epic": TASK}}),
    "task.ready": (a_task, W1, {}),
    "task.reject": (waiting, Who.HUMAN, {"task_id": TASK, "feedback": "again"}),
    "task.release": (claimed, W1, {"task_id": TASK, "reason": "another is better"}),
    "task.reopen": (completed, Who.HUMAN, {"task_id": TASK, "reason": "not so"}),
    "task.resolve": (failed, Who.HUMAN, {"task_id": TASK, "action": "retry", "feedback": "again"}),
    "task.retry": (failed, Who.LEAD_AGENT, {"task_id": TASK, "said": "again"}),
    "task.show": (failed, W1, {"task_id": TASK}),
    "task.update": (a_task, Who.HUMAN, {"task_id": TASK, "title": "z", "description": "d", "priority": 0}),
    "task.waiting": (asking, W1, {"kinds": ["input"], "scope": {}}),
    "team.cost": (None, W1, {}),
    "team.limit": (None, Who.HUMAN, {"usd": 5}),
    "team.pause": (None, Who.LEAD_AGENT, {"paused": True}),
    "team.progress": (failed, W1, {}),
    "team.status": (asking, W1, {}),
    "team.stop": (None, Who.HUMAN, {"timeout": 5, "reason": "evening"}),
    "worker.list": (a_task, W1, {}),
    "worker.kill": (a_task, Who.HUMAN, {"name": "w1"}),
    "worker.merge": (a_task, Who.HUMAN, {"name": "w1"}),
    "worker.predict": (a_task, W1, {"name": "w1"}),
}
"""Method → what is prepared, who calls it with which parameters; parameters stand in the order of the signature."""
REFUSES = {
    "cost.list.unsubscribe": "not_found",
    "diff.patch": "no_repository",
    "diff.show": "no_repository",
    "event.list.unsubscribe": "not_found",
    "host.leave": "bad_input",
    "host.list": "bad_input",
    "member.merge": "no_repository",
    "member.peek": "not_found",
    "member.predict": "no_repository",
    "message.list.unsubscribe": "not_found",
    "message.show": "not_found",
    "member.list.unsubscribe": "not_found",
    "need.list.unsubscribe": "not_found",
    "need.seen": "not_found",
    "session.chat.show": "not_found",
    "session.chat.unsubscribe": "not_found",
    "task.list.unsubscribe": "not_found",
    "worker.kill": "not_found",
    "worker.merge": "not_found",
    "worker.predict": "no_repository",
}
"""Those that need more than a store: the operation itself is reached, and says why not."""
LED = {"member.restart", "member.spawn", "task.start"}
"""Those that need a lead; tests/rpc/test_story.py calls them."""


def in_family(method: str, params: dict[str, object]) -> dict[str, object]:
    words = {"task_id": "ticket_id"} if method.startswith("ticket.") else {}
    return {words.get(name, name): value for name, value in params.items()}


def example(method: str) -> tuple[Prepare | None, Who, dict[str, object]]:
    prepare, who, params = IN_ORDER[method.replace("ticket.", "task.")]
    return prepare, who, in_family(method, params)


def schema_of(method: str) -> dict[str, Any]:
    """The schema of a method's result, as the committed document has it."""
    [found] = [one for one in published()["methods"] if one["name"] == method]
    return {**found["result"]["schema"], "components": published()["components"]}


def published() -> dict[str, Any]:
    return document()


def fits(value: object, schema: dict[str, Any]) -> None:
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)


def exact(schema: object) -> object:
    """A schema whose objects have no field but those it names."""
    if isinstance(schema, list):
        return [exact(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema and schema.get("type") == "object" else {}
    return {name: exact(value) for name, value in schema.items()} | closed


def test_the_examples_are_all_methods() -> None:
    methods = {name for name in METHODS if not name.startswith("ticket.")}
    assert set(IN_ORDER) | LED == methods
    assert {name.replace("ticket.", "task.") for name in METHODS if name.startswith("ticket.")} <= methods
    assert {name for name in methods if name.startswith("task.")} == {
        name.replace("ticket.", "task.") for name in METHODS if name.startswith("ticket.")
    }


def test_every_operation_is_a_method_or_has_a_reason_why_not() -> None:
    inside = {name for name, operation in OPERATIONS.items() if operation.by <= {Who.LEAD}}
    assert set(OPERATIONS) - inside - set(NOT_SERVED) <= set(METHODS)
    assert set(NOT_SERVED) <= set(OPERATIONS)
    assert not set(NOT_SERVED) & set(METHODS)


@pytest.mark.parametrize(
    "name", a_few(sorted(set(METHODS) - LED - {f"ticket.{one[5:]}" for one in LED if one[:4] == "task"}), 40)
)
def test_a_method_answers_in_its_schema_by_name_and_in_order(team: TeamStore, name: str) -> None:
    prepare, who, params = example(name)
    if prepare:
        prepare(team)
    if code := REFUSES.get(name.replace("ticket.", "task.")):
        with pytest.raises(Failed) as failed:
            call(client(team, who), name, params)
        assert failed.value.code == code
        return
    found = call(client(team, who), name, params)
    fits(found, exact(schema_of(name)))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", a_few(METHODS, 25))
def test_parameters_in_order_are_those_by_name(team: TeamStore, name: str) -> None:
    """Names come first that are needed; what is too much is bad input, and changes nothing."""
    [found] = [one for one in published()["methods"] if one["name"] == name]
    assert [one["name"] for one in found["params"]] == list(METHODS[name].parameters)
    needed = [one["required"] for one in found["params"]]
    assert needed == sorted(needed, reverse=True)
    before = contents(team.paths.home)
    for params in ([None] * (len(needed) + 1), {"no_such": 1}, {"as": "human"}, {"\ud800": 1}):
        with pytest.raises(Failed) as failed:
            call(client(team), name, params)
        assert failed.value.number == INVALID_PARAMS
    if any(needed):
        with pytest.raises(Failed) as failed:
            call(client(team), name, {})
        assert failed.value.number == INVALID_PARAMS
        assert f"it needs {found['params'][0]['name']!r}" in str(failed.value)
        assert failed.value.data["exit_code"] == 2
    assert contents(team.paths.home) == before


def strangers() -> list[tuple[str, Who]]:
    everybody = sorted(PEOPLE_AND_AGENTS)
    return [(name, who) for name, method in METHODS.items() for who in everybody if who not in callers(method)]


@pytest.mark.parametrize(("name", "who"), a_few(strangers(), 25))
def test_who_may_not_is_refused_and_nothing_changes(team: TeamStore, name: str, who: Who) -> None:
    led = in_family(name, {"task_id": TASK} if name.endswith(".start") else {"name": "w3"})
    prepare, _, params = (a_task, who, led) if name.replace("ticket.", "task.") in LED else example(name)
    if prepare:
        prepare(team)
    before = contents(team.paths.home)
    with pytest.raises(Failed) as failed:
        call(client(team, who), name, params)
    assert failed.value.number == -32004
    assert failed.value.data["exit_code"] == 4
    assert failed.value.code == "not_allowed"
    assert contents(team.paths.home) == before


VERDICTS = sorted(name for name, method in METHODS.items() if OPERATIONS[method.operation].verdict)


@pytest.mark.parametrize("name", a_few(VERDICTS, 8))
def test_a_verdict_over_a_socket_is_no_persons_unless_they_say_so(home: Path, name: str) -> None:
    team = make_team(home, "lead", "w1", "w2")
    prepare, _, params = example(name)
    if prepare and prepare is not granted:
        prepare(team)
    before = contents(team.paths.home)
    with pytest.raises(Failed) as failed:
        call(client(team), name, params)
    assert failed.value.code == "no_terminal"
    assert failed.value.data["hint"]
    assert contents(team.paths.home) == before


def test_a_gated_task_is_deleted_by_a_person_at_a_terminal_alone(home: Path) -> None:
    """A deletion is no verdict by itself; that of a gated task is one, over the socket too."""
    team = make_team(home, "w1")
    a_task(team)
    with pytest.raises(Failed) as failed:
        call(client(team), "ticket.delete", ticket_id="task-2")
    assert failed.value.code == "no_terminal"
    assert call(client(team), "ticket.delete", ticket_id="task-1") == {}


def test_an_unknown_method_is_told(team: TeamStore) -> None:
    for name in ("", "ticket.status", "task.set_status", "rpc.x", "x" * 1000, "ticket.create\x1b[2J"):
        with pytest.raises(Failed) as failed:
            call(client(team), name)
        assert failed.value.number == METHOD_NOT_FOUND
        assert "\x1b" not in str(failed.value)


def test_no_method_sets_a_status() -> None:
    """S000-090: starting is a method; what else becomes of a task follows from what is done."""
    for method in METHODS.values():
        assert not {"status", "phase", "state"} & set(method.parameters), method.name


def test_the_document_is_itself_a_method(team: TeamStore) -> None:
    found = call(client(team), DISCOVER)
    assert {one["name"] for one in found["methods"]} == {*METHODS, DISCOVER}
