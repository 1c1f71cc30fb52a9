"""One client's conversation: the meaning of each message in its era, the immediate answers, the calls under way.

Two eras (MCP 2024-11-05 to 2025-11-25, and 2026-07-28): a client of the older one opens with `initialize`; each request
of the newer one carries its version in `_meta` and is answered without regard to any other. Both are served at once.
"""

from collections.abc import Callable

from pro0 import __version__
from pro0.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    JSON,
    METHOD_NOT_FOUND,
    Batch,
    Fault,
    encode,
    failed,
    joined,
    message_of,
)

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that `initialize` can agree on, oldest first."""
STATELESS = ("2026-07-28",)
"""The versions that a request names in `_meta`."""
BATCHING = HANDSHAKE[:2]
"""The versions in which several messages may come as one array."""
BATCH_LIMIT = 64
CALL_LIMIT = 64
"""Calls under way at once; a client that wants more is told to wait."""
FRESH = 300_000
"""Milliseconds for which a client may keep the list of tools; it depends on nothing but this process's identity."""

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SERVER = encode({"name": "pro0", "version": __version__})
ABILITIES = encode({"tools": {}})

UNSUPPORTED_VERSION = -32022

Key = str | int
Answer = Callable[[JSON | None], None]
"""Takes the response to one message, None for a message that gets none."""


class Listing:
    """The first answer to a client: the instructions for this server, and its tools."""

    def __init__(self, instructions: str, tools: object) -> None:
        self.instructions = encode(instructions)
        self.tools = encode(tools)


class Call:
    """One call of a tool that is under way."""

    def __init__(self, key: Key, name: str, arguments: dict[str, object], answer: Answer, *, stateless: bool) -> None:
        self.key = key
        self.name = name
        self.arguments = arguments
        self.answer = answer
        self.stateless = stateless
        self.cancelled = False
        self.if_lost: Callable[[], object] | None = None
        """The action for when the client never reads the result; set by the function that runs the call."""

    def lost(self) -> None:
        """Run `if_lost`, once."""
        act, self.if_lost = self.if_lost, None
        if act:
            act()


