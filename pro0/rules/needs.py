"""The person's needs: the one list that status, board, bar, bell, notices, hooks, `wait` and MCP read.

Each need has an id that changes only with the need: it names the subject and the moment at which the need began. So a
need is announced once, even if leads change, and again only when it is a new one.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.model.ids import HUMAN
from pro0.model.message import Message, MessageType
from pro0.model.need import Need, NeedKind, Picture
from pro0.model.runtime import ENDED, Phase, SeatState, State
from pro0.model.team import Seat
from pro0.rules.lead import turns
from pro0.rules.person import permissions
from pro0.rules.task_needs import (
    IDLE_CLAIM_AFTER,
    idle_claims,
    need_of,
    of_archive,
    of_member,
    of_tasks,
    states,
    untaken,
)
from pro0.rules.tasks.board import Board
from pro0.rules.words.prompts import moment

_WRITTEN = frozenset({MessageType.MESSAGE, MessageType.BROADCAST})
"""Types of messages that an agent or a person wrote."""
_BY_STATE = {
    State.WAITING: NeedKind.PERMISSION,
    State.DIALOG: NeedKind.DIALOG,
    State.ERROR: NeedKind.ERROR,
}
UNPROVEN = timedelta(seconds=30)
"""Time for another machine to say that a session is over there too."""
_ORDER = {kind: place for place, kind in enumerate(NeedKind)}


def needs(picture: Picture) -> tuple[Need, ...]:
    """Return all that needs the person now, the most urgent first."""
    board = Board(picture.tasks.tasks)
    unsorted = [
        *_left_alone(picture),
        *_of_members(picture),
        *_unread_requests(picture),
        *of_tasks(picture, board),
        *of_archive(picture.tasks.archived),
        *untaken(picture, board),
        *_of_money(picture),
        *_mail(picture),
        *_troubles(picture),
    ]
    return tuple(sorted(unsorted, key=lambda need: (_ORDER[need.kind], need.since is None, need.since)))


def next_look(picture: Picture) -> datetime | None:
    """Return the time at which a need may arise by the passing of time alone."""
    due = (at + IDLE_CLAIM_AFTER for at, _, _ in idle_claims(picture, Board(picture.tasks.tasks)))
    return min((at for at in due if at > picture.now), default=None)


def _left_alone(picture: Picture) -> Iterator[Need]:
    if picture.unled:
        sentence = "the lead and every session have died: no work goes on"
        yield need_of(NeedKind.NO_LEAD, HUMAN, sentence, "pro0 team resume", None)
    if picture.suspended:
        sentence = f"the lead is suspended (SIGSTOP, pid {picture.suspended}): it starts, watches and ends nobody"
        yield need_of(NeedKind.NO_LEAD, HUMAN, sentence, f"kill -CONT {picture.suspended}", None)
    if picture.left_alone:
        sentence = "your own agent, which led the team, is gone: you get its mail now"
        yield need_of(NeedKind.OWN_AGENT, HUMAN, sentence, "pro0 inbox", None)


def _of_members(picture: Picture) -> Iterator[Need]:
    for seat, state in states(picture):
        if seat.gate and seat.gate.stage == "handed in" and state.state not in ENDED:
            yield _plan(seat)
        if need := _of_state(seat, state, picture):
            yield _answerable(need, state, picture)
        if need := _out_of_reach(seat, state, picture):
            yield need
    for seat, state in _replaced(picture):
        if need := _may_still_run(seat, state, picture):
            yield need
    for failure in picture.runtime.failures:
        if any((seat.agent_id, seat.generation) == (failure.agent_id, failure.generation) and not seat.task
               for seat in picture.wanted.seats):  # fmt: skip
            sentence, command = (
                f"{failure.agent_id} could not be started: {failure.message}",
                _restarting(failure.agent_id, picture),
            )
            yield of_member(NeedKind.NOT_STARTED, failure.agent_id, sentence, command, failure.at, why=failure.message)


def _plan(seat: Seat) -> Need:
    id = seat.agent_id
    approve, show = f"pro0 member approve-plan {id}", f"pro0 member show {id}"
    at, plan_id = (seat.gate.at, seat.gate.id) if seat.gate else (None, "")
    need = of_member(NeedKind.PLAN, id, f"{id} has handed in its plan", approve, at, look=show)
    return replace(need, request=plan_id)


def _of_state(seat: Seat, state: SeatState, picture: Picture) -> Need | None:
    """Return the need of one session by its state. A crash in a task's session is no need: the failed task is one."""
    id, since = seat.agent_id, state.since
    if state.state is State.CRASHED and not seat.task and not picture.runtime.failed(seat):
        sentence = f"{id} has crashed{_with(state.note)}"
        return of_member(NeedKind.CRASH, id, sentence, _restarting(id, picture), since, why=state.note)
    if state.state is State.UNRESPONSIVE:
        return of_member(
            NeedKind.UNRESPONSIVE, id, f"{id} does not answer", f"pro0 member shutdown {id} --force", since
        )
    if why := turns.need(state.state, state.rule):
        kind = NeedKind.LOST if state.rule == turns.LOST else _BY_STATE[state.state]
        sentence, peek = f"{id} {why}{_with(state.note)}", f"pro0 member peek {id}"
        return of_member(kind, id, sentence, f"pro0 member focus {id}", since, why=state.note, look=peek)
    return None


