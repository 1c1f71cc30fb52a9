"""The program in this process, and a team without a lead whose members are only written down."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from pro0.cli.main import main
from pro0.model.caller import THE_HUMAN
from pro0.model.runtime import SeatState, State
from pro0.model.team import Seat
from pro0.ops.context import Context, clock, new_id
from pro0.ops.team import teams
from pro0.store.teams import Store
from tests import exits, warm
from tests.conftest import Result
from tests.teams import granted

Pro0 = Callable[..., Result]


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present directory, in no team yet."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def pro0(home: Path, project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Pro0:
    """Run one command in this process: `pro0("task", "list", stdin="…")`."""

    def call(*arguments: str, stdin: str = "") -> Result:
        capfd.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = warm.call(home, [*arguments], stdin) if warm.WANTED else None
        if code is None:
            code = main([*arguments])
        out, err = capfd.readouterr()
        exits.hold(arguments, code)
        return Result(code, out, err)

    return call


@pytest.fixture
def team(home: Path, project: Path) -> Context:
    """The team alpha of the present directory, with the members w1 and w2, no lead and no process."""
    context = make(home, "alpha", project)
    for name in ("w1", "w2"):
        seat(context, name)
    return context


def make(home: Path, name: str, project: Path) -> Context:
    """Make a team without a lead."""
    return teams.create(Store(home), THE_HUMAN, teams.Home(name=name, project=project))


def seat(context: Context, name: str, state: State = State.IDLE) -> SeatState:
    """Write down a member and its session."""
    now, agent_id = clock(), name.lower().replace(" ", "-")
    known = SeatState(
        agent_id=agent_id, generation=1, incarnation=new_id(), state=state, since=now, started_at=now, note="of a test"
    )
    with context.team.wanted.change("test") as wanted:
        seats = (*wanted.value.seats, Seat(agent_id=agent_id, name=name, agent="shell"))
        wanted.value = replace(wanted.value, seats=seats)
    with context.team.runtime.change("test") as runtime:
        runtime.value = replace(runtime.value, seats=(*runtime.value.seats, known))
    context.team.mailbox(agent_id).make()
    return known


def become(monkeypatch: pytest.MonkeyPatch, context: Context, agent_id: str) -> None:
    """Let this process act as a member's session, by a grant."""
    for name, value in granted(context.team, agent_id).items():
        monkeypatch.setenv(name, value)


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its content, folders as empty; lock files hold nothing and are left out."""
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix != ".lock" and path.name != ".lock"]
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in paths}


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its full name."""
    from pro0.cli.call import program

    yield from _below("pro0", program)


def _below(path: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in getattr(group, "rows", group.commands):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from _below(f"{path} {name}", command)
