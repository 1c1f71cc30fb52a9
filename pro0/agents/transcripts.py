"""Read the JSON lines of agents while they write them."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Annotated, TypeVar

import msgspec

from pro0.model.screen import LastWords
from pro0.rules.screens import rate_limits

ONCE = 16 << 20
"""The most bytes read in one look, to keep a look within some hundredths of a second."""
TAIL = 64 << 10
"""How far back from the end to look for the last lines, in bytes."""
FAR = 1 << 20
"""How far back from the end to look for the newest turn, in bytes."""

NOTE = 200
"""The longest note from an agent's text, in characters."""
_CUT = " … "
_LOOKED_AT = 16 << 10
"""How far into a text to look for a rate limit, in characters."""

WORDS = 4000
"""The longest last words kept of one turn, in characters; the end counts."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in JSON; its group is half of a surrogate pair."""

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.ENXIO)
"""What the system answers where no such file is; any other failure does not say what the file holds."""

Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time with its zone. A line with a time without zone is not decodable: it cannot be compared with a start."""

Line = TypeVar("Line")


class Follower:
    """The new lines of a growing file since the last look; with `last`, never more than that many of its last bytes."""

    def __init__(self, path: Path, last: int = 0) -> None:
        self.path = path
        self.failed = False
        """True after a look that could not read the file: there may be more in it."""
        self._last = last
        self._offset = 0
        self._file: tuple[int, int] | None = None
        self._skipping = False

    def read(self, decoder: msgspec.json.Decoder[Line], limit: int = ONCE) -> list[Line]:
        """Decode the new whole lines; skip undecodable lines.

        A replaced or truncated file is read from its beginning.
        """
        data = self._new(limit)
        whole = data.rfind(b"\n") + 1
        if not whole and len(data) == limit:  # a line over the limit: skip it
            self._offset += len(data)
            self._skipping = True
            return []
        self._offset += whole
        lines = data[:whole].split(b"\n")
        if whole and self._skipping:
            self._skipping = False
            del lines[0]
        return decoded(lines, decoder)

    def _new(self, limit: int) -> bytes:
        self.failed = False
        try:
            with _opened(self.path) as file:
                status = os.fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                if identity != self._file or status.st_size < self._offset:
                    self._file, self._offset, self._skipping = identity, 0, False
                if self._last and status.st_size - self._offset > self._last:
                    self._offset, self._skipping = status.st_size - self._last, True
                file.seek(self._offset)
                return file.read(limit)
        except OSError as error:
            self.failed = error.errno not in _ABSENT
            return b""


def tail(path: Path, decoder: msgspec.json.Decoder[Line], limit: int = TAIL) -> list[Line]:
    """Decode the last whole lines of a file, within `limit` bytes; raises OSError for an unreadable one."""
    data, is_cut = _part(path, limit, from_end=True)
    return decoded(data[: data.rfind(b"\n") + 1].split(b"\n")[1 if is_cut else 0 :], decoder)


def head(path: Path, limit: int) -> bytes:
    """Return the first bytes of a file, none of a missing one; raises OSError for an unreadable one."""
    return _part(path, limit)[0]


def _part(path: Path, limit: int, *, from_end: bool = False) -> tuple[bytes, bool]:
    """Return the first or the last bytes of a file, and whether there are bytes before them."""
    try:
        with _opened(path) as file:
            start = max(0, file.seek(0, os.SEEK_END) - limit) if from_end else 0
            file.seek(start)
            return file.read(limit), start > 0
    except OSError as error:
        if error.errno in _ABSENT:
            return b"", False
        error.filename = error.filename or str(path)
        raise


def is_there(path: Path) -> bool:
    """Return True when a path exists; raises OSError when this cannot be found out now."""
    try:
        os.stat(path)
    except OSError as error:
        if error.errno in _ABSENT:
            return False
        raise
    return True


def matching(folder: Path, pattern: str, *deeper: str, surely: bool = False) -> Iterator[Path]:
    """Yield the matching paths below a folder, a pattern for each level.

    When nothing matches, raises OSError for a folder that cannot be listed now; with `surely`, also for one without
    permission.
    """
    trouble: OSError | None = None
    some = False
    for path in _listed(folder, pattern, surely=surely):
        try:
            for match in matching(path, *deeper, surely=surely) if deeper else (path,):
                some = True
                yield match
        except OSError as error:
            trouble = trouble or error
    if trouble and not some:
        raise trouble


def _listed(folder: Path, pattern: str, *, surely: bool) -> list[Path]:
    try:
        if not any(sign in pattern for sign in "*?["):
            return [folder / pattern] if is_there(folder / pattern) else []
        with os.scandir(folder) as entries:
            return [folder / entry.name for entry in entries if fnmatchcase(entry.name, pattern)]
    except OSError as error:
        if error.errno in _ABSENT or (isinstance(error, PermissionError) and not surely):
            return []
        raise


def changed(path: Path) -> float:
    """Return the time of a file's last change, 0 for a missing file."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def value(path: Path, decoder: msgspec.json.Decoder[Line], limit: int = TAIL) -> Line | None:
    """Decode a small file of one JSON value, None when it is missing, unreadable or not (yet) such a value."""
    try:
        return sure_value(path, decoder, limit)
    except OSError:
        return None


def sure_value(path: Path, decoder: msgspec.json.Decoder[Line], limit: int = TAIL) -> Line | None:
    """Decode like `value`, but raise OSError for an unreadable file."""
    values = decoded([head(path, limit)], decoder)
    return values[0] if values else None


def _opened(path: Path) -> IO[bytes]:
    """Open a regular file; a pipe or device in its place would block the reader."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def decoded(lines: Iterable[bytes | msgspec.Raw], decoder: msgspec.json.Decoder[Line]) -> list[Line]:
    """Decode the lines and skip the undecodable ones."""
    values = []
    for line in lines:
        try:
            values.append(decode_line(line, decoder))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
    return values


def decode_line(line: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[Line]) -> Line:
    """Decode a line; half of a surrogate pair, left where JavaScript cut a text, becomes U+FFFD."""
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, ValueError):
        data = bytes(line)
        if b"\\ud" not in data.lower():
            raise
        return decoder.decode(_ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data))


def last_words(text: str, id: str, *, over: bool = True, source: str = "transcript") -> LastWords | None:
    """Return an agent's words, cut to their end, None for no text."""
    text = text.strip()
    cut = text if len(text) <= WORDS else f"… {text[-WORDS:]}"
    return LastWords(text=cut, id=id, source=source, over=over) if text else None


def shortened(text: str) -> str:
    """Return an agent's text as one short line; a cut keeps the words about a rate limit."""
    line = " ".join(text.split())
    spans = rate_limits.telling(line[:_LOOKED_AT]) if len(line) > NOTE else []
    room = NOTE - sum(end - start + len(_CUT) for start, end in spans)
    if room < 0 or all(end <= NOTE for _, end in spans):
        return line[:NOTE]
    room = min([room, *(start for start, end in spans if start < room < end)])
    return _CUT.join([line[:room].rstrip(), *(line[start:end] for start, end in spans if end > room)])
