"""What is said of what could not be kept: field by field, object by object, in words that a person can use."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from pro0.model.message import Mailbox
from pro0.model.runtime import Report, Runtime
from pro0.model.stored import Document, Process, Stored
from pro0.model.task import Claim, Comments, Entry, Status, Task, TaskList
from pro0.model.team import Wanted, Wish
from pro0.rules.repair import salvage
from pro0.rules.repair.salvage import Remains, fit, recover, version
from tests.rules.building import T0, task

ONE = task(1, history=(Entry(at=T0, actor="human", act="create"),))


def text(value: Document | dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def changed(old: str, new: str, value: Document | None = None) -> bytes:
    whole = text(value or TaskList(tasks=(ONE, task(2)), next_id=3))
    assert old in whole
    return whole.replace(old, new, 1).encode(errors="surrogateescape")


def kept(data: bytes, kind: type[Document] = TaskList) -> tuple[dict[str, Any], list[str]]:
    found: Remains[Any] = recover(data, kind)
    return found.fields, found.lost


BOTH = [ONE, task(2)]


def test_a_whole_document_loses_nothing() -> None:
    """But its own version and revision, which a new one gets anew."""
    fields, lost = kept(text(TaskList(tasks=(ONE, task(2)), next_id=3, recalled=("task-9",))).encode())
    assert (fields["tasks"], fields["next_id"], fields["recalled"], lost) == (BOTH, 3, ("task-9",), [])
    assert not {"schema_version", "revision"} & fields.keys()


SMALL: dict[str, tuple[bytes, list[str]]] = {
    "an unknown key": (
        changed('"nextId": 3', '"nextId": 3, "surprise": [1, 2]'),
        ["the unknown key 'surprise' ([1,2])"],
    ),
    "a wrong type": (changed('"sealed": 0', '"sealed": "x"'), ['its sealed ("x")']),
    "a number without end": (changed('"sealed": 0', '"sealed": ' + "9" * 5000), ["its sealed (null)"]),
    "no UTF-8": (
        changed('"sealed"', '"\udcff": 1, "sealed"'),
        ["some characters, which are not UTF-8", "the unknown key '\ufffd' (1)"],
    ),
    "more behind": (changed('"recalled": []\n}', '"recalled": []\n}garbage'), []),
    "NULs behind": (text(TaskList(tasks=(ONE, task(2)), next_id=3)).encode() + b"\0" * 99, []),
    "one object for a list": (
        changed('"outbox": []', '"outbox": {"id": 1}'),
        ['one of its outbox ({"id":1})'],
    ),
    "an object that is none": (
        changed('"outbox": []', '"outbox": [7, "x"]'),
        ["one of its outbox (7)", 'one of its outbox ("x")'],
    ),
}


@pytest.mark.parametrize("what", SMALL)
def test_what_is_lost_is_said_and_nothing_else_is(what: str) -> None:
    data, said = SMALL[what]
    fields, lost = kept(data)
    assert (fields["tasks"], fields["next_id"]) == (BOTH, 3)
    assert lost == said


def test_a_long_value_is_named_by_its_beginning() -> None:
    fields, (lost,) = kept(changed('"sealed": 0', f'"sealed": "{"x" * 500}"'))
    assert lost == 'its sealed ("' + "x" * 59 + "…)"
    _, (lost,) = kept(changed('"sealed": 0', f'"sealed": 0, "{"k" * 100}": 1'))
    assert lost == f"the unknown key '{'k' * 60}' (1)"
    assert fields["tasks"] == BOTH


ABSENT = {
    name
    for name, key in zip(Task.__struct_fields__, Task.__struct_encode_fields__, strict=True)
    if key not in msgspec.to_builtins(ONE)
}
"""What the task does not show: the unknown key may be the damaged one of any of them."""
FIELDS: dict[str, tuple[str, str, str, set[str]]] = {
    "status": ('"status": "pending"', '"status": "odd"', 'the status of task-1 ("odd")', {"status"}),
    "unknown": ('"status": "pending"', '"status": "pending", "odd": 1', "the odd of task-1 (1)", ABSENT),
    "list": (
        '"dependencies": []',
        '"dependencies": ["task-4", 7]',
        'the dependencies of task-1 (["task-4",7])',
        {"dependencies"},
    ),
}


@pytest.mark.parametrize("what", FIELDS)
def test_an_object_is_kept_without_what_does_not_fit(what: str) -> None:
    old, new, said, damaged = FIELDS[what]
    found = recover(changed(old, new), TaskList)
    one, two = found.fields["tasks"]
    assert (two, one.id, one.title, one.history) == (task(2), ONE.id, ONE.title, ONE.history)
    assert one.dependencies == (("task-4",) if what == "list" else ())
    assert found.lost == [said]
    assert found.damaged == {"task-1": damaged}


def test_a_list_is_searched_for_under_another_name() -> None:
    """A key that was damaged: its objects are known by their shape."""
    fields, lost = kept(changed('"tasks": [', '"taxks": ['))
    assert fields["tasks"] == BOTH
    assert fields["next_id"] == 3
    assert lost == []


def test_what_is_within_an_object_belongs_to_it() -> None:
    """An entry of a history is no task, and a claim is none of its own."""
    data = changed('"tasks": [', "x\n[")
    found = recover(data, TaskList)
    assert found.fields["tasks"] == BOTH
    assert found.fields["outbox"] == []


def test_what_looks_like_a_task_within_a_task_is_none() -> None:
    inner = '{"id": "task-8", "title": "in"}'
    found = recover(f'[{{"id": "task-7", "title": "out", "priority": {inner}}}, {inner}'.encode(), TaskList)
    assert [one.id for one in found.fields["tasks"]] == ["task-7", "task-8"]
    assert [one.title for one in found.fields["tasks"]] == ["out", "in"]
    assert len(found.lost) == 1


@pytest.mark.parametrize(("levels", "ours"), [(4, True), (5, False)])
def test_what_has_more_levels_than_ours_is_no_object(levels: int, ours: bool) -> None:
    """It would take long to look at each of the levels of what is nothing but brackets."""
    odd = "[" * levels + "]" * levels
    found = recover(f'[{{"id":"task-1","title":"one","odd":{odd}}}'.encode(), TaskList)
    assert [one.id for one in found.fields["tasks"]] == ["task-1"] * ours


@pytest.mark.parametrize("value", [True, 3, "x", None, [], ["a"], {}, {"a": 1}])
def test_what_has_no_shape_of_ours_is_no_object(value: object) -> None:
    said: Remains[Any] = Remains({}, [], {})
    assert fit(value, Task, said) is None
    assert (said.lost, said.damaged) == ([], {})


def test_more_must_fit_than_must_not() -> None:
    """Else any mapping with one key like ours would be taken for a task."""
    said: Remains[Any] = Remains({}, [], {})
    assert fit({"id": "task-1", "x": 1}, Task, said) == Task(id="task-1")
    assert fit({"id": "task-1", "x": 1, "y": 2}, Task, said) is None
    assert said.lost == ["the x of task-1 (1)"]
    assert fit({"title": "no id", "description": "x"}, Task, said) is None


def test_an_object_is_named_by_what_it_has() -> None:
    def said(raw: dict[str, object]) -> str:
        found: Remains[Any] = Remains({}, [], {})
        fit(raw, Wanted, found) if "wish" in raw else fit(raw, Process, found)
        return found.lost[0]

    assert said({"pid": 1, "start": "1", "bootId": "b", "odd": 1}) == "the odd of an object (1)"
    assert said({"wish": "run", "paused": False, "seats": [], "id": "n" * 99, "agentId": "a"}).startswith(
        f"the id of {'n' * 60}"
    )
    assert said({"wish": "run", "paused": False, "agentId": "w1"}) == 'the agentId of w1 ("w1")'


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (b"", 0),
        (b'{"schemaVersion": 3', 3),
        (b'{"schemaVersion":1,"x":{"schemaVersion" : 12}}', 12),
        (b'{"a": "\\"schemaVersion\\": 9"}', 0),
        (b'{"schemaVersion": 1234567}', 0),
        (b'{"schemaVersion": 123456}', 123456),
        (b'{"schemaVersion": "2"}', 0),
    ],
)
def test_the_version_that_a_file_says(data: bytes, number: int) -> None:
    assert version(data) == number
    assert salvage.is_newer(data) == (number > 1)


CUT = text(TaskList(tasks=(ONE, task(2)), next_id=3))


def test_of_a_file_that_ends_in_a_task_what_is_whole_of_it() -> None:
    place = CUT.index('"status"', CUT.index("task-2"))
    found = recover(CUT[: place + 12].encode(), TaskList)
    one, two = found.fields["tasks"]
    assert one == ONE
    assert (two.id, two.title, two.status) == ("task-2", "title 2", Status.PENDING)
    (said,) = [line for line in found.lost if "task-2" in line]
    assert said.startswith("everything of task-2 after id, title")
    assert {"status", "claim", "history", "priority"} <= found.damaged["task-2"]
    assert not {"id", "title"} & found.damaged["task-2"]


CLAIM = '"claim":{"agentId":"w1","incarnation":"i","epoch":1,"claimedAt":"2026-01-01T00:00:00Z"}'
HELD = Claim(agent_id="w1", incarnation="i", epoch=1, claimed_at=datetime(2026, 1, 1, tzinfo=UTC))
ENDS: dict[str, dict[str, object] | None] = {
    '"id":"task-1"': None,
    '"id":"task-1",': {},
    '"id":"task-1","title":"one, two': {},
    '"id":"task-1","title":"one"': {},
    '"id":"task-1","title":"one",': {"title": "one"},
    '"id":"task-1","title":"one","priority":1': {"title": "one"},
    '"id":"task-1","title":"one","priority":17,': {"title": "one", "priority": 17},
    '"id":"task-1","title":"one","labels":["a","b': {"title": "one", "labels": ("a",)},
    '"id":"task-1","title":"one","labels":["a","b"]': {"title": "one", "labels": ("a", "b")},
    '"id":"task-1","title":"one","labels":["a","b"],"role": "x", "claim": {': {
        "title": "one",
        "labels": ("a", "b"),
        "role": "x",
    },
    '"id":"task-1","title":"one",' + CLAIM[:-1]: {"title": "one"},
    '"id":"task-1","title":"one",' + CLAIM: {"title": "one", "claim": HELD},
    '"id":"task-1",\n"title":"one",\n"priority": 17\n': {"title": "one", "priority": 17},
    '"id":"task-1",\n"title":"one",\n"pri': {"title": "one"},
    '"id":"task-1","title":"one"X,': None,
}
"""How a file may end in a task, and what of it is whole: what comes last may have been longer."""


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("before", ["[{", '{"tasks":[{"id":"task-9"},{', '{"tasks":[\n{"id":"task-9"},\n{'])
def test_of_a_task_that_ends_in_the_middle_of_a_line_what_is_whole_of_it(before: str, end: str) -> None:
    found = recover((before + end).encode(), TaskList)
    made = [one for one in found.fields["tasks"] if one.id == "task-1"]
    values = ENDS[end]
    assert made == ([] if values is None else [msgspec.convert({"id": "task-1", **values}, Task)])
    assert [one.id for one in found.fields["tasks"] if one not in made] == ["task-9"] * ("task-9" in before)


def test_a_file_that_ends_before_any_value_has_none() -> None:
    """Not even one that could do without: its bracket is that of the document."""
    found = recover(b'{"seats":[{"agentId":"w1"', Free)
    assert found.fields["seats"] == []


class Chair(Stored, frozen=True):
    """What needs no value."""

    agent_id: str = ""
    note: str = ""


class Free(Document, frozen=True, kw_only=True):
    """A document of these, with a note of its own."""

    seats: tuple[Chair, ...] = ()
    note: str = ""


@pytest.mark.parametrize(
    ("values", "name", "said"),
    [
        ('"agentId":"w1",', "w1", "everything of w1 after agentId"),
        ('"note":"n",', "", "everything of an object after note"),
    ],
)
def test_what_a_file_ends_in_is_named_by_what_it_has(values: str, name: str, said: str) -> None:
    found = recover(('{"seats":[{' + values).encode(), Free)
    assert found.lost == [said]
    assert found.damaged == {name: {"agent_id" if name == "" else "note"}}


def test_what_stands_in_an_object_is_none_of_the_documents() -> None:
    """Also when there are several before the document's own."""
    seats = '{"agentId":"w1","note":"one"},{"agentId":"w2","note":"two"},{"agentId":"w3","note":"three"}'
    fields, lost = kept(f'{{"schemaVersion":1,"revision":7,"seats":[{seats}],"note":"own",'.encode(), Free)
    assert (fields["note"], lost) == ("own", [])
    assert [(chair.agent_id, chair.note) for chair in fields["seats"]] == [
        ("w1", "one"),
        ("w2", "two"),
        ("w3", "three"),
    ]


