"""A reader that accepts what a strict reader of JSON accepts, and nothing else (reliability 23, rulings 5.5)."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pro0.errors import StoreError
from pro0.model.message import Mailbox, Message, MessageType
from pro0.model.task import Comment, Comments, Entry, Task, TaskList
from pro0.model.team import Environment
from pro0.rules import mail
from pro0.rules.tasks import archive
from pro0.store.files import File, encode
from pro0.store.keys import repeated
from tests.teams import NOW

pytestmark = pytest.mark.usefixtures("no_sync")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ENTRIES = st.builds(Entry, at=st.just(NOW), actor=TEXTS, act=TEXTS, text=TEXTS)
TASKS = st.builds(
    Task,
    id=st.integers(1, 10**8).map("task-{}".format),
    title=TEXTS,
    description=TEXTS,
    labels=st.lists(TEXTS, max_size=3).map(tuple),
    cost_usd=st.floats(0, 1e300, allow_nan=False),
    priority=st.integers(-(2**53), 2**53),
    history=st.lists(ENTRIES, max_size=2).map(tuple),
)
DOCUMENTS: st.SearchStrategy[Any] = st.one_of(
    st.builds(TaskList, revision=st.integers(1, 9), tasks=st.lists(TASKS, max_size=3).map(tuple)),
    st.builds(
        Environment,
        revision=st.just(1),
        variables=st.dictionaries(st.sampled_from("ABab"), PLAIN),
    ),
    st.builds(
        Comments,
        revision=st.just(1),
        comments=st.lists(st.builds(Comment, id=TEXTS, at=st.just(NOW), author=TEXTS, text=TEXTS)).map(tuple),
    ),
)
PIECES = [
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"0", b"-", b"1e5", b"1e999", b"0.1", b"01", b"NaN", b"Infinity"),
    *(b"9" * 400, b"9" * 5000, b"\\", b"\\ud800", b"\\ud83d\\ude00", b"\\u0000", b"\x00", b"\xff", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b" ", b"\n", b"\t", b"\x0c", b"// x\n", b"[" * 3000, b'{"a":' * 3000, b'"a": 1,', b"null"),
    *(b'"title": "x",', b'"\\u0074itle": "x",', b'"tasks": [],', b'"revision": 1,', b'"priority": 1.0,', b"true"),
]


def refused(_: object) -> None:
    raise ValueError("refused")


def strictly(data: bytes) -> Any:
    """The reference: JSON as RFC 8259 has it, in UTF-8, every text Unicode, every key once, every number finite."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    def finite(text: str) -> float:
        if float(text) in (float("inf"), float("-inf")):
            raise ValueError("too large")
        return float(text)

    value = json.loads(data.decode(), object_pairs_hook=once, parse_constant=refused, parse_float=finite)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def accepts(read: Callable[[], object]) -> bool:
    try:
        read()
    except (ValueError, RecursionError, msgspec.MsgspecError, StoreError):
        return False
    return True


def file_of(folder: Path, document: Any) -> File[Any]:
    return File(folder, "document.json", type(document))


def by_reference(document: Any, data: bytes) -> bool:
    """Whether the reference reads it, and what it reads is a document of ours."""
    return accepts(lambda: msgspec.convert(strictly(data), type(document))) and strictly(data).get("revision", 0) > 0


@given(document=DOCUMENTS, seed=st.integers(0, 2**32))
@settings(max_examples=400)
def test_the_reader_accepts_what_the_reference_accepts(document: Any, seed: int, tmp_path_factory: Any) -> None:
    """Reliability 23: pieces put in, taken out and doubled at random, each time judged by both."""
    dice = random.Random(seed)
    data = encode(document)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(data) + 1)
        if dice.random() < 0.7:
            data = data[:at] + dice.choice(PIECES) + data[at:]
        else:
            end = min(len(data), at + dice.randrange(12))
            data = data[:at] + data[at:end] * dice.choice((0, 2)) + data[end:]
    read = accepts(lambda: file_of(Path("nowhere"), document).decoded(data))
    assert read == by_reference(document, data), data


@given(document=DOCUMENTS)
def test_a_document_in_another_spelling_is_the_same(document: Any) -> None:
    """What people and other programs write: other spaces, other order, escapes."""
    value = json.loads(encode(document))
    for text in (json.dumps(value, sort_keys=True), json.dumps(value, indent=7), json.dumps(value, ensure_ascii=False)):
        assert file_of(Path("nowhere"), document).decoded(text.encode()) == document


