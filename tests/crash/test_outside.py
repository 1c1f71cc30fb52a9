"""From outside, through the program: full, read-only, too few files, too small files (issue 3, must show 2).

Each command that changes something ends with exit 5 and one sentence, or works; never with a traceback, never with a
document that is not as it was, never with a temporary file left.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.store.teams import Store
from tests.crash.lanes import counted
from tests.faults import temporary_files
from tests.teams import human, make_team
from tests.waiting import STUCK

COMMANDS = (
    ("task", "create", "another", "-t", "alpha"),
    ("task", "assign", "1", "w1", "-t", "alpha"),
    ("task", "claim", "1", "-t", "alpha"),
    ("task", "comment", "1", "a remark", "-t", "alpha"),
    ("send", "w1", "hello", "-t", "alpha"),
    ("broadcast", "hello", "-t", "alpha"),
    ("team", "pause", "alpha"),
)
BY_NAME = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
NOBODY = 65534
IS_ROOT = os.geteuid() == 0


@pytest.fixture
def store() -> Iterator[Path]:
    """A home with a team whose task list has more than 8 KiB, at a place that everybody can reach."""
    place = Path(tempfile.mkdtemp(prefix="pro0-", dir="/tmp"))
    place.chmod(0o755)
    team = make_team(place / "home", "w1")
    tasks.create(human(team), [Draft(title="one", description="x" * 10_000)])
    yield place / "home"
    for path in (place, *place.rglob("*")):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(place)


def documents(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*.json"))}


def run(home: Path, command: tuple[str, ...], limit: Callable[[], None] | None = None) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pro0", *command],
        capture_output=True,
        text=True,
        env=os.environ | {"PRO0_HOME": str(home), "HOME": str(home.parent)},
        preexec_fn=limit,
        timeout=STUCK,
    )
    return done.returncode, done.stdout + done.stderr


def judge(home: Path, before: dict[str, bytes], code: int, said: str, why: str) -> None:
    assert "Traceback" not in said, said
    assert code == 5, (code, said)
    assert why in said, said
    assert documents(home) == before
    assert temporary_files(home) == []


@BY_NAME
def test_a_file_may_not_grow(store: Path, command: tuple[str, ...]) -> None:
    """RLIMIT_FSIZE: the task list is longer, so what is written is cut short first, and fails then."""
    before = documents(store)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    code, said = run(store, command, limit)
    if command[0] == "task" and command[1] != "comment":
        judge(store, before, code, said, "EFBIG")
    else:  # these files are small
        assert code == 0, said
        assert documents(store) != before
    counted("test", "outside", f"RLIMIT_FSIZE {' '.join(command[:2])}", 1)


@BY_NAME
@pytest.mark.parametrize("files", [16, 6])
def test_few_files_may_be_open(store: Path, command: tuple[str, ...], files: int) -> None:
    """RLIMIT_NOFILE: 16 are enough; with so few that it fails, it says so, if Python itself comes so far."""
    before = documents(store)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    code, said = run(store, command, limit)
    if code == 0:
        assert documents(store) != before
    else:
        assert files < 16
        judge(store, before, code, said, "EMFILE")
    assert temporary_files(store) == []
    counted("test", "outside", f"RLIMIT_NOFILE {files} {' '.join(command[:2])}", 1)


DROPPED = """
import contextlib, os, sys
from pro0.cli.main import entry, main
spare, home = sys.argv.pop(1), sys.argv.pop(1)
os.environ["PRO0_HOME"] = spare
with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
    main(sys.argv[1:])  # all modules are loaded while they can be read
os.setgid({uid}); os.setuid({uid})
os.environ["PRO0_HOME"] = home
sys.exit(entry())
"""


@BY_NAME
def test_a_folder_is_read_only(store: Path, command: tuple[str, ...]) -> None:
    """Modes bind only who is not root, so root becomes somebody else first."""
    spare = store.with_name("spare")
    shutil.copytree(store, spare)
    for path in (store, *store.rglob("*")):
        if IS_ROOT:
            os.chown(path, NOBODY, NOBODY)
    for path in (store, *store.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = documents(store)
    program = [sys.executable, "-c", DROPPED.format(uid=NOBODY), str(spare), str(store), *command]
    if IS_ROOT:
        done = subprocess.run(program, capture_output=True, text=True, cwd="/", timeout=STUCK, env=_environment(store))
        code, said = done.returncode, done.stdout + done.stderr
    else:
        code, said = run(store, command)
    judge(store, before, code, said, "EACCES")
    counted("test", "outside", f"read-only {' '.join(command[:2])}", 1)


def _environment(store: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(store.parent), "PYTHONPATH": str(Path(__file__).parents[2])}


FULL = """
set -e
mount -t tmpfs -o size=400k,mode=700 none "$1"
cp -a "$2/." "$1/"
cat /dev/zero > "$1/filler" 2> /dev/null || true
shift 2
exec "$@"
"""


def may_mount() -> bool:
    if not IS_ROOT or not shutil.which("unshare"):
        return False
    with tempfile.TemporaryDirectory() as place:
        script = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {place}"]
        return subprocess.run(script, capture_output=True).returncode == 0


INSIDE = """
import os, subprocess, sys
from pathlib import Path
sys.path.insert(0, os.environ["ROOT"])
from tests.crash.test_outside import COMMANDS, documents, judge, run
home = Path(os.environ["PRO0_HOME"])
before = documents(home)
for command in COMMANDS:
    judge(home, before, *run(home, command), "ENOSPC")
(home / "filler").unlink()
for command in COMMANDS:
    code, said = run(home, command)
    assert code == 0, said
print("all", len(COMMANDS))
"""


@pytest.mark.skipif(not may_mount(), reason="a full tmpfs needs root and unshare; RLIMIT_FSIZE shows the same path")
def test_a_full_file_system(store: Path) -> None:
    """A tmpfs without a free page, in a mount name space of its own; with room again, everything works."""
    mounted = store.with_name("mounted")
    mounted.mkdir()
    environment = os.environ | {"PRO0_HOME": str(mounted), "ROOT": str(Path(__file__).parents[2])}
    script = ["unshare", "-m", "sh", "-c", FULL, "sh", str(mounted), str(store), sys.executable, "-c", INSIDE]
    done = subprocess.run(script, capture_output=True, text=True, env=environment, timeout=STUCK)
    assert done.returncode == 0, done.stderr
    counted("test", "outside", "a full tmpfs", len(COMMANDS))


def test_the_store_is_a_store(store: Path) -> None:
    assert Store(store).names() == ["alpha"]
