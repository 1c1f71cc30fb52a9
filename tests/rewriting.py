"""Tries mistakes in code that runs in processes of its own, or that tests start by name: the guard, and who is who.

mutmut's own way needs its code inside the mutated program, which a guard, started apart from all that is installed,
does not find. So here each mistake is written into the file of a copy of the program, and into the function that the
tests have loaded. The copy lies in `mutants/files`, and `tests.mutation` runs this as a plugin of pytest there.
"""

import difflib
import functools
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import venv
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import pytest

from tests.decorated import mutate_them
from tests.trying import Reach, forked, pairs, tried_once

ROOT = Path(__file__).parents[1]
FILES = ("mutants", "files")
PLACE = ROOT if ROOT.parts[-2:] == FILES else ROOT.joinpath(*FILES)
NOTICED_BY = PLACE / "noticed_by"
WANTED = "MUTANTS_TO_TRY"
NEAR = {
    "pro0/guard": ("tests/guard",),
    "pro0/ops/identity.py": ("tests/ops/test_who_asks.py", "tests/ops/test_identity.py"),
    "pro0/ops/ownership.py": ("tests/engine/test_strangers.py", "tests/engine/test_cleanup.py"),
    "pro0/ops/withheld.py": ("tests/ops/test_withheld.py",),
    "pro0/ops/holders.py": ("tests/ops/test_who_asks.py", "tests/ops/test_identity.py"),
}
"""What is given mistakes so, and the tests that should notice them."""
APART = ("pro0/guard", "pro0/ops/identity.py")
"""What runs in processes of its own, where nobody sees which test reaches which function."""
SPECIAL = {
    f"pro0/guard/{name}.py": tuple(f"tests/{test}.py" for test in tests.split())
    for name, tests in {
        "agent": "guard/test_guard guard/test_starts guard/test_ends guard/test_terminals",
        "client": "guard/test_clients guard/test_terminals",
        "detached": "guard/test_detached guard/test_looks",
        "launch": "guard/test_launch_values guard/test_starts",
        "lookout": "guard/test_lookout guard/test_looks",
        "output": "guard/test_last_output guard/test_own_terminal guard/test_output",
        "pty": "guard/test_clients guard/test_terminals",
        "report": "guard/test_report guard/test_last_words guard/test_states",
        "run": "guard/test_guard guard/test_ends guard/test_starts guard/test_states guard/test_looks "
        "guard/test_terminals",
        "text": "guard/test_text guard/test_report guard/test_starts",
        "tree": "guard/test_tree guard/test_ends",
        "terminal": "guard/test_frames guard/test_own_terminal guard/test_visitors guard/test_terminals",
    }.items()
}
"""Of a room with many tests those that are about one file of it: the others would take the time."""
ENOUGH = 40
"""A mistake that lives through so many seconds of tests counts as alive."""


class Mistake(NamedTuple):
    """One mistake: its file, the function with it, the whole file with it, and how the page shows it."""

    file: str
    function: str
    source: str
    shown: str


def mistakes(file: str) -> list[Mistake]:
    """Return every mistake that mutmut makes in one file; of those that the page would show alike, one."""
    import libcst
    from mutmut.mutation.file_mutation import create_mutations, deep_replace

    mutate_them()
    source = (ROOT / file).read_text(encoding="utf-8")
    module, mutations, *_ = create_mutations(file, source)
    found = []
    for mutation in mutations:
        if mutation.contained_by_top_level_function is None:
            continue
        changed_module = deep_replace(module, mutation.original_node, mutation.mutated_node)
        code: str = libcst.ensure_type(changed_module, libcst.Module).code
        changed = [line for line in difflib.unified_diff(source.split("\n"), code.split("\n"), n=0) if line[:1] in "+-"]
        lines = "".join(f"    {line[0]} {line[1:].strip()}\n" for line in changed if line[:3] not in ("+++", "---"))
        number = next(
            n for n, (old, new) in enumerate(zip(source.split("\n"), code.split("\n"), strict=False), 1) if old != new
        )
        function = function_at(source, number)
        found.append(Mistake(file, function, code, f"    {file} {function}\n{lines}"))
    return list({mistake.shown: mistake for mistake in found}.values())


