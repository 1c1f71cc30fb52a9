"""The holder of a token, found by its hash, for a program without a guard."""

from hashlib import sha256
from pathlib import Path

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model import ids
from pro0.model.runtime import ENDED, Runtime
from pro0.model.team import Grant
from pro0.store.teams import Store, TeamStore


def holder(home: Path, token: str, named: str | None, hint: str) -> tuple[str, str, str]:
    """Return the team, incarnation and agent id of a token; raises Refused for a wrong or expired one.

    With a `named` team, only that team's grants count.
    """
    team, grant = _found(home, digest(token), named, hint)
    if not valid(grant, team.runtime.read()):
        what = f"this grant is over: it was for an earlier session of {grant.agent_id}"
        raise Refused(what, code=ErrorCode.INVALID_GRANT, hint=hint)
    return team.name, grant.incarnation, grant.agent_id


def valid(grant: Grant, runtime: Runtime) -> bool:
    """Return True while the grant's session is the member's present one."""
    state = runtime.session(grant.incarnation)
    return state is not None and state.agent_id == grant.agent_id and state.state not in ENDED


def digest(token: str) -> str:
    """Return the hash stored for a token."""
    return sha256(token.encode(errors="surrogateescape")).hexdigest()


def _found(home: Path, kept: str, named: str | None, hint: str) -> tuple[TeamStore, Grant]:
    store = Store(home)
    try:
        names = [ids.team_name(named)] if named else store.names()
    except BadInput:
        names = []
    for team in filter(TeamStore.exists, map(store.team, names)):
        for grant in team.wanted.read().grants:
            if grant.hash == kept:
                return team, grant
    where = f"of {named}" if named else "of this home"
    raise Refused(f"this grant is none {where}, or was revoked", code=ErrorCode.INVALID_GRANT, hint=hint)
