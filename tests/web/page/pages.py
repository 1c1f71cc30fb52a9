"""A page as a person has it before them: where it is sent, what is seen, what went wrong behind it."""

from typing import TypedDict

from playwright.sync_api import Dialog, Locator, Page, ViewportSize, expect

from tests.waiting import STUCK
from tests.web.page.lateness import LATE, can_hold, make_late

expect.set_options(timeout=STUCK * 1000)


class Size(TypedDict):
    """One kind of screen."""

    viewport: ViewportSize
    touch: bool


SIZES: dict[str, Size] = {
    "phone": {"viewport": {"width": 390, "height": 844}, "touch": True},
    "desk": {"viewport": {"width": 1440, "height": 900}, "touch": False},
    "late": {"viewport": {"width": 390, "height": 844}, "touch": True},
}
SHOW = """(wanted) => location.hash === wanted || new Promise((shown) => {
  addEventListener("hashchange", () => setTimeout(shown), { once: true });
  location.hash = wanted;
})"""
"""It is over once the page has drawn the screen: till then the heading is that of the screen before."""
WITNESS = "addEventListener('securitypolicyviolation', ({ effectiveDirective }) => console.error(effectiveDirective))"


class Shown:
    """A paired page, and whatever a page must not do: errors, broken policies, dialogs, requests to elsewhere."""

    def __init__(self, page: Page, address: str, late: str = LATE) -> None:
        self.page = page
        self.late = late
        self.origin = address.partition("#")[0]
        self.troubles: list[str] = []
        page.add_init_script(WITNESS)
        can_hold(page)
        if late:
            make_late(page, late)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("console", lambda line: self.troubles.append(line.text) if line.type == "error" else None)
        page.on("dialog", self._asked)
        page.on("request", lambda request: self._requested(request.url))
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()

    def _asked(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, url: str) -> None:
        if not url.startswith((self.origin, self.origin.replace("http", "ws", 1))):
            self.troubles.append(f"a request to {url}")

    def hand_out(self) -> None:
        """Make the page what the next test expects, whatever the last one left behind.

        A late page is loaded anew for each test: any test may be the first one. So is one that still shows what it
        told the last test, and one of a team that may be gone is left first.
        """
        if "/needs" in self.page.url or "#/alpha/" not in self.page.url:
            self.page.evaluate(SHOW, "#/alpha/cost/")
        if self.late or self.page.locator("dialog[open], .notice").count():
            self.page.reload()
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        self.troubles.clear()

    def go(self, screen: str, item: str = "") -> Page:
        """Show a screen of the team."""
        self.page.evaluate(SHOW, f"#/alpha/{screen}/{item}")
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        return self.page

    @property
    def panel(self) -> Locator:
        """The chosen task."""
        return self.page.get_by_role("complementary")

    def press(self, name: str, within: Locator | None = None) -> None:
        """Press a button by the name that a person reads."""
        (within or self.page.get_by_role("main")).get_by_role("button", name=name, exact=True).click()

    def says(self, text: str) -> None:
        """Wait until a line says this."""
        expect(self.page.locator(".notice", has_text=text).first).to_be_visible()

    def over(self, card: Locator) -> None:
        """Wait until the card of a need says that it is over: it stays where it was, with nothing to press."""
        expect(card.locator("p", has_text="Over")).to_be_visible()
        expect(card.get_by_role("button")).to_have_count(0)
