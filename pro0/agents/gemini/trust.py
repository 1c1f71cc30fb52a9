"""Which folders a person has let Gemini CLI trust: read as it reads that itself, never written.

A worktree that pro0 has made of a trusted project is as trusted as that. It is told so by a variable of the session.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from pro0.agents.transcripts import value

FOLDERS = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
"""The variable that names the file, which else is trustedFolders.json below ~/.gemini."""
SESSION = "GEMINI_CLI_TRUST_WORKSPACE"
"""The variable that trusts, or does not, the folder of one session."""
_PARENT = "TRUST_PARENT"
_TRUSTS = {"TRUST_FOLDER": True, _PARENT: True, "DO_NOT_TRUST": False}
_LARGEST = 1 << 20
_FILE = msgspec.json.Decoder(dict[str, str])


def variables(environment: Mapping[str, str], folder: str, project: str) -> dict[str, str]:
    """Return what tells a session in a worktree that it is as trusted as the project, where that is."""
    if environment.get(SESSION) or project in ("", folder) or trusts(environment, folder) is not None:
        return {}
    return {SESSION: "true"} if trusts(environment, project) else {}


def asks(environment: Mapping[str, str], folder: str) -> bool:
    """Return whether it may ask at its start whether it may trust a folder, and then starts anew."""
    return not environment.get(SESSION) and trusts(environment, folder) is None


def trusts(environment: Mapping[str, str], folder: str) -> bool | None:
    """Return whether a folder is trusted, by the longest path that is named and holds it; None when none does."""
    where, longest, found = Path(os.path.realpath(folder)), -1, None
    for path, level in _levels(environment).items():
        above = Path(os.path.realpath(Path(path).parent if level == _PARENT else path))
        if level in _TRUSTS and where.is_relative_to(above) and len(path) > longest:
            longest, found = len(path), _TRUSTS[level]
    return found


def _levels(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the levels by path; nothing when the file cannot be read, or has comments: then it asks, as ever."""
    home = Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "/"), ".gemini")
    return value(Path(environment.get(FOLDERS) or home / "trustedFolders.json"), _FILE, _LARGEST) or {}
