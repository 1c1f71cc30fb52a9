"""Git's settings, attributes and variables name programs in many places; a repository's are never run by our calls."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from pro0.diffs import difference, fork, pager, patch
from pro0.git.commands import Git
from pro0.worktrees import Repository, branch_of
from pro0.worktrees.contents import commit_all
from pro0.worktrees.travels import Travelling
from tests.cli.test_verdicts import typed
from tests.crash.lanes import a_few
from tests.repositories import commit, git, put, repository_in
from tests.test_travels import There

SETTINGS = {
    "file watcher": {"core.fsmonitor": "X"},
    "folder of hooks": {"core.hooksPath": "HOOKS"},
    "hook of the settings": {"hook.planted.command": "X", "hook.planted.event": "reference-transaction"},
    "ssh": {"core.sshCommand": "X", "remote.origin.url": "ssh://localhost/x", "remote.origin.promisor": "true"},
    "git proxy": {"core.gitProxy": "X", "remote.origin.url": "git://localhost/x", "remote.origin.promisor": "true"},
    "transport of its own": {
        "protocol.ext.allow": "always",
        "remote.origin.url": "ext::X",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
    },
    "other end": {
        "protocol.file.allow": "always",
        "remote.origin.url": "PROJECT",
        "remote.origin.uploadpack": "X",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
    },
    "remote helper": {
        "remote.origin.vcs": "planted",
        "remote.origin.url": "planted::x",
        "remote.origin.promisor": "true",
    },
    "packing": {"uploadpack.packObjectsHook": "X"},
    "alternates": {"core.alternateRefsCommand": "X"},
    "passwords": {"core.askPass": "X", "credential.helper": "!X", "credential.https://localhost.helper": "!X"},
    "pager": {"core.pager": "X", "pager.log": "X", "pager.status": "X", "pager.diff": "X", "pager.worktree": "X"},
    "editor": {"core.editor": "X", "sequence.editor": "X"},
    "external diff": {"diff.external": "X", "interactive.diffFilter": "X"},
    "diff driver": {"diff.planted.command": "X", "diff.planted.textconv": "X"},
    "merge driver": {"merge.planted.driver": "X", "merge.default": "planted"},
    "clean filter": {"filter.planted.clean": "X"},
    "smudge filter": {"filter.planted.smudge": "X"},
    "filter process": {"filter.planted.process": "X", "filter.planted.required": "true"},
    "a filter of a known name": {"filter.lfs.clean": "X", "filter.lfs.smudge": "X", "filter.lfs.process": "X"},
    "signing": {"commit.gpgSign": "true", "gpg.program": "X", "gpg.ssh.program": "X", "merge.verifySignatures": "true"},
    "signing by ssh": {"commit.gpgSign": "true", "gpg.format": "ssh", "gpg.ssh.defaultKeyCommand": "X"},
    "signatures shown": {"log.showSignature": "true", "gpg.program": "X"},
    "submodules": {"submodule.sub.update": "!X", "submodule.recurse": "true", "submodule.sub.active": "true"},
    "aliases": {
        f"alias.{word}": "!X" for word in ("status", "worktree", "merge", "add", "diff", "commit-tree", "read-tree")
    },
    "trailers": {"trailer.planted.command": "X", "trailer.planted.cmd": "X"},
    "tools": {
        "difftool.planted.cmd": "X",
        "mergetool.planted.cmd": "X",
        "diff.tool": "planted",
        "merge.tool": "planted",
    },
    "mail and web": {"sendemail.smtpServer": "X", "instaweb.httpd": "X", "man.planted.cmd": "X", "browser.x.cmd": "X"},
    "tidying": {"gc.auto": "1", "maintenance.auto": "true", "gc.recentObjectsHook": "X"},
    "another work tree": {"core.worktree": "ELSEWHERE", "core.fsmonitor": "X"},
    "a file that is taken in": {"include.path": "INCLUDED"},
    "a file that is taken in on a branch": {"includeIf.onbranch:**.path": "INCLUDED"},
    "attributes elsewhere": {
        "core.attributesFile": "ATTRIBUTES",
        "filter.planted.clean": "X",
        "filter.planted.smudge": "X",
    },
}
VARIABLES = {
    "GIT_SSH_COMMAND": "X",
    "GIT_SSH": "X",
    "GIT_EXTERNAL_DIFF": "X",
    "GIT_ASKPASS": "X",
    "SSH_ASKPASS": "X",
    "GIT_PAGER": "X",
    "PAGER": "X",
    "GIT_EDITOR": "X",
    "EDITOR": "X",
    "VISUAL": "X",
    "GIT_SEQUENCE_EDITOR": "X",
    "GIT_PROXY_COMMAND": "X",
    "GIT_EXEC_PATH": "HOOKS",
    "GIT_TEMPLATE_DIR": "HOOKS",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=X' 'filter.planted.clean=X' 'filter.planted.smudge=X'",
    "GIT_CONFIG_COUNT": "1 core.fsmonitor X",
    "GIT_ATTR_SOURCE": "HEAD",
}


class Planted:
    """A project whose every file asks for filters and drivers, and a program that notes when it is run."""

    def __init__(self, tmp_path: Path) -> None:
        self.at, self.trees, self.ran = tmp_path / "project", tmp_path / "trees", tmp_path / "ran"
        self.program, self.hooks = tmp_path / "planted", tmp_path / "hooks"
        self.at.mkdir()
        self.hooks.mkdir()
        self.write(self.program)
        repository_in(self.at)
        put(self.at, "one", "1\n")
        commit(self.at, ".gitattributes", "* filter=planted diff=planted merge=planted\nlarge filter=lfs\n")
        for name in HOOKS:
            self.write(self.hooks / name)

    def write(self, at: Path) -> None:
        at.write_text(f'#!/bin/sh\necho "$0 $@" >> {self.ran}\ncat 2>/dev/null\nexit 0\n')
        at.chmod(0o755)

    def meant(self, said: str) -> str:
        included = self.at.parent / "included"
        included.write_text(
            f'[core]\nfsmonitor = {self.program}\n[filter "planted"]\nclean = {self.program}\nsmudge = {self.program}\n'
            f'[merge "planted"]\ndriver = {self.program}\n'
        )
        attributes = self.at.parent / "attributes"
        attributes.write_text("* filter=planted\n")
        (self.at.parent / "elsewhere").mkdir(exist_ok=True)
        names = {"HOOKS": self.hooks, "PROJECT": self.at, "INCLUDED": included, "ATTRIBUTES": attributes}
        names |= {"ELSEWHERE": self.at.parent / "elsewhere", "X": self.program}
        return re.sub("|".join(names), lambda found: str(names[found[0]]), said)

    def use(self) -> None:
        """Do everything that we ever do with a repository."""
        repository = Repository(self.at)
        ada, ben = (repository.add(self.trees / name, branch_of("alpha", name)) for name in ("ada", "ben"))
        assert (ada.path / "one").read_text() == "1\n", "its files are there"
        repository.add(ada.path, ada.branch, adopt=True)
        put(ada.path, "two", "2\n")
        put(ada.path, "large", "big\n")
        put(ada.path, "one", "3\n")
        os.utime(self.at / "one", (1, 1))
        line = fork(self.at, ada.path)
        assert [change.path for change in difference(line).files] == ["large", "one", "two"]
        assert b"".join(patch(line)).count(b"diff --git ") == 3
        usual = "less" if shutil.which("less") else ""
        assert pager(ada.path) in (usual, str(self.program)), "of the person's variables"
        assert not repository.remove_unused(ada.path)
        assert repository.remove_unused(ben.path)
        assert repository.remove(ada.path, "what was not committed") == ada.branch
        assert repository.unmerged() == (ada.branch,)
        assert repository.measure(ada.branch)[0] == 1
        assert repository.predict(ada.branch) == ()
        repository.merge(ada.branch, "merged")
        assert (self.at / "one").read_text() + (self.at / "two").read_text() == "3\n2\n"
        assert repository.drop(ada.branch)
        self.conflict(repository)
        self.travel()
        assert commit_all(Git(self.at), "HEAD", "nothing") == ""
        Git(self.at).run("log", "--format=%s")

    def travel(self) -> None:
        there = There(self.at.parent / "there")
        travelling = Travelling(self.at)
        branch = travelling.begin("teams/alpha/bob")
        travelling.send(branch, "bob", there.command("receive"))
        there.do("make", "--branch", branch)
        put(there.tree, "far", "1\n")
        tip = travelling.bring(branch, "bob", there.command("give", "--branch", branch, "--save"))
        there.do("leave", "--branch", branch, "--tip", tip)
        travelling.merge(branch, "merged")
        assert (self.at / "far").read_text() == "1\n"

    def conflict(self, repository: Repository) -> None:
        one, two = (repository.add(self.trees / name, branch_of("alpha", name)) for name in ("cleo", "dora"))
        for tree in (one, two):
            put(tree.path, "one", f"{tree.branch}\n")
            repository.remove(tree.path, "saved")
        repository.merge(one.branch, "merged")
        assert repository.predict(two.branch) == ("one",)

    def heard(self) -> str:
        return self.ran.read_text() if self.ran.exists() else ""


HOOKS = (
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-pre-submit",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
)


@pytest.fixture
def planted(tmp_path: Path, home: Path) -> Planted:
    return Planted(tmp_path)


@pytest.mark.parametrize("setting", a_few(SETTINGS, 12))
def test_no_program_of_a_repositorys_settings_runs(setting: str, planted: Planted) -> None:
    """Verdicts are a person's: what an agent writes into .git/config is not run by us."""
    for name, said in SETTINGS[setting].items():
        with (planted.at / ".git" / "config").open("a") as config:
            config.write(_as_config(name, planted.meant(said)))
    planted.use()
    assert planted.heard() == ""


