"""Requests that no page of ours sends: none of them gets in, whatever else about them is right."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pro0.ops.devices import known
from pro0.web.admitted import CONNECTIONS
from pro0.web.conversations import FULL
from pro0.web.neighbours import owner
from tests.conftest import Result
from tests.waiting import STUCK
from tests.web.browsers import Browser
from tests.web.conftest import Server

HOSTS = (
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:{port}",
    "[::1]:{port}",
    "0.0.0.0:{port}",
    "",
)
ORIGINS = (
    *("", "null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1:{port}"),
    *("http://localhost:{port}.evil.example", "http://127.0.0.1:{port}/", "HTTP://127.0.0.1:{port}", "file://"),
)
METHODS = ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GET", "HEAD", "POST")
TYPES = (
    *("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"),
    *("application/json; charset=utf-7", "text/json", "application/json, text/plain"),
)
RIGHT = "right"
REFUSED = tuple(f"HTTP/1.1 {status}".encode() for status in (400, 403, 404, 405, 413, 415, 421))


class Hostile(NamedTuple):
    """One request: what of it is wrong, or RIGHT; at least one of them is wrong."""

    host: str = RIGHT
    origin: str = RIGHT
    method: str = "POST"
    type: str = RIGHT
    code: str = RIGHT


REQUESTS = [
    *(Hostile(host=host, origin=origin) for host, origin in product(HOSTS, (RIGHT, *ORIGINS[:5]))),
    *(Hostile(origin=origin, method=method) for origin, method in product(ORIGINS, ("POST", "PUT"))),
    *(Hostile(type=type, origin=origin) for type, origin in product(TYPES, (RIGHT, "", "null"))),
    *(Hostile(method=method, host=host) for method, host in product(METHODS[:-1], (RIGHT, *HOSTS[:2]))),
    *(Hostile(code=code) for code in ("", "wrong", "0" * 32, "used", "{}", "too long")),
]
PROOFS = (
    "none",
    "empty cookie",
    "cookie alone",
    "secret alone",
    "wrong secret",
    "wrong cookie",
    "revoked",
    "two secrets",
    RIGHT,
)
PATHS = ("/rpc", "/rpc/alpha", "/terminal/alpha/w1")
UPGRADES = [
    *((path, host, RIGHT, RIGHT) for path, host in product(PATHS, HOSTS)),
    *((path, RIGHT, origin, RIGHT) for path, origin in product(PATHS, ORIGINS)),
    *((path, RIGHT, RIGHT, proof) for path, proof in product(PATHS, PROOFS[:-1])),
    *((path, host, origin, proof) for path, host, origin, proof in product(PATHS, HOSTS[:3], ORIGINS[:3], PROOFS[:4])),
    *((f"/{path}", RIGHT, RIGHT, RIGHT) for path in ("", "pair", "rpc/", "rpc/../rpc/alpha", "terminal", "index.html")),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, Path]]:
    """One server for all of them, and a paired browser."""
    from tests.conftest import let_scripts
    from tests.teams import make_team

    home = tmp_path_factory.mktemp("hostile") / "pro0"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRO0_HOME", str(home))
        patch.setenv("HOME", str(home.parent))
        let_scripts(home)
        make_team(home, "w1")
        server = Server(home)
        browser = Browser(server.url)
        assert browser.pair().status == 200
        yield browser, home
        browser.close()
        server.end()
        for stream in (server.process.stdout, server.process.stderr):
            assert stream
            stream.close()


def test_there_are_three_hundred_of_them() -> None:
    assert len(REQUESTS) + len(UPGRADES) >= 300
    assert len(set(REQUESTS)) == len(REQUESTS)
    assert len(set(UPGRADES)) == len(UPGRADES)


def raw(port: int, lines: list[str], body: bytes = b"") -> bytes:
    """Send exactly these lines and this body, and return the head of the answer."""
    with socket.create_connection(("127.0.0.1", port), STUCK) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        answer = b""
        while b"\r\n\r\n" not in answer and (data := connection.recv(65536)):
            answer += data
        return answer


def test_no_hostile_request_pairs_a_device(served: tuple[Browser, Path], cli: Callable[..., Result]) -> None:
    browser, home = served
    port = int(browser.base.rpartition(":")[2])
    new = subprocess.run(
        [sys.executable, "-m", "pro0", "web", "pair"],
        capture_output=True,
        text=True,
        env=os.environ | {"PRO0_HOME": str(home)},
    ).stdout.strip()
    code = new.partition("#pair=")[2]
    before = known(home)
    through = []
    for request in REQUESTS:
        host = browser.host if request.host == RIGHT else request.host.format(port=port)
        origin = browser.base if request.origin == RIGHT else request.origin.format(port=port)
        content_type = "application/json" if request.type == RIGHT else request.type
        codes = {RIGHT: code, "used": browser.code, "too long": "x" * 5000}
        body = json.dumps({"code": codes.get(request.code, request.code)}).encode()
        lines = [
            f"{request.method} /pair HTTP/1.1",
            *([f"Host: {host}"] if host else []),
            f"Content-Length: {len(body)}",
        ]
        lines += [f"Origin: {origin}"] * bool(origin) + [f"Content-Type: {content_type}"] * bool(content_type)
        answer = raw(port, [*lines, f"Cookie: {browser.cookie}", "Connection: close"], body)
        status = answer.split(b" ", 2)[1:2]
        if (
            status not in ([b"400"], [b"403"], [b"405"], [b"413"], [b"415"], [b"421"])
            or b"access-control" in answer.lower()
        ):
            through.append((request, answer[:80]))
    assert not through
    after = known(home)
    assert (after.devices, len(after.codes)) == (before.devices, len(before.codes))


@pytest.mark.parametrize("path", ["/", "/index.html", "/app.js", "/nothing", "/rpc", "/rpc/alpha"])
def test_whatever_is_not_read_is_refused_by_its_method(served: tuple[Browser, Path], path: str) -> None:
    """Issue 16, must show 3: no other method has an answer, though all else about the request is right."""
    browser, _ = served
    headers = {"Origin": browser.base, "Cookie": browser.cookie, "Content-Type": "application/json"}
    methods = (*METHODS, "CONNECT", "PROPFIND", "get", "X")
    refused = {method for method in methods if browser.request(method, path, b"{}", headers).status == 405}
    assert refused == set(methods) - {"GET", "HEAD"}


def test_no_hostile_upgrade_gets_in(served: tuple[Browser, Path]) -> None:
    browser, _ = served
    port = int(browser.base.rpartition(":")[2])
    right_cookie, right_secret = browser.cookie, browser.secret
    name = right_cookie.partition("=")[0]
    proofs: dict[str, tuple[str, list[str]]] = {
        RIGHT: (right_cookie, [right_secret]),
        "none": ("", []),
        "empty cookie": (f"{name}=", [right_secret]),
        "cookie alone": (right_cookie, []),
        "secret alone": ("", [right_secret]),
        "wrong secret": (right_cookie, ["0" * 64]),
        "wrong cookie": (f"{name}=wrong", [right_secret]),
        "revoked": (f"{name}={'r' * 43}", ["1" * 64]),
        "two secrets": (right_cookie, ["0" * 64, right_secret]),
    }
    through = []
    for path, host, origin, proof in UPGRADES:
        cookie, secrets = proofs[proof]
        lines = [f"GET {path} HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
        lines += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", *([f"Cookie: {cookie}"] if cookie else [])]
        lines += [f"Sec-WebSocket-Protocol: {', '.join(['pro0', *(f'secret.{one}' for one in secrets)])}"]
        host_name = browser.host if host == RIGHT else host.format(port=port)
        origin_name = browser.base if origin == RIGHT else origin.format(port=port)
        lines += [f"Host: {host_name}"] * bool(host_name) + [f"Origin: {origin_name}"] * bool(origin_name)
        answer = raw(port, lines)
        if not answer.startswith(REFUSED):
            through.append((path, host, origin, proof, answer[:80]))
    assert not through


def test_the_same_upgrade_with_nothing_wrong_gets_in(served: tuple[Browser, Path]) -> None:
    browser, _ = served
    assert browser.rpc().result("home.show")["device"]["id"] == browser.id


def test_one_conversation_too_many_is_told_that_it_is(served: tuple[Browser, Path]) -> None:
    """With a code that says so: a browser that is only refused is one that is not paired."""
    browser, _ = served
    many = [browser.open("/rpc") for _ in range(CONNECTIONS)]
    with pytest.raises(ConnectionClosed) as closed:
        browser.open("/rpc/alpha").recv(STUCK)
    assert closed.value.rcvd
    assert closed.value.rcvd.code == FULL
    for one in many:
        one.close()


# The six holes that users of such pages have found in them.


def test_an_upgrade_from_another_page_is_refused_though_the_cookie_comes_along(served: tuple[Browser, Path]) -> None:
    """A page that checks no Origin lets every web site speak to it with the person's cookie."""
    browser, _ = served
    with pytest.raises(InvalidStatus):
        browser.open("/rpc/alpha", origin="http://evil.example")


