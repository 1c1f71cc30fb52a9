"""Announcements by the lead: each need once on each surface. A record of them outlives a lead, until the need is gone.

An announcement is recorded after it was made. A lead that dies in between leaves it owed, and the next lead makes it.

Where machines share a team, each lead rings the bell of its own machine, since a person may sit at any. The other
surfaces reach the person anywhere, so only the lead with the duties uses them.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.model.decision import Announce, Snapshot
from pro0.model.need import Need, NeedKind, Picture, Surface
from pro0.model.runtime import Runtime
from pro0.rules.lead.plan import View
from pro0.rules.needs import needs, next_look


class Announcements(msgspec.Struct, frozen=True):
    """The needs to announce, those announced already, and the time at which the next may arise."""

    needs: tuple[Need, ...] = ()
    owed: tuple[Announce, ...] = ()
    announced: tuple[str, ...] | None = None
    """The new record of this lead's own announcements, None when the present one is right."""
    wake_at: datetime | None = None


def announce(view: View, runtime: Runtime) -> Announcements:
    """Return the announcements due to the person, judged by the runtime record about to be written."""
    person, tasks = view.snapshot.person, view.snapshot.tasks
    if person is None or tasks is None:  # what cannot be seen is neither new nor gone
        return Announcements()
    picture = Picture(
        now=view.now,
        wanted=view.snapshot.wanted,
        runtime=_of_all(runtime, view.snapshot.others),
        tasks=tasks,
        mail=person.mail,
        older=person.older,
        troubles=person.troubles,
        requests=person.requests,
        past=person.past,
        spent=view.snapshot.spent,
        elsewhere=view.snapshot.elsewhere,
        left_alone=person.left_alone,
    )
    current_needs = needs(picture)
    known = {*person.announced, *view.snapshot.announced}
    surfaces = Surface if view.snapshot.has_duties else (Surface.BELL,)
    announcements = {
        key(surface, need.id, view.snapshot.machine): Announce(surface, need)
        for need in current_needs
        for surface in surfaces
    }
    announced = tuple(name for name in announcements if name in known)
    owed = tuple(
        action
        for name, action in announcements.items()
        if name not in known and action.surface in view.snapshot.surfaces and not view.stopping and _suits(action)
    )
    recorded = own_keys(person.announced, view.snapshot)
    return Announcements(current_needs, owed, None if announced == recorded else announced, next_look(picture))


def _of_all(own: Runtime, others: Runtime) -> Runtime:
    return replace(
        own,
        seats=(*own.seats, *others.seats),
        failures=(*own.failures, *others.failures),
        limits=(*own.limits, *others.limits),
    )


def key(surface: Surface, id: str, machine: str = "") -> str:
    """Return the key that records the announcement of a need on a surface; a bell's key names its machine too."""
    return f"{surface}@{machine} {id}" if machine and surface is Surface.BELL else f"{surface} {id}"


def own_keys(keys: Iterable[str], snapshot: Snapshot) -> tuple[str, ...]:
    """Return the keys of a lead's own announcements: its machine's bell, and with the duties all surfaces."""
    surfaces = Surface if snapshot.has_duties else (Surface.BELL,)
    heads = tuple(key(surface, "", snapshot.machine) for surface in surfaces)
    return tuple(name for name in keys if name.startswith(heads))


def _suits(action: Announce) -> bool:
    """Return False for a failed notice or hook on the surface that fails: it would fail again, for ever."""
    failing = {Surface.NOTIFY: NeedKind.NOTICE, Surface.HOOK: NeedKind.HOOK}
    return failing.get(action.surface) is not action.need.kind
