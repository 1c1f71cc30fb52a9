"""How pro0 was installed, and of which commit it is."""

import subprocess
from pathlib import Path

import pytest

from pro0 import installation
from pro0.installation import of_prefix
from tests.repositories import git, repository_in

CLONE = Path("/src/pro0")


@pytest.mark.parametrize(
    ("prefix", "source", "by", "add", "remove"),
    [
        ("/opt/x/.local/share/uv/tools/pro0", None, "uv", "uv tool install", "uv tool uninstall pro0"),
        ("/opt/x/.local/share/pipx/venvs/pro0", None, "pipx", "pipx inject pro0", "pipx uninstall pro0"),
        ("/opt/x/env", None, "pip", "/opt/x/env/bin/python -m pip", "/opt/x/env/bin/python -m pip uninstall pro0"),
        ("/src/pro0/.venv", CLONE, "the clone /src/pro0", "install -e '/src/pro0[web]'", "rm -r /src/pro0"),
        ("/opt/x/env", CLONE, "pip, of the clone /src/pro0", "'pro0[web]'", "-m pip uninstall pro0"),
    ],
)
def test_how_it_was_installed(prefix: str, source: Path | None, by: str, add: str, remove: str) -> None:
    made = of_prefix(Path(prefix), source)
    assert made.by == by
    assert add in made.add.format("web")
    assert made.remove.endswith(remove)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one commit, which is what runs."""
    folder = tmp_path / "clone"
    folder.mkdir()
    repository_in(folder)
    (folder / "pyproject.toml").write_text("")
    monkeypatch.setattr(installation, "_PACKAGE", folder / "pro0")
    return folder


def test_the_commit_of_a_clone_is_read_from_gits_files(source: Path) -> None:
    head = git(source, "rev-parse", "HEAD")
    assert installation.commit() == head
    git(source, "pack-refs", "--all")
    assert installation.commit() == head, "packed"
    git(source, "checkout", "-q", "--detach")
    assert installation.commit() == head, "detached"


def test_the_commit_of_a_worktree(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(source, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "pyproject.toml").write_text("")
    monkeypatch.setattr(installation, "_PACKAGE", tmp_path / "side" / "pro0")
    assert installation.commit() == git(source, "rev-parse", "side")


@pytest.mark.parametrize("content", ["", "ref: refs/heads/none\n", "\x00"])
def test_without_git_there_is_no_commit(content: str, source: Path) -> None:
    subprocess.run(["rm", "-rf", source / ".git"], check=True)
    assert installation.commit() == ""
    (source / ".git").mkdir()
    (source / ".git" / "HEAD").write_text(content)
    assert installation.commit() == ""
