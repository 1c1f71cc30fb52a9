"""The pages as what they tell a person to type, and a scratch home in which that is typed; the agents are stand-ins."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import let_scripts
from tests.waiting import STUCK

ROOT = Path(__file__).parents[2]
HOWTOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "howto").glob("*.md"))
TYPED_ELSEWHERE = {"docs/tutorial.md": "tests/scenarios/test_tutorial.py"}
LISTS = ("docs/reference", "docs/mutants.md")
"""Made by programs, of what tests/house compares."""
PAGES = sorted(
    name
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not (name := str(path.relative_to(ROOT))).startswith(LISTS) and name not in {*HOWTOS, *TYPED_ELSEWHERE}
)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGENT = ROOT / "tests" / "programs" / "diligent.py"
OPTIONS = ROOT / "tests" / "programs" / "options.json"
"""The documented options of each agent, which its stand-in takes and no others."""
NOT_HERE = {
    "pro0 events --follow": "it follows until it is ended; tests/cli/test_outputs.py reads it",
    "pro0 run 1   ": "tests/scenarios/test_run.py runs it with each agent",
    "pro0 run --auto": "likewise",
    "make demo": "tests/scenarios/test_demo.py runs it",
    "make test": "it runs this",
    "uv tool install": "it needs a network; tests/test_installers.py types it in the long lane",
    "pipx install": "likewise",
    "pip install": "likewise",
    "npm install": "it needs a network; tools/agents/install.py installs the same packages, as a test here says",
    "ssh build1": "only the person's own config knows that machine; tests/test_ssh.py has one",
    "pro0 doctor --host": "likewise, tests/cli/test_doctor_host.py",
    "pro0 member forget": "it is for a machine out of reach; tests/e2e/test_hosts.py cuts one off",
    "claude mcp": "another program's command, which writes to its own settings",
    "codex mcp": "likewise",
    "gemini mcp": "likewise",
}
"""Lines that are not typed here, by how they begin."""
NOT_TYPED = {
    "pro0 member peek w1 | pro0 agent explain": "a stand-in's screen is that of no agent; tests/cli/test_agent.py",
    "pro0 needs                                     # names": "ids differ; the tutorial is typed with the same",
    "$ pro0 web\n": "it serves until it is ended; tests/web/conftest.py reads this line",
    "PRO0_HOME/teams/TEAM/rpc.sock": "the name of a socket",
    'echo \'{"jsonrpc"': "it needs the program nc; tests/rpc/test_published.py sends the same",
    '{"jsonrpc": "2.0", ': "lines of the protocol, with … in them; tests/rpc/test_feeds.py",
    "import { connect }": "tests/rpc/test_published.py runs it with node",
}
"""Blocks that are none to be typed here, by how they begin."""
TEAM = "pro0 team start alpha --detach -m w1=shell -m ada=claude"
TICKET = "---\nid: a-1\nstatus: open\ndeps: []\n---\n# one\n"
BEFORE = {
    "pro0 rpc": TEAM,
    "import json": TEAM,
    "pro0 team list\npro0 team stop -t alpha": TEAM,
    "pro0 task import": TEAM,
    "pro0 team start shop -m ada=claude\npro0 member spawn bob --host": "export PRO0_TEAMMATE_MODE=in-process",
    "pro0 diff dora": "until pro0 diff dora | grep -q watched; do sleep 0.2; done",
    "pro0 task list --awaiting": "until pro0 task list --awaiting -o name | grep -q .; do sleep 0.2; done",
}
"""What the page supposes, by how a block begins."""
MAKEFILE = "all compile check dist parser lib:\n\t@echo $@\n"
COMMITS = "git add it && git -c user.name=dora -c user.email=dora@build1 commit -qm it"
WATCHED = f"check:\n\t@echo $@\nwatch:\n\techo watched >it && {COMMITS} && sleep 60\n"
"""What a member on another machine makes."""


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


def stand_ins(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put stand-ins for the agents on the path, in an environment of their own."""
    let_scripts(home)
    (folder / "bin").mkdir()
    for name in json.loads(OPTIONS.read_text()):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nSTAND_IN={name} exec {sys.executable} -I {AGENT} "$@"\n')
        program.chmod(0o755)
    path = os.pathsep.join((str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
    for name, value in {"PATH": path, "PRO0_TEAMMATE_MODE": "headless", "PRO0_END_GRACE_SECONDS": "1"}.items():
        monkeypatch.setenv(name, value)


def typed(script: str, project: Path) -> subprocess.CompletedProcess[str]:
    argv = ["sh", "-exc", script]
    return subprocess.run(
        argv, cwd=project, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=STUCK, check=False
    )


def settings_of(page: str) -> str:
    """Return the settings that a page has a person write first, when it is about an agent of their own."""
    return next((block.text for block in blocks(page) if block.text.startswith("agents:\n")), "")


def supposed(block: Block) -> str:
    """Return what does what the page supposes to have been done before a block."""
    return "; ".join(script for begin, script in BEFORE.items() if block.script.startswith(begin))


def prepared(block: Block, project: Path) -> None:
    """Do what the page supposes to have been done."""
    done = typed(supposed(block), project)
    assert done.returncode == 0, done
