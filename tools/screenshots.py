"""The pictures of the view in docs/: `python -m tools.screenshots` starts a small team and photographs it."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS, LINES = 108, 24
ROOT = Path(__file__).parents[1]
PRO0 = str(Path(sys.executable).with_name("pro0"))
TESTS = r"""
printf '\033[1m$ make test\033[0m\n'
for t in test_parse test_lexer test_errors test_unicode; do printf '  %-16s \033[32mpassed\033[0m\n' $t; done
printf '  %-16s \033[31mfailed\033[0m\n\n  expected \033[33m"ü"\033[0m, got \033[33m"u"\033[0m\n\n' test_names
printf '\033[7m 4 passed, 1 failed \033[0m\n'; exec cat
"""
TEAM = (
    ("team", "start", "parser", "--mode", "in-process", "--detach", "--lead", "none", "-m", "ada=shell"),
    ("member", "spawn", "ben", "--agent", "shell"),
    ("member", "spawn", "tests", "--agent", "command", "--", "sh", "-c", TESTS),
    ("task", "create", "split the lexer out", "--run", "sleep 300"),
    ("task", "create", "read names as Unicode", "--run", "sleep 300"),
    ("task", "create", "document the grammar", "--blocked-by", "1"),
    ("task", "create", "choose a name for the library"),
    ("task", "update", "4", "--awaiting", "input", "grammar or parsley?"),
    ("send", "ben", "the failing test is yours"),
)  # fmt: skip
WORD = """eval "$("$0" member env ada)"; "$0" send human 'the lexer has tests of its own now'"""
"""What a member writes to the person."""


def main() -> int:
    """Write docs/view.svg and docs/board.svg."""
    with tempfile.TemporaryDirectory(prefix="pro0-", dir="/tmp") as folder, team(Path(folder)) as environment:
        server = ["tmux", "-S", f"{folder}/outer", "-f", "/dev/null"]
        attach = [*server, "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), f"{PRO0} team attach parser"]
        subprocess.run(attach, check=True, env=environment, cwd=folder)
        try:
            shown(server, "board")
            subprocess.run([*server, "send-keys", "S-Up"], check=True)
            photograph(server, "passed, 1 failed", "view")
            subprocess.run([*server, "send-keys", "C-t"], check=True)
            photograph(server, "MESSAGES", "board")
        finally:
            subprocess.run([*server, "kill-server"], check=True)
    return 0


@contextmanager
def team(folder: Path) -> Iterator[dict[str, str]]:
    """Start a team in a scratch folder, and take it away again."""
    environment = os.environ | {"PRO0_HOME": f"{folder}/home", "HOME": str(folder), "PRO0_TEAM": "parser"}
    environment.pop("TMUX", None)
    home = folder / "home"
    home.mkdir(0o700)
    (home / "config.yaml").write_text("verdicts: scripts\n")
    try:
        for arguments in TEAM:
            subprocess.run([PRO0, *arguments], check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        subprocess.run(["sh", "-c", WORD, PRO0], check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        yield environment
    finally:
        subprocess.run([PRO0, "team", "cleanup", "parser", "--force"], check=True, cwd=folder, env=environment)


def shown(server: list[str], text: str) -> str:
    """Return what the terminal shows, once it shows this text."""
    while True:
        found = subprocess.run([*server, "capture-pane", "-ep"], check=True, capture_output=True, text=True).stdout
        if text in found:
            return found
        time.sleep(0.5)


def photograph(server: list[str], text: str, name: str) -> None:
    """Write what the terminal shows, once it shows this text, as a picture."""
    screen = shown(server, text)
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen.rstrip("\n")), end="")
    picture = console.export_svg(title="pro0 team attach parser", unique_id=f"pro0-{name}")
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    (ROOT / "docs" / f"{name}.svg").write_text(re.sub(r"/tmp/pro0-\w+", "~/parser", picture), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
