"""Remove pro0's traces on this machine: first teams, then the home, then the rest. Work stays."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pro0 import looking
from pro0.config import USER_FILE
from pro0.engine import cleanup
from pro0.engine.outcomes import Show
from pro0.engine.uninstall.guests import guests
from pro0.engine.uninstall.in_home import runs, served
from pro0.engine.uninstall.trace import Trace, TraceFate
from pro0.engine.uninstall.traces import traces, unseen
from pro0.errors import EnvironmentMissing, ErrorCode, Kept, Refused
from pro0.ops.repair import repair_home
from pro0.ops.work import checkouts
from pro0.ops.work import guests as guests_code
from pro0.sessions.tmux import socket
from pro0.store.removal import home as whole_home
from pro0.store.removal import trees
from pro0.store.teams import Store

_OUTSIDE = frozenset({"skill", "completion", "socket", "cache"})
_LOOK = "pro0 uninstall --show"


def uninstall(store: Store, here: Path, agreed: list[Trace], show: Show) -> list[Trace]:
    """Remove the traces of pro0 that were shown, and return those left to the person.

    Raises Refused and changes nothing while anything of the home runs, or when there is more than was shown. Raises
    StoreError, with every team still there, when an interrupted removal cannot be finished. Raises Kept at the end for
    work that stays. Also raises Refused for anything that starts meanwhile; the rest of the home then stays.
    """
    prepare(store)
    with ExitStack() as leases:
        names = store.names()
        for name in names:
            leases.enter_context(_resting(store, name))
        all_traces = traces(store, here, leased=True)
        new_traces = unseen(all_traces, agreed)
        _refuse_new(new_traces)
        kept = _teams(store, names, show)
    if looking.exists(store.home):
        kept += [place for place in _home(store, agreed, show) if place not in kept]
    for trace in all_traces:
        if trace.fate is TraceFate.REMOVED and trace.kind in _OUTSIDE and trace not in new_traces:
            _remove(trace)
            show(f"{trace.kind} {trace.name}: removed")
    kept += [trace.name for trace in all_traces if trace.fate is TraceFate.KEPT and trace.kind == "branch"]
    if kept:
        hint = "what is kept holds work: merge it or remove it yourself"
        raise Kept(f"pro0 is removed; not merged, so kept: {', '.join(kept)}", hint=hint)
    return [trace for trace in all_traces if trace.fate is not TraceFate.REMOVED]


def prepare(store: Store) -> None:
    """Refuse while anything runs. Finish interrupted removals, which may leave an archive or wait for a database."""
    refuse_while_running(store)
    store.sweep()


def refuse_while_running(store: Store) -> None:
    """Raise Refused, with a hint how to end it, while a team, the page, a guest session or a left-over process runs.

    Also raises Refused for a team shared with other machines, since no team is removed unless all can be.
    """
    store.check()
    if not looking.exists(store.home):
        return
    if strange := list(whole_home.foreign(store.home)):
        text = f"{strange[0]} belongs to another user"
        raise EnvironmentMissing(text, code=ErrorCode.UNSAFE_PATH, hint="move it away, or have its owner do that")
    if running := [name for name in store.names() if _runs(store, name)]:
        verb = "runs" if len(running) == 1 else "run"
        hint = " && ".join(f"pro0 team stop {name}" for name in running)
        raise Refused(f"{', '.join(running)} still {verb}", code=ErrorCode.LIVE_SESSIONS, hint=hint)
    for team in map(store.team, store.names()):
        cleanup.refuse_if_joined(team)
        cleanup.refuse_if_shared(team)
    _refuse_guests_and_page(store)
    if teams := repair_home.left_over(store):
        text = f"processes of {', '.join(teams)} are left"
        raise Refused(text, code=ErrorCode.LIVE_SESSIONS, hint="end them: pro0 doctor --repair --yes")


def _refuse_guests_and_page(store: Store) -> None:
    if guest := next(guests(store.home), None):
        raise Refused(
            f"{guest.name} runs here for another machine", code=ErrorCode.LIVE_SESSIONS, hint=f"end it {guest.end}"
        )
    if served(store):
        text, hint = "`pro0 web` serves the page of this home", "end it with Ctrl+C where it runs"
        raise Refused(text, code=ErrorCode.IN_USE, hint=hint)


def _refuse_new(new_traces: list[Trace]) -> None:
    """Raise Refused for a trace that was not shown. A new socket may stay: a tmux server can die at any time."""
    if new := next((trace for trace in new_traces if trace.kind != "socket"), None):
        now = f" {new.note}" if new.note else ""
        text = f"{new.kind} {new.name}{now} is new or has changed since the list was shown; nothing is removed"
        raise Refused(text, code=ErrorCode.CONFLICT, hint=_LOOK)


def _runs(store: Store, name: str) -> bool:
    team = store.team(name)
    with cleanup.or_without_database(store, team):
        return runs(team)


def _teams(store: Store, names: list[str], show: Show) -> list[str]:
    """Remove teams whose leases the caller holds; return the remaining work: worktrees and branches."""
    remaining = list[str]()
    for name in names:
        remaining += cleanup.remove(store, store.team(name), force=False, show=show, keep=False, save=False)
        show(f"team {name}: removed")
    return remaining


def _home(store: Store, agreed: list[Trace], show: Show) -> list[str]:
    """Remove a home without teams, and return the remaining work."""
    remaining = list[str]()
    store.sweep()
    _refuse_guests_and_page(store)  # else a guest's folder would be gone before the last look
    for folder in list(checkouts.left_over(store)):
        remaining += [path for path in checkouts.clear(folder, None, show, save=False) if path not in remaining]
    remaining += guests_code.clear(store.home, show)
    gone = whole_home.remove(store.home, USER_FILE, lambda: _refuse_latecomers(store, agreed))
    show(f"home {store.home}: {'removed' if gone else 'removed, except what is kept in it'}")
    return remaining


def _refuse_latecomers(store: Store, agreed: list[Trace]) -> None:
    """Raise Refused for anything new since the removal of teams began; the caller locks the home."""
    if names := store.names():
        raise Refused(f"{names[0]} was started in the meantime", code=ErrorCode.CONFLICT, hint=_LOOK)
    archives = {trace.name for trace in agreed if trace.kind == "archive"}
    if new := [archive for archive in store.archives() if str(archive.path) not in archives]:
        raise Refused(f"the archive {new[0].path} was made in the meantime", code=ErrorCode.CONFLICT, hint=_LOOK)
    _refuse_guests_and_page(store)


@contextmanager
def _resting(store: Store, name: str) -> Iterator[None]:
    """Hold the lease of a stopped team; raises Refused when a lead has it."""
    lease = store.team(name).documents.lease()
    if not lease.take("uninstall"):
        text = f"{name} was started in the meantime"
        raise Refused(text, code=ErrorCode.LIVE_SESSIONS, hint=f"pro0 team stop {name}")
    try:
        yield
    finally:
        lease.drop()


def _remove(trace: Trace) -> None:
    path = Path(trace.name)
    if trace.kind == "socket":
        socket.remove(trace.name)
        return
    trees.remove(path)
    if trace.kind == "skill":
        with suppress(OSError):
            path.parent.rmdir()
