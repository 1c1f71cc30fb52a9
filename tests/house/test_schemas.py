"""docs/schema is current, the PRD's documents fit it, and pro0 writes the PRD's keys (S004-091…096)."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import jsonschema
import msgspec
import pytest

from pro0 import model
from pro0.model.message import Mailbox, Message, MessageType
from pro0.model.stored import Document
from pro0.model.task import Claim, Status, Task, TaskList
from pro0.model.team import Member, TeamConfig
from tools import schemas

AT = datetime(2026, 2, 9, 10, 30, 5, tzinfo=UTC)

CONFIG = {
    "name": "search-team",
    "leadAgentId": "agent-lead-1",
    "createdAt": "2026-02-09T10:30:00Z",
    "members": [
        {
            "name": "Index Writer",
            "agentId": "agent-index-2",
            "category": "coding",
            "sessionId": "session-17",
            "spawnedAt": "2026-02-09T10:30:05Z",
        }
    ],
}
TASKS = {
    "tasks": [
        {
            "id": "task-1",
            "description": "Write the index",
            "status": "in_progress",
            "assignee": "agent-index-2",
            "dependencies": [],
            "claimedAt": "2026-02-09T10:35:00Z",
        },
        {
            "id": "task-2",
            "description": "Read the index",
            "status": "completed",
            "assignee": "agent-query-3",
            "completedAt": "2026-02-09T10:40:00Z",
        },
        {
            "id": "task-3",
            "description": "Measure both",
            "status": "pending",
            "dependencies": ["task-1", "task-2"],
        },
    ]
}
MESSAGES = {
    "messages": [
        {
            "id": "msg-1",
            "from": "agent-index-2",
            "to": "agent-query-3",
            "type": "message",
            "content": "Which order do you read in?",
            "timestamp": "2026-02-09T10:36:00Z",
            "read": False,
        },
        {
            "id": "msg-2",
            "from": "agent-lead-1",
            "to": "agent-index-2",
            "type": "shutdown_request",
            "content": "Please come to an end",
            "timestamp": "2026-02-09T10:45:00Z",
            "read": False,
        },
    ]
}
"""Documents in the shape of the PRD's three examples, with every key that those have."""

MEMBER = Member(name="Index Writer", agent_id="index", category="coding", session_id="s", spawned_at=AT, agent="shell")
WRITTEN: dict[str, tuple[msgspec.Struct, set[str]]] = {
    "config": (TeamConfig(name="search", created_at=AT), {"name", "leadAgentId", "createdAt", "members"}),
    "members": (MEMBER, {"name", "agentId", "category", "sessionId", "spawnedAt"}),
    "new-task": (Task(id="task-1"), {"id", "description", "status", "dependencies"}),
    "claimed-task": (
        Task(
            id="task-1",
            status=Status.IN_PROGRESS,
            assignee="index",
            claimed_at=AT,
            claim=Claim(agent_id="index", incarnation="i", epoch=1, claimed_at=AT),
        ),
        {"id", "description", "status", "assignee", "dependencies", "claimedAt"},
    ),
    "completed-task": (
        Task(id="task-1", status=Status.COMPLETED, assignee="index", completed_at=AT),
        {"id", "description", "status", "assignee", "completedAt"},
    ),
    "message": (
        Message(id="m", seq=1, from_="a", to="b", type=MessageType.MESSAGE, content="c", timestamp=AT),
        {"id", "from", "to", "type", "content", "timestamp", "read"},
    ),
}


def validate(name: str, document: object) -> None:
    jsonschema.validate(document, schemas.schema(name), cls=jsonschema.Draft202012Validator)


def test_the_committed_schemas_are_current() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in schemas.FOLDER.glob("*.json")}
    assert committed == schemas.documents(), "run `make schemas`"


def test_each_stored_document_has_a_schema() -> None:
    """One without has no recorded shape either, so a change that older homes do not fit would pass."""
    for module in pkgutil.iter_modules(model.__path__):
        importlib.import_module(f"{model.__name__}.{module.name}")
    described = {type_ for type_, _ in schemas.STORED.values()}
    kept = {document for document in kinds_of(Document) if document.__module__.startswith(f"{model.__name__}.")}
    assert kept - described == set()


def kinds_of(kind: type[Document]) -> Iterator[type[Document]]:
    """Yield each class below one."""
    for below in kind.__subclasses__():
        yield below
        yield from kinds_of(below)


@pytest.mark.parametrize("name", schemas.STORED)
def test_each_is_a_schema_of_its_dialect(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schemas.schema(name))


PRD: dict[str, dict[str, Any]] = {"config": CONFIG, "tasks": TASKS, "messages": MESSAGES}


@pytest.mark.parametrize("name", PRD)
def test_the_documents_of_the_prd_fit(name: str) -> None:
    """S004-094…096: they are read, and what is written again fits too."""
    validate(name, PRD[name])
    value = msgspec.json.decode(json.dumps(PRD[name]), type=schemas.STORED[name][0])
    written = json.loads(msgspec.json.encode(value))
    validate(name, written)
    assert msgspec.json.decode(json.dumps(written), type=schemas.STORED[name][0]) == value


@pytest.mark.parametrize("name", WRITTEN)
def test_the_keys_of_the_prd_are_written(name: str) -> None:
    """S004-094…096: a program that knows only the PRD finds every key of its examples, defaults included."""
    value, keys = WRITTEN[name]
    assert keys - json.loads(msgspec.json.encode(value)).keys() == set()


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("config", {**CONFIG, "leader": "x"}),
        ("config", {key: value for key, value in CONFIG.items() if key != "name"}),
        ("tasks", {"tasks": [{"id": "task-1", "status": "open"}]}),
        ("tasks", {"tasks": [{"description": "no id"}]}),
        ("messages", {"messages": [{"content": "nothing else"}]}),
        ("messages", {"messages": [{**MESSAGES["messages"][0], "type": "letter"}]}),
    ],
)
def test_a_document_that_does_not_fit_is_told(name: str, document: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate(name, document)


def test_what_pro0_writes_fits_its_own_schema() -> None:
    tasks = tuple(value for name, (value, _) in WRITTEN.items() if isinstance(value, Task) and name)
    messages = tuple(value for value, _ in WRITTEN.values() if isinstance(value, Message))
    for name, value in {
        "config": TeamConfig(name="search", created_at=AT, members=(MEMBER,)),
        "tasks": TaskList(tasks=tasks),
        "messages": Mailbox(messages=messages),
    }.items():
        validate(name, json.loads(msgspec.json.encode(value)))