def _out_of_reach(seat: Seat, state: SeatState, picture: Picture) -> Need | None:
    """Return the need of a session on an unreachable machine: it may still run there, even if it has ended here."""
    id, since = seat.agent_id, state.since
    if state.state is State.UNREACHABLE:
        command = f"pro0 doctor --host {seat.host}" if seat.host else f"pro0 member peek {id}"
        if not state.guard:  # another machine's lead has recorded it
            command = "pro0 host list"
        sentence = f"{id} is out of reach{_with(state.note)}"
        return of_member(NeedKind.UNREACHABLE, id, sentence, command, since, why=state.note)
    return _may_still_run(seat, state, picture)


def _may_still_run(seat: Seat, state: SeatState, picture: Picture) -> Need | None:
    id, since = seat.agent_id, state.since
    if state.incarnation in picture.elsewhere and state.state in ENDED and picture.now - since > UNPROVEN:
        sentence = f"{id} has ended here, and may still run on {seat.host}"
        return of_member(NeedKind.UNREACHABLE, id, sentence, f"pro0 member forget {id}", since)
    return None


def _replaced(picture: Picture) -> Iterator[tuple[Seat, SeatState]]:
    """Yield each seat that is to start anew with the state of its last session: the start may wait for that one."""
    for seat in picture.wanted.seats:
        for state in picture.runtime.seats:
            if state.agent_id == seat.agent_id and state.generation < seat.generation:
                yield seat, state


def _answerable(need: Need, state: SeatState, picture: Picture) -> Need:
    """Return the need of a waiting agent with its request, if the request can be answered from here.

    The need keeps its id, so a dialog is announced once, whether its request is known yet or not. Only a later request
    of the same wait is another need.
    """
    if need.kind is not NeedKind.PERMISSION:
        return need
    own = [entry for entry in picture.requests or () if entry.incarnation == state.incarnation]
    if later := permissions.later_in_wait(own, picture.past, state):
        need = replace(need, id=f"{need.id}:{later.id}")
    if not own:
        return need
    request = own[0]
    about = permissions.summary(request)
    sentence = f"{request.agent_id} waits for a permission: {request.tool}{_with(about)}"
    command, look = f"pro0 member answer {request.id} allow", f"pro0 member answer {request.id}"
    return replace(need, what=sentence, why=about, command=command, look=look, request=request.id)


def _unread_requests(picture: Picture) -> Iterator[Need]:
    if picture.requests is None:
        sentence = "permissions.json cannot be read: an agent may wait for a permission that is not shown"
        yield need_of(NeedKind.PERMISSION, "permissions", sentence, "pro0 doctor", None)


def _restarting(agent_id: str, picture: Picture) -> str:
    """Return the command that starts a member anew: a stopped team refuses a restart, and resumes with all of them."""
    return "pro0 team resume" if picture.runtime.phase is Phase.STOPPED else f"pro0 member restart {agent_id}"


