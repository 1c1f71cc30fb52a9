"""Announcing: bell and desktop notice, hook, and the person's `notify`, in the background, each need once."""

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

import msgspec

from pro0.config import Settings
from pro0.engine.background import notifying
from pro0.engine.background.backlog import Backlog
from pro0.engine.background.hooking import Hooking, LastGood
from pro0.engine.log import Log, reason
from pro0.engine.places import backend_of
from pro0.model.decision import Announce
from pro0.model.home import HookEvent
from pro0.model.need import Need, NeedKind, Surface
from pro0.model.runtime import ENDED, Handle
from pro0.ops import troubles, trust
from pro0.ops.context import clock
from pro0.rules.lead.announcing import key
from pro0.store.teams import TeamStore


class _Asked:
    """A requested announcement, kept as long as its need lasts."""

    def __init__(self, action: Announce) -> None:
        self.action = action
        self.is_made = False
        """True also after a failure: it is not made again."""
        self.is_owed = False
        """True when the settings were emptied while it waited, perhaps for a moment, or when nothing could be run."""


class Announcer:
    """Announces the needs of one team. It calls `woken` after each announcement."""

    def __init__(
        self, team: TeamStore, settings: Settings, log: Log, hooking: Hooking, woken: Callable[[], None]
    ) -> None:
        self._team = team
        self._log = log
        self._hooking = hooking
        self._woken = woken
        team_config = team.config.read()
        self._name, self._project = team_config.name, Path(team_config.project)
        self._backend = backend_of(team_config)
        self._settings = LastGood(team.paths.home, self._project, settings, lambda why: log.write("settings", why=why))
        self._asked: dict[str, _Asked] = {}
        self._backlogs = {surface: Backlog(self._announce, self._failed) for surface in Surface}

    def surfaces(self) -> frozenset[Surface]:
        """Return the surfaces in use, according to the present settings and hooks."""
        settings = self._settings.look(self._read)
        used = {
            Surface.BELL: settings.bell,
            Surface.NOTIFY: bool(settings.notify),
            Surface.HOOK: HookEvent.HUMAN_NEEDED in self._hooking.events(),
        }
        return frozenset(surface for surface, is_used in used.items() if is_used)

    def _read(self) -> Settings:
        return trust.settings(self._team.paths.home, self._project, os.environ)

    def begin(self, action: Announce) -> None:
        """Announce a need on a surface, once as long as it lasts."""
        name = self._key(action)
        if name not in self._asked or self._asked[name].is_owed:
            announcement = self._asked[name] = _Asked(action)
            try:
                self._backlogs[action.surface].put(announcement)
            except RuntimeError:  # no thread starts: the next round tries again
                announcement.is_owed = True
                raise

    def done(self) -> frozenset[str]:
        """Return the keys of the announcements made."""
        return frozenset(name for name, announcement in self._asked.items() if announcement.is_made)

    def forget(self, lasting: Iterable[Need]) -> None:
        """Forget the announcements of needs that are gone, made or not: one that comes back is announced anew."""
        keys = {self._key(Announce(surface, need)) for need in lasting for surface in Surface}
        self._asked = {name: announcement for name, announcement in self._asked.items() if name in keys}

    def _key(self, action: Announce) -> str:
        return key(action.surface, action.need.id, self._team.machine)

    def _announce(self, asked: _Asked) -> None:
        action = asked.action
        if self._asked.get(self._key(action)) is not asked:
            return  # its need has gone
        asked.is_made = self._make(action.surface, action.need)
        asked.is_owed = not asked.is_made
        if asked.is_made:  # an owed one waits for the next ordinary round: it may be owed for long
            self._woken()

    def _failed(self, asked: _Asked, error: Exception) -> None:
        """Log a failed announcement, which is not made again; a failed notice is a need itself."""
        action, why = asked.action, reason(error)
        self._log.write("announcing", surface=action.surface, need=action.need.id, why=why)
        if action.surface is Surface.NOTIFY:
            troubles.note(self._team, NeedKind.NOTICE, notifying.shown(self._settings.value.notify), why, clock())
        asked.is_made = True
        self._woken()

    def _make(self, surface: Surface, need: Need) -> bool:
        """Announce a need; return False when the surface is not in use, or nothing could be run."""
        match surface:
            case Surface.BELL:
                self._backend.ring(self._handles(need.member), f"pro0 {self._name}", need.sentence)
                return True
            case Surface.HOOK:
                return self._hooking.run(HookEvent.HUMAN_NEEDED, need.member, about(need)) is not None
            case Surface.NOTIFY:
                return self._notify(need)

    def _handles(self, member: str) -> list[Handle]:
        """Return where living sessions are shown, the member of a need first."""
        seats = [seat for seat in self._team.runtime.read().seats if seat.handle and seat.state not in ENDED]
        seats.sort(key=lambda seat: seat.agent_id != member)
        return [seat.handle for seat in seats if seat.handle]

    def _notify(self, need: Need) -> bool:
        settings = self._settings.value
        if not settings.notify:
            return False
        public_target = notifying.shown(settings.notify)
        with nullcontext(str) if notifying.is_url(settings.notify) else self._hooking.counted() as over:
            why = notifying.notify(self._team, settings, self._name, need, over)
        if why and why == over():
            return True
        if why:
            self._log.write("notify", to=public_target, why=why)
            troubles.note(self._team, NeedKind.NOTICE, public_target, why, clock())
        else:
            troubles.over(self._team, NeedKind.NOTICE, public_target)
        return True


def about(need: Need) -> dict[str, object]:
    """Return the data about a need for a hook. A need about a task also has the fields of the task's own events."""
    task = {"task_id": need.subject, "awaiting": need.awaiting, "since": need.since} if need.awaiting else {}
    return {"need": msgspec.to_builtins(need), **task}
