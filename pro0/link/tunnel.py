"""One `ssh` to the other machine, from its start to its end."""

import os
import signal
import subprocess
from contextlib import suppress

from pro0 import ssh
from pro0.link.streams import Stream
from pro0.model.runtime import Hosted

LIMIT = 4 << 20
"""Bytes of the longest message that another machine may send."""
_SAID = 4096
_DEAF = 'trap "" TERM INT HUP; exec "$@"'
"""A guard signals its whole tree at once, and the message END must still get through `ssh`."""
PATIENCE = 2.0
"""Seconds for an `ssh` to end after its input is closed."""


class Tunnel:
    """The connection, as long as it lasts."""

    def __init__(self, hosted: Hosted) -> None:
        words = ssh.argv(hosted.ssh, hosted.host, ("pro0", "hosted", "serve", hosted.there))
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            ("/bin/sh", "-c", _DEAF, "sh", *words), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self.stream = Stream(self._process.stdout.fileno(), self._process.stdin.fileno(), LIMIT)
        self.errors = self._process.stderr.fileno()
        """The stderr of `ssh`; it has to be read."""
        os.set_blocking(self.errors, False)
        self._said = b""

    def listen(self) -> bool:
        """Read the messages of `ssh` itself; False at their end."""
        try:
            data = os.read(self.errors, _SAID)
        except BlockingIOError:
            return True
        self._said = (self._said + data)[-_SAID:]
        return bool(data)

    def close(self) -> str:
        """End `ssh`; return the last line of its own messages."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            try:
                stream.close()
            except OSError:
                pass
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        # The helpers of `ssh` ignore the same signals. The number of a group stays in use while a process of it lives.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.listen()
        assert self._process.stderr
        self._process.stderr.close()
        lines = self._said.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    @property
    def code(self) -> int | None:
        """Return the exit code of an ended `ssh`."""
        return self._process.returncode
