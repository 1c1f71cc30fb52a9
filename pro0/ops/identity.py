"""Who a process is: proven by the guard above it or by the guard's mark, from outside by a grant; never only claimed.

Programs that many agents start at once ask here, before they import anything that takes longer.
"""

import os
import sys
from collections.abc import Iterator, Mapping

from pro0.errors import Refused

TEAM = "PRO0_TEAM"
AGENT_ID = "PRO0_AGENT_ID"
INCARNATION = "PRO0_INCARNATION"
MEMBER_OF = "PRO0_MEMBER_OF"
"""The home that the words of an environment are about: they mean nothing in another one (behaviour 2.3)."""
GRANT = "PRO0_GRANT"
"""What a person gave a program, so that it acts as a member from outside."""
TASK_ID = "PRO0_TASK_ID"
PARENT_TASK_ID = "PRO0_PARENT_TASK_ID"
TEAM_UID = "PRO0_TEAM_UID"
IDENTITY = (TEAM, AGENT_ID, INCARNATION, MEMBER_OF, GRANT, TASK_ID, PARENT_TASK_ID, TEAM_UID)

UNKNOWN = "unknown"
"""The agent id where only a guard was found: what runs below one is never a person's."""
MISMATCH, UNPROVEN = "identity_mismatch", "identity_unproven"
CLAIMS = f"{AGENT_ID} {INCARNATION} {GRANT}"
HINT = f'as yourself: unset {CLAIMS}; as a member, after that: eval "$(pro0 member env NAME)"'
_FIRST_NAMESPACE = 0xEFFFFFFC
"""The inode by which Linux names the namespace of processes that all others are in."""

Session = tuple[str | None, str, str]
"""Team, incarnation and agent id of a member's session."""


def session_of(environment: Mapping[str, str], home: str | os.PathLike[str]) -> Session | None:
    """Return the session that this process belongs to, None outside every session of that home.

    Below a guard it is that guard's, whatever the environment says. Raises Refused for an environment that names
    somebody else, or a member without any proof.
    """
    where = os.path.abspath(home)  # noqa: PTH100 - pathlib takes long to import
    proven = _guarded(where) or _marked(where)
    token = environment.get(GRANT)
    granted = _granted(environment, where, token) if token else None
    if proven is None:
        if granted is None and _claimed(environment, where):
            raise Refused(f"nothing proves that this is {_claim(environment)}", code=UNPROVEN, hint=HINT)
        return granted
    _agree(environment, where, proven, granted)
    return proven


def hidden(home: str | os.PathLike[str]) -> bool:
    """Say whether a guard could be above this process and not be seen: it cannot see the lead that is at work.

    So it is in a namespace of processes of its own, which a member may have made. On the outermost all are seen.
    """
    from pro0.processes import table
    from pro0.store.root import teams_of

    if sys.platform != "linux":
        return False
    if table.entry(_me()) is None:
        return True
    try:
        if os.stat("/proc/self/ns/pid").st_ino == _FIRST_NAMESPACE:
            return False
    except OSError:
        return True
    return any(_leads_unseen(folder) for folder in teams_of(os.fspath(home)))


def _agree(environment: Mapping[str, str], home: str, proven: Session, granted: Session | None) -> None:
    """Raise Refused when the environment names another session than the one that is proven."""
    team, incarnation, agent = proven
    said = [(TEAM, team), (AGENT_ID, agent), (INCARNATION, incarnation)] if _is_about(environment, home) else []
    wrong = next((name for name, own in said if environment.get(name) not in (None, "", own) and own != UNKNOWN), None)
    if wrong is None and granted not in (None, proven):
        wrong = GRANT
    if wrong:
        what = f"this is {agent} of {team}, by the guard above it, but {wrong} names another"
        raise Refused(what, code=MISMATCH, hint=f"a process of a session acts as that session: unset {wrong}")


def _granted(environment: Mapping[str, str], home: str, token: str) -> Session:
    from pathlib import Path

    from pro0.ops.holders import holder

    found = holder(Path(home), token, environment.get(TEAM), HINT)
    if environment.get(AGENT_ID) not in (None, "", found[2]):
        what = f"the grant in {GRANT} is for {found[2]}, but {AGENT_ID} names another"
        raise Refused(what, code=MISMATCH, hint=HINT)
    return found


def _claimed(environment: Mapping[str, str], home: str) -> bool:
    return bool(environment.get(AGENT_ID) or environment.get(INCARNATION)) and _is_about(environment, home)


