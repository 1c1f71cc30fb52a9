"""A person's answers in words: what each tells to do next, and who has not heard which (behaviour 2.14)."""

import pytest

from pro0.model.ids import HUMAN
from pro0.model.task import Awaiting, Entry, Status
from pro0.rules.tasks import answers
from pro0.rules.tasks.acts import GRANTS, Act
from pro0.rules.tasks.answers import Remark
from tests.rules.building import T0

DROPS = (Act.DIED, Act.RELEASE, Act.UNDO_START)
NEXT: dict[str, tuple[Act, Awaiting | None, str, Status | None, str]] = {
    "input, with words": (Act.APPROVE, Awaiting.INPUT, "blue", Status.PENDING, "go on as they say"),
    "input, without": (Act.APPROVE, Awaiting.INPUT, "", Status.PENDING, "go on as you think best"),
    "checkpoint": (Act.APPROVE, Awaiting.CHECKPOINT, "well", Status.PENDING, "go on with the next phase"),
    "a gate with one more behind it": (
        Act.APPROVE,
        Awaiting.APPROVAL,
        "",
        Status.IN_PROGRESS,
        "the gate that the task requires is next",
    ),
    "the last gate": (Act.APPROVE, Awaiting.REVIEW, "", Status.COMPLETED, "the task is completed"),
    "a part": (Act.APPROVE, Awaiting.REVIEW, "", Status.DONE, "your part is complete, its subtasks are not"),
    "a refused review": (Act.REJECT, Awaiting.REVIEW, "", Status.PENDING, "do what the review asks for"),
    "a refused question": (Act.REJECT, Awaiting.INPUT, "no", Status.PENDING, "go on as they say"),
    "a refused end": (Act.REJECT, Awaiting.REVIEW, "", Status.CANCELLED, "the task is cancelled, leave it"),
    "of what nobody knows any more": (Act.APPROVE, None, "", Status.PENDING, "go on as they say"),
    "refused, of what nobody knows": (Act.REJECT, None, "no", None, "go on as they say"),
}


@pytest.mark.parametrize("what", NEXT)
def test_an_answer_says_how_the_work_goes_on(what: str) -> None:
    act, kind, text, to, then = NEXT[what]
    said = answers.answer(Remark(T0, HUMAN, text, act, kind=kind, asked="red?" if kind else "", to=to))
    verdict = "approved" if act is Act.APPROVE else "rejected"
    about = f'the {kind.upper()} "red?"' if kind else "it"
    assert said == f"{verdict} {about}: {then}"


@pytest.mark.parametrize(
    ("act", "to", "said"),
    [
        (Act.REOPEN, Status.PENDING, 'reopened the task; it had ended with "no longer"'),
        (Act.RETRY, Status.PENDING, 'wants it tried again; it had failed with "no longer"'),
        (Act.CLOSE, Status.COMPLETED, 'closed the task as it is; it had failed with "no longer"'),
        (Act.CLOSE, Status.IN_PROGRESS, 'closed the task as it is, up to its gate; it had failed with "no longer"'),
    ],
)
def test_an_answer_to_what_has_ended_says_what_became_of_it(act: Act, to: Status, said: str) -> None:
    """What is reopened may have been cancelled, and what is closed may wait at its gate."""
    assert answers.answer(Remark(T0, HUMAN, "", act, asked="no longer", to=to)) == said


def entry(act: Act, text: str = "", actor: str = HUMAN) -> Entry:
    kind = Awaiting.INPUT if actor == HUMAN and act not in GRANTS else None
    return Entry(at=T0, actor=actor, act=act, text=text, kind=kind)


def claim(act: Act = Act.CLAIM) -> Entry:
    return entry(act, actor="w1")


@pytest.mark.parametrize(
    ("history", "unread"),
    [
        ([], []),
        ([entry(Act.APPROVE, "a")], []),
        ([entry(Act.APPROVE, "a"), claim()], ["a"]),
        ([entry(Act.APPROVE, "a"), entry(Act.REJECT, "b"), claim(Act.START)], ["a", "b"]),
        ([entry(Act.APPROVE, "old"), claim(), entry(Act.APPROVE, "a"), claim()], ["a"]),
        ([entry(Act.APPROVE, "a"), claim(), entry(Act.APPROVE, "later")], ["a"]),
        ([entry(Act.APPROVE, "a"), claim(), entry(Act.HAND_OFF, actor="w1"), entry(Act.REJECT, "later")], ["a"]),
        ([claim(), entry(Act.HAND_OFF, actor="w1"), claim()], []),
        ([entry(Act.APPROVE, "no person's", "w2"), claim()], []),
    ],
)
def test_answers_between_the_two_newest_claims_are_unread(history: list[Entry], unread: list[str]) -> None:
    """Older ones were heard with an earlier claim; later ones are told by a message, or with the next claim."""
    assert [remark.text for remark in answers.unread_answers(history)] == unread


def by_w1(act: Act) -> Entry:
    return entry(act, actor="w1")


BLUE, ASKED = entry(Act.APPROVE, "blue"), by_w1(Act.HAND_OFF)


@pytest.mark.parametrize(
    ("history", "unread"),
    [
        *(([claim(), ASKED, BLUE, claim(), by_w1(act), claim()], ["blue"]) for act in DROPS),
        ([claim(), ASKED, BLUE, *[claim(Act.START), by_w1(Act.UNDO_START)] * 3, claim()], ["blue"]),
        ([claim(), ASKED, BLUE, claim(), by_w1(Act.DIED), entry(Act.RETRY, "again"), claim()], ["blue", "again"]),
        ([claim(), ASKED, BLUE, claim(), by_w1(Act.RELEASE), claim(), by_w1(Act.DIED)], ["blue"]),
        ([claim(), ASKED, BLUE, by_w1(Act.DIED), claim()], ["blue"]),
        *(([ASKED, BLUE, claim(), by_w1(act), claim()], []) for act in (Act.COMPLETE, Act.HAND_OFF, Act.FAIL)),
        ([ASKED, BLUE, claim(Act.START), by_w1(Act.COMPLETE), by_w1(Act.DIED), claim(Act.START)], []),
        ([ASKED, BLUE, claim(), ASKED, entry(Act.APPROVE, "red"), claim(), by_w1(Act.DIED), claim()], ["red"]),
    ],
)
def test_answers_to_a_task_that_was_dropped_are_unread_still(history: list[Entry], unread: list[str]) -> None:
    """Who heard them is gone, or never came to work: who claims now finds no trace of them in the work."""
    assert [remark.text for remark in answers.unread_answers(history)] == unread
