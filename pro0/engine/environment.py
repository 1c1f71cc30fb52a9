"""What a member's processes see of the environment: an allow-list, then its identity (rulings 3.17)."""

import os
import shutil
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pro0.config import SETTINGS
from pro0.ops.context import IDENTITY
from pro0.store.paths import HOME_VARIABLE

ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "XDG_*"),
    *("TERM", "COLORTERM", "NO_COLOR", "DISPLAY", "WAYLAND_DISPLAY", "EDITOR", "VISUAL", "PAGER"),
    *("SSH_AUTH_SOCK", "GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_*", "GIT_SSH*"),
    *("VIRTUAL_ENV", "CONDA_*", "PYENV_*", "UV_*", "NVM_*", "NODE_*", "JAVA_HOME", "GOPATH", "GOROOT", "GOFLAGS"),
    *("CARGO_HOME", "RUSTUP_HOME", "GEM_HOME", "DOTNET_*", "CC", "CXX", "CFLAGS", "LDFLAGS", "MAKEFLAGS", "CI"),
)

_SETTINGS = tuple(setting.rule.variable for setting in SETTINGS)


def member_environment(environment: Mapping[str, str], identity: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a member's agent: what is allowed, settings, and who it is."""
    kept = {name: value for name, value in environment.items() if any(fnmatchcase(name, p) for p in ALLOWED)}
    kept |= {name: environment[name] for name in _SETTINGS if name in environment}
    return kept | {"PATH": _with_pro0(kept.get("PATH", os.defpath))} | dict(identity)


def _with_pro0(path: str) -> str:
    """Return a PATH on which `pro0` is found: agents are told to call it by that name."""
    return path if shutil.which("pro0", path=path) else f"{path}{os.pathsep}{Path(sys.executable).parent}"


def lead_environment(environment: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the environment of a lead process: that of its starter without any member's identity."""
    kept = {name: value for name, value in environment.items() if name not in IDENTITY}
    return kept | {HOME_VARIABLE: home, "PRO0_LEAD": "1"}
