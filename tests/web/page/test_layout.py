"""What is read stays in sight and in order: in a low window, in a script that runs from the right, in a long title."""

from playwright.sync_api import expect

from pro0.model.task import Draft
from tests.engine.crew import Crew
from tests.web.page.pages import Shown

LOW = 400
"""Pixels of a window at a zoom of 200 %."""
ENDS = """(title) => [0, title.firstChild.length - 1].map((at) => {
  const range = document.createRange();
  range.setStart(title.firstChild, at);
  range.setEnd(title.firstChild, at + 1);
  return range.getBoundingClientRect().left;
})"""
"""The left edges of the first and the last letter."""


def test_the_chosen_entry_of_the_palette_is_in_sight(shown: Shown, alpha: Crew) -> None:
    alpha.give(*(Draft(title=f"one of many {number}") for number in range(12)))
    page = shown.go("board")
    usual = page.viewport_size
    assert usual
    page.set_viewport_size({"width": usual["width"], "height": LOW})
    page.keyboard.press("Control+k")
    typed = page.get_by_role("combobox", name="Go to")
    typed.fill("one of many")
    chosen = page.get_by_role("option", selected=True)
    for _ in range(11):
        expect(chosen).to_be_in_viewport(ratio=0.9)
        page.keyboard.press("ArrowDown")
    expect(chosen).to_be_in_viewport(ratio=0.9)
    expect(typed).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("Escape")
    page.set_viewport_size(usual)


def test_a_title_runs_as_its_own_letters_do(shown: Shown, alpha: Crew) -> None:
    """Else the full stop of a Hebrew sentence stands where it begins."""
    alpha.give(Draft(title="\u05e9\u05dc\u05d5\u05dd."), Draft(title="left to right."))
    page = shown.go("tree")
    for title, leftwards in (("\u05e9\u05dc\u05d5\u05dd.", True), ("left to right.", False)):
        first, last = page.locator(".line .title", has_text=title).first.evaluate(ENDS)
        assert (last < first) is leftwards


def test_a_long_title_leaves_room_for_others_in_a_list(shown: Shown, alpha: Crew) -> None:
    """The task itself shows all of it."""
    [id] = alpha.give(Draft(title="word " * 200 + "end"))
    page = shown.go("board")
    card = page.locator(".card.task", has_text=id)
    box = card.bounding_box()
    assert box
    assert box["height"] < 200
    page = shown.go("tree", id)
    expect(shown.panel.get_by_role("heading", level=2)).to_have_text("word " * 200 + "end")
