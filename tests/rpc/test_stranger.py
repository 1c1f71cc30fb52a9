"""A client from a package, which knows JSON-RPC and the documents' tables and nothing of pro0 (S000-076…090)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonrpcclient import Error, Ok, parse, request

from pro0.store.paths import SOCKET
from tests.conftest import let_scripts
from tests.engine.crew import Crew, crew
from tests.rpc.sockets import Wire
from tests.waiting import STUCK, wait_until

TICKET = "id, parent_id?, title, description, role_id, status, priority, session_id?, created_at, updated_at"
COMMENT = "id, {family}_id, author_{family}_id?, author_role, content, created_at"
ROLE = "id, name, role_prompt"
CALLS = f"""
agent.role.create          name=Writer, role_prompt=You write.           {ROLE}
agent.role.create          name=Editor, role_prompt=You edit.            {ROLE}
agent.role.list                                                          roles
agent.role.update          role_id=writer, role_prompt=You write well.   {ROLE}
{{family}}.list.subscribe                                                id, {{family}}s
{{family}}.create          title=t, description=d, role_id=writer        {TICKET}
{{family}}.create          title=u, description=d, role_id=writer, parent_id=task-1, priority=4   {TICKET}
{{family}}.update          {{family}}_id=task-2, title=v, description=e, priority=5   {TICKET}
{{family}}.comment.create  {{family}}_id=task-2, content=said            {COMMENT}
{{family}}.comment.list    {{family}}_id=task-2                          comments
{{family}}.delete          {{family}}_id=task-2                          -
{{family}}.start           {{family}}_id=task-1                          session_id
{{family}}.resolve         {{family}}_id=task-1, action=close            {TICKET}
{{family}}.list.unsubscribe  id=SUBSCRIPTION                             -
{{family}}.delete          {{family}}_id=task-1                          -
agent.role.delete          role_id=editor                                -
"""
"""One life: each method of the documents with their parameters, and the fields that they promise of its result."""


OURS = {"digest", "created_by", "author", "assignee", "policy"}
"""Fields that pro0 adds to the documents' objects."""


class Stranger:
    """Sends what the package builds, reads what it parses; notifications are kept."""

    def __init__(self, path: Path) -> None:
        self._wire = Wire(path)
        self.told: list[Any] = []

    def call(self, method: str, params: dict[str, object]) -> Ok | Error:
        """Call one method."""
        asked = request(method, params)
        self._wire.say(asked)
        while True:
            heard = self._wire.hear()
            if heard.get("id") == asked["id"]:
                parsed = parse(heard)
                assert isinstance(parsed, Ok | Error)
                return parsed
            self.told.append(heard)

    def hears(self, operation: str, key: str) -> None:
        """Read until this operation on a ticket or task is told."""
        while not any(operation == news["params"]["operation"] and key in str(news) for news in self.told):
            self.told.append(self._wire.hear())

    def close(self) -> None:
        """Hang up."""
        self._wire.close()


@pytest.fixture
def alpha(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A team with a lead and without members."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    let_scripts(home)
    with crew(home, tmp_path, "headless") as made:
        made.lead()
        yield made


@pytest.fixture
def stranger(alpha: Crew) -> Iterator[Stranger]:
    """It is connected to the lead's socket."""
    path = alpha.team.paths.team / SOCKET
    wait_until(path.exists, STUCK, "the socket")
    connected = Stranger(path)
    yield connected
    connected.close()


def rows(family: str) -> Iterator[tuple[str, dict[str, object], set[str], set[str]]]:
    """The method, its parameters, the fields that its result must have, and those that it may have."""
    for line in CALLS.replace("{family}", family).strip().splitlines():
        method, _, rest = line.partition(" ")
        parts = [part.strip() for part in rest.strip().split("   ") if part.strip()]
        given = dict(pair.split("=", 1) for pair in parts[0].split(", ")) if "=" in parts[0] else {}
        fields = set() if parts[-1] == "-" else set(parts[-1].split(", "))
        params: dict[str, object] = {name: int(value) if value.isdecimal() else value for name, value in given.items()}
        yield method, params, {f for f in fields if f[-1] != "?"}, {f.rstrip("?") for f in fields}


@pytest.mark.parametrize("family", ["ticket", "task"])
def test_a_life_by_the_documents_tables(stranger: Stranger, alpha: Crew, family: str) -> None:
    """AC-55, AC-56, AC-59."""
    subscription, over = "", False
    for method, params, needed, may in rows(family):
        if method.endswith(".resolve"):  # nobody has an agent here, so its start has failed, or will
            wait_until(lambda: alpha.task("task-1").status.value == "failed", STUCK, "its start has failed")
        answer = stranger.call(method, {n: subscription if v == "SUBSCRIPTION" else v for n, v in params.items()})
        assert isinstance(answer, Ok), (method, answer)
        result = answer.result
        assert needed <= set(result) <= may | OURS, method
        if not needed:
            assert result == {}, method
        if method.endswith(".update") and family in method:
            assert (result["title"], result["description"], result["priority"]) == ("v", "e", 5)
        if method.endswith(".subscribe"):
            subscription = result["id"]
        family_, _, operation = method.partition(".")
        if family_ == family and operation in ("create", "update", "delete") and not over:
            stranger.hears(operation, "task-2" if "task-2" in str(params) else result["id"])
        over = over or method.endswith(".unsubscribe")
    assert isinstance(stranger.call(f"{family}.list.subscribe", {}), Ok)
    changes = [(news["method"], news["params"]) for news in stranger.told]
    assert {name for name, _ in changes} == {f"{family}.list.changed"}
    own = [params for _, params in changes if params["id"] == subscription]
    assert {"create", "update", "delete"} == {params["operation"] for params in own}
    for params in own:
        assert (f"{family}Id" in params) is (params["operation"] == "delete")
        assert (family in params) is (params["operation"] != "delete")


def test_what_is_wrong_is_an_error_to_the_package_too(stranger: Stranger) -> None:
    for method, params, code in (
        ("no.such", {}, -32601),
        ("ticket.create", {"nothing": 1}, -32602),
        ("ticket.update", {"ticket_id": "task-9", "title": "x"}, -32003),
        ("agent.role.delete", {"role_id": "nobody"}, -32003),
    ):
        answer = stranger.call(method, dict(params))
        assert isinstance(answer, Error)
        assert answer.code == code, json.dumps(answer._asdict())
