"""What an agent's error says of a rate limit: whether it is one, and when it ends."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.rules.screens.rate_limits import REASON, is_limit, named_end, named_zone
from tests.rules.building import at

LIMITS = [
    "exceeded retry limit, last status: 429 Too Many Requests",
    "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary.",
    '[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]',
    "unexpected status 529 <unknown status code>: scripted error 529",
    "You've hit your usage limit. Try again in 3 days 2 hours.",
    "You exceeded your current quota, please retry in 17.3s.",
    "rate_limit_error: this request would exceed the rate limit",
    "You've hit your session limit · resets 3pm (America/Bogota)",
    "You've reached your Opus limit · resets Oct 9, 9am",
    "You're out of extra usage · resets 7pm",
]
OTHERS = [
    "unexpected status 401 Unauthorized: scripted error 401",
    "API Error: 400 scripted error 400",
    "context limit reached",
    "You've reached your context limit",
    "cannot find module 4290",
    "",
]


@pytest.mark.parametrize(("note", "is_one"), [*((n, True) for n in LIMITS), *((n, False) for n in OTHERS)])
def test_what_is_a_limit(note: str, is_one: bool) -> None:
    assert is_limit(note) is is_one


ENDS = {
    "429: Please try again in 20s.": 20,
    "429, please retry in 17.5s": 17.5,
    "Please retry in 34.074824224s.": 34.074824,
    "Please retry in 2h47m56.584147483s.": 2 * 3600 + 47 * 60 + 56.584147,
    "Retry-After: 34.074824224": 34.074824,
    "try again in 1m12s": 72,
    "Try again in 3 days 2 hours": 3 * 86400 + 7200,
    "TRY AGAIN IN 3 DAYS 2 HOURS": 3 * 86400 + 7200,
    "usage limit, resets in 5 hours and 30 minutes": 5.5 * 3600,
    "Rate limit reached. Please wait for 2 min": 120,
    "retry-after: 30": 30,
    '{"retry_after": 1.5}': 1.5,
    "rate limit: retry after 250ms": 0.25,
    "limit resets at 2026-01-01T01:00:00Z": 3600,
    "limit resets at 2026-01-01T02:30:00+01:00": 5400,
    "quotaResetTimeStamp 2026-01-01T01:00:00.123456789Z": 3600.123456,
    "usage limit reached|1767229200": 3600,
    '"resets_at": 1767229200': 3600,
    "429 Too Many Requests": None,
    "try again later": None,
    "resets at 2026-13-45T00:00:00Z": None,
    "try again in 0s": None,
    "try again in 30 days": None,
    "retry after 999999999": None,
    "usage limit reached|1000000000": None,
}


@pytest.mark.parametrize(("note", "seconds"), ENDS.items())
def test_the_end_that_an_error_names_counts_within_reason(note: str, seconds: float | None) -> None:
    assert named_end(note, at(0), UTC) == (None if seconds is None else at(seconds))


@given(st.text(alphabet="0123456789 |.:-TZretryafinswm", max_size=60), st.integers(0, 10**9))
def test_whatever_is_said_the_end_is_later_and_within_reason(note: str, since: int) -> None:
    end = named_end(f"retry {note}", at(since), UTC)
    assert end is None or at(since) < end <= at(since) + REASON


SINCE = datetime(2026, 10, 8, 17, 30, tzinfo=UTC)
"""In Bogota it is 12:30, in Berlin 19:30."""
CLOCKS = {
    "You've hit your session limit · resets 3pm (America/Bogota)": "2026-10-08T20:00Z",
    "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).": "2026-10-08T18:00Z",
    "5-hour limit reached ∙ resets 8:45pm (Europe/Berlin)": "2026-10-08T18:45Z",
    "You've hit your weekly limit · resets 7am (UTC)": "2026-10-09T07:00Z",
    "You've hit your limit · resets 12am (UTC)": "2026-10-09T00:00Z",
    "You've hit your limit · resets 12pm (UTC)": "2026-10-09T12:00Z",
    "weekly limit · resets Oct 12, 9am (Europe/Berlin)": "2026-10-12T07:00Z",
    "weekly limit · resets Oct 12 at 9:30 AM (UTC)": "2026-10-12T09:30Z",
    "weekly limit · resets October 12th, 2026, 9 a.m. (UTC)": "2026-10-12T09:00Z",
    "or try again at 3:28 PM (America/Bogota).": "2026-10-08T20:28Z",
    "or try again at Oct 9th, 2026 12:30 AM (Europe/Berlin).": "2026-10-08T22:30Z",
    "usage limit, resets 22:15 (UTC)": "2026-10-08T22:15Z",
    "You've hit your limit · resets Jan 2, 9am (UTC)": None,  # in more than eight days
    "You've hit your limit · resets 13pm (UTC)": None,
    "You've hit your limit · resets 25:00 (UTC)": None,
    "You've hit your limit · resets Feb 30, 9am (UTC)": None,
    "You've hit your limit · resets 5pm (UTC)": None,  # half an hour ago: that of tomorrow is not meant
    "You've hit your limit · resets 4:30pm (UTC)": None,  # an hour ago
    "You've hit your limit · resets 1am (Asia/Tokyo)": "2026-10-09T16:00Z",  # it is 2:30 of the ninth there
    "weekly limit · resets October 12th, 2025, 9 a.m. (UTC)": None,
    "weekly limit · resets Oct 7, 2026, 9am (UTC)": None,
    "resets 3 (UTC)": None,
    "try again 3 times": None,
}


@pytest.mark.parametrize(("note", "moment"), CLOCKS.items())
def test_a_time_of_day_is_the_next_one_in_its_zone(note: str, moment: str | None) -> None:
    """Issue 17, build 4; a minute later, since it is named without its seconds."""
    expected = datetime.fromisoformat(moment) + timedelta(minutes=1) if moment else None
    name = named_zone(note)
    assert named_end(note, SINCE, ZoneInfo(name) if name else None) == expected


def test_a_day_of_the_next_year_is_understood() -> None:
    since = datetime(2026, 12, 30, 12, tzinfo=UTC)
    assert named_end("limit · resets Jan 2, 9am", since, UTC) == datetime(2027, 1, 2, 9, 1, tzinfo=UTC)


@pytest.mark.parametrize("note", ["", "limit · resets 9pm", "limit · resets soon (UTC)"])
def test_a_note_without_a_zone_names_none(note: str) -> None:
    assert named_zone(note) == ""


def test_without_a_zone_no_time_of_day_is_understood() -> None:
    assert named_end("limit · resets 9pm (Nowhere/Atall)", SINCE, None) is None
    assert named_end("limit · resets in 20s, at 9pm", SINCE, None) == SINCE + timedelta(seconds=20)


def test_on_the_day_when_the_clocks_change_an_hour_is_not_lost() -> None:
    since = datetime(2026, 10, 24, 20, tzinfo=UTC)  # in Berlin summer time ends five hours later
    assert named_end("limit · resets 9am", since, ZoneInfo("Europe/Berlin")) == datetime(2026, 10, 25, 8, 1, tzinfo=UTC)


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)), st.integers(0, 23), st.integers(0, 59))
def test_a_time_of_day_is_never_more_than_a_day_away(now: datetime, hour: int, minute: int) -> None:
    since = now.replace(tzinfo=UTC)
    end = named_end(f"limit · resets {hour}:{minute:02}", since, UTC)
    day = timedelta(days=1)
    if end is None:  # it has come within the last hour, or comes with the end of this minute
        passed = (since - since.replace(hour=hour, minute=minute, second=0, microsecond=0)) % day
        assert passed <= timedelta(hours=1)
    else:
        assert since < end <= since + day
        assert (end - timedelta(minutes=1)).strftime("%H:%M") == f"{hour:02}:{minute:02}"
