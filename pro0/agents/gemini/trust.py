"""The folders a person trusts in Gemini CLI: read as Gemini reads them, never written.

A worktree made by pro0 is as trusted as its project. A variable of the session tells Gemini so.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from pro0.agents.gemini import home
from pro0.agents.transcripts import value
from pro0.decoding import decoder

SESSION = "GEMINI_CLI_TRUST_WORKSPACE"
"""The variable deciding the trust in one session's folder."""
_PARENT = "TRUST_PARENT"
_TRUSTS = {"TRUST_FOLDER": True, _PARENT: True, "DO_NOT_TRUST": False}
_LARGEST = 1 << 20
_FILE = decoder(dict[str, str])


def variables(environment: Mapping[str, str], folder: str, project: str) -> dict[str, str]:
    """Return the variable to trust a worktree like its trusted project; empty when not needed."""
    if environment.get(SESSION) or project in ("", folder) or trusts(environment, folder) is not None:
        return {}
    return {SESSION: "true"} if trusts(environment, project) else {}


def asks(environment: Mapping[str, str], folder: str) -> bool:
    """Return True when Gemini may ask at its start to trust a folder, and then restart itself."""
    return not environment.get(SESSION) and trusts(environment, folder) is None


def trusts(environment: Mapping[str, str], folder: str) -> bool | None:
    """Return the trust in a folder, by the longest listed path above it; None when none is listed."""
    where, longest, trusted = Path(os.path.realpath(folder)), -1, None
    for path, level in _levels(environment).items():
        above = Path(os.path.realpath(Path(path).parent if level == _PARENT else path))
        if level in _TRUSTS and where.is_relative_to(above) and len(path) > longest:
            longest, trusted = len(path), _TRUSTS[level]
    return trusted


def _levels(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the levels by path; empty when the file is unreadable or has comments: Gemini then asks as usual."""
    return value(home.trusted(environment), _FILE, _LARGEST) or {}
