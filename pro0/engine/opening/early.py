"""A lead started before its team is there: it loads its modules while the team is being made.

It is the lead's own process, called as every lead is. It waits on its standard input for the word, and holds nothing
until then. Without the word it ends with whoever started it.
"""

import os
import subprocess
from collections.abc import Mapping
from types import TracebackType

from pro0 import resources
from pro0.engine.opening.environment import lead_environment
from pro0.engine.opening.launch import errors_of, not_started
from pro0.store.teams import Store, TeamStore

AWAITS = "PRO0_AWAITS_TEAM"
"""The variable of a lead that was started early; it names the backend that the team will probably have."""
_GO = b"g"


class EarlyLead:
    """Such a lead, from its starter's side; a context manager, at whose end a lead without the word is gone."""

    def __init__(self, team: TeamStore, environment: Mapping[str, str], mode: str) -> None:
        """Start it; `environment` is what the team keeps of its starter's, `mode` what it asks for.

        Raises EnvironmentMissing when it cannot be started.
        """
        try:
            self._process, self._writable = _started(
                resources.lead_argv(team.name), {**lead_environment(environment, str(team.paths.home)), AWAITS: mode}
            )
        except OSError as error:
            raise not_started(team, error, "try again: nothing was made") from error
        self._leads = False

    def __enter__(self) -> "EarlyLead":
        return self

    def __exit__(self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        os.close(self._writable)
        if not self._leads:
            self._process.kill()  # our child, which nobody else reaps; it holds nothing
            self._process.wait()

    def go(self) -> "subprocess.Popen[bytes] | None":
        """Give it the word; return its process, or None when it had the word already, or has died."""
        if self._leads or self._process.poll() is not None:
            return None
        try:
            os.write(self._writable, _GO)
        except BrokenPipeError:
            return None
        self._leads = True
        return self._process


def _started(argv: tuple[str, ...], environment: Mapping[str, str]) -> "tuple[subprocess.Popen[bytes], int]":
    """Start a program, and return it with the other end of its standard input; after an OSError nothing is open."""
    readable, writable = os.pipe()
    try:
        process = subprocess.Popen(
            argv,
            stdin=readable,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
    except BaseException:
        os.close(writable)
        raise
    finally:
        os.close(readable)
    return process, writable


def has_word(store: Store, name: str, mode: str) -> bool:
    """Wait for the word, and go where a lead belongs: into its project, with its own errors; False without the word."""
    import filelock  # noqa: F401 - what the lease needs; a command that only reads does without

    if mode in ("auto", "tmux"):
        import pro0.sessions.tmux.server  # noqa: F401 - what the first pane needs, and is slow to load
    if os.read(0, 1) != _GO:
        return False
    team = store.team(name)  # it was made meanwhile
    project = team.config.read().project
    os.chdir(project if os.path.isdir(project) else "/")  # noqa: PTH112
    nowhere = os.open(os.devnull, os.O_RDWR)
    errors = errors_of(team)
    for descriptor, place in ((nowhere, 0), (errors, 1), (errors, 2)):
        os.dup2(descriptor, place)
    os.close(nowhere)
    os.close(errors)
    return True
