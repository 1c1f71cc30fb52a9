"""The version of an agent program, and the acts that are switched off for it."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pro0.agents.adapter import Adapter
from pro0.model.home import AgentAct
from pro0.ops import proofs
from pro0.rules import proving
from pro0.sessions.starting import surroundings

PATIENCE = 10.0
"""Seconds that a program may take to report its version."""
FRESH = 5.0
"""Seconds for which a reported version counts."""
_versions: dict[str, tuple[str, float]] = {}
"""The version that each program has reported, by its path, and when, by the monotonic clock."""


def off_for(home: Path, adapter: Adapter, search_path: str | None) -> tuple[AgentAct, ...]:
    """Return the acts that are switched off for the agent's version on a PATH, None for an agent on another machine.

    The program is asked for its version only when an act is off for some version. For a program that reports none, and
    for one on another machine, all acts are off that are off for any version.
    """
    records = proofs.known(home)
    if search_path is None:
        return proving.off_for_any(records, adapter.name)
    path = shutil.which(adapter.program, path=search_path) if adapter.program else None
    if path is None or not proving.concerned(records, adapter.name):
        return ()
    version = _version_now(path)
    return proving.off_for(records, adapter.name, version) if version else proving.off_for_any(records, adapter.name)


def _version_now(path: str) -> str:
    """Return a program's version, "" for none.

    A version counts only for sessions that begin together: a shim's file stays the same while the program behind it
    changes.
    """
    version, at = _versions.get(path, ("", 0.0))
    if not version or time.monotonic() - at > FRESH:
        version = ask_version(path)[0]
        _versions[path] = version, time.monotonic()
    return version


def ask_version(
    path: str, patience: float = PATIENCE, *, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> tuple[str, str]:
    """Return the version that a program reports, or "", and why it reports none. Its processes are gone afterwards.

    The program runs in this process's surroundings and folder, unless others are given.
    """
    try:
        output, code = _run([path, "--version"], patience, environment or surroundings(), folder)
    except OSError as error:
        return "", f"{path} cannot be run: {error.strerror}"
    except subprocess.TimeoutExpired:
        return "", f"{path} --version does not answer within {patience:g} s"
    number = re.search(r"\d+(?:\.\d+)+[\w.+-]*", output)
    if code or number is None:
        return "", f"{path} --version says no version (exit code {code})"
    return number[0], ""


def _run(argv: list[str], patience: float, environment: Mapping[str, str], folder: Path | None) -> tuple[str, int]:
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(  # type: ignore[call-overload]
        argv, env=environment, cwd=folder, start_new_session=True, **quiet
    ) as process:
        try:
            output, _ = process.communicate(timeout=patience)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return output.decode(errors="replace"), process.returncode
