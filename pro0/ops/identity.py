"""The identity of a process: proven by its guard, the guard's mark or a grant from outside; never by a claim alone.

Programs started by many agents at once ask here, before slower imports.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping

from pro0.errors import ErrorCode, Pro0Error, Refused

TEAM = "PRO0_TEAM"
AGENT_ID = "PRO0_AGENT_ID"
INCARNATION = "PRO0_INCARNATION"
MEMBER_OF = "PRO0_MEMBER_OF"
"""The home of an environment's identity variables; they mean nothing in another home (behaviour 2.3)."""
HOSTED = "PRO0_HOSTED"
"""The folder of a session that is run here for another machine: its commands are done at home."""
GRANT = "PRO0_GRANT"
"""A token from a person; with it a program acts as a member from outside."""
TASK_ID = "PRO0_TASK_ID"
PARENT_TASK_ID = "PRO0_PARENT_TASK_ID"
TEAM_UID = "PRO0_TEAM_UID"
IDENTITY = (TEAM, AGENT_ID, INCARNATION, MEMBER_OF, GRANT, TASK_ID, PARENT_TASK_ID, TEAM_UID)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pro0.processes.table import ProcessEntry

UNKNOWN = "unknown"
"""The agent id when only a guard is known: a process below a guard is never a person's."""
CLAIMS = f"{AGENT_ID} {INCARNATION} {GRANT}"
HINT = f'as yourself: unset {CLAIMS}; as a member, after that: eval "$(pro0 member env NAME)"'
_FIRST_NAMESPACE = 0xEFFFFFFC
"""The inode of Linux's outermost process namespace."""

Session = tuple[str | None, str, str]
"""Team, incarnation and agent id of a member's session."""


_asking: "list[ProcessEntry]" = []


def ask_for(process: "ProcessEntry") -> None:
    """Let this process act with the identity of another process, for which it works from now on."""
    _asking[:] = [process]


def session_of(environment: Mapping[str, str], home: str | os.PathLike[str], pid: int | None = None) -> Session | None:
    """Return the session of a process, by default this one; None outside every session of that home.

    Below a guard it is the guard's session, whatever the environment says. Raises Refused for an environment naming
    another session, or claiming a member without proof.
    """
    where = os.path.abspath(home)  # noqa: PTH100 - pathlib takes long to import
    if pid is None and _asking:
        return _session_of_another(environment, where, _asking[0])
    proven = _guarded(where, pid) or _marked(where, pid)
    token = environment.get(GRANT)
    granted = _granted(environment, where, token) if token else None
    if proven is None:
        if granted is None and _claimed(environment, where):
            raise Refused(
                f"nothing proves that this is {_claim(environment)}", code=ErrorCode.IDENTITY_UNPROVEN, hint=HINT
            )
        return granted
    _agree(environment, where, proven, granted)
    return proven


def _session_of_another(environment: Mapping[str, str], home: str, process: "ProcessEntry") -> Session | None:
    from pro0.processes import table

    session = session_of(environment, home, process.pid)
    if not table.alive(process):  # nothing that was read about it is certain
        raise Refused("the process that asked is gone", code=ErrorCode.IDENTITY_UNPROVEN)
    return session


def hidden(home: str | os.PathLike[str]) -> bool:
    """Return True when a guard above this process may be invisible, such as when a running lead is.

    The process is then in its own process namespace, perhaps made by a member. In the outermost namespace all processes
    are visible, unless something is mounted over their entries in the system's table.
    """
    from pro0.processes import linux, table
    from pro0.store.root import teams_of

    if sys.platform != "linux":
        return False
    if table.entry(_me()) is None or linux.forged():
        return True
    try:
        if os.stat("/proc/self/ns/pid").st_ino == _FIRST_NAMESPACE:
            return False
    except OSError:
        return True
    return any(_leads_unseen(folder) for folder in teams_of(os.fspath(home)))


def _agree(environment: Mapping[str, str], home: str, proven: Session, granted: Session | None) -> None:
    """Raise Refused when the environment names a session other than the proven one."""
    team, incarnation, agent = proven
    if team is None:
        return
    claims = [(TEAM, team), (AGENT_ID, agent), (INCARNATION, incarnation)] if _is_about(environment, home) else []
    proven_values = [(name, value) for name, value in claims if value != UNKNOWN]
    wrong = next((name for name, value in proven_values if environment.get(name) not in (None, "", value)), None)
    if wrong is None and granted not in (None, proven):
        wrong = GRANT
    if wrong:
        text = f"the guard shows that this is {agent} of {team}, but {wrong} names another"
        raise Refused(
            text, code=ErrorCode.IDENTITY_MISMATCH, hint=f"a process of a session acts as that session: unset {wrong}"
        )


def _granted(environment: Mapping[str, str], home: str, token: str) -> Session:
    from pathlib import Path

    from pro0.ops.holders import holder

    session = holder(Path(home), token, environment.get(TEAM), HINT)
    if environment.get(AGENT_ID) not in (None, "", session[2]):
        text = f"the grant in {GRANT} is for {session[2]}, but {AGENT_ID} names another"
        raise Refused(text, code=ErrorCode.IDENTITY_MISMATCH, hint=HINT)
    return session


def _claimed(environment: Mapping[str, str], home: str) -> bool:
    return bool(environment.get(AGENT_ID) or environment.get(INCARNATION)) and _is_about(environment, home)


