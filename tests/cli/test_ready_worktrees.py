"""Ready worktrees, by the program as a person calls it: projects of many shapes build in a member's worktree."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.crash.lanes import a_few
from tests.repositories import commit, git, put, repository_in
from tests.waiting import wait_until

Cli = Callable[..., Result]

PROGRAM = """#!/bin/sh
# A stand-in: installs what the lock file names, and builds when that is installed.
case "$1" in
  install|ci|sync|fetch|download) sleep 0.1; mkdir -p "$2" && cp "$3" "$2/installed" ;;
  build) cmp -s "$2/installed" "$3" || { echo "$2 is not installed" >&2; exit 1; } ;;
esac
"""


class Shape:
    """One shape of project: its files, what its owner has beside git, its set-up, and its first build."""

    def __init__(
        self,
        files: dict[str, str],
        build: str,
        *,
        ignored: str = "",
        loose: dict[str, str] | None = None,
        include: str = "",
        setup: str = "",
    ) -> None:
        self.files = files | ({".gitignore": ignored} if ignored else {})
        self.files |= {".worktreeinclude": include} if include else {}
        self.loose, self.setup, self.build = loose or {}, setup, build


SHAPES = {
    "bare .env": Shape({}, ". ./.env && test $KEY = 1", ignored=".env\n", loose={".env": "KEY=1\n"}, include=".env\n"),
    "loose .env": Shape({}, ". ./.env && test $KEY = 1", loose={".env": "KEY=1\n"}, include=".env\n"),
    "npm": Shape(
        {"package-lock.json": "{}"},
        "../tool build node_modules package-lock.json",
        ignored="node_modules/\n",
        setup="$PRO0_PROJECT/../tool ci node_modules package-lock.json",
    ),
    "npm, copied": Shape(
        {"package-lock.json": "{}"},
        "test -x node_modules/.bin/x && node_modules/.bin/x",
        ignored="node_modules/\n",
        loose={"node_modules/x/run": "#!/bin/sh\nexit 0\n"},
        include="node_modules/\n",
    ),
    "uv": Shape(
        {"uv.lock": "version = 1"},
        "../tool build .venv uv.lock",
        ignored=".venv/\n",
        setup="$PRO0_PROJECT/../tool sync .venv uv.lock",
    ),
    "venv": Shape(
        {"m.py": "VALUE = 1\n"},
        "env/bin/python -c 'import m; assert m.VALUE'",
        ignored="env/\n__pycache__/\n",
        setup="python3 -m venv --without-pip env",
    ),
    "cargo": Shape(
        {"Cargo.lock": "version = 3", ".cargo/config.toml": ""},
        "../tool build target Cargo.lock && test -f .cargo/credentials.toml",
        ignored="target/\n.cargo/credentials.toml\n",
        loose={".cargo/credentials.toml": "token"},
        include="/.cargo/credentials.toml\n",
        setup="$PRO0_PROJECT/../tool fetch target Cargo.lock",
    ),
    "go": Shape(
        {"go.sum": "x h1:\n"},
        "../tool build vendor go.sum",
        ignored="vendor/\n",
        setup="$PRO0_PROJECT/../tool download vendor go.sum",
    ),
    "monorepo": Shape(
        {"packages/a/lock": "a", "packages/b/lock": "b"},
        "for p in packages/*; do test -f $p/.env.local && ../tool build $p/dep $p/lock || exit 1; done",
        ignored=".env.*\ndep/\n",
        loose={"packages/a/.env.local": "", "packages/b/.env.local": ""},
        include=".env.local\n",
        setup="for p in packages/*; do $PRO0_PROJECT/../tool install $p/dep $p/lock || exit 1; done",
    ),
    "make": Shape({"Makefile": "all: conf\n\ttest -f conf\nconf:\n\ttouch conf\n"}, "make -s", ignored="conf\n"),
    "server": Shape(
        {},
        "test $PRO0_PORT_BASE -ge 20000 && test $(cat port) = $PRO0_PORT_BASE",
        ignored="port\n",
        setup="echo $PRO0_PORT_BASE > port",
    ),
    "certificates": Shape(
        {},
        "test -s certs/dev.key && test -L certs/current && test ! -e certs/ca.pem",
        ignored="certs/\n",
        loose={"certs/dev.key": "k", "certs/ca.pem": "c"},
        include="certs/*\n!certs/ca.pem\n",
    ),
}


def project_of(shape: Shape, folder: Path) -> Path:
    """Make the project, its owner's own files, and a tool beside it for member and owner."""
    folder.mkdir()
    repository_in(folder)
    for name, text in shape.files.items():
        put(folder, name, text)
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "-qm", "the project", "--allow-empty")
    for name, text in shape.loose.items():
        put(folder, name, text)
    if (folder / "node_modules").exists():
        (folder / "node_modules" / "x" / "run").chmod(0o755)
        (folder / "node_modules" / ".bin").mkdir()
        (folder / "node_modules" / ".bin" / "x").symlink_to("../x/run")
    if (folder / "certs").exists():
        (folder / "certs" / "current").symlink_to("dev.key")
    tool = folder.parent / "tool"
    tool.write_text(PROGRAM)
    tool.chmod(0o755)
    return folder


