"""Where the page is to be served."""

from pathlib import Path
from typing import NamedTuple

LOOPBACK = "127.0.0.1"


class ServeOptions(NamedTuple):
    """Where the page is options: `name` and the files are for other machines, `proxy` for one in front of it."""

    port: int = 0
    name: str = ""
    certificate: Path | None = None
    key: Path | None = None
    proxy: str = ""
