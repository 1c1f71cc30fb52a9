"""What the pictures show: a team of three at work, of whom one asks for a permission."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tools.pictures.stage import PROJECT, Stage, staged, until

CHECKS = r"""#!/bin/sh
printf '\n'
for t in parse lexer errors unicode; do printf '  test_%-10s \033[32mpassed\033[0m\n' $t; done
printf '  test_%-10s \033[31mfailed\033[0m\n\n  expected \033[33m"ü"\033[0m, got \033[33m"u"\033[0m\n' names
exec sleep 86400
"""
JOBS = {
    "Read names as Unicode": {"asks": "make names"},
    "Document the grammar": {"says": "Shall I document the old syntax, too?", "until": "never"},
}
MEMBERS = {"ada": "claude", "ben": "codex", "ci": "shell"}
ARCHIVE = "20250603T102134Z.7d41c09b-e2a6-4358-9c1d-7d41c09be2a6"
FIXED: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"/tmp/pro0-\w+"), "~"),
    (re.compile(r"(?<= ) *\d+[smhd](?=(?:\x1b\[[0-9;:]*m)*\s*$)", re.MULTILINE), lambda age: "8s".rjust(len(age[0]))),
    (re.compile(r"\d\d:\d\d(?::\d\d)?"), lambda time: "10:21:34"[: len(time[0])]),
    (re.compile(r"(?<=\.)\d{8}T\d{6}Z\.[0-9a-f\n-]{36,37}(?=[\s;])"), lambda name: _laid(ARCHIVE, name[0])),
    (re.compile(r"\b[0-9a-f]{12}\b"), "7d41c09be2a6"),
    (
        re.compile(r"(?:^\w+ has ended \(\w+\)\n)+", re.MULTILINE),
        lambda ends: "".join(sorted(ends[0].splitlines(True))),
    ),
)
"""Patterns of what differs each time, and the text for it in the pictures."""


@contextmanager
def at_work(mode: str) -> Iterator[Stage]:
    """Yield a stage with the team, shown in that mode, in the state that the pictures show."""
    with staged(JOBS) as stage:
        stage.program("check", CHECKS)
        stage.pro0("team", "start", PROJECT, "--mode", mode, "--detach", "--lead", "none")
        for name, agent in MEMBERS.items():  # one after the other, so that the timeline has them in this order
            stage.pro0("member", "spawn", name, "--agent", agent)
        stage.members(ada="idle", ben="idle", ci="idle")
        stage.pro0("task", "create", "Run the tests", "--run", "./check")
        stage.members(ada="idle", ben="idle", ci="working")
        stage.pro0("task", "create", "Document the grammar", "--assignee", "ben")
        stage.members(ada="idle", ben="working", ci="working")
        until(lambda: "old syntax" in stage.pro0("inbox", "--json"), "a letter of ben's", lambda: stage.pro0("inbox"))
        stage.pro0("task", "create", "Read names as Unicode", "--assignee", "ada")
        stage.members(ada="waiting", ben="working", ci="working")
        until(lambda: "member answer" in stage.pro0("needs"), "a permission", lambda: stage.pro0("needs"))
        stage.pro0("task", "create", "Release 1.0", "--blocked-by", "1")
        stage.pro0("task", "create", "Choose a name for the library")
        stage.pro0("task", "update", "5", "--awaiting", "input", "grammar or parsley?")
        yield stage


def fixed(screen: str) -> str:
    """Return a screen with its times, ages, paths and ids replaced, so that it is the same each time."""
    for pattern, words in FIXED:
        screen = pattern.sub(words, screen)
    return screen


def _laid(name: str, found: str) -> str:
    """Return a name, with a line break where the found name has one."""
    broken = found.find("\n")
    return name if broken < 0 else f"{name[:broken]}\n{name[broken:]}"


def _sorted(lines: str) -> str:
    return "".join(sorted(lines.splitlines(keepends=True)))
