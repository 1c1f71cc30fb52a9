"""Start-up: what a command imports, exactly (must show 10); counts, never times."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.cli.conftest import make, seat
from tests.waiting import STUCK

THIRD_PARTY = {"click", "msgspec", "filelock"}
FAT = {"asyncio", "multiprocessing", "concurrent", "subprocess", "yaml", "rich", "psutil", "libtmux", "watchfiles"}
FAT |= {"http", "email", "ssl", "sqlite3", "json", "tempfile", "difflib", "unittest", "pydoc", "argparse", "textual"}
FAT |= {
    "psycopg",
    "pro0.store.database.documents",
    "pro0.engine",
    "pro0.sessions",
    "pro0.cli.demo.command",
    "pro0.tui",
    "pro0.web",
}
CODE = """
import sys
from pro0.cli.main import main
code = main(sys.argv[1:])
print("MODULES", *sys.modules, file=sys.stderr)
raise SystemExit(code)
"""

ENDING = """
import atexit, sys
from pro0.cli.main import entry
atexit.register(print, "torn down")
sys.exit(entry())
"""
OF_PYTHON = sys.stdlib_module_names | {path.stem for path in Path(sysconfig.get_path("stdlib")).glob("*.py")}
"""What comes with Python; its own list may leave something out."""
FOR_CHANGES = {
    "pro0.config",
    "pro0.ops.trust",
    "pro0.ops.tasks.roles",
    "pro0.ops.tasks.drafts",
    "pro0.ops.team.members",
}
"""What reads settings, and makes roles and members."""


def modules(*arguments: str) -> set[str]:
    """Return what is imported once a command has run."""
    argv = [sys.executable, "-c", CODE, *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=STUCK, env=os.environ)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.partition("MODULES")[2].split())


def bare() -> set[str]:
    """Return what an interpreter imports by itself, site packages' own start-up hooks included."""
    argv = [sys.executable, "-c", "import sys; print('\\n'.join(sys.modules))"]
    return set(subprocess.run(argv, capture_output=True, text=True, timeout=STUCK).stdout.split())


def foreign(names: set[str]) -> set[str]:
    """Return the top-level packages that come neither with Python nor with pro0."""
    tops = {name.partition(".")[0] for name in names}
    return tops - OF_PYTHON - {"pro0", "__main__", "__mp_main__"}


@pytest.fixture
def ready(home: Path, project: Path) -> None:
    context = make(home, "alpha", project)
    seat(context, "w1")


def test_version_imports_what_tells_the_installation_alone() -> None:
    found = modules("--version") - bare()
    assert not foreign(found)
    assert not found & {"importlib.metadata", "json", "email"}
    ours = {name for name in found if name.startswith("pro0")}
    assert ours == {"pro0", "pro0.cli", "pro0.cli.interrupts", "pro0.cli.main", "pro0.installation"}


def test_help_imports_click_and_pro0_alone(home: Path) -> None:
    found = modules("--help") - bare()
    assert foreign(found) - {"typing_extensions"} <= {"click", "msgspec"}
    assert not {name for name in found if name.startswith(("pro0.ops", "pro0.store", "pro0.engine"))}


HOT = [("send", "w1", "hello"), ("inbox",), ("task", "create", "x"), ("task", "list"), ("team", "status")]


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("arguments", HOT, ids=" ".join)
def test_a_hot_command_imports_only_what_it_needs(arguments: tuple[str, ...]) -> None:
    thin(modules(*arguments) - bare())


@pytest.mark.usefixtures("ready")
def test_task_claim_imports_only_what_it_needs() -> None:
    modules("task", "create", "x")
    thin(modules("task", "claim", "1") - bare())


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("arguments", [("task", "list"), ("inbox", "--sent"), ("task", "ready")], ids=" ".join)
def test_a_command_that_only_reads_loads_nothing_for_locks_and_starts(arguments: tuple[str, ...]) -> None:
    """Issue 15, must show 3: without a running team a command is as quick as what it imports."""
    found = modules(*arguments) - bare()
    assert "filelock" not in found
    assert not {name for name in found if name.startswith("pro0.agents.")} - {"pro0.agents.drawings"}
    assert not found & FOR_CHANGES


@pytest.mark.usefixtures("ready")
def test_who_claims_loads_no_settings() -> None:
    modules("task", "create", "x")
    assert not modules("task", "claim", "1") & FOR_CHANGES


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(("arguments", "is_torn_down"), [(("task", "list"), False), (("config",), True)])
def test_a_short_command_does_not_wait_for_its_interpreter_to_end(
    arguments: tuple[str, ...], is_torn_down: bool
) -> None:
    """Taking 200 modules apart costs a third of a bare interpreter; what a longer command leaves may need it."""
    done = subprocess.run([sys.executable, "-c", ENDING, *arguments], capture_output=True, text=True, timeout=STUCK)
    assert (done.returncode, "torn down" in done.stdout) == (0, is_torn_down)


def thin(found: set[str]) -> None:
    """Fail for a third-party package that is not allowed, or a heavy module."""
    assert foreign(found) - {"typing_extensions", "filelock"} == THIRD_PARTY - {"filelock"}
    heavy = {name for name in found if any(name == fat or name.startswith(f"{fat}.") for fat in FAT)}
    assert not heavy


LEAD = """
import sys
import pro0.cli.main, pro0.cli.leading, pro0.engine.loop, pro0.rpc.server
import pro0.sessions.tmux.backend, pro0.sessions.tmux.server, pro0.agents.claude.adapter
print(*sys.modules)
"""
NEVER = {"asyncio", "multiprocessing", "yaml", "rich", "http", "email", "ssl", "sqlite3"}


def test_a_lead_imports_nothing_that_it_does_not_need() -> None:
    """Issue 15, must show 7: a team at work is as quick as what its lead imports before the first pane."""
    told = subprocess.run([sys.executable, "-c", LEAD], capture_output=True, text=True, timeout=STUCK, check=True)
    found = set(told.stdout.split()) - bare()
    assert foreign(found) - {"typing_extensions"} == THIRD_PARTY - {"click"} | {"libtmux"}
    assert not {name for name in found if name.partition(".")[0] in NEVER}
    others = {"codex", "gemini", "opencode", "pi"}
    assert not {name for name in found if name.startswith("pro0.agents.") and name.split(".")[2] in others}
