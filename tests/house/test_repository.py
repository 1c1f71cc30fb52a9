"""What is committed speaks of the project alone, and works on any machine."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import ROOT
from tests.waiting import STUCK

MACHINE = re.compile(
    r"(?<![\w.}])/(?:work|root|opt/pypi[\w-]*|home/\w[\w.-]*|Users/\w[\w.-]*)(?![\w-])"
    r"|--(?:extra-)?index-url|--find-links|\b(?:pypi|registry|artifactory|nexus|mirrors?)\.[\w-]+\.(?!org\b)\w+",
)
BINARY = {".png", ".gif", ".ico", ".woff2", ".gz"}


def tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=STUCK
    )
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def machine_words(text: str) -> Iterator[str]:
    """Yield the lines that name a path of one machine, or where one machine gets its packages."""
    yield from (line.strip()[:160] for line in text.splitlines() if MACHINE.search(line))


def test_nothing_names_a_machine() -> None:
    problems = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in tracked()
        if path.suffix not in BINARY and path != Path(__file__)
        for line in machine_words(path.read_text(encoding="utf-8"))
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "line",
    [
        "cd /work/main",
        "see /root/.config",
        '"/home/ann/project"',
        "(/Users/ann/x)",
        "pip install --index-url x",
        "https://pypi.corp.example/simple",
    ],
)
def test_a_machine_is_found(line: str) -> None:
    assert list(machine_words(line))


@pytest.mark.parametrize(
    "line",
    ["PRO0_HOME/work/x", "a/root/b", "tmp_path / 'work'", "https://pypi.org/project/pro0", "/tmp", "{home}/work"],
)
def test_other_lines_pass(line: str) -> None:
    assert not list(machine_words(line))


def test_scripts_can_be_run() -> None:
    for name in (".ci/run", "tools/setup", "tools/install"):
        path = ROOT / name
        assert path.stat().st_mode & 0o111, f"{name} is not executable"
        shell = "bash" if "bash" in path.read_text(encoding="utf-8").splitlines()[0] else "sh"
        subprocess.run([shell, "-n", path], check=True, timeout=STUCK)


def test_every_target_that_people_are_told_of_is_there() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    assert targets >= {"demo", "test", "check", "bench", "soak", "fmt", "man", "schemas", "setup", "clean"}