def function_at(source: str, number: int) -> str:
    """Return the name of the function around a line, with that of its class."""
    lines = source.split("\n")[:number]
    own = next(match for line in reversed(lines) if (match := re.match(r"( {4})?(?:async )?def (\w+)", line)))
    of_class = next(match[1] for line in reversed(lines) if (match := re.match(r"class (\w+)", line))) if own[1] else ""
    return f"{of_class}.{own[2]}".removeprefix(".")


def refused(found: list[Mistake]) -> set[str]:
    """Return which mistakes of one file mypy refuses: each is checked as a module beside it."""
    files = {PLACE / mistake.file.replace(".py", f"_{n}.py"): mistake for n, mistake in enumerate(found)}
    for path, mistake in files.items():
        path.write_text(mistake.source, encoding="utf-8")
    words = ["--no-error-summary", "--disable-error-code", "unused-ignore", *map(str, files)]
    said = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=PLACE, capture_output=True, text=True).stdout
    wrong = {line.partition(":")[0] for line in said.splitlines() if ": error:" in line}
    for path in files:
        path.unlink()
    return {mistake.shown for path, mistake in files.items() if str(path.relative_to(PLACE)) in wrong}


def copy() -> None:
    """Copy the program and its tests to where they are given mistakes; the Python there knows no other program."""
    shutil.rmtree(PLACE, ignore_errors=True)
    for part in ("pro0", "tests", "layouts", "docs"):
        shutil.copytree(ROOT / part, PLACE / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "SECURITY.md", "README.md"):
        shutil.copy(ROOT / name, PLACE / name)
    surroundings = PLACE / ".venv"
    venv.create(surroundings, symlinks=True)
    installed = sysconfig.get_path("purelib")
    (Path(installed.replace(sys.prefix, str(surroundings))) / "copy.pth").write_text(f"{PLACE}\n{installed}\n")
    program = (Path(sys.executable).parent / "pro0").read_text(encoding="utf-8").partition("\n")[2]
    (surroundings / "bin" / "pro0").write_text(f"#!{surroundings}/bin/python\n{program}", encoding="utf-8")
    (surroundings / "bin" / "pro0").chmod(0o755)


def files_of(area: str) -> list[str]:
    """Return the files of one area."""
    path = ROOT / area
    return [area] if path.is_file() else sorted(str(one.relative_to(ROOT)) for one in path.glob("*.py"))


def try_all(wanted: list[str]) -> None:
    """Try every mistake in the files whose names hold one of the wanted words, or in all."""
    copy()
    for area, tests in NEAR.items():
        for file in files_of(area):
            if wanted and not any(word in file for word in wanted):
                continue
            environment = os.environ | {WANTED: file, "PYTHONDONTWRITEBYTECODE": "1"}
            chosen = ["-q", "-s", "-p", "tests.rewriting", "-p", "no:cacheprovider", "-p", "no:xdist"]
            command = [str(PLACE / ".venv" / "bin" / "python"), "-m", "pytest", *chosen, *SPECIAL.get(file, tests)]
            subprocess.run(command, cwd=PLACE, env=environment, stdin=subprocess.DEVNULL)


