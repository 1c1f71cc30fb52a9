"""The team's machine restarts while a member works on another one: that session goes on (behaviour 3.32)."""

import json
from pathlib import Path

import pytest

from tests import sshd
from tests.e2e.conftest import Team, kill
from tests.e2e.machines import called_with, cut, guard_there, nothing_left, unreached
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())

LONG = 'while ! test -e go; do sleep 0.1; done; echo once >> ran; pro0 send human "it is done"; echo it went on'


def restart_home(team: Team) -> None:
    """End all that the team runs here at once, and let its files name an earlier boot of this machine."""
    [lead] = [team.json("team", "status")["lead"]["pid"]]
    kill(lead)
    for process in called_with(f"{team.home}/teams/{team.name}/sessions/"):  # guards and links
        kill(process.pid)
    folder = team.home / "teams" / team.name
    for file in (folder / "runtime.json", *folder.glob("sessions/*.json")):
        if not file.name.endswith(".host.json"):
            file.write_text(json.dumps(of_an_earlier_boot(json.loads(file.read_text()))))


def of_an_earlier_boot(value: object) -> object:
    if isinstance(value, dict):
        return {key: "earlier" if key == "bootId" else of_an_earlier_boot(inner) for key, inner in value.items()}
    return [of_an_earlier_boot(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture
def at_work(led: Team) -> Team:
    """A team with a shell agent there, in the middle of a task."""
    led("member", "spawn", "bob", "--agent", "shell", "--host", "build1")
    led("task", "create", "long", "--run", LONG, "--assignee", "bob")
    led.until(lambda: led.tasks()["task-1"]["status"] == "in_progress", "it works")
    return led


def test_a_session_there_goes_on(at_work: Team, build1: Machine) -> None:
    """Its claim stays, its outcome arrives once, and the resume names it as adopted."""
    before, guard = at_work.member("bob")["incarnation"], guard_there(build1)
    restart_home(at_work)
    said = at_work("team", "resume").out
    assert "adopted bob" in said
    at_work.until(lambda: at_work.state("bob") == "working", "it is known again")
    assert (at_work.member("bob")["incarnation"], guard_there(build1)) == (before, guard)
    assert at_work.tasks()["task-1"]["assignee"] == "bob"
    (build1.home / "go").touch()
    at_work.until(lambda: at_work.tasks()["task-1"]["status"] == "completed", "its outcome arrives")
    assert "it went on" in at_work.tasks()["task-1"]["result"]
    assert at_work.mail("bob") == ["it is done"]
    assert (build1.home / "ran").read_text() == "once\n"
    at_work("team", "stop", "--timeout", "60")
    nothing_left(at_work, build1)


def test_what_ended_there_meanwhile_is_known(at_work: Team, build1: Machine) -> None:
    """A machine out of reach proves nothing; its own word then says how the session ended."""
    cut(build1)
    at_work.until(lambda: unreached(at_work, "bob"), "home notices")
    restart_home(at_work)
    at_work("team", "resume")
    at_work.until(lambda: unreached(at_work, "bob"), "home tries again")
    assert at_work.tasks()["task-1"]["assignee"] == "bob"
    kill(guard_there(build1))
    build1.start()
    at_work.until(lambda: at_work.state("bob") == "crashed", "its end is known")
    assert at_work.member("bob")["note"].endswith("its guard there was killed")
    at_work.until(lambda: not at_work.tasks()["task-1"].get("claim"), "its task is given back")
    assert not Path(build1.home / "ran").exists()
    nothing_left(at_work, build1)


def test_a_stop_ends_it_there(at_work: Team, build1: Machine) -> None:
    """Whoever stops the team after a restart ends what goes on there."""
    restart_home(at_work)
    at_work.cli("team", "stop", "--force", "--timeout", "1", cwd=at_work.project)  # a slow end there is no failure
    assert at_work.member("bob")["note"] == "the team's machine has restarted"
    nothing_left(at_work, build1)
