"""A browser's proof of its device: a cookie out of scripts' reach, and a secret that no other page has.

A cookie alone is not enough: browsers send it to every port of this machine.
"""

from collections.abc import Callable

import anyio.to_thread
from starlette.websockets import WebSocket

from pro0.errors import Pro0Error
from pro0.model.home import Device
from pro0.ops.devices import recognised
from pro0.web.admission import PageAddress

PROTOCOL = "pro0"
"""The subprotocol of every WebSocket. The page adds a second one: `secret.` and its secret."""
SECRET = "secret."
FORBIDDEN = 1008
"""The close code for a browser that is not let in, or no longer."""

TROUBLE = 1011
"""The close code when the devices cannot be read now: the browser may try again later."""


def cookie_name(address: PageAddress) -> str:
    """Return the name of the cookie; it has the port, since all pages of a machine share their cookies."""
    return f"__Host-pro0-{address.port}" if address.secure else f"pro0-{address.port}"


class Doorkeeper:
    """Lets in the WebSockets of paired devices. It calls `say` with the reason when devices cannot be read."""

    def __init__(self, address: PageAddress, say: Callable[[str], None]) -> None:
        self._address = address
        self._say = say
        self._said = ""

    async def device_of(self, web: WebSocket) -> Device | None:
        """Return the device of a WebSocket; without proof of a device, close the WebSocket and return None."""
        try:
            device = await anyio.to_thread.run_sync(_device_of, self._address, web)
        except Pro0Error as error:
            self._complain(error)
            await web.accept(PROTOCOL)  # before that, a browser learns no close code
            await web.close(TROUBLE)
            return None
        self._said = ""
        if device is None:
            await web.close(FORBIDDEN)
        return device

    def _complain(self, error: Pro0Error) -> None:
        """Say why no browser is let in, once per reason until devices can be read again."""
        if error.message != self._said:
            hint = f" ({error.hint})" if error.hint else ""
            self._say(f"pro0: no browser is let in: {error.message}{hint}")
        self._said = error.message


def _device_of(address: PageAddress, socket: WebSocket) -> Device | None:
    offered = socket.scope.get("subprotocols", [])
    secrets = [word.removeprefix(SECRET) for word in offered if word.startswith(SECRET)]
    if PROTOCOL not in offered or len(secrets) != 1:
        return None
    return recognised(address.home, socket.cookies.get(cookie_name(address), ""), secrets[0])
