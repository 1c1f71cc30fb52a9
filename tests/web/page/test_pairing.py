"""A browser that is let in stays so, whatever address with a code it opens again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pro0.ops import devices
from tests.waiting import STUCK
from tests.web.conftest import Server
from tests.web.page.conftest import pairing
from tests.web.page.on_disk import OnDisk, on_disk
from tests.web.page.pages import SHOW


@pytest.fixture(scope="module")
def alpha(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnDisk]:
    """A team, for a page that is about pairing alone."""
    with on_disk(tmp_path_factory.mktemp("pairing"), "ada") as team:
        yield team


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    """A browser that nobody has let in yet."""
    with chromium.new_context() as context:
        context.set_default_timeout(STUCK * 1000)
        yield context.new_page()


def opens(page: Page, address: str, heading: str) -> None:
    """Open an address anew, from the history or a picture of it, and see this screen."""
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_role("heading", level=1, name=heading, exact=True)).to_be_visible()


def test_a_used_link_shows_the_page_where_it_was_used_and_costs_no_try(page: Page, alpha: OnDisk) -> None:
    """Behaviour 5.10: five wrong tries would let nobody else in for a while."""
    address = pairing(alpha)
    before = len(devices.known(alpha.store.home).devices)
    for _ in range(7):
        opens(page, address, "Needs you")
    known = devices.known(alpha.store.home)
    assert (len(known.devices), known.wrong) == (before + 1, 0)


def test_a_link_that_does_not_count_is_said_on_the_page_of_a_browser_that_is_let_in(page: Page, alpha: OnDisk) -> None:
    address = pairing(alpha)
    opens(page, address, "Needs you")
    opens(page, f"{address.partition('=')[0]}={0:032x}", "Needs you")
    expect(page.get_by_role("alert").filter(has_text="the code is wrong, expired or already used")).to_be_visible()


def test_a_browser_that_was_shut_out_needs_a_new_link(page: Page, alpha: OnDisk) -> None:
    """Its used one tells it so; a wrong one is said there too; a new one lets it in again."""
    address = pairing(alpha)
    opens(page, address, "Needs you")
    devices.revoke(alpha.store.home, devices.known(alpha.store.home).devices[-1].id)
    opens(page, address, "Pair this browser")
    opens(page, f"{address.partition('=')[0]}={0:032x}", "Pair this browser")
    expect(page.get_by_role("alert").filter(has_text="the code is wrong, expired or already used")).to_be_visible()
    opens(page, pairing(alpha), "Needs you")


def test_a_link_is_followed_in_a_tab_that_shows_the_page(page: Page, alpha: OnDisk, server: Server) -> None:
    """There the browser loads nothing by itself, because the address differs only behind its #."""
    page.goto(server.url.partition("#")[0])
    expect(page.get_by_role("heading", level=1, name="Pair this browser")).to_be_visible()
    page.evaluate("(address) => void (location.href = address)", pairing(alpha))
    expect(page.get_by_role("heading", level=1, name="Needs you")).to_be_visible()
    page.evaluate("(address) => void (location.href = address)", f"{server.url.partition('#')[0]}#pair={0:032x}")
    expect(page.get_by_role("alert").filter(has_text="the code is wrong, expired or already used")).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="Needs you")).to_be_visible()
    assert "pair" not in page.url


def test_a_browser_that_may_only_look_is_told_what_the_devices_need(page: Page, alpha: OnDisk) -> None:
    """Once, in their place: they never come."""
    opens(page, pairing(alpha, "--rights", "look"), "Needs you")
    page.evaluate(SHOW, "#/alpha/devices/")
    expect(page.get_by_role("main")).to_contain_text("device.list needs the right all")
    expect(page.get_by_text("One moment")).to_have_count(0)
    expect(page.locator(".notice")).to_have_count(0)
