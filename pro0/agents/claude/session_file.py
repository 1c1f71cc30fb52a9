"""The report of a running Claude Code on itself: sessions/{pid}.json below its configuration."""

from pathlib import Path

import msgspec

from pro0.agents.transcripts import value
from pro0.decoding import decoder
from pro0.model.stored import Process

FOLDER = "sessions"


class SessionFile(msgspec.Struct, rename="camel"):
    """The fields we read; it has no status before the first turn."""

    session_id: str = ""
    status: object = ""
    waiting_for: object = ""
    proc_start: object = ""


_FILE = decoder(SessionFile)


def name_of(process: Process) -> str:
    """Return the name of a process's file."""
    return f"{process.pid}.json"


def read(config: Path, process: Process) -> SessionFile | None:
    """Return a process's report on itself, None for none, or for one left by a killed Claude with the same pid."""
    file = value(config / FOLDER / name_of(process), _FILE)
    return file if file and _may_be_of(file, process) else None


def _may_be_of(file: SessionFile, process: Process) -> bool:
    """Return False for the file of another process, as proved by two different starts in the kernel's ticks."""
    start = str(file.proc_start)
    return start == process.start or not (start.isdecimal() and process.start.isdecimal())
