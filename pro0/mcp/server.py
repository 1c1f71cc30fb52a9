"""The server itself: one thread reads, writes and answers; calls of tools run in threads of their own."""

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress

from pro0.errors import Pro0Error
from pro0.mcp.channel import Channel
from pro0.mcp.listing import MEMBER, kind_of_caller, listing
from pro0.mcp.protocol import Call, Conversation, Listing
from pro0.wire import INTERNAL_ERROR, JSON, TOOLS_LISTED, Fault, LineSplitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pro0.mcp.calls import Calls

LAST = 5.0
"""The most seconds to answer what came before the end of input. A call that waits for a lead is not waited for."""
HURRY = 0.5
"""The same when a signal asks this process to end."""
SOON, LATER = 0.001, 0.05
"""Seconds between two looks at whether the client has read a result: at first, and when it is slow."""

Outcome = dict[str, JSON] | Fault


Elsewhere = Callable[[Call], dict[str, JSON]]
"""Performs a call on another machine; refuses a tool that does not exist there."""


def serve(elsewhere: Elsewhere | None = None, tools: Collection[str] = (), tells: str = "") -> int:
    """Serve the client at stdin and stdout until it goes, and end this process.

    With `elsewhere` it serves a member of a team on another machine, with these `tools` alone. `tells` is the file to
    make once the tools have been sent to the client.
    """
    if os.isatty(0):
        sys.stderr.write("pro0: this is for agents, which send it lines of JSON; pro0 mcp --help says how to add it\n")
    try:
        listed = listing(MEMBER, tools) if elsewhere else listing(kind_of_caller())
    except Pro0Error as error:
        sys.stderr.write(f"pro0: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code
    Server(listed, elsewhere, tells or os.environ.get(TOOLS_LISTED, "")).run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # nobody may listen there any more
            stream.flush()
    os._exit(0)  # a thread that waits for a lead would hold the end up


class Server:
    """One client, from its first line until it goes."""

    def __init__(self, listed: Listing, elsewhere: Elsewhere | None, tells: str) -> None:
        self._channel = Channel()
        self._elsewhere = elsewhere
        self._conversation = Conversation(listed, self._channel.send, self._start, self._later)
        self._lines = LineSplitter()
        self._finished: deque[tuple[Call, Outcome]] = deque()
        self._running: Calls | None = None
        self._asked = False
        """True once a signal has asked this process to end."""
        self._pause = 0.0
        self._tells = tells
        """The file to make once the tools have been sent to the client, empty for none."""

    def run(self) -> None:
        """Run until the client has gone, and a little longer for its earlier calls."""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._end)
        while not self._channel.ended:
            self._round(None)
        deadline = time.monotonic() + self._patience()
        while not self._settled() and (remaining := deadline - time.monotonic()) > 0:
            self._round(remaining)
        if self._channel.broken or not self._channel.idle:
            self._take_back()

    def _patience(self) -> float:
        if self._channel.alone:
            return 0.0
        return HURRY if self._asked else LAST

    def _round(self, seconds: float | None) -> None:
        if self._tells and self._conversation.listed and self._channel.idle:
            self._tell()
        taken = self._conversation.unsure and self._channel.taken
        for line in self._lines.feed(self._channel.wait(self._patient(seconds, taken=taken))):
            self._conversation.receive(line)
        if taken:  # a client that had cancelled before it read the result has said so by now
            self._conversation.taken()
        while self._finished:
            self._conversation.finish(*self._finished.popleft())

    def _tell(self) -> None:
        """Make the file that a hook of the client waits for."""
        flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW
        with suppress(OSError):
            os.close(os.open(self._tells, flags, 0o600))
        self._tells = ""

    def _patient(self, seconds: float | None, *, taken: bool) -> float | None:
        """Return how long to wait: less while it is not known whether the client has read a result."""
        if not self._conversation.unsure:
            return seconds
        self._pause = 0.0 if taken else min(2 * self._pause or SOON, LATER)
        return self._pause if seconds is None else min(self._pause, seconds)

    def _settled(self) -> bool:
        # The order matters: when no call is left, all outcomes are among the finished ones.
        return (self._running is None or self._running.idle) and not self._finished and self._channel.idle

    def _take_back(self) -> None:
        """Take back the results that the client never read, such as messages."""
        self._conversation.lost()
        deadline = time.monotonic() + LAST
        while self._running and not self._running.idle and time.monotonic() < deadline:
            time.sleep(0.01)

    def _start(self, call: Call) -> None:
        try:
            self._calls().submit(call)
        except RuntimeError as error:  # the system has no thread left; the next call asks for one again
            self._done(call, Fault(INTERNAL_ERROR, f"no thread is free for this call ({error}): try again"))

    def _later(self, act: Callable[[], None]) -> None:
        if self._running:
            self._running.later(act)
        else:  # no call has begun
            act()

    def _calls(self) -> "Calls":
        if self._running is None:
            from pro0.mcp.calls import Calls

            self._running = Calls(self._done, self._elsewhere)
        return self._running

    def _done(self, call: Call, outcome: Outcome) -> None:
        """Hand over the outcome of a call; called in the call's thread."""
        self._finished.append((call, outcome))
        self._channel.ring()

    def _end(self, _number: int, _frame: object) -> None:
        self._asked = self._channel.ended = True
        self._channel.ring()
