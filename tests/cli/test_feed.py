"""`pro0 task blocked`, `query` and `watch`."""

import json
import subprocess
import sys
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO

from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from tests.cli.conftest import Pro0
from tests.waiting import STUCK, wait_until

SECONDS = STUCK


def test_words_of_other_ticket_programs_are_the_same_store(pro0: Pro0, team: Context) -> None:
    """AC-95: add, create, dep, undep, ready, blocked, comment, add-note, done, close, list, ls, query.

    Their short flags are not taken over (rulings 3.20); numbers name tasks, and one that is not there is exit 3.
    """
    assert pro0("task", "add", "one", "-o", "name").out == "task-1\n"
    assert pro0("task", "create", "two", "-o", "name").out == "task-2\n"
    assert pro0("task", "dep", "2", "1").code == 0
    assert pro0("task", "blocked", "-o", "name").out == "task-2\n"
    assert pro0("task", "ready", "-o", "name").out == "task-1\n"
    assert "task-1 is pending" in pro0("task", "blocked").out
    for words in (("comment", "1", "first"), ("add-note", "1", "second")):
        assert pro0("task", *words).code == 0
    assert [said["text"] for said in json.loads(pro0("task", "show", "1", "--json").out)["remarks"]] == [
        "first",
        "second",
    ]
    assert pro0("task", "undep", "2", "1").code == 0
    assert pro0("task", "blocked").err == "no task is blocked\n"
    assert pro0("task", "claim", "1").code == 0
    assert pro0("task", "done", "1", "ok").code == 0
    listed = pro0("task", "ls", "--json").out
    assert listed == pro0("task", "list", "--json").out
    assert [json.loads(line) for line in pro0("task", "query").out.splitlines()] == json.loads(listed)
    assert pro0("task", "show", "77").code == 3


def lines(stream: IO[str]) -> Queue[str]:
    """Return what comes, line by line, as it comes."""
    found: Queue[str] = Queue()

    def read() -> None:
        for text in stream:
            found.put(text)

    Thread(target=read, daemon=True).start()
    return found


def test_changes_of_another_process_arrive_as_they_happen(team: Context, project: Path) -> None:
    """AC-56: a snapshot, then what another process changes; the watcher ends with the team."""
    tasks.create(team, [Draft(title="one")])
    argv = [sys.executable, "-m", "pro0", "task", "watch", "--json"]
    with subprocess.Popen(argv, cwd=project, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout
        told = lines(watcher.stdout)
        assert [task["id"] for task in json.loads(told.get(timeout=SECONDS))["tasks"]] == ["task-1"]
        tasks.create(team, [Draft(title="two\x1b[31m")])
        event = json.loads(told.get(timeout=SECONDS))
        assert (event["event"], event["task"]["id"]) == ("create", "task-2")
        tasks.delete(team, "1")
        event = json.loads(told.get(timeout=SECONDS))
        assert (event["event"], event["id"], event["task"]) == ("delete", "task-1", None)
        team.team.paths.team.rename(team.team.paths.team.with_name("removed"))
        assert watcher.wait(SECONDS) == 0


def test_as_lines_for_people(team: Context, project: Path) -> None:
    tasks.create(team, [Draft(title="one")])
    argv = [sys.executable, "-m", "pro0", "task", "watch"]
    with subprocess.Popen(argv, cwd=project, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout
        told = lines(watcher.stdout)
        assert told.get(timeout=SECONDS) == "task-1  pending  one\n"
        tasks.cancel(team, "1")
        assert told.get(timeout=SECONDS) == "update  task-1  cancelled  one\n"
        watcher.terminate()
        wait_until(lambda: watcher.poll() is not None, SECONDS, "it has ended")
