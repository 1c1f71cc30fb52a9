"""Ready worktrees: the listed files, the person's set-up command, and the tear-down command before a worktree goes."""

import os
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from pro0 import looking
from pro0.children import Ending, Running
from pro0.errors import EnvironmentMissing, ErrorCode, Pro0Error
from pro0.git.commands import Git
from pro0.git.environment import outside_hooks
from pro0.model.need import NeedKind
from pro0.model.team import Seat
from pro0.ops import troubles, trust
from pro0.ops.context import TEAM_UID, clock
from pro0.ops.work.ports import PORT_BASE, port_base
from pro0.processes.table import SPARED
from pro0.rules.text import last_lines, visible
from pro0.store.teams import TeamStore
from pro0.worktrees import include

SETUP, TEARDOWN = "setup", "teardown"
SETUP_SECONDS = 1800.0
TEARDOWN_SECONDS = 60.0
GRACE = 2.0
POLL = 1.0
LOG_BYTES = 4 * 1024 * 1024
"""Bytes of a command's output which its log keeps; the rest is dropped."""
TOLD = 20
"""Lines of a failed set-up's log that are shown before the log goes."""
_READY = "pro0-ready"
"""A mark in git's own folder of a worktree: the set-up has succeeded there."""
_TAG = "pro0-run"
"""The file beside that mark with the tag of the running command; it is removed when the command ends."""
UNWANTED = "the member is no longer wanted"
_OVER = "-- "
"""The beginning of the last line of a finished log."""


def make_ready(team: TeamStore, seat: Seat, tree: Path) -> None:
    """Make a worktree ready, once: copy the listed files, run the set-up; raises EnvironmentMissing when that fails."""
    mark = Git(tree).private() / _READY
    if looking.exists(mark):
        return
    project = Path(team.config.read().project)
    copied, skipped = include(project, tree)
    if copied or skipped:
        names = ", ".join(map(visible, skipped[:5])) + (" …" if len(skipped) > 5 else "")
        team.log_event(clock(), seat.agent_id, "worktree.files", copied=copied, skipped=names or None)
    if command := _command(team, SETUP):
        _set_up(team, seat, tree, command)
    troubles.over(team, NeedKind.WORKTREE, seat.agent_id)
    mark.touch()


def tear_down(team: TeamStore, agent_id: str, tree: Path) -> str:
    """Run the tear-down command in a worktree which is about to go; return why it failed, "" for no failure."""
    try:
        command = _command(team, TEARDOWN)
        if not command or not looking.exists(tree / ".git"):
            return ""
        ending = _run(command, _variables(team, agent_id, tree), tree, TEARDOWN_SECONDS, lambda _: None, str)
        return _reason(ending)
    except (Pro0Error, OSError) as error:
        return error.message if isinstance(error, Pro0Error) else error.strerror or str(error)


def tears_down(team: TeamStore) -> bool:
    """Return True when there is a tear-down command; a lead then removes no unused worktrees at its end."""
    try:
        return bool(_command(team, TEARDOWN))
    except Pro0Error:
        return False


def progress(team: TeamStore, agent_id: str) -> str:
    """Return the last line which a running set-up printed, "" when none runs."""
    lines = _logged(team, agent_id)
    return "" if not lines or lines[-1].startswith(_OVER) else visible(lines[-1].strip())


def failed(team: TeamStore, agent_id: str) -> list[str]:
    """Return the last lines of a failed set-up's log, nothing for another."""
    lines = _logged(team, agent_id)
    if not lines or not lines[-1].startswith(f"{_OVER}failed"):
        return []
    return [visible(line) for line in lines[-TOLD:] if line.strip()]


def _logged(team: TeamStore, agent_id: str) -> list[str]:
    try:
        with team.paths.setup_log(agent_id).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
            return log.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return []


