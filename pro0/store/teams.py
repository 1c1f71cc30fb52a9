"""The store of all teams: each team is created by one rename, and removed by one rename (behaviour 3.1, 3.10)."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, Refused, StoreError
from pro0.model import ids
from pro0.model.home import Roles
from pro0.model.need import Announced, PermissionRequests, Troubles
from pro0.model.runtime import Hosted, Report, Runtime
from pro0.model.stored import iso
from pro0.model.task import Comments, TaskList
from pro0.model.team import Environment, PortRanges, TeamConfig, Wanted
from pro0.model.usage import UsageBook
from pro0.rules.words.presets import PRESETS
from pro0.store import atomic
from pro0.store.database.pointer import documents_of, in_database
from pro0.store.database.sharing import machine_files, own_machine
from pro0.store.files import File, exists, make_folder, translate
from pro0.store.lock import locked
from pro0.store.mailbox import Box
from pro0.store.paths import (
    ANNOUNCED,
    COMMENTS,
    CONFIG,
    ENVIRONMENT,
    HOSTED,
    NEW,
    PERMISSIONS,
    PORTS,
    ROLES,
    RUNTIME,
    TRASH,
    TROUBLES,
    USAGE,
    WANTED,
    TeamPaths,
)
from pro0.store.places.documents import Files
from pro0.store.places.folder import late, translated
from pro0.store.removal import archive, sweeping, trees
from pro0.store.removal.archive import Archive
from pro0.store.removal.sweeping import Swept
from pro0.store.tasklist import TaskFile

if TYPE_CHECKING:
    from pro0.store.places.promises import Documents

_LATER = "the next cleanup removes the rest"


class TeamStore:
    """The documents of one team."""

    def __init__(self, home: Path, name: str) -> None:
        self.paths = paths = TeamPaths(home, name)
        self.name = paths.name
        self.documents: Documents = documents_of(paths)
        place = self.documents.team
        self.machine = own_machine(self.documents)
        """The name under which this machine takes part, "" when it has made the team."""
        self.config, self.record, self.runtime = machine_files(self.documents, self._not_ours)
        self.wanted: File[Wanted] = File(place, WANTED, Wanted)
        self.environment: File[Environment] = File(paths.team, ENVIRONMENT, Environment, absent=Environment)
        self.usage: File[UsageBook] = File(place, USAGE, UsageBook, absent=UsageBook)
        self.troubles: File[Troubles] = File(place, TROUBLES, Troubles, absent=Troubles)
        self.permissions: File[PermissionRequests] = File(
            place, PERMISSIONS, PermissionRequests, absent=PermissionRequests
        )
        self.announced: File[Announced] = File(place, ANNOUNCED, Announced, absent=Announced)
        self.ports: File[PortRanges] = File(paths.team, PORTS, PortRanges, absent=PortRanges)
        self.tasks = TaskFile(self.documents.tasks)

    def exists(self) -> bool:
        """Return True when the team's folder is there, whatever its files hold."""
        return exists(self.paths.team)

    def require(self) -> "TeamStore":
        """Return this store, or raise NotFound when the team does not exist."""
        if not self.exists():
            raise NotFound(f"there is no team {self.name}", hint="list them: pro0 team list")
        return self

    def _not_ours(self, config: TeamConfig) -> str:
        """Return the reason a configuration is not this team's (another name, no uid, no project), or ""."""
        if config.name != self.name:
            return f"it belongs to another team, {config.name}"
        return "" if config.uid and config.project else "it has no uid, or no project"

    def mailbox(self, agent_id: str) -> Box:
        """Return the mailbox of one member, of the lead, or of the human."""
        return Box(self.documents.mailboxes.within(self.paths.mailbox(agent_id).name), agent_id)

    def mailbox_owners(self) -> list[str]:
        """Return the owners of the team's mailboxes."""
        with translated(self.paths.mailboxes):
            names = sorted(filter(ids.NAME.fullmatch, self.documents.mailboxes.names()))
        return [name for name in names if name != ids.ALL and self.mailbox(name).exists()]

    def comments(self, task_id: str) -> File[Comments]:
        """Return the comments of one task."""
        return File(self.documents.tasks.within(ids.task_id(task_id)), COMMENTS, Comments, absent=Comments)

    def report(self, incarnation: str) -> Report | None:
        """Return a guard's report on its session, or None before the first report."""
        return File(self.paths.sessions, self.paths.report(incarnation), Report).find()

    def elsewhere(self) -> list[str]:
        """Return the incarnations of the sessions whose part on another machine is not proven over."""
        with translated(self.paths.sessions), suppress(FileNotFoundError):
            names = os.listdir(self.paths.sessions)
            return sorted(name.removesuffix(HOSTED) for name in names if name.endswith(HOSTED))
        return []

    def hosted(self, incarnation: str) -> Hosted | None:
        """Return what another machine runs for a session, None for nothing; raises StoreError when corrupt."""
        return File(self.paths.sessions, self.paths.hosted(incarnation), Hosted).find()

    def all_hosted(self) -> list[Hosted]:
        """Return the records of what other machines run for sessions, except parts proven over."""
        records = (self.hosted(incarnation) for incarnation in self.elsewhere())
        return [hosted for hosted in records if hosted]

    def drop_hosted(self, incarnation: str) -> None:
        """Count what another machine runs for a session as over, by removing its record durably."""
        record = self.paths.sessions / self.paths.hosted(incarnation)
        with translated(record):
            record.unlink(missing_ok=True)
            with late("a power loss may undo it"):
                atomic.sync(self.paths.sessions)

    def log_event(self, now: datetime, actor: str, event: str, **details: str | int | None) -> None:
        """Append one line to events.jsonl; the line is for people, never the truth, so a failed write is ignored."""
        line = {"at": iso(now), "actor": actor, "event": event, **{k: v for k, v in details.items() if v is not None}}
        self.documents.log(line)


