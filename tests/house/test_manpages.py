"""man/ is current: each page is what click-man makes of its command."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.house.source import ROOT
from tests.waiting import STUCK
from tools import manpages


class Lazy(click.Group):
    """A group whose commands are loaded when they are asked for, as those of pro0 are."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["start", "secret"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return {"start": start, "secret": secret}.get(cmd_name)


@click.command()
@click.option("--lead", help="Who leads.")
def start(lead: str) -> None:
    """Start a team.

    .venv is where it lives; a \\ stays a \\.

    \b
    pro0 start --lead none
    pro0 start --lead shell
    """


@click.command(hidden=True)
def secret() -> None:
    """Not for people."""


def test_a_lazy_table_gives_a_page_per_shown_command() -> None:
    pages = manpages.pages(Lazy("pro0", help="Run a team."))
    assert sorted(pages) == ["pro0-start.1", "pro0.1"]
    assert "start" in pages["pro0.1"]
    assert "secret" not in pages["pro0.1"]
    page = pages["pro0-start.1"]
    assert page.startswith(f'.TH "PRO0-START" "1" "{manpages.DATE}"')
    assert "\\-\\-lead" in page
    assert "\n\\&.venv is where it lives; a \\e stays a \\e.\n" in page
    assert "\n.nf\npro0 start --lead none\npro0 start --lead shell\n.fi\n" in page


def test_pages_are_the_same_each_time() -> None:
    first = manpages.pages(Lazy("pro0", help="Run a team."))
    assert manpages.pages(Lazy("pro0", help="Run a team.")) == first


def test_the_committed_pages_are_current(home: Path, tmp_path: Path) -> None:
    """In a process and a home of their own: a page never holds what is true of one machine only."""
    code = "import sys, pathlib; from tools import manpages as m; m.FOLDER = pathlib.Path(sys.argv[1]); m.main()"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "man")], cwd=ROOT, check=True, timeout=STUCK)
    made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "man").iterdir()}
    committed = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "man").glob("*.1")}
    assert committed == made, "run `make man`"


@pytest.mark.skipif(not shutil.which("man"), reason="no man program here")
def test_a_page_is_one_that_man_can_show(tmp_path: Path) -> None:
    page = tmp_path / "pro0.1"
    page.write_text(manpages.pages(Lazy("pro0", help="Run a team."))["pro0-start.1"])
    done = subprocess.run(["man", str(page)], capture_output=True, text=True, timeout=STUCK)
    if "unminimize" in done.stdout + done.stderr:
        pytest.skip("man is a stub here")
    assert "pro0 start --lead none\n" in done.stdout
    assert not done.stderr


def test_the_pages_on_what_is_no_command_are_current_and_render() -> None:
    texts = manpages.topic_pages()
    written = {f"man{n}/{path.name}": path.read_text() for n in (5, 7) for path in (ROOT / f"man{n}").iterdir()}
    assert written == texts, "make man"
    for page, text in texts.items():
        for section in ("NAME", "DESCRIPTION", "PROMISES" if "reliability" in page else "EXAMPLE", "SEE ALSO"):
            assert f"\n.SH {section}\n" in text


def test_every_page_ends_with_what_one_looks_for_there() -> None:
    texts = {path.name: path.read_text() for n in ("", 5, 7) for path in (ROOT / f"man{n}").iterdir()}
    for name, text in texts.items():
        if "reliability" not in name:
            for section in ("EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"):
                assert f"\n.SH {section}\n" in text, name
        for page, section in re.findall(r"\\fB(pro0[a-z0-9-]*)\\fP\((\d)\)", text):
            assert f"{page}.{section}" in texts, f"{name} names {page}({section})"
