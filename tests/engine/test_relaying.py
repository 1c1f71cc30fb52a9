"""Requests for permission and the answers to them, carried between a store and an agent's own server."""

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.agents.adapter import PermissionChannel, SessionView
from pro0.agents.memory import Memory
from pro0.agents.opencode.adapter import OPENCODE
from pro0.engine.background.agent_states import AgentStates, WatchedSession
from pro0.engine.background.relaying import PermissionRelay
from pro0.engine.log import Log
from pro0.errors import Refused, Unwritable
from pro0.model.decision import Seen, Snapshot
from pro0.model.need import AskedPermission, Choice, PermissionAnswer
from pro0.model.runtime import State
from pro0.ops import permissions
from pro0.ops.context import lead_context
from pro0.ops.team import needs
from pro0.processes import identify
from pro0.rules.person.permissions import GONE, open_requests
from pro0.store.paths import LEAD_LOG
from pro0.store.teams import TeamStore
from tests.rules.building import at
from tests.rules.supervising import look, session
from tests.teams import ASKED, REQUEST, human, make_team


class Server:
    """What an agent asks leave for, as its own server tells it; it takes an answer unless it is stubborn."""

    def __init__(self) -> None:
        self.asks: list[AskedPermission] = []
        self.answers: list[tuple[str, Choice]] = []
        self.stubborn = False

    def asked(self, _view: SessionView) -> tuple[AskedPermission, ...]:
        return tuple(self.asks)

    def reply(self, _view: SessionView, key: str, answer: PermissionAnswer) -> bool:
        self.answers.append((key, answer.choice))
        return not self.stubborn


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "w1", "w2")


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def relay(team: TeamStore, server: Server, monkeypatch: pytest.MonkeyPatch) -> PermissionRelay:
    """The relay of a team whose w1 has this server."""
    channel = PermissionChannel(asked=server.asked, reply=server.reply)
    view = SessionView(session="s", agent=None, started_at=at(0), cwd="/", folder="/", environment={})
    watched = WatchedSession(
        adapter=replace(OPENCODE, permissions=channel), state=session("w1"), session_view=view, memory=Memory()
    )
    states = AgentStates.__new__(AgentStates)
    monkeypatch.setattr(states, "watched", lambda id: watched if id == "inc-w1" else None, raising=False)
    return PermissionRelay(team, states, Log(team), lambda: None)


def waits(state: State = State.WAITING, now: float = 0) -> Snapshot:
    """What the lead sees while w1 is in this state, and its agent says the same of itself."""
    return look(session("w1", state), now=now, seen={"inc-w1": Seen(state, at(0), "server")})


def rounds(relay: PermissionRelay, snapshot: Snapshot) -> None:
    """One round of the lead, and what it does in the background."""
    relay.follow(snapshot)
    relay._backlog.finish()


def open_ids(team: TeamStore) -> list[str]:
    return [request.id for request in open_requests(team.permissions.read())]


def outcome(team: TeamStore) -> str:
    return permissions.show(human(team), REQUEST).outcome


def test_a_question_is_put_once_and_its_answer_handed_over(
    relay: PermissionRelay, server: Server, team: TeamStore
) -> None:
    rounds(relay, waits())
    assert open_ids(team) == []
    server.asks = [ASKED]
    for _ in range(3):
        rounds(relay, waits())
    assert open_ids(team) == [REQUEST]
    assert server.answers == []
    permissions.answer(human(team), REQUEST, Choice.ALLOW)
    server.stubborn = True
    rounds(relay, waits())
    assert outcome(team) == "", "the server has not taken it"
    server.stubborn = False
    rounds(relay, waits())
    assert server.answers == [("k", Choice.ALLOW)] * 2
    assert outcome(team) == "taken"


def test_a_question_that_is_gone_was_answered_elsewhere(
    relay: PermissionRelay, server: Server, team: TeamStore
) -> None:
    server.asks = [ASKED]
    rounds(relay, waits())
    server.asks = []
    rounds(relay, waits(State.WORKING))  # its session is looked at as long as a request of it is open
    assert outcome(team) == "elsewhere"
    assert server.answers == []


def test_a_request_is_over_when_its_agent_has_ended_what_waits_for_the_answer(
    relay: PermissionRelay, server: Server, team: TeamStore
) -> None:
    """Claude ends its hook when the person answers in the pane, and may ask for the next permission at once."""
    server.asks = [ASKED]
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as hook:
        relayed = permissions.relay(lead_context(team), session("w1"), replace(ASKED, asker=identify(hook.pid)))
        rounds(relay, waits(now=60))
        assert open_ids(team) == [relayed.id]
        assert permissions.list_requests(human(team)) == (relayed,)
        hook.kill()
    assert (permissions.list_requests(human(team)), needs.list_needs(human(team))) == ((), ()), "nobody is asked"
    with pytest.raises(Refused, match="nobody waits for the answer"):
        permissions.answer(human(team), relayed.id, Choice.ALLOW)
    assert permissions.show(human(team), relayed.id) == relayed
    rounds(relay, waits(now=60))
    assert outcome(team) == "", "its session may be about to end"
    rounds(relay, waits(now=60 + GONE.seconds))
    assert outcome(team) == "elsewhere"


def test_an_answer_is_not_given_to_a_session_that_is_gone(
    relay: PermissionRelay, server: Server, team: TeamStore
) -> None:
    server.asks = [ASKED]
    rounds(relay, waits())
    permissions.answer(human(team), REQUEST, Choice.ALLOW)
    for _ in range(2):
        rounds(relay, look(session("w2")))
    assert outcome(team) == "ended"
    assert server.answers == []


def test_a_session_that_is_opened_after_the_lead_has_looked_is_not_gone(
    relay: PermissionRelay, server: Server, team: TeamStore
) -> None:
    """Opening the others may take a while, and it asks meanwhile."""
    server.asks = [ASKED]
    before, after = look(session("w1", State.CRASHED, incarnation="inc-old")), look(session("w1", State.STARTING))
    permissions.relay(lead_context(team), session("w1"), ASKED)
    rounds(relay, before)
    rounds(relay, after)
    assert outcome(team) == ""


def test_what_cannot_be_recorded_is_logged_once_and_ends_no_round(
    relay: PermissionRelay, server: Server, team: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a full disk the lead goes on, and settles the request once there is room."""
    server.asks = [ASKED]
    rounds(relay, waits())

    def full(*_: object) -> None:
        raise Unwritable("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(permissions, "settle", full)
        for _ in range(3):
            rounds(relay, look(session("w2")))
    log = (team.paths.logs / LEAD_LOG).read_text()
    assert log.count("no space left") == 1
    assert open_ids(team) == [REQUEST]
    rounds(relay, look(session("w2")))
    assert outcome(team) == "ended"
