"""A person without a mouse and without a touch screen: whatever a test presses, fills or chooses is reached by Tab."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.waiting import STUCK, wait_until

TABS = 600
"""More than any page of these tests has to offer."""
FOCUSED = "(element) => element === document.activeElement"
CHOSEN = "(select) => select.value"
LABEL = """(select, wanted) => [...select.options].find(({ value }) => value === wanted).label"""


def use_keys(patch: pytest.MonkeyPatch) -> None:
    """Let every act of a test be done by keys alone, as long as the patch lasts."""
    for name, act in {"click": click, "tap": click, "fill": fill, "select_option": choose, "check": check}.items():
        patch.setattr(Locator, name, act)
    for name in ("dblclick", "hover", "drag_to", "focus", "press", "set_checked", "uncheck", "dispatch_event"):
        patch.setattr(Locator, name, forbidden)
    for name in ("click", "tap", "fill", "focus", "hover", "dispatch_event"):
        patch.setattr(Page, name, forbidden)


def forbidden(*_: object, **__: object) -> None:
    raise AssertionError("this is not done by keys")


def reach(target: Locator) -> Page:
    """Press Tab until something has the focus."""
    page = target.page
    expect(target).to_be_visible()
    for _ in range(TABS):
        if target.evaluate(FOCUSED):
            return page
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {target}")


def click(target: Locator) -> None:
    """Press Enter on something."""
    reach(target).keyboard.press("Enter")


def check(target: Locator) -> None:
    """Press the space bar on a box."""
    reach(target).keyboard.press("Space")
    expect(target).to_be_checked()


def fill(target: Locator, text: str) -> None:
    """Type a text in place of what stands in a field."""
    keyboard = reach(target).keyboard
    keyboard.press("Control+a")
    keyboard.press("Delete")
    keyboard.type(text)
    expect(target).to_have_value(text)


def choose(target: Locator, value: str) -> None:
    """Type the beginning of a choice; what is typed too slowly for one word is typed again."""
    keyboard = reach(target).keyboard

    def chosen() -> bool:
        keyboard.type(str(target.evaluate(LABEL, value)))
        return bool(target.evaluate(CHOSEN) == value)

    wait_until(chosen, STUCK, f"{value} is chosen", every=1.5)
