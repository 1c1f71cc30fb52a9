"""A member's code on another machine: it goes there and comes home by git, to one branch, and nothing is lost."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from pro0.errors import EnvironmentMissing, Refused
from pro0.worktrees import travels
from pro0.worktrees.travels import Travelling
from pro0.worktrees.turns import alone
from tests.e2e.machines import called_with
from tests.repositories import commit, git, let_git_die, put
from tests.waiting import STUCK, wait_until

BRANCH = "teams/alpha/bob"
MEMBER = "alpha-1/bob"


class There:
    """The other machine: a home of its own, and the commands that reach it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tree = home / "worktrees" / MEMBER
        self.repository = home / "code" / "alpha-1.git"

    def command(self, act: str, *words: str, member: str = MEMBER) -> list[str]:
        """The command of one act there."""
        return ["env", f"PRO0_HOME={self.home}", sys.executable, "-m", "pro0", "hosted", act, member, *words]

    def do(self, act: str, *words: str, code: int = 0, member: str = MEMBER) -> str:
        """Do an act there, which must end with this code; return what it says."""
        done = subprocess.run(self.command(act, *words, member=member), capture_output=True, text=True, check=False)
        assert done.returncode == code, done
        return done.stdout + done.stderr


@pytest.fixture
def travelling(project: Path) -> Travelling:
    return Travelling(project)


@pytest.fixture
def there(tmp_path: Path, travelling: Travelling) -> There:
    """Bob's code, sent and made there."""
    there = There(tmp_path / "there")
    assert travelling.begin(BRANCH) == BRANCH
    travelling.send(BRANCH, "bob", there.command("receive"))
    there.do("make", "--branch", BRANCH)
    git(there.tree, "config", "user.name", "bob")
    git(there.tree, "config", "user.email", "bob@localhost")
    return there


def bring(travelling: Travelling, there: There, *words: str) -> str:
    """Bring bob's commits home."""
    return travelling.bring(BRANCH, "bob", there.command("give", "--branch", BRANCH, *words))


def test_a_branch_goes_there_and_its_commits_come_home(travelling: Travelling, there: There, project: Path) -> None:
    """Issue 19, build 3."""
    assert (there.tree / "README").read_text() == "hello\n"
    assert git(there.tree, "rev-parse", "--abbrev-ref", "HEAD") == BRANCH
    first = commit(there.tree, "a", "1\n")
    put(there.tree, "b", "not committed\n")
    assert bring(travelling, there) == first == git(project, "rev-parse", BRANCH)
    assert git(project, "for-each-ref", "--format=%(refname)", "refs/pro0") == ""
    second = bring(travelling, there, "--save")
    assert git(project, "show", f"{BRANCH}:b") == "not committed"
    there.do("leave", "--branch", BRANCH, "--tip", second)
    assert not (there.home / "worktrees").exists() or not list((there.home / "worktrees").iterdir())
    assert not (there.home / "code").exists()


@pytest.mark.parametrize(
    "kind",
    [
        "[init]\ndefaultObjectFormat = sha256",
        "[init]\ndefaultRefFormat = reftable",
        "[safe]\nbareRepository = explicit",
        "[push]\npushOption = ci.skip",
    ],
)
def test_a_machine_may_have_settings_of_its_own(kind: str, project: Path, tmp_path: Path) -> None:
    """The first three are as git 3 does by itself; the last is for a server that takes such options."""
    (tmp_path / "user" / ".gitconfig").write_text(f"{kind}\n")
    travelling, there = Travelling(project), There(tmp_path / "there")
    _goes_and_comes(travelling, there, project)


def test_a_shallow_clone_is_sent(project: Path, tmp_path: Path) -> None:
    """Git takes one only where `receive.shallowUpdate` says so."""
    commit(project, "later", "1\n")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", "shallow")
    shallow = tmp_path / "shallow"
    _goes_and_comes(Travelling(shallow), There(tmp_path / "there"), shallow)


def _goes_and_comes(travelling: Travelling, there: There, project: Path) -> None:
    travelling.begin(BRANCH)
    travelling.send(BRANCH, "bob", there.command("receive"))
    there.do("make", "--branch", BRANCH)
    put(there.tree, "b", "1\n")
    tip = bring(travelling, there, "--save")
    assert git(project, "show", f"{BRANCH}:b") == "1"
    there.do("leave", "--branch", BRANCH, "--tip", tip)
    assert not there.home.joinpath("code").exists()


