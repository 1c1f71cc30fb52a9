"""The only module that spells a file name."""

import os
import re
from pathlib import Path

from pro0.errors import BadInput
from pro0.model import ids
from pro0.rules.text import visible
from pro0.store.root import DOCUMENT as DOCUMENT
from pro0.store.root import HOME_VARIABLE as HOME_VARIABLE
from pro0.store.root import HOSTED_LAUNCH as HOSTED_LAUNCH
from pro0.store.root import HOSTS as HOSTS
from pro0.store.root import KINDS
from pro0.store.root import LAUNCH as LAUNCH
from pro0.store.root import RUNTIME as RUNTIME
from pro0.store.root import RUNTIME_OF as RUNTIME_OF
from pro0.store.root import STORE as STORE

CONFIG = "config.json"
WANTED = "wanted.json"
ENVIRONMENT = "environment.json"
USAGE = "usage.json"
TROUBLES = "troubles.json"
PERMISSIONS = "permissions.json"
ANNOUNCED = "announced.json"
ROLES = "roles.json"
TRUSTED = "trusted.json"
PROOFS = "proofs.json"
PORTS = "ports.json"
PIN = "pin.json"
DEVICES = "devices.json"
SERVER_LOCK = "server.lock"
"""Held by the process that serves the page of a home, which writes its address into it."""
DOCUMENTS = frozenset({CONFIG, WANTED, RUNTIME, USAGE, TROUBLES, PERMISSIONS, ANNOUNCED})
"""The documents in a team's folder, except those of this machine alone: its environment and its ports."""
TASKS = "tasks.json"
COMMENTS = "comments.json"
MESSAGES = "messages.json"
EVENTS = "events.jsonl"
LEAD_LOG = "lead.jsonl"
LEAD_ERRORS = "lead.err"
LOGS = "logs"
LOCK = ".lock"
QUEUE = ".queue"
"""The folder of a lock's waiters, beside the lock; it exists only while somebody waits."""
LEASE = "lead.lock"
WORKTREES = "worktrees"
CODE = "code"
ARCHIVES = "archive"
"""The folder of the archives of removed teams."""
RUN_LOG = ".run.jsonl"
SOCKET = "rpc.sock"
"""The socket of a team's lead, for other programs (behaviour 5.6)."""
CONCERNS_A_MEMBER = rf"(?:{TASKS}|{MESSAGES}|{WANTED})"
"""A pattern for file names: a change of these files concerns a member."""
CONCERNS_A_SUBSCRIBER = rf"(?!\.).*\.json|{EVENTS}|{LEAD_LOG}"
"""A pattern for file names: a change of these files may concern somebody who is shown a team."""
CONCERNS_THE_LEAD = rf"(?!{RUNTIME}|{RUNTIME_OF}|{CONFIG}|{USAGE}|{ANNOUNCED}|{PORTS})(?!\.).*\.json"
"""A pattern for file names: a change of these files concerns the lead, unlike the files only it writes."""
UNUSED = "unused"
"""In a team's folder: a small home with the files that it had before it was copied to a database."""
TRASH = ".trash-"
NEW = ".new-"
ASIDE = ".corrupt-"
"""Stands between a corrupt file's old name and the time of moving it aside."""
MOVED = f"{ASIDE}moved-"
"""Stands there instead of ASIDE until a good file is in place, on a file system without hard links."""
HOSTED = ".host.json"
"""The end of the file name, in `sessions`, of the record of what another machine runs for a session."""
HOSTED_REPORT, HOSTED_OVER = "report.json", "over.json"
HOSTED_TERMINAL, HOSTED_SOCKET, HOSTED_LOG = "terminal.sock", "home.sock", "guard.log"
HOSTED_TAKEN = "taken-"
"""Begins the name of a note that an answer has arrived; the id of the asker follows."""
"""The names from HOSTED_REPORT on are of files in the folder of a session that is run for another machine."""
HOSTED_NEWS = rf"{HOSTED_REPORT}|{HOSTED_OVER}"
"""A pattern for file names: a change of these files, in that folder, concerns home."""
LAYOUT_SUFFIXES = (".yaml", ".yml", ".json")
RECORDS = RUNTIME.removesuffix(DOCUMENT)
"""Begins the names of the records that leads keep of their sessions."""


def home(environment: dict[str, str] | os._Environ[str]) -> Path:
    """Return the store's root: PRO0_HOME, else ~/.pro0; raises BadInput for a path with control characters."""
    chosen = environment.get(HOME_VARIABLE)
    path = (Path(chosen) if chosen else Path.home() / ".pro0").absolute()
    text = str(path)
    if visible(text) != text or "\n" in text or "\t" in text:
        raise BadInput(f"{text!r} cannot be the home of pro0", hint="choose a path without control characters")
    return path


