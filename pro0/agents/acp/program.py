"""The client's process: it runs the agent, draws the conversation, and takes what a person and the lead hand to it."""

import math
import os
import selectors
import signal
import termios
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0 import __version__
from pro0.agents import first_prompt, turn_end
from pro0.agents.acp.child import Child
from pro0.agents.acp.conversation import AcpConversation
from pro0.agents.acp.news import Drawn
from pro0.agents.acp.opening import AcpSetting
from pro0.agents.acp.orders import LeadOrders
from pro0.agents.acp.sheet import Sheet, answers
from pro0.agents.acp.start import SETTINGS, USED, AcpStart
from pro0.agents.acp.typing import Keystroke, LineEditor
from pro0.agents.bridge.reports import STATE, BridgeReport
from pro0.agents.own_tools import SERVER
from pro0.agents.transcripts import last_words, value
from pro0.decoding import decode, decoder
from pro0.errors import EnvironmentMissing
from pro0.model.message import Mailbox
from pro0.model.usage import Usage
from pro0.rules import mail

LOOK = 2.0
"""Seconds between two looks for what the lead has handed over, if nobody rings."""
ESCAPE = 0.05
"""Seconds after which an Escape counts as the key: the rest of a sequence comes at once, or with the next read."""
FAILED = 1


_START = decoder(AcpStart)


class AcpClient:
    """One session with one agent, until the agent ends."""

    def __init__(self, folder: Path, start: AcpStart) -> None:
        self._folder = folder
        self._sheet = Sheet()
        self._editor = LineEditor()
        self._asked = ""
        """The key of the request with the answers that are drawn now."""
        self._typed_for = ""
        """The key of the request drawn when the typed line was begun: the line can answer only this request."""
        self._settle_at = math.inf
        """When a held Escape will count as the key, by the monotonic clock."""
        self._told = BridgeReport()
        self._turns_over, self._cost = 0, 0.0
        self._orders = LeadOrders(folder)  # first: without it no agent should run
        self._child = Child(start.argv)
        setting = AcpSetting(
            cwd=str(Path.cwd()),
            servers=[_server(start.server)],
            version=__version__,
            session=start.session,
            first=first_prompt.load(str(folder)),
            lost=start.lost,
            who=start.who,
        )
        self._mailbox = start.mailbox
        self._conversation = AcpConversation(setting, self._child.send, self._sheet.add, self._unread)
        self._wake, ring = os.pipe()
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        for news in (signal.SIGWINCH, signal.SIGCHLD):
            signal.signal(news, lambda *_: None)

    def work(self) -> int:
        """Speak with the agent until it ends; return the exit code."""
        with _unechoed(self._sheet.has_terminal), selectors.DefaultSelector() as selector:
            self._conversation.begin()
            self._show()
            for descriptor in (self._orders.descriptor, self._wake, *([0] if self._sheet.has_terminal else ())):
                selector.register(descriptor, selectors.EVENT_READ)
            try:
                while self._child.open:
                    self._child.register(selector)
                    patience = min(LOOK, max(0.0, self._settle_at - time.monotonic()))
                    self._turn({key.fd for key, _ in selector.select(patience)})
            except EnvironmentMissing as error:
                self._say(error.message)
                self._child.end()
                self._end()
                return FAILED
            return self._end()

    def _unread(self) -> bool:
        """Return False only when the member has certainly read all its mail."""
        with suppress(OSError, msgspec.MsgspecError):
            box = decode(Path(self._mailbox).read_bytes(), Mailbox)
            return mail.news(box, os.environ.get("PRO0_INCARNATION", "")).count > 0
        return True

    def _turn(self, ready: set[int]) -> None:
        # Keys first: the person typed them in answer to the text drawn so far, not to the agent's next lines.
        if 0 in ready:
            self._type()
        elif time.monotonic() >= self._settle_at:
            self._settle_at = math.inf
            self._do(self._editor.settle())
        if self._wake in ready:
            os.read(self._wake, 64)
        if self._child.alive:  # mail for a dead agent would be lost
            self._orders.follow(self._conversation)
        for line in self._child.lines(ready):
            self._conversation.hear(line)
        self._child.flush()
        self._show()

    def _type(self) -> None:
        try:
            keys = os.read(0, 4096)
        except OSError:
            keys = b""
        if not keys:
            raise EnvironmentMissing("its terminal is gone")
        if not self._editor.text:
            self._typed_for = self._asked
        self._do(self._editor.feed(keys))
        self._settle_at = time.monotonic() + ESCAPE if self._editor.holds_escape else math.inf

    def _do(self, acts: list[Keystroke]) -> None:
        for act in acts:
            if act.kind == "stop":
                self._conversation.cancel()
            else:
                self._enter(act.text)

    def _enter(self, text: str) -> None:
        """Take a typed line: the number of an answer, or a prompt."""
        asks = self._conversation.leaves.open
        if not asks or not text.strip().isdecimal():
            self._conversation.prompt("person", text)
            return
        seen = self._typed_for == self._asked == asks[0].key
        if not seen or not self._conversation.choose(asks[0].key, int(text)):
            self._sheet.add(Drawn("note", "not taken as an answer: type the number of one of the answers below"))
        self._typed_for = ""

    def _show(self) -> None:
        """Draw what is new, and report it."""
        report = self._conversation.report()
        asks = self._conversation.leaves.open
        self._asked = asks[0].key if asks else ""
        self._sheet.draw(_in_words(report, answers(asks[0]) if asks else ""), self._editor.text)
        self._keep(report)

    def _keep(self, report: BridgeReport) -> None:
        """Write the lead's files in order: last words and costs come before the state, which ends the turn."""
        turns_over, cost = self._conversation.turns_over, self._conversation.cost
        if turns_over != self._turns_over:  # two turns may end with the same words
            words = last_words(self._conversation.last_words, str(time.time_ns()), source="protocol")
            if words is None or self._write(turn_end.WORDS, words):
                self._turns_over = turns_over
        if cost != self._cost and self._write(USED, Usage(cost_usd=cost)):
            self._cost = cost
        is_whole = (self._turns_over, self._cost) == (turns_over, cost)
        if is_whole and report != self._told and self._write(STATE, report):
            self._told = report

    def _write(self, name: str, what: msgspec.Struct) -> bool:
        new = self._folder / f"{name}.new"
        try:
            new.write_bytes(msgspec.json.encode(what))
            new.replace(self._folder / name)
        except OSError:  # a full disk: the next look tries again
            return False
        return True

    def _end(self) -> int:
        code = self._child.wait()
        self._show()
        for line in self._child.last_output.splitlines():
            self._say(line)
        self._say(f"the agent has ended ({'exit code' if code >= 0 else 'signal'} {abs(code)})")
        self._sheet.close()
        broken = self._conversation.turning or not self._conversation.opened
        return code if code > 0 else 128 - code if code < 0 else FAILED if broken else 0

    def _say(self, text: str) -> None:
        self._sheet.add(Drawn("note", text))


