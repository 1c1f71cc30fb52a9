"""Text of others never reaches a terminal as commands: what is stored, what is typed, what a pane shows (check 34)."""

import builtins
import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, get_args

import msgspec
import pytest

from pro0.model.message import Message
from pro0.model.task import Comment, Task
from pro0.model.team import Seat
from pro0.rules.text import printed
from tests.cli.conftest import Pro0
from tests.cli.test_output import on_terminal
from tests.crash.lanes import SOAK, TEST, counted
from tests.hostile.furnished import Furnished, Place, leaves, put
from tests.hostile.payloads import PAYLOADS

FREE = {
    "config": ["members.0.name", "members.0.category", "modeReason", "project"],
    "wanted": [
        *(f"seats.0.{name}" for name in ("name", "agent", "role", "prompt", "argv.0", "model", "effort", "host")),
        *(f"seats.0.answer.{name}" for name in ("requestId", "reason")),
        *(f"seats.0.shutdown.{name}" for name in ("id", "by", "reason")),
        *(f"seats.0.gate.{name}" for name in ("id", "text", "by", "feedback")),
    ],
    "runtime": ["seats.0.note", "seats.0.task", "seats.0.exit.reason", "failures.0.message", "failures.0.hint"],
    "tasks": [
        *(f"tasks.0.{name}" for name in ("title", "description", "acceptance", "run", "result", "closedReason")),
        *(f"tasks.0.{name}" for name in ("labels.0", "role", "agent", "createdBy", "origin")),
        *(f"tasks.0.{name}" for name in ("branch", "baseBranch", "worktree")),
        *(f"tasks.0.history.0.{name}" for name in ("text", "actor", "act", "asked", "incarnation")),
        *("tasks.0.start.by", "tasks.0.start.agent", "tasks.3.closedReason", "tasks.3.title"),
        *("tasks.4.awaiting.reason", "tasks.4.awaiting.by"),
    ],
    "messages": ["messages.0.content", "messages.0.id", "messages.0.inReplyTo"],
    "comments": ["comments.0.text", "comments.0.author", "comments.0.id", "comments.0.authorRole"],
}
"""Every field that holds a text that people or agents choose."""
MADE = {
    ("tasks", "tasks.0.start"): {"by": "human", "at": "2026-01-01T00:00:00Z"},
    ("wanted", "seats.0.gate"): {"id": "a", "text": "p", "verdict": "rejected", "at": "2026-01-01T00:00:00Z"},
}
"""What holds such a field, and is not in the team's files."""
KINDS = {"wanted": ("seats", Seat), "tasks": ("tasks", Task), "messages": ("messages", Message),
         "comments": ("comments", Comment)}  # fmt: skip
NOT_FREE = {"wanted": {"definition": "the settings' own, which no command shows from here"}}
"""A field that takes any text, and is not in FREE → why."""
SHOWN = {
    "config": ["team status", "team list", "member list", "task list"],
    "wanted": ["member list", "member show w1", "team status", "needs"],
    "runtime": ["member list", "member show w1", "team status", "team list"],
    "tasks": [
        "task list",
        "task show 1",
        "task show 4",
        "task tree",
        "task ready",
        "task next",
        "team status",
        "needs",
    ],
    "messages": ["inbox --all", "inbox"],
    "comments": ["task show 1"],
}


def path(name: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.isdigit() else step for step in name.split("."))


FIELDS = [Place(file, path(name)) for file, names in FREE.items() for name in names]
OWN = re.compile("\x1b\\[(?:[0-9;]*m|K)|\r")
"""What pro0 itself says to a terminal: colours, and its line of progress."""


def texts_of(kind: Any) -> Iterator[str]:
    """Yield the fields of a stored value that take any text, those of its parts too."""
    for field in msgspec.structs.fields(kind):
        name, parts = field.encode_name, [*parts_of(field.type)]
        yield from (f"{name}.{inner}" for part in parts for inner in texts_of(part))
        if not parts and any(takes(field.type, value) for value in ("\x1b[31m", ["\x1b[31m"], {"a": "\x1b[31m"})):
            yield name


def parts_of(type: Any) -> Iterator[Any]:
    """Yield the stored values that a type names."""
    if isinstance(type, builtins.type) and issubclass(type, msgspec.Struct):
        yield type
    for inner in get_args(type):
        yield from parts_of(inner)


