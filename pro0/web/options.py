"""The address to serve the page at, and the checks of it."""

import ipaddress
import re
import ssl
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pro0.errors import BadInput

LOOPBACK = "127.0.0.1"
NAME = re.compile(r"(?!-)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?")
"""A host as in an address, with or without a port."""


class ServeOptions(NamedTuple):
    """The address of the page: `name` and the files are for other machines, `proxy` for a proxy in front of it."""

    port: int = 0
    name: str = ""
    certificate: Path | None = None
    key: Path | None = None
    proxy: str = ""

    def check(self) -> None:
        """Raise BadInput for an address that no browser can use: an invalid name, or files without a certificate."""
        if self.proxy and not NAME.fullmatch(self.proxy):
            raise BadInput(f"--proxy: {self.proxy!r} is not a host name", hint="for https://NAME/ use: --proxy NAME")
        with suppress(ValueError):
            if ipaddress.ip_address(self.name).is_unspecified:
                raise BadInput(
                    f"--host: browsers cannot open {self.name}", hint="give the name or address that browsers use"
                )
        if self.certificate and self.key:
            _check_certificate(self.certificate, self.key)


def _check_certificate(certificate: Path, key: Path) -> None:
    for file in (certificate, key):
        try:
            file.read_bytes()
        except OSError as error:
            raise BadInput(f"{file} cannot be read: {error.strerror}", hint="name a file in PEM form") from None

    def no_passphrase() -> str:
        raise BadInput(f"{key} asks for a passphrase, and pro0 has none", hint="give a key without a passphrase")

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, no_passphrase)
    except ssl.SSLError as error:
        reason = (error.reason or "not a PEM file").replace("_", " ").lower()
        raise BadInput(
            f"{certificate} and {key} are not a certificate and its key: {reason}", hint="give two PEM files"
        ) from None
