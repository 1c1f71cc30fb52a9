"""`pro0 uninstall`: everything that pro0 put anywhere is listed and taken away; work, and others' files, stay."""

import errno
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from pro0.cli.uninstall import command
from pro0.engine.cleanup import cleanup
from pro0.engine.uninstall import traces, uninstall
from pro0.errors import Refused
from pro0.model.task import Draft
from pro0.model.team import StorePointer
from pro0.ops.context import Context, clock
from pro0.ops.tasks import tasks
from pro0.rules.words.skill import SKILL
from pro0.store import paths
from pro0.store.files import File
from pro0.store.lease import Lease
from pro0.store.lock import locked
from pro0.store.paths import SERVER_LOCK, trees_of
from pro0.store.removal import archive
from pro0.store.removal import home as whole_home
from pro0.store.teams import Store
from pro0.web.running import ServerLock
from pro0.worktrees.travels import Guest
from tests.cli.conftest import Pro0, become, make, seat, tree
from tests.conftest import Result
from tests.faults import fail_about, fault_at
from tests.repositories import commit, git, repository_in
from tests.sharing import founded, joined

pytestmark = pytest.mark.usefixtures("scripts")
NOWHERE = "postgresql:///db?host=/nowhere"
SKILLS = (".claude", ".codex", ".gemini", ".config/opencode", ".pi/agent")


@pytest.fixture
def person(home: Path) -> Path:
    return Path(os.environ["HOME"])


@pytest.fixture
def used(home: Path, project: Path, pro0: Pro0, person: Path) -> Context:
    """A person's machine after some use: a team with worktrees, an archive, settings, skills, completion."""
    repository_in(project)
    for name in ("beta", "alpha"):
        context = make(home, name, project)
        tasks.create(context, [Draft(title="open")])
        if name == "beta":
            cleanup(Store(home), name, force=False, show=lambda _: None)
    assert pro0("agent", "install-skill").code == 0
    assert pro0("agent", "install-skill", "claude", "--project").code == 0
    assert pro0("config", "set", "bell", "false").code == 0
    assert pro0("role", "add", "tester", "--prompt", "test").code == 0
    zsh = person / ".zfunc" / "_pro0"
    zsh.parent.mkdir()
    zsh.write_text(pro0("completion", "zsh").out)
    (person / ".bashrc").write_text('alias x=y\neval "$(pro0 completion bash)"\n')
    (person / ".claude.json").write_text('{"mcpServers": {"pro0": {"command": "pro0"}, "other": {}}}')
    return context


def worktree(context: Context, project: Path, member: str) -> Path:
    path = trees_of(context.team.paths.home, "alpha", context.team.config.read().uid) / member
    git(project, "worktree", "add", "-q", "-b", f"teams/alpha/{member}", str(path))
    return path


def fates(pro0: Pro0) -> dict[tuple[str, str], str]:
    called = pro0("uninstall", "--show", "--json")
    assert called.code == 0, called
    return {(trace["kind"], trace["name"]): trace["fate"] for trace in json.loads(called.out)}


def skills(person: Path) -> list[Path]:
    return [person / folder / "skills/pro0/SKILL.md" for folder in SKILLS]


def test_all_is_listed_and_nothing_is_touched(used: Context, pro0: Pro0, home: Path, person: Path) -> None:
    before = tree(person), tree(home), tree(Path.cwd())
    listed = fates(pro0)
    removed = {key for key, fate in listed.items() if fate == "removed"}
    assert {("team", "alpha"), ("home", str(home)), ("completion", str(person / ".zfunc/_pro0"))} <= removed
    assert {
        ("skill", str(path)) for path in (*skills(person), Path(".claude/skills/pro0/SKILL.md").resolve())
    } <= removed
    assert [name for kind, name in removed if kind == "archive"] == [str(Store(home).archives()[0].path)]
    assert listed["completion", str(person / ".bashrc")] == "yours"
    assert listed["MCP entry", str(person / ".claude.json")] == "yours"
    text = pro0("uninstall", "--show").out
    for words in ('line 2: eval "$(pro0 completion bash)"', "claude mcp remove pro0", "with 1 open task"):
        assert words in text
    assert text.rstrip().splitlines()[-1].strip().startswith("rm -r "), "the program itself comes last"
    assert (tree(person), tree(home), tree(Path.cwd())) == before


