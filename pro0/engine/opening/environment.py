"""The environment of a member's processes: an allow-list, then its identity (behaviour 3.12, 3.17)."""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pro0.agents.variables import ALL
from pro0.config import SETTINGS
from pro0.model.agent import Definition
from pro0.model.team import Environment
from pro0.ops.identity import IDENTITY
from pro0.processes.table import SPARED
from pro0.store.paths import HOME_VARIABLE

ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "XDG_*"),
    *("TERM", "COLORTERM", "NO_COLOR", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "EDITOR", "VISUAL", "PAGER"),
    *("TMUX_TMPDIR", "SSH_AUTH_SOCK", "GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_*", "GIT_SSH*"),
    *("VIRTUAL_ENV", "CONDA_*", "PYENV_*", "UV_*", "NVM_*", "NODE_*", "JAVA_HOME", "GOPATH", "GOROOT", "GOFLAGS"),
    *("CARGO_HOME", "RUSTUP_HOME", "GEM_HOME", "DOTNET_*", "CC", "CXX", "CFLAGS", "LDFLAGS", "MAKEFLAGS", "CI"),
)

_SETTINGS = tuple(setting.rule.variable for setting in SETTINGS)
_OWN = "PRO0_"


def start_environment(environment: Mapping[str, str], extra_patterns: Collection[str] = ()) -> dict[str, str]:
    """Return the allowed part of the starter's environment: `ALLOWED`, `extra_patterns`, settings; no identity.

    Values outside Unicode are left out, since a text file cannot keep them.
    """
    return _filtered(environment, (*ALLOWED, *extra_patterns, *keys_of_agents()))


def kept_environment(
    environment: Mapping[str, str], extra_patterns: Collection[str], definitions: Iterable[Definition]
) -> Environment:
    """Return the starter's variables that a team keeps: for every member, and for the agents that name them."""
    everybody = start_environment(environment, extra_patterns)
    reserved = _filtered(environment, [pattern for definition in definitions for pattern in definition.environment])
    return Environment(variables=everybody, reserved={n: v for n, v in reserved.items() if n not in everybody})


def of_agent(started_in: Environment, passes: Collection[str]) -> dict[str, str]:
    """Return the part of a team's start environment for one agent, without other agents' keys (behaviour 3.17)."""
    visible_names = _seen_by_agent(tuple(started_in.variables), tuple(passes))
    visible = {name: value for name, value in started_in.variables.items() if name in visible_names}
    return visible | {name: value for name, value in started_in.reserved.items() if _is_kept(name, passes)}


def member_environment(started_in: Mapping[str, str], identity: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a member's agent: the team's start environment and the member's identity."""
    variables = {name: value for name, value in started_in.items() if name not in IDENTITY}
    return variables | {"PATH": _with_pro0(variables.get("PATH", os.defpath))} | dict(identity)


def lead_environment(environment: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the environment of a lead process: the team's start environment, never a member's identity."""
    variables = {name: value for name, value in environment.items() if not name.startswith(_OWN) or name in _SETTINGS}
    return variables | lead_variables(home)


def lead_variables(home: str) -> dict[str, str]:
    """Return the variables of a lead process of this home."""
    return {HOME_VARIABLE: home, SPARED: "1"}


def keys_of_agents() -> tuple[str, ...]:
    """Return the patterns of all variables reserved for some agent."""
    return ALL


@lru_cache(maxsize=32)
def _seen_by_agent(names: tuple[str, ...], passes: tuple[str, ...]) -> frozenset[str]:
    """Return the names of a team's variables that one agent may see. Cached: each look at a member asks for them."""
    hidden = _sorted(tuple(pattern for pattern in keys_of_agents() if pattern not in passes))
    patterns = (*ALLOWED, *passes)
    return frozenset(name for name in names if _is_kept(name, patterns) or not hidden.fit(name))


def _filtered(environment: Mapping[str, str], patterns: Collection[str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if _is_kept(name, patterns) and _is_text(name + value)}


def _is_kept(name: str, patterns: Collection[str]) -> bool:
    return name in _SETTINGS if name.startswith(_OWN) else _sorted(tuple(patterns)).fit(name)


class _Patterns(NamedTuple):
    """Patterns by kind. Nearly all are a plain name or a prefix, and need no regular expression."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    others: tuple[str, ...]

    def fit(self, name: str) -> bool:
        """Return True when `fnmatchcase` would match the name with any of the patterns."""
        plain = name in self.names or name.startswith(self.prefixes)
        return plain or any(fnmatchcase(name, pattern) for pattern in self.others)


@lru_cache(maxsize=32)
def _sorted(patterns: tuple[str, ...]) -> _Patterns:
    stems = {pattern: pattern.removesuffix("*") for pattern in patterns}
    others = tuple(pattern for pattern, stem in stems.items() if any(special in stem for special in "*?["))
    plain = {pattern: stem for pattern, stem in stems.items() if pattern not in others}
    return _Patterns(
        frozenset(pattern for pattern, stem in plain.items() if stem == pattern),
        tuple(stem for pattern, stem in plain.items() if stem != pattern),
        others,
    )


def _is_text(text: str) -> bool:
    try:
        return text.encode() is not None
    except UnicodeEncodeError:
        return False


def _with_pro0(path: str) -> str:
    """Return a PATH with `pro0` on it, since agents are told to call it by this name."""
    return path if shutil.which("pro0", path=path) else f"{path}{os.pathsep}{Path(sys.executable).parent}"
