"""The installer of this pro0, its commit, and the commands to upgrade or remove it."""

import json
import re
import shlex
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

_PACKAGE = Path(__file__).absolute().parent
_COMMIT = _PACKAGE / "commit.txt"
"""Written into a wheel when it is built from a clone."""
_HEX = re.compile(r"[0-9a-f]{40,64}")


class Installation(NamedTuple):
    """How pro0 was installed, and the commands that add libraries to it and take it away."""

    by: str
    add: str
    """Adds the libraries of an extra, in place of {}."""
    remove: str


def here() -> Installation:
    """Return how this pro0 was installed."""
    return of_prefix(Path(sys.prefix), clone())


def about() -> str:
    """Return the commit, as far as it is known, and how this pro0 was installed."""
    known = commit()
    return f"commit {known[:12]}, {here().by}" if known else here().by


def of_prefix(prefix: Path, source: Path | None = None) -> Installation:
    """Return how an environment was made, by its place; with the clone that it runs, if it runs one."""
    pip = f"{prefix / 'bin' / 'python'} -m pip"
    if source and prefix.is_relative_to(source):
        return Installation(
            f"the clone {source}", f"{pip} install -e '{source}[{{}}]'", f"rm -r {shlex.quote(str(source))}"
        )
    if "pipx" in prefix.parts:
        return Installation("pipx", f"pipx inject {prefix.name} 'pro0[{{}}]'", f"pipx uninstall {prefix.name}")
    if "uv" in prefix.parts and "tools" in prefix.parts:
        return Installation("uv", "uv tool install 'pro0[{}]'", "uv tool uninstall pro0")
    by = f"pip, of the clone {source}" if source else "pip"
    return Installation(by, f"{pip} install 'pro0[{{}}]'", f"{pip} uninstall pro0")


def clone() -> Path | None:
    """Return the clone whose files run, None for an installed copy."""
    top = _PACKAGE.parent
    return top if (top / "pyproject.toml").is_file() else None


def commit() -> str:
    """Return the commit of this pro0, "" when nothing tells it."""
    text = _told()
    return text if _HEX.fullmatch(text) else ""


def _told() -> str:
    if source := clone():
        return _head(source)
    with suppress(OSError):
        return _COMMIT.read_text(encoding="ascii").strip()
    with suppress(PackageNotFoundError, ValueError, AttributeError, TypeError):
        told = json.loads(distribution("pro0").read_text("direct_url.json") or "{}")
        return str(told.get("vcs_info", {}).get("commit_id", ""))
    return ""


def _head(source: Path) -> str:
    """Return the commit that a clone is at, read from git's own files."""
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
