"""A permission that Claude Code on another machine asks for: put before the person at home, and answered once.

The hook there asks, and waits as a hook does at home. It goes on waiting over a cut link, as its dialog does.
"""

import os
import re
import select
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from pro0.errors import Pro0Error
from pro0.link.calling import Answer, ask_home
from pro0.link.own import OwnSession
from pro0.store.paths import PERMISSIONS

if TYPE_CHECKING:
    import threading

HOOK = ["member", "permission-hook"]
"""The words of the command that Claude Code starts there (`agents/claude/permission.py`), asked for at home."""
LOOK = 0.5
"""Seconds between two looks without a change."""


def ask_from_there(folder: str) -> int:
    """Run as the hook there: ask home, and print the person's answer while the dialog is open. It never fails."""
    from pro0 import processes
    from pro0.agents.claude import permission as claude

    event_text = sys.stdin.buffer.read()
    event = claude.read(event_text)
    if event is None:
        return 0
    if claude.is_own(event):
        sys.stdout.buffer.write(claude.allowed())
        return 0
    try:
        above = processes.ancestors(os.getpid())
    except Pro0Error:  # the dialog in the pane is open all the same
        return 0
    dialog = claude.Dialog(above, os.environ)

    def is_over() -> bool:
        return above[0].pid != os.getppid() or dialog.is_over(time.monotonic())

    def take(answer: Answer) -> bool:
        if answer.get("code") != 0 or not answer.get("out") or dialog.has_gone_on():
            return False
        sys.stdout.buffer.write(str(answer["out"]).encode(errors="surrogateescape"))
        sys.stdout.flush()
        return True

    ask_home(folder, HOOK, event_text.decode(errors="surrogateescape"), take, is_over)
    return 0


class OwnPermissions:
    """The requests of this process's own session."""

    def __init__(self, session: OwnSession) -> None:
        self._session = session

    def ask(self, id: str, event: bytes, settled: "threading.Event", tell: Callable[[bytes], None]) -> str:
        """Put a request before the person, and tell the answer as output of the hook; b"" when there will be none.

        Return the request's id, "" for an event that asks for none. `settled` is set when nobody waits any more.
        """
        from msgspec.structs import replace

        from pro0 import processes
        from pro0.agents.claude import permission as claude
        from pro0.ops import permissions

        question = claude.read(event)
        if question is None:
            tell(b"")
            return ""
        context = self._session.context
        asker = processes.identify(os.getpid())
        asked = permissions.ask(context, replace(claude.asked(question, id), asker=asker))
        documents = self._session.team.documents
        with closing(documents.watch([documents.team], re.escape(PERMISSIONS))) as changed:
            while not settled.is_set():
                request = permissions.show(context, asked.id)
                if request.outcome or request.answer:
                    tell(claude.decision(question, request.answer) if request.answer else b"")
                    break
                select.select([changed], [], [], LOOK)
                changed.drain()
        return asked.id

    def is_over(self, id: str) -> bool:
        """Return True when somebody else has noted the outcome of a request."""
        from pro0.ops import permissions

        return bool(permissions.show(self._session.context, id).outcome)

    def settle(self, id: str, *, taken: bool) -> None:
        """Note whether the agent has taken the answer to a request."""
        from pro0.ops import permissions

        permissions.settle(self._session.context, {id: "taken" if taken else "elsewhere"})