def takes(type: Any, value: object) -> bool:
    try:
        return bool(msgspec.convert(value, type))
    except msgspec.ValidationError:
        return False


@pytest.mark.parametrize("file", KINDS)
def test_every_text_that_is_chosen_is_tried(file: str) -> None:
    """34: a new field of a task, a message, a comment or a seat is in FREE, or it stands beside it with a reason."""
    top, kind = KINDS[file]
    tried = {".".join(step for step in name.split(".")[1:] if not step.isdigit()) for name in FREE[file]}
    excepted = NOT_FREE.get(file, {})
    free = set(texts_of(kind))
    assert all(name.startswith(f"{top}.") for name in FREE[file])
    assert {name for name in free - tried if name.partition(".")[0] not in excepted} == set()
    assert {name.partition(".")[0] for name in free - tried} == set(excepted), "an exception that is none"


def harmless(text: str, *, terminal: bool = False) -> bool:
    """Say whether nothing in a text is obeyed by a terminal, or unseen."""
    text = OWN.sub("", text) if terminal else text
    bad = {c for c in text if c not in "\n\t" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}}
    assert not bad, (bad, text)
    return True


def stored(full: Furnished, place: Place, payload: str) -> bool:
    """Put a payload into a field; a path must stay one."""
    for (file, name), value in MADE.items():
        if file == place.file and place.path[: len(path(name))] == path(name):
            full.edit(Place(file, path(name)), value)
    full.edit(place, f"/{payload}" if place.path[-1] == "project" else payload)
    return True


def shown(place: Place, kind: str, pro0: Pro0, full: Furnished) -> int:
    """Put a payload into one field and call what prints it; returns how many calls that were."""
    sound = full.files[place.file].read_bytes()
    stored(full, place, PAYLOADS[kind])
    for command in SHOWN[place.file]:
        for more in ((), ("--json",)):
            called = pro0(*command.split(), *(() if command == "team list" else ("-t", "alpha")), *more)
            assert harmless(called.out)
            assert harmless(called.err)
            assert "Traceback" not in called.err
            assert called.code in (0, 5), (place, kind, command, called)
    full.files[place.file].write_bytes(sound)
    return 2 * len(SHOWN[place.file])


@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_a_stored_text_is_harmless_where_it_is_shown(place: Place, pro0: Pro0, full: Furnished) -> None:
    """34: one payload for each field, of 60; all in the soak."""
    kind = random.Random(str(place)).choice([*PAYLOADS])
    counted(TEST, "payloads", str(place), shown(place, kind, pro0, full))


@pytest.mark.soak
@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_every_payload_is_harmless_where_it_is_shown(place: Place, pro0: Pro0, full: Furnished) -> None:
    """34"""
    counted(SOAK, "payloads", str(place), sum(shown(place, kind, pro0, full) for kind in PAYLOADS))


def everywhere(full: Furnished, payload: str) -> None:
    """Put a payload into every free field at once."""
    for file in FREE:
        document: Any = json.loads(full.files[file].read_bytes())
        for name in (name for of, name in MADE if of == file):
            put(document, path(name), MADE[file, name])
        holders = {found[:-1] for found, _ in leaves(document)} | {found[:-2] for found, _ in leaves(document)}
        for place in FIELDS:
            if place.file == file and place.path[:-1] in holders:
                put(document, place.path, f"/{payload}" if place.path[-1] == "project" else payload)
        full.files[file].write_bytes(json.dumps(document).encode())


def everywhere_and_logged(full: Furnished, payload: str) -> None:
    """Put a payload into every free field, into a member's log, and into the events."""
    everywhere(full, payload)
    full.team.paths.log("w1").write_text(payload, errors="replace")
    event = json.dumps({"at": payload, "event": payload, payload: payload})
    (full.team.paths.team / "events.jsonl").write_text(f"{event}\n")


COMMANDS = ["team status", "team list", "member list", "member show w1", "task list", "task show 1", "task tree"]
COMMANDS += [
    "task ready",
    "task blocked",
    "task query",
    "task next",
    "inbox --all",
    "doctor",
    "config",
    "member peek w1",
    "team logs",
    "needs",
]


