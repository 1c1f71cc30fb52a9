"""Troubles that the person has not seen yet: kept when they occur, dropped once their subject works again."""

from contextlib import suppress
from datetime import datetime

from msgspec.structs import replace

from pro0.errors import Pro0Error
from pro0.model.need import NeedKind, Trouble, Troubles
from pro0.ops.context import new_id
from pro0.store.teams import TeamStore

MOST = 50
"""The most troubles kept, the newest ones."""


def note(team: TeamStore, kind: NeedKind, subject: str, why: str, now: datetime) -> None:
    """Keep a trouble for the person, one for each subject or loss; a failed write is ignored."""
    with suppress(Pro0Error), team.troubles.change("note a trouble") as change:
        earlier = change.value.troubles
        # A repeated trouble is no new need, but another loss in a second repair of a file is one.
        same = [trouble for trouble in earlier if (trouble.kind, trouble.subject) == (kind, subject)]
        if not same or (kind is NeedKind.LOSSES and why not in [trouble.why for trouble in same]):
            fresh = Trouble(id=new_id(), kind=kind, subject=subject, why=why, at=now)
            change.value = replace(change.value, troubles=(*earlier, fresh)[-MOST:])


def over(team: TeamStore, kind: NeedKind, subject: str) -> None:
    """Drop a trouble whose subject works again."""
    with suppress(Pro0Error):
        document = team.troubles.read()
        if len(_without(document, kind, subject)) == len(document.troubles):
            return
        with team.troubles.change("drop a trouble") as change:
            change.value = replace(change.value, troubles=_without(change.value, kind, subject))


def _without(document: Troubles, kind: NeedKind, subject: str) -> tuple[Trouble, ...]:
    return tuple(trouble for trouble in document.troubles if (trouble.kind, trouble.subject) != (kind, subject))
