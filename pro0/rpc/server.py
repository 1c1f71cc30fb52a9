"""The socket of a team's lead: one thread reads and writes and never blocks, a few others perform requests.

The lead's own rounds go on beside it; a slow or hostile client costs its own connection.
"""

import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from pro0.engine.log import Log
from pro0.errors import ErrorCode, Pro0Error, Refused
from pro0.ops.seats import LifeSigns
from pro0.processes.bell import Bell
from pro0.rpc.client import RpcClient
from pro0.rpc.connection import PIECE, RpcConnection
from pro0.rpc.lists import Lists, Rescan
from pro0.rpc.place import CONNECTIONS, listening
from pro0.rpc.protocol import RpcRequest
from pro0.store.paths import CONCERNS_A_SUBSCRIBER, SOCKET
from pro0.store.teams import TeamStore
from pro0.store.watch import Watch
from pro0.threads import JobThreads
from pro0.wire import JSON, Fault, failed

WORKERS = 4
LAST = 2.0
"""The most seconds for requests under way when the lead ends."""


@contextmanager
def serving(team: TeamStore) -> Iterator[None]:
    """Serve a team's socket while its lead works. A lead whose socket cannot be made leads without it."""
    path = team.paths.team / SOCKET
    try:
        server = RpcServer(TeamStore(team.paths.home, team.name), listening(path))
        server.start()
    except (OSError, RuntimeError) as error:
        Log(team).write("trouble", why=f"no socket for other programs: {error}")
        yield
        return
    try:
        yield
    finally:
        server.close()
        with suppress(OSError):
            path.unlink()


