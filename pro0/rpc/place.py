"""The socket file of a team's lead: open to our user alone, and replaced in one step."""

import socket
from contextlib import suppress
from pathlib import Path

from pro0.terminals import address

CONNECTIONS = 64
"""The most clients at once."""


def listening(path: Path) -> socket.socket:
    """Return a listening socket at this path, open to our user alone; one of an earlier lead is replaced."""
    new = path.with_name(f".{path.name}")
    with suppress(FileNotFoundError):
        new.unlink()
    listener = address.bound(str(new))
    try:
        listener.listen(CONNECTIONS)
        listener.setblocking(False)
        new.replace(path)
    except OSError:
        listener.close()
        raise
    return listener
