"""`pro0 diff` and `pro0 member merge`, by the program as a person calls them."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pro0 import diffs
from tests.conftest import Result
from tests.repositories import commit, git, put, repository_in
from tests.waiting import STUCK, wait_until

Cli = Callable[..., Result]


@pytest.fixture
def project(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with a running team: w1 and w2 have worktrees, s1 shares the checkout."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(repository_in(folder))
    begun = cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell", "-m", "w2=shell")
    assert begun.code == 0, begun
    assert cli("member", "spawn", "s1", "--agent", "shell", "--shared").code == 0
    yield folder
    cli("team", "cleanup", "alpha", "--force")


def tree(cli: Cli, name: str) -> Path:
    def found() -> str:
        return str(json.loads(cli("member", "show", name, "--json").out)["worktree"])

    return Path(wait_until(found, STUCK, f"{name} has a worktree"))


def test_what_a_member_did_is_seen_counted_and_merged(project: Path, cli: Cli) -> None:
    """issue 14, build 10: committed and not, against the fork; the merge home takes the commits only."""
    ada = tree(cli, "w1")
    commit(ada, "done", "1\n2\n")
    put(ada, "loose", "3\n")
    patch = cli("diff", "w1").out
    assert "+++ b/done" in patch
    assert "+++ b/loose" in patch
    stat = cli("diff", "W1", "--stat").out
    assert [" ".join(line.split()) for line in stat.splitlines()[1:]] == [
        "CHANGE FILE LINES NOTE",
        "added done +2 -0",
        "added loose +1 -0 not committed",
        "1 commit, 2 files, +3 -0, 1 file not committed",
    ]
    found = json.loads(cli("diff", "w1", "--json").out)
    assert (found["worktree"], found["branch"], found["shared"]) == (str(ada), "teams/alpha/w1", False)
    assert [file["path"] for file in found["files"]] == ["done", "loose"]
    shown = cli("member", "show", "w1").out
    assert "1 commit, 2 files, +3 -0, 1 file not committed" in shown
    assert "done: 1 2" in shown
    sizes = {"commits": 1, "files": 2, "added": 3, "removed": 0, "uncommitted": 1}
    assert json.loads(cli("member", "show", "w1", "--json").out)["changes"] == sizes
    merged = cli("member", "merge", "w1")
    assert (merged.code, merged.out) == (0, f"w1 is merged as {git(project, 'rev-parse', 'HEAD')[:12]}\n")
    assert "1 file of w1 is not committed, and not merged: pro0 diff w1" in merged.err
    assert (project / "done").exists()
    assert not (project / "loose").exists()
    again = cli("member", "merge", "w1")
    assert (again.code, "w1 has no unmerged commits; not committed: loose" in again.err) == (3, True)
    assert 'hint: pro0 send w1 "commit your work", then: pro0 member merge w1' in again.err
    for number in range(4):
        put(ada, f"more{number}", "1\n")
    assert "; not committed: loose, more0, more1, 2 more\n" in cli("member", "merge", "w1").err
    git(ada, "clean", "-qfd")
    assert "w1 has no unmerged commits\n" in cli("member", "merge", "w1").err


@pytest.mark.parametrize("act", ["rebase", "bisect"])
def test_a_part_of_somebodys_work_is_not_merged(project: Path, cli: Cli, act: str) -> None:
    """In the middle of a rebase or bisection the worktree is at a commit that holds only a part of the work."""
    ada = tree(cli, "w1")
    for name in ("one", "two", "three"):
        commit(ada, name, "1\n")
    commit(project, "of-the-person", "1\n")
    if act == "rebase":
        git(ada, "-c", "sequence.editor=sed -i.bak -e '1s/^pick/edit/'", "rebase", "-q", "-i", "main")
    else:
        git(ada, "bisect", "start", "HEAD", "HEAD~3")
    before = git(project, "rev-parse", "HEAD")
    refused = cli("member", "merge", "w1")
    assert (refused.code, f"w1 is in the middle of a rebase or bisection in {ada}" in refused.err) == (4, True)
    assert "hint: when that is over: pro0 member merge w1" in refused.err
    assert "in the middle of a rebase or bisection" in cli("member", "show", "w1").out
    assert git(project, "rev-parse", "HEAD") == before
    git(ada, *(("rebase", "--continue") if act == "rebase" else ("bisect", "reset")))
    assert cli("member", "merge", "w1").code == 0
    assert all((project / name).exists() for name in ("one", "two", "three"))


def test_nothing_is_said_of_the_files_of_a_worktree_that_was_moved(project: Path, cli: Cli) -> None:
    ada = tree(cli, "w1")
    put(ada, "loose", "1\n")
    ada.rename(ada.with_name("elsewhere"))
    shown = cli("member", "show", "w1").out
    assert re.search(rf"^changes +unknown\nunreadable +there is no folder {ada}$", shown, re.MULTILINE), shown
    commit(ada.with_name("elsewhere"), "done", "1\n")
    merged = cli("member", "merge", "w1")
    assert (merged.code, "what w1 has not committed is unknown: there is no folder" in merged.err) == (0, True)
    ada.with_name("elsewhere").rename(ada)
    put(ada, "later", "1\n")
    assert "1 file not committed" in cli("member", "show", "w1").out


def test_a_conflict_is_predicted_and_nothing_is_touched(project: Path, cli: Cli) -> None:
    """issue 14, must show 10."""
    for name, text in (("w1", "mine\n"), ("w2", "theirs\n")):
        commit(tree(cli, name), "README", text)
    assert "would conflict" not in cli("member", "show", "w2").out
    assert cli("member", "merge", "w1").code == 0

    def all_of_it() -> object:
        files = sorted((str(p), p.lstat().st_mtime_ns) for p in project.rglob("*") if "objects" not in p.parts)
        return files, git(project, "for-each-ref")

    assert "would conflict in README" in cli("member", "show", "w2").out
    before = all_of_it()
    refused = cli("member", "merge", "w2")
    assert (refused.code, "teams/alpha/w2 would conflict in README" in refused.err) == (4, True)
    assert all_of_it() == before
    put(project, "README", "of the person\n")
    dirty = cli("member", "merge", "w2")
    assert (dirty.code, "has changes that are not committed" in dirty.err) == (4, True)


def test_who_shares_the_checkout_has_nothing_of_its_own(project: Path, cli: Cli) -> None:
    put(project, "loose", "1\n")
    seen = cli("diff", "s1")
    assert "+++ b/loose" in seen.out
    assert "s1 works in the project's checkout" in seen.err
    assert "changes" not in cli("member", "show", "s1").out
    refused = cli("member", "merge", "s1")
    assert (refused.code, "s1 has no worktree" in refused.err) == (4, True)
    unknown = cli("diff", "nobody")
    assert (unknown.code, "'nobody' is not a member, worker or task" in unknown.err) == (3, True)
    (project / "loose").unlink()


def test_a_task_and_a_worker_are_named_too(project: Path, cli: Cli) -> None:
    cli("task", "create", "write", "--assignee", "w1", "--run", "echo x > written")
    cli("delegate", "more", "--agent", "shell", "--run", "echo a > a; git add a; git commit -qm a; echo b > b")
    assert cli("team", "wait", "--timeout", "120").code == 0
    assert "+++ b/written" in cli("diff", "task-1").out
    assert "1 file, +1 -0, 1 file not committed (in all of the worktree of w1)" in cli("task", "show", "1").out
    wait_until(lambda: json.loads(cli("worker", "show", "t2", "--json").out)["merge"], STUCK, "t2 is harvested")
    for name in ("t2", "task-2", "2"):
        assert "+++ b/b" in cli("diff", name).out
    assert "2 commits, 2 files, +2 -0" in cli("worker", "show", "t2").out
    assert json.loads(cli("task", "show", "2", "--json").out)["changes"]["commits"] == 2
    assert cli("worker", "merge", "t2").code == 0
    over = cli("diff", "t2")
    assert (over.code, "task-2 has left no unmerged work" in over.err) == (3, True)


@pytest.mark.parametrize("leaves_early", [False, True])
def test_on_a_terminal_it_goes_through_the_persons_pager(leaves_early: bool, project: Path, cli: Cli) -> None:
    """The repository's is never run, and no control character of a file reaches the terminal."""
    ada = tree(cli, "w1")
    put(ada, "loose", "hidden \x1b[8m words\n" + "x\n" * (100_000 if leaves_early else 1))
    ran, seen = project.parent / "ran", project.parent / "seen"
    for name in ("core.pager", "pager.diff", "pager.log"):
        git(project, "config", name, f"touch {ran}; cat")
    pager = f"head -n 1 > {seen}" if leaves_early else f"cat > {seen}"
    done = on_terminal("diff", "w1", environment={"GIT_PAGER": pager})
    assert done.returncode == 0
    assert not ran.exists()
    assert seen.read_text().startswith("\x1b[1mdiff --git a/loose b/loose\x1b[0m\n")
    if not leaves_early:
        assert "\x1b[32m+hidden \\x1b[8m words\x1b[0m\n" in seen.read_text()
        plain = on_terminal("diff", "w1", environment={"GIT_PAGER": pager, "NO_COLOR": "1"})
        assert (plain.returncode, seen.read_text().startswith("diff --git")) == (0, True)


