"""Members on another machine: what a test does with them, and what must be left of them."""

import json
from contextlib import suppress
from pathlib import Path

import psutil

from pro0.terminals import protocol
from pro0.terminals.connection import Connection
from tests.e2e.conftest import Team
from tests.living import living
from tests.sshd import Machine

LIVES = "echo hello; while :; do sleep 0.1; done"


def spawn(team: Team, name: str, script: str, *options: str) -> None:
    team("member", "spawn", name, "--host", "build1", *options, "--", "sh", "-c", script)
    team.until(lambda: team.state(name) == "running", "it runs there")


def called_with(*texts: str) -> list[psutil.Process]:
    """The living processes that were called with all of these texts."""
    return living(lambda process: all(text in "\0".join(process.cmdline()) for text in texts))


def sessions(machine: Machine) -> list[psutil.Process]:
    """The processes of sessions there: guards, agents and all below."""
    folder = str(machine.home / "pro0" / "hosted")
    return living(lambda process: folder in "\0".join((*process.cmdline(), *process.environ().values())))


def guard_there(machine: Machine) -> int:
    [report] = (machine.home / "pro0" / "hosted").glob("*/report.json")
    return int(json.loads(report.read_text())["guard"]["pid"])


def cut(machine: Machine) -> None:
    """Cut every connection to the machine, and let nobody in."""
    machine.stop()
    for process in called_with(f"{machine.at}/client"):
        with suppress(psutil.Error):
            process.kill()


def unreached(team: Team, name: str) -> bool:
    return team.state(name) == "unreachable" and "has been out of reach since" in team.member(name)["note"]


def records(team: Team) -> list[Path]:
    return list(team.home.glob("teams/*/sessions/*.host.json"))


def nothing_left(team: Team, machine: Machine) -> None:
    team.until(lambda: not sessions(machine), "nothing runs there")
    team.until(lambda: not records(team), "home knows")
    team.until(lambda: not called_with(f"{machine.at}/client"), "no ssh is left")


def type_into(team: Team, name: str, data: bytes) -> None:
    """Type into a member's terminal at home, as a view does."""
    incarnation = team.member(name)["incarnation"]
    with Connection(f"{team.home}/teams/{team.name}/sessions/{incarnation}.sock") as terminal:
        assert terminal.ask(protocol.INPUT, data, protocol.TAKEN)["taken"]
