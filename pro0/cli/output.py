"""Output: data on stdout, messages on stderr. Control characters in texts never reach the terminal."""

import os
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TextIO, TypeVar

import click
import msgspec

from pro0.errors import BadInput, ErrorCode, Pro0Error, unread
from pro0.rules.text import unseen, visible
from pro0.terminals.colours import code

Decorated = TypeVar("Decorated", bound=Callable[..., object])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
name_option = click.option(
    "-o", "output", type=click.Choice(["name"]), metavar="name", help="Print names only, one per line."
)

REMINDERS = "pro0.reminders"
"""The key in click's context of the function that returns the reminders to print after a command."""
VEIL = "pro0.veil"
"""The key in click's context of the function that removes from a text what the caller must not learn."""

_NOT_ASCII = re.compile("[^\n -~]")
STDIN_LIMIT = 256 * 1024
"""The most bytes of a text; stdin may be endless."""


def line(text: str) -> str:
    r"""Return text as one visible line: newline and tab become `\n` and `\t`."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def write(text: str = "", *, end: str = "\n") -> None:
    """Print one or more lines on stdout; for a member, remove what it must not learn about others."""
    context = click.get_current_context(silent=True)
    veil: Callable[[str], str] = context.find_root().meta.get(VEIL, str) if context else str
    try:
        sys.stdout.write(veil(text) + end)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unprinted(error) from None


def unprinted(error: OSError) -> Pro0Error:
    """Return the error for a result that cannot be printed: stdout may be a file on a full disk."""
    text = f"the output cannot be written to stdout: {error.strerror or error}"
    return Pro0Error(text, code=ErrorCode.OUTPUT, hint="the command may have done its work: check before you repeat it")


def say(text: str) -> None:
    """Print a message on stderr at once."""
    write_error(line(text))


def write_error(text: str) -> None:
    """Print lines on stderr at once; an unwritable stderr is ignored."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Drop all buffered and later output of a stream, so that no flush writes or blocks, not even at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def json_text(value: object, *, indent: int = 2) -> str:
    """Return JSON with every field of every struct; characters that could control a terminal are escaped."""
    text = msgspec.json.format(msgspec.json.encode(plain(value)), indent=indent or -1).decode()
    return text if text.isascii() and "\x7f" not in text else _NOT_ASCII.sub(_in_json, text)


def write_json(value: object) -> None:
    """Print a value as JSON on stdout."""
    write(json_text(value))


def plain(value: object) -> object:
    """Return a value with a mapping for every struct in it."""
    if isinstance(value, msgspec.Struct):
        return mapping(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def mapping(value: msgspec.Struct) -> dict[str, object]:
    """Return a struct as a mapping with the names it has on disk, defaults included."""
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    return {encoded: plain(getattr(value, name)) for name, encoded in names}


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, flexible: int = -1, optional: Container[str] = ()
) -> None:
    """Print aligned columns; on a terminal cut the flexible column, then the widest ones, until they fit.

    An optional column without any entry is left out on a terminal.
    """
    cells = [[line(cell) for cell in row] for row in rows]
    spare = optional if sys.stdout.isatty() else ()
    columns_shown = [at for at, name in enumerate(head) if name not in spare or any(row[at] for row in cells)]
    flexible = columns_shown.index(flexible % len(head))
    head, cells = [head[at] for at in columns_shown], [[row[at] for at in columns_shown] for row in cells]
    widths = [max(map(_width, column)) for column in zip(head, *cells, strict=True)]
    if sys.stdout.isatty():
        _fit(widths, _columns(), flexible)
    colours = painted()
    write(_styled(_row(head, widths), "1" if colours else ""))
    for row in cells:
        write(_row(row, widths, painted=colours))


def pairs(rows: Iterable[tuple[str, str]]) -> None:
    """Print one line for each name and value; further lines of a value are indented below it."""
    visible_rows = [(name, visible(value)) for name, value in rows if value]
    width = max((len(name) for name, _ in visible_rows), default=0)
    for name, value in visible_rows:
        write(f"{name:<{width}}  " + value.replace("\n", "\n" + " " * (width + 2)))


