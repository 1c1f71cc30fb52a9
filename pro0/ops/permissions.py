"""Permissions: the requests of agents, the person's answers, and their outcomes."""

import time
from collections.abc import Mapping

from pro0 import processes
from pro0.errors import BadInput, ErrorCode, Pro0Error, Refused, TimedOut
from pro0.model.caller import HUMAN_ONLY, IN_CHARGE, LEAD_ONLY, Who
from pro0.model.need import (
    INPUT_LIMIT,
    AskedPermission,
    Choice,
    Outcome,
    PermissionAnswer,
    PermissionRequest,
)
from pro0.model.runtime import SeatState
from pro0.ops.context import Context, operation
from pro0.rules import text
from pro0.rules.person import permissions
from pro0.store.teams import TeamStore

PATIENCE = 15.0
"""Seconds for an agent to take the answer to its request."""
PAUSE = 0.05
"""Seconds between two looks at the request."""
_SESSIONS = frozenset({Who.MEMBER, Who.LEAD_AGENT})
_DAMAGED = frozenset({ErrorCode.STORE_CORRUPT, ErrorCode.UNSAFE_PATH, ErrorCode.NEWER_SCHEMA})


@operation("permission.ask", _SESSIONS)
def ask(context: Context, asked: AskedPermission) -> PermissionRequest:
    """Put a request of this session before the person; raises BadInput for an input too long to be shown whole."""
    return _ask(context, context.caller.agent_id, context.caller.incarnation, asked)


@operation("permission.relay", LEAD_ONLY)
def relay(context: Context, state: SeatState, asked: AskedPermission) -> PermissionRequest:
    """Put a request from an agent's own server before the person."""
    return _ask(context, state.agent_id, state.incarnation, asked)


@operation("permission.answer", HUMAN_ONLY, verdict=True)
def answer(context: Context, id: str, choice: Choice, said: str = "") -> PermissionRequest:
    """Answer a request; raises Refused when it was answered already, is over, or nobody waits for it."""
    said = text.checked(said, "text", text.REASON_LIMIT)
    verdict = PermissionAnswer(choice=choice, text=said, by=context.caller.agent_id, at=context.now())
    with context.team.require().permissions.change("answer a request") as change:
        change.value = permissions.answered(change.value, id, verdict)
        request = permissions.found(change.value, id)
        if is_unheard(request, context.team.machine):
            raise Refused(f"nobody waits for the answer to request {id} of {request.agent_id}", code=ErrorCode.DECIDED)
    _log(context, "answer", request, choice=choice)
    return request


@operation("permission.settle", _SESSIONS | LEAD_ONLY)
def settle(context: Context, outcomes: Mapping[str, Outcome]) -> None:
    """Record the outcomes of requests, by id; a session settles only its own.

    While a session ends, the outcome "elsewhere" is not recorded: its dialog disappears, but nobody answered it there.
    """
    team = context.team.require()
    ending = _ending(team) if "elsewhere" in outcomes.values() else set[str]()
    with team.permissions.change("settle a request") as change:
        requests = {id: permissions.found(change.value, id) for id in outcomes}
        mine = {
            id: outcomes[id]
            for id, request in requests.items()
            if _may(context, request) and not (outcomes[id] == "elsewhere" and request.incarnation in ending)
        }
        before, change.value = change.value, permissions.settled(change.value, mine)
    over = {request.id for request in before.requests if not request.outcome}
    for request in change.value.requests:
        if request.id in over and request.outcome:
            _log(context, request.outcome, request)


@operation("permission.list", IN_CHARGE, changes=False)
def list_requests(context: Context) -> tuple[PermissionRequest, ...]:
    """Return the requests that wait for the person's answer, the oldest first."""
    return waiting(context.team.require())


@operation("permission.show", _SESSIONS | HUMAN_ONLY, changes=False)
def show(context: Context, id: str) -> PermissionRequest:
    """Return one request, open or over; a session sees only its own."""
    request = permissions.found(context.team.require().permissions.read(), id)
    return request if _may(context, request) else permissions.found(permissions.NONE, id)


def waiting(team: TeamStore) -> tuple[PermissionRequest, ...]:
    """Return the requests that the person can answer now, the oldest first."""
    return waiting_and_past(team)[0]


def waiting_and_past(team: TeamStore) -> tuple[tuple[PermissionRequest, ...], tuple[PermissionRequest, ...]]:
    """Return the requests that the person can answer now, and the other stored requests; the oldest first."""
    document = team.permissions.read()
    requests = tuple(entry for entry in permissions.unanswered(document) if not is_unheard(entry, team.machine))
    return requests, tuple(entry for entry in document.requests if entry not in requests)


def readable_requests(
    team: TeamStore,
) -> tuple[tuple[PermissionRequest, ...] | None, tuple[PermissionRequest, ...]]:
    """Return the result of `waiting_and_past`; while the file is damaged, None and no other requests.

    An error of the disk is raised, since it may pass.
    """
    try:
        return waiting_and_past(team)
    except Pro0Error as error:
        if error.code not in _DAMAGED:
            raise
    return None, ()


def is_unheard(request: PermissionRequest, machine: str) -> bool:
    """Return True if the process of this machine that waited for the answer is gone; the outcome shows later."""
    return request.asker is not None and request.machine == machine and not processes.alive(request.asker)


def wait_until_taken(context: Context, given: PermissionRequest) -> PermissionRequest:
    """Wait until the agent has taken an answer; raises Refused for any other outcome, TimedOut for no outcome.

    The answer stays: an agent that is slow to take it may do so later.
    """
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        request = permissions.found(context.team.permissions.read(), given.id)
        if request.outcome == "taken":
            return request
        if request.outcome:
            why = permissions.over_in_words(request)
            raise Refused(f"the answer came too late, the request is {why}", code=ErrorCode.DECIDED)
        time.sleep(PAUSE)
    hint = f"look: pro0 member peek {given.agent_id}"
    raise TimedOut(f"{given.agent_id} has not taken the answer in {PATIENCE:.0f} s", hint=hint)


def _may(context: Context, request: PermissionRequest) -> bool:
    return context.caller.who not in _SESSIONS or context.caller.incarnation == request.incarnation


def _ending(team: TeamStore) -> set[str]:
    return {seat.incarnation for seat in team.runtime.read().seats if permissions.is_ending(seat)}


def _ask(context: Context, agent_id: str, incarnation: str, asked: AskedPermission) -> PermissionRequest:
    tool = text.one_line(asked.tool, "tool")
    if len(asked.input) > INPUT_LIMIT:
        raise BadInput(f"an input of {len(asked.input)} characters cannot be shown whole")
    request = PermissionRequest(
        id=permissions.request_id(agent_id, incarnation, asked.key, tool, asked.input),
        agent_id=agent_id,
        incarnation=incarnation,
        tool=tool,
        input=asked.input,
        key=asked.key,
        choices=asked.choices,
        at=context.now(),
        asker=asked.asker,
        machine=context.team.machine,
    )
    with context.team.require().permissions.change("ask for a permission") as change:
        change.value = permissions.asked(change.value, request)
        request = permissions.found(change.value, request.id)
    _log(context, "ask", request)
    return request


def _log(context: Context, act: str, request: PermissionRequest, **more: str) -> None:
    details = {"agent": request.agent_id, "request": request.id, "tool": request.tool, **more}
    context.team.log_event(context.now(), context.caller.agent_id, f"permission.{act}", **details)