def test_upgrades_go_through_the_same_checks_as_requests(served: tuple[Browser, Path]) -> None:
    """A middleware that sees HTTP alone leaves WebSockets open."""
    browser, _ = served
    for path in PATHS:
        with pytest.raises(InvalidStatus):
            browser.open(path, additional_headers={"Cookie": browser.cookie, "Host": "evil.example"})


def test_no_header_makes_a_request_local_or_trusted(served: tuple[Browser, Path]) -> None:
    """A page that takes Host, or what a proxy would add, for a proof of being local believes everybody."""
    browser, _ = served
    forged = {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": browser.host, "X-Real-IP": "127.0.0.1"}
    with pytest.raises(InvalidStatus):
        browser.open("/rpc", subprotocols=["pro0"], additional_headers=forged | {"Forwarded": "for=127.0.0.1"})


def test_a_rebound_name_reaches_nothing(served: tuple[Browser, Path]) -> None:
    """A web site whose name suddenly means 127.0.0.1 is the same origin as itself, and sends its own Host."""
    browser, _ = served
    answer = browser.request("GET", "/", headers={"Host": f"evil.example:{browser.host.rpartition(':')[2]}"})
    assert answer.status == 421
    assert b"<script" not in answer.body


def test_a_simple_request_changes_nothing(served: tuple[Browser, Path]) -> None:
    """A form of another site sends text/plain without asking first."""
    browser, home = served
    before = known(home)
    for content_type in ("text/plain", "application/x-www-form-urlencoded"):
        headers = {"Content-Type": content_type, "Cookie": browser.cookie}
        assert browser.request("POST", "/pair", b"{}", headers).status == 403
    assert known(home) == before


def test_no_file_holds_what_lets_a_program_in(served: tuple[Browser, Path]) -> None:
    """A token in a file of the home is read by every agent of the same user, which is then the person."""
    browser, home = served
    secrets = (browser.code, browser.secret, browser.cookie.partition("=")[2])
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert not [secret for secret in secrets for data in files if secret.encode() in data]
    arguments = Path("/proc").glob("[0-9]*/cmdline") if Path("/proc").is_dir() else ()
    for path in arguments:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        assert not [secret for secret in secrets if secret.encode() in data], path


SCAN = """
import encodings.idna, os, socket, sys
os.setgid(65534); os.setuid(65534)
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60) as s:
    s.sendall(("GET / HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: close\\r\\n\\r\\n" % sys.argv[1]).encode())
    answer = b""
    while data := s.recv(65536):
        answer += data
sys.stdout.buffer.write(answer)
"""


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root can be another user")
def test_another_user_of_the_machine_gets_nothing(served: tuple[Browser, Path]) -> None:
    browser, _ = served
    port = browser.host.rpartition(":")[2]
    program = [sys.executable, "-I", "-c", SCAN, port]
    answer = subprocess.run(program, capture_output=True, timeout=STUCK, cwd="/").stdout
    assert answer.startswith(b"HTTP/1.1 403")
    assert answer.endswith(b"\r\n\r\n"), "a body"
    assert b"pro0" not in answer.lower()


TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="the table is one of such a machine")
@pytest.mark.parametrize(
    ("client", "port", "uid"),
    [(("127.0.0.1", 50000), 8080, 1001), (("127.0.0.1", 50001), 8080, None), (("127.0.0.1", 50000), 8081, None)],
)
def test_the_owner_of_a_connection_is_read_from_its_own_end(
    client: tuple[str, int], port: int, uid: int | None
) -> None:
    assert owner([TABLE], client, port) == uid
