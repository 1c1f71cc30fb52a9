"""The page for other machines: with a certificate of its own, or behind a proxy that a person names."""

import asyncio
import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from pro0.store.teams import TeamStore
from pro0.web.options import ServeOptions
from pro0.web.serve import address_of
from tests.conftest import Result
from tests.waiting import STUCK
from tests.web.browsers import Browser, pump
from tests.web.conftest import Server

Serve = Callable[..., Server]


class Certified(NamedTuple):
    """A certificate for localhost with its key, and who believes it."""

    certificate: Path
    key: Path
    client: ssl.SSLContext
    server: ssl.SSLContext

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options of a server that is called localhost."""
        return "--host", "localhost", "--certificate", str(self.certificate), "--key", str(self.key)


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A certificate by an authority of its own."""
    folder, authority = tmp_path_factory.mktemp("tls"), trustme.CA()
    issued = authority.issue_cert("localhost")
    made = Certified(
        folder / "localhost.pem",
        folder / "localhost.key",
        ssl.create_default_context(),
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH),
    )
    issued.cert_chain_pems[0].write_to_path(made.certificate)
    issued.private_key_pem.write_to_path(made.key)
    authority.configure_trust(made.client)
    issued.configure_cert(made.server)
    return made


@pytest.fixture
def proxy(certified: Certified) -> Iterator["Proxy"]:
    """A proxy that ends TLS and hands every byte on."""
    running = Proxy(certified.server)
    yield running
    running.close()


def test_with_a_certificate_a_browser_pairs_and_speaks(serve: Serve, team: TeamStore, certified: Certified) -> None:
    browser = Browser(serve(*certified.options).url, certified.client)
    assert browser.base.startswith("https://localhost:")
    answer = browser.pair()
    assert answer.status == 200
    assert "Secure" in answer.headers["set-cookie"]
    assert browser.rpc(team.name).result("member.list")
    browser.close()


