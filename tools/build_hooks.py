"""The hooks of a build: they add the commit of a wheel, and the addresses of the project."""

import ast
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

COMMIT = "pro0/commit.txt"


class CommitHook(BuildHookInterface[Any]):
    """Puts the commit into a wheel that is built from a clone without changes."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add a file with the commit to the wheel; an editable install reads the clone itself."""
        if version == "editable" or not (commit := commit_of(Path(self.root))):
            return
        folder = tempfile.mkdtemp(prefix="pro0-build-")
        path = Path(folder, "commit.txt")
        path.write_text(f"{commit}\n", encoding="ascii")
        build_data["force_include"][str(path)] = COMMIT

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the file again."""
        for path, place in build_data["force_include"].items():
            if place == COMMIT:
                Path(path).unlink()
                Path(path).parent.rmdir()


class AddressHook(MetadataHookInterface):
    """Gives the package the addresses of the project, if it has any."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses."""
        address = repository(Path(self.root))
        pages = {"Homepage": "", "Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md"}
        metadata["urls"] = {name: f"{address}{page}" for name, page in pages.items()} if address else {}


def commit_of(root: Path) -> str:
    """Return the commit of a clone, "" when it has changes or is no clone."""
    try:
        if Path(_git(root, "rev-parse", "--show-toplevel")).resolve() != root.resolve():
            return ""
        changes = _git(root, "status", "--porcelain", "--untracked-files=no")
        return "" if changes else _git(root, "rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return ""


def repository(root: Path) -> str:
    """Return the project's address from the source of the package, without importing it."""
    tree = ast.parse((root / "pro0" / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="REPOSITORY")], value=ast.Constant(value=str(address))):
                return address
    return ""


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
