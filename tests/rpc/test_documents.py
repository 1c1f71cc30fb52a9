"""The documents' methods, notifications and objects, word by word, in both families (S000-076…090, S003-008…016)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pro0.model.caller import Who
from pro0.model.task import Awaiting, Changes, Draft
from pro0.ops.tasks import gates, tasks
from pro0.rpc import calls
from pro0.rpc.client import RpcClient
from pro0.rpc.discovery import document
from pro0.rpc.table import METHODS
from pro0.store.teams import TeamStore
from pro0.wire import INVALID_PARAMS
from tests.rpc.calling import Failed, call, client
from tests.teams import human, make_team, member

TABLE = """
ticket.create            title, description, role_id, parent_id?, priority?   Ticket
ticket.update            ticket_id, title?, description?, priority?           Ticket
ticket.delete            ticket_id                                            -
ticket.start             ticket_id                                            session_id
ticket.list.subscribe    -                                                    id, tickets
ticket.list.unsubscribe  id                                                   -
ticket.comment.list      ticket_id                                            comments
ticket.comment.create    ticket_id, content                                   Comment
agent.role.list          -                                                    roles
agent.role.create        name, role_prompt                                    AgentRole
agent.role.update        role_id, name?, role_prompt?                         AgentRole
agent.role.delete        role_id                                              -
task.create              title, description, role_id, parent_id?, priority?   Task
task.update              task_id, title?, description?, priority?             Task
task.delete              task_id                                              -
task.start               task_id                                              session_id
task.list.subscribe      -                                                    id, tasks
task.list.unsubscribe    id                                                   -
task.comment.list        task_id                                              comments
task.comment.create      task_id, content                                     Comment
task.resolve             task_id, action, feedback?                           Task
ticket.resolve           ticket_id, action, feedback?                         Ticket
"""
"""Method, parameters, result, as the documents write them; the last two are the rulings' (3.15)."""
TICKET = {"id", "title", "description", "role_id", "status", "priority", "created_at", "updated_at"}
MAYBE = {"parent_id", "session_id"}
COMMENT = {"id", "author_role", "content", "created_at"}
ROLE = {"id", "name", "role_prompt"}
STATUSES = {"open", "in_progress", "done", "closed", "failed", "needs_review"}


def rows() -> Iterator[tuple[str, list[str], str]]:
    for line in TABLE.strip().splitlines():
        name, params, result = (part.strip() for part in (line[:25], line[25:78], line[78:]))
        yield name, [] if params == "-" else params.split(", "), result


ROWS = {name: (params, result) for name, params, result in rows()}


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "lead", "w1")


@pytest.mark.parametrize("name", ROWS)
def test_a_method_has_the_documents_parameters(name: str) -> None:
    """Each is named as there, needed where it is, and before any that is ours; ours are never needed."""
    params, _ = ROWS[name]
    [found] = [one for one in document()["methods"] if one["name"] == name]  # type: ignore[attr-defined]
    said = [one["name"] + ("" if one["required"] else "?") for one in found["params"]]
    assert said[: len(params)] == params
    assert all(one.endswith("?") for one in said[len(params) :])


@pytest.mark.parametrize("name", ROWS)
def test_a_method_has_the_documents_result(name: str) -> None:
    _, result = ROWS[name]
    found: Any = document()
    [method] = [one for one in found["methods"] if one["name"] == name]
    schema = found["components"]["schemas"][method["result"]["schema"]["$ref"].rpartition("/")[2]]
    family = "ticket" if name.startswith("ticket") else "task"
    fields = {
        "Ticket": TICKET | MAYBE,
        "Task": TICKET | MAYBE,
        "Comment": COMMENT | {f"{family}_id", f"author_{family}_id"},
        "AgentRole": ROLE,
        "-": set(),
    }.get(result, set(result.split(", ")))
    assert fields <= set(schema["properties"])
    if result not in ("Ticket", "Task", "Comment", "AgentRole"):
        assert fields == set(schema["properties"]) == set(schema["required"])