def test_all_is_taken_away_but_what_others_wrote(used: Context, pro0: Pro0, home: Path, person: Path) -> None:
    done = pro0("uninstall", "--yes")
    assert done.code == 0, done
    assert done.out.endswith("pro0 is removed, except the program itself\n")
    assert not home.exists()
    left = {str(path.relative_to(person)) for path in person.rglob("*") if path.is_file()}
    assert {".bashrc", ".claude.json"} <= left
    assert not [name for name in left if "pro0" in name]
    assert not list(Path.cwd().rglob("SKILL.md"))
    assert git(Path.cwd(), "status", "--porcelain") == ""
    again = pro0("uninstall", "--yes")
    assert again.code == 0, again
    assert not home.exists()


def dirty(path: Path) -> None:
    (path / "unsaved").write_text("mine\n")


def unmerged(path: Path) -> None:
    commit(path, "new", "mine\n")


def nested(path: Path) -> None:
    (path / "inner").mkdir()
    repository_in(path / "inner")


def orphaned(path: Path) -> None:
    (path / ".git").write_text("gitdir: /nowhere/that/is\n")


@pytest.mark.parametrize("work", [dirty, unmerged, nested, orphaned])
def test_a_worktree_that_holds_work_stays_as_it_is(
    work: Callable[[Path], None], used: Context, pro0: Pro0, home: Path, project: Path
) -> None:
    idle, busy = worktree(used, project, "idle"), worktree(used, project, "busy")
    work(busy)
    before = tree(busy)
    assert fates(pro0)["worktree", str(busy)] == "kept"
    done = pro0("uninstall", "--yes")
    assert done.code == 7, done
    assert str(busy) in done.err
    assert tree(busy) == before
    assert not idle.exists()
    assert [path.name for path in home.iterdir()] == ["worktrees"], "all else is gone"
    branches = git(project, "branch", "--list", "teams/*")
    assert "teams/alpha/busy" in branches
    assert "teams/alpha/idle" not in branches


@pytest.fixture
def guest(home: Path, project: Path) -> Path:
    """The worktree here of a member of another machine's team, as that machine has sent it."""
    repository_in(project)
    repository, tree = paths.guest(home, "theirs-1/bob")
    tree.parent.mkdir(parents=True)
    there = Guest(repository, tree)
    git(project, "push", "-q", str(repository), "HEAD:refs/pro0/sent/bob")
    return there.make("teams/theirs/bob").path


def test_a_guests_worktree_goes_when_all_of_it_is_home(guest: Path, pro0: Pro0, home: Path) -> None:
    assert fates(pro0)["worktree", str(guest)] == "removed"
    done = pro0("uninstall", "--yes")
    assert done.code == 0, done
    assert not home.exists()


@pytest.mark.parametrize("work", [dirty, unmerged, nested, orphaned])
def test_a_guests_worktree_that_holds_work_stays_as_it_is(
    work: Callable[[Path], None], guest: Path, pro0: Pro0, home: Path
) -> None:
    work(guest)
    refs = ("for-each-ref", "--format=%(refname) %(objectname)")
    before = tree(guest), git(home / "code" / "theirs-1.git", *refs)
    assert fates(pro0)["worktree", str(guest)] == "kept"
    done = pro0("uninstall", "--yes")
    assert (done.code, str(guest) in done.err) == (7, True), done
    assert (tree(guest), git(home / "code" / "theirs-1.git", *refs)) == before
    assert sorted(path.name for path in home.iterdir()) == ["code", "worktrees"], "all else is gone"


def branched(guest: Path, _: Path) -> None:
    git(guest, "switch", "-q", "-c", "aside")
    commit(guest, "new", "mine\n")
    git(guest, "switch", "-q", "teams/theirs/bob")


def grown(guest: Path, elsewhere: Path) -> None:
    git(guest, "worktree", "add", "-q", "--detach", str(elsewhere))


