"""The files of the page as an application of its own, with nothing that admits requests before it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pro0.web.files import PageFiles


def answers(files: PageFiles, method: str, path: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Return what comes of one request."""
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        raise AssertionError("no body is waited for")

    names = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": names}
    asyncio.run(files(scope, receive, send))
    begin, *rest = said
    found = {name.decode(): value.decode() for name, value in begin["headers"]}
    return begin["status"], found, b"".join(part.get("body", b"") for part in rest)


@pytest.fixture
def files(tmp_path: Path) -> PageFiles:
    """A page of two files."""
    (tmp_path / "index.html").write_text("<p>the page")
    (tmp_path / "app.js").write_text("1;")
    return PageFiles(tmp_path)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""])
@pytest.mark.parametrize("path", ["/", "/app.js", "/nothing"])
def test_a_file_is_read_and_nothing_else(files: PageFiles, method: str, path: str) -> None:
    """Issue 16, must show 3: it does not rely on what stands before it."""
    status, headers, body = answers(files, method, path)
    assert (status, headers["allow"], body) == (405, "GET, HEAD", b"Method Not Allowed")


def test_a_file_is_told_once_to_who_has_it(files: PageFiles) -> None:
    status, headers, body = answers(files, "GET")
    assert (status, headers["content-type"], body) == (200, "text/html; charset=utf-8", b"<p>the page")
    assert answers(files, "HEAD")[:2] == (status, headers)
    assert answers(files, "GET", if_none_match=headers["etag"])[::2] == (304, b"")
    assert answers(files, "GET", "/nothing")[0] == 404
