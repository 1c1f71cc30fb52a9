"""A reader of transcripts in JSON lines; the module `chat` of each agent interprets the lines."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from pro0.agents.transcripts import FAR, ONCE, Follower
from pro0.decoding import decoder
from pro0.model.screen import ChatEntry
from pro0.rules.size import DEEPEST, nested_deeper_than

SHOWN = 500
"""Entries that a reader remembers."""
LETTERS = 4000
"""Characters kept of an entry's text; a `whole` reader keeps all."""
TITLE = 160
_OBJECT = decoder(dict[str, object])
_TELLING = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "title", "to", "task_id", "description")
"""The arguments that tell most about a call, in this order."""


class Result(NamedTuple):
    """The result of a call."""

    id: str
    text: str
    failed: bool = False


Told = ChatEntry | Result
Parse = Callable[[dict[str, object]], Iterable[Told]]


class ChatReader(Protocol):
    """Reads the end of a transcript, and then its news."""

    def news(self) -> list[ChatEntry]:
        """Return the entries new or changed since the last call; the first call returns those near the end."""

    @property
    def sign(self) -> object:
        """Return a value that changes when there may be news."""


class Chat:
    """The entries of one transcript so far; a call and its result make one entry. Texts are cut unless `whole`."""

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._known: dict[str, ChatEntry] = {}

    def take(self, told: Iterable[Told]) -> list[ChatEntry]:
        """Take in the next part of the transcript; return the new and the changed entries."""
        changed: dict[str, ChatEntry] = {}
        for each in told:
            entry = self._with(each) if isinstance(each, Result) else each
            if entry is None:
                continue
            before = self._known.get(entry.id)
            if before and before.state in ("done", "failed") and entry.state == "running":
                continue  # the call is written again; its result is known
            entry = entry if self._whole else replace(entry, text=entry.text[: LETTERS + 1], arguments="", result="")
            if entry != before:
                self._known[entry.id] = changed[entry.id] = entry
                if len(self._known) > SHOWN:
                    del self._known[next(iter(self._known))]
        return list(changed.values())

    def _with(self, result: Result) -> ChatEntry | None:
        call = self._known.get(result.id)
        return replace(call, state="failed" if result.failed else "done", result=result.text) if call else None


class LinesReader:
    """Follows a transcript in JSON lines; it reads only the end of a long one."""

    def __init__(self, find: Callable[[], Path | None], parse: Parse, *, whole: bool = False) -> None:
        self._find, self._parse = find, parse
        self._last = ONCE if whole else FAR
        self._chat = Chat(whole=whole)
        self._follower: Follower | None = None

    def news(self) -> list[ChatEntry]:
        """Return the entries new or changed since the last call."""
        try:
            path = self._find()
        except OSError:  # until the folder can be read again, follow the known file
            path = self._follower.path if self._follower else None
        if path is None:
            return []
        if self._follower is None or self._follower.path != path:
            self._follower = Follower(path, self._last)
        lines = self._follower.read(_OBJECT, self._last)
        return self._chat.take(told for line in lines for told in self._items(line))

    def _items(self, line: dict[str, object]) -> Iterator[Told]:
        """Yield the entries and results of a line, up to the first value nested too deeply to be read."""
        try:
            yield from self._parse(line)
        except RecursionError:
            return

    @property
    def sign(self) -> object:
        """Return the file's signature, which changes as it grows; None while there is no file."""
        current = signature(self._follower.path) if self._follower else NOTHING
        return None if current == NOTHING else current


NOTHING = ((0, 0, 0),)
"""The signature of one file that is not there, or out of reach."""


def signature(*files: Path) -> object:
    """Return a value that changes when one of the files changes."""
    signs = []
    for path in files:
        try:
            status = os.stat(path)
            signs.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            signs += NOTHING
    return tuple(signs)


def call(id: str, name: str, arguments: object, at: datetime | None) -> ChatEntry:
    """Return the entry of a call whose result is not known yet."""
    if isinstance(arguments, str):
        whole = arguments
        with suppress(msgspec.DecodeError, UnicodeEncodeError):
            if not nested_deeper_than(DEEPEST, data := arguments.encode()):
                arguments = msgspec.json.decode(data)
    else:
        whole = msgspec.json.encode(arguments, enc_hook=str).decode()
    return ChatEntry(id=id, kind="tool", at=at, text=_title(name, arguments), state="running", arguments=whole)


def part(value: object, *keys: str) -> object:
    """Return the value below these nested keys, None for none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: object, *keys: str) -> str:
    """Return the text below these nested keys, "" for none."""
    end = part(value, *keys)
    return end if isinstance(end, str) else ""


def parts(value: object, *keys: str) -> list[object]:
    """Return the list below these nested keys, an empty one for none."""
    end = part(value, *keys)
    return end if isinstance(end, list) else []


def words(content: object) -> str:
    """Return the text of a content: a plain text, a part with a text, or a list of these."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n\n".join(filter(None, map(words, content)))
    return text(content, "text")


def moment(value: object, *keys: str) -> datetime | None:
    """Return the time below these nested keys, None unless it has a time zone."""
    try:
        at = datetime.fromisoformat(text(value, *keys))
    except ValueError:
        return None
    return at if at.tzinfo else None


def _title(name: str, arguments: object) -> str:
    telling = next((found for key in _TELLING if (found := part(arguments, key))), None)
    if isinstance(telling, list):
        telling = " ".join(map(str, telling))
    if not isinstance(telling, str):
        telling = msgspec.json.encode(arguments, enc_hook=str).decode() if arguments else ""
    title = " ".join(f"{name}: {telling}".split() if telling else name.split())
    return title if len(title) <= TITLE else f"{title[:TITLE]}…"
