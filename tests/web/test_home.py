"""What a page does for a home and with the person's word: start teams, follow them, give verdicts on what was shown."""

import asyncio
import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed

from pro0.engine.copying import copy_store
from pro0.model.home import Rights
from pro0.model.runtime import Phase
from pro0.model.task import Awaiting, Changes, Draft, Gate
from pro0.model.team import PlanGate, StorePointer
from pro0.ops import devices, verdicts
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import plan_approval
from pro0.processes import identify
from pro0.rpc.lists import Lists
from pro0.store.files import File
from pro0.store.paths import CONFIG, STORE
from pro0.store.teams import Store, TeamStore
from pro0.web.admission import PageAddress
from pro0.web.conversations import Conversations
from pro0.web.home.client import HomeClient
from pro0.web.home.server import HomeServer
from pro0.web.home.teams import TEAMS
from pro0.web.proof import Doorkeeper
from tests.postgres import postgres, require
from tests.rpc.calling import call
from tests.teams import human, make_team, member
from tests.waiting import STUCK, wait_until
from tests.web.browsers import Browser
from tests.web.conftest import Server

Another = Callable[[str], Browser]
COMING = 8
LOOK = 3.0
"""Less than the seconds of one look at a database that does not answer."""
THREADS = 4
"""More threads that the page may come to have, however many teams it shows: those that its own files are read in."""


@pytest.fixture
def waiting(team: TeamStore) -> str:
    """The id of a task that waits for the person."""
    [task] = tasks.create(human(team), [Draft(title="which way?")])
    gates.hold(human(team), task.id, Awaiting.WORK)
    return task.id


def test_a_team_that_cannot_be_read_hides_no_change_of_another(home: Path) -> None:
    """It comes first by its name."""
    broken, sound = make_team(home, name="a-broken"), make_team(home, name="b-sound")
    (broken.paths.team / STORE).write_bytes(b"{")
    server = HomeServer(home)
    before = [*server._signs()]
    tasks.create(human(sound), [Draft(title="new")])
    assert [*server._signs()] != before


def test_a_team_that_comes_and_goes_between_two_looks_is_a_change(home: Path) -> None:
    """A list may have been read meanwhile: it would show the team for ever."""
    server = HomeServer(home)
    make_team(home, name="alpha")
    before = [*server._signs()]
    made = make_team(home, name="beta")
    Store(home).discard("beta", made.config.read().uid)
    assert [*server._signs()] != before


def test_mail_that_is_read_is_a_change(home: Path) -> None:
    """It is a need of the person until then, and the reading is no event."""
    team, server = make_team(home, "w1", name="alpha"), HomeServer(home)
    messages.send(member(team, "w1"), "human", "look here")
    before = [*server._signs()]
    messages.acknowledge(human(team), up_to={"human": 1})
    assert [*server._signs()] != before


def test_a_lead_that_is_stopped_or_goes_on_is_a_change(home: Path) -> None:
    """The list of teams shows it, and no file changes."""
    team, server = make_team(home, name="alpha"), HomeServer(home)
    with subprocess.Popen(["sleep", "600"]) as lead:
        with team.runtime.change("a test") as change:
            change.value = replace(change.value, phase=Phase.RUNNING, lead=identify(lead.pid))
        before = [*server._signs()]
        assert [*server._signs()] == before
        lead.send_signal(signal.SIGSTOP)
        wait_until(lambda: [*server._signs()] != before, STUCK, "it is stopped")
        lead.send_signal(signal.SIGCONT)
        wait_until(lambda: [*server._signs()] == before, STUCK, "it goes on")
        lead.kill()


def test_a_team_that_could_not_be_read_is_looked_at_again(home: Path) -> None:
    """Its error may pass and change no file, also one that was there at the first look."""
    team = make_team(home, name="alpha")
    config = team.config.path
    sound = config.read_bytes()
    device, _ = devices.pair(home, devices.new_code(home, Rights.ALL), "a browser")
    client = HomeClient(home, device, Lists())
    config.write_bytes(b"{")
    [entry] = call(client, f"{TEAMS}.subscribe")["teams"]
    assert entry["error"]
    assert client.subscriptions.owing
    assert client.subscriptions.changes() == []
    assert client.subscriptions.behind
    config.write_bytes(sound)
    [(_, told)] = client.subscriptions.changes()
    assert told.operation == "update"
    assert not client.subscriptions.behind