def _claim(environment: Mapping[str, str]) -> str:
    agent = environment.get(AGENT_ID)
    return f"the member {agent!r} that {AGENT_ID} names" if agent else f"the session that {INCARNATION} names"


def _is_about(environment: Mapping[str, str], home: str) -> bool:
    """Return True when the identity in the environment is about this home."""
    from pro0.store.root import alike

    member_of = environment.get(MEMBER_OF)
    return not member_of or alike(member_of, home)


def _guarded(home: str, pid: int | None) -> Session | None:
    """Return the session of the guard above: the nearest confirmed by its report, else the nearest look-alike.

    Anybody may name a program like a guard, so a command line alone proves no session.
    """
    from pro0.processes import table
    from pro0.store.root import hosted, launched, shared, teams_of

    doubtful: Session | None = None
    # The nearest ancestor comes first; an unconfirmed look-alike must not hide a confirmed guard above it.
    for ancestor in table.above(pid or _me()):
        called = table.command_line(ancestor.pid).removesuffix(b"\0").rpartition(b"\0")[2]
        launch = launched(os.fsdecode(called))
        if launch is None:
            if doubtful is None and (there := hosted(os.fsdecode(called))):
                doubtful = None, there, UNKNOWN  # another machine's member: nobody here, and no person
            continue
        launch_home, team, incarnation = launch
        identity = (ancestor.pid, ancestor.start, ancestor.boot_id)
        for folder in teams_of(home):
            if (record := _recorded(folder, incarnation)) and record[1] == identity:
                return os.path.basename(folder), incarnation, record[0]  # noqa: PTH119
        if doubtful is None and shared(home, launch_home, team):
            doubtful = team, incarnation, UNKNOWN
    return doubtful


def _marked(home: str, pid: int | None) -> Session | None:
    """Return the session of a process's mark (Linux); every process started below a guard carries one."""
    from pro0.processes import mark

    if (carried := mark.carried_by(pid or os.getpid())) is None:
        return None
    for folder, incarnation in _sessions(home):
        if mark.mark_of(incarnation) == carried:
            record = _recorded(folder, incarnation)
            return os.path.basename(folder), incarnation, record[0] if record else UNKNOWN  # noqa: PTH119
    return None


def _sessions(home: str) -> Iterator[tuple[str, str]]:
    """Yield team folder and incarnation of every session with files in a home."""
    from pro0.store.root import SESSIONS, teams_of

    for folder in teams_of(home):
        try:
            names = os.listdir(f"{folder}/{SESSIONS}")
        except OSError:
            continue
        yield from ((folder, incarnation) for incarnation in {name.partition(".")[0] for name in names} if incarnation)


def _recorded(folder: str, incarnation: str) -> tuple[str, tuple[int, str, str] | None] | None:
    """Return a session's agent id and guard process: from the guard's report, else from the lead's record."""
    from pro0.store.root import DOCUMENT, RUNTIME, SESSIONS

    report = _read(f"{folder}/{SESSIONS}/{incarnation}{DOCUMENT}")
    if guard := _guard_of(report):
        return guard
    seats = (_elsewhere(folder) or _read(f"{folder}/{RUNTIME}") or {}).get("seats")
    records = [record for record in seats if isinstance(record, dict)] if isinstance(seats, list) else []
    return next((_guard_of(record) for record in records if record.get("incarnation") == incarnation), None)


def _guard_of(values: dict[str, object] | None) -> tuple[str, tuple[int, str, str] | None] | None:
    agent = values.get("agentId") if values else None
    return (agent, _process(values.get("guard"))) if values and isinstance(agent, str) else None


def _process(values: object) -> tuple[int, str, str] | None:
    if not isinstance(values, dict):
        return None
    pid, start, boot = (values.get(name) for name in ("pid", "start", "bootId"))
    return (pid, start, boot) if isinstance(pid, int) and isinstance(start, str) and isinstance(boot, str) else None


def _read(path: str) -> dict[str, object] | None:
    """Return the content of a store document, None for an unreadable one."""
    from json import loads

    try:
        with open(path, "rb") as stream:
            document = loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _elsewhere(folder: str) -> dict[str, object] | None:
    """Return the lead's record of a team whose documents are not files, None for any other."""
    from json import loads
    from pathlib import Path

    from pro0.store.root import STORE

    if not os.path.exists(f"{folder}/{STORE}"):  # noqa: PTH110
        return None
    from pro0.store.files import encode
    from pro0.store.teams import TeamStore

    home, name = Path(folder).parents[1], Path(folder).name
    try:
        runtime = TeamStore(home, name).runtime.find()
    except Pro0Error:
        return None
    return loads(encode(runtime)) if runtime else None


def _leads_unseen(folder: str) -> bool:
    """Return True when a team's lead is at work but invisible from here."""
    from pathlib import Path

    from pro0.processes import table
    from pro0.store.lease import PAUSE, TRIES, Lease

    lease = Lease(Path(folder))
    for _ in range(TRIES):  # a reader, or a lead that has not signed yet, holds the lock for a moment only
        holder = lease.read()
        if holder is None or table.alive(holder.process) or lease.holder() is None:
            return False
        time.sleep(PAUSE)
    return True


def _me() -> int:
    """Return this process's number in the system's table; an outer namespace may number it differently."""
    try:
        return int(os.readlink("/proc/self"))  # noqa: PTH115
    except (OSError, ValueError):
        return os.getpid()