@pytest.mark.parametrize("end", ["]", ""], ids=["whole", "in pieces"])
def test_what_every_object_has_lost_is_said(end: str) -> None:
    tasks = (f'{{"id":"task-{number}","title":"t","status":"odd"}}' for number in (1, 2))
    found = recover(f'{{"tasks":[{",".join(tasks)}{end}}}'.encode(), TaskList)
    assert [one.id for one in found.fields["tasks"]] == ["task-1", "task-2"]
    assert found.lost == ['the status of task-1 ("odd")', 'the status of task-2 ("odd")']
    assert found.damaged == {"task-1": {"status"}, "task-2": {"status"}}


def test_a_file_that_ends_between_objects_has_no_last_one() -> None:
    found = recover(CUT[: CUT.index("task-2") - 12].encode(), TaskList)
    assert found.fields["tasks"] == [ONE]


def test_nuls_behind_what_was_written_change_nothing() -> None:
    """A power failure may leave a file longer than what was written, also one that is a single line."""
    written = b'[{"id": "task-1", "title": "one", '
    found = recover(written + b"\0" * 99, TaskList)
    assert found.fields["tasks"] == [Task(id="task-1", title="one")]
    assert found == recover(written, TaskList)


def test_single_fields_are_found_in_pieces() -> None:
    """Brackets that do not match make a file no whole; what stands in lines of its own is found all the same."""
    whole = text(Wanted(wish=Wish.STOP, paused=True, max_cost=2.5)).encode()
    fields, lost = kept(whole.replace(b'"seats": []', b'"seats": ['), Wanted)
    assert (fields["wish"], fields["paused"], fields["max_cost"], lost) == (Wish.STOP, True, 2.5, [])
    fields, lost = kept(whole.replace(b'"seats": []', b'"seats": [').replace(b"true", b'"odd"'), Wanted)
    assert ("paused" in fields, lost) == (False, ['its paused ("odd")'])


