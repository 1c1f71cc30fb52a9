"""The last words of a turn: from the agent's transcript, its hook at a turn's end, or its screen, in that order."""

from pathlib import Path

from pro0 import processes
from pro0.agents import turn_end
from pro0.agents.adapter import Adapter, Memory, SessionView
from pro0.agents.claude import waiter
from pro0.model.decision import Seen
from pro0.model.runtime import Process, State
from pro0.model.screen import LastWords, Reading, Screen
from pro0.processes.arguments import arguments
from pro0.rules.screens.drawing import ending

OVER = (State.IDLE, State.ERROR)
"""States between two turns."""
NAMED = 5
"""The most names of programs that an agent has left running."""
SERVERS = ("mcp", "modelcontextprotocol")
"""Parts of the names of tool servers, in lower case. An agent keeps such a server for its whole session."""
PACKAGES = ("/node_modules/", "/site-packages/")
"""Folders of installed packages: a name below them is that of a package."""
BESIDE = (waiter.__file__, "/codex/starter.py", "/codex.sock")
"""Parts of the command lines of pro0's programs beside an agent, and of Codex's own server and client."""


def last_words(
    adapter: Adapter,
    session_view: SessionView,
    memory: Memory,
    reading: Reading,
    before: Seen | None,
    screen: Screen | None,
) -> LastWords | None:
    """Return the last words of the newest finished turn, or the last known ones when no source has newer ones.

    Without a transcript and a hook, they are the end of the screen as it was when the turn ended.
    """
    previous_words = before.words if before else None
    try:
        words = adapter.last_words(session_view, memory) if adapter.last_words else None
    except OSError:
        return previous_words
    words = words or turn_end.kept_words(Path(session_view.folder), session_view.session)
    if words:
        return words if words.over or reading.state in OVER else previous_words
    ended = reading.state in OVER and before is not None and before.state not in OVER
    if adapter.last_words or adapter.screens is None or screen is None or not ended:
        return previous_words
    text = ending(adapter.screens.frame, screen)
    return LastWords(text=text, id=before.since.isoformat(), source="screen") if text and before else previous_words


def left_running(agent: Process | None, started_with: frozenset[Process]) -> tuple[str, ...]:
    """Return the names of the programs an agent left running, except those it already ran when the turn began."""
    programs = running_programs(agent) if agent else {}
    lines = [line for program, line in programs.items() if line and program not in started_with]
    return tuple(dict.fromkeys(Path(line[0]).name for line in lines))[:NAMED]


def began_with(agent: Process | None) -> frozenset[Process]:
    """Return the programs that run below an agent now."""
    return frozenset(processes.descendants(agent.pid, sparing=True)) if agent else frozenset()


def running_programs(agent: Process) -> dict[Process, list[str]]:
    """Return the programs that an agent runs with their command lines, without those that serve its whole session.

    The command line of a program that cannot be read is empty.
    """
    lines = {program: arguments(program.pid) for program in processes.descendants(agent.pid, sparing=True)}
    return {program: line for program, line in lines.items() if not _serves(line)}


def _serves(line: list[str]) -> bool:
    """Return True for a tool server, and for a program that waits or serves beside Claude or Codex."""
    text = "\0".join(line)
    names = "\0".join(map(_program_name, line)).casefold()
    return any(part in names for part in SERVERS) or any(part in text for part in BESIDE)


def _program_name(word: str) -> str:
    """Return the part of a word that can name a program, without the project's folders, which may have any name."""
    program = next(iter(word.split()), "")  # a shell's command is one word
    if program.startswith("@"):  # a package, with its scope
        return program
    packaged = [program.rpartition(folder)[2] for folder in PACKAGES if folder in program]
    return packaged[0] if packaged else program.rpartition("/")[2]
