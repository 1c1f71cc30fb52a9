"""The link's other end: it starts the session here or finds it, and carries messages until its `ssh` is gone."""

import json
import math
import os
import select
import socket
import time
import unicodedata
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0 import __version__, looking
from pro0.decoding import decode
from pro0.errors import Pro0Error
from pro0.link import streams
from pro0.link.agent import AgentThere
from pro0.link.remote import Order, Remote
from pro0.link.streams import Stream, StreamEnd
from pro0.link.tunnel import LIMIT
from pro0.model.runtime import ENDED, Report
from pro0.processes import ExitWatch
from pro0.store import paths
from pro0.store.watch import Watch
from pro0.terminals import address, protocol

LOOK, SOON = 2.0, 0.1
"""The most and the fewest seconds until a look without an event."""
SIGN = 5.0
"""Seconds between two signs of life to home."""
_MARKS = frozenset({"Mn", "Me"})
ASKERS = 64
"""Commands that may wait at once."""


def fitting(payload: bytes) -> bytes:
    """Return a frame of the terminal short enough for home: long rows lose their combining marks, or all of their text.

    A program can put any number of marks on a cell. Home would cut the link after each message that is too long.
    """
    if len(payload) <= LIMIT:
        return payload
    frame = protocol.unpacked(payload)
    rows = frame["rows"]
    assert isinstance(rows, dict)
    share = LIMIT // 2 // max(1, len(rows))
    return json.dumps({**frame, "rows": {index: _short(row, share) for index, row in rows.items()}}).encode()


def _short(row: str, limit: int) -> str:
    if len(json.dumps(row)) <= limit:
        return row
    plain = "".join(letter for letter in row if unicodedata.category(letter) not in _MARKS)
    return plain if len(json.dumps(plain)) <= limit else ""


