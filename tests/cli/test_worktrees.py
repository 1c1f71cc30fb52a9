"""Worktrees for teammates, by the program as a person calls it."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from shlex import quote

import pytest

from pro0.errors import StoreError
from pro0.ops.work import checkouts
from pro0.store.paths import trees_of
from pro0.store.teams import Store
from tests.cli.conftest import Pro0, make
from tests.conftest import Result
from tests.crash.lanes import a_few
from tests.faults import Call, Fault, Shim, count, fail_with, fault_at
from tests.repositories import commit, git, repository_in
from tests.waiting import STUCK, wait_until

Cli = Callable[..., Result]
LISTING = ("listdir", "scandir")


def test_a_team_in_worktrees(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """issue 6, build 5: made by team start, named by member show, saved and kept by cleanup, exit 7"""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(repository_in(folder))
    begun = cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell", "-m", "w2=shell")
    assert begun.code == 0, begun
    try:
        assert "share one checkout" not in begun.err
        looks = [json.loads(cli("member", "show", name, "--json").out) for name in ("w1", "w2")]
        assert [look["branch"] for look in looks] == ["teams/alpha/w1", "teams/alpha/w2"]
        assert looks[0]["worktree"] in cli("member", "show", "w1").out
        cli("task", "create", "write", "--run", "pwd > where")
        assert cli("team", "wait", "--timeout", "60").code == 0
        written = [Path(look["worktree"]) for look in looks if Path(look["worktree"], "where").exists()]
        assert [tree.name for tree in written] == [written[0].name], "one of them did it, in its own"
    finally:
        ended = cli("team", "cleanup", "alpha", "--force")
    assert ended.code == 7, ended
    assert f"teams/alpha/{written[0].name}" in ended.err
    assert git(folder, "show", f"teams/alpha/{written[0].name}:where") == str(written[0])
    assert not written[0].exists()


@pytest.fixture
def bobs(cli: Cli, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The worktree of bob, of the stopped team eta, with a file that is not committed."""
    monkeypatch.chdir(repository_in(project))
    assert cli("team", "start", "eta", "--mode", "headless", "--worktrees", "-m", "bob=shell").code == 0
    cli("task", "create", "one", "--assignee", "human")
    tree = Path(json.loads(cli("member", "show", "bob", "--json").out)["worktree"])
    (tree / "work").write_text("bob's\n")
    assert cli("team", "stop", "eta", "--force").code == 0
    return tree


def test_without_an_archive_no_worktree_goes(cli: Cli, home: Path, project: Path, bobs: Path) -> None:
    """behaviour 3.10: where it cannot be begun, cleanup removes nothing"""
    (home / "archive").symlink_to(project.parent)
    refused = cli("team", "cleanup", "eta")
    assert (refused.code, "archive is not a folder of yours" in refused.err) == (6, True), refused
    assert "--no-archive" in refused.err
    assert (bobs / "work").read_text() == "bob's\n"
    removed = cli("team", "cleanup", "eta", "--no-archive")
    assert (removed.code, "not merged, so kept: teams/eta/bob\n" in removed.err) == (7, True), removed
    assert git(project, "show", "teams/eta/bob:work") == "bob's"


def test_the_worktrees_of_a_project_that_was_moved_stay_and_are_saved_later(
    pro0: Pro0, home: Path, project: Path, bobs: Path
) -> None:
    """behaviour 3.10: what is kept there is no branch, and is not called one"""
    moved = project.rename(project.with_name("moved"))
    removed = pro0("team", "cleanup", "eta")
    assert (removed.code, f"{bobs} stays: there is no folder {project}" in removed.err) == (7, True), removed
    look = f"git -C {quote(str(bobs))} status; once git can work there: pro0 doctor --repair"
    assert removed.err.endswith(f"hint: look: {look}\n")
    moved.rename(project)
    assert pro0("doctor", "--repair", "--yes").code == 0
    assert git(project, "show", "teams/eta/bob:work") == "bob's"


