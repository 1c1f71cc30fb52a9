"""iTerm2, as far as `it2` shows it: a stand-in on the PATH, whose sessions are panes of a tmux server of its own."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.programs.it2 import NAME

PROGRAM = Path(__file__).parent.parent / "programs" / "it2.py"


class StandIn:
    """The sessions of one iTerm2; the first is the person's terminal, beside a stranger's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "it2"
        self.folder.mkdir()
        self.server = ("tmux", "-S", str(self.folder / "socket"), "-f", "/dev/null")
        shell = ("env", "-u", "TMUX", "PS1=$ ", "/bin/sh")
        self.tmux("new-session", "-d", "-x", "200", "-y", "400", *shell)
        self.tmux("set-option", "-g", "default-command", " ".join(shell[:3]) + " PS1='$ ' /bin/sh")
        self.tmux("split-window", "-d", "-h", "cat")
        self.session, self.stranger = "1B2C-PERSON", "9F9F-STRANGER"
        for number, name in enumerate((self.session, self.stranger)):
            self.tmux("set-option", "-p", "-t", f"%{number}", "@it2", name)
        program = self.folder / "it2"
        program.write_text(f'#!/bin/sh\nIT2_STATE={self.folder} exec {sys.executable} -I -S {PROGRAM} "$@"\n')
        program.chmod(0o755)
        self.environment = {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "ITERM_SESSION_ID": f"w0t0p0:{self.session}",
        }

    def tmux(self, *words: str) -> str:
        """Speak to the server, which is the person's and no process of a team's home."""
        theirs = {name: value for name, value in os.environ.items() if not name.startswith("PRO0_")}
        done = subprocess.run([*self.server, *words], check=True, capture_output=True, text=True, env=theirs)
        return done.stdout.strip()

    def panes(self) -> dict[str, str]:
        """Return the title of every session."""
        rows = self.tmux("list-panes", "-a", "-F", f"#{{@it2}}\t{NAME}").splitlines()
        return {row.partition("\t")[0]: row.partition("\t")[2] for row in rows}

    def shows(self, session: str) -> str:
        rows = [row.split() for row in self.tmux("list-panes", "-a", "-F", "#{@it2} #{pane_id}").splitlines()]
        return self.tmux("capture-pane", "-p", "-t", dict(rows)[session])

    def restart(self, session: str, *program: str) -> None:
        """Restart a session as a person does: the same pane with another program."""
        rows = [row.split() for row in self.tmux("list-panes", "-a", "-F", "#{@it2} #{pane_id}").splitlines()]
        self.tmux("respawn-pane", "-k", "-t", dict(rows)[session], *program)

    def calls(self) -> list[list[str]]:
        return [ast.literal_eval(line) for line in (self.folder / "calls").read_text().splitlines()]

    def breaks(self, said: str) -> None:
        (self.folder / "broken").write_text(said)

    def lacks(self, command: str) -> None:
        (self.folder / "lacks").write_text(command)

    def ends(self) -> None:
        subprocess.run([*self.server, "kill-server"], check=False, capture_output=True)


@contextmanager
def terminal_for(mode: str, folder: Path) -> Iterator[None]:
    """Be in the terminal that a mode asks for: for iterm2 one of a stand-in, which must be afterwards as it was."""
    if mode != "iterm2":
        yield
        return
    app = StandIn(folder)
    before = app.panes()
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in app.environment.items():
                patch.setenv(name, value)
            yield
        assert app.panes() == before
    finally:
        app.ends()