def run(folder: Path) -> int:
    """Run the agent that the settings of a folder name; return the exit code."""
    start = value(folder / SETTINGS, _START)
    if start is None:
        raise EnvironmentMissing(f"{folder / SETTINGS} cannot be read")
    return AcpClient(folder, start).work()


def _server(words: tuple[str, ...]) -> dict[str, object]:
    """Return pro0's MCP server in the form of the protocol, with its variables: agents pass it none of their own."""
    variables = [{"name": name, "value": text} for name, text in os.environ.items() if name.startswith("PRO0_")]
    return {"name": SERVER, "command": words[0], "args": list(words[1:]), "env": variables}


def _in_words(report: BridgeReport, offered: str) -> str:
    """Return the state in the words for the person."""
    if offered:
        return f"waiting for permission: {report.note} · {offered} · type a number"
    if report.error and report.state == "idle":
        return f"error: {report.error}"
    return {"working": "working · Esc stops it", "starting": "starting"}.get(str(report.state), str(report.state))


class _unechoed:  # noqa: N801 - used as a word of a with statement
    """Turns off echo and line input, and turns on bracketed paste."""

    def __init__(self, has_terminal: bool) -> None:
        self._before = termios.tcgetattr(0) if has_terminal else None

    def __enter__(self) -> None:
        if self._before:
            mode = termios.tcgetattr(0)
            mode[0] &= ~(termios.IXON | termios.ICRNL)
            mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
            termios.tcsetattr(0, termios.TCSANOW, mode)
            os.write(1, b"\x1b[?2004h")

    def __exit__(self, *_: object) -> None:
        if self._before:
            with suppress(OSError, termios.error):
                os.write(1, b"\x1b[?2004l")
                termios.tcsetattr(0, termios.TCSANOW, self._before)