def test_a_member_that_a_resumed_team_could_not_start_is_named_by_the_next_resume(
    cli: Cli, project: Path, bobs: Path
) -> None:
    """behaviour 3.11: nobody is restarted unasked, so the command that does it is said"""
    moved = project.rename(project.with_name("moved"))
    try:
        failed = cli("team", "resume", "eta")
        assert failed.code == 6, failed
        assert "cannot start bob: its worktree cannot be made: there is no folder" in failed.err
        moved.rename(project)
        again = cli("team", "resume", "eta")
        assert (again.code, "runs already" in again.out) == (0, True), again
        assert "ended, and not started by this: bob; pro0 member restart bob -t eta" in again.err
        assert cli("member", "restart", "bob", "-t", "eta").code == 0
        assert not cli("team", "resume", "eta").err
        assert (bobs / "work").read_text() == "bob's\n"
    finally:
        cli("team", "cleanup", "eta", "--force")


def test_worktrees_that_cannot_be_listed_are_not_none(pro0: Pro0, home: Path, project: Path, bobs: Path) -> None:
    """behaviour 3.10: the team knows them, so it stays until they are saved"""
    with fault_at(1, fail_about(bobs.parent), LISTING):
        refused = pro0("team", "cleanup", "eta")
    assert (refused.code, f"cannot use {bobs.parent}: Input/output error (EIO)" in refused.err) == (5, True), refused
    assert (Store(home).names(), (bobs / "work").read_text()) == (["eta"], "bob's\n")
    removed = pro0("team", "cleanup", "eta")
    assert (removed.code, "not merged, so kept: teams/eta/bob\n" in removed.err) == (7, True), removed
    assert git(project, "show", "teams/eta/bob:work") == "bob's"


def fail_about(folder: Path) -> Fault:
    """Let every question about a folder fail."""

    def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        shim.at = len(shim.seen) + 1
        fails = str(args[0]) == str(folder)
        return (fail_with(errno.EIO) if fails else pass_on)(shim, name, real, args, kwargs)

    return fault