def _set_up(team: TeamStore, seat: Seat, tree: Path, command: str) -> None:
    team.log_event(clock(), seat.agent_id, "worktree.setup", command=command)
    began, place = time.monotonic(), team.paths.setup_log(seat.agent_id)
    with place.open("wb") as log:
        log.write(f"$ {command}\n".encode())
        log.flush()

        def keep(output: bytes) -> None:
            if log.tell() < LOG_BYTES:
                log.write(output)
                log.flush()

        variables = _variables(team, seat.agent_id, tree)
        ending = _run(command, variables, tree, SETUP_SECONDS, keep, lambda: _unwanted(team, seat))
        why = _reason(ending)
        log.write(f"\n{_OVER}{'failed: ' + why.splitlines()[0] if why else 'ready'}\n".encode())
    took = round(time.monotonic() - began)
    team.log_event(
        clock(), seat.agent_id, "worktree.failed" if why else "worktree.ready", seconds=took, why=why or None
    )
    if why:
        if ending.why != UNWANTED:
            troubles.note(team, NeedKind.WORKTREE, seat.agent_id, f"set-up, {why}", clock())
        hint = f"its output: {place}; once that is fixed, start {seat.agent_id} again"
        sentence = f"the set-up of its worktree failed: {why}"
        raise EnvironmentMissing(sentence, code=ErrorCode.FAILED, hint=hint, of_team=True)


def _unwanted(team: TeamStore, seat: Seat) -> str:
    """Return the reason to end a set-up, "" while its member is wanted."""
    wishes = team.wanted.read()
    is_wanted = any(
        (current.agent_id, current.generation) == (seat.agent_id, seat.generation) and not current.called_off
        for current in wishes.seats
    )
    return "" if is_wanted and not wishes.stop else UNWANTED


def _command(team: TeamStore, step: str) -> str:
    """Return a command of the settings in force; a project's counts only when the person has agreed to it."""
    project = Path(team.config.read().project)
    return trust.settings(team.paths.home, project, os.environ).worktree.get(step, "")


def _variables(team: TeamStore, agent_id: str, tree: Path) -> dict[str, str]:
    config = team.config.read()
    variables = {name: value for name, value in outside_hooks(os.environ).items() if name != SPARED}
    variables |= {TEAM_UID: config.uid, "PRO0_WORKTREE": str(tree), "PRO0_PROJECT": config.project}
    base = port_base(team, agent_id)
    return variables | ({PORT_BASE: str(base)} if base else {})


def _run(
    command: str,
    environment: Mapping[str, str],
    tree: Path,
    limit: float,
    pass_on: Callable[[bytes], None],
    over: Callable[[], str],
) -> Ending:
    words, place = ("/bin/sh", "-c", command), Git(tree).private() / _TAG
    _end_left(place)
    # A new tag each time: an earlier command may have written its variable to a file that a person has loaded.
    place.write_text(tag := uuid.uuid4().hex)
    running = Running(words, environment, tag, GRACE, cwd=tree)
    try:
        running.start()
        return running.follow(limit, None, pass_on, over, POLL)
    except BaseException:
        running.end("interrupted", pass_on)
        raise
    finally:
        place.unlink(missing_ok=True)


def end_left(tree: Path) -> None:
    """End a command in a worktree that a killed lead left running; a folder that git cannot read has none."""
    with suppress(Pro0Error, OSError):
        if looking.exists(tree / ".git"):
            _end_left(Git(tree).private() / _TAG)


def _end_left(place: Path) -> None:
    if leftover := place.read_text() if looking.exists(place) else "":  # the lead may have been killed before it wrote
        Running((), {}, leftover, GRACE).end("its lead is gone", lambda _: None)


def _reason(ending: Ending) -> str:
    """Return why a command failed, with the end of its output; "" for one which succeeded."""
    if not ending.code and not ending.why:
        return ""
    return f"{ending.why or f'exit code {ending.code}'}: {last_lines(ending.tail)}".removesuffix(": ")
