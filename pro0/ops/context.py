"""The caller, the team and the tools of an operation: the store, a clock, new ids."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, NotFound, Refused, StoreError
from pro0.model import ids
from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller, Who
from pro0.model.ids import LEAD
from pro0.model.runtime import ENDED
from pro0.ops.identity import AGENT_ID as AGENT_ID
from pro0.ops.identity import IDENTITY as IDENTITY
from pro0.ops.identity import INCARNATION as INCARNATION
from pro0.ops.identity import MEMBER_OF as MEMBER_OF
from pro0.ops.identity import PARENT_TASK_ID as PARENT_TASK_ID
from pro0.ops.identity import TASK_ID as TASK_ID
from pro0.ops.identity import TEAM as TEAM
from pro0.ops.identity import TEAM_UID as TEAM_UID
from pro0.ops.identity import hidden, session_of
from pro0.rules.words import acts
from pro0.store.teams import TeamStore

P = ParamSpec("P")
R = TypeVar("R")

UNUSABLE = (StoreError, EnvironmentMissing, NotFound)
"""Errors of an unusable document: a disk error or damage, a link in its place, or a missing folder."""
Vouch = Callable[[Path, Callable[[], Path], str], None]
"""A check of a person's verdict: takes home, project and act; raises Refused unless a person gives it."""


def in_process(_home: Path, _project: Callable[[], Path], _act: str) -> None:
    """Accept every verdict; for calls inside pro0's own programs."""


def nobody(_home: Path, _project: Callable[[], Path], act: str) -> None:
    """Refuse every verdict; for surfaces where agents speak and no person does."""
    raise Refused(
        f"only a person may {acts.act(act)}, and only agents call here",
        code=ErrorCode.NOT_ALLOWED,
        hint="do it in a terminal",
    )


def clock() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def zone(name: str) -> tzinfo | None:
    """Return a time zone by its name; "" is the present zone of this machine. None for an unknown zone."""
    from zoneinfo import ZoneInfo  # start-up time

    if not name:
        return datetime.now().astimezone().tzinfo
    try:
        return UTC if name in ("UTC", "GMT") else ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None


def new_id() -> str:
    """Return a new random id."""
    return str(uuid.uuid4())


class Context(msgspec.Struct, frozen=True):
    """One caller's view of one team."""

    team: TeamStore
    caller: Caller
    now: Callable[[], datetime] = clock
    new_id: Callable[[], str] = new_id
    vouch: Vouch = in_process
    """The check of a person's verdict; calls from outside choose a stricter one."""
    shown: str = ""
    """The digest of the task as the caller was shown it, "" for none: a task that differs by now is not changed."""

    names_shown: bool = False
    """True when a verdict about a task counts only with `shown` (behaviour 5.11)."""

    def person(self, act: str, *, about_task: bool = False) -> None:
        """Raise Refused for a human's unproven verdict; other callers are judged by their permissions.

        `about_task` marks an act about a task whose name does not begin with `task.`.
        """
        if self.caller.who is Who.HUMAN:
            if self.names_shown and not self.shown and (about_task or act.startswith("task.")):
                text = f"to {acts.act(act)}, give the digest of the task that was shown"
                raise BadInput(text, hint='pass the "digest" of the task as "shown"')
            self.vouch(self.team.paths.home, self._project, act)

    def _project(self) -> Path:
        return Path(self.team.require().config.read().project)


class Operation(msgspec.Struct, frozen=True):
    """One row of the table of operations."""

    name: str
    by: frozenset[Who]
    changes: bool
    summary: str
    function: Callable[..., object]
    """The function with a check of its caller: it takes the context, then its own parameters."""
    verdict: bool = False
    """True when it is a person's verdict, given on a terminal (behaviour 5.3)."""


OPERATIONS: dict[str, Operation] = {}
"""Every operation, by name; the noun modules of this package fill it, `catalog` imports them all."""


