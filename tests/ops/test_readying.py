"""Ready worktrees: the listed files are copied and nothing else, the set-up runs once, each member has its ports."""

import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from pro0.children import RUN
from pro0.errors import EnvironmentMissing, StoreError
from pro0.model.team import Seat
from pro0.ops.context import Context
from pro0.ops.work import readying
from pro0.ops.work.ports import SIZE, port_base
from pro0.worktrees import Repository, branch_of, include
from tests.cli.conftest import make, seat
from tests.forks import forking
from tests.repositories import commit, git, put, repository_in
from tests.waiting import STUCK, wait_until


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    repository_in(folder)
    commit(folder, ".gitignore", ".env\nsecret/\nnode_modules/\n*.key\n")
    return folder


def tree_of(project: Path, name: str = "ada") -> Path:
    return Repository(project).add(project.parent / "trees" / name, branch_of("alpha", name)).path


def files(tree: Path) -> set[str]:
    tracked = {"README", ".gitignore", ".worktreeinclude"}
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_symlink() or path.is_file()} - tracked


def test_only_listed_files_without_a_place_in_git_are_copied(project: Path) -> None:
    """L2: gitignore syntax with folders, marks and exceptions; modes stay; what is there is not written over."""
    commit(project, ".worktreeinclude", "# what a build needs\n.env\n/secret/**\n!secret/no\n*.key\nREADME\nnotes\n")
    for name in (".env", "secret/a/b", "secret/no", "in/x.key", "node_modules/m", "notes", "loose"):
        put(project, name, f"{name}\n")
    (project / ".env").chmod(0o600)
    put(project, "README", "changed\n")
    tree = tree_of(project)
    put(tree, "in/x.key", "its own\n")
    assert include(project, tree) == (4, ())
    assert files(tree) - {".git"} == {".env", "secret/a/b", "in/x.key", "notes"}
    assert (tree / ".env").stat().st_mode & 0o777 == 0o600
    assert (tree / "README").read_text() == "hello\n"
    assert (tree / "in" / "x.key").read_text() == "its own\n"


def test_what_was_copied_is_not_committed_for_the_member(project: Path) -> None:
    """A secret which git does not ignore must not come into a branch because pro0 copied it."""
    commit(project, ".worktreeinclude", "*.local\n")
    put(project, "a [b]!.local", "secret\n")
    tree = tree_of(project)
    include(project, tree)
    put(tree, "work", "1\n")
    left = Repository(project).remove(tree, "saved")
    assert git(project, "show", "--format=", "--name-only", left) == "work"


def links(project: Path, outside: Path) -> None:
    (project / "secret").mkdir()
    put(project, ".env", "x\n")
    for name, target in {
        "inside": "../.env",
        "absolute": str(project / ".env"),
        "outside": os.path.relpath(outside, project / "secret"),
        "git": "../.git/config",
        "nowhere": "../.env.none",
    }.items():
        (project / "secret" / name).symlink_to(target)


