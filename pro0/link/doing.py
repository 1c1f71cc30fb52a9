"""How a command for another machine is done at home, and what becomes of the mail that it takes.

Mail counts as read at the session's next look into the mailbox. So only one command takes mail at a time, and keeps
its turn until its asker has the answer or is gone. Then the mail of a lost asker is handed out again.
"""

import math
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pro0 import looking
from pro0.errors import Pro0Error, TimedOut
from pro0.link.mail import OwnMail
from pro0.link.permission import HOOK, OwnPermissions

if TYPE_CHECKING:
    from pro0.model.message import HandOver

LIMIT = 8 << 20
"""Bytes that a command may print: more than the longest mail, even at 18 for each byte, as in a tool's answer."""
PATIENCE = 600.0
"""Seconds that a command without a wait may take."""
HELD = 30.0
"""Seconds on an open link until mail is handed out again, when its asker does not confirm it. They are longer than it
takes to notice a cut, and for late messages to arrive."""
LOOK = 0.1
"""Seconds between two looks for mail, or for the end of the wait."""
LOOK_AT_DIALOG = 0.5
"""Seconds between two looks for the end of an answered request: over a cut link, nobody tells of it."""
WAIT, ACK, CHECK = "--wait", "--ack", ["mcp", "--call", "check_messages"]
VIEWS = ("--all", "--sent", "--with")
"""The options with which `inbox` shows mail and takes none."""
DEADLINES = 64
CUT_OFF = "the connection was cut while it waited"
TOO_MUCH = f"it prints more than {LIMIT} bytes"