def words_of(command: str) -> list[str]:
    """Return a command as it is called, with the team where it has one."""
    return [*command.split(), *(() if command in ("team list", "doctor", "config") else ("-t", "alpha"))]


@pytest.mark.parametrize("kind", PAYLOADS)
def test_every_payload_everywhere(kind: str, pro0: Pro0, full: Furnished) -> None:
    """34: 60 payloads in every field, each with some of the commands."""
    everywhere_and_logged(full, PAYLOADS[kind])
    chosen = random.Random(kind).sample(COMMANDS, 2)
    for command in chosen:
        called = pro0(*words_of(command))
        assert called.code in (0, 1, 5), (command, called)
        assert harmless(called.out)
        assert harmless(called.err)
    counted(TEST, "payloads", f"everywhere {kind}", len(chosen))


@pytest.mark.soak
@pytest.mark.parametrize("kind", PAYLOADS)
def test_no_payload_reaches_a_terminal(kind: str, full: Furnished) -> None:
    """34: each in every field, with every command, on a real terminal; what pro0 itself says to one is taken out."""
    everywhere_and_logged(full, PAYLOADS[kind])
    for command in COMMANDS:
        assert harmless(on_terminal(*words_of(command), columns=200), terminal=True)
    counted(SOAK, "payloads", f"terminal {kind}", len(COMMANDS))


@pytest.mark.parametrize("command", [*COMMANDS[:9:2], "member peek w1", "inbox --all"])
def test_a_terminal_gets_nothing_either(command: str, full: Furnished) -> None:
    """34: all of them at once."""
    everywhere(full, "".join(payload for payload in PAYLOADS.values() if len(payload) < 1000))
    assert harmless(on_terminal(*words_of(command), columns=200), terminal=True)
    counted(TEST, "payloads", f"terminal {command}", 1)


ARGUMENTS: list[Callable[[str], list[str]]] = [
    lambda p: ["send", p, "x"],
    lambda p: ["send", "human", p],
    lambda p: ["send", "human", p, "--json"],
    lambda p: ["task", "create", p],
    lambda p: ["task", "create", "x", "--label", p, "--json"],
    lambda p: ["task", "create", "x", "--run", p, "-d", p],
    lambda p: ["task", "create", "x", "--assignee", p],
    lambda p: ["task", "create", "-f", p],
    lambda p: ["task", "show", p],
    lambda p: ["task", "list", "--assignee", p],
    lambda p: ["task", "list", "--status", p],
    lambda p: ["member", "show", p],
    lambda p: ["member", "spawn", p],
    lambda p: ["member", "spawn", "w9", "--agent", p],
    lambda p: ["team", "status", p],
    lambda p: ["team", "start", p],
    lambda p: ["team", "start", "x", "-m", p],
    lambda p: ["team", "start", "x", "--lead", p],
    lambda p: ["team", "start", "x", "--mode", p],
    lambda p: ["team", "logs", "-n", p],
    lambda p: ["config", "get", p],
    lambda p: ["completion", p],
    lambda p: [p],
    lambda p: ["team", p],
    lambda p: [f"--{p}"],
    lambda p: ["task", "list", f"--{p}=1"],
    lambda p: ["team", "wait", "--timeout", p],
]


@pytest.mark.parametrize("number", range(len(ARGUMENTS)))
def test_a_persons_own_words_come_back_visibly(number: int, pro0: Pro0, full: Furnished) -> None:
    """34"""
    for kind in random.Random(number).sample([*PAYLOADS], 2):
        payload = PAYLOADS[kind]
        called = pro0(*ARGUMENTS[number](payload))
        assert called.code in (0, 2, 3, 4), (kind, called)
        assert harmless(called.out)
        assert harmless(called.err)


@pytest.mark.parametrize("kind", PAYLOADS)
def test_a_log_is_plain(kind: str) -> None:
    """34: what a session without a terminal has printed."""
    assert "\x1b" not in printed(PAYLOADS[kind])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", printed(PAYLOADS[kind] * 3))


def test_a_long_line_is_shown_at_once() -> None:
    assert printed("x" * 65536) == "x" * 65536
    assert printed("a\rb" * 20000 + "\r") == "b"


def test_all_payloads_are_there() -> None:
    assert len(PAYLOADS) >= 60
    assert len([*product(FIELDS, PAYLOADS)]) >= 1800
