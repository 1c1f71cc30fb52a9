"""Commands of pro0 that the other machine asks for, done at home with this member's rights, once for each id.

A command is a process below the session's guard, so it is that member's by the same proof as everything else below.
Few commands are done for another machine: those about tasks that are there, about mail, and what shows the team.
None of them reads a file that it is told of, or starts a program. Those that wait have a number of their own, and so
have requests for a permission.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from pro0.errors import Pro0Error, Refused
from pro0.link.doing import CommandEnd, CommandRequest, Doing
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
"""Commands that may wait at once, beside those: the wait of `inbox` or `send` ends with its asker, however long."""
PERMISSIONS_AT_ONCE = 16
BACK = 10.0
"""Seconds for who waits there to ask again, once the link is back."""
REMEMBERED, KEPT = 256, 16 << 20
"""The most answers kept for askers who were cut off, and the most characters that these may have printed."""
LATER = "hint: ask again after a while"
"""What is said when too much is being done; it is no refusal, since the same may be done later."""
OF_OURS = "hint: this is a fault of pro0; look whether it was done before you ask again"
FORGOTTEN = "pro0: it was done; what it has printed is not kept any longer\n"
NAMED = 100
"""Characters of a refused command that the refusal names."""

Answer = dict[str, object]


class Asks:
    """The commands of one session; `ring` tells that one is done."""

    def __init__(self, doing: Doing, ring: Callable[[], None]) -> None:
        self._doing = doing
        self._ring = ring
        self._lock = threading.Lock()
        self._requests: list[CommandRequest] = []
        """What is being done. One whose asker was cut off ends while the same asker's next try begins."""
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._new: list[Answer] = []
        self._cuts = 0
        self._missing = set[str]()
        """The requests that have not asked again since the link was cut."""
        self._owes_wait = False
        """Whether the time in which they may ask again is still to begin."""

    def take(self, ask: dict[str, object]) -> None:
        """Do a command that was not done yet; answer again one that was. Another shape of ask is passed over."""
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
            elif why := self._too_many(request) or self._not_begun(request):
                self._new.append(_answer(id, CommandEnd(Pro0Error.exit_code, "", f"pro0: {why}\n{LATER}\n")))
        self._ring()

    def answers(self) -> list[Answer]:
        """Return what is to be answered now."""
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
        """Note that nobody waits for this answer any more."""
        self._give_up(lambda request: request.id == id)

    def cut_off(self) -> None:
        """Note that no answer arrives any more.

        A dialog there goes on, and asks again when the link is back. Who may have its answer says so then.
        """
        self._owes_wait = False
        with self._lock:
            self._cuts += 1
            self._missing |= {request.id for request in self._requests}
            for request in self._requests:
                request.is_cut_off = request.id in self._answers
        self._give_up(lambda request: not (request.asks_permission or request.is_cut_off))

    def connected(self) -> None:
        """Note that the link is back: who waited there asks again now, or is gone."""
        self._owes_wait = bool(self._missing)
        self._wait_for_missing()

    def _wait_for_missing(self) -> None:
        """Give up, after a while, who does not ask again; without room for a thread the next look tries it anew."""
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
        """Begin to do a command; return why it cannot be begun, "" when it is."""
        self._requests.append(request)
        try:
            threading.Thread(target=self._do, args=(request,), daemon=True).start()
        except RuntimeError:
            self._requests.remove(request)
            return "the system at home starts no more threads"
        return ""

    def _do(self, request: CommandRequest) -> None:
        try:
            self._doing.do(request, lambda done: self._tell(request, done))
        except Exception as error:  # noqa: BLE001 - whoever asked waits for an answer, whatever went wrong
            self._tell(request, _fault(error))
        finally:
            with self._lock:
                request.settle(taken=True)  # an error, since it holds nothing that could be given to somebody else
                self._forget_undone(request)
                self._requests.remove(request)
                self._missing.discard(request.id)

    def _tell(self, request: CommandRequest, done: CommandEnd) -> None:
        """Answer a request; its first answer counts, which its asker may have already."""
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
            return f"{PERMISSIONS_AT_ONCE} requests wait already" if count >= PERMISSIONS_AT_ONCE else ""
        if request.waits:
            return f"{WAIT_AT_ONCE} commands wait already" if count >= WAIT_AT_ONCE else ""
        return f"{AT_ONCE} commands are being done already" if count >= AT_ONCE else ""


def refusal(words: list[str]) -> str:
    """Return why a command is not done for another machine, "" for one that is."""
    if words == HOOK:
        return ""
    if words[:2] == ["mcp", "--call"]:
        known_tool = len(words) == 3 and words[2] in TOOLS_FOR_OTHERS
        return "" if known_tool else f"the tool {' '.join(words[2:])[:NAMED]} is not there for another machine"
    subcommands = DONE_FOR_OTHERS.get(words[0]) if words else None
    if subcommands is None or (subcommands and (len(words) < 2 or words[1] not in subcommands.split())):
        named = " ".join(words[:2])[:NAMED]
        return f"`pro0 {named}` is not done from another machine; ask for it at home: pro0 send lead TEXT"
    if any("\0" in word for word in words):
        return "a word holds a NUL"
    if any(word.startswith(TOO_LONG) for word in words):
        return f"{TOO_LONG} does not work from another machine; ask again after a while"
    return ""


def _answer(id: str, done: CommandEnd, *, held: bool = False) -> Answer:
    return {"id": id, "code": done.code, "out": done.out, "errors": done.errors, "held": held}


def _fault(error: Exception) -> CommandEnd:
    """Return the answer for an unforeseen error; how far the command came is unknown."""
    why = f"internal error: {type(error).__name__}: {visible(str(error))}"
    return CommandEnd(Pro0Error.exit_code, "", f"pro0: {why}\n{OF_OURS}\n")


def _is_writable(text: str) -> bool:
    """Return True for a text that a command can be given: JSON may hold a lone surrogate, which has no bytes."""
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