@pytest.mark.parametrize("name", a_few(SHAPES, 6))
def test_the_first_build_works_unaided(
    name: str, cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """issue 14, must show 9."""
    shape = SHAPES[name]
    if shape.build.startswith("make") and not shutil.which("make"):
        pytest.skip("no make here")
    project = project_of(shape, tmp_path / "project")
    monkeypatch.chdir(project)
    if shape.setup:
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(f"worktree: {json.dumps({'setup': shape.setup})}\n")
    begun = cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell")
    try:
        assert begun.code == 0, begun
        tree = json.loads(cli("member", "show", "w1", "--json").out)["worktree"]
        (Path(tree).parent / "tool").write_bytes((project.parent / "tool").read_bytes())
        (Path(tree).parent / "tool").chmod(0o755)
        assert cli("task", "create", "build", "--run", shape.build).code == 0
        assert cli("team", "wait", "--timeout", "60").code == 0, cli("task", "show", "1").out
        assert json.loads(cli("diff", "w1", "--json").out)["files"] == [], "what was copied is nobody's work"
    finally:
        for tool in home.glob("worktrees/*/tool"):
            tool.unlink()
        ended = cli("team", "cleanup", "alpha", "--force")
    assert ended.code == 0, ended


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(repository_in(folder))
    commit(folder, ".gitignore", "made\n")
    return folder


def settings(home: Path, **commands: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(f"worktree: {json.dumps(commands)}\n")


def test_a_set_up_that_fails_is_told_and_mended(cli: Cli, home: Path, project: Path) -> None:
    """issue 14, build 9: in what needs you, with the command that goes on; what it made half is made anew."""
    settings(
        home,
        setup="for n in 1 2 3 4; do echo step $n; done; test -e $PRO0_PROJECT/made || "
        "{ echo no registry >&2; exit 3; }",
    )
    try:
        begun = cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell")
        assert begun.code == 6
        assert "the set-up of its worktree failed: exit code 3: step 3 / step 4 / no registry" in begun.err
        assert "w1: step 1\nw1: step 2\n" in begun.err, "its log goes with the team, so it is told before"
        assert begun.err.endswith("hint: once that is fixed, start alpha again\n"), "no hint names what is gone"
        cli("team", "start", "beta", "--mode", "headless")
        cli("member", "spawn", "w2", "--agent", "shell", "--worktree", "--no-wait", "-t", "beta")
        needs = wait_until(
            lambda: [one for one in json.loads(cli("needs", "--json", "-t", "beta").out) if one["kind"] == "worktree"],
            60,
            "it is in what needs you",
        )
        assert "no registry" in json.dumps(needs)
        put(project, "made", "1\n")
        again = cli("member", "spawn", "w2", "--agent", "shell", "--worktree", "-t", "beta")
        assert again.code == 0, again
        assert json.loads(cli("needs", "--json", "-t", "beta").out) == []
        tree = Path(json.loads(cli("member", "show", "w2", "--json", "-t", "beta").out)["worktree"])
        assert tree.is_dir()
    finally:
        for name in ("alpha", "beta"):
            cli("team", "cleanup", name, "--force")


def test_the_tear_down_runs_before_the_worktree_goes(cli: Cli, home: Path, project: Path) -> None:
    settings(home, setup="echo installing", teardown="echo $PRO0_WORKTREE >> $PRO0_PROJECT/made")
    begun = cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell")
    tree = json.loads(cli("member", "show", "w1", "--json").out)["worktree"]
    logged = cli("team", "logs", "alpha", "--json").out
    ended = cli("team", "cleanup", "alpha", "--force")
    assert (begun.code, ended.code) == (0, 0), (begun, ended)
    assert "worktree.ready" in logged
    assert (project / "made").read_text() == f"{tree}\n"
