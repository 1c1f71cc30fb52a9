"""Keeping a lead for a team: detached from the terminal, one at a time by its lease (behaviour 3.3)."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from pro0 import __version__, installation, processes, resources
from pro0.engine.opening.environment import lead_environment
from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.runtime import Phase
from pro0.model.team import Wish
from pro0.store import atomic
from pro0.store.files import translate
from pro0.store.lease import Holder
from pro0.store.paths import LEAD_ERRORS
from pro0.store.teams import TeamStore

PATIENCE = 60.0
"""Seconds for a lead to sign in on a busy machine. A failure is reported at once."""
REACTION = 5.0
"""Seconds to wait for a stopped (SIGSTOP) lead."""
_PAUSE = 0.02


def ensure_lead(team: TeamStore, early: Callable[[], "subprocess.Popen[bytes] | None"] = lambda: None) -> str:
    """Wait until a lead is at work, or none is needed; raises EnvironmentMissing.

    Returns a warning for the person when the lead has another version or commit, else an empty text. `early` lets a
    lead go ahead that was started already, and returns its process, or None.
    """
    deadline = time.monotonic() + PATIENCE
    child: subprocess.Popen[bytes] | None = None
    while time.monotonic() < deadline:
        awake(team)
        if leads(team):
            return "; ".join(other_version(team))
        if is_over(team):
            return ""
        if child is None and team.documents.lease().holder() is None:
            child = early() or _spawn(team)
            # Reaps the child at its end, if this process lives that long.
            threading.Thread(target=child.wait, daemon=True).start()
        elif child and child.poll() is not None:
            # A killed lead says nothing about the next one. A refused lead met another lead at work.
            if (
                child.returncode > 0
                and child.returncode != Refused.exit_code
                and team.documents.lease().holder() is None
            ):
                message = f"the lead of {team.name} ended at once: {_last_words(team)}"
                raise EnvironmentMissing(message, hint="pro0 doctor")
            child = None
        time.sleep(_PAUSE)
    message = f"the lead of {team.name} did not start in {PATIENCE:g} s"
    raise EnvironmentMissing(message, hint=f"pro0 team logs -t {team.name}", of_team=True)


def is_over(team: TeamStore) -> bool:
    """Return True when the team was told to stop and has stopped, so that no lead is needed."""
    stopped = team.record.read().phase is Phase.STOPPED and team.wanted.read().wish is Wish.STOP
    return stopped and team.documents.lease().holder() is None


def leads(team: TeamStore) -> bool:
    """Return True when a living lead has signed in and is not about to end."""
    runtime = team.record.read()
    alive = runtime.lead is not None and processes.alive(runtime.lead)
    return alive and runtime.phase is not Phase.STOPPED and team.documents.lease().holder() is not None


def awake(team: TeamStore) -> None:
    """Wait until no stopped lead holds the lease; raises Refused when it stays stopped (SIGSTOP)."""
    deadline = time.monotonic() + REACTION
    while holder := _stopped_holder(team):
        if time.monotonic() > deadline:
            message = f"the lease of {team.name} is held by {holder}, which is stopped (SIGSTOP)"
            hint = f"let it go on: kill -CONT {holder.pid}; or end it, its members go on: kill -KILL {holder.pid}"
            raise Refused(message, code=ErrorCode.LEAD_STOPPED, hint=hint, of_team=True)
        time.sleep(_PAUSE)


def _stopped_holder(team: TeamStore) -> Holder | None:
    """Return the lease holder when its process is stopped, else None."""
    holder = team.documents.lease().read()
    asleep = holder is not None and processes.stopped(holder.pid) and processes.alive(holder.process)
    return holder if asleep and team.documents.lease().holder() else None


def other_version(team: TeamStore) -> tuple[str, str] | tuple[()]:
    """Return that the lead runs another version or commit than this command, and how to update it; nothing if not."""
    holder, ours = team.documents.lease().read(), installation.commit()
    version, commit = (holder.version, holder.commit) if holder else (team.record.read().lead_version, "")
    same = version in ("", __version__)
    if same and (not commit or not ours or commit == ours):
        return ()
    theirs, mine = (f"of commit {commit[:12]}", f"of commit {ours[:12]}") if same else (version, __version__)
    update = f"update it: pro0 team stop -t {team.name} && pro0 team resume -t {team.name}"
    return f"the lead of {team.name} is pro0 {theirs}, this command is {mine}", update


def _spawn(team: TeamStore) -> subprocess.Popen[bytes]:
    project = team.config.read().project
    errors = errors_of(team)
    try:
        return subprocess.Popen(
            resources.lead_argv(team.name),
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            cwd=project if os.path.isdir(project) else "/",  # noqa: PTH112
            env=lead_environment(team.environment.read().variables or os.environ, str(team.paths.home)),
            start_new_session=True,
        )
    except OSError as error:
        raise not_started(team, error, f"try again: pro0 team resume -t {team.name}", of_team=True) from error
    finally:
        os.close(errors)


def not_started(team: TeamStore, error: OSError, hint: str, *, of_team: bool = False) -> EnvironmentMissing:
    """Return the error for a lead whose process could not be started."""
    message = f"the lead of {team.name} cannot be started: {error.strerror or error}"
    return EnvironmentMissing(message, hint=hint, of_team=of_team)


def errors_of(team: TeamStore) -> int:
    """Empty the file for a failing lead's last words; return its open descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with atomic.folder(team.paths.logs) as folder:
            return os.open(LEAD_ERRORS, flags, atomic.FILE_MODE, dir_fd=folder)
    except OSError as error:
        translate(error, team.paths.lead_errors)


def _last_words(team: TeamStore) -> str:
    text = ""
    with suppress(OSError), atomic.folder(team.paths.logs) as folder:
        text = atomic.read(folder, LEAD_ERRORS, 1 << 20).decode(errors="replace").strip()
    return text.splitlines()[-1] if text else "it said nothing"
