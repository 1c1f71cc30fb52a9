"""An agent that does whatever it reads: `obedient.py FILE`, with pro0 on its path.

Every line of its mail that begins with `pro0 ` it runs as itself, those that begin with `bare pro0 ` in a process
that has lost every variable of its identity, and those that begin with `sh ` in a shell.
FILE has one line of JSON for each, with its exit code.
"""

import io
import json
import os
import shlex
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout

from pro0.cli.main import main


def run(words: list[str]) -> tuple[int, str]:
    """Run a command of pro0 in this process and return how it ended and what it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(words)
    return code, said.getvalue()


def bare(words: list[str]) -> tuple[int, str]:
    """Run a command of pro0 as somebody who says nothing of who they are."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRO0_") or name == "PRO0_HOME"}
    done = subprocess.run(
        [sys.executable, "-I", "-m", "pro0", *words], env=kept, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout + done.stderr


def shell(words: list[str]) -> tuple[int, str]:
    """Run a line in a shell that finds pro0, and return how it ended and what it said."""
    found = os.environ | {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", " ".join(words)], env=found, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout + done.stderr


def obey(line: str, file: str) -> None:
    """Do what a line says, if it says anything to do."""
    for prefix, act in (("pro0 ", run), ("bare pro0 ", bare), ("sh ", shell)):
        if line.startswith(prefix):
            code, said = act(shlex.split(line.removeprefix(prefix)))
            with open(file, "a") as log:
                log.write(json.dumps([line, code, said]) + "\n")


if __name__ == "__main__":
    while True:
        code, letters = run(["inbox", "--json"])
        for letter in json.loads(letters or "[]") if code == 0 else ():
            for line in letter["message"]["content"].splitlines():
                obey(line, sys.argv[1])
        time.sleep(0.1)
