"""The scripted provider: what it reads, what it refuses, and what it keeps of requests that it cannot read."""

import json
import socket
from collections.abc import Iterator

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import ModelTurn, say
from tests.waiting import STUCK, wait_until

ELSEWHERE = "http://telemetry.example.com/x"
BODY = json.dumps({"messages": [{"role": "user", "content": "w1"}], "tools": [{"name": "Bash"}]}).encode()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider().serving() as serving:
        serving.script("w1", lambda _: say("Yes."))
        yield serving


def connected(provider: Provider, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(provider.url.rpartition(":")[2])), STUCK)
    connection.sendall(sent)
    return connection


def answered(provider: Provider, sent: bytes) -> bytes:
    """Send bytes as they are, and return all that comes until the provider hangs up, or has said all."""
    with connected(provider, sent) as connection, connection.makefile("rb") as heard:
        head = b"".join(iter(heard.readline, b"\r\n")) if (first := heard.readline()) else b""
        sizes = [int(line[15:]) for line in head.splitlines() if line.lower().startswith(b"content-length")]
        return first + head + (heard.read(sizes[0]) if sizes and not sent.startswith(b"HEAD") else b"")


def post(*headers: str, body: bytes = b"", place: str = "/v1/messages") -> bytes:
    return "\r\n".join([f"POST {place} HTTP/1.1", "Host: x", *headers, "", ""]).encode() + body


@pytest.mark.parametrize("verb", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_every_verb_for_another_machine_is_refused_and_named(
    provider: Provider, verb: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Behaviour 3.30: nothing but this machine is reached."""
    words = f"{verb} {ELSEWHERE} HTTP/1.1\r\nHost: telemetry.example.com\r\nContent-Length: 2\r\n\r\n{{}}"
    assert answered(provider, words.encode()) == b""
    assert (provider.refused, provider.other, provider.faults) == (["telemetry.example.com"], [], [])
    here = f"{verb} /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}"
    assert answered(provider, here.encode()).startswith(b"HTTP/1.1 200 ")
    assert provider.other == [f"{verb} /x"]
    answered(provider, b"NO-SUCH /x HTTP/1.1\r\n\r\n")
    assert capfd.readouterr() == ("", "")


CHUNKS = b"".join(b"%x;a=b\r\n%s\r\n" % (len(one), one) for one in (BODY[:1], BODY[1:20], BODY[20:])) + b"0\r\n"


@pytest.mark.parametrize("end", [b"\r\n", b"Trailer: x\r\n\r\n"])
def test_a_body_in_chunks_is_read_and_the_connection_goes_on(provider: Provider, end: bytes) -> None:
    twice = post("Transfer-Encoding: chunked", body=CHUNKS + end) * 2
    with connected(provider, twice) as connection, connection.makefile("rb") as heard:
        assert heard.readline().startswith(b"HTTP/1.1 200 ")
        wait_until(lambda: len(provider.of("w1")) == 2, STUCK, "both are answered")
    assert provider.faults == []


@pytest.mark.parametrize(
    ("request_bytes", "why"),
    [
        (post("Content-Length: -1", body=BODY), "ValueError"),
        (post("Content-Length: abc", body=BODY), "ValueError"),
        (post("Transfer-Encoding: chunked", body=b"-5\r\nabcde\r\n0\r\n\r\n"), "ValueError"),
        (post("Transfer-Encoding: chunked", body=b"no\r\n"), "ValueError"),
        (post("Content-Length: 3", body=b"\xff{}"), "UnicodeDecodeError"),
        (post("Content-Length: 2", body=b"[]"), "AttributeError"),
        (post("Content-Length: 33", body=b'{"messages": [{"role": "user" } ]}'[:33]), "JSONDecodeError"),
        (post("Content-Length: 34", body=b'{"messages": [{"role": "user" } ]}'), "KeyError: 'content'"),
        (post("Content-Length: 14", body=b'{"tools": [1]}'), "TypeError"),
    ],
)
def test_what_it_cannot_read_is_kept_and_answered(provider: Provider, request_bytes: bytes, why: str) -> None:
    """A fault of the model is no silence of the agent."""
    answer = answered(provider, request_bytes)
    assert answer.startswith(b"HTTP/1.1 400 ")
    [fault] = provider.faults
    assert why in fault
    assert fault.startswith("POST /v1/messages: ")
    assert json.loads(answer[answer.index(b"{") :])["error"]["message"] == fault


def test_a_script_that_fails_is_kept(provider: Provider) -> None:
    def script(_: object) -> ModelTurn:
        raise RuntimeError("the script is wrong")

    provider.script("w1", script)
    assert answered(provider, post(f"Content-Length: {len(BODY)}", body=BODY)) == b""
    wait_until(lambda: provider.faults == ["RuntimeError: the script is wrong"], STUCK, "it is kept")


@pytest.mark.parametrize(
    "sent",
    [
        post("Content-Length: 100", body=b"{"),
        post("Transfer-Encoding: chunked", body=b"64\r\n{"),
        post("Transfer-Encoding: chunked", body=b"1\r\n{\r\n"),
        post("Content-Length: 100", place=ELSEWHERE),
    ],
)
def test_an_agent_that_hangs_up_is_no_fault(provider: Provider, sent: bytes) -> None:
    with connected(provider, sent) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b"", "nothing waits for it"
    assert (provider.faults, provider.exchanges) == ([], [])
