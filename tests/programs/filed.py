#!/usr/bin/env python3
"""A stand-in for an agent that its own files tell of, standard library only: `filed.py codex|gemini|opencode|pi ...`.

It does one turn, of the prompt among its words, which goes on until there is a file HOME/finish. Of that it draws
nothing that is known, but for Gemini's title. HOME/NAME.jsonl has its arguments. It goes on with a conversation that
it has, by the words of that agent, and knows no other; then it draws an empty input.
"""

import json
import os
import signal
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

AGENT, *WORDS = sys.argv[1:]
HOME = Path(os.environ["HOME"])
SAID = "All is counted."
EMPTY = {
    "codex": ("", "› ", "", "  scripted default · /box"),
    "gemini": ("▀" * 40, " >   Type your message or @path/to/file", "▄" * 40, " workspace (/directory)"),
    "opencode": ("", "  ┃ ", "  ┃  Build", f"  ╹{'▀' * 20}", "  ctrl+p commands"),
    "pi": (),
}
"""The rows of an empty input; the cursor is in the second."""
TABLES = """
create table if not exists session (id text, directory text, time_created integer, parent_id text);
create table if not exists message (id text, session_id text, time_created integer, time_updated integer, data text);
create table if not exists part (id text, message_id text, session_id text, data text);
"""
DATABASE = HOME / ".local/share/opencode/opencode.db"


class Kind(NamedTuple):
    """How an agent is told to go on, where it keeps a conversation, and what it writes at a turn's begin and end."""

    again: str
    place: str
    begin: Callable[[str, str], None]
    end: Callable[[str], None]


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def line(path: Path, *values: object) -> None:
    """Add lines to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(value, separators=(",", ":")) + "\n" for value in values)


def found(id: str) -> Path:
    """Return the file of a conversation, where it is or is to be."""
    place = KINDS[AGENT].place.format(id=id, letters=id[:8])
    return next(HOME.glob(place), HOME / place.replace("*/*/*", f"{datetime.now(UTC):%Y/%m/%d}"))


def event(kind: str, **more: object) -> dict[str, object]:
    return {"timestamp": now(), "type": "event_msg", "payload": {"type": kind, **more}}


def begin_codex(id: str, prompt: str) -> None:
    line(found(id), {"timestamp": now(), "type": "session_meta", "payload": {"id": id, "cwd": os.getcwd()}})
    line(found(id), event("task_started"), event("user_message", message=prompt))


def end_codex(id: str) -> None:
    line(found(id), event("task_complete", turn_id=now(), last_agent_message=SAID))


def begin_gemini(id: str, prompt: str) -> None:
    line(found(id), {"sessionId": id}, {"id": "1", "timestamp": now(), "type": "user", "content": [{"text": prompt}]})
    show("✦  Working", EMPTY[AGENT])


def end_gemini(id: str) -> None:
    line(found(id), {"id": now(), "timestamp": now(), "type": "gemini", "content": SAID})


def write(statement: str, *values: object) -> None:
    DATABASE.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(DATABASE) as connection:
        connection.executescript(TABLES)
        connection.execute(statement, values)


def message(id: str, role: str, text: str, **more: object) -> None:
    at, name = int(time.time() * 1000), os.urandom(6).hex()
    data = json.dumps({"role": role, "time": {"created": at, "completed": at}, **more})
    write("insert into message values (?, ?, ?, ?, ?)", name, id, at, at, data)
    write("insert into part values (?, ?, ?, ?)", name, name, id, json.dumps({"type": "text", "text": text}))


def begin_opencode(id: str, prompt: str) -> None:
    write("insert into session values (?, ?, ?, null)", id, os.getcwd(), int(time.time() * 1000))
    message(id, "user", prompt)


def end_opencode(id: str) -> None:
    message(id, "assistant", SAID, finish="stop")


def bridge(state: str, id: str, turns: int) -> None:
    folder = Path(os.environ["PRO0_BRIDGE"])
    assert (folder / "bridge.json").exists()
    report = {"state": state, "session": id, "file": str(found(id)), "turns": turns}
    (folder / "state.new").write_text(json.dumps(report))
    (folder / "state.new").replace(folder / "state.json")


def begin_pi(id: str, prompt: str) -> None:
    line(found(id), {"type": "session", "id": id}, {"type": "message", "id": "1", "message": {"role": "user"}})
    bridge("working", id, 1)


def end_pi(id: str) -> None:
    said = {"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": SAID}]}
    line(found(id), {"type": "message", "id": now(), "timestamp": now(), "message": said})
    bridge("idle", id, 1)


def has(id: str) -> bool:
    """Return True when there is such a conversation."""
    if AGENT != "opencode":
        return found(id).exists()
    with sqlite3.connect(DATABASE) as connection:
        return bool(connection.execute("select 1 from session where id = ?", (id,)).fetchall())


KINDS = {
    "codex": Kind("resume", ".codex/sessions/*/*/*/rollout-1-{id}.jsonl", begin_codex, end_codex),
    "gemini": Kind("--resume", ".gemini/tmp/of-it/chats/session-1-{letters}.jsonl", begin_gemini, end_gemini),
    "opencode": Kind("--session", DATABASE.name, begin_opencode, end_opencode),
    "pi": Kind("--session", ".pi/agent/sessions/--of-it--/1_{id}.jsonl", begin_pi, end_pi),
}


def new_id() -> str:
    """Return an id as the agent chooses it."""
    if AGENT == "opencode":
        return f"ses_{os.urandom(8).hex()}"
    chance, stamp = uuid.uuid4(), int(time.time() * 1000) << 80
    return str(chance if AGENT == "gemini" else uuid.UUID(int=stamp | 7 << 76 | chance.int % (1 << 76)))


def show(title: str, rows: Sequence[str]) -> None:
    named = f"\x1b]2;{title}\x07" if AGENT == "gemini" else ""
    drawn = "\r\n".join(rows)
    os.write(1, f"{named}\x1b[2J\x1b[H{drawn}\x1b[2;4H".encode())


def take_up(id: str) -> None:
    """Do what the agent does when it goes on with a conversation."""
    if AGENT == "pi":
        bridge("idle", id, 0)
    elif AGENT == "gemini":
        line(found(id), {"$set": {"lastUpdated": now()}})
    show("◇  Ready", EMPTY[AGENT])


def main() -> None:
    """Be a session in a terminal until it is ended."""
    if "--help" in WORDS:
        print("--no-daemon")
        return
    line(HOME / f"{os.environ['PRO0_AGENT_ID']}.jsonl", WORDS)
    kind = KINDS[AGENT]
    id = WORDS[WORDS.index(kind.again) + 1] if kind.again in WORDS else ""
    if id and not has(id):
        sys.exit("no such conversation")
    if id:
        take_up(id)
    else:
        prompt = WORDS[-1].partition("=")[2] if WORDS[-1].startswith("--prompt") else WORDS[-1]
        kind.begin(id := new_id(), prompt)
        while not (HOME / "finish").exists():
            time.sleep(0.05)
        kind.end(id)
        show("◇  Ready", EMPTY["gemini"] if AGENT == "gemini" else ("no sign",))
    while os.read(0, 1024):
        pass


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    main()