def local(moment: datetime | None) -> str:
    """Return a moment in the person's time zone, with its date unless that is today."""
    if moment is None:
        return ""
    try:
        local_moment, today = moment.astimezone(), datetime.now().astimezone().date()
    except (OverflowError, ValueError):  # the calendar's first and last days have no other zone
        return moment.isoformat()
    return local_moment.strftime("%H:%M:%S" if local_moment.date() == today else "%Y-%m-%d %H:%M:%S")


def talk() -> Callable[[str], None]:
    """Return a function that prints progress on stderr, never the same line twice in a row."""
    newest = ""

    def show(text: str) -> None:
        nonlocal newest
        if text != newest:
            say(text)
        newest = text

    return show


@contextmanager
def live() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows progress in one line of a terminal, cleared at the end; elsewhere it is silent."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _text: None
        return

    def show(text: str) -> None:
        sys.stderr.write("\r\x1b[K" + cut(line(text), _columns() - 1))
        sys.stderr.flush()

    try:
        yield show
    finally:
        show("")


def drawable() -> bool:
    """Return True when stdout is a terminal other than a dumb one."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def cut(text: str, width: int) -> str:
    """Return a line cut to `width` columns, with an ellipsis if it was cut."""
    if _width(text) <= width:
        return text
    while text and _width(text) >= max(width, 1):
        text = text[:-1]
    return text + "…"


@contextmanager
def going_on(progress: str) -> Iterator[None]:
    """Print `progress`, about the work that goes on, if the person interrupts this block."""
    try:
        yield
    except KeyboardInterrupt:
        say("")  # behind the ^C that the terminal shows
        say(progress)
        raise


def terminal() -> bool:
    """Return True when stdin and stdout are terminals, so that a person can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def stdin_bytes(limit: int) -> bytes:
    """Return at most `limit` bytes of stdin; raises BadInput for an unreadable stdin."""
    try:
        return sys.stdin.buffer.read(limit)
    except OSError as error:
        raise unread(error) from None


def text_or_stdin(text: str) -> str:
    """Return an argument's text, for `-` stdin without its last newline; raises BadInput for too much or bad UTF-8."""
    if text != "-":
        return text
    data = stdin_bytes(STDIN_LIMIT + 2)
    if len(data.removesuffix(b"\n")) > STDIN_LIMIT:
        raise BadInput(f"stdin holds more than {STDIN_LIMIT} bytes", code=ErrorCode.TOO_LARGE)
    try:
        return data.decode().replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8 text: {error.reason}", code=ErrorCode.INVALID_TEXT) from None


def _in_json(match: re.Match[str]) -> str:
    character = match[0]
    if not unseen(character):
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def _columns() -> int:
    import shutil  # late: it imports three compression modules, and most commands print to no terminal

    return shutil.get_terminal_size().columns


def _fit(widths: list[int], columns: int, flexible: int) -> None:
    """Take the excess from the flexible column down to 24 cells, then from the widest column."""
    over = sum(widths) + 2 * (len(widths) - 1) - columns
    taken = min(over, max(0, widths[flexible] - 24))
    if over > 0:
        widths[flexible] -= taken
        for _ in range(over - taken):
            widest = widths.index(max(widths))
            widths[widest] = max(1, widths[widest] - 1)


def _row(cells: Sequence[str], widths: Sequence[int], *, painted: bool = False) -> str:
    shortened = [cut(cell, width) for cell, width in zip(cells, widths, strict=True)]
    padded = [cell + " " * (width - _width(cell)) for cell, width in zip(shortened, widths, strict=True)]
    if painted:
        padded = [_styled(text, code(cell)) for text, cell in zip(padded, shortened, strict=True)]
    return "  ".join(padded).rstrip()


def painted() -> bool:
    """Return True when stdout is a terminal with colours, and the person wants them."""
    return drawable() and not os.environ.get("NO_COLOR")


def _styled(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def words(values: Iterable[str]) -> tuple[str, ...]:
    """Split each value at commas."""
    return tuple(word for value in values for word in _split(value))


def label_option(about: str) -> Callable[[Decorated], Decorated]:
    """Return the option for labels, which can be repeated or take a list with commas."""
    names = ("--label", "--labels", "labels")
    return click.option(
        *names, multiple=True, metavar="LABEL,...", help=about, callback=lambda _c, _p, labels: words(labels)
    )


def _split(value: str) -> list[str]:
    parts = [part.strip() for part in value.split(",")]
    return [part for part in parts if part] or [value]
