"""Join a team that another machine made and a database keeps: make this machine's own folder of it."""

from contextlib import suppress
from typing import TYPE_CHECKING

from pro0.errors import ErrorCode, Refused, StoreError
from pro0.model.runtime import Runtime
from pro0.model.team import Environment, Share, StorePointer
from pro0.store import atomic
from pro0.store.database.pointer import in_database
from pro0.store.database.sharing import record_in
from pro0.store.files import File, make_folder
from pro0.store.paths import ENVIRONMENT, NEW, STORE, record_of
from pro0.store.places.folder import late, refuse_leftovers
from pro0.store.teams import Store, TeamStore

if TYPE_CHECKING:
    from pro0.store.database.documents import DatabaseDocuments


def join(store: Store, name: str, url: str, share: Share, environment: Environment) -> TeamStore:
    """Let this machine take part in a team; raises NotFound for an unknown team, Refused for a taken name.

    The folder is made whole or not at all. After a kill, the machine's name may stay taken in the database.
    """
    team = store.team(name)
    with suppress(StoreError):
        store.sweep()  # a killed start may have left rows of that name, which are not a team
    with store.changing(f"join team {name}"):
        if team.exists():
            text, hint = f"there is a team {name} already, on this machine", f"pro0 host list -t {name}"
            raise Refused(text, code=ErrorCode.CONFLICT, hint=hint)
        refuse_leftovers(team.paths)
        uid = in_database(store.home, name, url).uid()
        documents = in_database(store.home, name, url, uid)
        new = team.paths.team.with_name(f"{NEW}{name}")
        for folder in (new, new / team.paths.sessions.name, new / team.paths.logs.name):
            make_folder(folder)
        File(new, STORE, StorePointer).create(StorePointer(url=url, uid=uid, share=share))
        File(new, ENVIRONMENT, Environment).create(environment)
        _sign_up(documents, share)
        try:
            new.rename(team.paths.team)
        except OSError:
            _sign_off(documents, share.machine)
            raise
        with late("a power loss may undo it"):
            atomic.sync(team.paths.team.parent)
    return store.team(name)


def _sign_up(documents: "DatabaseDocuments", share: Share) -> None:
    """Make the machine's record; raises Refused when one exists already."""
    machine = share.machine
    with documents.team.locked(f"{machine} joins") as opened:
        if opened.holds(record_of(machine)):
            hint = "choose another name: --as NAME; or give that one up: pro0 host leave --machine NAME"
            raise Refused(f"a machine called {machine} takes part already", code=ErrorCode.CONFLICT, hint=hint)
        record_in(documents.team, machine).write(opened, Runtime(joined=share.joined))


def _sign_off(documents: "DatabaseDocuments", machine: str) -> None:
    with suppress(StoreError), documents.team.locked(f"{machine} does not join") as opened:
        documents.drop_record(opened, machine)