@pytest.mark.parametrize(
    ("work", "words"),
    [(branched, "it keeps aside, with commits that were not brought home"), (grown, "it has the worktree")],
    ids=["branch", "worktree"],
)
def test_a_guests_repository_stays_for_what_else_it_holds(
    work: Callable[[Path, Path], None], words: str, guest: Path, pro0: Pro0, home: Path, tmp_path: Path
) -> None:
    work(guest, tmp_path / "elsewhere")
    repository = home / "code" / "theirs-1.git"
    assert fates(pro0)["repository", str(repository)] == "kept"
    assert words in pro0("uninstall", "--show").out
    done = pro0("uninstall", "--yes")
    assert (done.code, f"{repository} stays: {words}" in done.err) == (7, True), done
    assert not guest.exists()
    assert [path.name for path in home.iterdir()] == ["code"], "all else is gone"
    assert git(repository, "for-each-ref", "--format=%(refname)")


def test_a_repository_into_which_nothing_was_sent_goes(pro0: Pro0, home: Path) -> None:
    (home / paths.CODE / "theirs-1.git").mkdir(parents=True)
    (home / paths.CODE / "theirs-2.git").write_text("")
    paths.guest(home, "theirs-1/bob")[1].mkdir(parents=True)
    assert pro0("uninstall", "--yes").code == 0
    assert not home.exists()


def test_a_branch_that_is_not_merged_is_named(used: Context, pro0: Pro0, project: Path) -> None:
    git(project, "checkout", "-qb", "teams/alpha/w1")
    commit(project, "new", "mine\n")
    git(project, "checkout", "-q", "main")
    done = pro0("uninstall", "--yes")
    assert done.code == 7, done
    assert "teams/alpha/w1" in done.err
    assert git(project, "show", "teams/alpha/w1:new") == "mine"


def by_lead(context: Context) -> Callable[[], object]:
    lease = Lease(context.team.paths.team)
    assert lease.take("test")
    return lease.drop


def by_page(context: Context) -> Callable[[], object]:
    lock = ServerLock(context.team.paths.home)
    assert lock.take()
    return lock.drop


@pytest.fixture(params=[(by_lead, "alpha still runs", "pro0 team stop alpha"), (by_page, "pro0 web", "Ctrl+C")])
def running(request: pytest.FixtureRequest, used: Context) -> Iterator[tuple[str, str]]:
    start, *words = request.param
    end = start(used)
    yield words[0], words[1]
    end()


def test_nothing_is_removed_while_something_runs(
    running: tuple[str, str], pro0: Pro0, home: Path, person: Path
) -> None:
    before = tree(person), tree(home)
    refused = pro0("uninstall", "--yes")
    assert refused.code == 4, refused
    assert [part in refused.err for part in running] == [True, True]
    assert (tree(person), tree(home)) == before


def test_nothing_is_removed_while_nobody_knows_whether_the_page_is_served(
    used: Context, pro0: Pro0, home: Path, person: Path
) -> None:
    end, before = by_page(used), (tree(person), tree(home))
    try:
        with fault_at(None, fail_about(str(paths.web(home) / SERVER_LOCK), errno.EMFILE), ("open",)):
            refused = pro0("uninstall", "--yes")
        assert (refused.code, "Too many open files" in refused.err) == (5, True), refused
        assert (tree(person), tree(home)) == before
    finally:
        end()


@pytest.mark.parametrize(
    ("here", "note", "command"),
    [
        ("made", "two still takes part in {}", "pro0 host leave {} --machine two"),
        ("joined", "another machine made it, and this one takes part: leave it first", "pro0 host leave {}"),
    ],
)
def test_a_team_that_machines_share_is_left_first(
    here: str, note: str, command: str, pro0: Pro0, home: Path, project: Path, tmp_path: Path, database: str
) -> None:
    """And till then no other team is touched, though it comes first."""
    made = founded(home if here == "made" else tmp_path / "home-one", database)
    joined(made, "two", home if here == "joined" else None)
    tasks.create(make(home, "aaa", project), [Draft(title="keep me")])
    before = tree(home)
    shown = pro0("uninstall", "--show")
    assert shown.code == 0, shown
    assert [words.format(made.name) in " ".join(shown.out.split()) for words in (note, command)] == [True, True]
    refused = pro0("uninstall", "--yes")
    assert (refused.code, command.format(made.name) in refused.err) == (4, True), refused
    assert tree(home) == before


