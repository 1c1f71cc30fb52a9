"""`pro0 diff`."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from pro0 import diffs
from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, line, mapping, painted, say, table, unprinted, write, write_json
from pro0.diffs import Difference, FileChange, Fork
from pro0.errors import EnvironmentMissing
from pro0.model.caller import Who
from pro0.ops.work import diffs as work_of
from pro0.ops.work.diffs import NamedWork
from pro0.rules import patch

Write = Callable[[bytes], object]
UNABLE = (126, 127)
"""The exit codes of a shell that cannot run or cannot find its command."""


@click.command()
@click.argument("name", shell_complete=completing.workplaces)
@click.option("--stat", is_flag=True, help="Only list the files, with the numbers of their changed lines.")
@team_option
@json_option
def diff(name: str, stat: bool, team: str | None, as_json: bool) -> None:
    """Show what a member, a worker or the session of a task has changed, since its work forked from the checkout.

    This includes commits, uncommitted changes, and new files that git does not ignore, also inside submodules. On a
    terminal the diff goes through your pager (GIT_PAGER, pager.diff or core.pager of your own settings, PAGER, less).
    Elsewhere it is a patch for `git apply`, including binary files. Members without a worktree share the project's
    checkout: for them it shows all changes not committed yet.

    --json prints {name, shared, worktree, branch, base, tip, commits [{id, at, author, title}], files [{path, kind,
    added, removed, was, committed}], added, removed, uncommitted, unreadable}; added and removed of a binary file are
    null.

    \b
    Examples:
      pro0 diff w1
      pro0 diff task-3 --stat
      pro0 diff w1 | git apply
    """
    context = here(team)
    if as_json or stat:
        work, difference = work_of.show(context, name)
        if as_json:
            write_json(as_mapping(work, difference))
            return
        _tell(work)
        _list(difference)
        return
    work = work_of.find(context, name, bring=True)
    _tell(work)
    if context.caller.who is Who.HUMAN and sys.stdout.isatty():
        _page(work)
    else:
        _print(work.fork)


def as_mapping(work: NamedWork, difference: Difference) -> dict[str, object]:
    """Return a line of work in the form of `pro0 diff --json`."""
    place = str(work.fork.folder) if work.fork.files else ""
    head = {"name": work.name, "shared": work.shared, "worktree": place}
    return {**head, **mapping(difference), "uncommitted": difference.uncommitted}


def _tell(work: NamedWork) -> None:
    if work.shared:
        say(f"{work.name} works in the project's checkout; these are all changes there that nobody has committed")


def _list(difference: Difference) -> None:
    for commit in difference.commits:
        write(f"{commit.id[:12]}  {line(commit.title)}")
    if difference.files:
        table(("CHANGE", "FILE", "LINES", "NOTE"), [_row(change) for change in difference.files], flexible=1)
    commits, files = len(difference.commits), len(difference.files)
    total = patch.summary(commits, files, difference.added, difference.removed, difference.uncommitted)
    write(total) if total else say("nothing is changed")
    if difference.unreadable:
        say(f"git could not read everything: {difference.unreadable}")


def _row(change: FileChange) -> tuple[str, ...]:
    lines = "binary" if change.added is None else f"+{change.added} -{change.removed}"
    name = f"{change.was} -> {change.path}" if change.was else change.path
    return change.kind, name, lines, "" if change.committed else "not committed"


def _print(fork: Fork) -> None:
    sys.stdout.flush()
    try:
        # A program that applies the patch needs the content of binary files; a person does not read it.
        for row in diffs.patch(fork, whole=not sys.stdout.isatty()):
            sys.stdout.buffer.write(row)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unprinted(error) from None


def _page(work: NamedWork) -> None:
    """Show the patch in the person's pager; print it when they have none. Leaving the pager early is no failure."""
    colours, any_line = painted(), False
    with _pager(diffs.pager(work.fork.folder), work.name) as put:
        for row in diffs.patch(work.fork):
            any_line = True
            text = patch.as_text(row)
            put(f"{patch.coloured(text) if colours else text}\n".encode())
    if not any_line:
        say("nothing is changed")


@contextmanager
def _pager(command: str, name: str) -> Iterator[Write]:
    if not command:
        yield lambda text: write(text.decode(), end="")
        return
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, env=environment)
    assert process.stdin
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C belongs to the pager while it runs
    try:
        with suppress(BrokenPipeError):
            yield process.stdin.write
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()
        signal.signal(signal.SIGINT, before)
    if process.returncode in UNABLE:
        raise EnvironmentMissing(
            f"the pager {command!r} cannot be run", hint=f"without a pager: GIT_PAGER=cat pro0 diff {name}"
        )
