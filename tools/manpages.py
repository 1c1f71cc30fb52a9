"""Write man/: one page per command, made by click-man from the commands themselves; the same text on every machine."""

import copy
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
from click_man.core import generate_man_page

from pro0 import __version__

FOLDER = Path(__file__).parents[1] / "man"
DATE = "2026-11-21"
"""Of the version, not of the day on which the pages are made."""


def pages(cli: click.Command, name: str = "pro0") -> dict[str, str]:
    """Return the text of every page by its file name, hidden commands left out."""
    return {f"{ctx.command_path.replace(' ', '-')}.1": _page(ctx) for ctx in _contexts(cli, name, None)}


def _contexts(command: click.Command, name: str, parent: click.Context | None) -> Iterator[click.Context]:
    ctx = click.Context(command, info_name=name, parent=parent)
    shown = dict(shown_commands(command, ctx)) if isinstance(command, click.Group) else {}
    ctx.command = _prepared(command, shown)
    yield ctx
    for child, sub in shown.items():
        yield from _contexts(sub, child, ctx)


def shown_commands(group: click.Group, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group by name, hidden ones left out."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None and not command.hidden:
            yield name, command


def _prepared(command: click.Command, shown: dict[str, click.Command]) -> click.Command:
    """Return a copy of a command with what click-man reads: its texts for roff, a lazy group's commands loaded."""
    ready = copy.copy(command)
    ready.short_help = command.get_short_help_str(100)
    ready.help = _roff(command.help or command.short_help or "")
    if isinstance(ready, click.Group):
        ready.commands = {name: _prepared(sub, {}) for name, sub in shown.items()}
    return ready


def _page(ctx: click.Context) -> str:
    text = str(generate_man_page(ctx, version=__version__, date=DATE))
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _roff(text: str) -> str:
    """Return help text for roff: paragraphs that click keeps as they are (a lone backspace before) stay so."""
    paragraphs = re.split(r"\n[ \t]*\n", cleandoc(text.partition("\f")[0]))
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(text: str) -> str:
    lines = [re.sub(r"^([.'])", r"\\&\1", line.replace("\\", "\\e")) for line in text.splitlines()]
    kept = [line for line in lines if line.strip() != "\b"]
    return "\n".join([".nf", *kept, ".fi"] if len(kept) < len(lines) else kept)


def main() -> None:
    """Write the page of every command, and remove those of commands that are gone."""
    from pro0.cli.call import program

    texts = pages(program)
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.1"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} pages in man")


if __name__ == "__main__":
    main()