@pytest.fixture
def mute(team: TeamStore) -> Iterator[TeamStore]:
    """A team whose database takes connections and never says a word, as a stopped server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        mute = make_team(team.paths.home, name="a-mute")
        url = f"postgresql://me@127.0.0.1:{server.getsockname()[1]}/teams"
        File(mute.paths.team, STORE, StorePointer).create(StorePointer(url=url, uid="uid-a-mute"))
        yield mute


@pytest.mark.usefixtures("mute")
def test_a_team_whose_database_does_not_answer_holds_nothing_of_the_home_up(browser: Browser, team: TeamStore) -> None:
    """Neither a request nor the change of another team, though each look at it takes 5 seconds."""
    wire = browser.rpc()
    entries = {entry["name"]: entry for entry in wire.result(f"{TEAMS}.subscribe")["teams"]}
    assert entries["a-mute"]["error"] == "its database has not answered yet"
    assert "error" not in entries["alpha"]
    tasks.create(human(team), [Draft(title="new")])
    waited, told = list[float](), list[dict[str, object]]()

    def is_told() -> bool:
        began = time.monotonic()
        wire.result("home.show")
        waited.append(time.monotonic() - began)
        told[:] = [notice["params"]["team"] for notice in wire.told]
        return {"a-mute", "alpha"} == {entry["name"] for entry in told}

    wait_until(is_told, STUCK, "both are told")
    assert any("cannot be reached" in str(entry.get("error")) for entry in told)
    assert max(waited) < LOOK, waited


def test_a_team_in_a_database_is_followed(browser: Browser, team: TeamStore, database: str) -> None:
    """Each of its changes is told."""
    there = make_team(team.paths.home, name="there", url=database)
    wire = browser.rpc()
    assert ["error" in entry for entry in wire.result(f"{TEAMS}.subscribe")["teams"]] == [False, False]
    for number in (1, 2):
        tasks.create(human(there), [Draft(title="new")])
        while wire.next_notice()["params"]["team"]["tasks"].get("ready") != number:
            pass


def test_an_open_page_learns_that_everybody_has_died(browser: Browser, team: TeamStore) -> None:
    """3.27: no file changes then, and nobody is left to announce it."""
    with subprocess.Popen(["sleep", "600"]) as lead:
        with team.runtime.change("a test") as change:
            sessions = tuple(
                replace(seat, guard=identify(lead.pid), agent=identify(lead.pid)) for seat in change.value.seats
            )
            change.value = replace(change.value, phase=Phase.RUNNING, lead=identify(lead.pid), seats=sessions)
        wire = browser.rpc("alpha")
        assert wire.result("need.list.subscribe")["needs"] == []
        members = wire.result("member.list.subscribe")["members"]
        assert {member["state"] for member in members} == {"idle"}
        lead.kill()
    told = [wire.next_notice()["params"] for _ in range(1 + len(members))]
    assert [one["need"]["kind"] for one in told if "need" in one] == ["no lead"]
    assert {one["member"]["state"] for one in told if "member" in one} == {"crashed"}


def test_a_verdict_counts_for_what_was_shown_alone(another: Another, team: TeamStore, waiting: str) -> None:
    wire = another("answer").rpc("alpha")
    shown = wire.result("task.show", task_id=waiting)
    assert wire.refused("task.approve", task_id=waiting) == "bad_input"
    wire.socket.send(f'{{"jsonrpc": "2.0", "id": 99, "method": "task.approve", "params": ["{waiting}"]}}')
    assert json.loads(wire.socket.recv(STUCK))["error"]["data"]["code"] == "bad_input"
    assert wire.refused("task.approve", task_id=waiting, shown="0" * 32) == "stale_answer"
    tasks.update(human(team), waiting, Changes(description="something quite different"))
    assert wire.refused("task.approve", task_id=waiting, shown=shown["digest"]) == "stale_answer"
    assert wire.result("task.show", task_id=waiting)["awaiting"] == "work"
    now = wire.result("task.show", task_id=waiting)["digest"]
    assert "awaiting" not in wire.result("task.approve", task_id=waiting, shown=now, said="go on")


def test_a_verdict_by_any_method_counts_for_what_was_shown_alone(another: Another, team: TeamStore) -> None:
    """5.11: task.resolve may close and continue, and task.update and task.delete may take a gate away."""
    [task] = tasks.create(human(team), [Draft(title="which way?", requires=Gate.APPROVAL)])
    gates.hold(human(team), task.id, Awaiting.WORK)
    wire = another("all").rpc("alpha")
    others: list[tuple[str, dict[str, object]]] = [
        ("task.resolve", {"action": "close"}),
        ("ticket.resolve", {"action": "continue"}),
        ("task.update", {"requires": ""}),
        ("task.delete", {}),
    ]
    for method, params in others:
        named = {"ticket_id" if method.startswith("ticket") else "task_id": task.id, **params}
        assert wire.refused(method, **named) == "bad_input"
        assert wire.refused(method, **named, shown="0" * 32) == "stale_answer"
    assert tasks.show(human(team), task.id).awaiting
    assert wire.result("task.update", task_id=task.id, title="which other way?")["title"] == "which other way?"
    now = wire.result("task.show", task_id=task.id)["digest"]
    assert "requires" not in wire.result("task.update", task_id=task.id, requires="", shown=now)


def test_a_cancelled_wait_is_not_taken_away_by_a_reopening_without_a_verdict(another: Another, team: TeamStore) -> None:
    """5.11: a device may cancel what waits for the person, and what it opens again then waits for nobody."""
    [held, free] = tasks.create(human(team), [Draft(title="held"), Draft(title="free")])
    gates.hold(human(team), held.id, Awaiting.APPROVAL, "look first")
    wire = another("all").rpc("alpha")
    for task in (held, free):
        assert wire.result("task.cancel", task_id=task.id, reason="no")["status"] == "closed"
    assert wire.refused("task.reopen", task_id=held.id) == "bad_input"
    assert wire.refused("task.reopen", task_id=held.id, shown="0" * 32) == "stale_answer"
    now = wire.result("task.show", task_id=held.id)["digest"]
    assert wire.result("task.reopen", task_id=held.id, shown=now)["status"] == "open"
    assert wire.result("task.reopen", task_id=free.id)["status"] == "open"


def test_who_may_answer_may_have_what_failed_tried_again(another: Another, team: TeamStore) -> None:
    """5.10: it is an answer to what needs the person, by either method."""
    wire = another("answer").rpc("alpha")
    for title, method, more in (("one", "task.retry", {}), ("two", "task.resolve", {"action": "retry"})):
        [task] = tasks.create(human(team), [Draft(title=title)])
        tasks.claim(member(team, "w1"), task.id)
        tasks.fail(member(team, "w1"), task.id, "broken")
        assert wire.result(method, task_id=task.id, **more)["status"] == "open"
    assert wire.refused("task.cancel", task_id=task.id) == "not_allowed"


def test_a_verdict_on_a_plan_names_the_plan_that_was_shown(another: Another, team: TeamStore) -> None:
    with team.wanted.change("a test") as change:
        seats = tuple(replace(seat, gate=PlanGate()) for seat in change.value.seats)
        change.value = replace(change.value, seats=seats)
    plan_approval.submit(member(team, "w1"), "first the parser")
    wire = another("answer").rpc("alpha")
    [shown] = [need["request"] for need in wire.result("need.list.subscribe")["needs"] if need["kind"] == "plan"]
    assert wire.refused("plan.approve", name="w1") == "bad_input"
    assert wire.refused("plan.approve", name="w1", about="another") == "stale_plan"
    assert "result" in wire.ask("plan.approve", name="w1", about=shown)


def test_with_a_pin_a_verdict_needs_it(another: Another, team: TeamStore, waiting: str) -> None:
    phone = another("answer")
    verdicts_asked = iter(["123456", "123456"])
    home = team.paths.home
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdicts, "has_terminal", lambda: True)
        verdicts.set_pin(home, ask=lambda _: next(verdicts_asked))
    assert phone.rpc().result("home.show")["pin"] is True
    wire = phone.rpc("alpha")
    answer = {"task_id": waiting, "shown": wire.result("task.show", task_id=waiting)["digest"]}
    assert wire.refused("task.approve", **answer) == "pin_needed"
    assert wire.refused("task.approve", **answer, pin="654321") == "wrong_pin"
    assert wire.refused("task.approve", **answer, pin=7) == "bad_input"
    assert wire.result("task.approve", **answer, pin="123456")["id"] == waiting


def test_a_team_that_was_copied_is_followed_in_its_new_place(browser: Browser, team: TeamStore) -> None:
    """Who looks again sees its changes, whatever the server of the page has watched before."""
    require()
    old = browser.rpc("alpha")
    assert old.result("task.list.subscribe")["tasks"] == []
    with postgres() as server:
        copy_store(Store(team.paths.home), "alpha", server.url(), print, remove_source=False)
        there = Store(team.paths.home).team("alpha")
        assert old.refused("task.list") == "not_found"
        wire = browser.rpc("alpha")
        assert wire.result("task.list.subscribe")["tasks"] == []
        tasks.create(human(there), [Draft(title="there")])
        assert "there" in json.dumps(wire.next_notice())
        copy_store(Store(team.paths.home), "alpha", "files", print, remove_source=True)
    assert [task["title"] for task in browser.rpc("alpha").result("task.list")] == ["there"]


def test_a_later_team_of_that_name_shows_nothing_of_the_earlier_one(browser: Browser, team: TeamStore) -> None:
    """Nor does it lack mail whose numbers were given before."""
    for content in ("one", "two"):
        messages.send(human(team), "w1", content)
    old = browser.rpc("alpha")
    assert [m["content"] for m in old.result("message.list.subscribe")["messages"]] == ["one", "two"]
    store, config, wanted = Store(team.paths.home), team.config.read(), team.wanted.read()
    store.discard("alpha", config.uid)
    store.create(replace(config, uid="uid-again", revision=0), replace(wanted, revision=0))
    team.mailbox("w1").make()
    messages.send(human(team), "w1", "anew")
    wire = browser.rpc("alpha")
    assert [m["content"] for m in wire.result("message.list.subscribe")["messages"]] == ["anew"]
    tasks.create(human(team), [Draft(title="a task of the later one")])
    assert wire.result("task.list.subscribe")["tasks"][0]["title"] == "a task of the later one"
    list(old.socket)  # until it is closed
    with pytest.raises(ConnectionClosed):
        old.socket.recv(STUCK)


def test_a_team_that_cannot_be_read_for_a_moment_cuts_nobody_off(
    browser: Browser, another: Another, team: TeamStore
) -> None:
    """Another browser that comes just then learns what stands in the way, and the first one goes on."""
    first = browser.rpc("alpha")
    assert first.result("task.list.subscribe")["tasks"] == []
    file = team.paths.team / CONFIG
    sound = file.read_bytes()
    file.write_text("{")
    second = another("all").rpc("alpha")
    assert second.refused("member.list") == "store_corrupt"
    file.write_bytes(sound)
    assert second.result("task.list.subscribe")["tasks"] == []
    tasks.create(human(team), [Draft(title="told to both")])
    for wire in (first, second):
        assert "told to both" in json.dumps(wire.next_notice())


def test_a_server_that_nobody_speaks_to_outlasts_a_moment_without_its_team(team: TeamStore) -> None:
    """5.9: it knows what a browser that comes back has missed."""
    address = PageAddress(team.paths.home, 1, frozenset(), frozenset(), "")
    conversations = Conversations(address, Doorkeeper(address, print))
    file = team.paths.team / CONFIG
    sound = file.read_bytes()

    async def main() -> None:
        server = await conversations._server("alpha")
        file.write_text("{")
        with conversations._holding(server):
            pass
        file.write_bytes(sound)
        assert await conversations._server("alpha") is server

    try:
        asyncio.run(main())
    finally:
        conversations.close()


def test_teams_that_come_and_go_leave_nothing_in_the_page(serve: Callable[..., Server], team: TeamStore) -> None:
    """Nor does one that went when nobody looked at it any more; one that somebody else looks at is served on."""
    server, store = serve(), Store(team.paths.home)
    browser, page = Browser(server.url), psutil.Process(server.process.pid)
    browser.pair()
    steady = browser.rpc("alpha")
    assert steady.result("task.list.subscribe")["tasks"] == []
    tasks.create(human(team), [Draft(title="watched")])
    assert "watched" in json.dumps(steady.next_notice())
    before = page.num_fds()
    most = page.num_threads() + THREADS
    for number in range(COMING):
        unseen = make_team(team.paths.home, "w1", name=f"unseen-{number}")
        wire = browser.rpc(unseen.name)
        assert wire.result("task.list") == []
        wire.socket.close()
        store.discard(unseen.name, unseen.config.read().uid)
        gone = make_team(team.paths.home, "w1", name=f"gone-{number}")
        left, looks = browser.rpc(gone.name), browser.rpc(gone.name)
        for wire in (left, looks):
            assert wire.result("task.list") == []
        assert looks.result("task.list.subscribe")["tasks"] == []
        left.socket.close()
        assert looks.result("task.list") == []
        store.discard(gone.name, gone.config.read().uid)
        list(looks.socket)  # until it is closed
    wait_until(lambda: page.num_fds() <= before, STUCK, "descriptors are closed")
    wait_until(lambda: page.num_threads() <= most, STUCK, "threads have ended")
    tasks.create(human(team), [Draft(title="still told")])
    assert "still told" in json.dumps(steady.next_notice())
    browser.close()


def test_a_team_is_started_and_removed(browser: Browser, team: TeamStore, tmp_path: Path) -> None:
    wire = browser.rpc()
    subscribed = wire.result("team.list.subscribe")
    assert [entry["name"] for entry in subscribed["teams"]] == ["alpha"]
    folder = tmp_path / "project"
    folder.mkdir()
    try:
        wire.result(
            "team.start",
            name="beta",
            project=str(folder),
            mode="headless",
            members=[{"name": "w1", "agent": "shell"}],
            tasks=["--force look around"],
            workDoneToken="t",
        )
        assert [task.title for task in tasks.board(human(Store(team.paths.home).team("beta")))] == [
            "--force look around"
        ]
        heard = [notice["method"] for notice in wire.told]
        assert "$/progress" in heard
        while (notice := wire.next_notice())["method"] != "team.list.changed":
            pass
        assert notice["params"]["team"]["name"] == "beta"
    finally:
        wire.ask("team.cleanup", team="beta", force=True)
    assert [entry["name"] for entry in wire.result("team.list")["teams"]] == ["alpha"]


UNSTARTABLE: list[tuple[dict[str, object], str]] = [
    ({"name": "-x"}, "bad_input"),
    ({"name": "beta", "project": "relative"}, "not_found"),
    ({"name": "beta", "project": "/nowhere/at/all"}, "not_found"),
    ({"name": "beta", "project": "/\0"}, "not_found"),
    ({"name": "beta", "project": "/" + "x" * 5000}, "not_found"),
    ({"name": "beta", "layout": "none such"}, "not_found"),
    ({"name": "beta", "members": [{"name": "w1", "agent": "nobody"}]}, "bad_input"),
    ({"name": "alpha"}, "refused"),
    ({"name": "beta", "goal": "\0"}, "bad_input"),
]


def test_what_cannot_be_started_is_refused_with_the_commands_own_words(
    browser: Browser, tmp_path: Path, team: TeamStore
) -> None:
    wire = browser.rpc()
    for wish, code in UNSTARTABLE:
        whole_wish = {"project": str(tmp_path), "mode": "headless", **wish}
        assert (wish, wire.refused("team.start", **whole_wish)) == (wish, code)
    assert Store(team.paths.home).names() == ["alpha"]


def test_layouts_and_agents_are_told(browser: Browser, tmp_path: Path) -> None:
    wire = browser.rpc()
    assert {"demo", "pair"} <= set(wire.result("layout.list", project=str(tmp_path))["layouts"])
    assert wire.refused("layout.list", project=f"{tmp_path}/{'x' * 300}") == "not_found"
    assert {"claude", "shell"} <= {agent["agent"] for agent in wire.result("agent.list")["agents"]}
