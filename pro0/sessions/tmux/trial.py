"""A trial of tmux: a throw-away server, through libtmux, whose every call has our time limit and environment."""

from pathlib import Path

import libtmux
from libtmux.common import tmux_cmd
from libtmux.exc import LibTmuxException

from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.sessions.tmux.server import TmuxCommand

SESSION = "trial"


class TrialCommand(TmuxCommand, tmux_cmd):
    """One finished call of tmux, in libtmux's form."""


class TrialServer(libtmux.Server):
    """A server on a socket of its own."""

    def cmd(self, cmd: str, *args: object, target: str | int | None = None) -> tmux_cmd:
        """Run one tmux command; raises EnvironmentMissing without an answer."""
        aim = ["-t", str(target)] if target is not None else []
        where = ["-f", str(self.config_file), "-S", str(self.socket_path)]
        return TrialCommand(["tmux", *where, cmd, *aim, *map(str, args)], "", "/")


def trial(folder: Path) -> None:
    """Start a server in a folder, with a session, and end it; raises EnvironmentMissing, saying what tmux said."""
    server = TrialServer(socket_path=str(folder / "s"), config_file="/dev/null")
    try:
        server.new_session(SESSION, window_command="sleep 60")
        if not server.has_session(SESSION):
            raise EnvironmentMissing("its session is not there", code=ErrorCode.TMUX_FAILED)
        server.kill()
    except LibTmuxException as error:
        raise EnvironmentMissing(str(error), code=ErrorCode.TMUX_FAILED) from None
