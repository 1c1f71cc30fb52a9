"""JSON-RPC 2.0, strictly: any bytes leave the conversation as it was, each request has exactly one answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.rpc.protocol import BATCH_LIMIT, CANCELLED, ID_LIMIT, RpcConversation, RpcRequest
from pro0.wire import LINE_LIMIT, Fault

VERSION = {"jsonrpc": "2.0"}


class Spoken:
    """A conversation whose requests are answered when the test says so; `fail` is answered with a fault."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.started: list[RpcRequest] = []
        self.conversation = RpcConversation(self.said.append, self.started.append)

    def hear(self, *messages: object) -> list[Any]:
        """Take in messages, texts and bytes as they are; answer all that was started; return what was said."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.conversation.receive(line)
        while self.started:
            request = self.started.pop(0)
            fault = Fault(CANCELLED, "cancelled") if request.cancelled else Fault(-32001, "failed")
            good = json.dumps({"method": request.method, "params": request.params})
            self.conversation.finish(request, fault if request.cancelled or request.method == "fail" else good)
        heard, self.said[:] = [json.loads(text) for text in self.said], []
        return heard


def result(id: object, method: str, params: object) -> dict[str, object]:
    return VERSION | {"id": id, "result": {"method": method, "params": params}}


def error(heard: Any) -> tuple[object, int]:
    assert set(heard) == {"jsonrpc", "id", "error"}
    assert isinstance(heard["error"]["message"], str)
    return heard["id"], heard["error"]["code"]


IDS = ["", "a", "é\u2028", "x" * ID_LIMIT, 0, -1, 2**70, 1.5, -0.25, None]


@pytest.mark.parametrize("id", IDS)
def test_an_id_of_any_type_comes_back(id: object) -> None:
    [heard] = Spoken().hear(VERSION | {"id": id, "method": "m", "params": [1]})
    assert heard == result(id, "m", [1])
    assert type(heard["id"]) is type(id)


# The examples of the specification of JSON-RPC 2.0, section 7, and its rules for what a message is.
INVALID = (None, -32600)
TABLE: dict[str, tuple[bytes, list[object]]] = {
    "positional": (b'{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}', [1]),
    "named": (b'{"jsonrpc": "2.0", "method": "subtract", "params": {"a": 23}, "id": 3}', [3]),
    "no params": (b'{"jsonrpc": "2.0", "method": "foobar", "id": "1"}', ["1"]),
    "a notification": (b'{"jsonrpc": "2.0", "method": "update", "params": [1,2,3]}', []),
    "a notification that fails": (b'{"jsonrpc": "2.0", "method": "fail"}', []),
    "a failure": (b'{"jsonrpc": "2.0", "method": "fail", "id": 7}', [(7, -32001)]),
    "not JSON": (b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', [(None, -32700)]),
    "not UTF-8": (b'{"jsonrpc": "2.0", "method": "\xff", "id": 1}', [(None, -32700)]),
    "no number": (b'{"jsonrpc": "2.0", "method": "m", "id": NaN}', [(None, -32700)]),
    "too large a number": (b'{"jsonrpc": "2.0", "method": "m", "id": 1e999}', [(None, -32700)]),
    "a method of no text": (b'{"jsonrpc": "2.0", "method": 1, "params": "bar"}', [INVALID]),
    "no method": (b'{"jsonrpc": "2.0", "id": 4}', [(4, -32600)]),
    "params of no structure": (b'{"jsonrpc": "2.0", "method": "m", "params": "bar", "id": 4}', [(4, -32600)]),
    "params of null": (b'{"jsonrpc": "2.0", "method": "m", "params": null, "id": 4}', [(4, -32600)]),
    "no version": (b'{"method": "m", "id": 1}', [(1, -32600)]),
    "another version": (b'{"jsonrpc": "1.0", "method": "m", "id": 1}', [(1, -32600)]),
    "an id of true": (b'{"jsonrpc": "2.0", "method": "m", "id": true}', [INVALID]),
    "an id of an object": (b'{"jsonrpc": "2.0", "method": "m", "id": {}}', [INVALID]),
    "an id of an array": (b'{"jsonrpc": "2.0", "method": "m", "id": [1]}', [INVALID]),
    "a long id": (json.dumps(VERSION | {"method": "m", "id": "x" * (ID_LIMIT + 1)}).encode(), [INVALID]),
    "a text": (b'"m"', [INVALID]),
    "a number": (b"1", [INVALID]),
    "null": (b"null", [INVALID]),
    "an empty line": (b"", []),
    "spaces": (b" \t\r", []),
    "an empty batch": (b"[]", [INVALID]),
    "a batch of one number": (b"[1]", [[INVALID]]),
    "a batch of numbers": (b"[1,2,3]", [[INVALID, INVALID, INVALID]]),
    "a batch that is cut": (b'[{"jsonrpc": "2.0", "method": "sum", "id": "1"}, {"jsonrpc"]', [(None, -32700)]),
    "a batch of notifications": (b'[{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "2.0", "method": "fail"}]', []),
    "a batch of all kinds": (
        b'[{"jsonrpc": "2.0", "method": "sum", "params": [1], "id": "1"}, {"jsonrpc": "2.0", "method": "n"},'
        b'{"jsonrpc": "2.0", "method": "sub", "id": "2"}, {"foo": "boo"},'
        b'{"jsonrpc": "2.0", "method": "fail", "id": "5"},'
        b'{"jsonrpc": "2.0", "method": "get", "id": "9"}]',
        [["1", "2", INVALID, ("5", -32001), "9"]],
    ),
    "an array in a batch": (b"[[]]", [[INVALID]]),
    "something in passing": (b'{"jsonrpc": "2.0", "method": "$/progress", "params": {"x": 1}}', []),
    "a request of that kind": (b'{"jsonrpc": "2.0", "method": "$/progress", "id": 1}', [1]),
    "too deep": (b"[" * 100 + b"]" * 100, [INVALID]),
    "much too deep": (b"[" * 100_000, [INVALID]),
}  # fmt: skip


def said(heard: object) -> object:
    """Return a response in short: the id of a result, id and code of an error; a batch without its order."""
    if isinstance(heard, list):
        return sorted((said(one) for one in heard), key=str)
    assert isinstance(heard, dict)
    return heard["id"] if "result" in heard else error(heard)


@pytest.mark.parametrize("case", TABLE)
def test_what_is_answered(case: str) -> None:
    line, answers = TABLE[case]
    spoken = Spoken()
    expected = [sorted(answer, key=str) if isinstance(answer, list) else answer for answer in answers]
    assert [said(heard) for heard in spoken.hear(line)] == expected
    assert spoken.hear(VERSION | {"id": 0, "method": "after"}) == [result(0, "after", {})]


def test_what_is_no_request_is_answered_while_a_call_is_under_way() -> None:
    """So the page asks whether its server is there (behaviour 5.9)."""
    spoken = Spoken()
    for message in ({"id": 1, "method": "takes long"}, {"id": 0}):
        spoken.conversation.receive(json.dumps(VERSION | message).encode())
    assert [error(json.loads(text)) for text in spoken.said] == [(0, -32600)]
    assert spoken.conversation.under_way == 1


def test_a_message_over_the_limit_is_told_and_forgotten() -> None:
    spoken = Spoken()
    spoken.conversation.receive(None)
    [heard] = spoken.hear()
    assert error(heard) == INVALID
    assert str(LINE_LIMIT) in heard["error"]["message"]


def test_a_batch_over_the_limit_does_nothing() -> None:
    spoken = Spoken()
    request = VERSION | {"id": 1, "method": "m"}
    assert len(spoken.hear([request] * BATCH_LIMIT)[0]) == BATCH_LIMIT
    assert [error(heard) for heard in spoken.hear([request] * (BATCH_LIMIT + 1))] == [INVALID]


@pytest.mark.parametrize("id", IDS)
def test_a_cancelled_request_is_answered_and_no_other(id: object) -> None:
    spoken = Spoken()
    cancel = VERSION | {"method": "$/cancelRequest", "params": {"id": id}}
    other = VERSION | {"id": "another", "method": "m"}
    notice = VERSION | {"method": "m"}
    heard = spoken.hear(VERSION | {"id": id, "method": "m"}, other, notice, cancel)
    assert [said(one) for one in heard] == [(id, CANCELLED), "another"]


@pytest.mark.parametrize("params", [None, [], {}, {"id": True}, {"id": {}}, {"id": "no such"}, 5, {"id": 1.0}])
def test_a_cancellation_of_nothing_is_passed_over(params: object) -> None:
    spoken = Spoken()
    heard = spoken.hear(
        VERSION | {"id": 1, "method": "m"},
        VERSION | {"method": "$/cancelRequest"} | ({"params": params} if params else {}),
    )
    assert [said(one) for one in heard if "result" in one] == [1]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.none() | st.integers() | st.text(max_size=10) | st.floats(allow_nan=False, allow_infinity=False)
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(["a", "fail", "$/x", ""]), "id": KEYS},
    optional={"params": st.lists(VALUES, max_size=2) | st.dictionaries(st.text(max_size=5), VALUES, max_size=2)},
)
NOTICES = st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "method": st.text(max_size=5)})
MESSAGES = REQUESTS | NOTICES | VALUES | st.dictionaries(st.sampled_from(["jsonrpc", "method", "params", "id"]), VALUES)


@given(st.lists(st.binary(max_size=60)))
def test_no_bytes_end_a_conversation(lines: list[bytes]) -> None:
    spoken = Spoken()
    for line in lines:
        for heard in spoken.hear(line):
            for one in heard if isinstance(heard, list) else [heard]:
                assert ("result" in one) is not ("error" in one)
    assert spoken.hear(VERSION | {"id": "alive", "method": "m"}) == [result("alive", "m", {})]


@given(st.lists(REQUESTS | st.lists(REQUESTS | NOTICES, min_size=1, max_size=4)))
def test_each_request_is_answered_exactly_once(messages: list[Any]) -> None:
    """In a batch too, where notifications stand between; what is answered comes as it was asked, alone or together."""
    asked = [json.dumps(one["id"]) for m in messages for one in (m if isinstance(m, list) else [m]) if "id" in one]
    heard = Spoken().hear(*messages)
    answered = [json.dumps(one["id"]) for h in heard for one in (h if isinstance(h, list) else [h])]
    assert sorted(asked) == sorted(answered)
    together = [m for m in messages if isinstance(m, list) and any("id" in one for one in m)]
    assert sum(isinstance(h, list) for h in heard) == len(together)


@given(st.lists(MESSAGES | st.lists(MESSAGES, max_size=4)))
def test_whatever_is_said_each_response_is_one(messages: list[Any]) -> None:
    for heard in Spoken().hear(*messages):
        for one in heard if isinstance(heard, list) else [heard]:
            assert set(one) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
