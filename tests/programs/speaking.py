#!/usr/bin/env python3
"""A stand-in for one of five agents, standard library only: `speaking.py AGENT ...`, with that agent's own arguments.

It keeps the files by which pro0 knows what that agent does and says. Its first turn is over at once. Each further one
is what HOME/speaking/NAME.json asks for: {"claim": a task or "", "complete": a task or "", "text": its last words}.
"""

import datetime
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from pathlib import Path

NAME = os.environ["PRO0_AGENT_ID"]
HOME = Path(os.environ["HOME"])
TURN = 0.7
PAUSE = 0.05


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def stamp() -> str:
    return now().isoformat().replace("+00:00", "Z")


def option(name: str) -> str:
    """Return the word behind an option, or in it after `=`; empty without it."""
    if name in sys.argv:
        return sys.argv[sys.argv.index(name) + 1]
    return next((word.partition("=")[2] for word in sys.argv if word.startswith(f"{name}=")), "")


def replace(path: Path, value: object) -> None:
    """Write a file of JSON whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(json.dumps(value))
    new.rename(path)


def append(path: Path, *lines: object) -> None:
    """Add lines of JSON to a transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


class Claude:
    """Its status file and its transcript."""

    def __init__(self) -> None:
        self.session = option("--session-id")
        self.transcript = HOME / ".claude/projects/all" / f"{self.session}.jsonl"

    def begins(self, prompt: str) -> None:
        self._status("busy")
        append(self.transcript, {"type": "user", "timestamp": stamp(), "message": {"content": prompt}})

    def ends(self, text: str) -> None:
        message = {"id": uuid.uuid4().hex, "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}
        append(
            self.transcript,
            {"type": "assistant", "uuid": uuid.uuid4().hex, "timestamp": stamp(), "message": message},
        )
        self._status("idle")

    def _status(self, status: str) -> None:
        state = {"sessionId": self.session, "status": status, "startedAt": 1, "statusUpdatedAt": 10**13}
        replace(HOME / ".claude/sessions" / f"{os.getpid()}.json", state)


class Codex:
    """Its rollout."""

    def __init__(self) -> None:
        milliseconds = int(time.time() * 1000)
        self.id = str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | 0x8 << 60 | uuid.uuid4().int & (1 << 60) - 1))
        day = now()
        folder = HOME / f".codex/sessions/{day:%Y}/{day:%m}/{day:%d}"
        self.rollout = folder / f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{self.id}.jsonl"
        append(self.rollout, self._line("session_meta", id=self.id, cwd=os.getcwd()))

    def begins(self, prompt: str) -> None:
        self.turn = uuid.uuid4().hex
        content = [{"type": "input_text", "text": prompt}]
        append(
            self.rollout,
            self._line("event_msg", type="task_started", turn_id=self.turn),
            self._line("response_item", type="message", role="user", content=content),
        )

    def ends(self, text: str) -> None:
        end = {"type": "task_complete", "turn_id": self.turn, "last_agent_message": text}
        append(self.rollout, self._line("event_msg", **end))

    def _line(self, kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": stamp(), "type": kind, "payload": payload}


class Gemini:
    """Its chat, its title, and its screen with an empty input."""

    def __init__(self) -> None:
        self.session = option("--session-id") or str(uuid.uuid4())
        self.chat = HOME / f".gemini/tmp/p/chats/session-2026-11-22T03-03-{self.session[:8]}.jsonl"
        append(self.chat, {"sessionId": self.session, "kind": "main"})
        print(
            "\n" + "─" * 100 + "\n\n >  Type your message or @path/to/file\n workspace (/directory)\n /p\x1b[2A", end=""
        )

    def begins(self, prompt: str) -> None:
        append(self.chat, {"id": uuid.uuid4().hex, "timestamp": stamp(), "type": "user", "content": prompt})
        print("\x1b]0;✦  Working… (p)\x07", end="", flush=True)

    def ends(self, text: str) -> None:
        append(self.chat, {"id": uuid.uuid4().hex, "timestamp": stamp(), "type": "gemini", "content": text})
        print("\x1b]0;◇  Ready (p)\x07", end="", flush=True)


class OpenCode:
    """Its database; it has no server."""

    def __init__(self) -> None:
        self.id, self.count = f"ses_{uuid.uuid4().hex}", 0
        path = HOME / ".local/share/opencode/opencode.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.database = sqlite3.connect(path, isolation_level=None)
        for table in (
            "session (id text, parent_id text, directory text, time_created integer)",
            "message (id text, session_id text, time_created integer, time_updated integer, data text)",
            "part (id text, message_id text, session_id text, time_created integer, data text)",
        ):
            self.database.execute(f"create table if not exists {table}")
        self.database.execute("insert into session values (?, null, ?, ?)", (self.id, os.getcwd(), self._now()))

    def begins(self, prompt: str) -> None:
        self._add({"role": "user"}, prompt)

    def ends(self, text: str) -> None:
        self._add({"role": "assistant", "finish": "stop", "time": {"completed": self._now()}}, text)

    def _add(self, message: dict[str, object], text: str) -> None:
        self.count += 1
        id, at = f"msg_{self.count:08}_{self.id}", self._now()
        part = json.dumps({"type": "text", "text": text})
        self.database.execute("begin immediate")
        self.database.execute("insert into message values (?, ?, ?, ?, ?)", (id, self.id, at, at, json.dumps(message)))
        self.database.execute("insert into part values (?, ?, ?, ?, ?)", (f"prt_{id}", id, self.id, at, part))
        self.database.execute("commit")

    def _now(self) -> int:
        return int(time.time() * 1000)


class Pi:
    """The report of its bridge, and its transcript."""

    def __init__(self) -> None:
        self.id, self.turns = str(uuid.uuid4()), 0
        self.transcript = HOME / f".pi/agent/sessions/--p--/2026-11-22T03-04-41-336Z_{self.id}.jsonl"
        self.report = Path(os.environ["PRO0_BRIDGE"], "state.json")

    def begins(self, prompt: str) -> None:
        self.turns += 1
        self._report("working")
        self._add({"role": "user", "content": [{"type": "text", "text": prompt}]})

    def ends(self, text: str) -> None:
        self._add({"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": text}]})
        self._report("idle")

    def _add(self, message: dict[str, object]) -> None:
        append(
            self.transcript, {"type": "message", "id": uuid.uuid4().hex[:8], "timestamp": stamp(), "message": message}
        )

    def _report(self, state: str) -> None:
        replace(self.report, {"state": state, "session": self.id, "file": str(self.transcript), "turns": self.turns})


KINDS: dict[str, type[Claude | Codex | Gemini | OpenCode | Pi]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": OpenCode,
    "pi": Pi,
}


def pro0(*words: str) -> None:
    """Run a command of pro0 as this member."""
    subprocess.run([sys.executable, "-I", "-m", "pro0", *words], check=True, capture_output=True)


def main() -> None:
    """Do the first turn, then each that is asked for, until ended."""
    agent = KINDS[sys.argv.pop(1)]()
    asked = HOME / "speaking" / f"{NAME}.json"
    agent.begins(option("--prompt") or option("--prompt-interactive") or sys.argv[-1].removeprefix("\n"))
    time.sleep(TURN)
    agent.ends(f"{NAME} is there")
    while True:
        time.sleep(PAUSE)
        if not asked.exists():
            continue
        turn = json.loads(asked.read_text())
        asked.unlink()
        agent.begins("go on")
        if turn["complete"]:
            pro0("task", "complete", turn["complete"])
        if turn["claim"]:
            pro0("task", "claim", turn["claim"])
        time.sleep(TURN)
        agent.ends(turn["text"])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
