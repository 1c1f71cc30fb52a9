"""The traces of pro0 outside its home: skills, completion, scratch folders, sockets, branches, the program."""

import os
import re
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pro0 import installation, looking
from pro0.agents import adapter_named, own_tools
from pro0.engine.uninstall.trace import Trace, TraceFate, file_trace, folder_trace
from pro0.errors import Pro0Error
from pro0.model.agent import AGENTS
from pro0.ops.repair import repair_home
from pro0.ops.repair.evidence import entries
from pro0.rules.words.skill import NAME, SKILL
from pro0.store.teams import Store
from pro0.terminals import completion
from pro0.worktrees import Repository

COMPLETIONS = {"zsh": ".zfunc/_pro0", "fish": ".config/fish/completions/pro0.fish"}
"""The completion file of each shell that has a separate one."""
STARTUP_FILES = (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".config/fish/config.fish")
_SCRATCH = re.compile(r"pro0-(demo|hook|git|doctor)-[a-z0-9_]{8}")


def outside(store: Store, person: Path, projects: list[Path], environ: Mapping[str, str]) -> Iterator[Trace]:
    """Yield the traces outside the home, the program itself last."""
    for root in (person, *projects):
        yield from _skills(root)
    yield from _completion(person)
    for root, places in ((person, own_tools.OF_PERSON), *((project, own_tools.OF_PROJECT) for project in projects)):
        for place in own_tools.registered(root, places):
            yield Trace("MCP entry", place.file, TraceFate.YOURS, f"pro0 under {place.key}", place.removal)
    for project in projects:
        yield from _of_project(project)
    yield from _scratch()
    for path in repair_home.left_sockets(store):
        yield Trace("socket", str(path), TraceFate.REMOVED, "of a tmux server that is dead")
    cache = Path(environ.get("XDG_CACHE_HOME") or person / ".cache") / "pro0"
    if os.path.lexists(cache):
        yield folder_trace("cache", cache, "agent programs for pro0's own tests")
    installed = installation.here()
    yield Trace("program", sys.prefix, TraceFate.YOURS, installed.by, installed.remove)


def _skills(root: Path) -> Iterator[Trace]:
    folders = {adapter_named(name).skills for name in AGENTS} - {""}
    for path in (root / folder / NAME / "SKILL.md" for folder in sorted(folders)):
        if os.path.lexists(path):
            yield file_trace("skill", path, ours=_text(path) == SKILL)


def _completion(person: Path) -> Iterator[Trace]:
    for shell, path in ((shell, person / name) for shell, name in COMPLETIONS.items()):
        if os.path.lexists(path):
            yield file_trace("completion", path, ours=_text(path).strip("\n") == completion.script(shell))
    for path in (person / name for name in STARTUP_FILES):
        for number, line in enumerate(_text(path).splitlines(), 1):
            if "pro0 completion" in line:
                yield Trace("completion", str(path), TraceFate.YOURS, f"line {number}: {line.strip()}")


def _of_project(project: Path) -> Iterator[Trace]:
    folder = project / ".pro0"
    try:
        is_there = stat.S_ISDIR(folder.stat().st_mode)
        note = "settings, layouts and hooks of the project"
    except OSError as error:
        is_there = not isinstance(error, FileNotFoundError | NotADirectoryError)
        note = f"it cannot be examined: {error.strerror}"
    if is_there:
        yield Trace("project files", str(folder), TraceFate.YOURS, note)
    with suppress(Pro0Error):
        repository = Repository(project)
        for branch in repository.unmerged():
            yield Trace("branch", f"{branch} of {project}", TraceFate.KEPT, "it is not merged")


def _scratch() -> Iterator[Trace]:
    """Yield the temporary files that killed demos and commands have left, one trace for each kind."""
    for top in sorted({Path("/tmp").resolve(), Path(tempfile.gettempdir()).resolve()}):
        paths = list[Path]()
        with suppress(Pro0Error):  # this user may not be allowed to list the folder
            paths = entries(top)
        kinds = Counter(match[1] for path in paths if (match := _SCRATCH.fullmatch(path.name)) and _owned(path))
        for kind, number in sorted(kinds.items()):
            note = f"{number} left by killed commands, or in use by running commands, of any home"
            yield Trace("scratch", f"{top}/pro0-{kind}-*", TraceFate.YOURS, note)


def _owned(path: Path) -> bool:
    with suppress(OSError):
        return path.lstat().st_uid == os.geteuid()
    return False


def _text(path: Path) -> str:
    """Return the text of a small regular file, "" for anything else."""
    with suppress(OSError):
        if looking.is_file(path) and path.stat().st_size < 1 << 20:
            return path.read_text(encoding="utf-8", errors="replace")
    return ""
