"""What needs the person stays where it is: nothing moves under a finger, whoever asks or answers meanwhile."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from pro0.model.task import Awaiting, Draft
from pro0.ops.tasks import gates, tasks
from tests.engine.crew import Crew
from tests.waiting import STUCK, wait_until
from tests.web.page.pages import Shown


class Asked:
    """Verdicts on tasks of their own, in a team that asks nothing else."""

    def __init__(self, alpha: Crew) -> None:
        self.alpha = alpha
        self.made: list[str] = []

    def verdict(self, title: str) -> str:
        """Ask for a verdict on a task, which waits for nothing else at any moment; return its id."""
        return self.task(Draft(title=title, awaiting=Awaiting.REVIEW))

    def failure(self, title: str) -> str:
        """Let a task fail, which is less urgent than any verdict."""
        id = self.task(Draft(title=title))
        tasks.claim(self.alpha.context, id)
        tasks.fail(self.alpha.context, id, "no space left")
        return id

    def task(self, draft: Draft) -> str:
        """Make a task; return its id."""
        self.made += self.alpha.give(draft)
        return self.made[-1]


@pytest.fixture
def asked(alpha: Crew, shown: Shown) -> Iterator[Asked]:
    """Whatever is asked in one test is gone for the next, on the page too."""
    asked = Asked(alpha)
    shown.go("cost")
    yield asked
    for id in asked.made:
        tasks.delete(alpha.context, id)
    shown.go("needs")
    expect(shown.page.get_by_role("main")).to_contain_text("Nothing needs you")


def card_of(shown: Shown, id: str) -> Locator:
    """The card of a task, by the whole of its id: task-1 is not in task-12. Before its claim nobody could take it."""
    cards = shown.page.locator("li.need").filter(has_not_text="untaken")
    return cards.filter(has_text=re.compile(rf"{id}(?!\d)"))


def places(*cards: Locator) -> list[object]:
    return [card.bounding_box() for card in cards]


def test_a_new_need_moves_no_card(shown: Shown, asked: Asked) -> None:
    """Issue 16, Build 2: a card stays under the finger, though what is new is more urgent, until the person sorts."""
    failed = asked.failure("failed before")
    old = card_of(shown, failed)
    shown.go("needs")
    expect(old).to_be_visible()
    sort = shown.page.get_by_role("button", name="Most urgent first")
    expect(sort).to_have_count(0)
    place = places(old)
    new = card_of(shown, asked.verdict("asks after"))
    expect(new).to_be_visible()
    assert places(old) == place
    sort.click()
    expect(shown.page.locator("li.need").first).to_contain_text("asks after")
    expect(sort).to_have_count(0)


def test_a_need_that_is_answered_elsewhere_moves_no_card(shown: Shown, asked: Asked) -> None:
    """Issue 16, Build 2: its card stays, and says who did what, till the person tidies up or leaves."""
    first, second, third = (asked.verdict(title) for title in ("name", "colour", "shape"))
    cards = [card_of(shown, id) for id in (first, second, third)]
    shown.go("needs")
    expect(cards[2]).to_be_visible()
    before = places(*cards)
    gates.approve(asked.alpha.context, first)
    shown.over(cards[0])
    expect(cards[0].locator("p", has_text="Over")).to_contain_text("humantask.approve")
    tasks.delete(asked.alpha.context, asked.made.pop(1))
    shown.over(cards[1])
    expect(cards[1].get_by_role("heading")).to_have_text("colour")
    expect(shown.page.get_by_role("main")).not_to_contain_text("Nothing needs you")
    assert places(*cards) == before
    shown.press("Clear what is over")
    expect(cards[0]).to_have_count(0)
    expect(cards[2]).to_be_visible()
    expect(shown.page.get_by_role("main")).to_contain_text("1 thing")


def test_an_answer_here_moves_no_card_and_keeps_the_focus_in_its_place(shown: Shown, asked: Asked) -> None:
    """Issue 16, must show 6: by keyboard the next thing is one Tab away."""
    first, second = asked.verdict("name"), asked.verdict("colour")
    cards = [card_of(shown, id) for id in (first, second)]
    page = shown.go("needs")
    expect(cards[1]).to_be_visible()
    before = places(*cards)
    cards[0].get_by_role("button", name="Approve").focus()
    page.keyboard.press("Enter")
    shown.over(cards[0])
    expect(cards[0]).to_contain_text("Over: approved")
    assert places(*cards) == before
    expect(cards[0].locator("p", has_text="Over")).to_be_focused()
    page.keyboard.press("Tab")
    expect(cards[1].get_by_role("link")).to_be_focused()
    shown.go("cost")
    shown.go("needs")
    expect(cards[1]).to_be_visible()
    expect(cards[0]).to_have_count(0)


def test_the_last_one_answered_stays_beside_the_calm_and_makes_room_for_a_new_one(shown: Shown, asked: Asked) -> None:
    """What comes at once comes below it, for a finger may be on its way; what comes after a calm comes alone."""
    first = asked.verdict("name")
    page = shown.go("needs")
    card = card_of(shown, first)
    place = places(card)
    card.get_by_role("button", name="Approve").click()
    shown.over(card)
    expect(page.get_by_role("main")).to_contain_text("Nothing needs you")
    assert places(card) == place
    second = card_of(shown, asked.verdict("colour"))
    expect(second).to_be_visible()
    assert places(card) == place
    second.get_by_role("button", name="Approve").click()
    shown.over(second)
    page.evaluate("calm = performance.now() + 6000")
    wait_until(lambda: page.evaluate("performance.now() > calm"), STUCK, "a calm is over")
    third = card_of(shown, asked.verdict("shape"))
    expect(third).to_be_visible()
    expect(page.locator("li.need")).to_have_count(1)
