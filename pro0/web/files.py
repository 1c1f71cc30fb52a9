"""The files of the page, read once: a browser gets them from one version, even after another is installed."""

import hashlib
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from pro0 import looking
from pro0.web.proof import FORBIDDEN

START = "index.html"
READING = ("GET", "HEAD")
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
}
"""Suffix → media type. The tables of the system and of Python may lack a suffix, or have another type for it."""


class PageFiles:
    """An application that answers with a file by its path, from memory."""

    def __init__(self, folder: Path) -> None:
        self._files = {f"/{path.relative_to(folder).as_posix()}": _File(path) for path in _files(folder)}
        self._files["/"] = self._files[f"/{START}"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the file, or with 304 when the browser has it. Only GET and HEAD are allowed."""
        response = self._answer(scope) if scope["type"] == "http" else WebSocketClose(FORBIDDEN)
        await response(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in READING:
            return Response("Method Not Allowed", 405, {"Allow": ", ".join(READING)}, "text/plain")
        file = self._files.get(scope["path"])
        if file is None:
            return Response("Not Found", 404, media_type="text/plain")
        tag = {"ETag": file.tag}
        if file.tag in Headers(scope=scope).get("if-none-match", ""):
            return Response(status_code=304, headers=tag)
        return Response(file.content, headers=tag, media_type=file.type)


class _File:
    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        self.tag = f'"{hashlib.sha256(self.content).hexdigest()}"'
        self.type = _TYPES.get(path.suffix, "application/octet-stream")


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if looking.is_file(path)]