def test_a_worktree_that_is_there_goes_on(travelling: Travelling, there: There, project: Path) -> None:
    """Issue 19, build 3: a new session finds what the last one left."""
    newest = commit(there.tree, "a", "1\n")
    put(there.tree, "b", "not committed\n")
    commit(project, "main", "goes on\n")
    travelling.send(BRANCH, "bob", there.command("receive"))
    there.do("make", "--branch", BRANCH)
    assert git(there.tree, "rev-parse", "HEAD") == newest
    assert (there.tree / "b").exists()


def test_nothing_is_removed_there_before_it_is_home(travelling: Travelling, there: There, project: Path) -> None:
    """Issue 19, build 3."""
    home_has = git(project, "rev-parse", BRANCH)
    newest = commit(there.tree, "a", "1\n")
    assert "commits that were not brought home" in there.do("leave", "--branch", BRANCH, "--tip", home_has, code=7)
    bring(travelling, there)
    put(there.tree, "b", "not committed\n")
    assert "not committed" in there.do("leave", "--branch", BRANCH, "--tip", newest, code=7)
    (there.tree / "b").unlink()
    git(there.tree, "switch", "-q", "-c", "aside")
    aside = commit(there.tree, "c", "1\n")
    git(there.tree, "switch", "-q", BRANCH)
    assert "keeps aside" in there.do("leave", "--branch", BRANCH, "--tip", newest, code=7)
    assert git(there.repository, "rev-parse", "aside") == aside


@pytest.mark.parametrize("kept", ["refs/stash", "refs/tags/mark"])
def test_what_is_on_no_branch_is_not_removed_there(
    kept: str, travelling: Travelling, there: There, project: Path
) -> None:
    """A stash or a tag may hold the only copy of some work (behaviour 3.32)."""
    put(there.tree, "README", "changed\n")
    git(there.tree, "stash", "push", "-q")
    if kept != "refs/stash":
        git(there.tree, "tag", "mark", "stash")
        git(there.tree, "stash", "drop", "-q")
    work, tip = git(there.tree, "rev-parse", kept), bring(travelling, there, "--save")
    assert f"keeps {kept}" in there.do("leave", "--branch", BRANCH, "--tip", tip, code=7)
    assert git(there.repository, "rev-parse", kept) == work


def test_a_worktree_that_was_made_by_half_brings_no_removals_home(
    travelling: Travelling, there: There, project: Path
) -> None:
    """What it lacks was not made yet, and nobody removed it (behaviour 3.32)."""
    git(there.repository, "worktree", "lock", "--reason", "initializing", str(there.tree))
    (there.tree / "README").unlink()
    tip = bring(travelling, there, "--save")
    assert tip == git(project, "rev-parse", "HEAD")
    there.do("leave", "--branch", BRANCH, "--tip", tip)
    assert not there.home.joinpath("code").exists()


def test_a_locked_worktree_is_removed_once_it_is_home(travelling: Travelling, there: There) -> None:
    """An agent may have locked it (behaviour 3.32)."""
    git(there.repository, "worktree", "lock", str(there.tree))
    there.do("leave", "--branch", BRANCH, "--tip", bring(travelling, there, "--save"))
    assert not there.tree.exists()


def test_two_may_bring_the_same_work_at_once(travelling: Travelling, there: There, project: Path) -> None:
    """A person, and the page beside (behaviour 3.32)."""
    newest = commit(there.tree, "a", "1\n")
    gives = there.command("give", "--branch", BRANCH)
    marks = [there.home / "first", there.home / "second"]
    noting = [["sh", "-c", f'"$@" && : >{mark}', "sh", *gives] for mark in marks]
    with ThreadPoolExecutor() as threads:
        with alone(project / ".git"):
            brought = [threads.submit(travelling.bring, BRANCH, "bob", command) for command in noting]
            wait_until(lambda: all(mark.exists() for mark in marks), STUCK, "both are there")
            wait_until(lambda: not called_with("+refs/pro0/back"), STUCK, "both have it, and none has taken it")
        assert [one.result(STUCK) for one in brought] == [newest, newest]
    assert git(project, "for-each-ref", "--format=%(refname)", "refs/pro0") == ""