@pytest.mark.parametrize("variable", a_few(VARIABLES, 6))
def test_no_program_of_a_variable_runs(variable: str, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    value, *more = (
        planted.meant(VARIABLES[variable]).split(" ")
        if variable.endswith("COUNT")
        else [planted.meant(VARIABLES[variable])]
    )
    monkeypatch.setenv(variable, value)
    for part, said in zip(("KEY", "VALUE"), more, strict=False):
        monkeypatch.setenv(f"GIT_CONFIG_{part}_0", said)
    planted.use()
    assert planted.heard() == ""


def test_no_hook_of_a_repository_runs(planted: Planted) -> None:
    for name in HOOKS:
        planted.write(planted.at / ".git" / "hooks" / name)
    planted.use()
    assert planted.heard() == ""


def test_the_settings_of_one_worktree_and_its_attributes_count_as_little(planted: Planted) -> None:
    git(planted.at, "config", "extensions.worktreeConfig", "true")
    for name in ("clean", "smudge", "process"):
        git(planted.at, "config", "--worktree", f"filter.planted.{name}", str(planted.program))
    (planted.at / ".git" / "info" / "attributes").write_text("* filter=planted merge=planted\n")
    planted.use()
    assert planted.heard() == ""


def test_the_planted_program_would_be_run_by_git_as_it_is(planted: Planted) -> None:
    """The test can fail: plain git runs what is planted."""
    git(planted.at, "config", "core.fsmonitor", str(planted.program))
    git(planted.at, "config", "filter.planted.smudge", str(planted.program))
    git(planted.at, "worktree", "add", "-q", str(planted.trees))
    git(planted.at, "status")
    assert len(planted.heard().splitlines()) > 1


def test_a_filter_of_the_persons_own_settings_has_no_terminal(planted: Planted, tmp_path: Path) -> None:
    """Rulings 5.6: a member may write ~/.gitconfig; beside a person's command what it names gives no verdict."""
    told = tmp_path / "told"
    asks = f"(: < /dev/tty) 2> /dev/null && echo one >> {told} || echo none >> {told}; cat"
    (tmp_path / "user" / ".gitconfig").write_text(f'[filter "planted"]\nclean = "{asks}"\n')
    (planted.at / "new").write_text("1\n")
    code = "import sys, pro0.git.commands as git, pathlib\nwith git.Git(pathlib.Path(sys.argv[1])).present(): pass"
    assert typed("-c", code, str(planted.at), program=sys.executable).code == 0
    assert set(told.read_text().split()) == {"none"}


def test_filters_of_the_persons_own_settings_go_on_to_work(planted: Planted, tmp_path: Path) -> None:
    """As those of LFS: what is checked out is smudged, what is saved is cleaned."""
    own = tmp_path / "user" / ".gitconfig"
    own.write_text('[filter "planted"]\nsmudge = sed s/1/one/\nclean = sed s/one/1/\n')
    tree = Repository(planted.at).add(planted.trees / "ada", branch_of("alpha", "ada"))
    assert (tree.path / "one").read_text() == "one\n"
    assert git(tree.path, "status", "--porcelain") == ""
    put(tree.path, "new", "one two\n")
    assert Repository(planted.at).remove(tree.path, "saved") == tree.branch
    assert git(planted.at, "show", f"{tree.branch}:new") == "1 two"


def test_who_a_person_is_and_which_folders_are_safe_are_their_own_word(
    planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(planted.at, "config", "--unset", "user.name")
    git(planted.at, "config", "--unset", "user.email")
    own = tmp_path / "elsewhere.gitconfig"
    own.write_text("[user]\nname = Ada\nemail = ada@localhost\n[safe]\ndirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    put(planted.at, "a", "1\n")
    saved = commit_all(Git(planted.at), "HEAD", "saved")
    assert git(planted.at, "show", "--no-patch", "--format=%an %ce", saved) == "Ada ada@localhost"
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ben")
    put(planted.at, "a", "2\n")
    assert git(planted.at, "show", "--no-patch", "--format=%an", commit_all(Git(planted.at), "HEAD", "saved")) == "Ben"


@pytest.mark.parametrize("kind", ["split index", "sparse checkout", "sha256", "windows lines", "excluded"])
def test_what_a_repository_says_of_its_files_counts(kind: str, tmp_path: Path, home: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main", *(["--object-format=sha256"] if kind == "sha256" else []))
    repository_in(project)
    commit(project, "in/a", "a\n")
    commit(project, "out/b", "b\n")
    if kind == "split index":
        git(project, "update-index", "--split-index")
    elif kind == "sparse checkout":
        git(project, "sparse-checkout", "set", "in")
    elif kind == "windows lines":
        git(project, "config", "core.autocrlf", "true")
    elif kind == "excluded":
        (project / ".git" / "info" / "exclude").write_text("*.o\n")
    repository = Repository(project)
    tree = repository.add(tmp_path / "ada", branch_of("alpha", "ada"))
    assert git(tree.path, "status", "--porcelain") == ""
    assert (tree.path / "out" / "b").exists() == (kind != "sparse checkout")
    assert (b"\r\n" in (tree.path / "in" / "a").read_bytes()) == (kind == "windows lines")
    put(tree.path, "in/new", "new\n")
    put(tree.path, "in/new.o", "made\n")
    assert repository.remove(tree.path, "saved") == tree.branch
    listed = git(project, "ls-tree", "-r", "--name-only", tree.branch).split()
    assert listed == ["README", "in/a", "in/new", *([] if kind == "excluded" else ["in/new.o"]), "out/b"]
    repository.merge(tree.branch, "merged")
    assert git(project, "status", "--porcelain") == ""
    assert (project / "in" / "new").exists()


def test_a_clone_that_lacks_objects_is_worked_in(tmp_path: Path, home: Path) -> None:
    """Only `remote.NAME.promisor` tells that they are elsewhere: git has not written the extension since 2.24."""
    (tmp_path / "user" / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@localhost\n")
    (origin := tmp_path / "origin").mkdir()
    repository_in(origin)
    git(origin, "config", "uploadpack.allowFilter", "true")
    commit(origin, "large", "b\n")
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{origin}", "project")
    git(tmp_path / "project", "sparse-checkout", "set", "--no-cone", "/*", "!/large")
    git(tmp_path / "project", "checkout", "-q")
    repository = Repository(tmp_path / "project")
    tree = repository.add(tmp_path / "ada", branch_of("alpha", "ada"))
    put(tree.path, "new", "1\n")
    assert [change.path for change in difference(fork(repository.checkout, tree.path)).files] == ["new"]
    assert repository.remove(tree.path, "saved") == tree.branch
    repository.merge(tree.branch, "merged")
    assert git(tmp_path / "project", "status", "--porcelain") == ""
    assert (tmp_path / "project" / "new").exists()


def test_a_group_can_add_to_the_objects_of_its_repository(project: Path, tmp_path: Path) -> None:
    """As `core.sharedRepository` says: a folder of objects that is closed to the others would stop their commits."""
    git(project, "config", "core.sharedRepository", "group")
    for number in range(20):
        put(project, f"a{number}", f"{number}\n")
    commit_all(Git(project), "HEAD", "saved")
    closed = [place for place in (project / ".git" / "objects").glob("??") if not place.stat().st_mode & 0o020]
    assert len(closed) <= 3, "those of the first commit were made before"


@pytest.mark.parametrize("given", ["", "large", "/srv/large"])
def test_large_files_and_attributes_are_where_the_settings_say(given: str, project: Path, tmp_path: Path) -> None:
    (tmp_path / "attributes").write_text("*.x eol=crlf\n")
    git(project, "config", "core.attributesFile", str(tmp_path / "attributes"))
    if given:
        git(project, "config", "lfs.storage", given)
    with Git(project).apart() as apart:
        assert apart.run("config", "lfs.storage") == str(project / ".git" / (given or "lfs"))
        assert apart.run("check-attr", "eol", "a.x") == "a.x: eol: crlf"


def test_nothing_else_of_the_program_runs_git() -> None:
    """One place builds git's words and environment; the first check of `doctor` asks for the version alone."""
    import pro0

    room = Path(pro0.__file__).parent
    told = {
        str(path.relative_to(room)): found
        for path in room.rglob("*.py")
        if (found := re.findall(r'["\']git["\'],[^)\n]*', path.read_text()))
    }
    assert set(told) == {"git/commands.py", "cli/doctor/checks.py"}
    assert told["cli/doctor/checks.py"][0].startswith('"git", "--version"')


def _as_config(name: str, value: str) -> str:
    section, _, key = name.rpartition(".")
    head, _, sub = section.partition(".")
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{head} "{sub}"]\n{key} = "{quoted}"\n' if sub else f'[{head}]\n{key} = "{quoted}"\n'