def test_no_link_leads_out_of_the_repository(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("not yours\n")
    commit(project, ".worktreeinclude", "secret/\n")
    links(project, outside)
    tree = tree_of(project)
    copied, skipped = include(project, tree)
    assert (copied, set(skipped)) == (2, {"secret/absolute", "secret/outside", "secret/git"})
    assert (tree / "secret" / "inside").readlink() == Path("../.env")


def test_nothing_is_written_through_a_link_of_the_worktree(project: Path, tmp_path: Path) -> None:
    """A committed link in place of a folder must not lead the copy elsewhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "conf").symlink_to(outside)
    commit(project, ".worktreeinclude", "conf/\n")
    tree = tree_of(project)
    git(project, "rm", "-q", "conf")
    put(project, "conf/x.key", "secret\n")
    assert include(project, tree) == (0, ("conf/x.key",))
    assert not list(outside.iterdir())


@pytest.mark.parametrize("kind", ["none", "link", "folder", "empty"])
def test_a_list_that_is_none_copies_nothing(kind: str, project: Path, tmp_path: Path) -> None:
    put(project, ".env", "x\n")
    place = project / ".worktreeinclude"
    if kind == "link":
        (tmp_path / "list").write_text("*\n")
        place.symlink_to(tmp_path / "list")
    elif kind == "folder":
        place.mkdir()
    elif kind == "empty":
        place.write_text("")
    assert include(project, tree_of(project)) == (0, ())


def test_each_member_has_ports_of_its_own(home: Path, project: Path) -> None:
    """The same in each session; a range is free again when its seat or team is gone."""
    teams = [make(home, name, project) for name in ("alpha", "beta")]
    bases = {}
    for context in teams:
        for name in ("w1", "w2"):
            seat(context, name)
            bases[context.team.name, name] = port_base(context.team, name)
    assert len(set(bases.values())) == 4
    assert all(base % SIZE == 0 and 20000 <= base < 32000 for base in bases.values())
    assert port_base(teams[0].team, "w1") == bases["alpha", "w1"]
    gone(teams[0])
    seat(teams[1], "w3")
    assert port_base(teams[1].team, "w3") == bases["alpha", "w1"]
    gone(teams[1])
    assert [path.name for path in home.rglob("*") if path.is_file()] == [".lock"]


def test_teams_that_ask_at_once_get_different_ports(home: Path, project: Path) -> None:
    teams = [make(home, name, project) for name in ("alpha", "beta", "gamma")]
    names = [f"w{number}" for number in range(1, 6)]
    for context in teams:
        for name in names:
            seat(context, name)
    asked = [(context.team, name) for name in names for context in teams] * 2
    with ThreadPoolExecutor(len(teams)) as pool:
        given = list(pool.map(lambda who: port_base(*who), asked))
    assert given[: len(asked) // 2] == given[len(asked) // 2 :]
    assert len(set(given)) == len(asked) // 2


def test_another_teams_damage_keeps_nobody_from_its_ports(home: Path, project: Path) -> None:
    """While nobody can tell which members are wanted, all keep theirs."""
    alpha, beta, gamma, delta = [make(home, name, project) for name in ("alpha", "beta", "gamma", "delta")]
    for context in (delta, alpha, beta, gamma):
        seat(context, "w1")
        port_base(context.team, "w1")
    (delta.team.paths.team / "store.json").write_text("{")
    alpha.team.ports.path.write_text("{")
    beta.team.wanted.path.write_text("{")
    seat(gamma, "w2")
    taken = {port_base(beta.team, "w1"), port_base(gamma.team, "w1"), delta.team.ports.read().ranges["w1"]}
    assert port_base(gamma.team, "w2") not in taken | {0}
    with pytest.raises(StoreError, match="corrupt"):
        port_base(alpha.team, "w1")


def gone(context: Context) -> None:
    from pro0.store.teams import Store

    Store(context.team.paths.home).discard(context.team.name, context.team.config.read().uid)


def test_a_projects_commands_wait_for_the_persons_yes(home: Path, project: Path) -> None:
    """A repository must not run a program because somebody starts a team in it."""
    from pro0.ops import trust

    context = make(home, "alpha", project)
    seat(context, "w1")
    put(project, ".pro0/config.yaml", "worktree: {setup: touch ran, teardown: touch ../torn}\n")
    tree = tree_of(project, "w1")
    wanted = next(one for one in context.team.wanted.read().seats if one.agent_id == "w1")
    readying.make_ready(context.team, wanted, tree)
    assert readying.tear_down(context.team, "w1", tree) == ""
    assert not (tree / "ran").exists()
    assert not (tree.parent / "torn").exists()
    trust.agree(home, project)
    other = tree_of(project, "w2")
    ready(context, wanted, other)
    assert (other / "ran").exists()
    assert readying.tear_down(context.team, "w1", other) == ""
    assert (other.parent / "torn").exists()


def ready(context: Context, wanted: Seat, tree: Path) -> None:
    readying.make_ready(context.team, wanted, tree)
    marks = tree / "ran"
    if marks.exists():
        marks.unlink()
        readying.make_ready(context.team, wanted, tree)
        assert not marks.exists(), "a worktree is made ready once"
        marks.touch()


def test_a_command_of_a_worktree_writes_into_no_other_checkout(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of git that calls pro0 has set where its own checkout is; the command means its worktree."""
    context, act = make(home, "alpha", project), "git add --all && git commit -qm torn"
    seat(context, "w1")
    put(home, "config.yaml", f"worktree: {{teardown: '{act}'}}\n")
    tree, before = tree_of(project, "w1"), git(project, "rev-parse", "HEAD")
    put(tree, "new", "its own\n")
    for name, value in {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": ""}.items():
        monkeypatch.setenv(name, str(project / value) if value else "")
    assert readying.tear_down(context.team, "w1", tree) == ""
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"):
        monkeypatch.delenv(name)
    assert git(project, "rev-parse", "HEAD") == before
    assert git(project, "status", "--porcelain") == ""
    assert git(tree, "show", "HEAD:new") == "its own"


def test_only_what_a_killed_lead_left_running_is_ended(home: Path, project: Path, tmp_path: Path) -> None:
    """A set-up may write its variables to a file that the person loads: what they start then is theirs."""
    context, variables, on = make(home, "alpha", project), tmp_path / "variables", tmp_path / "on"
    seat(context, "w1")
    wanted, tree = context.team.wanted.read().seats[0], tree_of(project, "w1")
    put(home, "config.yaml", f"worktree: {{setup: 'env > {variables}', teardown: 'true'}}\n")
    readying.make_ready(context.team, wanted, tree)
    tagged = dict(line.split("=", 1) for line in variables.read_text().splitlines() if line.startswith("PRO0_"))
    assert RUN in tagged
    with ExitStack() as stack:
        theirs = stack.enter_context(
            subprocess.Popen(["sleep", "600"], env={**os.environ, **tagged}, start_new_session=True)
        )
        stack.callback(theirs.kill)  # whatever is found wrong, nobody waits for it
        assert readying.tear_down(context.team, "w1", tree) == ""
        assert theirs.poll() is None
        put(home, "config.yaml", f"worktree: {{teardown: 'echo $$ > {on}.new; mv {on}.new {on}; exec sleep 600'}}\n")
        with forking():
            lead = os.fork()
        if not lead:
            readying.tear_down(context.team, "w1", tree)
            os._exit(1)
        wait_until(on.exists, STUCK, "it runs")
        os.kill(lead, signal.SIGKILL)
        os.waitpid(lead, 0)
        left = psutil.Process(int(on.read_text()))
        put(home, "config.yaml", "worktree: {teardown: 'true'}\n")
        assert readying.tear_down(context.team, "w1", tree) == ""
        psutil.wait_procs([left], STUCK)
        assert (left.is_running(), theirs.poll()) == (False, None)


def test_a_lead_killed_before_it_wrote_a_tag_left_nothing_running(home: Path, project: Path) -> None:
    """An empty tag is none: whatever has an empty variable is somebody else's."""
    context = make(home, "alpha", project)
    seat(context, "w1")
    tree = tree_of(project, "w1")
    put(home, "config.yaml", "worktree: {teardown: 'true'}\n")
    Path(git(tree, "rev-parse", "--absolute-git-dir"), "pro0-run").touch()
    with subprocess.Popen(["sleep", "600"], env={**os.environ, RUN: ""}, start_new_session=True) as theirs:
        assert readying.tear_down(context.team, "w1", tree) == ""
        assert theirs.poll() is None
        theirs.kill()


def test_how_far_a_set_up_is_can_be_seen(home: Path, project: Path, tmp_path: Path) -> None:
    """Its last line while it runs, nothing before and after; one which nobody wants any more is ended."""
    context = make(home, "alpha", project)
    seat(context, "w1")
    put(home, "config.yaml", f"worktree: {{setup: 'echo fetching; touch {tmp_path}/on; exec sleep 1000'}}\n")
    wanted = next(one for one in context.team.wanted.read().seats if one.agent_id == "w1")
    assert readying.progress(context.team, "w1") == readying.progress(context.team, "lead") == ""
    failed: list[str] = []

    def work() -> None:
        try:
            ready(context, wanted, tree)
        except EnvironmentMissing as error:
            failed.append(error.message)

    tree = tree_of(project, "w1")
    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: readying.progress(context.team, "w1") == "fetching", STUCK, "its line is seen")
    with context.team.wanted.change("test") as change:
        change.value = replace(change.value, seats=())
    thread.join(STUCK)
    assert failed == ["the set-up of its worktree failed: the member is no longer wanted: fetching"]
    assert readying.progress(context.team, "w1") == ""
