"""What the pages tell a person to type is typed, block by block, in a scratch home; the agents are stand-ins.

A line that cannot be tried here stands in a table with its reason.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import yaml

from pro0.model.agent import Signs
from pro0.rules.layouts import layout_of
from tests.conftest import let_scripts
from tests.crash.lanes import a_few
from tests.repositories import commit, put, repository_in
from tests.waiting import STUCK

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/agents.md", "docs/page.md", "docs/rpc.md")
HOWTOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "howto").glob("*.md"))
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGENT = ROOT / "tests" / "programs" / "diligent.py"
ASKS_A_MODEL = {"docs/howto/prove-agent.md": ROOT / "tests" / "programs" / "proved.py"}
"""The pages for which `claude` is another stand-in, that asks the model it is given."""
NOT_HERE = {
    "pro0 events --follow": "it follows until it is ended; tests/cli tries it",
    "pro0 run": "tests/scenarios/test_run.py runs it with each agent",
    "make demo": "tests/scenarios/test_demo.py runs it",
    "make test": "it runs this",
    "uv tool install": "it needs a network; tests/house/test_wheel.py installs the package",
    "pipx install": "likewise",
    "pip install": "likewise",
    "npm install": "likewise",
    "claude mcp": "another program's command",
    "codex mcp": "another program's command",
    "gemini mcp": "another program's command",
}
TEAM = "pro0 team start alpha --detach -m w1=shell -m ada=claude"
BEFORE = {
    "pro0 rpc": TEAM,
    "import json": TEAM,
}
"""What the page supposes, by how a block begins."""
MAKEFILE = "all compile check dist parser lib:\n\t@echo $@\n"


class Block(NamedTuple):
    """One fenced block of a page."""

    page: str
    number: int
    language: str
    text: str

    @property
    def script(self) -> str:
        """Return what is to be typed, without the lines that are not tried here."""
        return "\n".join(line for line in self.text.splitlines() if not line.startswith(tuple(NOT_HERE)))


def blocks(*pages: str) -> Iterator[Block]:
    for page in pages:
        for number, found in enumerate(FENCED.finditer((ROOT / page).read_text(encoding="utf-8"))):
            yield Block(page, number, found[1], found[2])


def is_typed(block: Block) -> bool:
    return not block.language and bool(re.search("^(pro0|eval) ", block.script, re.MULTILINE))


BLOCKS = list(blocks(*PAGES))
STEPS = {page: steps for page in HOWTOS if (steps := [block for block in blocks(page) if is_typed(block)])}
COMMANDS = [block for block in BLOCKS if is_typed(block)]
PROGRAMS = [block for block in BLOCKS if block.language == "python"]
DATA = [block for block in blocks(*PAGES, *HOWTOS) if block.language == "yaml"]


def named(block: Block) -> str:
    return f"{block.page}-{block.number}"


def programs(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put stand-ins for the agents on the path, in an environment of their own."""
    let_scripts(home)
    (folder / "bin").mkdir()
    for name in ("claude", "codex", "gemini", "opencode", "pi"):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {AGENT} "$@"\n')
        program.chmod(0o755)
    path = os.pathsep.join((str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
    for name, value in {"PATH": path, "PRO0_TEAMMATE_MODE": "headless", "PRO0_END_GRACE_SECONDS": "1"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def shop(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's repository, with the agents' programs on the path."""
    programs(home, tmp_path, monkeypatch)
    project = tmp_path / "shop"
    project.mkdir()
    repository_in(project)
    put(project, "plan.yaml", "- {key: lib, title: build it, run: make lib}\n")
    commit(project, "Makefile", MAKEFILE)
    put(project, "work", "#!/bin/sh\n")
    (project / "work").chmod(0o755)
    try:
        yield project
    finally:
        for team in sorted(path.name for path in (home / "teams").glob("*")):
            typed(f"pro0 team cleanup {team} --force", project)


def typed(script: str, project: Path) -> subprocess.CompletedProcess[str]:
    argv = ["sh", "-exc", script]
    return subprocess.run(
        argv, cwd=project, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=STUCK, check=False
    )


def prepared(block: Block, project: Path) -> None:
    """Do what the page supposes to have been done."""
    for begin, script in BEFORE.items():
        if block.script.startswith(begin):
            done = typed(script, project)
            assert done.returncode == 0, done


@pytest.mark.parametrize("block", COMMANDS, ids=named)
def test_each_line_does_what_the_page_says(block: Block, shop: Path) -> None:
    prepared(block, shop)
    done = typed(block.script, shop)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, (done.stdout, done.stderr)


@pytest.mark.parametrize("page", a_few(STEPS, 2))
def test_the_steps_of_a_page_follow_each_other(page: str, shop: Path) -> None:
    if asking := ASKS_A_MODEL.get(page):
        shutil.copy(asking, shop.parent)
        (shop.parent / "bin" / "claude").write_text(
            f'#!/bin/sh\nexec {sys.executable} -I -S {shop.parent}/{asking.name} "$@"\n'
        )
    done = typed("\n".join(block.script for block in STEPS[page]), shop)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-4000:])


@pytest.mark.parametrize("block", PROGRAMS, ids=named)
def test_each_program_runs(block: Block, shop: Path) -> None:
    prepared(block, shop)
    done = subprocess.run([sys.executable, "-c", block.text], cwd=shop, capture_output=True, text=True, timeout=STUCK)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("block", DATA, ids=named)
def test_each_file_is_read(block: Block, shop: Path, home: Path) -> None:
    content = yaml.safe_load(block.text)
    if list(content) == ["screens"]:
        assert msgspec.convert(content["screens"], Signs)
    elif "lead" in content:
        assert layout_of(content)
    elif isinstance(content, list):
        (shop / "tasks.yaml").write_text(block.text)
        done = typed(f"{TEAM}; pro0 task create -f tasks.yaml", shop)
        assert done.returncode == 0, done
    else:
        with (home / "config.yaml").open("a") as settings:
            settings.write(block.text)
        done = typed("pro0 config", shop)
        assert (done.returncode, "does not count" in done.stdout + done.stderr) == (0, False), done