def test_a_branch_that_somebody_has_checked_out_stays(travelling: Travelling, there: There, project: Path) -> None:
    """It contains itself, so it looks merged (behaviour 3.32)."""
    newest = commit(there.tree, "a", "1\n")
    bring(travelling, there)
    git(project, "switch", "-q", BRANCH)
    assert not travelling.drop(BRANCH)
    assert git(project, "rev-parse", "HEAD") == newest
    git(project, "switch", "-q", "-")
    git(project, "merge", "-q", BRANCH)
    assert travelling.drop(BRANCH)


def test_what_only_home_has_is_kept_beside(travelling: Travelling, there: There, project: Path) -> None:
    """Issue 19, build 3: a branch that was written anew there takes nothing from home."""
    first = commit(there.tree, "a", "1\n")
    bring(travelling, there)
    git(there.tree, "commit", "-q", "--amend", "-m", "anew")
    assert bring(travelling, there) == git(project, "rev-parse", BRANCH) != first
    assert git(project, "rev-parse", "teams/bob/saved-1") == first


@pytest.mark.parametrize("says", ["nothing", "no"])
@pytest.mark.parametrize("act", ["begin", "bring"])
def test_a_branch_that_git_does_not_see_for_a_moment_keeps_its_commits(
    act: str, says: str, travelling: Travelling, there: There, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git may die at the question, or say no where it cannot open what is there."""
    commit(there.tree, "a", "1\n")
    home_has = bring(travelling, there)
    git(there.tree, "switch", "-q", "--detach")  # the machine need not ask for the branch
    git(there.tree, "commit", "-q", "--amend", "-m", "anew")
    why = f"show-ref failed in {travelling.checkout}|already exists"
    if says == "no":
        monkeypatch.setattr(travelling, "has", lambda _: False)
    else:
        let_git_die(tmp_path / "programs", "show-ref", monkeypatch)
    with pytest.raises(EnvironmentMissing, match=why):
        travelling.begin(BRANCH) if act == "begin" else bring(travelling, there)
    assert git(travelling.checkout, "rev-parse", BRANCH) == home_has


def test_a_detached_head_comes_home_too(travelling: Travelling, there: There, project: Path) -> None:
    """Issue 19, build 3."""
    git(there.tree, "switch", "-q", "--detach")
    newest = commit(there.tree, "a", "1\n")
    bring(travelling, there)
    assert git(project, "rev-parse", BRANCH) == newest


def test_who_looks_at_an_earlier_commit_leaves_none_there(travelling: Travelling, there: There, project: Path) -> None:
    """behaviour 3.32: as here, the branch is its work, and an earlier commit is only looked at"""
    commit(there.tree, "a", "1\n")
    newest = commit(there.tree, "a", "2\n")
    git(there.tree, "checkout", "-q", "HEAD~1")
    assert bring(travelling, there, "--save") == newest == git(project, "rev-parse", BRANCH)
    there.do("leave", "--branch", BRANCH, "--tip", newest)
    assert not there.tree.exists()


def test_a_branch_that_is_not_home_keeps_the_worktree_there(
    travelling: Travelling, there: There, project: Path
) -> None:
    """behaviour 3.32: what is saved at an earlier commit is a line of its own, and only that comes home"""
    newest = commit(there.tree, "a", "1\n")
    git(there.tree, "checkout", "-q", "HEAD~1")
    put(there.tree, "b", "not committed\n")
    tip = bring(travelling, there, "--save")
    assert f"{BRANCH} has commits that were not brought home" in there.do(
        "leave", "--branch", BRANCH, "--tip", tip, code=7
    )
    assert git(there.tree, "rev-parse", BRANCH) == newest


def test_a_branch_that_began_elsewhere_brings_nothing_else_along(
    travelling: Travelling, there: There, project: Path
) -> None:
    """behaviour 6.2: as for a worktree here"""
    commit(project, "b", "main's\n")
    git(project, "branch", "release", "HEAD~1")
    began = travelling.begin("teams/alpha/ada")
    git(project, "switch", "-q", "release")
    with pytest.raises(Refused, match="began on main, and would bring that into release"):
        travelling.merge(began, "merged")
    assert travelling.drop(began), "nothing was done there"


def test_a_branch_in_use_at_home_is_left_alone(travelling: Travelling, there: There, project: Path) -> None:
    """Issue 19, build 3."""
    commit(there.tree, "a", "1\n")
    git(project, "switch", "-q", BRANCH)
    with pytest.raises(Refused, match="is checked out in"):
        bring(travelling, there)
    assert git(project, "status", "--porcelain") == ""


def refs(project: Path) -> list[str]:
    """Every ref of a repository, with its commit."""
    return git(project, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()


@pytest.mark.parametrize("act", ["exit 255", "echo nonsense", "exit 0", "printf 0000", "printf 0000; cat >/dev/null"])
def test_a_machine_that_gives_nothing_changes_nothing(act: str, travelling: Travelling, project: Path) -> None:
    """Issue 19, must show 4."""
    travelling.begin(BRANCH)
    before = refs(project)
    with pytest.raises(EnvironmentMissing):
        travelling.bring(BRANCH, "bob", ["sh", "-c", act])
    with pytest.raises(EnvironmentMissing):
        travelling.send(BRANCH, "bob", ["sh", "-c", act])
    assert refs(project) == before


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ("echo 'ssh: no route to host' >&2; exit 255", "^ssh: no route to host$"),
        ("echo 'pro0: bob is not here' >&2; echo 'hint: look' >&2; exit 3", "^bob is not here$"),
        ("printf 0000; cat >/dev/null", "^fatal: couldn't find remote ref"),
    ],
)
def test_a_banner_is_no_reason(act: str, says: str, travelling: Travelling) -> None:
    """What git and ssh say of themselves is no reason why nothing came home (behaviour 3.32)."""
    travelling.begin(BRANCH)
    with pytest.raises(EnvironmentMissing, match=says):
        travelling.bring(BRANCH, "bob", ["sh", "-c", f"echo 'Authorized use only' >&2; {act}"])


@pytest.mark.parametrize(
    ("act", "says"), [("exec sleep 1000", "does not answer in time"), ("yes >&2", "printed too much")]
)
def test_a_machine_that_does_not_end_is_given_up(
    act: str, says: str, travelling: Travelling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, must show 4: it keeps neither the person nor a lead waiting for ever, and no process is left."""
    monkeypatch.setattr(travels, "TRANSFER", 1.0 if "sleep" in act else STUCK)
    travelling.begin(BRANCH)
    command = ["sh", "-c", f"{act} # {BRANCH}", "to be found"]
    with pytest.raises(EnvironmentMissing, match=says):
        travelling.bring(BRANCH, "bob", command, travels.TRANSFER)
    with pytest.raises(EnvironmentMissing, match=says):
        travelling.send(BRANCH, "bob", command)
    wait_until(lambda: not called_with("to be found"), STUCK, "nothing is left")


@pytest.mark.parametrize(
    "key", ["url.ext::sh -c touch% MARK.insteadOf", "url.PLACE.insteadOf", "url.PLACE.pushInsteadOf"]
)
def test_settings_of_the_project_lead_git_nowhere_else(
    key: str, travelling: Travelling, there: There, project: Path, tmp_path: Path
) -> None:
    """Issue 19, must show 4: only the command that pro0 gives is run."""
    place = tmp_path / "place.git"
    git(tmp_path, "init", "-q", "--bare", str(place))
    git(project, "config", key.replace("MARK", str(tmp_path / "mark")).replace("PLACE", str(place)), "ssh://other/")
    commit(there.tree, "a", "1\n")
    with suppress(EnvironmentMissing):
        bring(travelling, there)
    with pytest.raises(EnvironmentMissing):
        travelling.send(BRANCH, "bob", there.command("receive"))
    assert not (tmp_path / "mark").exists()
    assert git(place, "for-each-ref") == ""


@pytest.mark.parametrize("name", ["../x/y", "a", "a/../b", "A/b", "a/b/c", "/a/b"])
def test_a_name_of_a_member_is_no_path(name: str, there: There) -> None:
    """Issue 19, must show 4."""
    assert "is no member of a team" in there.do("make", code=2, member=name)