def test_what_others_put_there_stays(used: Context, pro0: Pro0, home: Path, person: Path, tmp_path: Path) -> None:
    """A skill with other words, links in place of files and of a folder, and a stranger's file in the home.

    And files of completion with lines of the person's own.
    """
    said, linked, *_ = skills(person)
    said.write_text("my own words\n")
    zsh, fish = person / ".zfunc" / "_pro0", person / ".config" / "fish" / "completions" / "pro0.fish"
    mine = {zsh: f"{zsh.read_text()}alias p=pro0\n", fish: "set -x _PRO0_COMPLETE=fish_complete\n"}
    fish.parent.mkdir(parents=True)
    for path, text in mine.items():
        path.write_text(text)
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text(SKILL)
    linked.unlink()
    linked.symlink_to(other / "file")
    (home / "notes.txt").write_text("mine\n")
    (home / "layouts").symlink_to(other)
    cache = person / ".cache"
    cache.mkdir()
    (cache / "pro0").symlink_to(other)
    assert fates(pro0)["file", str(home / "notes.txt")] == "kept"
    done = pro0("uninstall", "--yes")
    assert done.code == 0, done
    assert said.read_text() == "my own words\n"
    assert {path: path.read_text() for path in mine} == mine
    assert linked.is_symlink()
    assert (cache / "pro0").is_symlink()
    assert (other / "file").read_text() == SKILL, "what a link leads to is not ours"
    assert [path.name for path in home.iterdir()] == ["notes.txt"]


def test_a_home_that_is_a_link_is_refused(pro0: Pro0, home: Path, tmp_path: Path) -> None:
    home.rename(real := tmp_path / "real")
    make(real, "alpha", tmp_path)
    home.symlink_to(real)
    before = tree(real)
    refused = pro0("uninstall", "--yes")
    assert (refused.code, "symbolic link" in refused.err) == (6, True), refused
    assert tree(real) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_another_users_file_stops_it(used: Context, pro0: Pro0, home: Path) -> None:
    path = home / "tasks" / "alpha" / "tasks.json"
    os.chown(path, 12345, 12345)
    before = tree(home)
    refused = pro0("uninstall", "--yes")
    assert (refused.code, "belongs to another user" in refused.err) == (6, True), refused
    assert tree(home) == before


@pytest.mark.parametrize("document", ["runtime.json", "store.json"])
def test_a_team_that_cannot_be_read_stops_it(document: str, used: Context, pro0: Pro0, home: Path) -> None:
    """Whether it runs is not known then, and nobody guesses."""
    (used.team.paths.team / document).write_text("{")
    before = tree(home)
    assert fates(pro0)["team", "alpha"] == "kept"
    refused = pro0("uninstall", "--yes")
    assert (refused.code, "pro0 doctor" in refused.err) == (5, True), refused
    assert tree(home) == before


def test_a_removal_that_was_killed_is_finished(used: Context, pro0: Pro0, home: Path) -> None:
    team = used.team.paths.team
    team.rename(team.with_name(f".trash-alpha.{used.team.config.read().uid}"))
    (home / "teams" / ".new-gamma").mkdir()
    (home / ".tmp-0123").write_text("left")
    (home / "roles.json.corrupt-20260101T000000Z").write_text("left")
    assert pro0("uninstall", "--yes").code == 0
    assert not home.exists()


@pytest.mark.parametrize("begun", [paths.TRASH, paths.NEW], ids=["removed", "made"])
def test_a_team_whose_database_is_gone_stops_it_before_anything_is_removed(
    begun: str, used: Context, pro0: Pro0, home: Path
) -> None:
    """It is removed or made only by half, and what it has in the database cannot be taken away."""
    half_done = home / "teams" / f"{begun}gamma.uid-gamma"
    half_done.mkdir(mode=0o700)
    File(half_done, paths.STORE, StorePointer).create(StorePointer(url=NOWHERE, uid="uid-gamma"))
    before = tree(home)
    refused = pro0("uninstall", "--yes")
    assert (refused.code, "pro0 team cleanup gamma --force" in refused.err) == (5, True), refused
    assert tree(home) == before
    assert pro0("team", "cleanup", "gamma", "--force").code == 0
    assert pro0("uninstall", "--yes").code == 0
    assert not home.exists()


