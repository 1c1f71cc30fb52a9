"""The methods about a home, as opposed to one team."""

from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path

from pro0.model.caller import THE_HUMAN, Caller
from pro0.model.home import Device, Rights
from pro0.rpc.client import RpcClient
from pro0.rpc.lists import Lists
from pro0.rpc.method import Function, Method
from pro0.rpc.subscriptions import Subscriptions
from pro0.store.teams import Store
from pro0.web.client import require

HOME: dict[str, Method] = {}
RIGHTS: dict[str, Rights] = {}


def of_home(name: str, rights: Rights, *, waits: bool = False) -> Callable[[Function], Function]:
    """Add a function to the table of a home's methods."""

    def enter(function: Function) -> Function:
        HOME[name] = Method(name, name, function, waits=waits)
        RIGHTS[name] = rights
        return function

    return enter


class HomeClient(RpcClient):
    """A device as the client of a home."""

    def __init__(self, home: Path, device: Device, lists: Lists) -> None:
        self.home = home
        self.store = Store(home)
        self.device = device
        self.subscriptions = Subscriptions()
        self._lists = lists
        self.show: Callable[[str], None] = lambda _: None

    @property
    def caller(self) -> Caller:
        """Return the person: a device acts on the person's behalf."""
        return THE_HUMAN

    @property
    def methods(self) -> Mapping[str, Method]:
        """Return the methods that are served to it."""
        return HOME

    def prepared(self, method: Method, params: object) -> tuple[RpcClient, object]:
        """Return this client for one call; raises Refused when the device's rights do not allow it."""
        require(self.home, self.device, RIGHTS[method.name], method.name)
        return self, params

    def showing(self, show: Callable[[str], None]) -> "HomeClient":
        """Return this client for one call, reporting its progress to `show`."""
        client = copy(self)
        client.show = show
        return client

    def veil(self) -> Callable[[str], str]:
        """Return a function that hides nothing, since the person may see everything."""
        return str