def test_a_program_gets_a_patch_that_it_can_apply_and_a_person_reads_names(project: Path, cli: Cli) -> None:
    """A binary file that only is named makes `git apply` refuse all of the patch."""
    ada, seen = tree(cli, "w1"), project.parent / "seen"
    (ada / "picture").write_bytes(bytes(range(256)))
    put(ada, "loose", "1\n")
    assert on_terminal("diff", "w1", environment={"GIT_PAGER": f"cat > {seen}", "NO_COLOR": "1"}).returncode == 0
    assert "Binary files /dev/null and b/picture differ\n" in seen.read_text()
    subprocess.run(["git", "apply"], input=cli("diff", "w1").out.encode(), cwd=project, timeout=STUCK, check=True)
    assert (project / "picture").read_bytes() == bytes(range(256))
    assert (project / "loose").read_text() == "1\n"


def test_a_pager_that_cannot_be_run_is_named(project: Path, cli: Cli) -> None:
    """The shell's own words went by, with exit 0 and without the patch."""
    put(tree(cli, "w1"), "loose", "x\n" * 100_000)
    done = on_terminal("diff", "w1", environment={"GIT_PAGER": "no-such-pager -R"})
    assert done.returncode == 6
    said = "pro0: the pager 'no-such-pager -R' cannot be run\nhint: without a pager: GIT_PAGER=cat pro0 diff w1\n"
    assert done.stderr.decode().endswith(said)


@pytest.mark.parametrize(("programs", "pager"), [(("git", "less"), "less"), (("git",), "")])
def test_without_less_the_patch_is_printed(
    programs: tuple[str, ...], pager: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an image has none."""
    for name in programs:
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/true")
    for name in ("PAGER", "GIT_PAGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert diffs.pager(tmp_path) == pager


def on_terminal(*words: str, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run the program with its output on a terminal."""
    outer, inner = pty.openpty()
    try:
        return subprocess.run(
            [str(Path(sys.executable).with_name("pro0")), *words],
            stdin=subprocess.DEVNULL,
            stdout=inner,
            stderr=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm", **environment},
            timeout=STUCK,
            check=False,
        )
    finally:
        os.close(outer)
        os.close(inner)