class TeamPaths:
    """All paths of one team; the team's name is checked, so no path leaves the home."""

    def __init__(self, home: Path, team: str) -> None:
        name = ids.team_name(team)
        self.home = home
        self.name = name
        self.team = home / "teams" / name
        self.tasks = home / "tasks" / name
        self.mailboxes = home / "mailboxes" / name
        self.sessions = self.team / "sessions"
        self.logs = self.team / LOGS
        self.lease = self.team / LEASE
        self.lead_errors = self.logs / LEAD_ERRORS

    def mailbox(self, agent_id: str) -> Path:
        """Return the folder of one mailbox."""
        checked = agent_id if agent_id in (ids.LEAD, ids.HUMAN) else ids.agent_id(agent_id)
        return self.mailboxes / checked

    def task(self, task_id: str) -> Path:
        """Return the folder of one task's comments and older history."""
        return self.tasks / ids.task_id(task_id)

    def report(self, incarnation: str) -> str:
        """Return the file name of a guard's report, in `sessions`."""
        return f"{ids.incarnation(incarnation)}{DOCUMENT}"

    def launch(self, incarnation: str) -> str:
        """Return the file name of a guard's launch order, in `sessions`."""
        return f"{ids.incarnation(incarnation)}{LAUNCH}"

    def hosted(self, incarnation: str) -> str:
        """Return the file name, in `sessions`, of the record of what another machine runs for a session."""
        return f"{ids.incarnation(incarnation)}{HOSTED}"

    def agent_folder(self, incarnation: str) -> Path:
        """Return the folder of an agent's start files: settings and MCP servers of one session."""
        return self.sessions / ids.incarnation(incarnation)

    def log(self, agent_id: str) -> Path:
        """Return the log of a session without a terminal."""
        return self.logs / f"{_session_owner(agent_id)}.log"

    def setup_log(self, agent_id: str) -> Path:
        """Return the log of the command that makes a member's worktree ready."""
        return self.logs / f"{_session_owner(agent_id)}.setup.log"

    def run_log(self, agent_id: str) -> Path:
        """Return a runner's log of its runs."""
        return self.logs / f"{ids.agent_id(agent_id)}{RUN_LOG}"


def _session_owner(agent_id: str) -> str:
    """Return the name of a member or of the lead agent, or raise BadInput."""
    return agent_id if agent_id == ids.LEAD else ids.agent_id(agent_id)


def hosted(home: Path, there: str) -> Path:
    """Return the folder of a session that is run for another machine."""
    return home / HOSTS / ids.incarnation(there)


def web(home: Path) -> Path:
    """Return the folder of the files that the page of a home needs."""
    return home / "web"


def worktrees(home: Path) -> Path:
    """Return the folder of all members' worktrees: outside the teams, so removing a team loses no work."""
    return home / WORKTREES


def trees_of(home: Path, team: str, uid: str) -> Path:
    """Return the folder of one team's worktrees; a later team of the same name gets another."""
    return worktrees(home) / (f"{team}-{uid[:8]}" if uid else team)


def worktree(home: Path, team: str, uid: str, agent_id: str) -> Path:
    """Return the folder of one member's worktree."""
    return trees_of(home, team, uid) / agent_id


def guest(home: Path, member: str) -> tuple[Path, Path]:
    """Return the repository and the worktree of a member of another machine's team, TEAM/MEMBER, in this home."""
    team, _, name = member.partition("/")
    return home / CODE / f"{team}.git", worktrees(home) / team / name


def segment(number: int) -> str:
    """Return the file name of a sealed segment, in `archive` of mail or tasks, or in `history` of a task."""
    return f"{number:06d}.json"


def number_of(name: str) -> int:
    """Return the number of a sealed segment, or 0 for any other file."""
    digits = name.removesuffix(DOCUMENT)
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    return number if name == segment(number) else 0


def rotated(name: str, number: int) -> str:
    """Return the new name of a full log, such as events-000001.jsonl."""
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}-{number:06d}{dot}{suffix}"


def rotation(name: str, file: str) -> int:
    """Return the number of a full log of this name, or 0 for any other file."""
    stem, _, suffix = name.rpartition(".")
    digits = file.removeprefix(f"{stem}-").removesuffix(f".{suffix}")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    return number if file == rotated(name, number) else 0


def record_of(machine: str) -> str:
    """Return the file name of the record that a machine's lead keeps of its sessions; "" is the team's own machine."""
    return f"{RUNTIME_OF}{ids.machine(machine)}{DOCUMENT}" if machine else RUNTIME


def machine_of(name: str) -> str | None:
    """Return the machine whose record has this file name, "" for the team's own one, None for any other file."""
    if name == RUNTIME:
        return ""
    machine = name.removeprefix(RUNTIME_OF).removesuffix(DOCUMENT)
    return machine if ids.NAME.fullmatch(machine) and name == f"{RUNTIME_OF}{machine}{DOCUMENT}" else None


def is_document(key: str) -> bool:
    """Return True for the name of a team's document, or of one moved aside: teams/config.json, tasks/tasks.json."""
    kind, _, inside = key.partition("/")
    plain = inside.partition(ASIDE)[0]
    is_known = (
        plain in DOCUMENTS or machine_of(plain) is not None
        if kind == KINDS[0]
        else kind in KINDS and plain.endswith(DOCUMENT)
    )
    return is_known and bool(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*", inside))


ARCHIVE = "archive"
HISTORY = "history"
