"""A lead started before its team is there: it loads its modules while the team is being made.

It is the later lead's process, with the command line of every lead. It waits on its standard input for one byte, the
word to go, and holds nothing until then. Without the word it ends when its starter does.
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
"""The environment variable of a lead that was started early. Its value is the mode that the team asks for."""
_GO = b"g"


class EarlyLead:
    """A lead started early, as its starter sees it. Leaving the context ends a lead that did not get the word."""

    def __init__(self, team: TeamStore, environment: Mapping[str, str], mode: str) -> None:
        """Start the lead with the `environment` that the team keeps of its starter's, and the `mode` it asks for.

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
        """Give the lead the word to go; return its process, None when it already had the word or has died."""
        if self._leads or self._process.poll() is not None:
            return None
        try:
            os.write(self._writable, _GO)
        except BrokenPipeError:
            return None
        self._leads = True
        return self._process


def _started(argv: tuple[str, ...], environment: Mapping[str, str]) -> "tuple[subprocess.Popen[bytes], int]":
    """Start a program; return it with the write end of its standard input. An OSError leaves nothing open."""
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
    """Wait for the word, then enter the project and send errors to the lead's file; return False without the word."""
    import filelock  # noqa: F401 - the lease needs it; a command that only reads does not

    if mode in ("auto", "tmux"):
        import pro0.sessions.tmux.server  # noqa: F401 - the first pane needs it, and it is slow to load
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
