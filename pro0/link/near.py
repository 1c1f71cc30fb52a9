"""The link at home: it keeps one connection to the other machine until the session there is over."""

import json
import math
import os
import select
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pro0 import __version__
from pro0.errors import EnvironmentMissing
from pro0.link import streams
from pro0.link.asks import NAMED, Asks
from pro0.link.doing import Doing
from pro0.link.mail import OwnMail
from pro0.link.own import OwnSendings, OwnSession
from pro0.link.permission import OwnPermissions
from pro0.link.screen import LinkScreen
from pro0.link.streams import Misfit, Stream, StreamEnd
from pro0.link.tunnel import Tunnel
from pro0.model.runtime import Hosted
from pro0.ssh import NO_PROGRAM, NOT_BEGUN
from pro0.terminals import protocol

if TYPE_CHECKING:
    from pro0.link.agent import KeptHere

AGAIN = 1.0
"""Seconds between two tries to reach the machine."""
TAKES = 10.0
"""Seconds for the machine to take some of too many waiting bytes; then the link is cut."""
GREETS = 60.0
"""Seconds for the machine to greet after the start of ssh; then the link tries again."""
SILENT = 20.0
"""Seconds until the next sign of life of a machine that has greeted; then the link is cut."""
STATE = "PRO0_STATE_FD"
WORD, NOTE = 100, 2000
"""The most characters of a state or a task, and of a note, that are passed on."""


