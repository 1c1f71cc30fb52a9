"""The recorded files of the real programs, laid out in a home as each program lays out its own."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pro0.agents.adapter import SessionView
from pro0.model.runtime import Process

RECORDINGS = Path(__file__).parent / "recordings"
PROJECT = "/ann/shop"
PID = 4711
START = "709879"
"""When the recorded Claude Code began, as the kernel counts."""
EARLY = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
"""Before all that was recorded."""
LATER = EARLY + timedelta(hours=9)
"""After it, on the same day."""
CLAUDE = "22222222-2222-4222-8222-222222222222"
CODEX = "01a20136-7a0e-7bd3-8cfc-5cbff47a1601"
GEMINI = "22222222-2222-4222-8222-222222222242"
PI = "01a20136-8a77-71c6-befa-d017a3a0c339"
OPENCODE = "ses_dfec9066fffed89XKLZsvm2XAt"
ASKED = {
    "codex": 'CALL read_inbox {}\nCALL exec_command {"cmd":"ls"}\nSAY fine "ünï"',
    "opencode": 'CALL read_inbox {}\nSAY fine "ünï"',
}
"""The first prompts of those that are found by them."""


def session_view(home: Path, session: str, since: datetime = EARLY, **environment: str) -> SessionView:
    """Return the look at a session whose agent has this home."""
    folder = home / "session"
    folder.mkdir(parents=True, exist_ok=True)
    return SessionView(
        session=session,
        agent=Process(pid=PID, start=START, boot_id="b"),
        started_at=since,
        cwd=PROJECT,
        folder=str(folder),
        environment={"HOME": str(home), **environment},
    )


def recording(name: str) -> bytes:
    return (RECORDINGS / name).read_bytes()


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def claude(home: Path, transcript: bytes, state: bytes = b"") -> SessionView:
    written(home / ".claude/projects/-ann-shop" / f"{CLAUDE}.jsonl", transcript)
    written(home / ".claude/sessions" / f"{PID}.json", state or recording("claude-idle.json"))
    return session_view(home, CLAUDE)


def codex(home: Path, rollout: bytes) -> SessionView:
    name = f"rollout-2026-11-22T03-04-37-{CODEX}.jsonl"
    written(home / ".codex/sessions/2026/11/22" / name, rollout)
    return session_view(home, CODEX)


def gemini(home: Path, chat: bytes) -> SessionView:
    written(home / ".gemini/tmp/shop/chats/session-2026-11-22T03-03-22222222.jsonl", chat)
    return session_view(home, GEMINI)


def pi(home: Path, transcript: bytes, state: bytes = b"") -> SessionView:
    name = f"2026-11-22T03-04-41-336Z_{PI}.jsonl"
    written(home / ".pi/agent/sessions/--ann-shop--" / name, transcript)
    written(home / "session/state.json", state or recording("pi-state.json"))
    return session_view(home, PI)


def opencode(home: Path, statements: bytes) -> SessionView:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements.decode())
    return session_view(home, OPENCODE)


def opencode_again(home: Path, number: int) -> str:
    """Write what was recorded of opencode once more, as another session; return its id."""
    id, statements = (
        f"ses_again{number}",
        recording("opencode.sql").decode().replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"),
    )
    with closing(sqlite3.connect(home / ".local/share/opencode/opencode.db")) as connection:
        for known, new in ((OPENCODE, id), ("'msg_", f"'msg_{number}"), ("'prt_", f"'prt_{number}")):
            statements = statements.replace(known, new)
        connection.executescript(statements)
    return id


PLACED: dict[str, tuple[Callable[[Path, bytes], SessionView], str]] = {
    "claude": (claude, "claude.jsonl"),
    "codex": (codex, "codex.jsonl"),
    "gemini": (gemini, "gemini.jsonl"),
    "pi": (pi, "pi.jsonl"),
}
"""How the transcript of each agent is laid out, for those that write JSON lines."""
DATABASES = {"opencode"}
"""Those that keep theirs in a database."""
