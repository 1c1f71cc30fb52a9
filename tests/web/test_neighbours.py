"""A connection is looked up once; its files come from memory, and only those that are there."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
import uvicorn
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from pro0.web import neighbours, serve
from pro0.web.app import PAGE, Page
from pro0.web.options import LOOPBACK, ServeOptions
from tests.waiting import STUCK, wait_until


class Doorkeeper:
    """Counts the looks at the kernel's table, and says what was seen there."""

    def __init__(self) -> None:
        self.looks = 0
        self.ours = True

    def __call__(self, client: tuple[str, int] | None, port: int) -> bool:
        """Count one look."""
        assert client
        assert port
        self.looks += 1
        return self.ours


class Served(NamedTuple):
    """A page, served by a thread of this process."""

    port: int
    doorkeeper: Doorkeeper

    def connection(self) -> http.client.HTTPConnection:
        """Open a connection that stays."""
        return http.client.HTTPConnection(LOOPBACK, self.port, timeout=STUCK)


@pytest.fixture
def served(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """The application with its own connections."""
    doorkeeper = Doorkeeper()
    monkeypatch.setattr(serve, "is_ours", doorkeeper)
    listener = socket.create_server((LOOPBACK, 0))
    port = listener.getsockname()[1]
    page = Page(serve.address_of(home, ServeOptions(), port), print)
    settings = {"lifespan": "off", "log_config": None, "ws": "websockets-sansio", "http": serve.OwnedConnection}
    server = uvicorn.Server(uvicorn.Config(page.app, **settings))  # type: ignore[arg-type]
    thread = Thread(target=server.run, args=([listener],))
    thread.start()
    wait_until(lambda: server.started, STUCK, "the server")
    yield Served(port, doorkeeper)
    server.should_exit = True
    thread.join(STUCK)
    page.close()
    listener.close()


def ask(to: http.client.HTTPConnection, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    to.request(method, path, headers=headers)
    answer = to.getresponse()
    answer.content = answer.read()  # type: ignore[attr-defined]
    return answer


def test_a_connection_is_looked_up_once_and_each_one_anew(served: Served) -> None:
    """Issue 16, must show 5: a page of seventy files does not read the kernel's table seventy times."""
    for number in (1, 2):
        with closing(served.connection()) as one:
            assert [ask(one, f"/data/{name}.js").status for name in ("team", "list", "home")] == [200] * 3
        assert served.doorkeeper.looks == number


def test_what_is_not_ours_gets_nothing_by_any_way(served: Served) -> None:
    """Issue 16, must show 3."""
    served.doorkeeper.ours = False
    with closing(served.connection()) as one:
        answers = [ask(one, path) for path in ("/", "/data/team.js", "/pair")]
    assert [(answer.status, answer.content) for answer in answers] == [(403, b"")] * 3  # type: ignore[attr-defined]
    base = f"{LOOPBACK}:{served.port}"
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{base}/rpc", origin=Origin(f"http://{base}"), proxy=None)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("uid", [0, None, 1])
@pytest.mark.parametrize("wsl", [False, True])
def test_a_browser_of_windows_is_let_in_from_wsl(uid: int | None, wsl: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of root carries its connections into WSL; with mirrored networking they have no owner there."""
    monkeypatch.setattr(neighbours, "IN_WSL", wsl)
    monkeypatch.setattr(neighbours, "owner", lambda *_: uid)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert neighbours.is_ours((LOOPBACK, 50_000), 41_789) == (wsl and uid in (0, None))


def test_every_file_is_served_as_it_is_and_once_for_each_version(served: Served) -> None:
    with closing(served.connection()) as one:
        for path in (path for path in PAGE.rglob("*") if path.is_file()):
            place = f"/{path.relative_to(PAGE)}"
            answer = ask(one, place)
            assert (answer.status, answer.content) == (200, path.read_bytes()), place  # type: ignore[attr-defined]
            assert answer.headers["content-type"].partition(";")[0] == TYPES[path.suffix], place
            assert ask(one, place, **{"If-None-Match": answer.headers["etag"]}).status == 304
        assert ask(one, "/").headers["content-type"] == "text/html; charset=utf-8"


TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".toml": "application/toml",
    ".webmanifest": "application/manifest+json",
}


@pytest.mark.parametrize(
    "path",
    ["/../app.py", "/%2e%2e/app.py", "/data/../../app.py", "//etc/passwd", "/data", "/data/", "/.%00", "/app.js/"],
)
def test_nothing_else_is_served(served: Served, path: str) -> None:
    with closing(served.connection()) as one:
        assert ask(one, path).status == 404
