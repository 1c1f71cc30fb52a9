"""One place looks at what is at a path (`pro0/looking.py`): pathlib and `os.path` take an unknown answer for a no."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.source import Modules, package, sample

PLACE = "pro0.looking"
OF_PATHS = {
    *("exists", "is_dir", "is_file", "is_symlink", "is_mount", "is_junction"),
    *("is_socket", "is_fifo", "is_block_device", "is_char_device"),
}
OF_OS = {"exists", "lexists", "isdir", "isfile", "islink", "ismount", "isjunction"}
OTHERS = {
    *("self.exists", "box.exists", "self.mailbox(name).exists", "row.exists"),
    *("team.exists", "self._team.exists", "context.team.exists", "self._context.team.exists"),
    *("store.team(name).exists", "self._store.team(name).exists", "TeamStore.exists"),
}
"""The same words of teams, mailboxes and panes, which are no paths."""
EXCEPTIONS = {
    ("pro0.installation", "is_file"): "the files of pro0 itself; its version is told whatever they answer",
    ("pro0.inotify", "entry.is_dir"): "an entry of a listed folder, which raises by itself",
    ("pro0.store.places.folder", "entry.is_dir"): "an entry of a listed folder, which raises by itself",
    ("pro0.guard.lookout", "os.path.isdir"): "a no means that the team is not missing; a guard imports next to nothing",
    ("pro0.guard.detached", "os.path.isdir"): "another folder to start in",
    ("pro0.guard.agent", "os.path.isfile"): "as a shell looks for a program: the next folder may have it",
    ("pro0.engine.opening.opening", "os.path.isfile"): "as a shell looks for a program",
    ("pro0.engine.opening.launch", "os.path.isdir"): "another folder to start in",
    ("pro0.engine.opening.early", "os.path.isdir"): "another folder to start in",
    ("pro0.engine.apply", "os.path.lexists"): "a no wakes the lead, which looks again",
    (
        "pro0.engine.uninstall.outside",
        "os.path.lexists",
    ): "what nobody may look at cannot be removed",
    ("pro0.worktrees.putting_back", "os.path.lexists"): "a no brings a file back only where git finds it changed too",
    ("pro0.ops.repair.repair_home", "os.path.lexists"): "a no is asked once more, of the team, which raises",
    ("pro0.ops.identity", "os.path.exists"): "every other unreadable document is none here too",
    ("pro0.link.calling", "os.path.exists"): "a no is no end: the folder is looked for next, and that must be sure",
}
"""Where an unknown answer may be a no, and why."""


def elsewhere(modules: Modules) -> Iterator[tuple[str, str, int]]:
    """Yield each look at a path outside of the one place: its module, the look, its line."""
    for name, tree in modules.items():
        for node in ast.walk(tree) if name != PLACE else ():
            if not isinstance(node, ast.Attribute):
                continue
            whole = ast.unparse(node)
            is_of_os = whole.startswith("os.path.") and node.attr in OF_OS
            if is_of_os or (node.attr in OF_PATHS and not whole.startswith("looking.") and whole not in OTHERS):
                yield name, whole if is_of_os or whole.startswith("entry.") else node.attr, node.lineno


def test_paths_are_looked_at_in_one_place() -> None:
    problems = [look for look in elsewhere(package()) if look[:2] not in EXCEPTIONS]
    assert not problems, "\n".join(f"{name}:{line} {look}" for name, look, line in problems)


def test_every_exception_is_one() -> None:
    assert set(EXCEPTIONS) == {look[:2] for look in elsewhere(package())}


@pytest.mark.parametrize(
    "source",
    [
        "(home / 'x').exists()",
        "Path(x).is_dir()",
        "any(map(Path.is_file, paths))",
        "paths.team.exists()",
        "os.path.lexists(path)",
        "path.is_symlink()",
        "path.exists(follow_symlinks=False)",
    ],
)
def test_a_look_elsewhere_is_found(source: str) -> None:
    assert list(elsewhere(sample(model=source)))


@pytest.mark.parametrize("source", ["looking.exists(path)", "team.exists()", "store.team(name).exists()"])
def test_another_question_passes(source: str) -> None:
    assert not list(elsewhere(sample(model=source)))
