"""Archives of removed teams: made when a team is removed, found by name and end, and read as teams are read."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime

import msgspec

from pro0.errors import BadInput, NotFound, Pro0Error, StoreError
from pro0.model import ids
from pro0.model.caller import THE_HUMAN
from pro0.model.message import MessageType
from pro0.ops.context import Context, clock
from pro0.ops.team import needs
from pro0.ops.team.status import counts
from pro0.rules.tasks.board import Board
from pro0.store.paths import LOCK
from pro0.store.removal.archive import Archive
from pro0.store.teams import Store, TeamStore

_WORDS = (MessageType.MESSAGE, MessageType.BROADCAST)


class ArchivedTeam(msgspec.Struct, frozen=True):
    """One removed team as shown by `team list --archived`; an unreadable part is None."""

    name: str
    ended: datetime
    path: str
    project: str | None
    tasks: dict[str, int] | None
    unread: int | None


def listed(archive: Archive) -> ArchivedTeam:
    """Return a summary of an archive, with the numbers of its tasks and unread messages."""
    team = context_of(archive).team
    project, tasks, unread = None, None, None
    with suppress(Pro0Error):
        project = team.config.read().project
    with suppress(Pro0Error):
        task_list = team.tasks.read()
        tasks = counts(Board(task_list.tasks), task_list.archived)
    with suppress(Pro0Error):
        unread = needs.unread_of_work(team)
    return ArchivedTeam(archive.name, archive.ended, str(archive.path), project, tasks, unread)


def find(store: Store, name: str, ended: str = "") -> list[Archive]:
    """Return the archives of a name, the latest first; `ended` is the time of their end in UTC, or its beginning.

    Raises NotFound when there is none.
    """
    ids.team_name(name)
    archives = [archive for archive in reversed(store.archives()) if archive.name == name]
    matches = [archive for archive in archives if utc(archive.ended).startswith(ended)]
    if archives and not matches:
        times = ", ".join(utc(archive.ended) for archive in archives)
        raise NotFound(f"no archive of {name} ended at {ended!r}", hint=f"existing archives: {times}")
    if not matches:
        removal = f"the team still exists; remove it: pro0 team cleanup {name}" if store.team(name).exists() else ""
        raise NotFound(f"there is no archive of {name}", hint=removal or "list them: pro0 team list --archived")
    return matches


def older(store: Store, before: str, name: str | None = None) -> list[Archive]:
    """Return the archives of one name or of all, ended before a time; a time without a zone is UTC."""
    if name is not None:
        ids.team_name(name)
    try:
        moment = datetime.fromisoformat(before)
    except ValueError:
        raise BadInput(f"{before!r} is not a time", hint="such as 2026-11-01 or 2026-11-01T12:30") from None
    limit = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return [archive for archive in store.archives() if archive.ended < limit and name in (None, archive.name)]


def forget(store: Store, archives: list[Archive]) -> None:
    """Remove archives for good."""
    for archive in archives:
        store.forget(archive)


def utc(moment: datetime) -> str:
    """Return a moment in UTC, in the form in which a person names the end of an archived team."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def context_of(archive: Archive) -> Context:
    """Return the context to read an archived team; nothing in it may be changed."""
    return Context(Store(archive.path).team(archive.name), THE_HUMAN)


def holds_work(team: TeamStore) -> bool:
    """Return False when a team never had a task or a message, except those of its stop; True when it is unreadable."""
    try:
        tasks = team.tasks.read()
        if tasks.next_id > 1 or tasks.tasks:
            return True
        heads = [team.mailbox(address).head.read() for address in team.mailbox_owners()]
        return any(
            head.sealed or any(message.type not in needs.OF_A_STOP for message in head.messages) for head in heads
        )
    except Pro0Error:
        return True


def was_used(team: TeamStore, first_tasks: int) -> bool:
    """Return True when a team has got more than its first tasks, or words of somebody; unreadable is never empty."""
    try:
        if team.tasks.read().next_id > first_tasks + 1:
            return True
        heads = [team.mailbox(address).head.read() for address in team.mailbox_owners()]
        return any(head.sealed or any(letter.type in _WORDS for letter in head.messages) for head in heads)
    except Pro0Error:
        return True


def put_away(
    store: Store,
    team: TeamStore,
    uid: str,
    *,
    force: bool,
    show: Callable[[str], None],
    keep: bool,
    check: Callable[[], None],
) -> None:
    """Remove the team's folders; report lost work and the archive. With `force`, the archive may fail.

    An error of `check` keeps the team. Nobody gives it a task or a message between that check and the removal.
    """
    with _closed(team, force=force):
        check()
        unfinished_work, archive_notice = needs.unfinished(team), ""
        if keep and not holds_work(team):
            archive_notice = f"nothing of {team.name} is kept: it had no task and no message"
        elif keep:
            try:
                with or_keep_none(team):
                    store.discard(team.name, uid, ended=clock())
                    archive_notice = _archive_notice(store, team.name, uid)
            except Pro0Error as error:
                if not force or not team.exists():
                    raise
                archive_notice = f"no archive of {team.name} is kept: {error.message}"
        if team.exists():
            store.discard(team.name, uid)
    for line in (unfinished_work and f"gone with {team.name}: {unfinished_work}", archive_notice):
        if line:
            show(line)


@contextmanager
def _closed(team: TeamStore, *, force: bool) -> Iterator[None]:
    """Hold the locks under which a team in files is given tasks and messages. With `force`, a stuck one is left out.

    A removal needs the rows of a team in a database itself, so there the locks stay free.
    """
    in_files = team.documents.database is None
    boxes = [team.mailbox(owner).head.place for owner in team.mailbox_owners()] if in_files else []
    with ExitStack() as locks:
        for place in [team.documents.tasks, *boxes] if in_files else []:
            try:
                locks.enter_context(place.locked(f"remove team {team.name}"))
            except FileNotFoundError:
                continue
            except (OSError, StoreError) as error:
                if force:
                    continue
                if isinstance(error, OSError):
                    place.translate(error, LOCK)
                raise
        yield


@contextmanager
def or_keep_none(team: TeamStore) -> Iterator[None]:
    """While the team still exists, add to an error's hint that a cleanup can do without an archive."""
    try:
        yield
    except Pro0Error as error:
        if team.exists():
            without = "make no archive: --no-archive"
            error.hint = f"{error.hint}, or {without}" if error.hint else without
        raise


def _archive_notice(store: Store, name: str, uid: str) -> str:
    place = next((f" in {archive.path}" for archive in store.archives() if archive.uid == uid), "")
    read, forget = f"pro0 team show {name} --archived", f"pro0 team forget {name}"
    return f"what {name} did is kept{place}; read it: {read}; remove it: {forget}"