def _claim(environment: Mapping[str, str]) -> str:
    agent = environment.get(AGENT_ID)
    return f"the member {agent!r} that {AGENT_ID} names" if agent else f"the session that {INCARNATION} names"


def _is_about(environment: Mapping[str, str], home: str) -> bool:
    """Say whether what the environment says of an identity is about this home."""
    from pro0.store.root import alike

    named = environment.get(MEMBER_OF)
    return not named or alike(named, home)


def _guarded(home: str) -> Session | None:
    """Return whose guard is above: the nearest that its own report confirms, else the nearest that looks like one.

    Anybody may call a program as guards are called, so the words of a command line alone name nobody.
    """
    from pro0.processes import table
    from pro0.store.root import launched, shared, teams_of

    doubtful: Session | None = None
    for ancestor in table.above(_me()):
        called = table.command_line(ancestor.pid).removesuffix(b"\0").rpartition(b"\0")[2]
        found = launched(os.fsdecode(called))
        if found is None:
            continue
        other, team, incarnation = found
        identity = (ancestor.pid, ancestor.start, ancestor.boot_id)
        for folder in teams_of(home):
            if (said := _said(folder, incarnation)) and said[1] == identity:
                return os.path.basename(folder), incarnation, said[0]  # noqa: PTH119
        if doubtful is None and shared(home, other, team):
            doubtful = team, incarnation, UNKNOWN
    return doubtful


def _marked(home: str) -> Session | None:
    """Return whose mark this process carries, as what a guard started does wherever it went (Linux)."""
    from pro0.processes import mark

    if (carried := mark.carried_by(os.getpid())) is None:
        return None
    for folder, incarnation in _sessions(home):
        if mark.mark_of(incarnation) == carried:
            said = _said(folder, incarnation)
            return os.path.basename(folder), incarnation, said[0] if said else UNKNOWN  # noqa: PTH119
    return None


def _sessions(home: str) -> Iterator[tuple[str, str]]:
    """Yield the folder of the team and the incarnation of every session of a home that left anything there."""
    from pro0.store.root import SESSIONS, teams_of

    for folder in teams_of(home):
        try:
            names = os.listdir(f"{folder}/{SESSIONS}")
        except OSError:
            continue
        yield from ((folder, incarnation) for incarnation in {name.partition(".")[0] for name in names} if incarnation)


def _said(folder: str, incarnation: str) -> tuple[str, tuple[int, str, str] | None] | None:
    """Return whose session this is and which process guards it: as the guard says, else as the lead wrote down."""
    from pro0.store.root import DOCUMENT, RUNTIME, SESSIONS

    report = _read(f"{folder}/{SESSIONS}/{incarnation}{DOCUMENT}")
    if found := _named(report):
        return found
    seats = (_read(f"{folder}/{RUNTIME}") or {}).get("seats")
    known = [one for one in seats if isinstance(one, dict)] if isinstance(seats, list) else []
    return next((_named(one) for one in known if one.get("incarnation") == incarnation), None)


def _named(values: dict[str, object] | None) -> tuple[str, tuple[int, str, str] | None] | None:
    agent = values.get("agentId") if values else None
    return (agent, _process(values.get("guard"))) if values and isinstance(agent, str) else None


def _process(values: object) -> tuple[int, str, str] | None:
    if not isinstance(values, dict):
        return None
    pid, start, boot = (values.get(name) for name in ("pid", "start", "bootId"))
    return (pid, start, boot) if isinstance(pid, int) and isinstance(start, str) and isinstance(boot, str) else None


def _read(path: str) -> dict[str, object] | None:
    """Return what a document of the store holds, None for one that cannot be read."""
    from json import loads

    try:
        with open(path, "rb") as stream:
            found = loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _leads_unseen(folder: str) -> bool:
    """Say whether the lead of a team is at work, and is not among the processes that can be seen here."""
    from pathlib import Path

    from pro0.processes import table
    from pro0.store.lease import Lease

    lease = Lease(Path(folder))
    named = lease.read()
    return named is not None and not table.alive(named.process) and lease.holder() is not None


def _me() -> int:
    """Return the number of this process in the system's table, which may be that of a namespace around its own."""
    try:
        return int(os.readlink("/proc/self"))  # noqa: PTH115
    except (OSError, ValueError):
        return os.getpid()
