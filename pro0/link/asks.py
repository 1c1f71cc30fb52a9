"""Commands of pro0 that the other machine asks for, done at home with this member's rights, once for each id.

A command is a process below the session's guard, so it is that member's by the same proof as all processes there.
Few commands are done for another machine: those about existing tasks and about mail, and those that show the team.
None of them reads a file named in its arguments, or starts a program. Commands that wait have a limit of their own,
and so have requests for a permission.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from pro0.errors import Pro0Error, Refused
from pro0.link.doing import CommandEnd, CommandRequest, Doing
from pro0.link.own import OwnSendings
from pro0.link.permission import HOOK
from pro0.rules.text import visible

DONE_FOR_OTHERS = {
    "send": "",
    "broadcast": "",
    "inbox": "",
    "needs": "",
    "task": "list ls show get ready blocked next tree claim release complete done fail comment",
    "team": "status",
    "member": "list ls show",
    "shutdown": "approve reject",
}
"""The commands, each with its subcommands, "" for one without any."""
TOOLS_FOR_OTHERS = frozenset(
    (
        *("get_team_members", "message", "broadcast", "check_messages", "approve_shutdown", "reject_shutdown"),
        *("list_tasks", "get_claimable_tasks", "claim_task", "complete_task", "release_task"),
        *(f"{one}_{verb}" for one in ("task", "ticket") for verb in ("list", "get", "comment_list", "comment_create")),
        *(f"{one}_{verb}" for one in ("task", "ticket") for verb in ("mark_done", "mark_failed", "request_review")),
    )
)
"""The tools that do the same as those commands; a call of one is the command `pro0 mcp --call NAME`."""
TOO_LONG = "--watch"
AT_ONCE = 8
WAIT_AT_ONCE = 4
"""Commands that may wait at once, besides those: an `inbox` or a `send` waits as long as its asker does."""
PERMISSIONS_AT_ONCE = 16
BACK = 10.0
"""Seconds for the askers there to ask again, once the link is back."""
REMEMBERED, KEPT = 256, 16 << 20
"""The most answers kept for askers who were cut off, and the most characters that these may have printed."""
LATER = "hint: try again after a while"
"""The hint when too many commands run already; it is no refusal, since the command may succeed later."""
OF_OURS = "hint: this is a fault of pro0; check whether it was done before you try again"
FORGOTTEN = "pro0: it was done; its output is no longer kept\n"
UNKNOWN = "pro0: the team's machine restarted during this command\nhint: check whether it was sent, then try again\n"
NAMED = 100
"""Characters of a refused command that the refusal names."""

Answer = dict[str, object]


class Asks:
    """The commands of one session; `ring` is called when one is done."""

    def __init__(self, doing: Doing, ring: Callable[[], None], sendings: OwnSendings | None = None) -> None:
        self._doing = doing
        self._sendings = sendings
        self._ring = ring
        self._lock = threading.Lock()
        self._requests: list[CommandRequest] = []
        """The running commands. Of one asker there may be two: one that was cut off and is ending, and its next try."""
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._new: list[Answer] = []
        self._cuts = 0
        self._missing = set[str]()
        """The requests that have not asked again since the link was cut."""
        self._owes_wait = False
        """True while the wait of `BACK` seconds is still to be started."""

    def take(self, ask: dict[str, object]) -> None:
        """Begin a new command, or answer a finished one again; a malformed request is ignored."""
        id, words, stdin = ask.get("id"), ask.get("words"), ask.get("input")
        if not (isinstance(id, str) and isinstance(words, list) and isinstance(stdin, str)):
            return
        if len(id) > 64 or not (id.isascii() and _is_writable(stdin)):
            return
        texts = [word for word in words if isinstance(word, str) and _is_writable(word)]
        request = CommandRequest(id, texts, stdin)
        with self._lock:
            self._missing.discard(id)
            for earlier in self._requests:
                earlier.is_cut_off &= earlier.id != id
            if id in self._answers:
                self._new.append(self._answers[id])
            elif any(earlier.id == id and not earlier.is_undone for earlier in self._requests):
                return
            elif why := refusal(texts if len(texts) == len(words) else []):
                self._keep(_answer(id, CommandEnd(Refused.exit_code, "", f"pro0: {why}\n")))
            elif self._sendings and self._sendings.has_begun_before(id):
                self._keep(_answer(id, CommandEnd(Pro0Error.exit_code, "", UNKNOWN)))
            elif why := self._too_many(request) or self._not_begun(request):
                self._new.append(_answer(id, CommandEnd(Pro0Error.exit_code, "", f"pro0: {why}\n{LATER}\n")))
        self._ring()

    def answers(self) -> list[Answer]:
        """Return the answers to send now."""
        self._wait_for_missing()
        with self._lock:
            new, self._new = self._new, []
        return new

    def taken(self, id: str) -> None:
        """Note that an asker has its answer."""
        with self._lock:
            for request in self._requests:
                if request.id == id:
                    request.settle(taken=True)

    def gone(self, id: str) -> None:
        """Note that the asker no longer waits for its answer."""
        self._give_up(lambda request: request.id == id)

    def cut_off(self) -> None:
        """Note that the link is cut, so no answer arrives.

        A dialog there goes on, and asks again when the link is back. An asker that may have its answer says so then.
        """
        self._owes_wait = False
        with self._lock:
            self._cuts += 1
            self._missing |= {request.id for request in self._requests}
            for request in self._requests:
                request.is_cut_off = request.id in self._answers
        self._give_up(lambda request: not (request.asks_permission or request.is_cut_off))

    def connected(self) -> None:
        """Note that the link is back: each waiting asker there asks again now, or is gone."""
        self._owes_wait = bool(self._missing)
        self._wait_for_missing()

    def _wait_for_missing(self) -> None:
        """Give up, after `BACK` seconds, askers that do not ask again; without a free thread, try at the next look."""
        if not self._owes_wait:
            return
        cuts = self._cuts
        late = threading.Timer(BACK, self._give_up, (lambda it: it.id in self._missing and self._cuts == cuts,))
        late.daemon = True
        with suppress(RuntimeError):  # the system has no thread left
            late.start()
            self._owes_wait = False

    def _give_up(self, fits: Callable[[CommandRequest], bool]) -> None:
        with self._lock:
            for request in filter(fits, self._requests):
                request.settle(taken=False)
                self._forget_undone(request)

    def _not_begun(self, request: CommandRequest) -> str:
        """Begin a command; return the reason why it cannot be begun, "" when it has begun."""
        self._requests.append(request)
        try:
            threading.Thread(target=self._do, args=(request,), daemon=True).start()
        except RuntimeError:
            self._requests.remove(request)
            return "the team's machine cannot start another thread"
        return ""

    def _do(self, request: CommandRequest) -> None:
        try:
            if self._sendings and sends(request.words):
                self._sendings.note(request.id)
            self._doing.do(request, lambda done: self._tell(request, done))
        except Exception as error:  # noqa: BLE001 - the asker waits for an answer, whatever went wrong
            self._tell(request, _fault(error))
        finally:
            with self._lock:
                request.settle(taken=True)  # an error: it holds no mail to hand out again
                self._forget_undone(request)
                self._requests.remove(request)
                self._missing.discard(request.id)

    def _tell(self, request: CommandRequest, done: CommandEnd) -> None:
        """Answer a request; only its first answer counts, since the asker may have it already."""
        with self._lock:
            if not request.is_undone and request.id not in self._answers:
                self._keep(_answer(request.id, done, held=request.takes_mail or request.asks_permission))
        self._ring()

    def _keep(self, answer: Answer) -> None:
        self._answers[str(answer["id"])] = answer
        self._new.append(answer)
        while len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        room = KEPT
        for id, kept in reversed(self._answers.items()):
            room -= len(str(kept["out"])) + len(str(kept["errors"]))
            if room < 0:
                self._answers[id] = {**kept, "out": "", "errors": FORGOTTEN}

    def _forget_undone(self, request: CommandRequest) -> None:
        """Forget an answer that nobody took: its mail is handed out again, its dialog was answered elsewhere."""
        if request.is_undone and request.id in self._answers:
            del self._answers[request.id]
            self._new = [new for new in self._new if new["id"] != request.id]

    def _too_many(self, request: CommandRequest) -> str:
        kind = (request.waits, request.asks_permission)
        count = sum((earlier.waits, earlier.asks_permission) == kind for earlier in self._requests)
        if request.asks_permission:
            return f"{PERMISSIONS_AT_ONCE} requests are already waiting" if count >= PERMISSIONS_AT_ONCE else ""
        if request.waits:
            return f"{WAIT_AT_ONCE} commands are already waiting" if count >= WAIT_AT_ONCE else ""
        return f"{AT_ONCE} commands are already running" if count >= AT_ONCE else ""


def refusal(words: list[str]) -> str:
    """Return the reason why a command is not done for another machine, "" for a command that is."""
    if words == HOOK:
        return ""
    if words[:2] == ["mcp", "--call"]:
        known_tool = len(words) == 3 and words[2] in TOOLS_FOR_OTHERS
        return "" if known_tool else f"the tool {' '.join(words[2:])[:NAMED]} is not available from another machine"
    subcommands = DONE_FOR_OTHERS.get(words[0]) if words else None
    if subcommands is None or (subcommands and (len(words) < 2 or words[1] not in subcommands.split())):
        named = " ".join(words[:2])[:NAMED]
        return f"`pro0 {named}` cannot be run from another machine; ask for it: pro0 send lead TEXT"
    if any("\0" in word for word in words):
        return "an argument holds a NUL"
    if any(word.startswith(TOO_LONG) for word in words):
        return f"{TOO_LONG} does not work from another machine; call it again after a while"
    return ""


def sends(words: list[str]) -> bool:
    """Return True for a command that sends something anew each time."""
    if words[:2] == ["mcp", "--call"]:
        return words[2] in {"message", "broadcast"} or words[2].endswith("_comment_create")
    return words[0] in {"send", "broadcast"} or words[:2] == ["task", "comment"]


def _answer(id: str, done: CommandEnd, *, held: bool = False) -> Answer:
    return {"id": id, "code": done.code, "out": done.out, "errors": done.errors, "held": held}


def _fault(error: Exception) -> CommandEnd:
    """Return the answer for an unforeseen error; how far the command came is unknown."""
    why = f"internal error: {type(error).__name__}: {visible(str(error))}"
    return CommandEnd(Pro0Error.exit_code, "", f"pro0: {why}\n{OF_OURS}\n")


def _is_writable(text: str) -> bool:
    """Return True for a text that can be passed to a command: JSON may hold a lone surrogate, which has no bytes."""
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