KEYS = {
    "at the top": (b'"tasks": [', b'"tasks": [], "tasks": ['),
    "the same value": (b'"revision": 3', b'"revision": 3, "revision": 3'),
    "escaped": (b'"tasks": [', b'"\\u0074asks": [], "tasks": ['),
    "in a task": (b'"title": "x"', b'"title": "x", "title": "y"'),
    "in a task of a task": (b'"actor": "human"', b'"actor": "w1", "actor": "human"'),
    "far apart": (b'"id": "task-1"', b'"history": [], "id": "task-1"'),
}


@pytest.mark.parametrize("where", KEYS)
def test_a_key_that_stands_twice_is_damage(where: str, tmp_path: Path) -> None:
    """Rulings 5.5, reliability 23: named, exit 5, and the file stays byte for byte."""
    entry = Entry(at=NOW, actor="human", act="create")
    written = encode(TaskList(revision=3, tasks=(Task(id="task-1", title="x", description="y", history=(entry,)),)))
    old, new = KEYS[where]
    assert old in written
    data = written.replace(old, new, 1)
    (tmp_path / "tasks.json").write_bytes(data)
    file = File(tmp_path, "tasks.json", TaskList)
    for act in (file.read, file.find, file.change("x").__enter__):
        with pytest.raises(StoreError, match=r"corrupt: it has the key '.+' twice") as raised:
            act()
        assert (raised.value.code, raised.value.exit_code) == ("store_corrupt", 5)
    assert (tmp_path / "tasks.json").read_bytes() == data


def test_a_key_is_told_in_few_visible_letters() -> None:
    assert repeated(b'{"a\\u001b[31m": 1, "a\\u001b[31m": 2}') == "'a\\\\x1b[31m'"
    assert len(repeated(b'{"%s": 1, "%s": 2}' % (b"k" * 5000, b"k" * 5000))) < 70
    assert repeated(b'[{"a": 1}, {"a": 1, "b": {"a": 2}}]') == ""


WRITE, TEST = {"id": "task-1", "description": "Write the index\n\nin C"}, {"id": "task-7", "title": "Test it"}
LETTER = {"from": "w1", "to": "w2", "type": "message", "content": "", "timestamp": "2026-02-09T10:36:00Z"}
LETTERS = [LETTER | {"id": f"m{number}", "read": number < 2} for number in (1, 2)]


def test_the_tasks_of_another_program_are_read_and_filled(tmp_path: Path) -> None:
    """Rulings 5.5: no revision, titles or descriptions alone, no number of the next task."""
    (tmp_path / "tasks.json").write_text(json.dumps({"tasks": [WRITE, TEST]}))
    file = File(tmp_path, "tasks.json", TaskList, filled=archive.numbered)
    with file.change("x") as change:
        change.value = msgspec.structs.replace(change.value)
    written = json.loads((tmp_path / "tasks.json").read_bytes())
    assert (written["revision"], written["nextId"]) == (1, 8)
    said = [(task["title"], task["description"]) for task in written["tasks"]]
    assert said == [("Write the index", "Write the index\n\nin C"), ("Test it", "Test it")]


def test_the_mail_of_another_program_is_read_and_numbered(tmp_path: Path) -> None:
    """Rulings 5.5: a missing seq is the place in the list; what was read stays read."""
    (tmp_path / "messages.json").write_text(json.dumps({"messages": LETTERS}))
    box = File(tmp_path, "messages.json", Mailbox, filled=mail.numbered).read()
    assert [message.seq for message in box.messages] == [1, 2]
    assert (box.next_seq, box.acked, box.revision) == (3, 1, 0)


def test_numbers_that_are_there_are_kept() -> None:
    first = Message(id="m", seq=5, from_="a", to="b", type=MessageType.MESSAGE, content="", timestamp=NOW)
    second = msgspec.structs.replace(first, id="n", seq=0)
    box = mail.numbered(Mailbox(revision=4, next_seq=6, acked=5, messages=(first, second)))
    assert [message.seq for message in box.messages] == [5, 6]
    assert (box.next_seq, box.acked) == (7, 5)
    whole = msgspec.structs.replace(box, next_seq=9)
    assert mail.numbered(whole) is whole


@pytest.mark.parametrize("data", [b"{}", b'{"schemaVersion": 1}', b'{"revision": 0}'])
def test_an_object_without_content_is_no_document(data: bytes, tmp_path: Path) -> None:
    """Reliability 23: unreadable is never empty."""
    (tmp_path / "tasks.json").write_bytes(data)
    with pytest.raises(StoreError, match="no revision"):
        File(tmp_path, "tasks.json", TaskList, filled=archive.numbered).read()
