"""How pro0 was installed, and of which commit it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from pro0 import installation
from pro0.installation import of_prefix
from tests.repositories import git, repository_in

CLONE = Path("/src/pro0")


@pytest.mark.parametrize(
    ("prefix", "source", "by", "add", "remove"),
    [
        ("/opt/x/.local/share/uv/tools/pro0", None, "uv", "uv tool install 'pro0[web]'", "uv tool uninstall pro0"),
        ("/opt/x/.local/share/pipx/venvs/p", None, "pipx", "pipx inject p 'pro0[web]'", "pipx uninstall p"),
        ("/opt/x/env", None, "pip", "/bin/python -m pip install 'pro0[web]'", "-m pip uninstall pro0"),
        ("/src/pro0/.venv", CLONE, "the clone /src/pro0", "install -e '/src/pro0[web]'", "rm -r /src/pro0"),
        (
            "/my env",
            None,
            "pip",
            "'/my env/bin/python' -m pip install 'pro0[web]'",
            "'/my env/bin/python' -m pip uninstall pro0",
        ),
        (
            "/e{1}",
            None,
            "pip",
            "'/e{1}/bin/python' -m pip install 'pro0[web]'",
            "'/e{1}/bin/python' -m pip uninstall pro0",
        ),
        ("/pipx/venvs/p{}", None, "pipx", "pipx inject 'p{}' 'pro0[web]'", "pipx uninstall 'p{}'"),
        ("/a {b}/.venv", Path("/a {b}"), "the clone /a {b}", "install -e '/a {b}[web]'", "rm -r '/a {b}'"),
        ("/opt/x/env", CLONE, "pip, from the clone /src/pro0", "install 'pro0[web]'", "-m pip uninstall pro0"),
    ],
)
def test_how_it_was_installed(prefix: str, source: Path | None, by: str, add: str, remove: str) -> None:
    made = of_prefix(Path(prefix), source)
    assert made.by == by
    assert made.add.format("web").endswith(add)
    assert made.remove.endswith(remove)


@pytest.mark.parametrize(
    ("recorded", "origin"),
    [
        ('{"url": "file:///src/a%20b", "dir_info": {}}', " @ file:///src/a%20b"),
        ('{"url": "file:///d/pro0-0.2.0.whl", "archive_info": {}}', " @ file:///d/pro0-0.2.0.whl"),
        ('{"url": "https://h/p", "vcs_info": {"vcs": "git", "commit_id": "0"}}', " @ git+https://h/p"),
        ('{"url": "file:///it\'s", "dir_info": {}}', " @ file:///it%27s"),
        ('{"url": "file:///a{b}", "dir_info": {}}', " @ file:///a{b}"),
        (
            '{"url": "https://h/p", "vcs_info": {"vcs": "git", "requested_revision": "v1.0", "commit_id": "0"}}',
            " @ git+https://h/p@v1.0",
        ),
        (
            '{"url": "https://h/p", "vcs_info": {"vcs": "git", "requested_revision": "it\'s"}, "subdirectory": "a b"}',
            " @ git+https://h/p@it%27s#subdirectory=a%20b",
        ),
        (
            '{"url": "https://h/p.zip", "archive_info": {}, "subdirectory": "sub/p"}',
            " @ https://h/p.zip#subdirectory=sub/p",
        ),
        ('{"url": "https://h/p", "vcs_info": {"vcs": "git", "requested_revision": 3}}', " @ git+https://h/p"),
        *((odd, "") for odd in ("", "[]", "{", '{"vcs_info": 3}', '{"vcs_info": {"vcs": "git"}}')),
    ],
)
def test_what_is_added_comes_from_where_pro0_came(
    recorded: str, origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No index has to know it; and what is there already stays (findings/docs A4)."""
    (tmp_path / "pro0-9.dist-info").mkdir()
    (tmp_path / "pro0-9.dist-info" / "METADATA").write_text("Name: pro0\nVersion: 9\n")
    (tmp_path / "pro0-9.dist-info" / "direct_url.json").write_text(recorded)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(installation, "clone", lambda: None)
    monkeypatch.setattr(installation, "find_spec", {"pyghostty": "there"}.get)
    monkeypatch.setattr(sys, "prefix", "/opt/x/uv/tools/pro0")
    assert installation.adding("web") == f"uv tool install 'pro0[view,web]{origin}'"
    assert installation.commit() == ""


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
