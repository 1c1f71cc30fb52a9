"""Rate limits: how long no new session of an agent starts, judged by its members' errors.

`renewed` is a function of the known limits and the present readings, never of an event. The same error, seen again,
changes nothing. Its laws:

1. Only an error that began after the last hold counts as another one; each doubles the hold, up to a bound.
2. An end named by the error counts before any guess, within reason.
3. A turn that ended well after the error ends the hold.
4. A limit applies to one machine, as a login does: errors of an agent on another machine hold back no session here.
5. A member stopped by such an error is told once to go on, after the end named by the provider.
"""

from collections.abc import Iterable
from datetime import timedelta

from msgspec.structs import replace

from pro0.model.decision import Seen, Snapshot, Tell
from pro0.model.ids import LEAD
from pro0.model.runtime import RateLimit, Runtime, State
from pro0.model.team import placed
from pro0.rules.lead.plan import MEMORY, Plan, View
from pro0.rules.screens.rate_limits import is_limit, named_end
from pro0.rules.words import prompts

FIRST = timedelta(seconds=30)
"""Length of the first hold when the error names no end."""
LONGEST = timedelta(minutes=10)
"""Longest hold without a named end; after the same time without a hold, the next hold has the length FIRST again."""


def renewed(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with its rate limits updated from the present readings."""
    limits = {limit.agent: _as_of_now(snapshot, limit) for limit in snapshot.runtime.limits}
    readings = sorted(_readings(snapshot), key=lambda entry: entry[1].since)
    for agent, reading in readings:
        if reading.state is State.ERROR and is_limit(reading.note):
            limits[agent] = after(limits.get(agent), agent, reading)
    for agent, reading in readings:
        limit = limits.get(agent)
        if limit and reading.state is State.IDLE and limit.at < reading.since < limit.until:
            limits[agent] = replace(limit, until=reading.since)
    return replace(snapshot, runtime=replace(snapshot.runtime, limits=tuple(limits.values())))


def tell(view: View, runtime: Runtime) -> tuple[Runtime, list[Tell]]:
    """Return the new runtime and the notices for the lead address: one per limit, even after many hits in a row."""
    uid = view.snapshot.config.uid
    keys = {f"{uid}:limit:{limit.agent}:{limit.since.isoformat()}": limit for limit in runtime.limits}
    fresh = {key: limit for key, limit in keys.items() if key not in runtime.told and holding(view, limit.agent)}
    new_runtime = replace(runtime, told=(*runtime.told, *fresh)[-MEMORY:])
    return new_runtime, [Tell(key, LEAD, prompts.limited(fresh[key])) for key in fresh]


def go_on(view: View, plan: Plan) -> Plan:
    """Tell a stopped member that its rate limit is over, if the provider named that time."""
    state, seat = plan.living, plan.seat
    if state is None or seat.agent_id == LEAD or view.stopping or not view.snapshot.policy.continue_after_limit:
        return plan
    agent = placed(seat.agent, seat.host)
    limit = next((limit for limit in view.snapshot.runtime.limits if limit.agent == agent), None)
    stopped = state.state is State.ERROR and is_limit(state.note)
    if limit is None or not stopped or not limit.named or view.at(state.since) >= limit.until:
        return plan
    key = f"{state.incarnation}:limit over:{state.since.isoformat()}"
    if view.now < limit.until or key in state.told:
        return plan.wake(limit.until) if view.now < limit.until else plan
    told = replace(state, told=(*state.told, key)[-MEMORY:])
    return plan.then(told, Tell(key, seat.agent_id, prompts.GO_ON))


def holding(view: View, agent: str) -> RateLimit | None:
    """Return the limit that keeps sessions of an agent from starting now, or None."""
    limit = next((limit for limit in view.snapshot.runtime.limits if limit.agent == agent), None)
    return limit if limit and view.now < limit.until else None


def _as_of_now(snapshot: Snapshot, limit: RateLimit) -> RateLimit:
    """Return a limit with its times corrected for clock jumps; a named end is a time of day, and stays.

    The corrected times are recorded, since the readers of the record know nothing of clock jumps.
    """
    at = snapshot.moved.get(limit.at, limit.at)
    until = limit.until if limit.named else snapshot.moved.get(limit.until, limit.until)
    return replace(limit, at=at, until=until)


def after(before: RateLimit | None, agent: str, error: Seen) -> RateLimit:
    """Return the limit of an agent after a rate-limit error."""
    named = named_end(error.note, error.since, error.zone)
    # The last hold ended long ago, or there was none: a new series begins.
    if before is None or error.since > max(before.at, before.until + LONGEST):
        end = named or error.since + FIRST
        return RateLimit(agent=agent, since=error.since, at=error.since, until=end, named=bool(named), note=error.note)
    # The agent is rate-limited again soon after a hold: the series goes on, and a guessed hold doubles, up to LONGEST.
    if error.since > max(before.at, before.until):  # the clock may have jumped past a named end
        end = named or error.since + min(LONGEST, FIRST * 2 ** min(before.times, 10))
        return replace(before, at=error.since, until=end, named=bool(named), times=before.times + 1, note=error.note)
    # The hold is still on, and a new error names a later end. The same error seen again changes nothing.
    is_news = error.since > before.at or (error.since == before.at and error.note != before.note)
    if named and named > before.until and is_news:
        return replace(before, at=error.since, until=named, named=True, note=error.note)
    return before


def _readings(snapshot: Snapshot) -> Iterable[tuple[str, Seen]]:
    agents = {seat.agent_id: placed(seat.agent, seat.host) for seat in snapshot.wanted.seats}
    for state in snapshot.runtime.seats:
        reading = snapshot.seen.get(state.incarnation)
        if reading and state.agent_id in agents:
            # A recorded state keeps its recorded time: a lead that has just begun sees every state for the first time.
            is_recorded = state.state is reading.state and bool(state.source)
            since = state.since if is_recorded else reading.since
            yield agents[state.agent_id], replace(reading, since=snapshot.moved.get(since, since))
