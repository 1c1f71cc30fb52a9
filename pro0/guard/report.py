"""A guard's report on its session: model.runtime.Report, replaced whole at every change."""

import os

from pro0.guard.launch import Launch
from pro0.guard.text import dump, is_text, now, parse
from pro0.processes.table import ProcessEntry
from pro0.store import atomic

SCHEMA_VERSION = 1
LINE_LIMIT = 1 << 14
PIPE = 1 << 16

TELLABLE = frozenset(
    {"starting", "working", "idle", "running", "waiting", "dialog", "draft", "error", "unknown", "stopping"}
    | {"unresponsive", "unreachable"}
)
"""The states an agent may claim; only its guard reports its end."""


class ReportFile:
    """The report of one session. Its folder is held open; after the folder's removal `gone` is true."""

    def __init__(self, launch: Launch, guard: ProcessEntry | None) -> None:
        folder, self._name = os.path.split(launch.report)
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self.gone = False
        self._values: dict[str, object] = {
            "schemaVersion": SCHEMA_VERSION,
            "revision": 0,
            "agentId": launch.agent_id,
            "incarnation": launch.incarnation,
            "guard": _process(guard),
            "agent": None,
            "state": "starting",
            "since": now(),
            "task": None,
            "note": "",
            "exit": None,
        }
        self._revision = 0
        self._owed = False
        """True when the file lacks a change, since the last write failed."""

    def write(self, *, durable: bool = False) -> None:
        """Replace the file. A full disk must not leave an agent unguarded: a later write may succeed.

        The last report is `durable`, and no later write follows. If need be, it overwrites the file in place.
        """
        self._revision += 1
        self._values["revision"] = self._revision
        data = dump(self._values).encode()
        try:
            atomic.replace(self._folder, self._name, data, durable=durable)
            self._owed = False
        except FileNotFoundError:
            self.gone = True
        except OSError:
            self._owed = True
            if durable:
                self._overwrite(data)

    def write_owed(self) -> None:
        """Repeat a failed write, since nobody may ever report the change again."""
        if self._owed:
            self.write()

    def _overwrite(self, data: bytes) -> None:
        try:
            atomic.overwrite(self._folder, self._name, data)
        except OSError:
            pass

    def started(self, agent: ProcessEntry | None, first_state: str) -> None:
        """Report the running agent."""
        self._values["agent"] = _process(agent) if agent else None
        self._state(first_state)
        self.write()

    def ended(self, state: str, code: int | None, signal: int | None, reason: str, output: str = "") -> None:
        """Report the agent's end, with its exit code or signal, the reason, and its last output."""
        end: dict[str, object] = {"at": now(), "code": code, "signal": signal, "reason": reason}
        self._values["exit"] = {**end, "output": output} if output else end
        self._state(state)
        self.write()

    def remark(self, note: str) -> None:
        """Put a note beside the state."""
        self._values["note"] = note

    def merge(self, lines: list[bytes]) -> None:
        """Merge the agent's reports on itself, one JSON object a line; skip anything else."""
        changes = [self._merge(line) for line in lines]
        if any(changes) or self._owed:
            self.write()

    def _merge(self, line: bytes) -> bool:
        try:
            word = parse(line.decode())
        except ValueError:
            return False
        if not isinstance(word, dict) or not _proper(word):
            return False
        before = dict(self._values)
        if "state" in word:
            self._state(word["state"])
        self._values.update({key: word[key] for key in ("task", "note") if key in word})
        return before != self._values

    def _state(self, state: str) -> None:
        if state != self._values["state"]:
            self._values["state"] = state
            self._values["since"] = now()


class StatePipe:
    """The read end of a pipe; the agent has the write end as PRO0_STATE_FD."""

    def __init__(self) -> None:
        self.fileno, self.agents_end = os.pipe()
        os.set_blocking(self.fileno, False)
        self.open = True
        self._rest = b""

    def handed_over(self) -> None:
        """Close this side's copy of the agent's end, so the pipe's end becomes visible."""
        os.close(self.agents_end)

    def lines(self) -> list[bytes]:
        """Return the whole lines received, at most one pipe full; an unfinished line waits for its newline."""
        try:
            data = os.read(self.fileno, PIPE)
        except BlockingIOError:
            return []
        if not data:
            self.open = False
            os.close(self.fileno)
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_LIMIT:
            self._rest = b"!"  # no JSON begins like this: the rest of this line is skipped
        return [line for line in whole if line and len(line) <= LINE_LIMIT]


def _proper(word: dict[str, object]) -> bool:
    return (
        (is_text(state := word.get("state", "idle")) and state in TELLABLE)
        and (word.get("task") is None or is_text(word["task"]))
        and is_text(word.get("note", ""))
    )


def _process(entry: ProcessEntry | None) -> dict[str, object]:
    assert entry, "a process that asks for itself, or a child not yet waited for, is there"
    return {"pid": entry.pid, "start": entry.start, "bootId": entry.boot_id}