class Far:
    """One connection from home; the session goes on without it."""

    def __init__(self, home: Path, there: str) -> None:
        self._remote = Remote(home, there)
        self._home = Stream(0, 1)
        self._terminal: Stream | None = None
        self._sockets: dict[Stream, socket.socket] = {}
        self._askers: dict[str, Stream] = {}
        self._listener: socket.socket | None = None
        self._number = 0
        """The inode of the listener's socket file: a later connection replaces the file."""
        self._watch: Watch | None = None
        self._exits = ExitWatch()
        self._size: dict[str, object] = {}
        self._reported: Report | None = None
        self._order: Order | None = None
        self._agent: AgentThere | None = None
        self._ending = False
        self._signs_at = 0.0
        self._due = True
        """True when there may be news for home."""

    def serve(self) -> None:
        """Carry messages until home disconnects, a newer connection replaces this one, or the session is over."""
        with suppress(StreamEnd):
            self._home.send(streams.HELLO, {"version": __version__})
            while self._goes_on():
                self._turn()
            while self._home.sending:
                select.select([], [self._home.sink], [])
                self._home.flush()

    def _turn(self) -> None:
        sources: list[int] = [self._home.source, self._exits.fileno()]
        if not self._home.clogged:
            sources += [stream.source for stream in self._sockets]
        if self._listener and len(self._askers) < ASKERS:
            sources.append(self._listener.fileno())
        if self._watch:
            sources.append(self._watch.fileno())
        writing = [stream for stream in (self._home, *self._sockets) if stream.sending]
        due = self._agent.due if self._agent else math.inf
        patience = min(LOOK, max(SOON, due - time.monotonic()))
        ready, room, _ = select.select(sources, [stream.sink for stream in writing], [], patience)
        for stream in writing:
            if stream.sink in room:
                stream.flush() if stream is self._home else self._write(stream)
        if self._home.source in ready:
            for kind, payload in self._home.read():
                self._take(kind, payload)
        for stream in [stream for stream in self._sockets if stream.source in ready]:
            self._hear(stream)
        if self._listener and self._listener.fileno() in ready:
            self._welcome()
        if time.monotonic() >= self._signs_at and not self._home.sending:
            self._signs_at = time.monotonic() + SIGN
            self._home.send(streams.ALIVE, {})
        changed = self._watch.drain() if self._watch else False
        self._due |= bool(self._exits.ended()) or changed or not (ready or room) or time.monotonic() >= due

    def _goes_on(self) -> bool:
        """Look at the session, and send its news home; False when this connection has nothing left to do."""
        if not self._due or not (self._size or self._ending):
            return True
        self._due = False
        if self._ending:
            self._remote.end()
        report = self._remote.report()
        if report and report != self._reported:
            self._reported = report
            self._exits.add(report.guard)
            if report.state not in ENDED:
                report_news = {"state": str(report.state), "task": report.task, "note": report.note}
                self._home.send(streams.REPORT, report_news)
        if report and report.agent and self._terminal is None and self._size:
            self._show()
        if report:
            self._tell_news(report)
        if over := self._remote.over():
            if report:
                self._tell_news(report, ended=True)
            self._drain()
            self._home.send(streams.OVER, over)
            return False
        return not self._listener or self._is_newest()

    def _tell_news(self, report: Report, *, ended: bool = False) -> None:
        """Send the agent's news home."""
        if self._order is None or report.agent is None:
            return
        if self._agent is None:
            order, remote = self._order, self._remote
            self._agent = AgentThere(order.agent, remote.conversation(order), remote.folder, remote.cwd(order))
        for kind, news in self._agent.news(report.agent, ended=ended):
            self._home.send(kind, news)

    def _take(self, kind: bytes, payload: bytes) -> None:
        self._due |= kind in (streams.BEGIN, streams.END)
        match kind:
            case streams.BEGIN:
                self._begin(payload)
            case streams.END:
                self._ending = True
            case streams.ANSWER:
                answer = protocol.unpacked(payload)
                if asker := self._askers.get(str(answer.get("id"))):
                    self._write(asker, kind, payload)
            case streams.NOTED:
                with suppress(OSError, ValueError):
                    self._taken(str(protocol.unpacked(payload).get("id"))).unlink()
            case protocol.INPUT | protocol.SIZE:
                if kind == protocol.SIZE:
                    self._size = protocol.unpacked(payload)
                if self._terminal:
                    self._write(self._terminal, kind, payload)

    def _begin(self, payload: bytes) -> None:
        try:
            order = decode(payload, Order)
            self._remote.begin(order)
            if self._remote.over() is None:
                self._listen()
        except (Pro0Error, OSError, msgspec.MsgspecError) as error:
            self._home.send(streams.REFUSED, {"why": str(error)})
            return
        self._order = order
        self._size = {"columns": order.columns, "lines": order.lines}
        self._home.send(streams.BEGUN, {})
        for taken in sorted(self._remote.folder.glob(f"{paths.HOSTED_TAKEN}*")):
            self._home.send(streams.TAKEN, {"id": taken.name.removeprefix(paths.HOSTED_TAKEN)})

    def _listen(self) -> None:
        """Listen for commands of pro0, in place of an earlier connection."""
        folder = self._remote.folder
        new = folder / f".{os.getpid()}"
        self._listener = address.bound(str(new))
        self._listener.listen(ASKERS)
        self._listener.setblocking(False)
        self._number = new.stat().st_ino
        new.replace(folder / paths.HOSTED_SOCKET)
        self._watch = Watch([folder], paths.HOSTED_NEWS)

    def _taken(self, id: str) -> Path:
        """Return the path of an asker's note that it has its answer."""
        return self._remote.folder / f"{paths.HOSTED_TAKEN}{Path(id).name}"

    def _is_newest(self) -> bool:
        try:
            return (self._remote.folder / paths.HOSTED_SOCKET).stat().st_ino == self._number
        except FileNotFoundError:
            return True  # the session is about to be over

    def _show(self) -> None:
        """Follow the terminal of the agent."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with address.reachable(str(self._remote.terminal)) as short:
                connection.connect(short)
        except OSError:
            connection.close()
            return
        self._terminal = self._added(connection, protocol.FRAME_LIMIT)
        self._write(self._terminal, protocol.WATCH, json.dumps(self._size).encode())

    def _welcome(self) -> None:
        assert self._listener
        with suppress(OSError):
            connection, _ = self._listener.accept()
            if address.peer(connection) == os.geteuid():
                self._added(connection, streams.ASK_LIMIT)
            else:
                connection.close()

    def _added(self, connection: socket.socket, limit: int) -> Stream:
        stream = Stream(connection.fileno(), connection.fileno(), limit)
        self._sockets[stream] = connection
        return stream

    def _hear(self, stream: Stream) -> None:
        """Pass on the messages of a local stream; drop a stream that has ended."""
        try:
            messages = stream.read()
            asks = [
                (kind, str(protocol.unpacked(text).get("id")), text)
                for kind, text in messages
                if kind in (streams.ASK, streams.TAKEN)
            ]
        except (StreamEnd, protocol.Broken):
            self._drop(stream)
            return
        if stream is self._terminal:
            for kind, payload in messages:
                if kind == protocol.FRAME:
                    self._home.pass_on(kind, fitting(payload))
            return
        for kind, id, payload in asks:
            if kind == streams.ASK:
                self._askers[id] = stream
            else:
                self._askers.pop(id, None)
            self._home.pass_on(kind, payload)

    def _write(self, stream: Stream, kind: bytes = b"", payload: bytes = b"") -> None:
        """Write a message, or the waiting bytes, to a local stream; drop a stream that has ended."""
        try:
            if kind:
                stream.pass_on(kind, payload)
            else:
                stream.flush()
        except StreamEnd:
            self._drop(stream)

    def _drop(self, stream: Stream) -> None:
        self._sockets.pop(stream).close()
        for id in [id for id, asker in self._askers.items() if asker is stream]:
            del self._askers[id]
            has_taken = looking.is_file(self._taken(id))  # it may have ended before it could confirm
            self._home.send(streams.TAKEN if has_taken else streams.GONE, {"id": id})
        if stream is self._terminal:
            self._terminal = None

    def _drain(self) -> None:
        """Pass on the last frames of the terminal."""
        while self._terminal and select.select([self._terminal.source], [], [], 0)[0]:
            self._hear(self._terminal)
