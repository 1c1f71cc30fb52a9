"""One client's conversation in JSON-RPC 2.0: what each message means, and exactly one answer to each request."""

from collections.abc import Callable

from pro0.wire import INVALID_REQUEST, JSON, Batch, Fault, encode, failed, joined, message_of

CANCELLED = -32800
"""The code that the Language Server Protocol gives a request that its client has cancelled."""
CANCEL = "$/cancelRequest"
BATCH_LIMIT = 100
"""The most messages in one array."""
ID_LIMIT = 1024
"""The most letters in a request's id, which the answer repeats."""

Key = str | int | float | None
"""The id of a request: a text, a number or null."""
Answer = Callable[[JSON | None], None]
"""Takes the response to one message; None for a message without a response."""


class RpcRequest:
    """One call under way. `key` is its id. A notification has none, and no answer to it is `wanted`."""

    def __init__(self, method: str, params: object, answer: Answer, *, key: Key = None, wanted: bool = True) -> None:
        self.method = method
        self.params = params
        self.key = key
        self.wanted = wanted
        self.cancelled = False
        self._answer = answer

    def finish(self, outcome: JSON | Fault) -> None:
        """Answer with a result, which is JSON, or with a fault; a notification is not answered."""
        if not self.wanted:
            self._answer(None)
        elif isinstance(outcome, Fault):
            self._answer(failed(self.key, outcome))
        else:
            self._answer(joined({"jsonrpc": encode("2.0"), "id": encode(self.key), "result": outcome}))


class RpcConversation:
    """Takes in the messages of one client in order; `send` gets the responses, `start` the requests to perform."""

    def __init__(self, send: Callable[[JSON], None], start: Callable[[RpcRequest], None]) -> None:
        self._send = send
        self._start = start
        self._open: list[RpcRequest] = []

    @property
    def under_way(self) -> int:
        """Return the number of requests that are not finished."""
        return len(self._open)

    def receive(self, line: bytes | None) -> None:
        """Take in one message, None for one that was too long; ignore an empty line."""
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
            self._message(message, self._one)

    def finish(self, request: RpcRequest, outcome: JSON | Fault) -> None:
        """Answer a request that was started."""
        self._open.remove(request)
        request.finish(outcome)

    def _one(self, response: JSON | None) -> None:
        if response is not None:
            self._send(response)

    def _receive_many(self, messages: list[object]) -> None:
        if not 0 < len(messages) <= BATCH_LIMIT:
            self._send(failed(None, Fault(INVALID_REQUEST, f"a batch must hold 1 to {BATCH_LIMIT} messages")))
            return
        batch = Batch(len(messages), self._send)
        for message in messages:
            self._message(message, batch.answer)

    def _message(self, message: object, answer: Answer) -> None:
        key = _key(message)
        try:
            method, params = _parts(message)
        except Fault as fault:
            answer(failed(key, fault))
            return
        assert isinstance(message, dict)
        request = RpcRequest(method, params, answer, key=key, wanted="id" in message)
        if method.startswith("$/") and not request.wanted:
            if method == CANCEL:
                self._cancel(params)
            answer(None)  # any other notification of the protocol is ignored
        else:
            self._open.append(request)
            self._start(request)

    def _cancel(self, params: object) -> None:
        if isinstance(params, dict) and _is_key(key := params.get("id")):
            for request in self._open:
                request.cancelled |= request.wanted and request.key == key and type(request.key) is type(key)


def notice(method: str, params: JSON) -> JSON:
    """Return a notification to the client."""
    return joined({"jsonrpc": encode("2.0"), "method": encode(method), "params": params})


def is_notice(line: bytes) -> bool:
    """Return True for a line made by `notice`, which is not an answer."""
    return line.startswith(_NOTICE)


def _parts(message: object) -> tuple[str, object]:
    """Return method and params of a message; raises Fault for one that is no request."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Fault(INVALID_REQUEST, 'a message must be an object with "jsonrpc": "2.0"')
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise Fault(INVALID_REQUEST, "method must be a string")
    if "id" in message and not _is_key(message["id"]):
        raise Fault(INVALID_REQUEST, f"id must be a number, null, or a string of at most {ID_LIMIT} characters")
    if not isinstance(params, dict | list):
        raise Fault(INVALID_REQUEST, "params must be an object or an array")
    return method, params


def _key(message: object) -> Key:
    """Return the id of a message, None when it has no id that an answer may repeat."""
    key = message.get("id") if isinstance(message, dict) else None
    return key if _is_key(key) else None


def _is_key(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= ID_LIMIT
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


_NOTICE = notice("", "{}").partition('""')[0].encode()
"""The beginning of every notification, and of no answer."""
