"""Runs of a rate-limited agent: the run gives its task back and rests; without `auto` it ends.

A hold works as in a team (`throttling`). It lasts as long as the error names, else longer each time. A turn that went
well ends it.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo

from msgspec.structs import replace

from pro0.model.decision import Seen
from pro0.model.run import RUNNER, RunOptions
from pro0.model.runtime import RateLimit, State
from pro0.rules.lead import throttling
from pro0.rules.runs.judging import TurnStep
from pro0.rules.runs.running import Course, Rest, RunEnd, Take
from pro0.rules.words import prompts


def counted(course: Course, options: RunOptions, step: TurnStep, now: datetime, zone: tzinfo | None = UTC) -> Course:
    """Return the course of a run after a turn, with its rate limit updated."""
    if not step.limited:
        return replace(course, limit=None)
    error = Seen(State.ERROR, since=now, source=RUNNER, note=step.text, zone=zone)
    return replace(course, limit=throttling.after(course.limit, options.agent, error))


def held(
    decision: Take | Rest | RunEnd, options: RunOptions, course: Course, teams: Iterable[RateLimit], now: datetime
) -> Take | Rest | RunEnd:
    """Return the run's next decision, but no turn while a known limit of the run or its team holds."""
    limits = [limit for limit in (course.limit, *teams) if limit and limit.agent == options.agent and now < limit.until]
    if not limits or not isinstance(decision, Take):
        return decision
    longest = max(limits, key=lambda limit: limit.until)
    when = f"{'until' if longest.named else 'at least until'} {prompts.moment(longest.until)}"
    why = f"{longest.agent} is rate-limited {when}: {longest.note}"
    return Rest(longest.until, why) if options.auto else RunEnd(1, why)