class Link:
    """The link of one session."""

    def __init__(self, hosted: Hosted, record: Path, screen: LinkScreen) -> None:
        self._hosted, self._record, self._screen = hosted, record, screen
        self._woken, self._waker = os.pipe()
        for descriptor in (self._woken, self._waker):
            os.set_blocking(descriptor, False)
        session = OwnSession(hosted.team, hosted.agent_id)
        sendings = OwnSendings(record.with_name(hosted.incarnation), again=hosted.again)
        doing = Doing(Path(hosted.project), OwnMail(session), OwnPermissions(session), owes_mail=hosted.again)
        self._asks = Asks(doing, self._ring, sendings)
        self._tunnel: Tunnel | None = None
        self._connect_at = self._speaks_by = 0.0
        self._begun = self._asked = self._cut = hosted.again
        """`_asked`: True once the machine was asked to begin or end the session, so it may have begun it."""
        self._ending = self._greeted = self._gives_signs = False
        self._since = self._why = ""
        """When the machine was lost, and why it cannot be reached, as last reported."""
        self._typing = self._heard = True
        self._report: dict[str, object] = {"state": "starting", "task": None, "note": ""}
        self._over: dict[str, object] | None = None
        self._proven = True
        self._kept: KeptHere | None = None

    def run(self) -> dict[str, object]:
        """Return how the session there ended: {code, signal, reason}."""
        self._heed_signals()
        while self._over is None:
            self._turn()
        if self._kept:
            self._kept.write(at_once=True)
        if self._tunnel:
            self._tunnel.close()
        if self._proven:
            self._record.unlink(missing_ok=True)
        return self._over

    def _turn(self) -> None:
        if self._kept:
            self._kept.write()
        if self._tunnel is None and time.monotonic() >= self._connect_at:
            self._connect()
        tunnel = self._tunnel
        sources = [self._woken]
        if tunnel:
            sources += [tunnel.errors] if self._heard else []
            if not tunnel.stream.clogged:  # read nothing from a machine that takes no answers
                sources += [tunnel.stream.source, *([0] if self._typing and self._joined else [])]
        sinks = [tunnel.stream.sink] if tunnel and tunnel.stream.sending else []
        to_keep = self._kept.patience() if self._kept else None
        patience: float | None = max(0.0, self._connect_at - time.monotonic())
        if tunnel:
            patience = TAKES if tunnel.stream.clogged else to_keep
        if tunnel and self._greeted and tunnel.stream.clogged:  # nothing is read from it now
            self._speaks_by = self._silent_until()
        elif tunnel:
            patience = min(max(0.0, self._speaks_by - time.monotonic()), GREETS if patience is None else patience)
        ready, room, _ = select.select(sources, sinks, [], patience)
        if self._woken in ready:
            self._wake()
        if tunnel is None:
            return
        try:
            if tunnel.stream.clogged and not (ready or room):
                raise Misfit(f"it has accepted no data for {TAKES:g} s")
            self._exchange(tunnel, ready, room)
            if time.monotonic() >= self._speaks_by:
                raise Misfit(f"its pro0 has sent nothing for {SILENT if self._greeted else GREETS:g} s")
        except StreamEnd as gone:
            self._lose(tunnel, gone)

    def _exchange(self, tunnel: Tunnel, ready: list[int], room: list[int]) -> None:
        if tunnel.errors in ready:
            self._heard = tunnel.listen()
        if room:
            tunnel.stream.flush()
        if 0 in ready:
            self._type(tunnel.stream)
        if tunnel.stream.source in ready:
            for kind, payload in tunnel.stream.read():
                self._take(tunnel.stream, kind, payload)
            if self._greeted:
                self._speaks_by = self._silent_until()
        for answer in self._asks.answers() if self._joined else ():
            tunnel.stream.send(streams.ANSWER, answer)

    def _silent_until(self) -> float:
        """Return the time until which the machine may be silent: infinite until its first sign of life."""
        return time.monotonic() + SILENT if self._gives_signs else math.inf

    @property
    def _joined(self) -> bool:
        """Return True while the machine serves the session on this connection, by its own report."""
        return self._begun and not self._cut

    def _connect(self) -> None:
        self._connect_at, self._speaks_by = time.monotonic() + AGAIN, time.monotonic() + GREETS
        self._heard, self._greeted, self._gives_signs = True, False, False
        try:
            self._tunnel = Tunnel(self._hosted)
        except EnvironmentMissing as error:
            self._miss(error.message)
        except OSError as error:
            self._miss(f"{self._hosted.ssh} cannot be run: {error.strerror}")

    def _lose(self, tunnel: Tunnel, gone: StreamEnd) -> None:
        """Note that the connection is gone, and how; the agent there goes on."""
        said = tunnel.close()
        self._tunnel = None
        self._asks.cut_off()
        if self._kept:
            self._kept.forget()
        if tunnel.code == NO_PROGRAM and not self._asked:
            said = f"pro0 is not installed there; pro0 doctor --host {self._hosted.host}"
        elif isinstance(gone, Misfit):  # the connection came that far, whatever ssh said
            said = str(gone)
        if self._over is None:
            self._miss(said or str(gone))

    def _miss(self, why: str) -> None:
        if not self._asked:  # nothing can have begun there
            self._over = {"code": NOT_BEGUN, "reason": f"{self._hosted.host} cannot be reached: {why}"}
        elif not self._cut or why != self._why:
            self._since = (self._cut and self._since) or time.strftime("%H:%M:%S")
            self._cut, self._why = True, why
            note = f"{self._hosted.host} has been out of reach since {self._since}: {why}"
            self._tell({"state": "unreachable", "note": note[:NOTE]})

    def _take(self, stream: Stream, kind: bytes, payload: bytes) -> None:
        """Take a message of the other machine; an unknown message changes nothing."""
        try:
            value = protocol.unpacked(payload)
        except protocol.Broken:
            return
        match kind:
            case streams.HELLO if not self._greeted:
                self._greet(stream, value)
            case streams.BEGUN if self._greeted and not self._joined:
                self._begun, self._cut = True, False
                self._asks.connected()
                self._tell(self._report)
            case streams.TAKEN:
                self._asks.taken(_text(value.get("id")))
                stream.send(streams.NOTED, {"id": _text(value.get("id"))[:NAMED]})
            case streams.GONE:
                self._asks.gone(_text(value.get("id")))
            case streams.REFUSED if not self._begun:
                self._proven = False  # an earlier connection may have begun the session: the lead asks again
                self._over = {"code": NOT_BEGUN, "reason": _text(value.get("why"))}
            case streams.REFUSED if not self._joined:
                raise Misfit(_text(value.get("why")))
            case streams.ALIVE:
                self._gives_signs = True
            case streams.OVER:
                self._over = value
            case _ if self._joined:
                self._take_news(kind, value)

    def _take_news(self, kind: bytes, value: dict[str, object]) -> None:
        """Take news of the session from the machine that runs it."""
        match kind:
            case streams.REPORT:
                self._report = {key: _text(value.get(key))[:WORD] or None for key in ("state", "task")}
                self._report["note"] = _text(value.get("note"))[:NOTE]
                self._tell(self._report)
            case streams.SAID | streams.USED:
                self._keep(kind, value)
            case protocol.FRAME:
                self._screen.draw(value)
            case streams.ASK:
                self._asks.take(value)

    def _keep(self, kind: bytes, value: dict[str, object]) -> None:
        if self._kept is None:
            from pro0.link.agent import KeptHere  # late: many links never have one

            self._kept = KeptHere(self._record.with_name(self._hosted.incarnation))
        self._kept.take(kind, value)

    def _greet(self, stream: Stream, hello: dict[str, object]) -> None:
        self._greeted = True
        if (version := _text(hello.get("version"))) != __version__:
            raise Misfit(f"pro0 {version[:40]} there, {__version__} here")
        if self._ending:
            stream.send(streams.END, {})
        else:
            hosted = self._hosted
            stream.send(
                streams.BEGIN,
                {
                    "team": hosted.team,
                    "agentId": hosted.agent_id,
                    "argv": hosted.argv,
                    "firstState": hosted.first_state,
                    "grace": hosted.grace,
                    "passes": hosted.passes,
                    "code": hosted.code,
                    "agent": hosted.agent,
                    "conversation": hosted.conversation,
                    "prompt": hosted.prompt,
                    "earlier": hosted.earlier,
                    "earlierArgv": hosted.earlier_argv,
                    "again": self._begun,
                    **self._screen.size(),
                },
            )
        self._asked = True

    def _type(self, stream: Stream) -> None:
        try:
            data = os.read(0, streams.READ)
        except OSError:
            data = b""
        if data:
            stream.pass_on(protocol.INPUT, data)
        self._typing = bool(data)

    def _wake(self) -> None:
        numbers = os.read(self._woken, 4096)
        stream = self._tunnel.stream if self._tunnel else None
        try:
            if signal.SIGWINCH in numbers and stream and self._greeted:
                stream.send(protocol.SIZE, self._screen.size())
            if signal.SIGTERM in numbers and not self._ending:
                self._end(stream)
        except StreamEnd:
            pass  # the next read of the stream finds its end, too

    def _end(self, stream: Stream | None) -> None:
        self._ending = True
        if not self._asked:
            self._over = {"code": NOT_BEGUN, "reason": "ended before it began"}
        elif stream:
            stream.send(streams.END, {})

    def _ring(self) -> None:
        try:
            os.write(self._waker, b"\0")
        except BlockingIOError:
            pass

    def _tell(self, report: dict[str, object]) -> None:
        """Report to the guard, which ignores an invalid state."""
        try:
            os.write(int(os.environ[STATE]), json.dumps(report).encode() + b"\n")
        except (KeyError, ValueError, OSError):
            pass

    def _heed_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGWINCH):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)


def _text(value: object) -> str:
    """Return a text unchanged, "" for any other value, however deep or long."""
    return value if isinstance(value, str) else ""
