"""A browser's proof of its device: a cookie out of scripts' reach, and a secret that no other page has.

A cookie alone does not do: browsers send it to every port of this machine.
"""

from starlette.websockets import WebSocket

from pro0.model.home import Device
from pro0.ops.devices import recognised
from pro0.web.admission import PageAddress

PROTOCOL = "pro0"
"""The subprotocol of every WebSocket; beside it the page names `secret.` and its secret."""
SECRET = "secret."
FORBIDDEN = 1008
"""With this code a WebSocket is closed whose browser is not let in, or not any more."""


def cookie_name(address: PageAddress) -> str:
    """Return the name of the cookie: each port of a machine is a page of its own, and they share their cookies."""
    return f"__Host-pro0-{address.port}" if address.secure else f"pro0-{address.port}"


def device_of(address: PageAddress, socket: WebSocket) -> Device | None:
    """Return the device that a WebSocket comes from, None for nobody's."""
    offered = socket.scope.get("subprotocols", [])
    secrets = [word.removeprefix(SECRET) for word in offered if word.startswith(SECRET)]
    if PROTOCOL not in offered or len(secrets) != 1:
        return None
    return recognised(address.home, socket.cookies.get(cookie_name(address), ""), secrets[0])
