"""A tmux server through libtmux, with a time limit on every call and errors for people to read."""

import subprocess
from collections.abc import Sequence

import libtmux
from libtmux.common import tmux_cmd

from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.sessions.starting import started_for_others
from pro0.sessions.tmux.socket import listening

LIMIT = 5.0
"""Seconds before a call is given up: a stopped server must not stop the lead."""

_EMPTY = "no current target"
"""The error of a server without a session, most often of one about to end."""


class TmuxCommand(tmux_cmd):
    """One finished call of tmux, in libtmux's form; raises EnvironmentMissing without tmux or its answer."""

    def __init__(self, argv: Sequence[str], stdin: str, cwd: str) -> None:
        self.cmd = list(argv)
        try:
            self.process = subprocess.Popen(
                self.cmd,
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
        self.returncode = self.process.returncode
        self.stdout = out.rstrip("\n").split("\n") if out.strip("\n") else []
        self.stderr = [line for line in err.split("\n") if line]

    def _talk(self, stdin: str) -> tuple[str, str]:
        with self.process as process:
            try:
                return process.communicate(stdin, timeout=LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise EnvironmentMissing(
                    f"tmux did not answer within {LIMIT:g} s",
                    code=ErrorCode.TMUX_TIMEOUT,
                    hint="is the tmux server stopped?",
                ) from None


class TmuxServer(libtmux.Server):
    """A server by its socket, or by its name; only a named server can be started."""

    def __init__(self, socket: str, *, name: str = "", cwd: str = "/") -> None:
        if name:
            super().__init__(socket_name=name, config_file="/dev/null")
        else:
            super().__init__(socket_path=socket)
        self.socket = socket
        self.cwd = cwd

    def cmd(self, cmd: str, *args: object, target: str | int | None = None, stdin: str = "") -> tmux_cmd:
        """Run one tmux command; raises EnvironmentMissing after LIMIT seconds."""
        config = ["-f", self.config_file] if self.config_file else []
        where = ["-L", self.socket_name] if self.socket_name else ["-S", self.socket]
        aim = ["-t", str(target)] if target is not None else []
        # -u: without it, a lead without a UTF-8 locale reads "_" for every letter outside ASCII.
        return TmuxCommand(["tmux", "-u", *config, *where, cmd, *aim, *map(str, args)], stdin, self.cwd)

    def run(self, script: str, *, start: bool = False) -> tmux_cmd:
        """Run a script in one call, starting the server when asked to; its output is in the result.

        The script goes through stdin: arguments have a limit of 16 KiB, and `ps` shows them.
        """
        if start:
            return self.cmd("start-server", ";", "source-file", "-", stdin=script)
        return self.cmd("source-file", "-", stdin=script)

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
