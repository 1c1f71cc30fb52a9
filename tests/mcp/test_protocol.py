"""One conversation, message by message: both eras, versions, arrays of messages, errors, calls and their ends."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pro0.mcp.protocol import (
    BATCH_LIMIT,
    CALL_LIMIT,
    CAPABILITIES,
    HANDSHAKE,
    SERVER_INFO,
    STATELESS,
    VERSION,
    Call,
    Conversation,
    Listing,
)
from pro0.wire import Fault

TOOLS = [{"name": "one"}, {"name": "two"}]
NEW = {VERSION: STATELESS[-1], CAPABILITIES: {}}
PARSE, REQUEST, METHOD, PARAMS, INTERNAL, UNSUPPORTED = -32700, -32600, -32601, -32602, -32603, -32022


class Client:
    """Says lines to a conversation, and keeps what it answers and which calls it starts."""

    def __init__(self, version: str = "") -> None:
        self.heard: list[Any] = []
        self.calls: list[Call] = []
        self.acts: list[Callable[[], None]] = []
        listing = Listing("how to begin", TOOLS)
        self.talk = Conversation(listing, self._hear, self.calls.append, self.acts.append)
        if version:
            self.ask("initialize", {"protocolVersion": version}, id=0)

    def _hear(self, line: str) -> None:
        assert "\n" not in line
        self.heard.append(json.loads(line))

    def say(self, message: object) -> list[Any]:
        """Send one message and return what is answered at once."""
        before = len(self.heard)
        self.talk.receive(message if isinstance(message, bytes) else json.dumps(message).encode())
        return self.heard[before:]

    def ask(self, method: str, params: object = None, id: object = 1) -> Any:
        """Send one request and return the only answer."""
        message = {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params})
        [answer] = self.say(message)
        return answer

    def call(self, id: object = 1, name: str = "one", **params: object) -> Call:
        """Start a call."""
        assert not self.say({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, **params}})
        return self.calls[-1]

    def cancel(self, id: object) -> None:
        """Cancel a request."""
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        assert self.say(notice) == []

    def error(self, message: object) -> tuple[object, int]:
        """Send one message and return id and code of the error that it gets."""
        [answer] = self.say(message)
        return answer["id"], answer["error"]["code"]


def request(method: str, id: object = 1, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def modern(method: str, id: object = 1, **params: object) -> dict[str, object]:
    return request(method, id, _meta=NEW, **params)


@pytest.mark.parametrize("version", HANDSHAKE)
def test_a_version_that_is_known_is_agreed_on(version: str) -> None:
    answer = Client().ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    result = answer["result"]
    assert result["protocolVersion"] == version
    assert (result["serverInfo"]["name"], result["capabilities"]) == ("pro0", {"tools": {}})
    assert result["instructions"] == "how to begin"
    assert not {"resultType", "_meta"} & result.keys()


@pytest.mark.parametrize("version", ["2024-10-07", "2026-07-28", "2099-01-01", "", "x"])
def test_any_other_is_answered_with_the_newest_that_has_a_handshake(version: str) -> None:
    assert Client().ask("initialize", {"protocolVersion": version})["result"]["protocolVersion"] == HANDSHAKE[-1]


@pytest.mark.parametrize("version", HANDSHAKE)
def test_after_the_handshake(version: str) -> None:
    client = Client(version)
    assert client.say({"jsonrpc": "2.0", "method": "notifications/initialized"}) == []
    assert client.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert client.ask("tools/list", id="a")["result"] == {"tools": TOOLS}
    assert client.ask("tools/list", {"_meta": {"progressToken": 1}})["result"] == {"tools": TOOLS}


def test_before_the_handshake_only_a_ping_is_answered() -> None:
    client = Client()
    assert client.ask("ping")["result"] == {}
    for method in ("tools/list", "tools/call", "server/discover"):
        assert client.error(request(method, name="one")) == (1, PARAMS)
    assert client.error(request("resources/list")) == (1, METHOD)


def test_a_request_of_the_newer_era_needs_nothing_before() -> None:
    """MCP 2026-07-28: every result says that it is complete, and who gave it."""
    client = Client()
    [found] = client.say(modern("server/discover"))
    assert found["result"]["supportedVersions"] == list(STATELESS)
    assert (found["result"]["capabilities"], found["result"]["instructions"]) == ({"tools": {}}, "how to begin")
    [listed] = client.say(modern("tools/list"))
    assert listed["result"]["tools"] == TOOLS
    for result in (found["result"], listed["result"]):
        assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
        assert result["_meta"][SERVER_INFO]["name"] == "pro0"
        assert result["ttlMs"] >= 0


def test_both_eras_are_served_side_by_side() -> None:
    client = Client(HANDSHAKE[-1])
    assert client.say(modern("tools/list"))[0]["result"]["resultType"] == "complete"
    assert "resultType" not in client.ask("tools/list")["result"]


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "subscriptions/listen", "resources/list", "x", ""])
def test_what_the_newer_era_does_not_have_or_we_do_not(method: str) -> None:
    """AC-54"""
    assert Client().error(modern(method)) == (1, METHOD)


def test_what_the_older_era_does_not_have_or_we_do_not() -> None:
    client = Client(HANDSHAKE[-1])
    for method in ("server/discover", "resources/list", "prompts/list", "logging/setLevel", "tools/Call", ""):
        assert client.error(request(method)) == (1, METHOD)


@pytest.mark.parametrize("version", ["1900-01-01", "2025-11-25", "2026-07-29", ""])
def test_a_version_that_is_not_served_is_answered_with_those_that_are(version: str) -> None:
    meta = NEW | {VERSION: version}
    [answer] = Client().say(request("tools/list", _meta=meta))
    assert answer["error"]["code"] == UNSUPPORTED
    assert answer["error"]["data"] == {"supported": list(STATELESS), "requested": version}


@pytest.mark.parametrize("meta", [{VERSION: "2026-07-28"}, {VERSION: 1, CAPABILITIES: {}}, {**NEW, CAPABILITIES: []}])
def test_incomplete_metadata_is_refused(meta: dict[str, object]) -> None:
    assert Client().error(request("tools/list", _meta=meta)) == (1, PARAMS)


MALFORMED: dict[str, tuple[object, object, int]] = {
    "garbage": (b"garbage", None, PARSE),
    "half": (b'{"jsonrpc":"2.0","id":1', None, PARSE),
    "deep": (b"[" * 50_000, None, REQUEST),
    "a string": ("hello", None, REQUEST),
    "a number": (7, None, REQUEST),
    "null": (b"null", None, REQUEST),
    "nothing inside": ({}, None, REQUEST),
    "no version": ({"id": 1, "method": "ping"}, 1, REQUEST),
    "another version": ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 1, REQUEST),
    "no method": ({"jsonrpc": "2.0", "id": 1}, 1, REQUEST),
    "a method that is no text": ({"jsonrpc": "2.0", "id": 1, "method": 1}, 1, REQUEST),
    "null as id": ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None, REQUEST),
    "true as id": ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None, REQUEST),
    "a broken number as id": ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None, REQUEST),
    "a list as id": ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, None, REQUEST),
    "params as list": ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}, 1, PARAMS),
    "params as null": ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": None}, 1, PARAMS),
    "a cursor": (request("tools/list", cursor="x"), 1, PARAMS),
    "initialize without version": (request("initialize"), 1, PARAMS),
    "initialize with a number": (request("initialize", protocolVersion=1), 1, PARAMS),
    "a call without name": (request("tools/call"), 1, PARAMS),
    "a call of a number": (request("tools/call", name=1), 1, PARAMS),
    "arguments as list": (request("tools/call", name="one", arguments=[]), 1, PARAMS),
    "arguments as text": (request("tools/call", name="one", arguments="x"), 1, PARAMS),
}


@pytest.mark.parametrize(("message", "id", "code"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_message_gets_the_right_error_and_the_next_is_served(
    message: object, id: object, code: int
) -> None:
    client = Client(HANDSHAKE[-1])
    assert client.error(message) == (id, code)
    assert client.ask("ping", id=9)["result"] == {}
    assert not client.calls


@pytest.mark.parametrize("era", [request, modern])
def test_a_line_that_is_too_long_gets_an_error(era: Callable[..., dict[str, object]]) -> None:
    client = Client(HANDSHAKE[-1])
    client.talk.receive(None)
    assert client.heard[-1]["error"]["code"] == REQUEST
    assert client.say(era("tools/list"))[0]["result"]


SILENT = {
    "empty": b"",
    "blank": b" \t\r",
    "a notice": {"jsonrpc": "2.0", "method": "notifications/initialized"},
    "an unknown notice": {"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": 1}},
    "a notice with a list": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []},
    "a cancellation of nothing": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
    "a cancellation of no id": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
    "a call without id": {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "one"}},
    "a response": {"jsonrpc": "2.0", "id": 5, "result": {}},
    "an error": {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}},
}


@pytest.mark.parametrize("message", SILENT.values(), ids=SILENT)
def test_what_gets_no_answer_does_nothing(message: object) -> None:
    client = Client(HANDSHAKE[-1])
    assert client.say(message) == []
    assert not client.calls


@pytest.mark.parametrize("version", HANDSHAKE[:2])
def test_an_array_of_messages_is_answered_with_one(version: str) -> None:
    """MCP 2025-03-26: receiving them is a duty; the one before leaves it to JSON-RPC."""
    client = Client(version)
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    [answers] = client.say([request("ping", 1), notice, request("nope", 2), "x", request("tools/list", 3)])
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in answers] == [
        (1, None),
        (2, METHOD),
        (None, REQUEST),
        (3, None),
    ]
    assert client.say([notice, notice]) == []


def test_an_array_with_calls_is_answered_when_the_last_one_is_done() -> None:
    client = Client(HANDSHAKE[1])
    assert client.say([request("tools/call", 1, name="one"), request("tools/call", 2, name="two")]) == []
    first, second = client.calls
    client.talk.finish(second, {"content": "[]"})
    assert len(client.heard) == 1
    client.talk.finish(first, Fault(PARAMS, "Unknown tool: one"))
    assert [answer["id"] for answer in client.heard[-1]] == [2, 1]


@pytest.mark.parametrize("version", [*HANDSHAKE[2:], ""])
def test_later_versions_have_no_arrays(version: str) -> None:
    assert Client(version).error([request("ping")]) == (None, REQUEST)


@pytest.mark.parametrize("batch", [[], [request("ping")] * (BATCH_LIMIT + 1), [request("initialize")]])
def test_an_array_that_is_empty_or_too_long_or_opens_is_refused(batch: list[object]) -> None:
    assert Client(HANDSHAKE[1]).error(batch) == (None, REQUEST)


def test_a_call_is_answered_when_it_is_done_and_meanwhile_others_are() -> None:
    client = Client(HANDSHAKE[-1])
    call = client.call(7, "two", arguments={"a": 1})
    assert (call.key, call.name, call.arguments, call.stateless) == (7, "two", {"a": 1}, False)
    assert client.ask("ping", id=8)["result"] == {}
    client.talk.finish(call, {"content": "[]", "isError": "true"})
    assert client.heard[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"content": [], "isError": True}}


def test_a_call_of_the_newer_era_is_answered_in_its_form() -> None:
    client = Client()
    assert client.say(modern("tools/call", "a", name="one")) == []
    client.talk.finish(client.calls[0], {"content": "[]"})
    result = client.heard[-1]["result"]
    assert (result["resultType"], result["content"], client.heard[-1]["id"]) == ("complete", [], "a")


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_call_may_be_without_arguments(arguments: dict[str, object]) -> None:
    assert Client(HANDSHAKE[-1]).call(**arguments).arguments == {}  # type: ignore[arg-type]


def test_a_cancelled_call_gets_no_answer() -> None:
    client = Client(HANDSHAKE[-1])
    call = client.call(3)
    client.cancel(3)
    assert call.cancelled
    client.talk.finish(call, {"content": "[]"})
    assert len(client.heard) == 1
    client.talk.finish(client.call(3), {"content": "[]"})
    assert client.heard[-1]["id"] == 3


@pytest.mark.parametrize("when", ["before it is done", "after it was answered", "when the client is gone"])
def test_what_the_client_did_not_take_in_is_taken_back_once(when: str) -> None:
    """Rulings 3.4: never acknowledge what nobody saw; in the order of the calls."""
    client, done = Client(HANDSHAKE[-1]), list[str]()
    call = client.call(3)
    call.if_lost = lambda: done.append("lost")
    if when == "before it is done":
        client.cancel(3)
    client.talk.finish(call, {"content": "[]"})
    if when == "when the client is gone":
        client.talk.lost()
    elif when == "after it was answered":
        client.cancel(3)
        client.cancel(3)
    for act in client.acts:
        act()
    assert done == ["lost"]


def test_a_cancellation_of_what_was_taken_in_takes_nothing_back() -> None:
    """OpenCode cancels every call of a turn when the turn ends: its mail would be given to it again and again."""
    client = Client(HANDSHAKE[-1])
    call = client.call(3)
    call.if_lost = lambda: None
    client.talk.finish(call, {"content": "[]"})
    assert client.talk.unsure
    client.talk.taken()
    client.cancel(3)
    client.talk.lost()
    assert (client.talk.unsure, client.acts) == (False, [])


def test_a_result_that_does_not_matter_leaves_no_doubt() -> None:
    client = Client(HANDSHAKE[-1])
    client.talk.finish(client.call(3), {"content": "[]"})
    assert not client.talk.unsure


def test_cancelling_another_call_takes_nothing_back() -> None:
    client, done = Client(HANDSHAKE[-1]), list[str]()
    call = client.call(3)
    call.if_lost = lambda: done.append("lost")
    client.talk.finish(call, {"content": "[]"})
    client.cancel(4)
    client.cancel("3")
    assert (done, client.acts) == ([], [])


def test_an_id_that_is_under_way_is_refused() -> None:
    client = Client(HANDSHAKE[-1])
    client.call(3)
    assert client.error(request("tools/call", 3, name="one")) == (3, REQUEST)
    assert len(client.calls) == 1


def test_only_so_many_calls_are_under_way_at_once() -> None:
    client = Client(HANDSHAKE[-1])
    for id in range(CALL_LIMIT):
        client.call(id)
    assert client.error(request("tools/call", "more", name="one")) == ("more", INTERNAL)
    client.talk.finish(client.calls[0], {"content": "[]"})
    client.call("more")
