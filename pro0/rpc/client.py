"""One caller at one team. No parameter says who the caller is (behaviour 5.6)."""

from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path

from pro0.model.caller import Caller
from pro0.ops import verdicts
from pro0.ops.context import Context
from pro0.ops.withheld import veil
from pro0.rpc.lists import Lists, Source
from pro0.rpc.method import Method
from pro0.rpc.subscriptions import TASKS, TICKETS, Subscription, Subscriptions
from pro0.store.teams import Store


def by_program(home: Path, project: Callable[[], Path], act: str) -> None:
    """Refuse a verdict, unless the person lets all their programs give verdicts (behaviour 5.3, 5.4)."""
    verdicts.by_program(home, project, act)


class RpcClient:
    """One caller at one team, and what it is subscribed to."""

    def __init__(self, context: Context, lists: Lists | None = None) -> None:
        self._context = context
        self._lists = lists or Lists()
        self.store = Store(context.team.paths.home)
        self.subscriptions = Subscriptions()
        self.show: Callable[[str], None] = lambda _: None
        """Receives the progress of a long call."""

    @property
    def methods(self) -> Mapping[str, Method] | None:
        """Return the methods served to this client, None for all of `pro0.rpc.table`."""
        return None

    def prepared(self, method: Method, params: object) -> tuple["RpcClient", object]:  # noqa: ARG002 - for subclasses
        """Return this client as it is for one call, and the method's own parameters; may raise Refused."""
        return self, params

    @property
    def caller(self) -> Caller:
        """Return who calls."""
        return self._context.caller

    @property
    def context(self) -> Context:
        """Return the context of the caller at its team; raises NotFound when the team is gone."""
        self.store.check()
        self._context.team.require()
        return self._context

    def showing(self, show: Callable[[str], None]) -> "RpcClient":
        """Return a copy of this client for one call, whose progress goes to `show`."""
        client = copy(self)
        client.show = show
        return client

    def subscribe(self, topic: str, source: Callable[[], Source], id: str, seq: int, of: str = "") -> Subscription:
        """Return a new subscription, or resume one after a lost connection; raises Refused above the limit.

        `of` names the list, for a topic that has several.
        """
        name = TASKS if topic == TICKETS else f"{topic} {of}"
        subscription = Subscription(topic, self._lists.get(name, self.caller, source), id, seq)
        self.subscriptions.add(subscription)
        return subscription

    def veil(self) -> Callable[[str], str]:
        """Return the function that removes the incarnations of others from a text for this caller."""
        return veil(self._context)
