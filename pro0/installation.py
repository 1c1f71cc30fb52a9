"""The installer of this pro0, its commit, and the commands to upgrade or remove it."""

import re
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

_PACKAGE = Path(__file__).absolute().parent
_COMMIT = _PACKAGE / "commit.txt"
"""Written into a wheel when it is built from a clone."""
_HEX = re.compile(r"[0-9a-f]{40,64}")
_EXTRAS = {"view": "pyghostty", "web": "starlette", "postgres": "psycopg"}
"""Each extra, and a library that comes with it."""


class Installation(NamedTuple):
    """How pro0 was installed, and the commands to add libraries to it and to remove it."""

    by: str
    add: str
    """The command to install pro0 again with extras, whose names replace {}."""
    remove: str


def here() -> Installation:
    """Return how this pro0 was installed."""
    return of_prefix(Path(sys.prefix), clone(), lambda: _origin(_recorded()))


def adding(extra: str) -> str:
    """Return the command that adds the libraries of an extra to this pro0, and keeps those of other extras."""
    present = [name for name, library in _EXTRAS.items() if find_spec(library)]
    return here().add.format(",".join(sorted({extra, *present})))


def about() -> str:
    """Return the commit, as far as it is known, and how this pro0 was installed."""
    commit_hash, by = commit(), _installer(Path(sys.prefix), clone())
    return f"commit {commit_hash[:12]}, {by}" if commit_hash else by


def of_prefix(prefix: Path, source: Path | None = None, origin: Callable[[], str] = str) -> Installation:
    """Return how pro0 was installed into the environment at a prefix.

    `source` is the clone whose files run, if any. `origin` returns the address from which pro0 was installed.
    """
    by = _installer(prefix, source)
    pip = f"{shlex.quote(str(prefix / 'bin' / 'python'))} -m pip"
    if source and prefix.is_relative_to(source):
        add = f"{_braced(pip)} install -e {shlex.quote(_braced(str(source)) + '[{}]')}"
        return Installation(by, add, f"rm -r {shlex.quote(str(source))}")
    place = _braced(origin())
    requirement = f"'pro0[{{}}] @ {place}'" if place else "'pro0[{}]'"
    if by == "pipx":
        name = shlex.quote(prefix.name)
        return Installation(by, f"pipx inject {_braced(name)} {requirement}", f"pipx uninstall {name}")
    if by == "uv":
        return Installation(by, f"uv tool install {requirement}", "uv tool uninstall pro0")
    return Installation(by, f"{_braced(pip)} install {requirement}", f"{pip} uninstall pro0")


def _braced(text: str) -> str:
    """Return a text with doubled braces, so that `format` gives it back unchanged."""
    return text.replace("{", "{{").replace("}", "}}")


def _installer(prefix: Path, source: Path | None) -> str:
    if source and prefix.is_relative_to(source):
        return f"the clone {source}"
    if "pipx" in prefix.parts:
        return "pipx"
    if "uv" in prefix.parts and "tools" in prefix.parts:
        return "uv"
    return f"pip, from the clone {source}" if source else "pip"


def clone() -> Path | None:
    """Return the clone whose files run, None for an installed copy."""
    top = _PACKAGE.parent
    return top if (top / "pyproject.toml").is_file() else None


def commit() -> str:
    """Return the commit of this pro0, "" when it is unknown."""
    text = _commit_text()
    return text if _HEX.fullmatch(text) else ""


def _commit_text() -> str:
    if source := clone():
        return _head(source)
    with suppress(OSError):
        return _COMMIT.read_text(encoding="ascii").strip()
    return str(_mapping(_recorded(), "vcs_info").get("commit_id", ""))


def _recorded() -> dict[str, Any]:
    """Return the installer's record of pro0's source, empty after an installation from a package index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution  # late: three quarters of the time of --version

    with suppress(PackageNotFoundError, ValueError, TypeError):
        return _mapping({"all": json.loads(distribution("pro0").read_text("direct_url.json") or "{}")}, "all")
    return {}


def _origin(recorded: dict[str, Any]) -> str:
    """Return pro0's source as installers accept it, with revision and folder; "" for a package index."""
    from urllib.parse import quote

    if not (url := str(recorded.get("url", "")).replace("'", "%27")):
        return ""
    source = _mapping(recorded, "vcs_info")
    revision, folder = source.get("requested_revision"), recorded.get("subdirectory")
    place = f"{kind}+{url}" if (kind := str(source.get("vcs", ""))) else url
    place += f"@{quote(revision)}" if kind and isinstance(revision, str) and revision else ""
    return place + (f"#subdirectory={quote(folder)}" if isinstance(folder, str) and folder else "")


def _mapping(of: dict[str, Any], key: str) -> dict[str, Any]:
    entry = of.get(key)
    return entry if isinstance(entry, dict) else {}


def _head(source: Path) -> str:
    """Return the checked-out commit of a clone, read from git's own files."""
    with suppress(OSError, ValueError):
        git = source / ".git"
        if git.is_file():
            git = (source / git.read_text(encoding="utf-8").partition("gitdir:")[2].strip()).resolve()
        head = (git / "HEAD").read_text(encoding="ascii").strip()
        name = head.removeprefix("ref: ")
        if name == head:
            return head
        shared = git / "commondir"
        common = (git / shared.read_text(encoding="utf-8").strip()).resolve() if shared.is_file() else git
        for place in (git, common):
            if (place / name).is_file():
                return (place / name).read_text(encoding="ascii").strip()
        packed = (common / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.partition(" ")[0] for line in packed if line.endswith(f" {name}")), "")
    return ""
