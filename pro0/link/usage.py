"""What an agent on another machine has used: read there from the agent's own files, kept at home for the team's books.

The other machine may say anything. What is no usage is passed over.
"""

import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0 import agents
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.runner import USED
from pro0.decoding import convert
from pro0.errors import Pro0Error
from pro0.model.agent import AGENTS
from pro0.model.stored import Process
from pro0.model.usage import Usage
from pro0.store import atomic
from pro0.store.files import make_folder

PAUSE = 5.0
"""Seconds between two looks."""
MODELS, LETTERS = 16, 100
"""The most models of one session, and letters of a name."""
MOST = 10**12
"""The most tokens, or US dollars, of one session; what is more is no usage of anybody."""


class UsageThere:
    """One agent's usage, on its machine; `session` is its own id of the conversation, empty when home knows none."""

    def __init__(self, agent: str, session: str, folder: Path, cwd: str) -> None:
        adapter = agents.adapter_named(agent) if agent in AGENTS else None
        self._look, self._read = (adapter.look, adapter.usage) if adapter else (None, None)
        self._memory = Memory()
        self._view = SessionView(
            session=session,
            agent=None,
            started_at=datetime.now(UTC),
            cwd=cwd,
            folder=str(folder),
            environment=os.environ,
        )
        self._next = 0.0
        self._told = Usage()

    def news(self, agent: Process, *, ended: bool = False) -> Usage | None:
        """Return what was used since its start; None while there is nothing new."""
        if self._read is None or (time.monotonic() < self._next and not ended):
            return None
        self._next = time.monotonic() + PAUSE
        if self._view.agent is None:
            self._view = replace(self._view, agent=agent, started_at=_started(agent))
        reading = self._look(self._view, self._memory) if self._look and not ended else None
        if reading and reading.session:
            self._view = replace(self._view, session=reading.session)
        used = self._read(self._view, self._memory)
        if used is None or used == self._told:
            return None
        self._told = used
        return used


def keep(folder: Path, said: dict[str, object]) -> None:
    """Keep at home what another machine says that a session has used, in the session's own folder."""
    with suppress(msgspec.MsgspecError, ValueError, Pro0Error, OSError):  # half a character is a ValueError
        used = convert(said, Usage)
        counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
        cost = used.cost_usd or 0.0
        names = all(len(name) <= LETTERS and name.isprintable() for name in used.models)
        if min(counts) >= 0 and max(counts) <= MOST and 0 <= cost <= MOST and names and len(used.models) <= MODELS:
            make_folder(folder)
            with atomic.folder(folder) as place:
                atomic.replace(place, USED, msgspec.json.encode(used), durable=False)


def _started(agent: Process) -> datetime:
    import psutil

    with suppress(psutil.Error):
        return datetime.fromtimestamp(psutil.Process(agent.pid).create_time(), UTC)
    return datetime.now(UTC)
