"""The methods about all teams of a home."""

from collections.abc import Iterable
from contextlib import suppress
from typing import cast

import msgspec

from pro0 import __version__
from pro0.errors import Pro0Error
from pro0.model.caller import THE_HUMAN
from pro0.model.home import Rights
from pro0.ops import verdicts
from pro0.ops.context import Context
from pro0.ops.devices import known
from pro0.ops.devices import revoke as revoke_device
from pro0.ops.team.status import TeamStatus, status
from pro0.rpc.subscriptions import CHANGES, LastSeq, ListChange, LostId, Values
from pro0.rpc.views import Nothing, RpcView
from pro0.web.client import by_device
from pro0.web.home.client import HomeClient, of_home
from pro0.web.home.looking import Looks


class DeviceView(RpcView, frozen=True, kw_only=True):
    """A paired device; `own` is true for the device that asks."""

    id: str
    name: str
    rights: Rights
    paired_at: str
    own: bool = False


class HomeView(RpcView, frozen=True, kw_only=True):
    """The first data of a page; when `pin` is true, every verdict needs the parameter `pin`."""

    version: str
    device: DeviceView
    pin: bool = False


class TeamEntry(RpcView, frozen=True, kw_only=True):
    """A team of the list; a team with unreadable files has only its name and `error`."""

    name: str
    project: str = ""
    mode: str = ""
    phase: str = ""
    paused: bool = False
    lead: str = ""
    """The lead process: running, stopped or gone."""
    members: int = 0
    living: int = 0
    needs: int = 0
    tasks: dict[str, int] = {}
    error: str = ""


class TeamEntries(RpcView, frozen=True, kw_only=True):
    """All teams of the home."""

    teams: tuple[TeamEntry, ...]


class TeamSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and the present teams."""

    id: str
    teams: tuple[TeamEntry, ...]


class TeamChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the present state of a team, or the name of a removed one."""

    team: TeamEntry | None = None
    deleted: str | None = msgspec.field(name="teamName", default=None)


TEAMS = "team.list"
CHANGES[TEAMS] = (TeamChange, "team")


class DeviceViews(RpcView, frozen=True, kw_only=True):
    """All paired devices."""

    devices: tuple[DeviceView, ...]


@of_home("home.show", Rights.LOOK)
def show_home(client: HomeClient) -> HomeView:
    """Return the asking device, and the first data for the page."""
    [own] = [device for device in _devices(client) if device.own]
    return HomeView(version=__version__, device=own, pin=verdicts.has_pin(client.home))


@of_home("team.list", Rights.LOOK)
def list_teams(client: HomeClient) -> TeamEntries:
    """List all teams with their states."""
    return TeamEntries(teams=tuple(_entry(client, name) for name in client.store.names()))


@of_home("team.list.subscribe", Rights.LOOK)
def subscribe_to_teams(client: HomeClient, id: LostId = "", seq: LastSeq = 0) -> TeamSnapshot:
    """Subscribe to the teams: all of them now, then team.list.changed for each change."""

    def source() -> Values[TeamEntry]:
        looks = Looks(lambda name: _entry(client, name), _silent)

        def look() -> dict[str, TeamEntry]:
            names = client.store.names()
            in_databases = looks.latest(name for name in names if _is_in_database(client, name))
            return {name: in_databases[name] if name in in_databases else _entry(client, name) for name in names}

        return Values(look, lambda entry: bool(entry.error) or looks.is_late(entry.name))

    subscription = client.subscribe(TEAMS, source, id, seq)
    return TeamSnapshot(id=subscription.id, teams=tuple(cast("Iterable[TeamEntry]", subscription.first)))


@of_home("team.list.unsubscribe", Rights.LOOK)
def unsubscribe_from_teams(client: HomeClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, TEAMS)
    return Nothing()


@of_home("device.list", Rights.ALL)
def list_devices(client: HomeClient) -> DeviceViews:
    """List the paired devices."""
    return DeviceViews(devices=tuple(_devices(client)))


@of_home("device.revoke", Rights.ALL)
def revoke(client: HomeClient, device: str) -> Nothing:
    """Forget a device, by its id or its name."""
    revoke_device(client.home, device)
    return Nothing()


def _devices(client: HomeClient) -> list[DeviceView]:
    return [
        DeviceView(
            id=device.id,
            name=device.name,
            rights=device.rights,
            paired_at=device.paired_at.isoformat(),
            own=device.id == client.device.id,
        )
        for device in known(client.home).devices
    ]


def _silent(name: str) -> TeamEntry:
    return TeamEntry(name=name, error="its database has not answered yet")


def _is_in_database(client: HomeClient, name: str) -> bool:
    with suppress(Pro0Error):  # its entry says what is wrong
        return client.store.team(name).documents.database is not None
    return False


def _entry(client: HomeClient, name: str) -> TeamEntry:
    try:
        team_status: TeamStatus = status(Context(client.store.team(name).require(), THE_HUMAN, vouch=by_device))
    except Pro0Error as error:
        return TeamEntry(name=name, error=error.message)
    return TeamEntry(
        name=name,
        project=team_status.project,
        mode=team_status.mode,
        phase=team_status.phase,
        paused=team_status.paused,
        lead=team_status.lead.state,
        members=len(team_status.members),
        living=sum(member.lives for member in team_status.members),
        needs=len(team_status.attention),
        tasks=team_status.tasks,
    )
