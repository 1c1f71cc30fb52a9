"""Lines of JSON-RPC: input is bounded in size and depth, output is one line of ASCII."""

import json
from collections.abc import Callable, Iterator
from math import isinf

LINE_LIMIT = 4 * 1024 * 1024
"""The most bytes of one message. The longest text for an operation is far shorter, even when escaped."""
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
    """An unusable line; `too_much` is True when it may be JSON but exceeds a limit."""

    def __init__(self, why: str, *, too_much: bool = False) -> None:
        super().__init__(why)
        self.too_much = too_much


class Fault(Exception):
    """The reason to answer a message with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class LineSplitter:
    """Cuts a stream of bytes into lines. The content of a line over the limit is dropped."""

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
    """Collects the responses to an array of messages, and sends them together after the last one."""

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
    """Return the message in a line; raises Fault for an unreadable line, and for None, a line over the limit."""
    try:
        if line is None:
            raise Unreadable(f"longer than {LINE_LIMIT} bytes", too_much=True)
        return decode(line)
    except Unreadable as error:
        raise Fault(INVALID_REQUEST if error.too_much else PARSE_ERROR, str(error)) from None


def failed(key: str | int | float | None, fault: Fault) -> JSON:
    """Return the error response for a fault."""
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
    if line.count(b"[") + line.count(b"{") <= DEPTH_LIMIT:  # true of nearly every line, which so needs no import
        return False
    from pro0.rules.size import nested_deeper_than

    return nested_deeper_than(DEPTH_LIMIT, line)


def encode(value: object) -> JSON:
    """Return a value as one line of ASCII, with all control characters and newlines of its texts escaped."""
    return _ENCODER.encode(value)


def readable(value: object) -> str:
    """Return a value as JSON for somebody who reads it: letters outside ASCII are not escaped."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def is_text(value: object) -> bool:
    """Return True when every text in a value can be written as UTF-8: JSON may contain half a surrogate pair."""
    try:
        return bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


def joined(fields: dict[str, JSON]) -> JSON:
    """Return the JSON object of these fields, whose values are JSON text already."""
    return "{" + ",".join(f"{encode(name)}:{value}" for name, value in fields.items()) + "}"


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number in JSON")


def _finite(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"{text[:30]} is too large a number")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
