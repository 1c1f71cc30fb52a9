#!/usr/bin/env python3
"""A stand-in for Claude Code that does all that `pro0 agent prove` tries, standard library only.

Its screen is drawn as the recorded ones of tests/screens. FOLDER/change names what is other in this version.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import tty
import urllib.request
import uuid
from pathlib import Path

CHANGE = Path(__file__).with_name("change").read_text().strip() if Path(__file__).with_name("change").exists() else ""
CONFIG = Path(os.environ.get("HOME", "/"), ".claude")
EDGE = "─" * 60
WAITER_EVENTS = {"no waiter": (), "end of turn renamed": ("SessionStart",)}
WORDS = {
    "busy renamed": {"busy": "thinking"},
    "idle renamed": {"idle": "ready"},
    "waiting renamed": {"waiting": "blocked"},
    "asks unseen": {"waiting": "busy"},
}


def option(name: str) -> str:
    """Return the word behind an option, empty without it."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


class StandIn:
    """One session: what it shows, what stands in its input, and its conversation."""

    def __init__(self) -> None:
        self.session = option("--session-id") or option("--resume")
        self.settings = json.loads(Path(option("--settings")).read_text())
        self.transcript = CONFIG / "projects" / "all" / f"{self.session}.jsonl"
        self.messages: list[dict[str, object]] = []
        self.status, self.draft, self.last = "idle", "", ""
        self.question = ""
        self.answered = threading.Event()
        self.yes = False
        self.lock = threading.RLock()
        self.turns = threading.Lock()

    def show(self, status: str = "") -> None:
        """Tell and draw what it does."""
        with self.lock:
            self.status = status or self.status
            word = WORDS.get(CHANGE, {}).get(self.status, self.status)
            state: dict[str, object] = {"sessionId": self.session, "status": word}
            if self.status == "waiting":
                state["waitingFor"] = "permission prompt"
            place = CONFIG / "sessions" / f"{os.getpid()}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            new = place.with_name(f"{uuid.uuid4().hex}.new")
            new.write_text(json.dumps(state))
            new.rename(place)
            os.write(1, ("\x1b[2J\x1b[H" + "\r\n".join(self.rows())).encode())

    def rows(self) -> list[str]:
        """Return the rows of its screen; with a moved input, Claude of another design."""
        if self.question and CHANGE in ("asks unseen", "waiting renamed"):
            return ["● " + self.last, "", f" Shall {self.question} happen? y/n"]
        if self.question:
            asked = [
                " Bash command",
                "",
                f"   {self.question}",
                "",
                " Do you want to proceed?",
                " ❯ 1. Yes",
                "   2. No",
            ]
            return ["● " + self.last, "", EDGE, *asked, "", " Esc to cancel · Tab to amend"]
        works = self.status == "busy" and CHANGE != "busy renamed"
        spinner = ["✻ Thinking… (2s)", ""] if works else []
        sign, edge, foot = "❯", [EDGE], "  esc to interrupt" if works else "  ? for shortcuts"
        if CHANGE == "input sign renamed":
            sign = "▌"
        if CHANGE == "no edges":
            edge = []
        if CHANGE == "input moved":
            return [f"  typing: {self.draft}", "● " + self.last, "", *spinner, EDGE, "❯ ", EDGE, foot]
        return ["● " + self.last, "", *spinner, *edge, f"{sign} {self.draft}", *edge, foot]

    def hooks(self, event: str) -> list[str]:
        """Return the commands of an event's hooks that go on beside it."""
        groups = self.settings["hooks"].get(event, [])
        return [hook["command"] for group in groups for hook in group["hooks"] if hook.get("asyncRewake")]

    def fire(self, event: str) -> None:
        """Start the hooks of an event that wait, and begin a turn when one asks for it."""
        if event in WAITER_EVENTS.get(CHANGE, ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")):
            for command in self.hooks(event):
                threading.Thread(target=self.wait_for, args=(command,), daemon=True).start()

    def wait_for(self, command: str) -> None:
        """Wait for one hook, and do what its end asks for."""
        with subprocess.Popen(["sh", "-c", command], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as hook:
            if CHANGE == "waiter ended":
                threading.Timer(0.5, hook.kill).start()
            line = hook.communicate()[1].decode()
        if hook.returncode == 2 and CHANGE != "wake ignored":
            text = "" if CHANGE == "wake without its line" else line
            if CHANGE == "wake sends the draft":
                text, self.draft = f"{line}\n{self.draft}", ""
            self.turn(f"Stop hook feedback: {text}")

    def turn(self, prompt: str) -> None:
        """Do one turn, one after the other."""
        with self.turns:
            self.say("user", [{"type": "text", "text": prompt}])
            self.show("busy")
            self.fire("UserPromptSubmit")
            while calls := self.ask_model():
                results = [self.use(call) for call in calls]
                self.say("user", results)
                if any(result.get("refused") for result in results):
                    break
                self.fire("PostToolUse")
            self.show("busy" if CHANGE == "turn never over" else "idle")
        self.fire("Stop")

    def say(self, role: str, content: list[dict[str, object]], **more: object) -> None:
        """Put one message into the conversation, and its transcript."""
        message: dict[str, object] = {"role": role, "content": content}
        self.messages.append(message)
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("a") as file:
            file.write(json.dumps({"type": role, "uuid": uuid.uuid4().hex, "message": message | more}) + "\n")

    def ask_model(self) -> list[dict[str, object]]:
        """Ask the model, and return the tools that it calls."""
        body = {"model": "scripted", "messages": self.messages, "tools": [{"name": "Bash"}], "stream": False}
        request = urllib.request.Request(
            os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
            answer = json.loads(response.read())
        usage = answer["usage"] | ({"output_tokens": 0} if CHANGE == "usage renamed" else {})
        more = {"id": answer["id"], "model": "scripted", "usage": usage, "stop_reason": answer["stop_reason"]}
        self.say("assistant", answer["content"], **more)
        self.last = " ".join(part["text"] for part in answer["content"] if part["type"] == "text")
        return [part for part in answer["content"] if part["type"] == "tool_use"]

    def use(self, call: dict[str, object]) -> dict[str, object]:
        """Run a command, after asking for leave unless it is pro0's; return its result."""
        command = str(dict(call["input"])["command"])  # type: ignore[call-overload]
        result: dict[str, object] = {"type": "tool_result", "tool_use_id": call["id"]}
        if not command.startswith("pro0 ") and not self.leave(command):
            return result | {"content": "refused", "refused": True}
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return result | {"content": done.stdout + done.stderr}

    def leave(self, command: str) -> bool:
        """Ask in the pane and by the hook at the same time; whoever answers first counts."""
        self.answered.clear()
        self.question = command
        self.show("waiting")
        groups = self.settings["hooks"].get("PermissionRequest", []) if CHANGE != "permission hook renamed" else []
        event = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": uuid.uuid4().hex}
        for group in groups:
            threading.Thread(target=self.ask, args=(group["hooks"][0]["command"], event), daemon=True).start()
        if CHANGE == "yes after a while":
            self.answered.wait(2)
            self.yes = self.yes or not self.answered.is_set()
        else:
            self.answered.wait()
        self.question = ""
        self.show("busy")
        allowed, self.yes = self.yes, False
        return allowed

    def ask(self, command: str, event: dict[str, object]) -> None:
        """Let the hook ask, until it or the pane has answered."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(["sh", "-c", f"exec {command}"], text=True, **pipes) as hook:  # type: ignore[call-overload]
            threading.Thread(target=lambda: (self.answered.wait(), hook.kill()), daemon=True).start()
            said = hook.communicate(json.dumps(event))[0]
        if said and CHANGE != "answers ignored":
            behavior = json.loads(said)["hookSpecificOutput"]["decision"]["behavior"]
            self.yes = behavior == "allow" or CHANGE == "no taken for yes"
            self.answered.set()

    def key(self, data: str) -> None:
        """Take what is typed."""
        for letter in data:
            if self.question:
                if letter in "\r\x1b":
                    self.yes = letter == "\r"
                    self.answered.set()
            elif letter == "\r":
                text, self.draft = self.draft, ""
                if text:
                    threading.Thread(target=self.turn, args=(text,), daemon=True).start()
            elif letter == "\x7f":
                self.draft = self.draft[:-1]
            elif letter.isprintable():
                if CHANGE == "crashes when typed into":
                    os._exit(3)
                self.draft += letter
        self.show()


def main() -> None:
    """Be a session in a terminal until it is ended."""
    if "--version" in sys.argv:
        print("9.9.9 (Claude Code)")
        return
    if CHANGE == "does not start":
        sys.exit("it needs another system")
    tty.setraw(0)
    stand_in = StandIn()
    if CHANGE == "new dialog":
        os.write(1, b"\x1b[2J\x1b[HA new plan is there. Press any key to see what is in it.")
        signal.pause()
    if "--resume" in sys.argv:
        for line in stand_in.transcript.read_text().splitlines() if CHANGE != "forgets" else ():
            stand_in.messages.append({key: json.loads(line)["message"][key] for key in ("role", "content")})
    stand_in.show()
    stand_in.fire("SessionStart")
    if "--" in sys.argv and CHANGE != "first prompt ignored":
        threading.Thread(target=stand_in.turn, args=(sys.argv[-1],), daemon=True).start()
    while data := os.read(0, 1024):
        with stand_in.lock:
            stand_in.key(data.decode(errors="replace"))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    main()
