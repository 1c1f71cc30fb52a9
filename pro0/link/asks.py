"""Commands of pro0 that the other machine asks for, done at home with this member's rights, once for each id.

A command is a process below the session's guard, so it is that member's by the same proof as everything else below.
Few commands are done for another machine: those about tasks that are there, about mail, and what shows the team.
None of them reads a file that it is told of, starts a program, or waits.
"""

import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from pro0.errors import Refused

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
TOO_LONG = ("--wait", "--watch")
AT_ONCE = 8
REMEMBERED = 256
"""Answers that are kept for an asker who was cut off."""
LIMIT = 4 << 20
"""Bytes that a command may print."""
PATIENCE = 600.0
"""Seconds that a command may take."""

Answer = dict[str, object]


class Asks:
    """The commands of one session; `ring` tells that one is done."""

    def __init__(self, project: Path, ring: Callable[[], None]) -> None:
        self._project = project
        self._ring = ring
        self._lock = threading.Lock()
        self._running: set[str] = set()
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._new: list[Answer] = []

    def take(self, ask: dict[str, object]) -> None:
        """Do a command that was not done yet; answer again one that was. Another shape of ask is passed over."""
        id, words, given = ask.get("id"), ask.get("words"), ask.get("input")
        if not isinstance(id, str) or len(id) > 64 or not isinstance(given, str) or not isinstance(words, list):
            return
        texts = [word for word in words if isinstance(word, str)]
        with self._lock:
            if id in self._running:
                return
            if id in self._answers:
                self._new.append(self._answers[id])
            elif why := refusal(texts if len(texts) == len(words) else []):
                self._keep(id, Refused.exit_code, "", f"pro0: {why}\n")
            elif len(self._running) >= AT_ONCE:
                why = f"pro0: {AT_ONCE} commands are being done already\n"
                self._new.append(_answer(id, Refused.exit_code, "", why))
            else:
                self._running.add(id)
                threading.Thread(target=self._do, args=(id, texts, given), daemon=True).start()
        self._ring()

    def answers(self) -> list[Answer]:
        """Return what is to be answered now."""
        with self._lock:
            new, self._new = self._new, []
        return new

    def _do(self, id: str, words: list[str], given: str) -> None:
        try:
            done = subprocess.run(
                (sys.executable, "-I", "-m", "pro0", *words),
                input=given.encode(errors="surrogateescape"),
                capture_output=True,
                cwd=self._project if self._project.is_dir() else "/",
                timeout=PATIENCE,
                check=False,
            )
            code, out, errors = done.returncode, done.stdout, done.stderr
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            code, out, errors = 1, b"", f"pro0: it was not done to its end: {error}\n".encode()
        if len(out) + len(errors) > LIMIT:
            code, out, errors = 1, b"", f"pro0: it was done, and prints more than {LIMIT} bytes\n".encode()
        with self._lock:
            self._running.discard(id)
            self._keep(id, code, out.decode(errors="surrogateescape"), errors.decode(errors="surrogateescape"))
        self._ring()

    def _keep(self, id: str, code: int, out: str, errors: str) -> None:
        self._answers[id] = _answer(id, code, out, errors)
        self._new.append(self._answers[id])
        while len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)


def refusal(words: list[str]) -> str:
    """Return why a command is not done for another machine, "" for one that is."""
    if words[:2] == ["mcp", "--call"]:
        known_tool = len(words) == 3 and words[2] in TOOLS_FOR_OTHERS
        return "" if known_tool else f"the tool {' '.join(words[2:])[:100]} is not there for another machine"
    known = DONE_FOR_OTHERS.get(words[0]) if words else None
    if known is None or (known and (len(words) < 2 or words[1] not in known.split())):
        return f"`pro0 {' '.join(words[:2])}` is not done from another machine; ask for it at home: pro0 send lead TEXT"
    if any("\0" in word for word in words):
        return "a word holds a NUL"
    if late := next((word for word in words if word.startswith(TOO_LONG)), None):
        return f"{late} does not work from another machine; ask again after a while"
    return ""


def _answer(id: str, code: int, out: str, errors: str) -> Answer:
    return {"id": id, "code": code, "out": out, "errors": errors}
