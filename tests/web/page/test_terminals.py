"""A terminal on the page that is told how keys and the mouse are sent: one that a guard holds."""

import signal

import pytest
from playwright.sync_api import expect

from pro0.ops.team.members import SeatDraft
from tests.engine.crew import Crew
from tests.web.conftest import Server
from tests.web.page.pages import Shown


@pytest.fixture(scope="module")
def mode() -> str:
    return "in-process"


def test_a_terminal_that_comes_back_has_no_modes_of_before(
    shown: Shown, server: Server, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    """The mouse would go on to the agent, and nothing could be marked, though the keyboard is not taken any more."""
    name = f"mouse-{request.node.callspec.id}"
    argv = ("sh", "-c", r"printf '\033[?1000hclick'; exec sleep 86400")
    alpha.spawn(SeatDraft(name=name, agent="command", argv=argv))
    page = shown.go("member", f"{name}@terminal")
    rows, follows_the_mouse = page.locator(".xterm-rows"), page.locator(".xterm.enable-mouse-events")
    expect(rows).to_contain_text("click")
    shown.press("Take the keyboard")
    expect(follows_the_mouse).to_have_count(1)
    server.end(signal.SIGKILL)
    expect(page.get_by_text("The terminal is disconnected")).to_be_visible()
    server.process = Server(alpha.store.home).process
    expect(page.get_by_text("The terminal is disconnected")).to_have_count(0)
    expect(follows_the_mouse).to_have_count(0)
    expect(rows).to_contain_text("click")
    shown.press("Take the keyboard")
    expect(follows_the_mouse).to_have_count(1)
    alpha.shut_down(name, force=True)
    shown.troubles.clear()
