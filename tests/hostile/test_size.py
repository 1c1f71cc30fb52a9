"""Files and streams that are larger or deeper than they should be: bounded memory, exit 2 or 5 (check 27)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pro0.rules.size import holds_more_than
from tests.hostile.furnished import Furnished
from tests.waiting import STUCK

MEMORY = 200 * 1024
"""KiB of resident memory that a call may take."""
SECONDS = STUCK
MIB = 1024 * 1024

SEES = {
    "config": "team status",
    "wanted": "member list",
    "runtime": "member list",
    "tasks": "task list",
    "messages": "inbox --all",
    "comments": "task show 1",
}


LONGER = [pytest.param(kind, marks=pytest.mark.soak) for kind in ("objects", "dependencies")]


def tiny(kind: str) -> bytes:
    """Return 29 MiB of JSON in which each value takes far more memory than bytes."""
    head = b'{"schemaVersion":1,"revision":1,'
    match kind:
        case "objects":
            return head + b'"tasks":[' + b"{}," * (29 * MIB // 3) + b"{}]}"
        case "texts":
            labels = b'"ab",' * (29 * MIB // 5)
            return head + b'"tasks":[{"id":"task-1","labels":[' + labels + b'"x"]}]}'
        case "dependencies":
            return head + b'"tasks":[{"id":"task-1","dependencies":[' + b'"task-1",' * (29 * MIB // 9) + b'"task-1"]}]}'
        case "lists":
            return head + b'"tasks":' + b"[" + b"[]," * (29 * MIB // 3) + b"[]]}"
    raise ValueError(kind)


def deep(length: int = 100_000) -> bytes:
    return b'{"schemaVersion":1,"revision":1,"tasks":' + b"[" * length


MEASURED = """
import json, os, subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "pro0", *sys.argv[2:]])
_, status, usage = os.wait4(child.pid, 0)
open(sys.argv[1], "w").write(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_maxrss]))
os._exit(0)
"""
"""Runs pro0 and measures it. A program counts from the memory of who forked it, so that one must be small."""


def run(*arguments: str, stdin: Path = Path(os.devnull), cwd: Path) -> tuple[int, str, int]:
    """Run the program; returns its code, what it said, and how many KiB it took at most."""
    said, figures = cwd / "said", cwd / "figures"
    with said.open("wb") as out, stdin.open("rb") as source:
        argv = [sys.executable, "-c", MEASURED, str(figures), *arguments]
        subprocess.run(argv, stdin=source, stdout=out, stderr=out, cwd=cwd, timeout=SECONDS, check=True)
    code, most = json.loads(figures.read_text())
    return code, said.read_text(errors="replace")[:2000], most // (1024 if sys.platform == "darwin" else 1)


def fits(answer: tuple[int, str, int], *codes: int) -> None:
    code, said, memory = answer
    assert code in codes, answer
    assert "Traceback" not in said
    assert "internal error" not in said
    assert memory <= MEMORY, answer


@pytest.mark.parametrize("file", ["config", "tasks", "messages"])
def test_a_sparse_file_is_never_read(file: str, full: Furnished, project: Path) -> None:
    """27: 1 GiB."""
    with full.files[file].open("wb") as hole:
        hole.truncate(1 << 30)
    fits(run(*SEES[file].split(), "-t", "alpha", cwd=project), 5)


@pytest.mark.parametrize("kind", ["texts", "lists", *LONGER])
def test_tiny_values_take_no_more_than_large_ones(kind: str, full: Furnished, project: Path) -> None:
    """27: 29 MiB."""
    full.files["tasks"].write_bytes(tiny(kind))
    fits(run("task", "list", "-t", "alpha", cwd=project), 5)


@pytest.mark.parametrize("file", ["runtime", "tasks", "comments"])
def test_depth_is_corrupt(file: str, full: Furnished, project: Path) -> None:
    """23: 100,000 deep."""
    full.files[file].write_bytes(deep())
    fits(run(*SEES[file].split(), "-t", "alpha", cwd=project), 5)


@pytest.mark.parametrize("what", ["sparse", "deep", "one line"])
def test_logs_are_read_from_their_end(what: str, full: Furnished, project: Path) -> None:
    """27"""
    log = full.team.paths.team / "events.jsonl"
    with log.open("ab") as file:
        if what == "sparse":
            file.truncate(1 << 30)
        else:
            file.write(deep() if what == "deep" else b"x" * 5 * MIB)
        file.write(b'\n{"event":"last"}\n')
    fits(run("team", "logs", "-t", "alpha", cwd=project), 0)


FILES = {
    "tiny JSON": b"[" + b"[]," * (15 * MIB // 3) + b"[]]",
    "tiny texts": b"[" + b'"ab",' * (15 * MIB // 5) + b'"ab"]',
    "tiny YAML": b"- a\n" * (15 * MIB // 4),
    "deep JSON": b"[" * 100_000,
    "deep YAML": b"".join(b" " * n + b"- \n" for n in range(2000)),
    "deep flow": b"- " + b"[" * 100_000,
    "aliases": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "digits": b'[{"title": "x", "priority": ' + b"9" * 5000 + b"}]",
    "digits in YAML": b"- title: x\n  priority: " + b"9" * 5000 + b"\n",
    "quotes": b'{"' + b'\\"' * MIB,
    "keys": b"".join(b"k%d: {}\n" % n for n in range(400_000)),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_tasks_is_bounded(kind: str, full: Furnished, project: Path) -> None:
    """27"""
    (project / "tasks.yaml").write_bytes(FILES[kind])
    fits(run("task", "create", "-f", "tasks.yaml", "-t", "alpha", cwd=project), 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["send", "human", "-"],
        ["broadcast", "-"],
        ["task", "create", "x", "-d", "-"],
        ["task", "create", "-f", "-"],
        ["task", "create", "-f", "/dev/zero"],
        ["task", "comment", "1", "-"],
        ["task", "update", "1", "-d", "-"],
        ["task", "cancel", "1", "-"],
        ["task", "fail", "1", "-"],
    ],
    ids=" ".join,
)
def test_endless_input_ends(arguments: list[str], full: Furnished, project: Path) -> None:
    """27"""
    fits(run(*arguments, "-t", "alpha", stdin=Path("/dev/zero"), cwd=project), 2)


@pytest.mark.parametrize("text", ['{"' + '\\"' * 500_000, "{" + "/*" * 500_000, "{" + "'" * 999_999, "//" * 500_000])
def test_settings_of_half_open_quotes_are_read_in_a_moment(text: str, full: Furnished, project: Path) -> None:
    """27: what takes time with the square of its length takes hours here."""
    (project / ".pro0").mkdir()
    (project / ".pro0" / "config.yaml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pro0", "config"], cwd=project, capture_output=True, timeout=SECONDS, check=False
    )
    assert done.returncode in (0, 2)


def test_what_counts_as_much() -> None:
    """A text full of commas is one value."""
    assert not holds_more_than(10, json.dumps({"a": ",[{" * 1000 + '\\"' * 100}).encode())
    assert holds_more_than(10, b'["a","a","a","a","a","a"]')
    assert not holds_more_than(100, b'["a","a","a","a","a","a"]')
