"""Messages both ways over descriptors that never block, and what they mean (`terminals/protocol.py` frames them)."""

import os

from pro0.terminals import protocol

HELLO = b"v"
"""There to home, as the first message: {version}."""
BEGIN = b"b"
"""Home to there: start the session, or go on with it (`model.runtime.Hosted`, with `again` and a size)."""
BEGUN = b"g"
REFUSED = b"x"
"""There to home: {why}; this connection cannot go on."""
REPORT = b"r"
"""There to home: {state, task, note}, as the guard there reports."""
SAID = b"s"
"""There to home: what the agent's own files tell (`agents.there.SaidThere`)."""
USED = b"u"
"""There to home: what the agent has used since its start (`model.usage.Usage`)."""
ASK = b"q"
"""There to home: {id, words, input}: a command of pro0 to be done at home, once for each id."""
ANSWER = b"a"
"""Home to there: {id, code, out, errors, held}; `held` when home counts it as not done unless it is taken."""
TAKEN = b"t"
"""There to home: {id}: the asker has its answer. It is told again on the next connection until it is noted."""
NOTED = b"n"
"""Home to there: {id}: home knows that the asker has its answer."""
GONE = b"l"
"""There to home: {id}: the asker has gone without one."""
END = b"e"
"""Home to there: end the session."""
OVER = b"o"
"""There to home: {code, signal, reason}: the whole tree has ended."""

ALIVE = b"k"
"""There to home: {}, from time to time, since a shared connection of `ssh` may die unnoticed."""

ASK_LIMIT = 1 << 21
"""Bytes of the longest command that is asked for."""
READ = 1 << 16
CLOGGED = 1 << 20
"""Waiting bytes of a stream, above which nothing more is read for it."""


class StreamEnd(Exception):
    """The other end is closed, or speaks another protocol."""


class Misfit(StreamEnd):
    """The other end is connected, but the connection cannot go on with its message or its silence."""


class Stream:
    """Messages read from one descriptor, and written to the same or another one."""

    def __init__(self, source: int, sink: int, limit: int = protocol.FRAME_LIMIT) -> None:
        self.source, self.sink = source, sink
        for descriptor in (source, sink):
            os.set_blocking(descriptor, False)
        self._inbox = protocol.MessageReader(limit)
        self._out = bytearray()

    @property
    def sending(self) -> bool:
        """Return True when bytes wait to be written."""
        return bool(self._out)

    @property
    def clogged(self) -> bool:
        """Return True when too many bytes wait to be written."""
        return len(self._out) > CLOGGED

    def read(self) -> list[tuple[bytes, bytes]]:
        """Return the messages that have arrived; raises StreamEnd."""
        try:
            data = os.read(self.source, READ)
            if data:
                return self._inbox.take(data)
        except BlockingIOError:
            return []
        except protocol.Broken as error:
            raise Misfit("it sends what no pro0 sends; does its shell print something at its start?") from error
        except OSError as error:
            raise StreamEnd(str(error)) from error
        raise StreamEnd("closed")

    def send(self, kind: bytes, value: object) -> None:
        """Send a message as JSON, now or when there is room; raises StreamEnd."""
        self._out += protocol.packed(kind, value)
        self.flush()

    def pass_on(self, kind: bytes, payload: bytes) -> None:
        """Send a message as it is, now or when there is room; raises StreamEnd."""
        self._out += protocol.message(kind, payload)
        self.flush()

    def flush(self) -> None:
        """Write the waiting bytes, as far as there is room; raises StreamEnd."""
        try:
            while self._out:
                del self._out[: os.write(self.sink, self._out[:READ])]
        except BlockingIOError:
            pass
        except OSError as error:
            raise StreamEnd(str(error)) from error
