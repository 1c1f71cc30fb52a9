"""Names in files that were edited by hand: exit 2, 3, 5 or 6, nothing touched (check 29, check 31)."""

import random
from pathlib import Path

import pytest

from tests.cli.conftest import Pro0, tree
from tests.crash.lanes import SOAK, TEST, counted
from tests.hostile.furnished import Furnished, Place
from tests.hostile.names import BYTES, NAMES

REFUSED = {2, 3, 5, 6}
TEXTS = NAMES | BYTES
FIELDS = [
    *(Place("config", path) for path in (("name",), ("uid",), ("project",), ("members", 0, "agentId"))),
    *(Place("wanted", ("seats", 0, path)) for path in ("agentId",)),
    Place("wanted", ("seats", 0, "answer", "incarnation")),
    *(Place("runtime", ("seats", 0, name)) for name in ("agentId", "incarnation")),
    Place("runtime", ("seats", 0, "handle", "incarnation")),
    Place("runtime", ("failures", 0, "agentId")),
    *(Place("tasks", ("tasks", 0, name)) for name in ("id", "assignee")),
    *(Place("tasks", ("tasks", 0, "claim", name)) for name in ("agentId", "incarnation")),
    Place("tasks", ("tasks", 1, "parent")),
    Place("tasks", ("tasks", 2, "dependencies", 0)),
    *(Place("tasks", ("outbox", 0, name)) for name in ("from", "to")),
    *(Place("messages", ("messages", 0, name)) for name in ("from", "to")),
]
"""Every field that becomes a path, an argument, a tag or a key."""
TOUCHED = {
    "config": ["team status", "team list", "team cleanup alpha --force", "member spawn w9"],
    "wanted": ["team status", "member list", "member show w1", "send w1 x", "team pause"],
    "runtime": ["team status", "member list", "member peek w1", "send w1 x", "team cleanup alpha --force"],
    "tasks": ["team status", "task list", "task show 1", "task tree", "task create x", "task claim 1", "task ready"],
    "messages": ["inbox", "inbox --all", "send human x", "team status"],
}


def fits(place: Place, text: str) -> bool:
    """Say whether a field may hold this after all."""
    last = place.path[-1]
    if last in ("uid", "incarnation"):
        return text.isascii() and text.replace("-", "x").isalnum() and len(text) <= 64 and not text.startswith("-")
    return last == "project" and text.startswith("/") and "\0" not in text


@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_a_name_in_a_file_is_checked_when_it_is_read(place: Place, pro0: Pro0, full: Furnished, tmp_path: Path) -> None:
    """29, 31: some of the names in every field; all of them in the soak."""
    names = [kind for kind, text in TEXTS.items() if not fits(place, text)]
    refused(place, random.Random(str(place)).sample(names, 4), pro0, full, tmp_path)
    counted(TEST, "edits", str(place), 4)


@pytest.mark.soak
@pytest.mark.parametrize("place", FIELDS, ids=str)
def test_every_name_in_a_file_is_checked(place: Place, pro0: Pro0, full: Furnished, tmp_path: Path) -> None:
    """29, 31"""
    names = [kind for kind, text in TEXTS.items() if not fits(place, text)]
    refused(place, names, pro0, full, tmp_path)
    counted(SOAK, "edits", str(place), len(names))


def refused(place: Place, kinds: list[str], pro0: Pro0, full: Furnished, around: Path) -> None:
    """Put each of these names into a field, and see that a command that reads the file refuses it."""
    sound = full.files[place.file].read_bytes()
    for kind in kinds:
        full.files[place.file].write_bytes(sound)
        full.edit(place, TEXTS[kind])
        before = tree(around)
        command = random.Random(f"{place} {kind}").choice(TOUCHED[place.file])
        called = pro0(*command.split())
        assert called.code in REFUSED, (kind, command, called)
        assert "Traceback" not in called.err
        assert "internal error" not in called.err
        assert tree(around) == before, (kind, command)