def verdicts() -> dict[str, str]:
    """Return what became of each mistake, by how the page shows it: refused, killed or lives."""
    found: dict[str, str] = {}
    for path in sorted(PLACE.parent.glob("verdicts-*.json")):
        found |= json.loads(path.read_bytes())
    return found


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the mistakes of one file instead of running the tests."""
    if Path("/proc/1/comm").read_text() != "sh\n":
        pytest.exit("this wants a process name space of its own: python -m tests.mutation")
    file = os.environ[WANTED]
    path = PLACE / file
    found, original, became = mistakes(file), path.read_text(encoding="utf-8"), {}
    wrong = refused(found)
    looked = _looked(session, path)
    items = sorted((item for item in session.items if item.nodeid in looked), key=lambda i: looked[i.nodeid].seconds)
    for mistake in found:
        if mistake.shown in wrong:
            became[mistake.shown] = "refused"
            continue
        write(path, mistake.source)
        pid = forked(functools.partial(_try, session, mistake, list(_near(mistake, items, looked)), looked))
        became[mistake.shown] = "killed" if os.waitpid(pid, 0)[1] else "lives"
        end_the_rest()
        write(path, original)
        if NOTICED_BY.exists():  # what has noticed one mistake of a file is likely to notice the next
            noticed = NOTICED_BY.read_text(encoding="utf-8")
            items.sort(key=lambda item: item.nodeid != noticed)
        if became[mistake.shown] == "lives":
            print(f"lives:\n{mistake.shown}", flush=True)
    name = f"verdicts-{file.replace('/', '.')}.json"
    (PLACE.parent / name).write_text(json.dumps(became, indent=1), encoding="utf-8")
    print(file, {kind: list(became.values()).count(kind) for kind in sorted(set(became.values()))}, flush=True)
    return True


def write(path: Path, source: str) -> None:
    """Write one file anew; what is compiled of it would be taken for new when both are of one second and one size."""
    path.write_text(source, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()


def _near(mistake: Mistake, items: list[pytest.Item], looked: dict[str, Reach]) -> Iterator[pytest.Item]:
    """Yield the tests that are to notice a mistake, for a while, those first that are seen to reach it."""
    spent = 0.0
    reaching = [item for item in items if mistake.function in looked[item.nodeid].functions]
    apart = mistake.file.startswith(APART)
    for item in (*reaching, *(item for item in items if apart and item not in reaching)):
        if spent < ENOUGH:
            spent += looked[item.nodeid].seconds
            yield item


def _looked(session: pytest.Session, path: Path) -> dict[str, Reach]:
    """Return which functions each test reaches without a mistake, and its time; one that fails so is left out."""
    ours, theirs = os.pipe()
    reached: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename == str(path):
            reached.add(frame.f_code.co_qualname.partition(".<locals>")[0])

    def look() -> int:
        took = {}
        threading.setprofile(note)
        sys.setprofile(note)
        for item, following in pairs(session.items):
            start, session.testsfailed = time.monotonic(), 0
            reached.clear()
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                print(f"fails without any mistake: {item.nodeid}", file=sys.stderr)
            else:
                took[item.nodeid] = (time.monotonic() - start, sorted(reached))
        sys.setprofile(None)
        with open(theirs, "w") as out:
            json.dump(took, out)
        return 0

    pid = forked(look, quiet=False)
    os.close(theirs)
    with open(ours) as read:
        found = {name: Reach(*values) for name, values in json.load(read).items()}
    os.waitpid(pid, 0)
    return found


def _try(session: pytest.Session, mistake: Mistake, items: list[pytest.Item], looked: dict[str, Reach]) -> int:
    """Run tests until one fails, and fails again."""
    put_in(mistake)
    for item, after in pairs(items):
        if tried_once(session, item, after, looked[item.nodeid].seconds):
            NOTICED_BY.write_text(item.nodeid, encoding="utf-8")
            return 1
    return 0


def end_the_rest() -> None:
    """End what a mistake has left running; whatever is here, but for those above, was started by its tests."""
    above, pid = {1}, os.getpid()
    while pid > 1:
        above.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    for name in os.listdir("/proc"):
        if name.isdecimal() and int(name) not in above:
            with suppress(ProcessLookupError):
                os.kill(int(name), signal.SIGKILL)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def put_in(mistake: Mistake) -> None:
    """Put a mistake into the function that is loaded here, if it is."""
    name = mistake.file.removesuffix(".py").replace("/", ".")
    if (loaded := sys.modules.get(name)) is None:
        return
    changed = ModuleType(name)
    changed.__file__ = loaded.__file__
    exec(compile(mistake.source, str(loaded.__file__), "exec"), changed.__dict__)
    old, new = (plain(module, mistake.function) for module in (loaded, changed))
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def plain(module: ModuleType, name: str) -> FunctionType:
    """Return a function of a module, below its decorators."""
    found: Any = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    found = getattr(found, "__func__", None) or getattr(found, "fget", None) or found
    return inspect.unwrap(found)  # type: ignore[no-any-return]
