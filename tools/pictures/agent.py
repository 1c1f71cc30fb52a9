"""A stand-in for an agent in the pictures: `agent.py NAME [OPTION|PROMPT]…` shows recorded screens of the real program.

It is idle, works and asks for permissions like the real program, and reports to pro0 in the same ways: Claude Code by
files and a hook, Codex by its screen. HOME/jobs.json has, by the title of a task, what to do: {"asks": a command that
needs a permission, "says": a letter to the person, "until": a file in HOME; the work ends when it exists}.
"""

import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

HOME = Path(os.environ["HOME"])
RECORDED = {"claude": "claude-2.1.330-120x40", "codex": "codex-0.169.0-120x40"}
SCREENS = Path(__file__).parents[2] / "tests" / "screens"
SGR = re.compile(r"\x1b\[[0-9;:]*m")
GAP = re.compile(r" {8,}")
UNATTENDED = re.compile(r"^.*permissions:.*YOLO.*\n", re.MULTILINE)
"""A line of the recording's permission mode, in which pro0 does not start the program."""
BOX = re.compile(r"[❯›](?: |$)")
PAUSE = 0.3
NOTHING = "Please look after the file made.txt."
"""The prompt in the recordings, which is replaced by the title of a task."""


class Agent:
    """One stand-in, with the screen that it shows now and the words in it."""

    def __init__(self, name: str, words: list[str]) -> None:
        self.name, self.words = name, words
        self.kind, self.title, self.command = "idle", "", ""
        self.said = ["I am ready."]
        self.jobs = json.loads((HOME / "jobs.json").read_text())

    def show(self, kind: str, title: str = "", command: str = "") -> None:
        """Show a recorded screen, with these words in it."""
        self.kind, self.title, self.command = kind, title, command
        self.draw()
        while kind == "permission" and command not in pro0("member", "peek", os.environ["PRO0_AGENT_ID"].split("@")[0]):
            time.sleep(PAUSE)  # the lead must be able to see the command once it sees the state
        self.tell({"working": "busy", "permission": "waiting"}.get(kind, "idle"))

    def draw(self, *_: object) -> None:
        """Redraw the screen in the terminal's present size."""
        text = (SCREENS / f"{RECORDED[self.name]}-{self.kind}.txt").read_text(encoding="utf-8")
        text = UNATTENDED.sub("", text).replace("/box/120x40/project", f"~/{Path.cwd().relative_to(HOME)}")
        text = text.replace(NOTHING, self.title).replace("touch made.txt", self.command)
        size = os.get_terminal_size(sys.stdout.fileno())
        rows = fitted(text, size.columns, size.lines)
        sys.stdout.write("\x1b[0m\x1b[2J\x1b[H" + "\r\n".join(rows) + f"\x1b[{box(rows)};3H")
        sys.stdout.flush()

    def tell(self, status: str) -> None:
        """Report the status in files, as Claude Code does."""
        session = self.option("--session-id") or self.option("--resume")
        if self.name == "claude" and session:
            state = {"sessionId": session, "status": status, "startedAt": 1, "statusUpdatedAt": 10**13}
            replace(HOME / ".claude" / "projects" / "all" / f"{session}.jsonl", "".join(map(turn, self.said)))
            replace(HOME / ".claude" / "sessions" / f"{os.getpid()}.json", json.dumps(state))

    def option(self, name: str) -> str:
        """Return the value of an option, empty without it."""
        return self.words[self.words.index(name) + 1] if name in self.words else ""

    def work(self, task: str) -> None:
        """Claim a task with a job, work until its file exists, ask for its permission, and complete it."""
        title = json.loads(pro0("task", "show", task, "--json") or "{}").get("title")
        if title not in self.jobs or not pro0("task", "claim", task):
            return
        job = self.jobs[title]
        self.show("working", title)
        if "says" in job:
            pro0("send", "human", job["says"])
        while job.get("until") and not (HOME / job["until"]).exists():
            self.rest()
        if "asks" in job:
            self.show("permission", title, job["asks"])
            self.ask(job["asks"])
            self.show("working", title)
        pro0("task", "complete", task, "done")
        self.said.append("It is done.")
        self.show("idle", title)

    def ask(self, command: str) -> None:
        """Ask the person for a permission, through the hook in the settings."""
        settings = json.loads(Path(self.option("--settings")).read_text())
        hook = settings["hooks"]["PermissionRequest"][0]["hooks"][0]["command"]
        event = {"tool_name": "Bash", "tool_input": {"command": command}}
        asking = subprocess.Popen(["sh", "-c", hook], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert asking.stdin
        with asking.stdin as answers:
            answers.write(json.dumps(event))
        while asking.poll() is None:
            self.rest()

    def rest(self) -> None:
        """Read new mail, approve a shutdown if one is requested, and pause."""
        if "shutdown_request" in pro0("inbox", "--ack", "--json"):
            pro0("shutdown", "approve")
        time.sleep(PAUSE)

    def live(self) -> None:
        """Work on ready tasks and approve a shutdown, until the process is ended."""
        quiet(sys.stdin.fileno())
        signal.signal(signal.SIGWINCH, self.draw)
        self.show("idle")
        while True:
            for task in pro0("task", "ready", "-o", "name").split():
                self.work(task)
            self.rest()


def fitted(text: str, columns: int, lines: int) -> list[str]:
    """Return a recorded screen as in a smaller terminal: without blank lines that do not fit, with narrower gaps."""
    rows = text.removesuffix("\n").split("\n")
    while len(rows) > lines:
        at, blank = longest_gap(rows)
        del rows[at : at + 1 if blank else max(1, head(rows))]
    return [narrowed(row, columns) for row in rows]


def longest_gap(rows: list[str]) -> tuple[int, int]:
    """Return the first row of the longest run of blank rows, and how long that is; zeros when there is none."""
    found, begun = (0, 0), 0
    for at, row in enumerate([*rows, "."]):
        if SGR.sub("", row).strip():
            found = max(found, (at - begun, -begun))
            begun = at + 1
    return -found[1], found[0]


def head(rows: list[str]) -> int:
    """Return how many rows stand above the first prompt."""
    return next((at for at, row in enumerate(rows) if BOX.match(SGR.sub("", row))), 0)


def box(rows: list[str]) -> int:
    """Return the row of the last prompt, where the cursor is, counted from 1."""
    prompts = [at for at, row in enumerate(rows, 1) if BOX.match(SGR.sub("", row))]
    return prompts[-1] if prompts else len(rows)


def narrowed(row: str, columns: int) -> str:
    """Return a row that fits: its first wide gap is narrowed, then its end is cut."""
    over = len(SGR.sub("", row)) - columns
    if over > 0:
        row = GAP.sub(lambda gap: gap[0][: max(1, len(gap[0]) - over)], row, count=1)
    return "".join(cut(row, columns))


def cut(row: str, columns: int) -> Iterator[str]:
    """Yield all colours, and letters as far as there is room."""
    for part in re.split(r"(\x1b\[[0-9;:]*m)", row):
        if part.startswith("\x1b"):
            yield part
        else:
            yield part[: max(0, columns)]
            columns -= len(part)


def turn(words: str) -> str:
    """Return the line for a turn that ends with these words, as in Claude Code's transcript."""
    message = {"id": words, "model": "claude", "content": [{"type": "text", "text": words}]}
    return f"{json.dumps({'type': 'assistant', 'message': message})}\n"


def quiet(terminal: int) -> None:
    """Stop the terminal from echoing typed letters."""
    mode = termios.tcgetattr(terminal)
    mode[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, mode)


def pro0(*words: str) -> str:
    """Run a command of pro0 and return what it printed, empty when it failed."""
    done = subprocess.run(["pro0", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else ""


def replace(path: Path, text: str) -> None:
    """Replace a file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    new.rename(path)


def main(name: str, words: list[str]) -> int:
    """Work until the process is ended; it has no `app-server`."""
    if "--version" in words:
        print(RECORDED[name].split("-")[1])
        return 0
    if "app-server" in words:
        return 1
    Agent(name, words).live()
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.exit(main(sys.argv[1], sys.argv[2:]))
