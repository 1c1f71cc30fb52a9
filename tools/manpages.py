"""Write the manual: man/ has a page per command, made by click-man from the commands; man5/ and man7/ the topics."""

import copy
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
from click_man.core import generate_man_page

from pro0 import __version__
from tools.exit_codes import DECLARED, exit_codes, own_exit_codes
from tools.meanings import VARIABLES
from tools.topics import plain, references, reliability, roff, terms, topics

FOLDER = Path(__file__).parents[1] / "man"
FILES = (
    ("", "The home, without PRO0_HOME."),
    ("config.yaml", "Your settings."),
    ("layouts/", "Your layouts."),
    ("teams/TEAM/config.json", "A team, as it was made."),
    ("teams/TEAM/events.jsonl", "What happened in it."),
    ("tasks/TEAM/tasks.json", "Its tasks."),
    ("mailboxes/TEAM/MEMBER/messages.json", "The mail of a member."),
    ("worktrees/", "The worktrees of members."),
    ("archive/", "What is kept of removed teams."),
)
"""Files below the home that people look for."""
DATE = "2026-11-23"
"""The date of the version, not of the day on which the pages are written."""


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
    """Return a copy of a command for click-man: its texts are made for roff, and its lazy commands are loaded."""
    ready = copy.copy(command)
    ready.short_help = command.get_short_help_str(100)
    ready.help = _roff(command.help or command.short_help or "")
    if isinstance(ready, click.Group):
        ready.commands = {name: _prepared(sub, {}) for name, sub in shown.items()}
    return ready


def topic_pages() -> dict[str, str]:
    """Return the text of every page that is not about a command, by folder and file name."""
    version = f"pro0 {__version__}"
    return {f"man{t.section}/pro0-{t.name}.{t.section}": roff(t, version, DATE) for t in (*topics(), reliability())}


def _page(ctx: click.Context) -> str:
    text = str(generate_man_page(ctx, version=__version__, date=DATE))
    text = re.sub(r"\\fBpro0 ([a-z-]+)\(1\)\\fP", r"\\fBpro0-\1\\fP(1)", text)
    text = re.sub(r"(?m)^\.TH .*$", lambda _: _title(ctx), text)
    return "\n".join([*(line.rstrip() for line in text.splitlines()), *_ending(ctx)]) + "\n"


def _title(ctx: click.Context) -> str:
    return f'.TH "{ctx.command_path.replace(" ", "-").upper()}" "1" "{DATE}" "pro0 {__version__}" "pro0"'


def _ending(ctx: click.Context) -> Iterator[str]:
    """Yield the last sections of a page. The first page lists everything, the others only what their command needs."""
    first = ctx.parent is None
    yield ".SH EXIT STATUS"
    if first:
        yield from terms(dict(exit_codes()))
    else:
        declared = DECLARED.get(ctx.command_path, {0, 2})
        yield from terms({code: text for code, text in exit_codes() if int(code) in declared})
        yield ".PP"
        if codes := own_exit_codes(ctx.command):
            yield plain(codes)
            yield ".PP"
        yield plain("Any command ends with 1 by a fault of pro0, and with 130 when you interrupt it.")
    yield ".SH ENVIRONMENT"
    options = {option for parameter in ctx.command.params for option in parameter.opts}
    named = VARIABLES if first else ("PRO0_HOME", *(("PRO0_TEAM",) if "--team" in options else ()))
    yield from terms({name: VARIABLES[name] for name in named})
    yield ".SH FILES"
    yield from terms({f"~/.pro0/{where}": about for where, about in (FILES if first else FILES[:1])})
    yield ".SH SEE ALSO"
    yield references(_related(ctx))


def _related(ctx: click.Context) -> list[str]:
    path = ctx.command_path.replace(" ", "-")
    above = [ctx.parent.command_path.replace(" ", "-") + ".1"] if ctx.parent else []
    commands = shown_commands(ctx.command, ctx) if isinstance(ctx.command, click.Group) else ()
    related = [
        f"pro0-{t.name}.{t.section}"
        for t in (*topics(), reliability())
        if ctx.parent is None or f"{path}.1" in t.see_also
    ]
    return [*above, *(f"{path}-{name}.1" for name, _ in commands), *related] or ["pro0.1"]


def _roff(text: str) -> str:
    """Return help text as roff. A paragraph that click does not wrap, after a lone backspace, is not filled either."""
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
    topic_texts = topic_pages()
    for section in (5, 7):
        (FOLDER.parent / f"man{section}").mkdir(exist_ok=True)
        for path in (FOLDER.parent / f"man{section}").iterdir():
            if f"man{section}/{path.name}" not in topic_texts:
                path.unlink()
    for name, text in topic_texts.items():
        (FOLDER.parent / name).write_text(text, encoding="utf-8")
    print(f"{len(texts)} pages in man, {len(topic_texts)} in man5 and man7")


if __name__ == "__main__":
    main()