class CommandEnd(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    errors: str


class CommandRequest:
    """One command, until its asker has the answer or is gone."""

    def __init__(self, id: str, words: list[str], stdin: str) -> None:
        self.id, self.words, self.stdin = id, words, stdin
        self.waits = any(word.startswith(WAIT) for word in words)
        is_inbox = words[:1] == ["inbox"] and not any(word.startswith(VIEWS) for word in words)
        self.takes_mail = is_inbox or words == CHECK
        self.asks_permission = words == HOOK
        self.settled = threading.Event()
        self.is_cut_off = False
        """True while the link is cut, so the asker cannot confirm its answer."""
        self._is_taken = False

    @property
    def is_gone(self) -> bool:
        """Return True when nobody waits for the answer."""
        return self.settled.is_set() and not self._is_taken

    @property
    def is_undone(self) -> bool:
        """Return True when the command counts as not done, so the same asker may ask again."""
        return (self.takes_mail or self.asks_permission) and self.is_gone

    def settle(self, *, taken: bool) -> None:
        """Note whether the answer was taken; only the first call counts."""
        if not self.settled.is_set():
            self._is_taken = taken
            self.settled.set()


class Doing:
    """Does the commands of one session."""

    def __init__(self, project: Path, mail: OwnMail, permissions: OwnPermissions, *, owes_mail: bool = False) -> None:
        self._project, self._mail, self._permissions = project, mail, permissions
        self._turn = threading.Lock()
        """Held by the command that takes mail now."""
        self._owes_mail = owes_mail
        """True while mail may have to be given back: otherwise the session's next look would count it as read."""
        self._before: HandOver | None = None
        """The hand-over before the last look."""
        self._deadlines: OrderedDict[str, float] = OrderedDict()

    def do(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        """Do a command, and tell how it ended, unless its asker is gone before."""
        try:
            if request.takes_mail:
                self._take_mail(request, tell)
            elif request.asks_permission:
                self._ask_permission(request, tell)
            else:
                tell(self._run(request.words, request))
        except (Pro0Error, OSError) as error:
            tell(CommandEnd(1, "", f"pro0: {error}\n"))

    def _take_mail(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        """Look into the mailbox until there is something, the wait is over, or the asker is gone."""
        words, seconds = without_wait([word for word in request.words if word != ACK])
        deadline = self._deadline(request.id, seconds)
        while True:
            stamp = self._mail.stamp() if request.waits else None
            if not self._gets_its_turn(request):
                return
            try:
                done = self._look_into_mailbox(words, request)
                is_late = time.monotonic() >= deadline
                if done.code != TimedOut.exit_code or is_late:
                    late = done.errors.replace("in 0 s", f"in {seconds:g} s") if seconds else done.errors
                    self._hand_over(request, done._replace(errors=late), tell)
                    return
            finally:
                self._turn.release()
            while stamp == self._mail.stamp() and time.monotonic() < deadline:
                if request.settled.wait(LOOK):
                    return

    def _look_into_mailbox(self, words: list[str], request: CommandRequest) -> CommandEnd:
        """Run one look into the mailbox; mail given out by a failed look counts as not given, since nobody sees it."""
        try:
            if self._owes_mail:
                self._give_back()
            self._before = self._mail.handed()
        except Pro0Error as error:  # a look now could count unseen mail as read
            hint = f"hint: {error.hint}\n" if error.hint else ""
            return CommandEnd(error.exit_code, "", f"pro0: {error}\n{hint}")
        self._owes_mail = True  # until the asker has it
        done = self._run(words, request)
        if done.code != 0:
            with suppress(Pro0Error):  # the next look tries again
                self._give_back()
        return done

    def _give_back(self) -> None:
        """Hand the mail of the last look out again; after a Pro0Error this is still owed."""
        if self._mail.handed() != self._before:
            self._mail.take_back()
        self._owes_mail = False

    def _ask_permission(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        """Put a request before the person, until the agent has the answer or no longer waits."""

        def hand_over(answer: bytes) -> None:
            tell(CommandEnd(0, answer.decode(), ""))

        event = request.stdin.encode(errors="surrogateescape")
        if id := self._permissions.ask(request.id, event, request.settled, hand_over):
            while not request.settled.wait(LOOK_AT_DIALOG) and not self._permissions.is_over(id):
                pass
            request.settle(taken=False)
            self._permissions.settle(id, taken=not request.is_gone)

    def _gets_its_turn(self, request: CommandRequest) -> bool:
        while not self._turn.acquire(timeout=LOOK):
            if request.is_gone:
                return False
        if request.is_gone:
            self._turn.release()
        return not request.is_gone

    def _hand_over(self, request: CommandRequest, done: CommandEnd, tell: Callable[[CommandEnd], None]) -> None:
        tell(done)
        patience = HELD
        while patience > 0 and not request.settled.wait(LOOK):  # in looks, not by a clock: home may sleep
            patience -= 0 if request.is_cut_off else LOOK
        request.settle(taken=False)
        if done.code != 0:
            return
        with suppress(Pro0Error):  # the session's next look reports the fault of its mailbox
            if request.is_gone:
                self._give_back()
            else:
                self._owes_mail = False
                if ACK in request.words:
                    self._mail.acknowledge()

    def _deadline(self, id: str, seconds: float | None) -> float:
        """Return the deadline of a wait; a wait that was cut off and asked for again keeps its first deadline."""
        if seconds is None:
            return time.monotonic()
        deadline = self._deadlines.setdefault(id, time.monotonic() + seconds)
        while len(self._deadlines) > DEADLINES:
            self._deadlines.popitem(last=False)
        return deadline

    def _run(self, words: list[str], request: CommandRequest) -> CommandEnd:
        import tempfile  # late: many links do no command

        try:
            with tempfile.TemporaryFile() as stdin:  # a pipe fills up while the command reads nothing
                stdin.write(request.stdin.encode(errors="surrogateescape"))
                stdin.seek(0)
                with subprocess.Popen(
                    (sys.executable, "-I", "-m", "pro0", *words),
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self._project if looking.is_folder(self._project) else "/",
                ) as process:
                    return _ended(process, request)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return CommandEnd(1, "", f"pro0: the command did not finish: {error}\n")


def without_wait(words: list[str]) -> tuple[list[str], float | None]:
    """Return the words of the same look without a wait, and the seconds to wait, None for none.

    An invalid time is left for the command to refuse.
    """
    rest, wait, remaining = list[str](), "", iter(words)
    for word in remaining:
        if word == WAIT:
            wait = next(remaining, "")
        elif word.startswith(f"{WAIT}="):
            wait = word.removeprefix(f"{WAIT}=")
        else:
            rest.append(word)
    seconds = _seconds(wait)
    return (words, None) if seconds is None else ([*rest, WAIT, "0"], seconds)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def _ended(process: "subprocess.Popen[bytes]", request: CommandRequest) -> CommandEnd:
    """Return how a command ended; raises TimeoutExpired when it takes too long, ValueError when it prints too much."""
    patience = math.inf if request.waits else time.monotonic() + PATIENCE
    while True:
        try:
            out, errors = process.communicate(timeout=LOOK)
            if len(out) + len(errors) > LIMIT:
                return CommandEnd(1, "", f"pro0: the command was done, but {TOO_MUCH}\n")
            return CommandEnd(process.returncode, _text(out), _text(errors))
        except subprocess.TimeoutExpired as late:
            if len(late.output or b"") + len(late.stderr or b"") > LIMIT:
                process.kill()
                raise ValueError(TOO_MUCH) from None
            if time.monotonic() > patience:
                process.kill()
                raise subprocess.TimeoutExpired(late.cmd, PATIENCE) from None
            # A command that has printed its result only waits, and its asker is gone.
            if request.waits and request.is_gone and not request.takes_mail and late.output:
                process.kill()
                out, errors = process.communicate()
                return CommandEnd(TimedOut.exit_code, _text(out), f"{_text(errors)}pro0: {CUT_OFF}\n")


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
