"""What the pages tell a person to type is typed, block by block, in a scratch home; the agents are stand-ins.

A line that cannot be tried here stands in a table with its reason.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import yaml

from pro0.model.agent import Signs
from pro0.rules.layouts import layout_of
from tests.crash.lanes import a_few
from tests.scenarios.pages import (
    HOWTOS,
    NOT_HERE,
    NOT_TYPED,
    PAGES,
    ROOT,
    TEAM,
    TYPED_ELSEWHERE,
    Block,
    blocks,
    is_typed,
    prepared,
    settings_of,
    supposed,
    typed,
)
from tests.waiting import STUCK
from tools.agents.install import PINNED

ASKS_A_MODEL = {"docs/howto/prove-agent.md": ROOT / "tests" / "programs" / "proved.py"}
"""The pages for which `claude` is another stand-in, that asks the model it is given."""
EVERY = list(blocks(*PAGES, *HOWTOS))
BLOCKS = list(blocks(*PAGES))
STEPS = {page: steps for page in HOWTOS if (steps := [block for block in blocks(page) if is_typed(block)])}
COMMANDS = [block for block in BLOCKS if is_typed(block)]
PROGRAMS = [block for block in BLOCKS if block.language == "python"]
DATA = [block for block in EVERY if block.language == "yaml"]
ERRORS = [block for block in EVERY if block.language == "json"]


def named(block: Block) -> str:
    return f"{block.page}-{block.number}"


def test_every_block_is_tried_or_excepted_with_a_reason() -> None:
    """Issue 18, must show 1."""
    tried = {*COMMANDS, *PROGRAMS, *DATA, *ERRORS, *(block for steps in STEPS.values() for block in steps)}
    lines = tuple(NOT_HERE)
    left = [
        block
        for block in EVERY
        if block not in tried
        and not block.text.startswith(tuple(NOT_TYPED))
        and not all(line.startswith(lines) for line in block.text.splitlines())
    ]
    assert [named(block) for block in left] == []
    whole = "\n".join(block.text for block in EVERY)
    assert [begin for begin in (*NOT_HERE, *NOT_TYPED) if begin not in whole] == [], "excepted for nothing"
    reasons = " ".join((*NOT_HERE.values(), *NOT_TYPED.values(), *TYPED_ELSEWHERE.values()))
    assert [path for path in re.findall(r"\btests/[\w/.]+\.py", reasons) if not (ROOT / path).exists()] == []


def test_the_packages_of_the_agents_are_those_that_are_tested() -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^npm install -g (\S+)", text, re.MULTILINE)) == {one.name for one in PINNED.values()}


@pytest.mark.parametrize("block", ERRORS, ids=named)
def test_an_error_that_is_shown_is_what_is_printed(block: Block, shop: Path) -> None:
    assert typed("pro0 team show ci --json", shop).stderr.splitlines()[-1] == block.text.strip()


@pytest.mark.parametrize("block", COMMANDS, ids=named)
def test_each_line_does_what_the_page_says(block: Block, shop: Path) -> None:
    prepared(block, shop)
    done = typed(block.script, shop)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, (done.stdout, done.stderr)


@pytest.mark.parametrize("page", a_few(STEPS, 2))
def test_the_steps_of_a_page_follow_each_other(
    page: str, shop: Path, home: Path, request: pytest.FixtureRequest
) -> None:
    with (home / "config.yaml").open("a") as settings:
        settings.write(settings_of(page))
    if page == "docs/howto/hosts.md":
        request.getfixturevalue("build1")
    if asking := ASKS_A_MODEL.get(page):
        shutil.copy(asking, shop.parent)
        (shop.parent / "bin" / "claude").write_text(
            f'#!/bin/sh\nexec {sys.executable} -I -S {shop.parent}/{asking.name} "$@"\n'
        )
    done = typed("\n".join(f"{supposed(block)}\n{block.script}" for block in STEPS[page]), shop)
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
    elif isinstance(content, list):
        (shop / "tasks.yaml").write_text(block.text)
        done = typed(f"{TEAM}; pro0 task create -f tasks.yaml", shop)
        assert done.returncode == 0, done
    elif content.keys() & {"lead", "members"}:
        assert layout_of(content)
    else:
        with (home / "config.yaml").open("a") as settings:
            settings.write(block.text)
        done = typed("pro0 config", shop)
        assert (done.returncode, "does not count" in done.stdout + done.stderr) == (0, False), done
