"""What is left of a worker, whatever came between: each branch with commits is named, and a passing failure passes."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.engine.background.harvesting import Harvester
from pro0.engine.log import Log
from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, Pro0Error, Refused, StoreError
from pro0.git.commands import Git
from pro0.model.caller import THE_HUMAN
from pro0.model.decision import Harvest
from pro0.model.runtime import SeatState, State
from pro0.ops.context import clock, lead_context
from pro0.ops.tasks.acting import act
from pro0.ops.team import teams
from pro0.ops.work import checkouts, workers
from pro0.ops.work.workers import WorkerResult
from pro0.rules.tasks.acts import Act
from pro0.store.paths import worktree
from pro0.worktrees import Repository, branch_of, turns
from tests.engine.crew import Crew
from tests.faults import fail_with, fault_at
from tests.repositories import commit, git, put, repository_in

OWN, SAVED = "teams/t1/task-1", "teams/t1/saved-1"


class Field:
    """A worker that is over, with its worktree, and the harvester of its team."""

    def __init__(self, crew: Crew) -> None:
        self.crew, self.team = crew, crew.team
        repository_in(crew.project)
        [task] = workers.delegate(crew.context, [workers.draft("do it", agent="shell")])
        self.repository = Repository(crew.project)
        place = worktree(crew.store.home, "alpha", crew.config.uid, "t1")
        self.tree = self.repository.add(place, branch_of("t1", task.id)).path
        now = clock()
        self.state = SeatState("t1", 1, "inc-t1", State.EXITED, now, now, worktree=str(self.tree), branch=OWN)
        with self.team.runtime.change("a test") as change:
            change.value = replace(change.value, seats=(self.state,))
        self.harvest = Harvest("t1", "inc-t1", task.id, worktree=str(self.tree), branch=OWN)
        self.team.mailbox("t1").make()

    def end(self) -> None:
        """Settle its task."""
        act(self.crew.context, self.harvest.task, Act.CANCEL, "over")

    def collect(self) -> WorkerResult:
        """Harvest once, with a harvester that remembers nothing."""
        return Harvester(self.team, Log(self.team), lambda: None, lambda _: "")._collect(self.harvest)

    def recorded(self) -> WorkerResult:
        """Harvest once, and record it."""
        result = self.collect()
        workers.record_result(lead_context(self.team), self.harvest, result, "")
        return result

    def kept(self) -> list[str]:
        """What a cleanup would name."""
        return checkouts.unmerged(self.team, self.crew.project)


@pytest.fixture
def field(alpha: Crew) -> Field:
    return Field(alpha)


def back(tree: Path) -> None:
    git(tree, "checkout", "-q", "HEAD~1")


def elsewhere(tree: Path) -> None:
    git(tree, "switch", "-q", "-c", "scratch", "main")


def back_with_a_file(tree: Path) -> None:
    back(tree)
    put(tree, "b", "1\n")


def elsewhere_with_a_commit(tree: Path) -> None:
    elsewhere(tree)
    commit(tree, "b", "1\n")


def elsewhere_and_back(tree: Path) -> None:
    elsewhere_with_a_commit(tree)
    git(tree, "switch", "-q", OWN)


def beyond(tree: Path) -> None:
    git(tree, "switch", "-q", "--detach")
    commit(tree, "b", "1\n")


ENDS: dict[str, tuple[Callable[[Path], None], list[str], int]] = {
    "on an earlier commit": (back, [OWN], 2),
    "on an earlier commit, with a file": (back_with_a_file, [OWN, SAVED], 2),
    "on a branch without commits": (elsewhere, [OWN], 2),
    "on a branch with a commit": (elsewhere_with_a_commit, [OWN, "scratch"], 2),
    "after a branch with a commit": (elsewhere_and_back, [OWN, "scratch"], 2),
    "on a later commit": (beyond, [SAVED], 3),
}


@pytest.mark.parametrize(("go", "names", "commits"), ENDS.values(), ids=ENDS)
def test_the_newest_commits_are_named_wherever_a_worker_ended(
    go: Callable[[Path], None], names: list[str], commits: int, field: Field
) -> None:
    """behaviour 2.20, 3.10"""
    for number in (1, 2):
        commit(field.tree, "a", f"{number}\n")
    go(field.tree)
    result = field.recorded()
    assert ([result.branch, *result.also], result.commits, result.left) == (names, commits, "")
    [report] = field.crew.notices(f"{commits} commits on {names[0]}: ")
    for name in names[1:]:
        assert f"{name} is not merged either; if it is good: git merge {name}" in report
    assert set(names) <= {*field.kept()}
    git(field.crew.project, "merge", "-q", *names)
    assert field.kept() == []


@pytest.mark.parametrize("how", ["its commit", "its branch"])
@pytest.mark.parametrize("does", ["look", "put", "commit"])
def test_who_looks_at_anothers_branch_is_not_said_to_have_made_it(how: str, does: str, field: Field) -> None:
    """As a reviewer: to merge its work would merge what nobody approved of."""
    project = field.crew.project
    other = field.repository.add(project.parent / "t2", branch_of("t2", "task-2"))
    tip = commit(other.path, "bad", "1\n")
    field.repository.remove(other.path, "saved")
    git(field.tree, "checkout", "-q", *(["--detach"] if how == "its commit" else []), other.branch)
    if does == "put":
        put(field.tree, "note", "1\n")
    elif does == "commit":
        commit(field.tree, "note", "1\n")
    result = field.recorded()
    on_it = does == "commit" and how == "its branch"
    assert result.branch == ("" if does == "look" else other.branch if on_it else SAVED)
    assert not result.also
    assert on_it or git(project, "rev-parse", other.branch) == tip
    if does != "look":
        assert git(project, "show", f"{result.branch}:note") == "1"


def test_work_is_named_also_while_the_project_is_on_a_branch_without_a_commit(field: Field) -> None:
    """behaviour 3.10: nothing is merged there, and git fails when it is asked what is"""
    commit(field.tree, "a", "1\n")
    git(field.crew.project, "checkout", "-q", "--orphan", "new")
    result = field.recorded()
    assert (result.branch, result.left) == (OWN, "")
    assert (result.commits, result.stat) == (1, "1 file changed, 1 insertion(+)"), "its own"
    assert field.kept() == [OWN]


def test_what_was_saved_is_named_also_when_it_was_not_recorded(field: Field) -> None:
    """The next try, perhaps of another lead, finds no worktree."""
    for number in (1, 2):
        commit(field.tree, "a", f"{number}\n")
    back_with_a_file(field.tree)
    first = field.collect()
    assert not field.tree.exists()
    assert field.collect() == first
    assert field.kept() == [SAVED, OWN]
    workers.record_result(lead_context(field.team), field.harvest, first, "")
    assert field.recorded() == first
    history = [entry.text for entry in field.crew.task("task-1").history if entry.act == "left"]
    assert history == [SAVED], "once"


def test_another_team_with_a_worker_of_that_name_keeps_its_own(field: Field) -> None:
    """behaviour 3.10: and so does a team that was there before"""
    tree = field.crew.project.parent / "elsewhere"
    for branch, when in (("teams/t1/task-7", "2020-01-01T00:00:00Z"), ("teams/t1/task-8", "")):
        git(field.crew.project, "worktree", "add", "-q", "-b", branch, str(tree))
        put(tree, "a", "1\n")
        git(tree, "add", "a")
        words = ["-c", f"user.name={branch}", "commit", "-qm", "a"]
        assert Git(tree, {"GIT_COMMITTER_DATE": when} if when else {}).attempt(*words)[0] == 0
        git(field.crew.project, "worktree", "remove", str(tree))
    assert field.kept() == ["teams/t1/task-8"]
    damaged = teams.create(field.crew.store, THE_HUMAN, teams.Home("a-damaged", field.crew.project)).team
    (damaged.paths.team / "store.json").write_text("{")
    assert field.kept() == ["teams/t1/task-8"], "a damaged team hides no branch"
    beta = teams.create(field.crew.store, THE_HUMAN, teams.Home("beta", field.crew.project)).team
    beta.mailbox("t1").make()
    with beta.runtime.change("a test") as change:
        change.value = replace(change.value, seats=(replace(field.state, branch="teams/t1/task-8"),))
    assert field.kept() == []
    assert checkouts.unmerged(beta, field.crew.project) == ["teams/t1/task-8"]


def test_what_another_teams_worker_of_that_name_saved_is_not_taken(field: Field) -> None:
    """behaviour 2.20: two teams in one project both have a t1, and both end while the other is at work"""
    other = field.repository.add(worktree(field.crew.store.home, "beta", "0123456789", "t1"), "teams/t1/task-7").path
    elsewhere_with_a_commit(other)
    put(other, "secret", "1\n")
    assert field.repository.remove(other, "saved") == SAVED
    commit(field.tree, "a", "1\n")
    back_with_a_file(field.tree)
    result = field.collect()
    assert (result.branch, result.also) == (OWN, ("teams/t1/saved-2",))


def test_a_lock_that_is_held_is_waited_for_at_the_next_try(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose work was only not saved yet must not be said to be one that cannot be saved."""
    put(field.tree, "a", "1\n")
    monkeypatch.setattr(turns, "PATIENCE", 0.1)
    with turns.alone(field.crew.project / ".git"), pytest.raises(StoreError) as held:
        field.collect()
    assert held.value.code is ErrorCode.LOCK_TIMEOUT
    assert (field.collect().branch, field.collect().left) == (OWN, "")