def test_fields_that_every_such_document_has_are_missed_in_pieces() -> None:
    """A null, an empty list and a value that stands there in another shape are no fields that are missing."""
    whole = text(Wanted(paused=True)).encode()
    cut = recover(whole[: whole.index(b'"remove"')], Wanted)
    assert cut.missing == {"remove": "remove", "seats": "seats", "outbox": "outbox"}
    assert recover(whole.replace(b'"seats": []', b'"seats": ['), Wanted).missing == {}
    assert recover(b'{"wish": "stop"}', Wanted).missing == {}, "it is whole, so that what is not there has its default"
    odd = recover(b'{"paused": "odd", [', Wanted)
    assert (odd.missing["paused"], odd.lost) == ("", ['its paused ("odd")'])
    odd.name_missing(("wish", "stop"))
    assert odd.lost[1:] == ["its maxCost", "its outside", "its remove", "its seats", "its outbox"]


def test_the_first_value_that_can_be_read_counts() -> None:
    data = b'{"nextId": oops,\n "nextId": 4,\n "nextId": 5, ['
    assert kept(data)[0]["next_id"] == 4
    assert "next_id" not in kept(b'{"nextId": oops, [')[0]
    assert "next_id" not in kept(b'{"x": "\\"nextId\\": 7", [')[0]


