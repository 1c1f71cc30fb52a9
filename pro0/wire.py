"""Lines of JSON-RPC: input is bounded in size and depth, output is one line of ASCII."""

import json
from collections.abc import Callable, Iterator
from math import isinf

LINE_LIMIT = 4 * 1024 * 1024
"""Bytes of one message; the longest text that an operation takes is far shorter, escaped too."""
DEPTH_LIMIT = 32

JSON = str
"""A value as JSON text."""
TOOLS_LISTED = "PRO0_TOOLS_LISTED"
"""The variable that names a file which the MCP server makes once its client has been sent the tools."""


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class Unreadable(Exception):
    """A line that is no message; `too_much` when it may be JSON, but more than is read."""

    def __init__(self, why: str, *, too_much: bool = False) -> None:
        super().__init__(why)
        self.too_much = too_much


class Fault(Exception):
    """Why a message is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class LineSplitter:
    """Cuts a stream of bytes into lines; of a line over the limit nothing is kept but that it was there."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Take in bytes and yield each complete line, None for one over the limit."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._add(end)
            yield b"".join(self._pieces) if self._size <= LINE_LIMIT else None
            self._pieces, self._size = [], 0
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= LINE_LIMIT:
            self._pieces.append(piece)
        else:
            self._pieces.clear()


class Batch:
    """Collects the responses to an array of messages, and sends them as one when the last is there."""

    def __init__(self, count: int, send: Callable[[JSON], None]) -> None:
        self._left = count
        self._send = send
        self._responses: list[JSON] = []

    def answer(self, response: JSON | None) -> None:
        """Take the response to one of the messages."""
        self._left -= 1
        if response is not None:
            self._responses.append(response)
        if not self._left and self._responses:
            self._send(f"[{','.join(self._responses)}]")


def message_of(line: bytes | None) -> object:
    """Return the message of a line, None being a line over the limit; raises Fault for an unreadable one."""
    try:
        if line is None:
            raise Unreadable(f"longer than {LINE_LIMIT} bytes", too_much=True)
        return decode(line)
    except Unreadable as error:
        raise Fault(INVALID_REQUEST if error.too_much else PARSE_ERROR, str(error)) from None


def failed(key: str | int | float | None, fault: Fault) -> JSON:
    """Return the response that says a fault."""
    error = {"code": fault.code, "message": str(fault)} | ({} if fault.data is None else {"data": fault.data})
    return encode({"jsonrpc": "2.0", "id": key, "error": error})


def decode(line: bytes) -> object:
    """Return the value of a line; raises Unreadable."""
    if _is_too_deep(line):
        raise Unreadable(f"nested deeper than {DEPTH_LIMIT}", too_much=True)
    try:
        return _DECODER.decode(line.decode())
    except ValueError as error:
        raise Unreadable(f"not JSON: {error}") from None


def _is_too_deep(line: bytes) -> bool:
    if line.count(b"[") + line.count(b"{") <= DEPTH_LIMIT:  # as in nearly every line: a start loads no more for them
        return False
    from pro0.rules.size import nested_deeper_than

    return nested_deeper_than(DEPTH_LIMIT, line)


def encode(value: object) -> JSON:
    """Return a value as one line of ASCII: no control character and no newline of a text gets out as it is."""
    return _ENCODER.encode(value)


def is_text(value: object) -> bool:
    """Say whether every text in a value can be written as UTF-8: JSON may spell half a surrogate pair."""
    try:
        return bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


def joined(fields: dict[str, JSON]) -> JSON:
    """Return the object of these fields; their values are JSON already."""
    return "{" + ",".join(f"{encode(name)}:{value}" for name, value in fields.items()) + "}"


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number in JSON")


def _finite(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"{text[:30]} is too large a number")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
