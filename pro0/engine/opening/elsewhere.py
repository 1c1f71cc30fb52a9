"""Sessions with agents on other machines: the requests to a machine, and the session at home behind them."""

import uuid
from pathlib import Path

from msgspec.structs import replace

from pro0 import resources, ssh
from pro0.agents import first_prompt
from pro0.agents.adapter import Adapter, Brief
from pro0.agents.there import SAID
from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Hosted, Launch, SeatState, State
from pro0.ops.context import AGENT_ID, TEAM
from pro0.ops.identity import HOSTED
from pro0.ops.work import travelling
from pro0.store.files import File
from pro0.store.teams import TeamStore

MORE = 10.0
"""Seconds that a session at home may take to end beyond the grace of its agent."""


def brief_there(brief: Brief) -> Brief:
    """Return the brief for another machine. It names no file of this machine, and no values of variables."""
    names = dict.fromkeys((HOSTED, TEAM, AGENT_ID), "")
    return replace(brief, folder=f"${HOSTED}", cwd="", project="", environment=names, pro0=("pro0",), mailbox="")


def earlier_conversation(adapter: Adapter, state: SeatState) -> str:
    """Return the conversation to resume, "" for none. Only the agent's machine knows whether it still exists."""
    return state.session if adapter.session_ids != "none" else ""


def linked(
    team: TeamStore, adapter: Adapter, brief: Brief, launch: Launch, command: str, earlier: str
) -> tuple[Hosted, Launch]:
    """Return the request to a seat's machine, and the launch at home; `command` is the ssh that reaches the machine.

    Raises EnvironmentMissing for a first prompt that only a file could carry.
    """
    seat = brief.seat
    if first_prompt.is_long(brief.prompt):
        limit = f"{first_prompt.IN_ARGV // 1024} KiB"
        hint = "shorten its prompt, or its role's; send the rest as a message"
        raise EnvironmentMissing(f"the first prompt is too long for another machine: at most {limit}", hint=hint)
    if hosted := _begun_before(team, launch.incarnation):
        _clear(team, launch)
        return hosted, _link(team, hosted, launch)
    going_on = replace(brief_there(brief), session=earlier, resume=True, prompt="")
    hosted = Hosted(
        agent_id=seat.agent_id,
        incarnation=launch.incarnation,
        there=str(uuid.uuid4()),
        host=ssh.host(seat.host),
        ssh=command,
        team=team.name,
        project=team.config.read().project,
        argv=launch.argv,
        first_state=launch.first_state,
        grace=launch.grace,
        passes=tuple(adapter.passes),
        code=travelling.name(team, seat) if travelling.travels(seat) else "",
        agent=adapter.name,
        conversation=brief.session,
        prompt=brief.prompt,
        earlier=earlier,
        earlier_argv=adapter.call(going_on).argv if earlier else (),
    )
    return hosted, _link(team, hosted, launch)


def _begun_before(team: TeamStore, incarnation: str) -> Hosted | None:
    """Return the request for a session that began before this machine restarted, None for a new session."""
    hosted = team.hosted(incarnation)
    if hosted and (hosted.again or team.report(incarnation)):
        return replace(hosted, again=True)
    return None


def _clear(team: TeamStore, launch: Launch) -> None:
    """Remove what this machine kept of a session before it restarted: its terminal, and its agent's last state."""
    for file in (
        Path(launch.terminal.socket) if launch.terminal else None,
        team.paths.sessions / launch.incarnation / SAID,
    ):
        if file:
            file.unlink(missing_ok=True)


def _link(team: TeamStore, hosted: Hosted, launch: Launch) -> Launch:
    argv = resources.link_argv(_place(team, hosted.incarnation))
    return replace(launch, argv=argv, first_state=State.STARTING, grace=launch.grace + MORE)


def write(team: TeamStore, hosted: Hosted) -> None:
    """Write the request to disk before anything can begin there.

    From now on the session counts as running there until that machine says otherwise.
    """
    place = _place(team, hosted.incarnation)
    File(place.parent, place.name, Hosted).create(hosted)


def _place(team: TeamStore, incarnation: str) -> Path:
    return team.paths.sessions / team.paths.hosted(incarnation)
