"""A page whose connection is cut says so, comes back by itself, and has missed and doubled nothing."""

import random
import signal

import pytest
from playwright.sync_api import expect

from pro0.model.task import Draft
from pro0.store.paths import DEVICES, TASKS, web
from pro0.web.admitted import CONNECTIONS
from tests.engine.crew import Crew
from tests.waiting import STUCK, wait_until
from tests.web.browsers import Browser
from tests.web.conftest import Server
from tests.web.page.conftest import pairing
from tests.web.page.pages import SHOW, Shown

CUT = "for (const socket of globalThis.sockets) socket.close()"
ANSWERED = "link.held.some(([socket]) => socket.url.endsWith('/rpc/alpha') && socket.readyState === WebSocket.OPEN)"
KEEP = """
globalThis.sockets = new Set();
globalThis.WebSocket = class extends WebSocket {
  constructor(...words) {
    super(...words);
    sockets.add(this);
    this.addEventListener("close", () => sockets.delete(this));
  }
};
"""


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_random_cuts_lose_and_double_no_event(shown: Shown, alpha: Crew, seed: int) -> None:
    """Twenty cuts each, while tasks are made and events are told."""
    dice = random.Random(seed)
    page = shown.page
    page.add_init_script(KEEP)
    shown.go("timeline")
    page.reload()
    shown.go("timeline")
    expect(page.get_by_role("status").filter(has_text="event")).to_be_visible()
    ids = []
    for number in range(20):
        ids += alpha.give(*(Draft(title=f"cut {number}") for _ in range(dice.randint(1, 3))))
        page.evaluate(CUT)
        if dice.random() < 0.5:
            page.wait_for_timeout(dice.randint(0, 50))
    for id in ids:
        expect(page.locator(".event", has=page.get_by_role("link", name=f"{id} cut"))).to_have_count(1)
    shown.go("tree")
    for id in (ids[0], ids[-1]):
        page.get_by_label("Find a task").fill(id)
        expect(page.locator(".line").get_by_text(id, exact=True)).to_have_count(1)
    shown.troubles.clear()


def test_one_page_too_many_is_told_so_and_comes_in_by_itself(shown: Shown, alpha: Crew) -> None:
    """Not that it is unpaired: it would be paired once more, for nothing."""
    others = Browser(pairing(alpha))
    others.pair()
    for _ in range(CONNECTIONS):  # with those of the other page these are too many
        others.open("/rpc")
    another = Shown(shown.page.context.new_page(), shown.origin, shown.late)
    said = another.page.get_by_text("Too many pages are open")
    expect(said).to_be_visible()
    another.go("tree")
    expect(another.page.get_by_role("heading", name="Tasks")).to_be_visible()
    expect(said).to_be_visible()
    others.close()
    expect(said).to_have_count(0)
    expect(another.page.get_by_role("button", name="New task")).to_be_visible()
    assert not another.troubles
    another.page.close()


def test_a_list_opened_just_as_a_full_server_has_a_place_again_comes(shown: Shown, alpha: Crew) -> None:
    """The connection is there by then, and its first answer is not, which alone shows that there is a place."""
    others = Browser(pairing(alpha))
    others.pair()
    for _ in range(CONNECTIONS):
        others.open("/rpc")
    another = Shown(shown.page.context.new_page(), shown.origin, shown.late)
    another.go("tree")
    expect(another.page.get_by_text("Too many pages are open")).to_be_visible()
    another.page.evaluate("link.hold(/./)")
    others.close()
    wait_until(lambda: another.page.evaluate(ANSWERED), STUCK, "it has a place")
    another.go("timeline")
    another.page.evaluate("link.free()")
    expect(another.page.get_by_text("Too many pages are open")).to_have_count(0)
    expect(another.page.get_by_role("status").filter(has_text="event")).to_be_visible()
    assert not another.troubles
    another.page.close()


def test_a_page_whose_server_is_in_trouble_is_told_so_and_comes_in_by_itself(shown: Shown, alpha: Crew) -> None:
    """Not that it is unpaired, which would lead nowhere."""
    file = web(alpha.store.home) / DEVICES
    sound = file.read_bytes()
    file.write_text("{")
    another = Shown(shown.page.context.new_page(), shown.origin, shown.late)
    try:
        for screen, heading in (("#/alpha/tree/", "Tasks"), ("#/", "Teams")):
            another.page.evaluate(SHOW, screen)
            expect(another.page.get_by_role("heading", name=heading)).to_be_visible()
            expect(another.page.get_by_text("The server cannot let this page in")).to_be_visible()
    finally:
        file.write_bytes(sound)
    expect(another.page.get_by_text("The server cannot let this page in")).to_have_count(0)
    expect(another.page.get_by_role("link", name="alpha")).to_be_visible()
    assert not another.troubles
    another.page.close()


