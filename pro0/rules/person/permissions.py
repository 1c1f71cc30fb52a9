"""Requests for permission: one id for one question, one answer, one outcome (behaviour 3.28).

The laws: an answer belongs to one request of one session, known by the digest of all that it asks, never to a later
one. The first answer counts. Nothing but a person answers, and no time-out does.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from pro0.decoding import decode
from pro0.errors import BadInput, ErrorCode, NotFound, Refused
from pro0.model.need import Choice, Outcome, PermissionAnswer, PermissionRequest, PermissionRequests
from pro0.model.runtime import ENDED, SeatState, State
from pro0.rules import text

KEPT = 20
"""The number of newest finished requests kept."""
OPEN = 64
"""The most requests of one session open at once."""
DRAWN = timedelta(seconds=3)
"""Time for a dialog to be drawn. Only after it does another state of the agent mean that the dialog is over."""

SUMMARY = 200
"""The most characters of an input in one line."""
_ASIDE = frozenset({"description", "timeout", "run_in_background"})
"""Fields that change nothing about what is done."""
CUT = "…"
"""The mark at the end of an incomplete line."""
_TELLING = ("command", "file_path", "filepath", "path", "url", "pattern", "query")
"""Fields of an input that say what it does, the most telling first."""
GONE = timedelta(seconds=3)
"""Time for the end of a session to show, after the process that waited there for an answer has gone."""
HANDED_OVER = timedelta(seconds=30)
"""Time to report the outcome of an answer that is being handed over; the agent may go on before the report."""
NONE = PermissionRequests()


def request_id(agent_id: str, incarnation: str, key: str, tool: str, whole_input: str) -> str:
    """Return the id of a request: the digest of all that it asks."""
    parts = "\0".join((agent_id, incarnation, key, tool, whole_input))
    return text.digest(parts.encode("utf-8", "surrogatepass"))[:12]


def asked(document: PermissionRequests, request: PermissionRequest) -> PermissionRequests:
    """Return the document with a request added; a request already in it stays as it is."""
    if any(entry.id == request.id for entry in document.requests):
        return document
    if len([entry for entry in open_requests(document) if entry.incarnation == request.incarnation]) >= OPEN:
        raise Refused(f"{request.agent_id} has {OPEN} open requests already", code=ErrorCode.CONFLICT)
    return _kept(document, (*document.requests, request))


def answered(document: PermissionRequests, id: str, answer: PermissionAnswer) -> PermissionRequests:
    """Return the document with an answer; raises Refused for a request that is over or answered."""
    request = found(document, id)
    if over := over_in_words(request):
        raise Refused(f"request {id} of {request.agent_id} is {over}", code=ErrorCode.DECIDED)
    if answer.choice not in request.choices:
        offered = ", ".join(request.choices)
        raise BadInput(f"{request.agent_id} does not offer {answer.choice}", hint=f"it offers: {offered}")
    if answer.text and answer.choice is not Choice.DENY:
        raise BadInput("only deny takes a text: no agent accepts one with a yes", hint="send a message: pro0 send")
    return _with(document, replace(request, answer=answer))


def settled(document: PermissionRequests, outcomes: Mapping[str, Outcome]) -> PermissionRequests:
    """Return the document with the outcomes of requests, by id; an outcome is final."""
    for request in open_requests(document):
        if outcome := outcomes.get(request.id):
            nothing_to_take = outcome == "taken" and not request.answer
            document = _with(document, replace(request, outcome="elsewhere" if nothing_to_take else outcome))
    return _kept(document, document.requests)


def open_requests(document: PermissionRequests) -> tuple[PermissionRequest, ...]:
    """Return the requests without an outcome, the oldest first."""
    return tuple(request for request in document.requests if not request.outcome)


def unanswered(document: PermissionRequests) -> tuple[PermissionRequest, ...]:
    """Return the requests that the person can answer now."""
    return tuple(request for request in open_requests(document) if not request.answer)


def found(document: PermissionRequests, id: str) -> PermissionRequest:
    """Return the request of this id; raises NotFound when there is none."""
    request = next((entry for entry in document.requests if entry.id == id), None)
    if request is None:
        raise NotFound(f"there is no request {text.visible(id)[:64]}", hint="what is asked: pro0 needs")
    return request


def fate(
    request: PermissionRequest, seat: SeatState | None, ended: bool, now: datetime, *, unheard: bool = False
) -> Outcome:
    """Return the outcome of an open request, "" while it may stay open; `unheard` means nobody waits for its answer."""
    if seat is None or ended:
        return "ended"
    if is_ending(seat):
        return ""
    if unheard:
        return "elsewhere"
    patience = HANDED_OVER if request.answer else DRAWN
    if seat.state in (State.WAITING, State.UNKNOWN, State.UNREACHABLE) or now < max(request.at, seat.since) + patience:
        return ""
    return "elsewhere"


def later_in_wait(
    open_requests: Sequence[PermissionRequest], past: Iterable[PermissionRequest], state: SeatState
) -> PermissionRequest | None:
    """Return the present or last request of a session's wait, None when it is the first request of this wait.

    `open_requests` are the requests of the session that can be answered. For a request answered elsewhere only the time
    of the question is known, which may be before its dialog was seen.
    """
    answered = [
        entry
        for entry in past
        if entry.incarnation == state.incarnation
        and (entry.answer.at >= state.since if entry.answer else entry.at >= state.since - DRAWN)
    ]
    if not (requests := [*open_requests, *answered]):
        return None
    current = (
        open_requests[0]
        if open_requests
        else max(answered, key=lambda entry: entry.answer.at if entry.answer else entry.at)
    )
    return None if current is min(requests, key=lambda entry: entry.at) else current


def is_ending(seat: SeatState) -> bool:
    """Return True for a session ending or ended: its dialogs go with it, so a missing one does not mean an answer."""
    return seat.state in (State.STOPPING, *ENDED)


def summary(request: PermissionRequest) -> str:
    """Return a request in one line: its command, file or address; an incomplete line ends with CUT."""
    fields = _fields(request.input)
    telling = next((name for name in _TELLING if isinstance(fields.get(name), str)), "")
    words = str(fields[telling]) if telling else request.input
    line = text.visible(" ".join(words.split()))
    more = set(fields) - {telling, *_ASIDE} if telling else set()
    whole = len(line) <= SUMMARY and not more and len(words.strip().splitlines()) <= 1
    return line if whole else f"{line[: SUMMARY - 2].rstrip()} {CUT}"


def _fields(written: str) -> dict[str, object]:
    try:
        return decode(written, dict[str, object])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}


def over_in_words(request: PermissionRequest) -> str:
    """Return in words why a request takes no more answers, "" for a request that waits for one."""
    if request.outcome == "elsewhere":
        return "over: it was answered where the agent asked"
    if request.outcome == "ended":
        return "over: its session has ended"
    return f"answered: {request.answer.choice}" if request.answer else ""


def _with(document: PermissionRequests, request: PermissionRequest) -> PermissionRequests:
    requests = tuple(request if entry.id == request.id else entry for entry in document.requests)
    return replace(document, requests=requests)


def _kept(document: PermissionRequests, requests: tuple[PermissionRequest, ...]) -> PermissionRequests:
    past = [entry.id for entry in requests if entry.outcome][:-KEPT]
    return replace(document, requests=tuple(entry for entry in requests if entry.id not in past))
