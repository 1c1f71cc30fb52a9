"""The holder of a token, found by its hash, for a program without a guard."""

from pathlib import Path

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model import ids
from pro0.model.runtime import ENDED, Runtime
from pro0.model.team import Grant
from pro0.rules import text
from pro0.store.teams import Store, TeamStore


def holder(home: Path, token: str, team_name: str | None, hint: str) -> tuple[str, str, str]:
    """Return the team, incarnation and agent id of a token; raises Refused for a wrong or expired one.

    With `team_name`, only that team's grants count.
    """
    team, grant = _grant_of(home, digest(token), team_name, hint)
    if not valid(grant, team.runtime.read()):
        text = f"this grant has expired: it was for an earlier session of {grant.agent_id}"
        raise Refused(text, code=ErrorCode.INVALID_GRANT, hint=hint)
    return team.name, grant.incarnation, grant.agent_id


def valid(grant: Grant, runtime: Runtime) -> bool:
    """Return True while the grant's session is the member's present one."""
    state = runtime.session(grant.incarnation)
    return state is not None and state.agent_id == grant.agent_id and state.state not in ENDED


def digest(token: str) -> str:
    """Return the hash stored for a token."""
    return text.digest(token.encode(errors="surrogateescape"))


def _grant_of(home: Path, token_hash: str, team_name: str | None, hint: str) -> tuple[TeamStore, Grant]:
    store = Store(home)
    try:
        names = [ids.team_name(team_name)] if team_name else store.names()
    except BadInput:
        names = []
    for team in filter(TeamStore.exists, map(store.team, names)):
        for grant in team.wanted.read().grants:
            if grant.hash == token_hash:
                return team, grant
    where = team_name or "this home"
    raise Refused(f"{where} has no such grant, or it was revoked", code=ErrorCode.INVALID_GRANT, hint=hint)