@pytest.mark.soak
def test_a_killed_server_is_said_and_the_page_comes_back_by_itself(shown: Shown, server: Server, alpha: Crew) -> None:
    page = shown.go("tree")
    server.end(signal.SIGKILL)
    expect(page.get_by_text("The server cannot be reached")).to_be_visible()
    [id] = alpha.give(Draft(title="made meanwhile"))
    server.process = Server(alpha.store.home).process
    expect(page.get_by_text("The server cannot be reached")).not_to_be_visible()
    page.get_by_label("Find a task").fill(id)
    expect(page.locator(".line").get_by_text(id, exact=True)).to_have_count(1)
    shown.troubles.clear()


def test_a_connection_that_went_dead_without_a_word_is_noticed_by_who_comes_back(
    shown: Shown, server: Server, alpha: Crew
) -> None:
    """5.9: a phone that slept has an open connection to nobody. Whoever looks again is told, and calls end.

    The list of teams says so too.
    """
    [id] = alpha.give(Draft(title="much is said"))
    page = shown.go("tree", id)
    expect(page.get_by_text("One moment")).to_have_count(0)
    shown.panel.get_by_label("Your comment").fill("is it said?")
    server.process.send_signal(signal.SIGSTOP)
    try:
        shown.press("Comment", shown.panel)
        page.evaluate("dispatchEvent(new Event('online'))")
        expect(page.get_by_text("The server cannot be reached")).to_be_visible()
        expect(shown.panel.get_by_role("alert")).to_contain_text("the connection was cut before the answer came")
        page.evaluate(SHOW, "#/")
        expect(page.get_by_role("link", name="alpha")).to_be_visible()
        expect(page.get_by_text("The server cannot be reached")).to_be_visible()
        [another] = alpha.give(Draft(title="made while nobody heard"))
    finally:
        server.process.send_signal(signal.SIGCONT)
    expect(page.get_by_text("The server cannot be reached")).not_to_be_visible()
    shown.go("tree", another)
    expect(shown.panel.get_by_role("heading", name="made while nobody heard")).to_be_visible()
    shown.troubles.clear()


def test_a_terminal_that_went_dead_without_a_word_is_noticed_by_who_comes_back(shown: Shown, server: Server) -> None:
    """Else it would show the screen of before the sleep as the present one."""
    page = shown.go("member", "ada@terminal")
    rows = page.locator(".xterm-rows")
    expect(rows).to_contain_text("I am ready")
    server.process.send_signal(signal.SIGSTOP)
    try:
        page.evaluate("dispatchEvent(new Event('online'))")
        expect(page.get_by_text("The terminal is disconnected")).to_be_visible()
    finally:
        server.process.send_signal(signal.SIGCONT)
    expect(page.get_by_text("The terminal is disconnected")).to_have_count(0)
    expect(rows).to_contain_text("I am ready")
    shown.troubles.clear()


def test_who_comes_back_to_a_terminal_that_is_there_keeps_it(shown: Shown) -> None:
    """It is answered, though nothing moves on its screen."""
    page = shown.go("member", "ada@terminal")
    expect(page.locator(".xterm-rows")).to_contain_text("I am ready")
    page.evaluate('link.hold(/"there"/)')
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(lambda: page.evaluate("link.held.length") == 1, STUCK, "it is answered")
    page.evaluate("link.free()")
    expect(page.locator("[role=alert]", has_text="type")).to_have_count(0)


def test_who_comes_back_to_a_connection_that_is_there_is_answered_at_once(shown: Shown) -> None:
    page = shown.go("tree")
    expect(page.get_by_text("One moment")).to_have_count(0)
    page.evaluate(r"link.hold(/\"id\": ?0\b/)")
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(lambda: page.evaluate("link.held.length") == 2, STUCK, "both servers have answered, home and team")
    page.evaluate("link.free()")


def test_a_list_that_cannot_be_read_again_is_said_to_be_old_and_comes_by_itself(
    shown: Shown, server: Server, alpha: Crew
) -> None:
    """5.9; the connection itself is there, and is not lost a second time."""
    page = shown.go("tree")
    [id] = alpha.give(Draft(title="there before"))
    page.get_by_label("Find a task").fill("there")
    line = page.locator(".line").get_by_text(id, exact=True)
    expect(line).to_have_count(1)
    file = alpha.team.paths.tasks / TASKS
    whole = file.read_bytes()
    server.end(signal.SIGKILL)
    file.write_bytes(b"{")
    server.process = Server(alpha.store.home).process
    old = page.get_by_text("Some of this could not be read again")
    expect(old).to_be_visible()
    expect(line).to_have_count(1)
    file.write_bytes(whole)
    expect(old).not_to_be_visible()
    [another] = alpha.give(Draft(title="there after"))
    expect(page.locator(".line").get_by_text(another, exact=True)).to_have_count(1)
    shown.troubles.clear()
