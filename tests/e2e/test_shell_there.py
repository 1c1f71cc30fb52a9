"""The shell agent on another machine: a real sshd on 127.0.0.1 with a home of its own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import sshd
from tests.conftest import let_scripts
from tests.e2e.conftest import Team
from tests.e2e.machines import cut, nothing_left, unreached
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())


@pytest.fixture
def shell(led: Team, build1: Machine) -> Team:
    """A team with a shell agent there."""
    led("member", "spawn", "bob", "--agent", "shell", "--host", "build1")
    led.until(lambda: led.state("bob") == "idle", "it is ready")
    return led


def ended(team: Team, task: str, status: str) -> dict[str, object]:
    team.until(lambda: team.tasks()[task]["status"] == status, f"{task} is {status}")
    return dict(team.tasks()[task])


def test_it_does_the_tasks_that_carry_a_command(shell: Team, build1: Machine) -> None:
    """Issue 19, build 1 and 2: there, one after the other, with the outcome at home."""
    shell("task", "create", "where", "--run", "pwd")
    shell("task", "create", "broken", "--run", "echo no such part; exit 3")
    shell("task", "create", "no command")
    shell("task", "create", "after", "--run", "pro0 send human done", "--blocked-by", "1")
    shell("task", "create", "too long", "--run", "sleep 1000", "--timeout", "1")
    assert ended(shell, "task-1", "completed")["result"] == str(build1.home)
    assert "exit code 3: no such part" in str(ended(shell, "task-2", "failed"))
    ended(shell, "task-4", "completed")
    assert "over its limit of 1 s" in str(ended(shell, "task-5", "failed"))
    assert shell.mail("bob") == ["done"]
    assert shell.tasks()["task-3"]["status"] == "pending"
    shell.until(lambda: shell.state("bob") == "idle", "nothing is left for it")
    shell("member", "shutdown", "bob", "--timeout", "60")
    assert shell.state("bob") == "shutdown"
    nothing_left(shell, build1)


def test_it_answers_while_it_works_and_leaves_when_its_task_is_taken_away(shell: Team, build1: Machine) -> None:
    """Issue 19, build 2; behaviour 3.9: it says "not yet", and is asked again when it is free."""
    let_scripts(shell.home)
    shell("task", "create", "long", "--run", "touch begun; sleep 1000")
    shell.until(Path(build1.home / "begun").exists, "it works")
    with ThreadPoolExecutor() as others:
        leaving = others.submit(shell, "member", "shutdown", "bob", "--timeout", "120")
        shell.until(lambda: "reason=working on task-1" in shell("team", "logs").out, "it answers", 60)
        shell("task", "cancel", "task-1")
        assert "not yet: working on task-1" in leaving.result().err
    assert "it was taken away" in shell("member", "peek", "bob").out
    assert shell.state("bob") == "shutdown"
    nothing_left(shell, build1)


def test_a_command_goes_on_while_home_is_out_of_reach(shell: Team, build1: Machine) -> None:
    """Issue 19, build 4: its outcome arrives, once."""
    shell("task", "create", "long", "--run", "while ! test -e go; do sleep 0.1; done; echo it went on")
    ended(shell, "task-1", "in_progress")
    cut(build1)
    shell.until(lambda: unreached(shell, "bob"), "home notices")
    (build1.home / "go").touch()
    build1.start()
    assert ended(shell, "task-1", "completed")["result"] == "it went on"