def test_without_tls_nothing_is_said_there(serve: Serve, certified: Certified) -> None:
    browser = Browser(serve(*certified.options).url)
    with pytest.raises((http.client.HTTPException, OSError)):
        browser.request("GET", "/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "elsewhere.example", "localhost.elsewhere.example"])
def test_with_a_certificate_only_its_name_counts(serve: Serve, certified: Certified, host: str) -> None:
    browser = Browser(serve(*certified.options).url, certified.client)
    port = browser.host.rpartition(":")[2]
    expected = 200 if host == "localhost" else 421
    assert browser.request("GET", "/", headers={"Host": f"{host}:{port}"}).status == expected
    for origin in (f"http://localhost:{port}", f"https://{host}", "null"):
        wrong = {"Origin": origin, "Content-Type": "application/json"}
        assert browser.request("POST", "/pair", b"{}", wrong).status in (403, 421)


def test_behind_a_proxy_a_browser_pairs_and_speaks(
    serve: Serve, team: TeamStore, proxy: "Proxy", certified: Certified
) -> None:
    server = serve("--proxy", proxy.name, "--port", str(proxy.behind))
    assert server.url.startswith(f"https://{proxy.name}/#pair=")
    browser = Browser(server.url, certified.client)
    answer = browser.pair()
    assert answer.status == 200
    assert "Secure" in answer.headers["set-cookie"]
    assert browser.rpc(team.name).result("member.list")
    browser.close()


@pytest.mark.parametrize("header", ["X-Forwarded-Host", "X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "Origin"])
def test_what_a_proxy_claims_lets_nobody_in(serve: Serve, proxy: "Proxy", certified: Certified, header: str) -> None:
    browser = Browser(serve("--proxy", proxy.name, "--port", str(proxy.behind)).url, certified.client)
    assert browser.request("GET", "/", headers={"Host": "elsewhere.example", header: proxy.name}).status == 421
    page = {"Origin": "https://elsewhere.example", "Content-Type": "application/json", "X-Forwarded-Host": proxy.name}
    assert browser.request("POST", "/pair", b"{}", page).status in (403, 421)


@pytest.mark.parametrize(
    ("options", "line"),
    {
        "no PEM": (("bad", "key"), "bad and key are not a certificate and its key"),
        "another key": (("certificate", "other"), "certificate and other are not a certificate and its key"),
        "a key with a passphrase": (("certificate", "locked"), "locked asks for a passphrase, and pro0 has none"),
        "not there": (("nothing", "key"), "nothing cannot be read: No such file or directory"),
        "a folder": (("certificate", "."), ". cannot be read: Is a directory"),
    }.values(),
)
def test_files_that_are_no_certificate_are_named(
    cli: Callable[..., Result],
    certified: Certified,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, str],
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_text("garbage\n")
    (tmp_path / "certificate").write_bytes(certified.certificate.read_bytes())
    (tmp_path / "key").write_bytes(certified.key.read_bytes())
    trustme.CA().issue_cert("localhost").private_key_pem.write_to_path(tmp_path / "other")
    key_of_it = serialization.load_pem_private_key(certified.key.read_bytes(), None)
    locked = serialization.BestAvailableEncryption(b"a passphrase")
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (tmp_path / "locked").write_bytes(key_of_it.private_bytes(*form, locked))
    certificate, key = options
    done = cli("web", "--no-open", "--host", "localhost", "--certificate", certificate, "--key", key)
    assert done.code == 2
    assert done.err.startswith(f"pro0: {line}")
    assert "\nhint: " in done.err


@pytest.mark.parametrize("name", ["https://page.example/", "page.example/x", "a b", "-page", "page.example:port", "."])
def test_a_proxy_has_the_name_of_a_host(cli: Callable[..., Result], name: str) -> None:
    done = cli("web", "--no-open", f"--proxy={name}")
    assert done.code == 2
    assert done.err.startswith(f"pro0: --proxy: {name!r} is not a host name\n")


@pytest.mark.parametrize(
    ("options", "port", "hosts"),
    [
        (ServeOptions(name="Macs-Book.local"), 8000, {"macs-book.local:8000"}),
        (ServeOptions(name="page.example"), 443, {"page.example"}),
        (
            ServeOptions(proxy="Laptop.Example.TS.net"),
            8000,
            {"127.0.0.1:8000", "localhost:8000", "laptop.example.ts.net"},
        ),
        (ServeOptions(proxy="page.example:443"), 80, {"127.0.0.1", "localhost", "page.example"}),
    ],
)
def test_a_name_counts_as_browsers_write_it(tmp_path: Path, options: ServeOptions, port: int, hosts: set[str]) -> None:
    """They say names in lower case, and leave out the usual port."""
    address = address_of(tmp_path, options, port)
    assert address.hosts == hosts
    assert {origin.partition("://")[2] for origin in address.origins} == hosts


def test_a_proxy_may_pass_its_name_on_without_the_port(tmp_path: Path) -> None:
    """As nginx does with `$host`; an origin always has it."""
    address = address_of(tmp_path, ServeOptions(proxy="page.example:8443"), 9)
    ours = {"127.0.0.1:9", "localhost:9"}
    assert address.hosts == {*ours, "page.example:8443", "page.example"}
    assert {origin.partition("://")[2] for origin in address.origins} == {*ours, "page.example:8443"}


@pytest.mark.parametrize("name", ["0.0.0.0", "::"])
def test_an_address_that_no_browser_can_call_is_refused(
    cli: Callable[..., Result], certified: Certified, name: str
) -> None:
    done = cli("web", "--no-open", "--host", name, *certified.options[2:])
    assert done.code == 2
    assert done.err.startswith(f"pro0: --host: browsers cannot open {name}\n")


class Proxy:
    """It takes connections with TLS on one port, and opens one without on another for each."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._listener = socket.create_server(("localhost", 0))
        self.name = f"localhost:{self._listener.getsockname()[1]}"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.behind = free.getsockname()[1]
        self._loop, self._end = asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(tls,))
        self._thread.start()

    def close(self) -> None:
        """End, with every connection."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(STUCK)

    def _run(self, tls: ssl.SSLContext) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(tls))

    async def _serve(self, tls: ssl.SSLContext) -> None:
        server = await asyncio.start_server(self._carry, sock=self._listener, ssl=tls)
        await self._end.wait()
        server.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):  # by the end of the loop
            page_reader, page_writer = await asyncio.open_connection("127.0.0.1", self.behind)
            await asyncio.gather(pump(reader, page_writer), pump(page_reader, writer))