def test_small_mappings_are_found_in_pieces() -> None:
    report = Report(
        agent_id="w1", incarnation="i", guard=Process(pid=7, start="s", boot_id="b"), since=T0, note="broken [ ] { }"
    )
    fields, lost = kept(text(report).encode()[:-2] + b"[", Report)
    assert (fields["guard"], fields["note"], lost) == (report.guard, report.note, [])


@pytest.mark.parametrize("kind", [TaskList, Mailbox, Runtime, Wanted, Comments])
@pytest.mark.parametrize("value", [[], None, 7, "x", {"a": {}}, {"tasks": None, "messages": 3, "seats": "x"}])
def test_anything_can_be_looked_at(kind: type[Document], value: object) -> None:
    fields, _ = kept(json.dumps(value).encode(), kind)
    made: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in fields.items()}
    assert kind(**made).revision == 0


def test_what_cannot_be_written_is_named_by_its_kind() -> None:
    assert salvage._short("\ud800") == "<class 'str'>"
    assert salvage._short({"a": 1}) == '{"a":1}'
    assert salvage._short("x" * 58) == '"' + "x" * 58 + '"'
    assert salvage._short("x" * 59) == '"' + "x" * 59 + "…"
    assert salvage._short("\U0001f600" * 99) == '"' + "\U0001f600" * 59 + "…", "cut within a letter of four bytes"