class Store:
    """Everything under one PRO0_HOME."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.roles: File[Roles] = File(home, ROLES, Roles, absent=lambda: PRESETS)

    def team(self, name: str) -> TeamStore:
        """Return the documents of one team, whether it exists or not."""
        return TeamStore(self.home, name)

    def names(self) -> list[str]:
        """Return the names of all teams."""
        try:
            return [entry.name for entry in trees.entries(self.home / "teams") if ids.NAME.fullmatch(entry.name)]
        except OSError as error:
            translate(error, self.home / "teams")

    def check(self) -> None:
        """Raise EnvironmentMissing when a folder of the home is a link, no folder, or another user's."""
        for name in ("", "teams", "tasks", "mailboxes"):
            place = self.home / name
            with translated(place), suppress(FileNotFoundError):
                status = place.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    kind = "a symbolic link, which is not followed" if stat.S_ISLNK(status.st_mode) else "not a folder"
                    raise EnvironmentMissing(f"{place} is {kind}", code=ErrorCode.UNSAFE_PATH, hint="move it away")
                if status.st_uid != os.geteuid():
                    hint = "choose another PRO0_HOME"
                    raise EnvironmentMissing(f"{place} belongs to another user", code=ErrorCode.UNSAFE_PATH, hint=hint)

    def create(
        self, config: TeamConfig, desired: Wanted, environment: Environment | None = None, *, url: str = ""
    ) -> TeamStore:
        """Create a team, whole or not at all; an existing team of that name is never touched.

        Its documents are files, or in the database behind a URL.
        """
        team = self.team(config.name)
        with self.changing(f"create team {team.name}"):
            swept = sweeping.sweep(self.home)
            if team.exists():
                raise Refused(
                    f"there is a team {team.name} already",
                    code=ErrorCode.CONFLICT,
                    hint=f"pro0 team attach -t {team.name}, or remove it: pro0 team cleanup -t {team.name}",
                )
            sweeping.require_free(team.paths, swept)
            try:
                self._make(team, config, desired, environment or Environment(), url)
            except BaseException:
                with suppress(OSError, StoreError):
                    sweeping.sweep(self.home)
                raise
        return self.team(config.name) if url else team

    def discard(self, name: str, uid: str, ended: datetime | None = None) -> None:
        """Remove a team: one rename commits the removal, and `sweep` may finish it later.

        With the time of its end, an archive keeps its documents.
        """
        team = self.team(name).paths.team
        if not exists(team.parent):
            return
        ids.incarnation(uid)
        with self.changing(f"remove team {name}"):
            if exists(team):
                archive.abandon(self.home, name, uid)
                if ended:
                    archive.begin(self.home, name, uid, ended)
            with suppress(FileNotFoundError):
                team.rename(team.with_name(f"{TRASH}{name}.{uid}"))
            with late(_LATER):
                atomic.sync(team.parent)
                sweeping.sweep(self.home).require(name, uid)

    def sweep(self, name: str = "") -> list[str]:
        """Finish every begun removal as `swept` does, and return the teams' names; raises as `Swept.require` does."""
        swept = self.swept()
        with late(_LATER):
            return swept.require(name)

    def swept(self) -> Swept:
        """Finish every begun removal with its archive, and remove every half-made team, as far as possible."""
        if not exists(self.home / "teams"):
            return Swept([], {})
        with self.changing("finish removals"), late(_LATER):
            return sweeping.sweep(self.home)

    def give_up(self, name: str) -> dict[str, str]:
        """Finish a team's removals without the databases that they wait for; return each database with the reason.

        Rows may be left there. Raises the error of a removal that waits for anything else.
        """
        with self.changing(f"remove team {name}"), late(_LATER):
            return sweeping.give_up(self.home, name)

    def archives(self) -> list[Archive]:
        """Return the archives of removed teams, by name and end."""
        try:
            return archive.archives(self.home)
        except OSError as error:
            translate(error, self.home)

    def forget(self, entry: Archive) -> None:
        """Remove the archive of a removed team."""
        with self.changing(f"forget team {entry.name}"):
            trash = archive.forget(entry)
            with late(_LATER):
                archive.remove(trash)

    def _make(self, team: TeamStore, config: TeamConfig, desired: Wanted, environment: Environment, url: str) -> None:
        paths = team.paths
        new = paths.team.with_name(f"{NEW}{team.name}")
        for folder in (new, new / paths.sessions.name, new / paths.logs.name):
            make_folder(folder)
        documents = in_database(self.home, team.name, url) if url else Files(paths)
        with documents.founding(new, config.uid) as places:
            File(places.team, CONFIG, TeamConfig).create(config)
            File(places.team, WANTED, Wanted).create(desired)
            File(places.team, RUNTIME, Runtime).create(Runtime())
            File(new, ENVIRONMENT, Environment).create(environment)
            TaskFile(places.tasks).create(TaskList())
            for address in (ids.LEAD, ids.HUMAN):
                Box(places.mailboxes.within(address), address).make()
        # The team exists from this rename on.
        new.rename(paths.team)
        with late("a power loss may undo it"):
            atomic.sync(paths.team.parent)

    @contextmanager
    def changing(self, why: str) -> Iterator[None]:
        """Hold the lock of the home, which is made if it is missing."""
        self.check()
        make_folder(self.home / "teams")
        try:
            check_owner(self.home)
            with locked(self.home, why):
                yield
        except OSError as error:
            translate(error, self.home)


def check_owner(home: Path) -> None:
    """Raise EnvironmentMissing when the home is another user's; tighten a mode too open."""
    status = home.stat()
    if status.st_uid != os.geteuid():
        raise EnvironmentMissing(
            f"{home} belongs to another user", code=ErrorCode.UNSAFE_PATH, hint="choose another PRO0_HOME"
        )
    if status.st_mode & 0o077:
        home.chmod(atomic.FOLDER_MODE)
