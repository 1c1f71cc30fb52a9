"""The move of a stopped team between files and a database; the lease keeps any lead out meanwhile."""

from shlex import quote

from pro0 import looking
from pro0.config.database import checked
from pro0.engine.cleanup import living_guard
from pro0.errors import ErrorCode, Refused
from pro0.ops import ownership
from pro0.store.database.pointer import pointer_in
from pro0.store.database.sharing import others_of
from pro0.store.moving import copy
from pro0.store.moving.copy import Show
from pro0.store.paths import UNUSED
from pro0.store.teams import Store

FILES = "files"


def copy_store(store: Store, name: str, to: str, show: Show, *, remove_source: bool, force: bool = False) -> list[str]:
    """Move a team to `files` or into the database behind a URL; return lines that say where it is and what is left.

    With `force`, a source database that is out of reach is forgotten, and its rows are not removed.

    Raises Refused for a team that runs, and for a database that has another team of its name.
    """
    url = "" if to == FILES else checked(to)
    team = store.team(name).require()
    if team.machine or others_of(team.documents):
        text, hint = "several machines share it", f"pro0 host list -t {name}"
        raise Refused(f"{name} is not copied: {text}", code=ErrorCode.CONFLICT, hint=hint)
    lease, forgotten = team.documents.lease(), ""
    if not lease.take("copy"):
        raise _running(name, f"its lead runs: {lease.holder()}")
    try:
        pointer = pointer_in(team.paths.team)
        current_url = pointer.url if pointer else ""
        if url and current_url not in ("", url):
            hint = f"first copy it to files: pro0 store copy {name} {FILES}"
            raise Refused(f"{name} is in another database", code=ErrorCode.CONFLICT, hint=hint)
        uid = team.config.read().uid
        alive = [state.agent_id for state in team.runtime.read().seats if living_guard(team, state)]
        if alive or ownership.of_team(team, uid):
            raise _running(name, f"{', '.join(alive) or 'a process of it'} still runs")
        if current_url != url:
            copy.copy(team.paths, uid, url, show)
        if remove_source:
            forgotten = copy.remove_source(team.paths, force=force)
    finally:
        lease.drop()
    leftovers = [f"rows of {name} may be left in {forgotten}"] if forgotten else []
    return [*_report(store, name, to, moved=current_url != url), *leftovers]


def _running(name: str, why: str) -> Refused:
    return Refused(f"{name} is not copied: {why}", code=ErrorCode.LIVE_SESSIONS, hint=f"pro0 team stop {name}")


def _report(store: Store, name: str, to: str, *, moved: bool) -> list[str]:
    """Return a line that says where a team is, and a second line when data of it is kept elsewhere."""
    paths = store.team(name).paths
    pointer = pointer_in(paths.team)
    place = (pointer.url if pointer else "") or FILES
    lines = [f"{name} is in {place} now" if moved else f"{name} is in {place} already"]
    unused = str(paths.team / UNUSED) if looking.exists(paths.team / UNUSED) else ""
    if pointer and pointer.unused:
        unused = pointer.unused
    if unused:
        lines.append(f"its old data is kept in {unused}; remove it: pro0 store copy {name} {quote(to)} --remove-source")
    return lines