def operation(
    name: str, by: frozenset[Who], *, changes: bool = True, verdict: bool = False
) -> Callable[[Callable[Concatenate[Context, P], R]], Callable[Concatenate[Context, P], R]]:
    """Enter a function into the table; a caller outside `by`, or of an ended session, is refused."""

    def enter(function: Callable[Concatenate[Context, P], R]) -> Callable[Concatenate[Context, P], R]:
        summary = (function.__doc__ or "").splitlines()[0]

        @wraps(function)
        def checked(context: Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
            _permit(context, OPERATIONS[name])
            return function(context, *args, **kwargs)

        OPERATIONS[name] = Operation(name, by, changes, summary, checked, verdict)
        return checked

    return enter


@contextmanager
def already(done: str) -> Iterator[None]:
    """Add to an UNUSABLE error a note of the change made before it."""
    try:
        yield
    except UNUSABLE as error:
        raise type(error)(f"partly done: {done}; {error.message}", code=error.code, hint=error.hint) from error


def lead_context(team: TeamStore) -> Context:
    """Return the context of the lead process."""
    return Context(team, THE_LEAD)


def caller_of(environment: Mapping[str, str], home: Path, pid: int | None = None) -> tuple[Caller, str | None]:
    """Return the caller that a process is, and a member's team; raises Refused for an unproven or hidden identity.

    The process is this one, or with `pid` another process visible to this one.
    """
    session = session_of(environment, home, pid)
    if session is None:
        if hidden(home):
            text = "the caller cannot be identified: this process and the lead are in different process namespaces"
            raise Refused(text, code=ErrorCode.IDENTITY_UNPROVEN, hint="run it in the namespace of the lead")
        return THE_HUMAN, None
    team, incarnation, agent = session
    return _member(agent, incarnation), _checked(TEAM, ids.team_name, team) if team else None


def _member(agent: str, incarnation: str) -> Caller:
    if agent == LEAD:
        return Caller(Who.LEAD_AGENT, agent, _checked(INCARNATION, ids.incarnation, incarnation))
    agent = _checked(AGENT_ID, ids.agent_id, agent)
    return Caller(Who.MEMBER, agent, _checked(INCARNATION, ids.incarnation, incarnation))


def _checked(variable: str, gate: Callable[[str], str], value: str) -> str:
    """Check a variable of a member's environment; raises BadInput, since the value becomes a path."""
    try:
        return gate(value)
    except BadInput as error:
        hint = "pro0 sets it for members; as a person, unset it"
        raise BadInput(f"{variable}: {error.message}", code=ErrorCode.BAD_IDENTITY, hint=hint) from None


def _permit(context: Context, operation: Operation) -> None:
    caller = context.caller
    if caller.who not in operation.by:
        hint = 'to act as a member: eval "$(pro0 member env NAME)", then try again' if caller.who is Who.HUMAN else None
        who = "you" if caller.who is Who.HUMAN else caller.agent_id
        text = acts.not_allowed(who, operation.name, operation.by)
        raise Refused(text, code=ErrorCode.NOT_ALLOWED, hint=hint)
    if operation.changes and caller.who in (Who.MEMBER, Who.LEAD_AGENT):
        require_living(context)
    if operation.verdict:
        context.person(operation.name)


def require_living(context: Context) -> None:
    """Raise Refused for an ended or replaced session."""
    caller = context.caller
    if caller.who is Who.LEAD_AGENT and (outside := context.team.require().wanted.read().outside):
        if outside.incarnation == caller.incarnation:
            return
        raise Refused(f"another agent leads {context.team.name} now", code=ErrorCode.STALE_SESSION)
    for seat in context.team.require().runtime.read().seats:
        if seat.agent_id == caller.agent_id:
            if seat.incarnation == caller.incarnation and seat.state not in ENDED:
                return
            raise Refused(f"this session of {caller.agent_id} has ended", code=ErrorCode.STALE_SESSION)
    raise Refused(f"{caller.agent_id} is not a member of {context.team.name}", code=ErrorCode.NOT_MEMBER)
