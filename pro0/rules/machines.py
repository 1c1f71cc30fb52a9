"""A team that several machines share: each lead records its own sessions, and readers see all of them as one record.

What a record of another machine names is not on this one: no process of it, no pane. So these are left out, and every
look at processes takes such a session for one of which nothing is known.
"""

from collections.abc import Collection, Mapping
from itertools import chain

from msgspec.structs import replace

from pro0.model.runtime import ENDED, Phase, Runtime, SeatState, State


def whole(own: Runtime, others: Mapping[str, Runtime], present: Collection[str]) -> Runtime:
    """Return the record of a whole team, from that of this machine and those of others by their names.

    A session on a machine that is not `present` is unreachable, since nothing says that it has ended.
    """
    if not others:
        return own
    records = (own, *others.values())
    counting = [record for name, record in others.items() if name in present or _has_living(record)]
    elsewhere = chain.from_iterable(_sessions(other, name, name in present) for name, other in others.items())
    return replace(
        own,
        phase=_phase({own.phase, *(record.phase for record in counting)}),
        seats=_newest((*own.seats, *elsewhere)),
        failures=tuple(chain.from_iterable(record.failures for record in records)),
        refusals=tuple(chain.from_iterable(record.refusals for record in records)),
        limits=tuple(chain.from_iterable(record.limits for record in records)),
    )


def _sessions(record: Runtime, machine: str, is_present: bool) -> list[SeatState]:
    unknown = [replace(state, guard=None, agent=None, handle=None) for state in record.seats]
    if is_present:
        return unknown
    note = f"{machine or record.lead_machine} takes no part at present"
    return [s if s.state in ENDED else replace(s, state=State.UNREACHABLE, note=note) for s in unknown]


def _newest(states: tuple[SeatState, ...]) -> tuple[SeatState, ...]:
    """Return one state for each member, the newest: a member may have been on another machine before."""
    newest: dict[str, SeatState] = {}
    for state in states:
        known = newest.get(state.agent_id)
        if known is None or state.generation > known.generation:
            newest[state.agent_id] = state
    return tuple(newest.values())


def _has_living(record: Runtime) -> bool:
    return any(state.state not in ENDED for state in record.seats)


def _phase(phases: Collection[Phase]) -> Phase:
    if len(set(phases)) == 1:
        return next(iter(phases))
    return Phase.RUNNING if Phase.RUNNING in phases else Phase.STOPPING
