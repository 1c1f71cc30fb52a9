"""A tmux server, with a time limit on every call and errors for people to read.

Every act is one script through the server's stdin. So nothing of libtmux is used here, whose import takes as long as
five interpreters; `trial.py` is built on it.
"""

import subprocess
from collections.abc import Sequence

from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.sessions.starting import started_for_others
from pro0.sessions.tmux.socket import listening

LIMIT = 5.0
"""Seconds before a call is given up: a stopped server must not stop the lead."""

_EMPTY = "no current target"
"""The error of a server without a session, most often of one about to end."""


class TmuxCommand:
    """One finished call of tmux; raises EnvironmentMissing without tmux or its answer."""

    def __init__(self, argv: Sequence[str], stdin: str, cwd: str) -> None:
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
                cwd=cwd,
                env=started_for_others(),
            )
        except FileNotFoundError:
            raise EnvironmentMissing(
                "tmux is not installed", code=ErrorCode.TMUX_MISSING, hint="install tmux, or use --mode headless"
            ) from None
        except OSError as error:
            raise EnvironmentMissing(f"tmux cannot be started: {error}", code=ErrorCode.TMUX_FAILED) from None
        out, err = self._talk(stdin)
        self.returncode = self._process.returncode
        self.stdout = out.rstrip("\n").split("\n") if out.strip("\n") else []
        self.stderr = [line for line in err.split("\n") if line]

    def _talk(self, stdin: str) -> tuple[str, str]:
        with self._process as process:
            try:
                return process.communicate(stdin, timeout=LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise EnvironmentMissing(
                    f"tmux did not answer within {LIMIT:g} s",
                    code=ErrorCode.TMUX_TIMEOUT,
                    hint="is the tmux server stopped?",
                ) from None


class TmuxServer:
    """A server by its socket, or by its name; only a named server can be started."""

    def __init__(self, socket: str, *, name: str = "", cwd: str = "/") -> None:
        self.socket = socket
        self._where = ("-f", "/dev/null", "-L", name) if name else ("-S", socket)
        self._cwd = cwd

    def run(self, script: str, *, start: bool = False) -> TmuxCommand:
        """Run a script in one call, starting the server when asked to; its output is in the result.

        The script goes through stdin: arguments have a limit of 16 KiB, and `ps` shows them.
        """
        first = ("start-server", ";") if start else ()
        # -u: without it, a lead without a UTF-8 locale reads "_" for every letter outside ASCII.
        return TmuxCommand(["tmux", "-u", *self._where, *first, "source-file", "-"], script, self._cwd)

    def ask(self, script: str) -> list[str]:
        """Return a script's output, or nothing when the server is gone; raises EnvironmentMissing for an error."""
        if not listening(self.socket):
            return []
        call = self.run(script)
        if call.returncode == 0 or call.stderr == [_EMPTY]:
            return call.stdout
        if not listening(self.socket):
            return []
        raise EnvironmentMissing(f"tmux failed: {'; '.join(call.stderr)}", code=ErrorCode.TMUX_FAILED)
