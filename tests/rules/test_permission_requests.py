"""Requests for permission, over drawn histories: one answer, one outcome, and an id that means all that was asked."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Refused
from pro0.model.need import Choice, Outcome, PermissionAnswer, PermissionRequest, PermissionRequests
from pro0.model.runtime import ENDED, SeatState, State
from pro0.rules.person import permissions
from pro0.rules.person.permissions import (
    DRAWN,
    HANDED_OVER,
    KEPT,
    OPEN,
    answered,
    asked,
    fate,
    found,
    request_id,
    settled,
    summary,
)
from tests.teams import NOW

WORDS = st.text(max_size=6)
OUTCOMES: tuple[Outcome, ...] = ("taken", "elsewhere", "ended")


def request(key: str, session: str = "inc-w1", choices: tuple[Choice, ...] = tuple(Choice)) -> PermissionRequest:
    id = request_id("w1", session, key, "Bash", "{}")
    return PermissionRequest(
        id=id, agent_id="w1", incarnation=session, tool="Bash", input="{}", key=key, choices=choices, at=NOW
    )


def answer(choice: Choice = Choice.ALLOW, text: str = "") -> PermissionAnswer:
    return PermissionAnswer(choice=choice, text=text, by="human", at=NOW)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS, WORDS), min_size=2, unique=True))
def test_two_requests_that_differ_in_anything_have_two_ids(asked_for: list[tuple[str, str, str, str, str]]) -> None:
    clean = {tuple(word.replace("\0", "") for word in words) for words in asked_for}
    assert len({request_id(*words) for words in clean}) == len(clean)


def test_an_id_is_a_short_digest_that_stays() -> None:
    """It is in the record of a team that another version may read; the input of a tool may hold any text."""
    assert request_id("w1", "inc-w1", "k", "Bash", '{"command": "\udc80"}') == "54f07344869d"


ACTS = st.lists(
    st.tuples(st.sampled_from(["ask", "answer", "settle"]), st.integers(0, 4), st.sampled_from([0, 1, 2])), max_size=40
)


@given(ACTS)
def test_the_first_answer_counts_and_an_outcome_is_final(acts: list[tuple[str, int, int]]) -> None:
    document, verdicts, outcomes = PermissionRequests(), dict[str, Choice](), dict[str, Outcome]()
    for act, number, drawn in acts:
        entry = request(str(number))
        known = any(one.id == entry.id for one in document.requests)
        if act == "ask":
            document = asked(document, entry)
        elif act == "settle":
            document = settled(document, {entry.id: OUTCOMES[drawn]})
            if known:
                taken_without_one = OUTCOMES[drawn] == "taken" and entry.id not in verdicts
                outcomes.setdefault(entry.id, "elsewhere" if taken_without_one else OUTCOMES[drawn])
        elif not known:
            with pytest.raises(NotFound):
                answered(document, entry.id, answer())
        elif entry.id in verdicts or entry.id in outcomes:
            with pytest.raises(Refused):
                answered(document, entry.id, answer(tuple(Choice)[drawn]))
        else:
            verdicts[entry.id] = tuple(Choice)[drawn]
            document = answered(document, entry.id, answer(tuple(Choice)[drawn]))
        for one in document.requests:
            assert (one.answer.choice if one.answer else None) == verdicts.get(one.id)
            assert one.outcome == outcomes.get(one.id, "")
    waiting = {one.id for one in permissions.unanswered(document)}
    assert waiting == {one.id for one in document.requests} - verdicts.keys() - outcomes.keys()


def test_what_an_agent_does_not_offer_is_no_answer() -> None:
    document = asked(PermissionRequests(), replace(request("k"), choices=(Choice.ALLOW, Choice.DENY)))
    [entry] = document.requests
    with pytest.raises(BadInput, match="does not offer always"):
        answered(document, entry.id, answer(Choice.ALWAYS))
    with pytest.raises(BadInput, match="only deny takes a text"):
        answered(document, entry.id, answer(Choice.ALLOW, "but carefully"))


def test_old_requests_go_and_open_ones_stay() -> None:
    document = PermissionRequests()
    for number in range(OPEN):
        document = asked(document, request(str(number)))
    with pytest.raises(Refused, match=f"{OPEN} open requests"):
        asked(document, request("one more"))
    document = asked(document, request("of another", session="inc-w2"))
    document = settled(document, {entry.id: "taken" for entry in document.requests[: KEPT + 10]})
    assert len(document.requests) == OPEN + 1 - 10
    assert len(permissions.open_requests(document)) == OPEN + 1 - KEPT - 10
    with pytest.raises(NotFound):
        found(document, request("0").id)


@pytest.mark.parametrize("state", State)
def test_a_request_is_over_once_its_agent_goes_on(state: State) -> None:
    """Not before the dialog can be drawn, nor while nobody knows what the agent does, nor while its session ends."""
    seat = SeatState(agent_id="w1", incarnation="inc-w1", generation=1, state=state, since=NOW, started_at=NOW)
    entry = request("k")
    late = NOW + DRAWN
    ends = state in (State.STOPPING, *ENDED)
    waits = ends or state in (State.WAITING, State.UNKNOWN, State.UNREACHABLE)
    assert fate(entry, seat, False, late) == ("" if waits else "elsewhere")
    assert fate(entry, seat, False, late - timedelta(milliseconds=1)) == ""
    assert fate(entry, replace(seat, since=late), False, late) == ""
    given = replace(entry, answer=answer())
    assert fate(given, seat, False, late) == "", "whoever hands the answer over says so"
    assert fate(given, seat, False, NOW + HANDED_OVER) == ("" if waits else "elsewhere")
    unheard = fate(entry, seat, False, NOW, unheard=True)
    assert unheard == ("" if ends else "elsewhere"), "its agent has ended what waits for an answer"
    assert fate(entry, seat, True, NOW, unheard=True) == "ended"
    assert fate(entry, seat, True, NOW) == "ended"
    assert fate(entry, None, False, NOW) == "ended"


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        ('{"description": "d", "command": "make  test\\nthen"}', "make test then …"),
        ('{"file_path": "/a/b", "content": "x"}', "/a/b …"),
        ('{"file_path": "/a/b"}', "/a/b"),
        ('{"command": ["a"], "url": "http://x"}', "http://x …"),
        ('{"other": 1}', '{"other": 1}'),
        ("not json", "not json"),
        ('{"command": "' + "x" * 201 + '"}', "x" * 198 + " …"),
        ('{"command": "\\u001b[2J"}', r"\x1b[2J"),
    ],
)
def test_a_request_in_one_line(shown: str, line: str) -> None:
    assert summary(replace(request("k"), input=shown)) == line


@pytest.mark.parametrize(
    ("given", "outcome", "said"),
    [
        (None, "", ""),
        (answer(Choice.DENY), "", "answered: deny"),
        (answer(Choice.ALWAYS), "taken", "answered: always"),
        (None, "elsewhere", "over: it was answered where the agent asked"),
        (answer(), "elsewhere", "over: it was answered where the agent asked"),
        (None, "ended", "over: its session has ended"),
        (answer(), "ended", "over: its session has ended"),
    ],
)
def test_why_a_request_takes_no_more_answers(given: PermissionAnswer | None, outcome: Outcome, said: str) -> None:
    """Whoever answers too late reads it, and an answer that nobody took is none."""
    entry = replace(request("k"), answer=given, outcome=outcome)
    assert permissions.over_in_words(entry) == said
    if said:
        with pytest.raises(Refused, match=said):
            answered(asked(PermissionRequests(), entry), entry.id, answer())