def test_a_project_that_cannot_be_looked_at_is_named(used: Context, pro0: Pro0, tmp_path: Path) -> None:
    """A look into a folder of somebody else fails as one at a name that is too long."""
    project = tmp_path / ("x" * 300)
    with used.team.config.change("a test") as change:
        change.value = replace(change.value, project=str(project))
    shown = pro0("uninstall", "--show")
    assert shown.code == 0, shown.err
    assert f"{project}/.pro0" in shown.out
    assert "it cannot be examined: File name too long" in shown.out


def test_it_asks_first(used: Context, pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pro0("uninstall").code == 6, "nobody is there to be asked"
    monkeypatch.setattr(command, "terminal", lambda: True)
    refused = pro0("uninstall", stdin="n\n")
    assert (refused.code, "nothing is removed" in refused.err) == (0, True), refused
    assert home.exists()
    assert pro0("uninstall", "--json").code == 2
    assert pro0("uninstall", stdin="y\n").code == 0
    assert not home.exists()


def another_team(used: Context) -> None:
    make(used.team.paths.home, "two", Path.cwd())


def another_task(used: Context) -> None:
    tasks.create(used, [Draft(title="six weeks of plans")])


def another_archive(used: Context) -> None:
    home = used.team.paths.home
    tasks.create(make(home, "two", Path.cwd()), [Draft(title="six weeks of plans")])
    cleanup(Store(home), "two", force=False, show=lambda _: None)


def another_worktree(used: Context) -> None:
    worktree(used, Path.cwd(), "new")


def another_skill(_used: Context) -> None:
    skill = Path(".codex/skills/pro0/SKILL.md")
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)


def one_archive_less(used: Context) -> None:
    store = Store(used.team.paths.home)
    store.forget(store.archives()[0])


def a_dead_server(_used: Context) -> None:
    """One of another home, maybe."""
    path = Path(os.environ["TMUX_TMPDIR"]) / f"tmux-{os.getuid()}" / "pro0-00000000"
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    os.utime(path, (time.time() - 3600, time.time() - 3600))


Meanwhile = Callable[[Context], None]


@pytest.fixture
def asked(used: Context, monkeypatch: pytest.MonkeyPatch) -> Callable[[Meanwhile], list[object]]:
    """Say yes to the question, but only after something has happened; all files as they were then are noted."""

    def say_yes(meanwhile: Meanwhile) -> list[object]:
        noted = list[object]()

        def confirm(_question: str, **_how: object) -> bool:
            meanwhile(used)
            noted.append(all_files())
            return True

        monkeypatch.setattr(command, "terminal", lambda: True)
        monkeypatch.setattr(click, "confirm", confirm)
        return noted

    return say_yes


def all_files() -> object:
    return tree(Path(os.environ["HOME"])), tree(Path(os.environ["PRO0_HOME"])), tree(Path.cwd())


@pytest.mark.parametrize(
    ("meanwhile", "named"),
    [
        (another_team, "team two"),
        (another_task, "team alpha with 2 open tasks"),
        (another_archive, "archive "),
        (another_worktree, "worktree "),
        (another_skill, "skill "),
    ],
)
def test_a_yes_counts_for_what_was_shown(
    meanwhile: Meanwhile, named: str, asked: Callable[[Meanwhile], list[object]], pro0: Pro0, home: Path
) -> None:
    """The question may wait for hours in a pane, and the list above it says nothing of what comes then."""
    noted = asked(meanwhile)
    refused = pro0("uninstall")
    assert (refused.code, named in refused.err) == (4, True), refused
    assert refused.err.endswith("hint: pro0 uninstall --show\n")
    assert noted == [all_files()]
    assert pro0("uninstall", "--yes").code == 0
    assert not home.exists()


@pytest.mark.parametrize("meanwhile", [one_archive_less, a_dead_server])
def test_what_harms_nobody_is_no_reason_to_ask_again(
    meanwhile: Meanwhile, asked: Callable[[Meanwhile], list[object]], pro0: Pro0, home: Path
) -> None:
    noted = asked(meanwhile)
    done = pro0("uninstall")
    assert (done.code, home.exists()) == (0, False), done
    assert noted


