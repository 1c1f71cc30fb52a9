"""A browser's proof of its device: a cookie out of scripts' reach, and a secret that no other page has.

A cookie alone does not do: browsers send it to every port of this machine.
"""

from collections.abc import Callable

import anyio.to_thread
from starlette.websockets import WebSocket

from pro0.errors import Pro0Error
from pro0.model.home import Device
from pro0.ops.devices import recognised
from pro0.web.admission import PageAddress

PROTOCOL = "pro0"
"""The subprotocol of every WebSocket; beside it the page names `secret.` and its secret."""
SECRET = "secret."
FORBIDDEN = 1008
"""With this code a WebSocket is closed whose browser is not let in, or not any more."""

TROUBLE = 1011
"""With this code a WebSocket is closed that nobody can look up now: its browser may try again later."""


def cookie_name(address: PageAddress) -> str:
    """Return the name of the cookie: each port of a machine is a page of its own, and they share their cookies."""
    return f"__Host-pro0-{address.port}" if address.secure else f"pro0-{address.port}"


class Doorkeeper:
    """Lets in the WebSockets of paired devices. It calls `say` with the reason when it cannot know them."""

    def __init__(self, address: PageAddress, say: Callable[[str], None]) -> None:
        self._address = address
        self._say = say
        self._said = ""

    async def device_of(self, web: WebSocket) -> Device | None:
        """Return the device of a WebSocket; without proof of one it is closed, and the answer is None."""
        try:
            device = await anyio.to_thread.run_sync(_device_of, self._address, web)
        except Pro0Error as error:
            self._complain(error)
            await web.accept(PROTOCOL)  # a page is told no code of one that was not accepted
            await web.close(TROUBLE)
            return None
        self._said = ""
        if device is None:
            await web.close(FORBIDDEN)
        return device

    def _complain(self, error: Pro0Error) -> None:
        """Say once why no browser is let in, until one is again."""
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