def pass_on(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    return real(*args, **kwargs)


def test_what_cannot_be_listed_makes_no_worktree_a_left_over_one(home: Path, project: Path) -> None:
    """Not those of another machine's members either: the folder `code` alone knows whose they are."""
    make(home, "alpha", project)
    store = Store(home)
    for folder in ("code/alpha-1.git", "worktrees/alpha-1/bob", "worktrees/beta-1/bob"):
        (home / folder).mkdir(parents=True)
    for number, call in enumerate(count(lambda: [*checkouts.left_over(store)], LISTING), 1):
        with fault_at(number, fail_with(errno.EIO), LISTING), pytest.raises(StoreError, match="EIO"):
            print(call, *checkouts.left_over(store))
    assert list(checkouts.left_over(store)) == [home / "worktrees" / "beta-1"]


def test_a_branch_that_no_document_names_any_more_is_named(cli: Cli, home: Path, project: Path, bobs: Path) -> None:
    """behaviour 3.10: a cleanup was killed when bob's worktree was gone, and his next session has another branch"""
    team = Store(home).team("eta")
    assert checkouts.clear(bobs.parent, project, print) == ["teams/eta/bob"]
    try:
        assert cli("team", "resume", "eta").code == 0
        wait_until(lambda: team.runtime.read().seats[0].branch == "teams/eta/bob-2", STUCK, "bob is back")
    finally:
        removed = cli("team", "cleanup", "eta", "--force")
    assert (removed.code, "not merged, so kept: teams/eta/bob\n" in removed.err) == (7, True), removed


def test_a_folder_without_a_repository_is_refused(pro0: Pro0, home: Path) -> None:
    called = pro0("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell")
    assert called.code == 6
    assert "is not in a git repository" in called.err
    assert not Store(home).names()


def test_doctor_finds_what_is_left(pro0: Pro0, home: Path, project: Path) -> None:
    """issue 6, build 5: residue is found by doctor, and its repair loses nothing"""
    context = make(home, "alpha", repository_in(project))
    left, uid = trees_of(home, "beta", "0123456789"), context.team.config.read().uid
    for place, branch in ((left / "w1", "teams/beta/w1"), (trees_of(home, "alpha", uid) / "w1", "x")):
        git(project, "worktree", "add", "-q", "-b", branch, str(place))
    (left / "w1" / "unsaved").write_text("mine\n")
    assert f"{left} holds worktrees of a team that does not exist" in pro0("doctor").out
    repaired = pro0("doctor", "--repair").out
    assert f"{left} held worktrees of no team: removed them, kept teams/beta/w1" in " ".join(repaired.split())
    assert git(project, "show", "teams/beta/w1:unsaved") == "mine"
    assert len(git(project, "worktree", "list").splitlines()) == 2
    assert "worktrees" not in pro0("doctor").out.replace("members cannot have worktrees", "")


def test_what_goes_with_a_team_is_said(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ux 10: open tasks and unread mail do not go without a word; without any there is none."""
    monkeypatch.chdir(tmp_path)
    assert cli("team", "start", "alpha", "--mode", "headless").code == 0
    made = [cli("task", "create", "one"), cli("task", "create", "two"), cli("send", "human", "which?")]
    ended = cli("team", "cleanup", "alpha", "--force")
    assert [one.code for one in made] == [0, 0, 0], made
    assert (ended.code, "gone with alpha: 2 open tasks and 1 unread message\n" in ended.err) == (0, True), ended
    assert cli("team", "start", "alpha", "--mode", "headless").code == 0
    assert "gone with" not in cli("team", "cleanup", "alpha", "--force").err


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return repository_in(folder)


def detached(place: Path) -> Path:
    git(repository(place / "detached"), "checkout", "-q", "--detach")
    return place / "detached"


def of_a_bare_one(place: Path) -> Path:
    git(repository(place / "source"), "clone", "-q", "--bare", ".", str(place / "bare"))
    git(place / "bare", "worktree", "add", "-q", "-b", "work", str(place / "tree"))
    return place / "tree"


def by_a_link(place: Path) -> Path:
    (place / "link").symlink_to(repository(place / "real"))
    return place / "link"


def below_the_top(place: Path) -> Path:
    commit(repository(place / "mono"), "packages/a/x", "1\n")
    return place / "mono" / "packages" / "a"


def with_pointers(place: Path) -> Path:
    """Of large files, without the program that knows them."""
    commit(repository(place / "large"), ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    commit(place / "large", "a.bin", f"version https://git-lfs.github.com/spec/v1\noid sha256:{0:064}\nsize 5\n")
    return place / "large"


def cut_short(place: Path) -> Path:
    commit(repository(place / "long"), "later", "1\n")
    git(place, "clone", "-q", "--depth", "1", f"file://{place / 'long'}", str(place / "short"))
    return place / "short"


def in_part(place: Path) -> Path:
    for name in ("a/x", "b/x"):
        commit(repository(place / "part") if name == "a/x" else place / "part", name, "1\n")
    git(place / "part", "sparse-checkout", "set", "a")
    return place / "part"


def within_another(place: Path) -> Path:
    repository(place / "outer")
    return repository(place / "outer" / "inner")


SHAPES: dict[str, Callable[[Path], Path]] = {
    "with a space, é and '": lambda place: repository(place / "it's é"),
    "below the top": below_the_top,
    "of a bare one": of_a_bare_one,
    "detached": detached,
    "by a link": by_a_link,
    "with pointers": with_pointers,
    "cut short": cut_short,
    "in part": in_part,
    "within another": within_another,
}


@pytest.mark.parametrize("shape", a_few(SHAPES, 2))
def test_a_member_works_in_each_shape_of_a_repository(
    shape: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commit is seen, merged home and kept, and nothing else is left; the checkout stays as it was."""
    folder = SHAPES[shape](tmp_path / "shapes")
    monkeypatch.chdir(folder)
    before = git(folder, "worktree", "list")
    assert cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell").code == 0
    try:
        script = "echo 1 > made && git add made && git -c user.name=w1 -c user.email=w1@example.com commit -qm made"
        cli("task", "create", "work", "--run", script)
        assert cli("team", "wait", "--timeout", str(STUCK)).code == 0, cli("task", "show", "1").out
        look = json.loads(cli("diff", "w1", "--json").out)
        assert [Path(file["path"]).name for file in look["files"]] == ["made"]
        merged = cli("member", "merge", "w1")
        assert merged.code == 0, merged
        assert git(folder, "log", "-1", "--format=%s", "--no-merges", "--topo-order") == "made"
        assert git(folder, "status", "--porcelain") == ""
    finally:
        ended = cli("team", "cleanup", "alpha", "--force")
    assert (ended.code, ended.err.count("kept: teams")) == (0, 0), ended
    assert git(folder, "worktree", "list").split()[0] == before.split()[0]
    assert git(folder, "branch", "--list", "teams/*") == ""
