#!/usr/bin/env python3
"""A stand-in for an agent in a terminal, standard library only: `drawn.py claude|codex ...`.

It draws as that agent does. HOME/NAME.jsonl has its arguments, then each prompt, and what a mail held. A mail that
holds ASK makes it ask for leave until somebody answers with Enter or Esc; a request to shut down is approved.
While HOME/NAME.error is there, its turns fail with that text.
As Claude it says in a file what it does and keeps a transcript, goes on only with one that has a message, and takes no
id that has one; `/clear` begins another. Then its hook may answer too: Enter ends that, Esc leaves it alone.
As Codex only its screen tells of it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tty
import uuid
from datetime import UTC, datetime
from pathlib import Path

AGENT, NAME = sys.argv[1], os.environ["PRO0_AGENT_ID"]
TOLD = Path(os.environ["HOME"], f"{NAME}.jsonl")
ERROR = TOLD.with_suffix(".error")
TURN = 1.0
EDGE = "─" * 60
ASKED = ("", "   rm -r build", "")
EVENT = {"tool_name": "Bash", "tool_input": {"command": "rm -r build"}, "tool_use_id": ""}
USAGE = {"input_tokens": 1000, "output_tokens": 100}
CONVERSATION: list[str] = []
"""The ids of its conversations, the present one last."""
STATUS = Path(os.environ["HOME"], ".claude", "sessions", f"{os.getpid()}.json")


class StandIn:
    """What it shows, and what stands in its input."""

    def __init__(self) -> None:
        self.last = self.draft = self.trouble = ""
        self.busy = self.asks = self.refused = False
        self.answered = threading.Event()
        self.lock = threading.RLock()

    def show(self) -> None:
        """Draw what it does, with the cursor in its input."""
        with self.lock:
            rows = self.of_claude() if AGENT == "claude" else self.of_codex()
            at = next((number for number, row in enumerate(rows, 1) if row[:1] in ("❯", "›")), 1)
            place = f"\x1b[{at};{3 + len(self.draft)}H"
            os.write(1, ("\x1b[2J\x1b[H" + "\r\n".join(rows) + place).encode())

    def of_claude(self) -> list[str]:
        """Return the rows of Claude Code's screen."""
        if self.asks:
            question = (" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend")
            return [self.last, "", EDGE, " Bash command", *ASKED, *question]
        spinner = ["✻ Thinking… (2s)", ""] if self.busy else []
        foot = "  esc to interrupt" if self.busy else "  ? for shortcuts"
        said = f"\x1b[33m● {self.trouble}\x1b[39m" if self.trouble else f"● {self.last}"
        return [said, "", *spinner, EDGE, f"❯ {self.draft}", EDGE, foot]

    def of_codex(self) -> list[str]:
        """Return the rows of Codex's screen."""
        if self.asks:
            asked = ("  Would you like to run the following command?", "", "  $ rm -r build", "")
            foot = ("", "  Press enter to confirm or esc to cancel")
            return [f"• {self.last}", "", *asked, "› 1. Yes, proceed (y)", "  2. No (esc)", *foot]
        spinner = ["• Working (2s • esc to interrupt)", ""] if self.busy else []
        return [f"• {self.last}", "", *spinner, f"› {self.draft}", "", "  scripted default · /box"]

    def turn(self, prompt: str) -> None:
        """Do one turn."""
        tell(prompt)
        self.last, self.busy, self.trouble = prompt.split("\n")[0][:50], True, ""
        note("busy")
        self.show()
        keep(prompt)
        time.sleep(TURN)
        if "`pro0 inbox`" in prompt and "\n" not in prompt:
            mail = run("pro0 inbox")
            tell(mail)
            if "ASK" in mail:
                self.ask()
            if "shutdown" in mail:
                run("pro0 shutdown approve")
        self.trouble = ERROR.read_text() if ERROR.exists() else ""
        self.busy = False
        note("idle")
        self.show()

    def ask(self) -> None:
        """Ask for leave, until one of the keys or the hook answers."""
        self.asks = True
        self.answered.clear()
        note("waiting")
        self.show()
        command = hook()
        asked = subprocess.Popen(["sh", "-c", command], stdin=-1, stdout=-1, text=True) if command else None
        if asked:
            threading.Thread(target=self.hear, args=(asked,), daemon=True).start()
        self.answered.wait()
        note("busy")
        if asked and not self.refused:
            asked.kill()
        self.asks = self.refused = False

    def hear(self, asked: "subprocess.Popen[str]") -> None:
        """Take the answer of the hook while the question stands."""
        words, _ = asked.communicate(json.dumps(EVENT | {"tool_use_id": os.urandom(8).hex()}))
        tell(f"the hook is over: {words}")
        if words and self.asks:
            self.answered.set()

    def key(self, letter: str) -> None:
        """Take one key: in a question Enter is a yes, Esc a no, and every key is kept for the test."""
        if self.asks:
            tell(f"in the question: {letter!r}")
            self.refused = letter == "\x1b"
            if letter in "\r\x1b":
                self.answered.set()
        elif letter == "\r" and self.draft == "/clear":
            self.draft = ""
            begin(str(uuid.uuid4()))
        elif letter == "\r" and self.draft:
            text, self.draft = self.draft, ""
            threading.Thread(target=self.turn, args=(text,), daemon=True).start()
        elif letter.isprintable():
            self.draft += letter