class Conversation:
    """Takes in lines in order; `send` gets the responses, `start` the calls, which come back through `finish`.

    `later` runs an action after the calls that were started before.
    """

    def __init__(
        self,
        listing: Listing,
        send: Callable[[JSON], None],
        start: Callable[[Call], None],
        later: Callable[[Callable[[], None]], None],
    ) -> None:
        self._listing = listing
        self._send = send
        self._start = start
        self._later = later
        self._version = ""
        self.listed = False
        """Whether the client has asked for the tools."""
        self._calls: dict[Key, Call] = {}
        self._sent: dict[Key, Call] = {}
        """Answered calls whose results the client may not have read yet."""

    def receive(self, line: bytes | None) -> None:
        """Take in one line; None stands for a line that was too long."""
        if line is not None and not line.strip():
            return
        try:
            message = message_of(line)
        except Fault as fault:
            self._send(failed(None, fault))
            return
        if isinstance(message, list):
            self._receive_many(message)
        else:
            self._message(message, self._answer)

    def finish(self, call: Call, outcome: dict[str, JSON] | Fault) -> None:
        """Answer a call with its result or fault, unless it was cancelled."""
        self._calls.pop(call.key, None)
        if call.if_lost:
            self._sent[call.key] = call
        if call.cancelled:
            call.answer(None)
        elif isinstance(outcome, Fault):
            call.answer(failed(call.key, outcome))
        else:
            call.answer(_done(call.key, outcome, stateless=call.stateless))

    @property
    def unsure(self) -> bool:
        """Return True while the client may not have read an important result."""
        return bool(self._sent)

    def taken(self) -> None:
        """Note that the client has read every result so far, and had cancelled none of the calls when it did.

        A client that cancels later has the result: OpenCode cancels every call of a turn when the turn ends.
        """
        self._sent.clear()

    def lost(self) -> None:
        """Note that the client will read nothing more."""
        for call in self._sent.values():
            self._later(call.lost)
        self._sent.clear()

    def _answer(self, response: JSON | None) -> None:
        if response is not None:
            self._send(response)

    def _receive_many(self, messages: list[object]) -> None:
        why = ""
        if self._version not in BATCHING:
            why = f"an array of messages is not part of MCP {self._version or STATELESS[-1]}"
        elif not 0 < len(messages) <= BATCH_LIMIT:
            why = f"an array must hold 1 to {BATCH_LIMIT} messages"
        elif any(isinstance(message, dict) and message.get("method") == "initialize" for message in messages):
            why = "initialize must be sent alone, not in an array"
        if why:
            self._send(failed(None, Fault(INVALID_REQUEST, why)))
            return
        batch = Batch(len(messages), self._send)
        for message in messages:
            self._message(message, batch.answer)

    def _message(self, message: object, answer: Answer) -> None:
        key = _key(message)
        try:
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise Fault(INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            method = message.get("method")
            if not isinstance(method, str):
                if method is None and ("result" in message or "error" in message):
                    answer(None)  # nothing was ever asked of the client
                    return
                raise Fault(INVALID_REQUEST, "method must be a string")
            params = message.get("params", {})
            if "id" not in message:
                self._notice(method, params)
                answer(None)
            elif key is None:
                raise Fault(INVALID_REQUEST, "id must be a string or a whole number")
            else:
                self._request(key, method, params, answer)
        except Fault as fault:
            answer(failed(key, fault))

    def _notice(self, method: str, params: object) -> None:
        """Take in a notification; an unknown or malformed one is ignored."""
        if method != "notifications/cancelled" or not isinstance(params, dict):
            return
        key = params.get("requestId")
        if not isinstance(key, str | int):
            return
        if call := self._calls.get(key):
            call.cancelled = True
            self._later(call.lost)  # before any call that comes after this notice
        elif call := self._sent.pop(key, None):
            self._later(call.lost)

    def _request(self, key: Key, method: str, params: object, answer: Answer) -> None:
        if not isinstance(params, dict):
            raise Fault(INVALID_PARAMS, "params must be an object")
        stateless = self._is_stateless(method, params)
        if method == "tools/call":
            self._call(key, params, answer, stateless=stateless)
        else:
            body = self._stateless(method, params) if stateless else self._handshake(method, params)
            answer(_done(key, body, stateless=stateless))

    def _is_stateless(self, method: str, params: dict[str, object]) -> bool:
        """Return True for a request of the newer era; raises Fault for neither era, or no version."""
        meta = params.get("_meta")
        if method != "initialize" and isinstance(meta, dict) and VERSION in meta:
            _check(meta)
            if method not in _STATELESS_METHODS:
                raise Fault(METHOD_NOT_FOUND, f"there is no method {method}")
            return True
        if method not in _HANDSHAKE_METHODS and (self._version or method not in _STATELESS_METHODS):
            raise Fault(METHOD_NOT_FOUND, f"there is no method {method}")
        if not self._version and method not in ("initialize", "ping"):
            raise Fault(INVALID_PARAMS, f"initialize first, or name the version in _meta as {VERSION}")
        return False

    def _handshake(self, method: str, params: dict[str, object]) -> dict[str, JSON]:
        match method:
            case "initialize":
                return self._initialize(params)
            case "tools/list":
                return self._tools(params)
            case _:
                return {}

    def _stateless(self, method: str, params: dict[str, object]) -> dict[str, JSON]:
        hints = {"ttlMs": encode(FRESH), "cacheScope": encode("private")}
        if method == "tools/list":
            return {**self._tools(params), **hints}
        versions, instructions = encode(STATELESS), self._listing.instructions
        return {"supportedVersions": versions, "capabilities": ABILITIES, "instructions": instructions, **hints}

    def _initialize(self, params: dict[str, object]) -> dict[str, JSON]:
        requested = params.get("protocolVersion")
        if not isinstance(requested, str):
            raise Fault(INVALID_PARAMS, "protocolVersion must be a string")
        self._version = requested if requested in HANDSHAKE else HANDSHAKE[-1]
        return {
            "protocolVersion": encode(self._version),
            "capabilities": ABILITIES,
            "serverInfo": SERVER,
            "instructions": self._listing.instructions,
        }

    def _tools(self, params: dict[str, object]) -> dict[str, JSON]:
        if params.get("cursor") is not None:
            raise Fault(INVALID_PARAMS, "there is only one page of tools, and no cursor")
        self.listed = True
        return {"tools": self._listing.tools}

    def _call(self, key: Key, params: dict[str, object], answer: Answer, *, stateless: bool) -> None:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise Fault(INVALID_PARAMS, "a call needs a name; its arguments must be an object")
        if key in self._calls:
            raise Fault(INVALID_REQUEST, f"the request {encode(key)} is already under way")
        if len(self._calls) >= CALL_LIMIT:
            raise Fault(INTERNAL_ERROR, f"{CALL_LIMIT} calls are under way: wait for one of them")
        call = self._calls[key] = Call(key, name, arguments or {}, answer, stateless=stateless)
        self._start(call)


_HANDSHAKE_METHODS = ("initialize", "ping", "tools/list", "tools/call")
_STATELESS_METHODS = ("server/discover", "tools/list", "tools/call")


def _key(message: object) -> Key | None:
    """Return the id of a request, None for a missing or invalid one."""
    key = message.get("id") if isinstance(message, dict) else None
    return key if isinstance(key, str | int) and not isinstance(key, bool) else None


def _check(meta: dict[str, object]) -> None:
    """Raise Fault for incomplete request metadata, or for an unsupported version."""
    version = meta[VERSION]
    if not isinstance(version, str) or not isinstance(meta.get(CAPABILITIES), dict):
        raise Fault(INVALID_PARAMS, f"_meta needs {VERSION}, a string, and {CAPABILITIES}, an object")
    if version not in STATELESS:
        supported = {"supported": STATELESS, "requested": version}
        raise Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", supported)


def _done(key: Key, body: dict[str, JSON], *, stateless: bool) -> JSON:
    if stateless:
        body = {"resultType": encode("complete"), **body, "_meta": joined({SERVER_INFO: SERVER})}
    return joined({"jsonrpc": encode("2.0"), "id": encode(key), "result": joined(body)})