def _of_money(picture: Picture) -> Iterator[Need]:
    if picture.wanted.max_cost:
        yield from _of_cost(picture.spent, picture.wanted.max_cost)
    for pause in picture.runtime.limits:
        if picture.now < pause.until:
            when = f"{'until' if pause.named else 'at least until'} {moment(pause.until)}"
            sentence = f"no new session of {pause.agent} starts {when}: {pause.note}"
            yield need_of(NeedKind.LIMIT, pause.agent, sentence, "pro0 team status", pause.since, why=pause.note)


def _of_cost(spent: float | None, limit: float) -> Iterator[Need]:
    """Yield the need of a reached limit; an unreadable cost is the same need, so it is announced once."""
    sentence = f"the team's cost, limited to ${limit:.2f}, cannot be read: no new session starts"
    command = "pro0 doctor"
    if spent is not None:
        sentence = f"the team has cost about ${spent:.2f} of ${limit:.2f}: no new session starts"
        command = "pro0 team cost --limit USD"
    if spent is None or spent >= limit:
        yield need_of(NeedKind.COST, "team", sentence, command, None, stamp=f"{limit:g}")


def _with(why: str) -> str:
    return f" ({why})" if why else ""


def _mail(picture: Picture) -> Iterator[Need]:
    """Yield one need for each sender, and one for unread notices without a need of their own."""
    written: dict[str, list[Message]] = {}
    notices, exits = [], set(_exits(picture))
    for message in picture.mail:
        if message.type in _WRITTEN:
            written.setdefault(message.from_, []).append(message)
        elif not stands_for_itself(message) or message.id.partition(_ENDED)[0] in exits:
            notices.append(message)
    for sender, letters in written.items():
        newest = letters[-1]
        sentence = f"{_number(len(letters), 'unread message')} from {'you' if sender == HUMAN else sender}"
        stamp = f"{newest.to}-{newest.seq}"
        yield need_of(
            NeedKind.MAIL, sender, sentence, "pro0 inbox", newest.timestamp, stamp=stamp, why=_first_line(newest)
        )
    if notices or picture.older:
        oldest = notices[0].timestamp if notices else None
        sentence, stamp = _number(len(notices) + picture.older, "unread notice"), "" if oldest else "older"
        why = _first_line(notices[-1]) if notices else ""
        yield need_of(NeedKind.MAIL, "pro0", sentence, "pro0 inbox", oldest, stamp=stamp, why=why)


def _exits(picture: Picture) -> Iterator[str]:
    """Yield the sessions that exited on their own without a crash: the notice is the only need of such an end."""
    for seat, state in states(picture):
        if state.state is State.EXITED and not seat.task:
            yield state.incarnation


def _first_line(message: Message) -> str:
    return next(iter(message.content.strip().splitlines()), "")[:200]


def stands_for_itself(message: Message) -> bool:
    """Return True for a notice about something that is, or was, a need of its own."""
    return message.type is MessageType.PLAN_APPROVAL_REQUEST or bool(_OWN_NEEDS.search(message.id))


_ENDED = ":ended:"
_OWN_NEEDS = re.compile(
    r":(ended|waiting|dialog|error|unknown|starting|cost|approved)(:|$)|^task-\d+:\d+:(lead|human)$"
)
"""The ids of such notices. An approved shutdown is one, since the person sees the session end."""


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _troubles(picture: Picture) -> Iterator[Need]:
    for trouble in picture.troubles:
        sentence = _TROUBLES[trouble.kind].format(subject=trouble.subject, why=trouble.why)
        command = f"pro0 needs --seen {trouble.id}"
        yield need_of(trouble.kind, trouble.subject, sentence, command, trouble.at, stamp=trouble.id, why=trouble.why)


_TROUBLES = {
    NeedKind.HOOK: "the hook {subject!r} could not run: {why}",
    NeedKind.NOTICE: "a notice to {subject} failed: {why}",
    NeedKind.WORKTREE: "the worktree of {subject} could not be made ready: {why}",
    NeedKind.LOSSES: "{subject} was repaired, but some of it was lost: {why}",
}
