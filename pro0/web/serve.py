"""Serve the page of a home until a signal ends it."""

import asyncio
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Refused
from pro0.ops import devices
from pro0.web.admission import PageAddress
from pro0.web.app import Page
from pro0.web.neighbours import OURS, is_ours
from pro0.web.options import LOOPBACK, ServeOptions
from pro0.web.running import ServerLock, served_at
from pro0.wire import LINE_LIMIT

LOCAL_NAMES = (LOOPBACK, "localhost")
USUAL = ":443"
"""Browsers omit this from an address with https."""
ENDING = 3
"""Seconds that open conversations have to end when the server ends."""


def serve(home: Path, options: ServeOptions, ready: Callable[[str], None], say: Callable[[str], None]) -> None:
    """Serve until a signal comes; `ready` receives the address, `say` other messages for the person.

    Raises Refused when the page is served already, BadInput for unusable options.
    """
    options.check()
    lock = ServerLock(home)
    if not lock.take():
        raise Refused(f"the page is served already: {served_at(home)}", code=ErrorCode.IN_USE, hint="pro0 web pair")
    try:
        listener = _listener(home, options, say)
        address = address_of(home, options, listener.getsockname()[1])
        lock.sign(address.url)
        page = Page(address, say)
        try:
            _run(page, options, listener, lambda: ready(address.url))
        finally:
            page.close()
    finally:
        lock.drop()


def address_of(home: Path, options: ServeOptions, port: int) -> PageAddress:
    """Return the names that browsers may use for the page on this port: in lower case, and without the usual port."""
    name = (f"[{options.name}]" if ":" in options.name else options.name).lower()
    proxy = options.proxy.lower().removesuffix(USUAL)
    names = (name,) if name else LOCAL_NAMES
    scheme = "https" if options.name else "http"
    hosts = {f"{name}:{port}".removesuffix(USUAL if scheme == "https" else ":80") for name in names}
    origins = {f"{scheme}://{host}" for host in hosts}
    url = f"{scheme}://{names[0]}:{port}/"
    if proxy:
        hosts |= {proxy, proxy.partition(":")[0]}  # proxies often pass the name on without its port
        origins.add(f"https://{proxy}")
        url = f"https://{proxy}/"
    elsewhere = bool(options.name or proxy)
    return PageAddress(home, port, frozenset(hosts), frozenset(origins), url, secure=elsewhere, local=not elsewhere)


def _listener(home: Path, options: ServeOptions, say: Callable[[str], None]) -> socket.socket:
    """Return a listening socket: on the port of the options, else on the last one used, else on a free one."""
    last_port = devices.known(home).port
    for port in [options.port] if options.port else [last_port, 0] if last_port else [0]:
        try:
            listener = _bound(options.name or LOOPBACK, port)
        except OSError as error:
            reason = error.strerror or str(error)
            continue
        if not (options.port or last_port):
            devices.keep_port(home, listener.getsockname()[1])
        elif last_port and not port:  # keep the known port on record: browsers know the page and their pairing by it
            say(
                f"pro0: port {last_port}, where the page was last, cannot be used ({reason}): "
                f"paired browsers find the page there again once the port is free and pro0 web is restarted"
            )
        return listener
    raise EnvironmentMissing(f"port {options.port} cannot be used: {reason}", hint="leave --port out for a free one")


def _bound(name: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise BadInput(f"{name} is not a name of this machine: {error.strerror}") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


class OwnedConnection(H11Protocol):
    """HTTP/1.1 with a note in the state of each request and upgrade: does a program of this user send it?

    The user is looked up once per connection: that takes longer than serving a file of the page.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Look up the user at the other end once."""
        super().connection_made(transport)
        ours = self.server is not None and is_ours(self.client, self.server[1] or 0)
        # A copy, since all connections share uvicorn's state. The protocol of an upgrade gets the copy, too.
        self.app_state: dict[str, object] = {**self.app_state, OURS: ours}


class _Server(uvicorn.Server):
    """A server that wakes up only for work and signals; uvicorn's own wakes up ten times a second."""

    ready: Callable[[], None]

    async def main_loop(self) -> None:
        """Wait for the signal."""
        self._loop, self._signal = asyncio.get_running_loop(), asyncio.Event()
        await self.on_tick(0)
        self.ready()
        if not self.should_exit:
            await self._signal.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        """End the server; a second SIGINT ends it at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        if hasattr(self, "_signal"):
            self._loop.call_soon_threadsafe(self._signal.set)


def _run(page: Page, options: ServeOptions, listener: socket.socket, ready: Callable[[], None]) -> None:
    config = uvicorn.Config(
        page.app,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        http=OwnedConnection,
        server_header=False,
        date_header=False,
        ws="websockets-sansio",
        ws_max_size=LINE_LIMIT,
        ws_ping_interval=30,
        ws_ping_timeout=30,
        timeout_graceful_shutdown=ENDING,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    server = _Server(config)
    server.ready = ready
    server.run(sockets=[listener])
