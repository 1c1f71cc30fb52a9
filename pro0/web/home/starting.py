"""The methods that start and end whole teams; each runs the command of that name for the page's user."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from threading import Thread

from pro0 import looking
from pro0.errors import BadInput, EnvironmentMissing, NotFound, Pro0Error, Refused, StoreError, TimedOut
from pro0.model import ids
from pro0.model.home import Rights
from pro0.ops import trust
from pro0.rpc.views import RpcView
from pro0.web.home.client import HomeClient, of_home

_KINDS: dict[int, type[Pro0Error]] = {
    kind.exit_code: kind for kind in (BadInput, NotFound, Refused, StoreError, EnvironmentMissing, TimedOut)
}


class NewMember(RpcView, frozen=True, kw_only=True):
    """A member to start with."""

    name: str
    agent: str
    role: str = ""


class Started(RpcView, frozen=True, kw_only=True):
    """The team of a command, and its messages."""

    team: str
    said: tuple[str, ...] = ()


class Layouts(RpcView, frozen=True, kw_only=True):
    """The layouts for a project, by name."""

    layouts: tuple[str, ...]


class Agents(RpcView, frozen=True, kw_only=True):
    """The programs that members can run, as `pro0 agent list --json` lists them."""

    agents: list[dict[str, object]]


@of_home("layout.list", Rights.LOOK)
def list_layouts(client: HomeClient, project: str) -> Layouts:
    """List the layouts that a team of a project can start from."""
    return Layouts(layouts=tuple(trust.layout_names(_folder(project), client.home)))


@of_home("agent.list", Rights.LOOK, waits=True)
def list_agents(client: HomeClient) -> Agents:
    """List the programs that members can run, and what each lacks here."""
    out, _ = _command(client, Path("/"), ["agent", "list", "--json"])
    return Agents(agents=json.loads(out))


@of_home("team.start", Rights.ALL, waits=True)
def start(
    client: HomeClient,
    name: str,
    project: str,
    goal: str = "",
    layout: str = "",
    lead: str = "",
    members: tuple[NewMember, ...] = (),
    tasks: tuple[str, ...] = (),
    mode: str = "",
    worktrees: bool = False,
) -> Started:
    """Make a team in a folder and start its members; a goal gives it a lead agent. Returns once all members run."""
    options = [f"--layout={layout}"] * bool(layout) + [f"--lead={lead}"] * bool(lead) + [f"--mode={mode}"] * bool(mode)
    options += [f"--member={m.name}={m.agent}{f':{m.role}' if m.role else ''}" for m in members]
    options += [f"--task={task}" for task in tasks] + ["--worktrees"] * worktrees
    words = [ids.team_name(name), *([goal] if goal else [])]
    _, lines = _command(client, _folder(project), ["team", "start", "--detach", *options, "--", *words])
    return Started(team=name, said=lines)


@of_home("team.resume", Rights.ALL, waits=True)
def resume(client: HomeClient, team: str) -> Started:
    """Start a stopped team again."""
    _, lines = _command(client, Path("/"), ["team", "resume", "--", ids.team_name(team)])
    return Started(team=team, said=lines)


@of_home("team.cleanup", Rights.ALL, waits=True)
def cleanup(client: HomeClient, team: str, force: bool = False) -> Started:
    """Remove a stopped team; anything worth keeping is kept and named. With `force` its sessions end first."""
    _, lines = _command(client, Path("/"), ["team", "cleanup", *["--force"] * force, "--", ids.team_name(team)])
    return Started(team=team, said=lines)


def _folder(project: str) -> Path:
    path, hint = Path(project), "give its full path, from /"
    try:
        if "\0" in project or not path.is_absolute() or not looking.is_folder(path):
            raise NotFound(f"there is no folder {project}", hint=hint)
    except OSError as error:
        raise NotFound(f"the folder {project} cannot be examined: {error.strerror}", hint=hint) from None
    return path


def _command(client: HomeClient, folder: Path, words: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Run a command of pro0 without a terminal. Return its stdout and the lines of its stderr; raises its error."""
    argv = [sys.executable, "-I", "-m", "pro0", *words]
    if any("\0" in word for word in argv):
        raise BadInput("a text contains a NUL character", hint="leave it out")
    environment = os.environ | {"PRO0_HOME": str(client.home)}
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        out: list[str] = []
        reader = Thread(target=lambda stream: out.append(stream.read()), args=(process.stdout,))
        reader.start()
        lines = []
        for line in process.stderr:
            lines.append(line.rstrip("\n"))
            client.show(lines[-1])
        reader.join()
    if process.returncode:
        raise _error(process.returncode, lines)
    return "".join(out), tuple(lines)


def _error(code: int, lines: list[str]) -> Pro0Error:
    """Return the error that a command ended with."""
    message = next(
        (line.removeprefix("pro0: ") for line in reversed(lines) if line.startswith("pro0: ")), "the command failed"
    )
    hint = next((line.removeprefix("hint: ") for line in reversed(lines) if line.startswith("hint: ")), None)
    kind = _KINDS.get(code, Pro0Error)
    return kind(message, hint=hint)