@pytest.mark.parametrize("family", ["ticket", "task"])
class TestFamily:
    """A person's client, one call after the other."""

    def test_tickets_are_made_changed_and_deleted(self, team: TeamStore, family: str) -> None:
        one = client(team)
        made = call(one, f"{family}.create", title="parse", description="the input", role_id="engineer")
        assert set(made) - {"created_by", "digest"} == TICKET
        wanted = {"id": "task-1", "title": "parse", "description": "the input", "role_id": "engineer", "status": "open"}
        assert made.items() >= {**wanted, "priority": 0}.items()
        below = {"title": "lines", "description": "d", "role_id": None, "parent_id": "task-1"}
        assert call(one, f"{family}.create", below)["parent_id"] == "task-1"
        assert call(one, f"{family}.create", **below)["priority"] == 1, "after its sibling"
        assert call(one, f"{family}.create", **below, priority=0)["priority"] == 0, "explicit 0 is not absent"
        changed = call(one, f"{family}.update", {f"{family}_id": "task-2", "title": "l", "priority": 7})
        assert (changed["title"], changed["description"], changed["priority"]) == ("l", "d", 7)
        assert call(one, f"{family}.delete", {f"{family}_id": "task-2"}) == {}
        with pytest.raises(Failed) as failed:
            call(one, f"{family}.update", {f"{family}_id": "task-2", "title": "m"})
        assert failed.value.number == -32003

    def test_every_status_has_its_word(self, team: TeamStore, family: str) -> None:
        human_, w1 = human(team), member(team, "w1")
        tasks.create(human_, [Draft(title=str(number)) for number in range(6)])
        for number in (2, 3, 4, 5):
            tasks.claim(w1, str(number))
        tasks.create(human_, [Draft(title="sub", parent="task-3")])
        tasks.complete(w1, "3")
        tasks.fail(w1, "4", "no")
        gates.hand_off(w1, "5", Awaiting.INPUT, "tabs?")
        tasks.cancel(human_, "6")
        found = call(client(team), f"{family}.list.subscribe")[f"{family}s"]
        said = {task["id"]: task["status"] for task in found}
        words = ["open", "in_progress", "done", "failed", "needs_review", "closed", "open"]
        assert [said[f"task-{number}"] for number in range(1, 8)] == words
        assert set(words) == STATUSES
        held = next(task for task in found if task["id"] == "task-2")
        assert held["session_id"] == "inc-w1"

    def test_the_list_is_in_the_documents_order(self, team: TeamStore, family: str) -> None:
        """Open ones by priority, then the others, the one that changed last first."""
        tasks.create(human(team), [Draft(title=str(p), priority=p) for p in (3, 1, 2, 5, 6)])
        for number in ("4", "5"):
            tasks.claim(member(team, "w1"), number)
        listed = call(client(team), f"{family}.list.subscribe")[f"{family}s"]
        assert [task["id"] for task in listed] == ["task-2", "task-3", "task-1", "task-5", "task-4"]

    def test_comments_name_their_authors_themselves(self, team: TeamStore, family: str) -> None:
        """S000-083, S003-015: the author is who calls."""
        tasks.create(human(team), [Draft(title="x")])
        id = {f"{family}_id": "task-1"}
        made = call(client(team, Who.MEMBER), f"{family}.comment.create", {**id, "content": "see a.py"})
        assert set(made) - {"author"} == COMMENT | {f"{family}_id"}
        with pytest.raises(Failed) as failed:
            call(client(team), f"{family}.comment.create", {**id, "content": "x", "author_role": "human"})
        assert failed.value.number == INVALID_PARAMS
        tasks.claim(member(team, "w1"), "1")
        tasks.fail(member(team, "w1"), "1", "no parser")
        comments = call(client(team), f"{family}.comment.list", id)["comments"]
        assert [(one["content"], one["author_role"]) for one in comments] == [("see a.py", "w1"), ("no parser", "w1")]
        assert comments[0]["id"] == made["id"]
        again = call(client(team), f"{family}.comment.list", id)["comments"]
        assert [one["id"] for one in again] == [one["id"] for one in comments], "ids are stable"

    def test_a_failed_ticket_is_resolved_by_a_person(self, team: TeamStore, family: str) -> None:
        tasks.create(human(team), [Draft(title="x")])
        tasks.claim(member(team, "w1"), "1")
        tasks.fail(member(team, "w1"), "1", "no")
        id = {f"{family}_id": "task-1"}
        with pytest.raises(Failed):
            call(client(team, Who.MEMBER), f"{family}.resolve", {**id, "action": "retry"})
        for wrong in ("approve", "done", "", None):
            with pytest.raises(Failed) as failed:
                call(client(team), f"{family}.resolve", {**id, "action": wrong})
            assert failed.value.number == INVALID_PARAMS
        assert call(client(team), f"{family}.resolve", {**id, "action": "retry"})["status"] == "open"

    def test_every_change_is_told_once_whoever_makes_it(self, team: TeamStore, family: str) -> None:
        """S000-088, S000-089: of a deleted one `ticketId` or `taskId`; after unsubscribing nothing is told."""
        one = client(team)
        snapshot = call(one, f"{family}.list.subscribe")
        assert snapshot[f"{family}s"] == []
        tasks.create(human(team), [Draft(title="x")])
        [(method, created)] = told(one)
        assert method == f"{family}.list.changed"
        assert set(created) == {"id", "seq", "operation", family}
        assert (created["id"], created["operation"]) == (snapshot["id"], "create")
        assert created[family]["title"] == "x"
        tasks.update(human(team), "1", Changes(title="y"))
        [(_, updated)] = told(one)
        assert (updated["operation"], updated[family]["title"]) == ("update", "y")
        call(one, f"{family}.delete", {f"{family}_id": "1"})
        [(_, deleted)] = told(one)
        assert deleted == {"id": snapshot["id"], "seq": 3, "operation": "delete", f"{family}Id": "task-1"}
        assert call(one, f"{family}.list.unsubscribe", {"id": snapshot["id"]}) == {}
        tasks.create(human(team), [Draft(title="z")])
        assert told(one) == []
        with pytest.raises(Failed) as failed:
            call(one, f"{family}.list.unsubscribe", {"id": snapshot["id"]})
        assert failed.value.number == -32003