class RpcServer:
    """Serves the connections of one socket, and those that another surface brings."""

    def __init__(self, team: TeamStore, listener: socket.socket | None = None) -> None:
        self._team = team
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._connections: dict[socket.socket, RpcConnection] = {}
        self._version = 0
        self._lists = Lists(lambda: self._version)
        self._turned_away: list[socket.socket] = []
        self._workers = JobThreads(WORKERS)
        self._finished: deque[Callable[[], None]] = deque()
        self._bell = Bell()
        self._watch: Watch | None = None
        self._looks = LifeSigns()
        self._rescan = Rescan(self._signs, self._lists)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="rpc", daemon=True)

    def start(self) -> None:
        """Begin to serve; raises RuntimeError without a free thread."""
        try:
            self._thread.start()
        except RuntimeError:
            self._bell.close()
            if self._listener:
                self._listener.close()
            raise

    def adopt(self, connection: socket.socket, client: Callable[[Lists], RpcClient]) -> None:
        """Serve a connection whose client another surface knows already."""
        self._finish(lambda: self._connections.update({connection: RpcConnection(connection, client(self._lists))}))

    def close(self) -> None:
        """End every connection, after the requests under way if these are quick."""
        self.end()
        self._thread.join(2 * LAST)

    def end(self) -> None:
        """Begin to close, without waiting for it."""
        self._closing = True
        self._bell.ring()

    def _run(self) -> None:
        self._selector.register(self._bell, selectors.EVENT_READ)
        if self._listener:
            self._selector.register(self._listener, selectors.EVENT_READ)
        while not self._closing:
            self._round(self._rescan.seconds if self._subscribed else None)
        self._round(0)  # a connection that came last is closed with the others
        if self._listener:
            self._selector.unregister(self._listener)
            self._listener.close()
        deadline = time.monotonic() + LAST
        while (
            any(connection.busy for connection in self._connections.values())
            and (seconds := deadline - time.monotonic()) > 0
        ):
            self._round(seconds)
        for connection in [*self._connections.values()]:
            connection.write()
            self._drop(connection)
        for sock in [*self._turned_away]:
            self._let_go(sock)
        if self._watch:
            self._watch.close()
        self._selector.close()
        self._bell.close()
        self._workers.end()

    def _round(self, seconds: float | None) -> None:
        events = self._selector.select(seconds)
        if self._subscribed and self._rescan.changed():
            self._changed()
        for key, mask in events:
            self._heard(key.fileobj, mask)
        while self._finished:
            self._finished.popleft()()
        for connection in [*self._connections.values()]:
            self._go_on(connection)
        self._watch_if_wanted()

    def _is_gone(self) -> bool:
        """Return True when the served team is gone."""
        with suppress(Pro0Error):  # unknown is not gone
            return not self._team.exists()
        return False

    def _signs(self) -> Iterable[object]:
        """Return signs to check from time to time, which differ after each change that a list shows."""
        return self._looks.look(self._team)

    @property
    def _subscribed(self) -> bool:
        return any(connection.client.subscriptions for connection in self._connections.values())

    def _heard(self, source: object, mask: int) -> None:
        if source is self._listener:
            self._accept()
        elif source is self._bell:
            self._bell.drain()
        elif self._watch is not None and source is self._watch:
            if self._watch.drain():
                self._changed()
        elif isinstance(source, socket.socket) and (connection := self._connections.get(source)):
            if mask & selectors.EVENT_READ:
                connection.read()
            if mask & selectors.EVENT_WRITE:
                connection.write()
        elif isinstance(source, socket.socket) and source in self._turned_away:
            self._pass_over(source)

    def _accept(self) -> None:
        try:
            from pro0.rpc.calls import fault
            from pro0.rpc.peer import client_at

            assert self._listener
            connection, _ = self._listener.accept()
        except OSError:  # no descriptor is left, or the client has gone
            time.sleep(0.05)
            return
        try:
            if len(self._connections) >= CONNECTIONS:
                raise Refused(f"{CONNECTIONS} clients are connected", code=ErrorCode.TOO_MANY, hint="close one of them")
            self._connections[connection] = RpcConnection(connection, client_at(connection, self._team, self._lists))
        except (Pro0Error, OSError) as error:
            refusal = error if isinstance(error, Pro0Error) else Pro0Error(f"your process is not identified: {error}")
            self._turn_away(connection, failed(None, fault(refusal)))

    def _turn_away(self, connection: socket.socket, response: JSON) -> None:
        """Tell a client why it is not served, and wait for it to close: closing first could discard the message."""
        try:
            connection.setblocking(False)
            connection.send(response.encode() + b"\n")
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            connection.close()
            return
        self._selector.register(connection, selectors.EVENT_READ)
        self._turned_away.append(connection)
        while len(self._turned_away) > CONNECTIONS:
            self._let_go(self._turned_away[0])

    def _pass_over(self, connection: socket.socket) -> None:
        """Read and drop the input of a client that is not served."""
        with suppress(BlockingIOError):
            try:
                gone = not connection.recv(PIECE)
            except ConnectionError:
                gone = True
            if gone:
                self._let_go(connection)

    def _let_go(self, connection: socket.socket) -> None:
        self._turned_away.remove(connection)
        self._selector.unregister(connection)
        connection.close()

    def _go_on(self, connection: RpcConnection) -> None:
        """Take the next step of a connection, and wait for its next event."""
        if request := connection.next:
            self._hand_over(connection, lambda: self._perform(connection, request))
        elif connection.tellable:
            connection.due = connection.client.subscriptions.owing = False
            self._hand_over(connection, lambda: self._gather(connection))
        connection.write()
        if connection.over and not connection.busy:
            self._drop(connection)
            return
        registered = connection.socket in self._selector.get_map()
        if interest := connection.interest:
            (self._selector.modify if registered else self._selector.register)(connection.socket, interest)
        elif registered:
            self._selector.unregister(connection.socket)

    def _hand_over(self, connection: RpcConnection, job: Callable[[], None]) -> None:
        connection.busy = True
        self._workers.do(job, lambda: self._finish(connection.cut))

    def _perform(self, connection: RpcConnection, request: RpcRequest) -> None:
        """Perform a request, in its own thread when it waits for the lead, so that the client may go on meanwhile."""
        from pro0.rpc.calls import methods_of, perform

        def do() -> None:
            tell = connection.mention
            outcome = perform(connection.client, request, lambda message: self._finish(lambda: tell(message)))
            self._finish(lambda: self._done(connection, request, outcome, beside=waits))

        method = methods_of(connection.client).get(request.method)
        if waits := method is not None and method.waits:
            threading.Thread(target=do, daemon=True).start()
            self._finish(lambda: self._tell(connection, []))
        else:
            do()

    def _gather(self, connection: RpcConnection) -> None:
        notices, behind = list[JSON](), True
        try:
            from pro0.rpc.calls import news

            notices = news(connection.client)
            behind = connection.client.subscriptions.behind
        except (Pro0Error, OSError):  # it cannot be read now, or has gone
            pass
        if behind:
            self._finish(self._rescan.forget)
        self._finish(lambda: self._tell(connection, notices))
        if self._is_gone():
            self._finish(connection.end)

    def _finish(self, act: Callable[[], None]) -> None:
        self._finished.append(act)
        self._bell.ring()

    def _done(self, connection: RpcConnection, request: RpcRequest, outcome: JSON | Fault, *, beside: bool) -> None:
        connection.busy = connection.busy and beside
        connection.finish(request, outcome)

    def _tell(self, connection: RpcConnection, notices: list[JSON]) -> None:
        connection.busy = False
        for message in notices:
            connection.say(message)

    def _changed(self) -> None:
        self._version += 1
        for connection in self._connections.values():
            connection.due = True

    def _watch_if_wanted(self) -> None:
        """Watch the files from the first subscription to them on."""
        if self._watch is not None or not self._subscribed:
            return
        documents = self._team.documents
        places = [documents.team, documents.tasks, documents.mailboxes]
        with suppress(OSError):  # no descriptor is left: the next round tries again; until then the rescan does it
            self._watch = documents.watch(places, CONCERNS_A_SUBSCRIBER)
            self._selector.register(self._watch, selectors.EVENT_READ)
            self._rescan.reset()
            self._changed()
            self._bell.ring()

    def _drop(self, connection: RpcConnection) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(connection.socket)
        del self._connections[connection.socket]
        connection.socket.close()
