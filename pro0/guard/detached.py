"""Start a process that is no child of this one: a lead must not belong to the session of the guard starting it."""

from __future__ import annotations

import os

from pro0.guard import agent
from pro0.store import atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal


def start(argv: list[str], cwd: str, env: dict[str, str], errors: str) -> None:
    """Start a program in a session of its own, without a terminal; append its output to the file `errors`.

    Orphans of a guard's tree come to the guard. So the guard gives that up for a moment, while this program becomes an
    orphan. Other orphans of that moment are found by their mark or tag. Raises OSError when no process can be started.
    """
    held, release = os.pipe()
    # The process in between keeps all signals blocked: the guard's handlers are not meant for it.
    before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        middle = os.fork()
        if not middle:
            _be_the_middle(argv, cwd, env, errors, held, release)
    except OSError:
        os.close(release)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(held)
    agent.become_subreaper(reap=False)
    try:
        os.close(release)
        os.waitpid(middle, 0)
    finally:
        agent.become_subreaper()


def _be_the_middle(argv: list[str], cwd: str, env: dict[str, str], errors: str, held: int, release: int) -> NoReturn:
    """Run as the process in between: start the program, wait for leave to become an orphan, and end."""
    try:
        signal.set_wakeup_fd(-1)  # a signal noted there would wake the guard
        os.close(release)
        os.setsid()
        os.chdir(cwd if os.path.isdir(cwd) else "/")  # noqa: PTH112
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        streams = (
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, errors, flags, atomic.FILE_MODE),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        )
        os.posix_spawn(argv[0], argv, env, file_actions=streams, setsigmask=(), setsigdef=agent.SETTABLE)
        os.read(held, 1)
    except BaseException as error:  # noqa: BLE001 - after any error, this process must never go on as a guard
        _say(errors, f"pro0 guard: the lead cannot be started: {error}\n")
    finally:
        os._exit(0)


def _say(path: str, sentence: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, atomic.FILE_MODE)
    os.write(descriptor, sentence.encode(errors="replace"))