def tell(text: object) -> None:
    """Keep what happened, for the test."""
    with TOLD.open("a") as told:
        told.write(json.dumps(text) + "\n")


def note(status: str) -> None:
    """Keep what it does as Claude does."""
    if AGENT == "claude":
        STATUS.parent.mkdir(parents=True, exist_ok=True)
        new = STATUS.with_suffix(".new")
        new.write_text(json.dumps({"status": status, "sessionId": transcript().stem}))
        new.replace(STATUS)


def hook() -> str:
    """Return the command that Claude starts before it asks, "" for none."""
    if "--settings" not in sys.argv:
        return ""
    hooks = json.loads(sys.argv[sys.argv.index("--settings") + 1])["hooks"]
    return str(hooks["PermissionRequest"][0]["hooks"][0]["command"]) if "PermissionRequest" in hooks else ""


def transcript() -> Path:
    """Return the transcript of the conversation."""
    return Path(os.environ["HOME"], ".claude", "projects", "-of-it", f"{CONVERSATION[-1]}.jsonl")


def keep(prompt: str) -> None:
    """Keep a prompt, its answer, and what that has used, as Claude does."""
    if AGENT == "claude":
        told, now = {"role": "user", "content": prompt}, datetime.now(UTC).isoformat()
        said = [{"type": "text", "text": f"I heard: {prompt[:200]}"}]
        answer = {"id": os.urandom(4).hex(), "model": "claude-sonnet-4-5", "content": said, "usage": USAGE}
        answer["stop_reason"] = "end_turn"
        with transcript().open("a") as lines:
            for kind, message in (("user", told), ("assistant", answer)):
                line = {"type": kind, "timestamp": now, "message": message}
                lines.write(json.dumps(line, separators=(",", ":")) + "\n")


def begin(id: str, *, again: bool = False) -> None:
    """Begin a conversation, or go on with one; ends with an error where Claude does."""
    CONVERSATION.append(id)
    if AGENT != "claude":
        return
    if again != (transcript().exists() and transcript().stat().st_size > 0):
        sys.exit("No conversation found" if again else "Session ID is already in use")
    transcript().parent.mkdir(parents=True, exist_ok=True)
    transcript().touch()
    note("idle")


def run(command: str) -> str:
    """Run a command of pro0, as its model would."""
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout + done.stderr


def main() -> None:
    """Be a session in a terminal until it is ended."""
    if "--help" in sys.argv:
        print("--no-daemon" if AGENT == "codex" else "")
        return
    ids = [after for word, after in zip(sys.argv, sys.argv[1:], strict=False) if word in ("--session-id", "--resume")]
    begin(ids[0] if ids else str(uuid.uuid4()), again="--resume" in sys.argv)
    tty.setraw(0)
    tell(sys.argv[2:])
    stand_in = StandIn()
    stand_in.show()
    if "--" in sys.argv:
        threading.Thread(target=stand_in.turn, args=(sys.argv[-1],), daemon=True).start()
    while data := os.read(0, 1024):
        with stand_in.lock:
            for letter in data.decode(errors="replace"):
                stand_in.key(letter)
        stand_in.show()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    main()