def test_roles_as_in_the_documents(team: TeamStore) -> None:
    """S000-084…087, AC-59: presets may be changed, one that a ticket has stays."""
    one = client(team)
    presets = call(one, "agent.role.list")["roles"]
    assert [role["name"] for role in presets] == ["Project Manager", "Engineer", "Designer", "Reviewer"]
    assert all(set(role) == ROLE for role in presets)
    made = call(one, "agent.role.create", name="Tech Writer", role_prompt="You write.")
    assert made == {"id": "tech-writer", "name": "Tech Writer", "role_prompt": "You write."}
    changed = call(one, "agent.role.update", role_id="engineer", role_prompt="You build.")
    assert changed == {"id": "engineer", "name": "Engineer", "role_prompt": "You build."}
    call(one, "ticket.create", title="x", description="y", role_id="engineer")
    with pytest.raises(Failed) as failed:
        call(one, "agent.role.delete", role_id="engineer")
    assert failed.value.number == -32004
    assert call(one, "agent.role.delete", role_id="tech-writer") == {}
    assert made not in call(one, "agent.role.list")["roles"]


def test_both_families_are_the_same_methods() -> None:
    """Rulings 3.15"""
    for name in METHODS:
        if name.startswith("ticket."):
            assert name.replace("ticket.", "task.") in METHODS


def told(one: RpcClient) -> list[tuple[str, Any]]:
    """What a client is told now."""
    import json

    found = [json.loads(text) for text in calls.news(one)]
    assert all(set(message) == {"jsonrpc", "method", "params"} for message in found)
    return [(message["method"], message["params"]) for message in found]