PASSING = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


@pytest.mark.parametrize("call", ["rev-parse", "add"])
@pytest.mark.parametrize("text", [*map(os.strerror, PASSING)])
def test_what_fails_git_for_a_while_passes(text: str, call: str, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    put(field.tree, "a", "1\n")
    attempt = Git.attempt

    def full(git: Git, *words: str) -> tuple[int, str]:
        errors = f"error: unable to write file x: {text}\nfatal: updating files failed"
        return (128, errors) if words[0] == call else attempt(git, *words)

    with monkeypatch.context() as patch:
        patch.setattr(Git, "attempt", full)
        with pytest.raises(EnvironmentMissing, match=text):
            field.collect()
    assert (field.collect().branch, field.collect().left) == (OWN, "")


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        (errno.EAGAIN, ("subprocess._fork_exec",)),
        (errno.ENOMEM, ("subprocess._fork_exec",)),
        (errno.EMFILE, ("subprocess._fork_exec", "open", "io.open", "listdir", "scandir")),
    ],
    ids=["no process", "no memory", "no descriptor"],
)
def test_a_worktree_is_saved_and_removed_once_the_system_has_room_again(
    code: int, calls: tuple[str, ...], field: Field
) -> None:
    """Behaviour 2.20: whatever could not begin or be opened at that moment, and nothing goes before it is named."""
    commit(field.tree, "a", "1\n")
    elsewhere_with_a_commit(field.tree)
    stashed = stash(field.tree)
    git(field.tree, "switch", "-q", OWN)
    put(field.tree, "c", "1\n")
    for number in count(1):
        was_there = field.tree.exists()
        with suppress(Pro0Error, OSError), fault_at(number, fail_with(code), calls) as shim:
            result = field.collect()
            assert (result.branch, result.commits, result.left) == (OWN, 2, ""), f"call {number}"
            assert not was_there or (result.also, result.stashes) == (("scratch",), (stashed,)), f"call {number}"
        if len(shim.seen) < number:
            break
    assert git(field.crew.project, "show", f"{OWN}:c") == "1"
    assert not field.tree.exists()


