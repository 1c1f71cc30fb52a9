"""Whose a process is: by the kernel's mark where there are marks, and by its environment where there are none."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from pro0.processes import mark, table
from tests.processes.families import TAG, running
from tests.waiting import STUCK, wait_until

ROOT = str(Path(__file__).parents[2])
PROGRAM = f"""
import os, signal, sys
sys.path.insert(0, {ROOT!r})
from pro0.processes import mark
if sys.argv[2]:
    assert mark.put_on(sys.argv[2])
os.execve("/bin/sh", ["sh", "-c", ': >"$1"; exec sleep 600', "sh", sys.argv[1]], dict(os.environ))
"""
marked = pytest.mark.skipif(not mark.available(), reason="the system has no marks")


@contextmanager
def sleeping(folder: Path, name: str, marked_as: str, **variables: str) -> Iterator[int]:
    """Start a process with this mark, and with nothing but these variables; yield its pid once it is there."""
    argv = [sys.executable, "-I", "-c", PROGRAM, str(folder / name), marked_as]
    with running(argv, env={"PATH": os.defpath, **variables}) as child:
        wait_until((folder / name).exists, STUCK, f"{name} is there")
        yield child.pid


def proven(*incarnations: str) -> dict[str, list[int]]:
    found = table.proven(TAG, incarnations)
    return {incarnation: [one.pid for one in entries] for incarnation, entries in found.items()}


@marked
def test_a_mark_proves_whose_a_process_is_and_a_variable_proves_nothing(tmp_path: Path) -> None:
    """Also without an environment; what is started for others, as a lead, is nobody's."""
    one, two = str(uuid4()), str(uuid4())
    with ExitStack() as stack:
        bare = stack.enter_context(sleeping(tmp_path, "bare", one))
        claims_two = stack.enter_context(sleeping(tmp_path, "claims two", one, **{TAG: two}))
        stack.enter_context(sleeping(tmp_path, "only says so", "", **{TAG: one}))
        stack.enter_context(sleeping(tmp_path, "spared", one, **{table.SPARED: "1"}))
        unspared = stack.enter_context(sleeping(tmp_path, "not spared", two, **{table.SPARED: "0"}))
        found = proven(one, two, "nobody")
    assert {incarnation: sorted(pids) for incarnation, pids in found.items()} == {
        one: sorted([bare, claims_two]),
        two: [unspared],
        "nobody": [],
    }


@marked
@pytest.mark.parametrize("changes", ["its mark", "its process"])
def test_a_pid_used_again_meanwhile_is_nobodys(changes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark is read before and after the identity: if either is another's by then, nothing is proven."""
    one = str(uuid4())
    with sleeping(tmp_path, "one", one) as pid:
        assert proven(one) == {one: [pid]}
        if changes == "its mark":
            first = iter([mark.mark_of(one)])
            monkeypatch.setattr(mark, "carried_by", lambda of: next(first, None) if of == pid else None)
        else:
            monkeypatch.setattr(table, "alive", lambda _: False)
        assert proven(one) == {one: []}


def test_without_marks_the_variable_has_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    monkeypatch.setattr(mark, "_LIMIT", -1)
    one, two = str(uuid4()), str(uuid4())
    with sleeping(tmp_path, "one", "", **{TAG: one}) as pid, sleeping(tmp_path, "neither", ""):
        assert proven(one, two) == {one: [pid], two: []}
