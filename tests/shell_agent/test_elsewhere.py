"""The shell agent on another machine: all that it knows and does of its team goes through commands of pro0."""

from collections.abc import Iterator

import pytest

from pro0.children import RUN
from pro0.model.task import Status
from pro0.ops.tasks import tasks
from pro0.rules.tasks.acts import Act
from tests.shell_agent.conftest import PATIENCE, Desk
from tests.waiting import wait_until

PROGRAM = """
import os, subprocess, sys, threading
from pro0.link.asks import AT_ONCE, Asks
from pro0.shell_agent.elsewhere import ShellAgentElsewhere, Typed

class HeldUp:
    def do(self, request, tell):
        threading.Event().wait()

busy = Asks(HeldUp(), lambda: None)
for number in range(AT_ONCE):
    busy.take({"id": f"{number}", "words": ["team", "status"], "input": ""})

def ask(words, given):
    if os.path.exists("busy-" + words[0]):
        open("met", "w").close()
        busy.take({"id": "new", "words": words, "input": given})
        [answer] = busy.answers()
        return answer
    done = subprocess.run([sys.executable, "-I", "-m", "pro0", *words], input=given, capture_output=True, text=True)
    return {"code": done.returncode, "out": done.stdout, "errors": done.stderr}

sys.exit(ShellAgentElsewhere(ask, "w1", Typed(), 1.0).work())
"""
"""The agent with the commands themselves in the place of a link; home is busy for those that have a file."""


@pytest.fixture
def there(desk: Desk) -> Iterator[Desk]:
    """A desk whose agent runs there, and has nothing to do yet."""
    process = desk.start("-c", PROGRAM)
    assert process.stdin
    with process.stdin:
        desk.shows("is ready")
        yield desk


def type_line(desk: Desk) -> None:
    """Type the line by which a lead tells of mail and of tasks."""
    assert desk.process
    assert desk.process.stdin
    desk.process.stdin.write(b"1 task is ready for you\n")
    desk.process.stdin.flush()


def test_a_line_makes_it_take_what_is_kept_for_it_first(there: Desk) -> None:
    """Issue 19, build 2: then any task with a command, in order."""
    order = [there.give(f"echo {n} >> order") for n in "ab"]
    mine = tasks.assign(there.human, there.give("echo mine >> order"), "w1").id
    there.give(None)
    type_line(there)
    for id in (mine, *order):
        assert there.settled(id).status is Status.COMPLETED
    assert (there.folder / "order").read_text().split()[0] == "mine"


def test_a_hook_that_refuses_the_result_fails_the_task(there: Desk) -> None:
    """Behaviour 3.22: a command cannot mend what the hook says."""
    (there.team.paths.home / "config.yaml").write_text('hooks: {TaskCompleted: "echo not good enough >&2; exit 2"}\n')
    id = there.give("true")
    type_line(there)
    failed = there.settled(id)
    assert failed.status is Status.FAILED
    assert "not good enough" in failed.closed_reason


def test_a_task_that_is_taken_away_ends_its_command(there: Desk) -> None:
    """Issue 19, build 2."""
    id = there.give("touch begun; exec sleep 1000")
    type_line(there)
    wait_until((there.folder / "begun").exists, PATIENCE, "it works")
    tasks.cancel(there.human, id)
    type_line(there)
    there.shows("is no longer ours: it was taken away")


def test_what_its_command_leaves_is_known_by_its_session(there: Desk) -> None:
    """A member of the same name, of another team on that machine, works on a task-1 too: that goes on."""
    id = there.give(f'printf %s "${RUN}" > tag')
    type_line(there)
    claimed = next(entry for entry in there.settled(id).history if entry.act == Act.CLAIM)
    assert claimed.incarnation
    assert claimed.incarnation in (there.folder / "tag").read_text()


def test_a_free_agent_agrees_to_leave(there: Desk) -> None:
    """Behaviour 3.9."""
    there.ask_to_end()
    type_line(there)
    assert there.answer().approve
    assert there.process
    assert there.process.wait(PATIENCE) == 0


def test_a_busy_home_ends_no_work_and_loses_no_outcome(there: Desk) -> None:
    """It is no refusal, as by a task that was taken away: home is asked again after a while."""
    id = there.give("touch begun; while ! test -e go; do sleep 0.1; done; echo it went on")
    type_line(there)
    wait_until((there.folder / "begun").exists, PATIENCE, "it works")
    for words in ("inbox", "task"):
        (there.folder / f"busy-{words}").touch()
    type_line(there)
    wait_until((there.folder / "met").exists, PATIENCE, "a look meets a busy home")
    (there.folder / "go").touch()
    there.shows("commands are already running")
    for words in ("inbox", "task"):
        (there.folder / f"busy-{words}").unlink()
    assert there.settled(id).result == "it went on"


def test_an_answer_for_which_home_is_too_busy_is_given_later(there: Desk) -> None:
    """Behaviour 3.9: the request was read, and is not given again."""
    (there.folder / "busy-shutdown").touch()
    there.ask_to_end()
    type_line(there)
    there.shows("commands are already running")
    (there.folder / "busy-shutdown").unlink()
    type_line(there)
    assert there.answer().approve
