"""`pro0 man`: the manual page of a command."""

import os
import re
import shutil
import sys
from pathlib import Path

import click

from pro0 import looking, resources
from pro0.cli.output import write
from pro0.errors import EnvironmentMissing, NotFound

_WORD = re.compile(r"[a-z][a-z-]*")
_FONTS = re.compile(r"\\f[BIRP]")


@click.command()
@click.argument("command", nargs=-1)
def man(command: tuple[str, ...]) -> None:
    """Show the manual page of a command, or of layout, tasks, hooks, reliability, and `5 config`.

    On a terminal `man` shows the page; otherwise it is printed as plain text.

    \b
    Examples:
      pro0 man
      pro0 man task create
      pro0 man layout
    """
    page = _page(command)
    if sys.stdout.isatty() and (program := shutil.which("man")):
        local = ["-l"] if sys.platform == "linux" else []
        sys.stdout.flush()
        os.execv(program, [program, *local, str(page)])
    write(plain(page.read_text(errors="replace")))


def plain(page: str) -> str:
    """Return a manual page without its formatting."""
    lines = []
    for text in page.splitlines():
        request, _, rest = text.partition(" ")
        if request == ".SH":
            lines += ["", rest.strip('"')]
        elif not request.startswith("."):
            lines.append("  " + text)
        elif request in (".B", ".I", ".BR", ".IR", ".TP", ".PP") and rest and request not in (".TP", ".PP"):
            lines.append("  " + rest)
        elif request in (".PP", ".TP", ".sp"):
            lines.append("")
    plain_text = _FONTS.sub("", "\n".join(lines))
    return plain_text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\").strip("\n")


def _page(command: tuple[str, ...]) -> Path:
    words = " ".join(command).split()
    if words[:1] == ["pro0"]:
        words = words[1:]
    section = words.pop(0) if words[:1] in (["1"], ["5"], ["7"]) else ""
    if not all(_WORD.fullmatch(word) for word in words):
        raise NotFound(f"there is no page {' '.join(words)!r}", hint="pro0 man lists the commands")
    folder = resources.data("man")
    name = "-".join(["pro0", *words])
    pages = {"1": folder / f"{name}.1"} | {s: resources.data(f"man{s}") / f"{name}.{s}" for s in ("5", "7")}
    for number, page in pages.items():
        if section in ("", number) and looking.is_file(page):
            return page
    if not looking.is_file(folder / "pro0.1"):
        raise EnvironmentMissing(f"the manual pages are not in {folder}", hint=f"pro0 {' '.join([*words, '--help'])}")
    raise NotFound(f"there is no page for {' '.join(['pro0', *words])}", hint="pro0 man lists the commands")