def undeletable(monkeypatch: pytest.MonkeyPatch, field: Field) -> None:
    """As with another user's file in an ignored folder: git forgets the worktree, and fails."""
    attempt = Git.attempt

    def failing(asked: Git, *words: str) -> tuple[int, str]:
        if words[:2] == ("worktree", "remove"):
            shutil.rmtree(Git(field.tree).private())
            return 255, f"error: failed to delete '{field.tree}': Permission denied"
        return attempt(asked, *words)

    monkeypatch.setattr(Git, "attempt", failing)


def test_a_file_that_cannot_be_deleted_hides_no_branch(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    git(field.tree, "switch", "-q", "-c", "feature")
    commit(field.tree, "a", "1\n")
    put(field.tree, "b", "1\n")
    undeletable(monkeypatch, field)
    result = field.recorded()
    assert (result.branch, result.commits, result.left) == (SAVED, 2, "")
    assert "cannot be deleted by pro0; its work is saved" in field.crew.notices(SAVED)[0]
    assert field.crew.task("task-1").worktree is None


def test_a_cleanup_says_what_cannot_be_deleted(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    put(field.tree, "b", "1\n")
    undeletable(monkeypatch, field)
    said: list[str] = []
    assert checkouts.clear(field.tree.parent, field.crew.project, said.append) == [OWN]
    assert said == [f"{field.tree} cannot be deleted by pro0; its work is saved"]


def test_a_cleanup_names_a_branch_that_the_member_had_left(field: Field) -> None:
    elsewhere_and_back(field.tree)
    assert checkouts.clear(field.tree.parent, field.crew.project, print) == ["scratch"]


def stash(at: Path, *words: str) -> str:
    """Change a file and stash it; return the name by which git finds the stash's commit."""
    put(at, "README", f"{words}\n")
    git(at, "stash", "push", "-q", *words)
    short = git(at, "rev-parse", "--short", "stash@{0}")
    return git(at, "rev-parse", "stash@{0}") if short.isdecimal() else short


def on_its_branch(tree: Path) -> str:
    return stash(tree)


def on_its_branch_then_elsewhere(tree: Path) -> str:
    commit = stash(tree, "-m", "a: b")
    elsewhere(tree)
    return commit


def on_a_branch_of_its_own(tree: Path) -> str:
    elsewhere(tree)
    commit = stash(tree)
    git(tree, "switch", "-q", OWN)
    return commit


def on_a_branch_that_it_renamed(tree: Path) -> str:
    elsewhere(tree)
    commit = stash(tree)
    git(tree, "branch", "-m", "better")
    return commit


def on_no_branch(tree: Path) -> str:
    git(tree, "switch", "-q", "--detach")
    return stash(tree)


def after_a_subject_of_two_lines(tree: Path) -> str:
    git(tree, "commit", "-q", "--allow-empty", "-m", "one\u2028two")
    return on_no_branch(tree)


def in_a_folder_that_is_gone(tree: Path) -> str:
    commit = stash(tree)
    shutil.rmtree(tree)
    return commit


def with_digits_alone(tree: Path) -> str:
    """Git takes such a name for a number in its list; one commit in twenty-seven has one."""
    for number in range(1000):
        named = stash(tree, "-m", f"try {number}")
        if len(named) > len("0123456"):
            return named
        git(tree, "stash", "drop", "-q")
    raise AssertionError("no commit has such a name")


STASHED = (
    *(on_its_branch, on_its_branch_then_elsewhere, on_a_branch_of_its_own, on_a_branch_that_it_renamed),
    *(on_no_branch, after_a_subject_of_two_lines, in_a_folder_that_is_gone, with_digits_alone),
)


@pytest.mark.parametrize("how", STASHED, ids=lambda how: how.__name__)
def test_a_stash_is_named_when_its_worktree_goes(how: Callable[[Path], str], field: Field) -> None:
    """behaviour 2.20, 3.10: git keeps it, and later ones change its number; nobody else's is named."""
    project = field.crew.project
    other = field.repository.add(project.parent / "t2", branch_of("t2", "task-2"))
    others = {stash(project), stash(other.path)}
    named = how(field.tree)
    if field.tree.exists():
        assert not field.repository.remove_unused(field.tree)
    assert field.recorded().stashes == (named,)
    [report] = field.crew.notices(f"a stash of t1 is kept; if it is good: git stash apply {named}")
    assert not [commit for commit in others if commit in report]
    git(project, "stash", "apply", "-q", named)
    assert git(project, "status", "--porcelain", "-uno") == "M README"


@pytest.mark.usefixtures("in_tables")
@pytest.mark.parametrize("how", STASHED, ids=lambda how: how.__name__)
def test_a_stash_is_named_also_where_refs_are_in_tables(how: Callable[[Path], str], field: Field) -> None:
    test_a_stash_is_named_when_its_worktree_goes(how, field)


def test_a_stash_is_named_also_when_the_harvest_was_not_recorded(field: Field) -> None:
    commit = stash(field.tree)
    field.collect()
    assert field.recorded().stashes == (commit,)


def test_a_cleanup_names_a_stash(field: Field) -> None:
    """behaviour 3.10"""
    commit, said = stash(field.tree), list[str]()
    assert checkouts.clear(field.tree.parent, field.crew.project, said.append) == []
    assert said == [f"a stash of t1 is kept; if it is good: git stash apply {commit}"]


def test_a_stash_of_an_earlier_worktree_is_not_named(field: Field) -> None:
    """Branches are named anew, and git keeps a stash for as long as nobody drops it."""
    stash(field.tree)
    made, later = Git(field.tree).private() / "commondir", clock().timestamp() + 60
    os.utime(made, (later, later))
    assert field.repository.remove_unused(field.tree)


def test_a_stash_that_was_taken_back_is_not_named(field: Field) -> None:
    stash(field.tree)
    git(field.tree, "stash", "pop", "-q")
    assert field.recorded().stashes == ()


def test_what_somebody_saved_by_hand_can_be_merged(field: Field) -> None:
    inner = field.tree / "inner"
    commit(field.tree, "a", "1\n")
    git(field.tree, "init", "-q", "inner")
    field.recorded()
    act(field.crew.context, "task-1", Act.CANCEL)
    with pytest.raises(Refused, match="could not be saved"):
        workers.merge(field.crew.context, "task-1")
    shutil.rmtree(inner)
    git(field.crew.project, "worktree", "remove", str(field.tree))
    workers.merge(field.crew.context, "task-1")
    assert (field.crew.project / "a").read_text() == "1\n"


def test_a_branch_that_somebody_else_has_taken_away_is_noted_once(field: Field) -> None:
    """behaviour 2.20: merged and removed by hand"""
    commit(field.tree, "a", "1\n")
    field.end()
    field.recorded()
    git(field.crew.project, "merge", "-q", OWN)
    git(field.crew.project, "branch", "-q", "-d", OWN)
    with pytest.raises(NotFound, match=f"the branch {OWN} no longer exists"):
        workers.merge(field.crew.context, "task-1")
    assert field.crew.task("task-1").branch is None
    with pytest.raises(NotFound, match="has left no unmerged work"):
        workers.merge(field.crew.context, "task-1")


def test_what_was_saved_by_hand_is_merged(field: Field) -> None:
    """behaviour 2.20: the folder that could not be saved is gone, as its hint says"""
    commit(field.tree, "a", "1\n")
    git(field.tree, "init", "-q", "inner")
    field.end()
    assert (field.recorded().commits, field.crew.task("task-1").worktree) == (1, str(field.tree))
    [report] = field.crew.notices("1 commit on teams/t1/task-1: 1 file changed")
    assert "merge it" not in report
    for _ in range(2):
        with pytest.raises(Refused, match="could not be saved"):
            workers.merge(field.crew.context, "task-1")
        shutil.rmtree(field.tree, ignore_errors=True)
    git(field.crew.project, "worktree", "remove", str(field.tree))
    task = workers.merge(field.crew.context, "task-1")
    assert (task.branch, task.worktree) == (None, None)
    assert (field.crew.project / "a").exists()


def test_what_cannot_be_saved_is_left(field: Field) -> None:
    put(field.tree, "a", "1\n")
    git(field.tree, "init", "-q", "inner")
    result = field.collect()
    assert (result.branch, "contains another git repository" in result.left) == (OWN, True)
    assert (field.tree / "a").exists()
