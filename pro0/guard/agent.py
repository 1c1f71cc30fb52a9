"""Start the agent as the guard's child, and prepare the guard's signals and orphans for it."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without enum: 4 ms less

_PR_SET_CHILD_SUBREAPER = 36
_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
SETTABLE = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
"""The signals set to their default in every started program."""


class CannotStart(Exception):
    """The agent's program or folder cannot be used; the message names it, and the reason."""


def catch_signals() -> int:
    """Catch all signals for a guard; return the descriptor for reading their numbers.

    The terminal's signals are meant for the agent. They are caught, not ignored: children inherit ignored signals.
    """
    listen, ring = os.pipe()
    os.set_blocking(listen, False)
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, *_TERMINAL):
        signal.signal(number, _noted)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return listen


def become_subreaper(*, reap: bool = True) -> bool:
    """Adopt the tree's orphans instead of init; False on a system without subreapers.

    With `reap` false, orphans go to init again.
    """
    try:
        return sys.platform == "linux" and _prctl(_PR_SET_CHILD_SUBREAPER, int(reap)) == 0
    except OSError:
        return False


def start(argv: list[str], cwd: str, env: dict[str, str], inherited: int, terminal: str = "") -> int:
    """Start a program found by the PATH in `env` and return its pid; raises CannotStart.

    The program gets exactly `env`, the descriptor `inherited`, the three standard ones, default signals and an empty
    mask. With a `terminal`, given by its path, the standard descriptors are that terminal, and the program leads a
    session there.
    The guard changes into `cwd` too, because posix_spawn cannot do so for the child alone.
    """
    os.set_inheritable(inherited, True)
    place = ""
    try:
        place = f"{cwd}: "
        os.chdir(cwd)
        place = ""
        return _spawn(argv, env, terminal)
    except OSError as error:
        raise CannotStart(f"cannot start {argv[0]}: {place}{os.strerror(error.errno or 0)}") from error
    except ValueError as error:  # a NUL inside a text
        raise CannotStart(f"cannot start {argv[0]}: {place}{error}") from error


def _spawn(argv: list[str], env: dict[str, str], terminal: str) -> int:
    failure: OSError = FileNotFoundError(2, "")
    variables = {_bytes(name): _bytes(value) for name, value in env.items()}
    words = [_bytes(word) for word in argv]
    # On Linux a session leader opening a terminal gets it as its controlling terminal.
    streams = [(os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0), *((os.POSIX_SPAWN_DUP2, 0, n) for n in (1, 2))]
    for program in _candidates(argv[0], env):
        try:
            if terminal and sys.platform != "linux":
                from pro0.guard import forked  # late: no guard on Linux needs it

                return forked.start(_bytes(program), words, variables, terminal)
            return os.posix_spawn(
                _bytes(program),
                words,
                variables,
                file_actions=streams if terminal else (),
                setsid=bool(terminal),
                setsigmask=(),
                setsigdef=SETTABLE,
            )
        except (FileNotFoundError, NotADirectoryError):
            pass
        except PermissionError as error:  # like execvp: the next folder of the path may have a runnable one
            failure = error
    raise failure


def _candidates(program: str, env: dict[str, str]) -> list[str]:
    if "/" in program:
        return [program]
    candidates = [f"{folder or '.'}/{program}" for folder in env.get("PATH", os.defpath).split(":")]
    return [candidate for candidate in candidates if os.path.isfile(candidate)]  # noqa: PTH113


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _prctl(option: int, value: int) -> int:
    try:
        # What ctypes.CDLL(None).prctl(...) does, without its 5 ms: half of what an empty Python needs to start.
        import _ctypes

        function = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        return int(_ctypes.call_function(function, (option, value, 0, 0, 0)))
    except (ImportError, AttributeError, TypeError):
        import ctypes

        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))


def _noted(number: int, frame: object) -> None:
    """Do nothing: the number is in the wake-up descriptor already."""
