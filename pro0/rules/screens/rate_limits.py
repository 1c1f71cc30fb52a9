"""Rate limits in the texts of agents' errors: how to recognize one, and when it ends.

A text names the end as a moment, as a length of time, or as a time of day: "resets 3pm (Europe/Berlin)".
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo

REASON = timedelta(days=8)
"""The longest plausible wait: some limits last a week."""

_LIMIT = re.compile(
    r"\b429\b|\b529\b|too many requests|rate.?limit|resource.?exhausted|overloaded|at capacity|\bquota\b"
    r"|(?:usage|session|hour|daily|weekly|monthly|request) limit|out of (?:extra )?usage"
    r"|(?:hit|reached) your (?:(?!context)[\w'-]+ ){0,3}limit",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_FRACTION = r"(?:\.\d{1,9})?"
"""Google counts in nanoseconds."""
_AMOUNT = rf"(\d{{1,9}}{_FRACTION})\s*(ms|s|m|h|d)(?:ec|in|our|ay|illisecond|econd|inute)*s?(?![a-z])"
_WITHIN = re.compile(
    rf"(?:retry|try again|resets?|wait|available)[^\d|]{{0,30}}?\b(?:in|after|for)\s+((?:{_AMOUNT}[\s,]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_SECONDS = re.compile(rf"retry[-_ ]?after\W{{0,4}}(\d{{1,9}}{_FRACTION})(?!\s*(?:ms|m|h|d))", re.IGNORECASE)
_MOMENT = re.compile(rf"(\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d{_FRACTION})?(?:Z|[+-]\d\d:\d\d))")
_START = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH = re.compile(r"(?:\||resets?_?(?:at)?\W{1,4})(\d{10})\b", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = re.compile(
    r"\b(?:resets?|try again)\s+(?:(?:at|on)\s+)?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,?\s+(?P<year>\d{4}))?,?\s+(?:at\s+)?)?"
    r"(?P<hour>\d{1,2})(?P<minute>:\d\d)?(?!\d)\s?(?P<half>[ap]\.?m\b\.?)?(?:\s*\((?P<zone>[\w+/-]{1,40})\))?",
    re.IGNORECASE,
)
_JUST_PAST = timedelta(hours=1)
"""How long a named time of day may be past and still be today's: waiting until tomorrow would be in vain."""
_ROUNDED = timedelta(minutes=1)
"""Time added to a named time of day, because it is shown without seconds."""


def is_limit(note: str) -> bool:
    """Return True when an error says that its agent is rate-limited: a 429, a quota, an overload."""
    return bool(_LIMIT.search(note))


def telling(note: str) -> list[tuple[int, int]]:
    """Return the spans of the words about a limit and its end: the start and end of each, in order."""
    matches = (pattern.search(note) for pattern in (_LIMIT, _EPOCH, _MOMENT, _CLOCK, _WITHIN, _SECONDS))
    return sorted({match.span() for match in matches if match})


def named_zone(note: str) -> str:
    """Return the name of the time zone beside the time of day in an error, "" for none."""
    match = _CLOCK.search(note)
    return (match["zone"] or "") if match else ""


def named_end(note: str, since: datetime, zone: tzinfo | None) -> datetime | None:
    """Return the end named by an error that began at `since`, or None when it names none or an absurd one.

    A time of day is read in that zone, and ignored without a zone.
    """
    try:
        end = _moment(note) or (_time_of_day(note, since, zone) if zone else None) or _counted(note, since)
    except (ValueError, OverflowError):  # there is no such day
        return None
    return end if end and since < end <= since + REASON else None


def _moment(note: str) -> datetime | None:
    if match := _EPOCH.search(note):
        return _START + timedelta(seconds=int(match[1]))
    match = _MOMENT.search(note)
    return datetime.fromisoformat(match[1]) if match else None


def _time_of_day(note: str, since: datetime, zone: tzinfo) -> datetime | None:
    match = _CLOCK.search(note)
    if not match or not (match["half"] or match["minute"]):
        return None
    earliest = (since - _JUST_PAST).astimezone(zone)
    hour, minute = int(match["hour"]), int((match["minute"] or ":0")[1:])
    if half := match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    if match["month"]:
        month, day = _MONTHS.index(match["month"].lower()) + 1, int(match["day"])
        years = [int(match["year"])] if match["year"] else [earliest.year, earliest.year + 1]
        times = (datetime(year, month, day, hour, minute) for year in years)
    else:
        first = datetime(earliest.year, earliest.month, earliest.day, hour, minute)
        times = (first + timedelta(days=days) for days in (0, 1))
    moments = (time.replace(tzinfo=zone).astimezone(UTC) for time in times)
    return next((moment + _ROUNDED for moment in moments if moment >= earliest), None)


def _counted(note: str, since: datetime) -> datetime | None:
    """Return the end that an error names as a length of time from its start, or None."""
    if match := _WITHIN.search(note):
        amounts = re.findall(_AMOUNT, match[1], re.IGNORECASE)
        seconds = sum(float(number) * _UNITS[unit.lower()] for number, unit in amounts)
    elif match := _SECONDS.search(note):
        seconds = float(match[1])
    else:
        return None
    return since + timedelta(seconds=min(seconds, 2 * REASON.total_seconds()))
