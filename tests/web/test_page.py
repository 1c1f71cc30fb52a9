"""The server of the page as a browser meets it."""

import json
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.store.paths import DEVICES
from pro0.store.teams import TeamStore
from pro0.web.proof import FORBIDDEN, TROUBLE
from tests.conftest import Result
from tests.teams import human
from tests.waiting import STUCK
from tests.web.browsers import Browser
from tests.web.conftest import Server

Serve = Callable[..., Server]
Another = Callable[[str], Browser]


def test_the_page_comes_with_its_strict_policy(browser: Browser) -> None:
    answer = browser.request("GET", "/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert browser.request("GET", "/nothing").status == 404


def test_a_code_pairs_once_and_its_cookie_is_out_of_reach_of_scripts(serve: Serve, team: TeamStore) -> None:
    browser = Browser(serve().url)
    answer = browser.pair(name="my phone")
    assert answer.json["rights"] == "all"
    flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert browser.pair().json["error"]["code"] == "wrong_code"
    stored = (team.paths.home / "web" / "devices.json").read_text()
    for secret in (browser.code, browser.secret, browser.cookie.partition("=")[2]):
        assert secret not in stored


def test_after_five_wrong_codes_no_code_counts(serve: Serve) -> None:
    browser = Browser(serve().url)
    codes = [browser.pair(f"{number:032x}").json["error"]["code"] for number in range(5)]
    assert codes == ["wrong_code"] * 5
    assert browser.pair().json["error"]["code"] == "pairing_locked"


def test_both_proofs_are_needed(browser: Browser, another: Another) -> None:
    no_cookie: dict[str, object] = {"additional_headers": {}}
    no_secret: dict[str, object] = {"subprotocols": ["pro0"]}
    lacking: list[dict[str, object]] = [no_cookie, no_secret, {**no_cookie, **no_secret}]
    lacking += [{"additional_headers": {"Cookie": another("all").cookie}}, {"subprotocols": ["pro0", "secret.0"]}]
    for changes in lacking:
        with pytest.raises(InvalidStatus) as refused:
            browser.open("/rpc", **changes)
        assert refused.value.response.status_code == 403


def test_the_home_is_told_with_its_teams(browser: Browser) -> None:
    wire = browser.rpc()
    shown = wire.result("home.show")
    assert (shown["device"]["id"], shown["device"]["rights"]) == (browser.id, "all")
    [team] = wire.result("team.list")["teams"]
    assert (team["name"], team["members"], team["lead"]) == ("alpha", 3, "gone")
    assert wire.ask("nothing.there")["error"]["code"] == -32601


def test_a_team_is_spoken_to_and_tells_its_changes(browser: Browser, team: TeamStore) -> None:
    wire = browser.rpc("alpha")
    subscribed = wire.result("task.list.subscribe")
    tasks.create(human(team), [Draft(title="seen on the page")])
    change = wire.next_notice()
    assert change["method"] == "task.list.changed"
    assert (change["params"]["id"], change["params"]["task"]["title"]) == (subscribed["id"], "seen on the page")


def test_a_team_that_is_not_there_is_refused(browser: Browser) -> None:
    for name in ("beta", "..", "UPPER", "%2e%2e"):
        with pytest.raises(InvalidStatus):
            browser.open(f"/rpc/{name}")


ROLES = ("agent.role.create", "agent.role.update", "agent.role.delete")


@pytest.mark.parametrize(
    ("rights", "may", "may_not"),
    [
        (
            "look",
            ["task.list", "message.history", "agent.role.list"],
            ["task.create", "message.send", "task.approve", "team.stop", *ROLES],
        ),
        ("answer", ["task.list", "message.send"], ["task.create", "team.stop", "member.spawn", *ROLES]),
        ("all", ["task.list", "message.send", "task.create", *ROLES], ["member.env"]),
    ],
)
def test_a_device_does_what_its_rights_hold(another: Another, rights: str, may: list[str], may_not: list[str]) -> None:
    wire = another(rights).rpc("alpha")
    params: dict[str, dict[str, object]] = {
        "message.send": {"recipient": "w1", "content": "hello"},
        "task.create": {"title": "new"},
        "member.env": {"name": "w1"},
        "agent.role.create": {"name": "Critic", "role_prompt": "Doubt."},
        "agent.role.update": {"role_id": "critic", "role_prompt": "Doubt all."},
        "agent.role.delete": {"role_id": "critic"},
    }
    for method in may:
        heard = wire.ask(method, **params.get(method, {}))
        assert "result" in heard or heard["error"]["data"]["code"] == "bad_input", heard
    for method in may_not:
        assert wire.refused(method, **params.get(method, {})) == "not_allowed", method


def test_a_revoked_device_does_nothing_more(browser: Browser, another: Another, cli: Callable[..., Result]) -> None:
    phone = another("answer")
    wire = phone.rpc("alpha")
    assert cli("web", "revoke", "answer").code == 0
    with pytest.raises(ConnectionClosed):
        wire.socket.recv(STUCK)
    with pytest.raises(InvalidStatus):
        phone.open("/rpc")
    assert [device["name"] for device in browser.rpc().result("device.list")["devices"]] == ["a test"]


def test_damaged_devices_are_said_once_and_browsers_are_told_to_try_again(serve: Serve, team: TeamStore) -> None:
    """Whoever is paired is not told to pair anew; what is open goes on."""
    server = serve()
    browser = Browser(server.url)
    browser.pair()
    before = browser.rpc("alpha")
    file = team.paths.home / "web" / DEVICES
    sound = file.read_bytes()
    for _ in range(2):
        file.write_text("{")
        for path in ("/rpc", "/rpc/alpha", "/terminal/alpha/w1"):
            with pytest.raises(ConnectionClosed) as closed:
                browser.open(path).recv(STUCK)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == TROUBLE
        file.write_bytes(sound)
        assert before.result("task.list") == browser.rpc("alpha").result("task.list") == []
    browser.close()
    code, _, said = server.end()
    assert code == 0
    lines = said.splitlines()
    assert len(lines) == 2, "once for each time"
    assert all(line.startswith("pro0: no browser is let in: ") and str(file) in line for line in lines)


def test_a_revoked_device_is_told_so_and_the_server_says_nothing(serve: Serve, cli: Callable[..., Result]) -> None:
    """Whoever hangs up is no error of the server's."""
    server = serve()
    browser = Browser(server.url)
    browser.pair(name="phone")
    wires = [browser.rpc("alpha"), browser.rpc()]
    assert cli("web", "revoke", "phone").code == 0
    for wire in wires:
        with pytest.raises(ConnectionClosed) as closed:
            wire.socket.recv(STUCK)
        assert closed.value.rcvd
        assert closed.value.rcvd.code == FORBIDDEN
    assert server.end(signal.SIGTERM) == (0, "the page is closed; your teams go on\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_with_open_conversations(serve: Serve, number: int) -> None:
    server = serve()
    browser = Browser(server.url)
    browser.pair()
    wire = browser.rpc("alpha")
    wire.result("need.list.subscribe")
    assert server.end(number) == (0, "the page is closed; your teams go on\n", "")
    with pytest.raises(ConnectionClosed):
        wire.socket.recv(STUCK)


def test_killed_it_comes_back_at_the_same_place_for_the_same_devices(serve: Serve) -> None:
    server = serve()
    browser = Browser(server.url)
    browser.pair()
    server.end(signal.SIGKILL)
    again = serve()
    assert again.url.partition("#")[0] == server.url.partition("#")[0]
    assert browser.rpc().result("home.show")["device"]["id"] == browser.id


def test_a_port_that_is_taken_once_is_not_given_up(serve: Serve) -> None:
    """Paired browsers know the page by its port: another one is for this once, and said."""
    server = serve()
    browser = Browser(server.url)
    browser.pair()
    server.end()
    port = int(browser.host.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        meanwhile = serve()
        assert Browser(meanwhile.url).base != browser.base
        _, _, said = meanwhile.end()
    assert f"pro0: port {port}, where the page was last, cannot be used" in said
    assert Browser(serve().url).base == browser.base
    assert browser.rpc().result("home.show")["device"]["id"] == browser.id


def test_only_one_process_serves_a_home(serve: Serve, cli: Callable[..., Result]) -> None:
    server = serve()
    second = cli("web", "--no-open")
    assert (second.code, server.url.partition("#")[0] in second.err) == (4, True)


def test_long_and_broken_messages_are_answered_or_end_the_conversation(browser: Browser) -> None:
    wire = browser.rpc("alpha")
    wire.socket.send("{" * 20)
    assert json.loads(wire.socket.recv(STUCK))["error"]["code"] == -32700
    assert wire.result("task.list") == []
    with suppress(ConnectionClosed):
        wire.socket.send("x" * (5 << 20))
    with pytest.raises(ConnectionClosed):
        wire.socket.recv(STUCK)
