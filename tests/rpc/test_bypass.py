"""No method goes around a gate, raises a limit or acts for another, whoever's connection it is (rulings 2.2, 2.3)."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pro0.model.caller import Who
from pro0.model.home import Rights
from pro0.model.task import Task
from pro0.ops import devices
from pro0.ops.catalog import OPERATIONS
from pro0.rpc.discovery import document
from pro0.rpc.table import METHODS
from pro0.store.teams import TeamStore
from pro0.web.client import DeviceClient
from tests.crash.lanes import a_few
from tests.gated import FEW, STATES, Homes, furnish
from tests.rpc.calling import Failed, call, client

VALUES: dict[str, list[object]] = {
    **{name: ["1"] for name in ("task_id", "ticket_id", "parent_id")},
    **{name: ["w1", "lead"] for name in ("name", "named", "to", "assignee", "correspondent", "session_id")},
    **{name: [["1"], ["2"]] for name in ("add_dependencies", "drop_dependencies", "dependencies")},
    "action": ["retry", "continue", "close"],
    "agent": ["shell"],
    "approve": [True, False],
    "in_reply_to": [None],
    "kind": ["approval", "checkpoint", "content", "escalation", "input", "review", "work"],
    "kinds": [["input"]],
    "model": ["x"],
    "priority": [0, 7],
    "requires": ["approval", "content"],
    "role_id": [None, "engineer"],
    "scope": [{}],
    "usd": [0, 1000],
}
"""Parameter → what is said there; each other parameter has a word that fits its type."""
PLAIN: dict[str, list[object]] = {
    "boolean": [True],
    "integer": [1],
    "number": [1.0],
    "string": ["x"],
    "array": [[]],
    "object": [{}],
}
LED = frozenset({"member.spawn", "member.restart", "task.start", "ticket.start"})
"""These start sessions, and wait for a lead; the operations that they do are tried in tests/ops/test_bypass.py."""
CASES = [*product(FEW, (Who.MEMBER, Who.LEAD_AGENT)), *product([s for s in STATES if s not in FEW], (Who.MEMBER,))]


def calls() -> Iterator[tuple[str, dict[str, object]]]:
    """Each method that changes something: with what it needs, with all, and with each word of each parameter."""
    methods: Any = document()["methods"]
    for method in methods:
        if not method.get("x-changes") or method["name"] in LED:
            continue
        words = {param["name"]: words_of(param) for param in method["params"]}
        needed = {param["name"]: words[param["name"]][0] for param in method["params"] if param["required"]}
        every = {name: choice[0] for name, choice in words.items()}
        yield method["name"], needed
        yield method["name"], every
        for name, choice in words.items():
            yield from ((method["name"], {**needed, name: word}) for word in choice)


def words_of(param: Any) -> list[object]:
    if param["name"] in VALUES:
        return VALUES[param["name"]]
    kinds = [param["schema"], *param["schema"].get("anyOf", [])]
    return next((PLAIN[kind["type"]] for kind in kinds if kind.get("type") in PLAIN), [{}])


@pytest.mark.parametrize(("state", "who"), a_few(CASES, 1))
def test_no_method_goes_around_a_gate_for_an_agent(state: str, who: Who, tmp_path: Path) -> None:
    """Each call alone, from the same start, and then all of them one after the other on one connection."""
    furnish(tmp_path / "template", state)
    homes = Homes(tmp_path / "template", tmp_path / "home")
    found = []
    for method, params in calls():
        found += [(method, params, fault) for fault in faults_of(homes, who, [(method, params)])]
    found += [("all", {}, fault) for fault in faults_of(homes, who, [*calls()])]
    homes.end()
    assert not found


def faults_of(homes: Homes, who: Who, several: list[tuple[str, dict[str, object]]]) -> list[str]:
    """Return what some calls did that this caller may not."""
    team = homes.team()
    one, limit = client(team, who), team.wanted.read().max_cost
    for method, params in several:
        try:
            call(one, method, params)
        except Failed:
            pass
    faults = homes.faults(who)
    if not team.exists():
        return faults
    if team.wanted.read().max_cost != limit:
        faults.append("the limit was changed by an agent")
    mine = {one.caller.agent_id, "lead"} if who is Who.MEMBER else {"lead"}
    sent = [message for owner in team.mailbox_owners() for message in team.mailbox(owner).head.read().messages]
    faults += [f"{message.from_} is said to have sent mail" for message in sent if message.from_ not in mine]
    return faults


@pytest.mark.parametrize("state", a_few(STATES, 2))
def test_no_method_gives_a_verdict_of_a_device_that_names_nothing_it_was_shown(state: str, tmp_path: Path) -> None:
    """Rulings 5.11, whichever method does it."""
    template = furnish(tmp_path / "template", state)
    devices.pair(template.paths.home, devices.new_code(template.paths.home, Rights.ALL), "phone")
    homes = Homes(tmp_path / "template", tmp_path / "home")
    found = []
    for method, params in calls():
        team = homes.team()
        before = first(team)
        try:
            call(DeviceClient(team, devices.known(homes.home).devices[0]), method, params)
        except Failed:
            pass
        if before and judged(before, first(team)):
            found.append((method, params))
    homes.end()
    assert not found


def first(team: TeamStore) -> Task | None:
    listed = team.tasks.read().tasks if team.exists() else ()
    return next((task for task in listed if task.id == "task-1"), None)


def judged(before: Task, after: Task | None) -> bool:
    """Return True when a task that waits for a person, or will, is gone, or has another gate, command or verdict."""
    if not (before.requires or before.awaiting or before.unagreed):
        return False
    if after is None or (after.requires, after.run) != (before.requires, before.run):
        return True
    return after != before and after.history[-1].act in VERDICTS


VERDICTS = {
    name.removeprefix("task.") for name, done in OPERATIONS.items() if done.verdict and name.startswith("task.")
}


def test_every_method_that_changes_something_is_tried() -> None:
    tried = {method for method, _ in calls()}
    methods: Any = document()["methods"]
    assert tried | LED == {method["name"] for method in methods if method.get("x-changes")}
    assert tried <= set(METHODS)
    assert len([*calls()]) > 300


def test_no_parameter_says_who_calls() -> None:
    for method in METHODS.values():
        assert not {"as", "as_", "by", "caller", "from", "from_", "incarnation", "author"} & set(method.parameters)