def test_a_removal_that_was_killed_is_no_news(used: Context, pro0: Pro0, home: Path) -> None:
    """Its archive comes about when it is finished, which is before the list."""
    uid = used.team.config.read().uid
    archive.begin(home, "alpha", uid, clock())
    used.team.paths.team.rename(home / "teams" / f"{paths.TRASH}alpha.{uid}")
    assert pro0("uninstall", "--yes").code == 0
    assert not home.exists()


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (another_team, "two was started in the meantime"),
        (another_archive, "was made in the meantime"),
        (by_page, "`pro0 web` serves the page of this home"),
    ],
)
def test_what_starts_while_teams_are_removed_keeps_the_home(
    start: Callable[[Context], Callable[[], object] | None], told: str, used: Context, home: Path
) -> None:
    """The tear-downs of their worktrees may take minutes."""
    ends, files = [], list[dict[str, bytes]]()

    def show(text: str) -> None:
        if text == "team alpha: removed":
            ends.append(start(used))
            files.append(tree(home))

    store = Store(home)
    with pytest.raises(Refused, match=told):
        uninstall(store, Path.cwd(), traces(store, Path.cwd()), show)
    assert files == [tree(home)]
    if ends[0]:
        ends[0]()
    uninstall(store, Path.cwd(), traces(store, Path.cwd()), lambda _: None)
    assert not home.exists()


def test_a_team_that_is_made_while_the_removal_waits_for_the_home_stays(
    used: Context, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever makes a team has the lock of the home till all of it is there."""

    def after_another(path: Path, why: str) -> AbstractContextManager[int]:
        another_team(used)
        return locked(path, why)

    monkeypatch.setattr(whole_home, "locked", after_another)
    store = Store(home)
    with pytest.raises(Refused, match="two was started in the meantime"):
        uninstall(store, Path.cwd(), traces(store, Path.cwd()), lambda _: None)
    assert store.team("two").config.read().name == "two"


def test_a_member_may_not(used: Context, pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seat(used, "w1")
    become(monkeypatch, used, "w1")
    for words in (["--yes"], ["--show"]):
        refused = pro0("uninstall", *words)
        assert (refused.code, refused.out) == (4, ""), refused
    assert home.exists()


def test_a_running_team_is_named_and_goes_when_it_is_stopped(
    cli: Callable[..., Result], home: Path, project: Path, person: Path
) -> None:
    assert cli("team", "start", "alpha", "--mode", "headless", "-m", "w1=shell").code == 0
    try:
        refused = cli("uninstall", "--yes")
        assert (refused.code, "pro0 team stop alpha" in refused.err) == (4, True), refused
        assert cli("member", "show", "w1").code == 0
        assert cli("team", "stop", "alpha").code == 0
        assert cli("uninstall", "--yes").code == 0
        assert not home.exists()
    finally:
        cli("team", "cleanup", "alpha", "--force")


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        (".claude.json", '{"projects": {"/p": {"mcpServers": {"pro0": {}}}}}', "claude mcp remove pro0 -s local"),
        (".codex/config.toml", '[mcp_servers.pro0]\ncommand = "pro0"\n', "codex mcp remove pro0"),
        (".gemini/settings.json", '{"mcpServers": {"pro0": {}}}', "gemini mcp remove pro0 -s user"),
        (".config/opencode/opencode.json", '{"mcp": {"pro0": {}}}', ""),
        (".claude.json", '{"mcpServers": {"other": {}}, "projects": []}', None),
        (".codex/config.toml", "[mcp_servers", None),
        (".gemini/settings.json", "[" * 100_000, None),
    ],
)
def test_an_entry_of_the_server_is_found(name: str, text: str, command: str | None, pro0: Pro0, person: Path) -> None:
    path = person / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    listed = json.loads(pro0("uninstall", "--show", "--json").out)
    assert [trace["command"] for trace in listed if trace["kind"] == "MCP entry"] == (
        [] if command is None else [command]
    )
    assert path.read_text() == text
