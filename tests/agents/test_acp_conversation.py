"""A conversation in ACP as a value: what it says of itself, and what it never does, whatever an agent sends."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pro0.agents.acp import messages
from pro0.agents.acp.conversation import AcpConversation
from pro0.agents.acp.leave import OPEN, SETTLED
from pro0.agents.acp.opening import AcpSetting
from pro0.agents.acp.waiting import WAITING
from pro0.agents.bridge.reports import STATES, Settled
from pro0.errors import EnvironmentMissing
from pro0.model.need import Choice
from pro0.model.runtime import State
from pro0.rules.words.prompts import ready_line, unread_line

SESSION = "s"
OFFERED = (("yes", "allow_once"), ("ever", "allow_always"), ("no", "reject_once"))


class Talk:
    """A conversation with an agent that is played by the test."""

    def __init__(self, **setting: Any) -> None:
        self.unread = True
        self.replaced = ("", "")
        """A part of what the agent says, and what it says as JSON instead."""
        self.sent: list[dict[str, Any]] = []
        self.shown: list[str] = []
        whole = {"cwd": "/p", "servers": [], "version": "1", "first": "who you are"} | setting
        self.it = AcpConversation(
            AcpSetting(**whole), self._send, lambda shown: self.shown.append(shown.text), lambda: self.unread
        )
        self.it.begin()

    def _send(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.sent.append(json.loads(line))

    def hear(self, message: dict[str, Any]) -> None:
        self.it.hear(json.dumps({"jsonrpc": "2.0", **message}).replace(*self.replaced).encode())

    def answer(self, method: str, **result: Any) -> None:
        """Answer the newest request of a method."""
        self.hear({"id": self.asked(method)["id"], "result": result})

    def asked(self, method: str) -> dict[str, Any]:
        return next(message for message in reversed(self.sent) if message.get("method") == method)

    def prompts(self) -> list[str]:
        return [m["params"]["prompt"][0]["text"] for m in self.sent if m.get("method") == "session/prompt"]

    def open(self, **capabilities: Any) -> "Talk":
        self.answer("initialize", protocolVersion=1, agentCapabilities={"loadSession": True, **capabilities})
        self.answer("session/new", sessionId=SESSION)
        return self

    def update(self, kind: str, session: str = SESSION, **fields: Any) -> None:
        update = {"sessionUpdate": kind, **fields}
        self.hear({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def ask(self, id: Any = "a", call: str = "c", offered: Any = OFFERED, **more: Any) -> str:
        """Ask leave; returns the key under which the person is asked."""
        tool = {"toolCallId": call, "title": "Run it", "rawInput": {"command": "make"}, **more}
        options = [{"optionId": option, "name": option.title(), "kind": kind} for option, kind in offered]
        params = {"sessionId": SESSION, "toolCall": tool, "options": options}
        self.hear({"id": id, "method": "session/request_permission", "params": params})
        return self.open_keys()[-1]

    def open_keys(self) -> list[str]:
        return [asked.key for asked in self.it.report().asks]

    def outcome(self, id: Any = "a") -> Any:
        """Return what the agent was told of its request, None for nothing."""
        told = [
            message["result"]["outcome"] for message in self.sent if message.get("id") == id and "result" in message
        ]
        assert len(told) <= 1, "no request is answered twice"
        return told[0] if told else None

    def end(self, reason: str = "end_turn") -> None:
        self.answer("session/prompt", stopReason=reason)

    @property
    def state(self) -> str:
        return str(self.it.report().state)


@pytest.fixture
def talk() -> Talk:
    """A conversation in its first turn."""
    return Talk().open()


def test_it_begins_by_the_protocol_and_tells_the_first_prompt() -> None:
    talk = Talk(servers=[{"name": "pro0"}])
    assert talk.state == "starting"
    first = talk.asked("initialize")["params"]
    assert first["protocolVersion"] == messages.VERSION
    assert first["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert first["clientCapabilities"]["terminal"] is False
    talk.open()
    assert talk.asked("session/new")["params"] == {"cwd": "/p", "mcpServers": [{"name": "pro0"}]}
    assert (talk.prompts(), talk.state, talk.it.report().session) == (["who you are"], "working", SESSION)
    talk.end()
    assert talk.state == "idle"


def test_a_session_that_cannot_be_gone_on_with_has_no_name() -> None:
    assert Talk().open(loadSession=False).it.report().session == ""
    assert Talk().open(loadSession=False, sessionCapabilities={"resume": {}}).it.report().session == SESSION


def test_it_goes_on_where_it_was() -> None:
    talk = Talk(session="old", lost="who you were")
    talk.answer("initialize", protocolVersion=1, agentCapabilities={"loadSession": True})
    loading = talk.asked("session/load")
    assert loading["params"] == {"sessionId": "old", "cwd": "/p", "mcpServers": []}
    talk.update("user_message_chunk", "old", content={"type": "text", "text": "said before"})
    assert "said before" in talk.shown
    talk.hear({"id": loading["id"], "result": None})
    assert (talk.prompts(), talk.state, talk.it.report().turns) == ([], "idle", 1)


def test_a_conversation_that_is_lost_is_begun_anew_and_told_so() -> None:
    talk = Talk(session="old", lost="who you were")
    talk.answer("initialize", protocolVersion=1, agentCapabilities={"loadSession": True})
    talk.hear({"id": talk.asked("session/load")["id"], "error": {"code": -32002, "message": "gone"}})
    talk.answer("session/new", sessionId=SESSION)
    assert talk.prompts() == ["who you were"]


@pytest.mark.parametrize(
    ("method", "answer", "why"),
    [
        ("initialize", {"result": {"protocolVersion": 2}}, "speaks version 2 of ACP, pro0 speaks 1"),
        ("initialize", {"error": {"code": 1, "message": "no key"}}, "cannot be initialized: no key"),
        ("session/new", {"error": {"code": -32000, "message": "log in"}}, "wants you to log in first: log in"),
        ("session/new", {"error": {"code": 1, "message": "full"}}, "cannot open a session: full"),
    ],
)
def test_what_keeps_it_from_beginning_is_told(method: str, answer: dict[str, Any], why: str) -> None:
    talk = Talk()
    if method == "session/new":
        talk.answer("initialize", protocolVersion=1)
    with pytest.raises(EnvironmentMissing, match=why):
        talk.hear({"id": talk.asked(method)["id"], **answer})


ENDS = {
    "end_turn": ("idle", ""),
    "cancelled": ("idle", ""),
    "max_tokens": ("idle", "its model ran out of tokens"),
    "refusal": ("idle", "its model refused to go on"),
    "exhausted": ("unknown stop exhausted", ""),
}


@pytest.mark.parametrize(("reason", "expected"), ENDS.items(), ids=ENDS)
def test_how_a_turn_ends(talk: Talk, reason: str, expected: tuple[str, str]) -> None:
    talk.end(reason)
    assert (talk.state, talk.it.report().error) == expected


def test_a_failed_turn_is_an_error_until_the_next_begins(talk: Talk) -> None:
    talk.hear({"id": talk.asked("session/prompt")["id"], "error": {"code": -32603, "message": "529 overloaded"}})
    assert (talk.state, talk.it.report().error) == ("idle", "529 overloaded")
    talk.it.prompt("person", "again")
    assert (talk.state, talk.it.report().error) == ("working", "")


def test_mail_waits_for_the_end_of_the_turn_once(talk: Talk) -> None:
    for _ in range(3):
        talk.it.prompt("mail", "read it")
    assert talk.prompts() == ["who you are"]
    talk.end()
    talk.end()
    assert (talk.prompts(), talk.state) == (["who you are", "read it"], "idle")
    for number in range(3 * WAITING):
        talk.it.prompt("person", str(number))
    for _ in range(3 * WAITING):
        talk.end() if talk.it.turning else None
    assert len(talk.prompts()) == 2 + 1 + WAITING, "and not without a bound"


def test_a_line_about_mail_that_was_read_since_begins_no_turn(talk: Talk) -> None:
    """Issue 17: an agent may read its mail in the turn in which it comes, and each turn costs."""
    for text in ("You have 2 unread messages: run `pro0 inbox`", "1 task is ready for you: run `pro0 task next`"):
        talk.it.prompt("mail", text)
    talk.it.prompt("mail", "You have 3 unread messages: run `pro0 inbox`")
    talk.unread = False
    talk.end()
    assert talk.prompts()[1:] == ["1 task is ready for you: run `pro0 task next`"]
    talk.it.prompt("person", "You have 1 unread message: run `pro0 inbox`")
    talk.end()
    talk.end()
    assert talk.prompts()[2:] == ["You have 1 unread message: run `pro0 inbox`"], "what a person says is said"
    talk.unread = True
    talk.it.prompt("mail", "You have 3 unread messages: run `pro0 inbox`")
    assert talk.prompts()[3:] == ["You have 3 unread messages: run `pro0 inbox`"]


def test_a_line_that_is_out_of_date_begins_no_turn(talk: Talk) -> None:
    """Each turn costs: of several lines about mail, and of several about tasks, the newest counts."""
    for number in (1, 2, 3):
        talk.it.prompt("mail", unread_line(number))
        talk.it.prompt("mail", ready_line(number))
    talk.it.prompt("person", unread_line(1))
    for _ in range(9):
        talk.end() if talk.it.turning else None
    assert talk.prompts()[1:] == [unread_line(3), ready_line(3), unread_line(1)]


def test_what_a_person_typed_outlasts_mail(talk: Talk) -> None:
    """And what finds no room is said to be lost."""
    talk.it.prompt("person", "and then fix the bug")
    for number in range(2 * WAITING):
        talk.it.prompt("mail", f"letter {number}")
    assert "letter 0" in next(text for text in talk.shown if "this one was dropped" in text)
    for _ in range(2 * WAITING):
        talk.end() if talk.it.turning else None
    letters = [f"letter {number}" for number in range(WAITING + 1, 2 * WAITING)]
    assert talk.prompts()[1:] == ["and then fix the bug", *letters]


@pytest.mark.parametrize(("choice", "option"), [("allow", "yes"), ("always", "ever"), ("deny", "no")])
def test_an_answer_is_told_in_the_agents_own_words(talk: Talk, choice: str, option: str) -> None:
    key = talk.ask()
    [asked] = talk.it.report().asks
    assert (talk.state, talk.it.report().note, asked.tool) == ("waiting", "Run it", "tool")
    assert json.loads(asked.input)["command"] == "make"
    assert asked.choices == (Choice.ALLOW, Choice.ALWAYS, Choice.DENY)
    assert talk.it.answer(key, Choice(choice))
    assert talk.outcome() == {"outcome": "selected", "optionId": option}
    assert (talk.state, talk.it.report().settled.key, talk.it.report().settled.elsewhere) == ("working", key, True)
    assert not talk.it.answer(key, Choice.ALLOW), "the first answer counts"


def test_an_answer_is_for_what_was_shown(talk: Talk) -> None:
    """Issue 17, must show 2: a request that changes before its answer is another request."""
    key = talk.ask()
    talk.update("tool_call_update", toolCallId="c", status="in_progress")
    assert talk.open_keys() == [key], "what it is about is the same"
    talk.update("tool_call_update", toolCallId="c", rawInput={"command": "rm -rf /"})
    [other] = talk.open_keys()
    assert other != key
    assert not talk.it.answer(key, Choice.ALLOW)
    assert not talk.it.choose(key, 1)
    assert talk.outcome() is None
    assert "rm -rf /" in talk.it.report().asks[0].input
    assert talk.it.answer(other, Choice.DENY)
    assert talk.outcome() == {"outcome": "selected", "optionId": "no"}


def test_two_requests_are_answered_each_for_itself(talk: Talk) -> None:
    first, second = talk.ask("a", "one"), talk.ask("b", "two")
    assert talk.it.answer(second, Choice.ALLOW)
    assert (talk.outcome("a"), talk.outcome("b")) == (None, {"outcome": "selected", "optionId": "yes"})
    assert talk.open_keys() == [first]


def test_what_settled_a_request_is_told_though_others_are_over_since(talk: Talk) -> None:
    """Who answers from elsewhere looks only now and then."""
    keys = [talk.ask(f"a{number}", f"c{number}") for number in range(SETTLED)]
    for key in keys[::2]:
        assert talk.it.answer(key, Choice.ALLOW)
    talk.end()
    report = talk.it.report()
    assert {key: report.settled_by(key) for key in keys} == {
        key: Settled(key=key, elsewhere=not number % 2) for number, key in enumerate(keys)
    }
    assert report.settled_by("never") is None
    talk.it.prompt("person", "go on")
    for number in range(SETTLED):
        assert talk.it.choose(talk.ask(f"b{number}", f"d{number}"), 1)
    assert not any(talk.it.report().settled_by(key) for key in keys), "and not without a bound"


def test_a_withdrawn_request_takes_no_answer(talk: Talk) -> None:
    key = talk.ask()
    talk.hear({"method": "$/cancel_request", "params": {"requestId": "a"}})
    assert (talk.outcome(), talk.state) == ({"outcome": "cancelled"}, "working")
    assert not talk.it.answer(key, Choice.ALLOW)


@pytest.mark.parametrize("how", ["cancel", "end"])
def test_a_turn_that_is_over_takes_its_requests_with_it(talk: Talk, how: str) -> None:
    key = talk.ask()
    talk.it.cancel() if how == "cancel" else talk.end()
    assert talk.outcome() == {"outcome": "cancelled"}
    assert not talk.it.answer(key, Choice.ALLOW)
    assert (how == "cancel") == any(message.get("method") == "session/cancel" for message in talk.sent)


def test_a_no_is_possible_where_the_agent_offers_none(talk: Talk) -> None:
    key = talk.ask(offered=(("yes", "allow_once"),))
    assert talk.it.report().asks[0].choices == (Choice.ALLOW, Choice.DENY)
    assert talk.it.answer(key, Choice.DENY)
    assert talk.outcome() == {"outcome": "cancelled"}
    assert talk.asked("session/cancel"), "no other no is left than the end of the turn"


def test_two_different_yeses_are_for_its_pane(talk: Talk) -> None:
    """Which of them an `allow` from elsewhere means, nobody can say."""
    key = talk.ask(offered=(("edits", "allow_always"), ("all", "allow_always"), ("no", "reject_once"), ("x", "odd")))
    assert talk.it.report().asks[0].choices == (Choice.DENY,)
    assert not talk.it.answer(key, Choice.ALWAYS)
    assert not talk.it.choose(key, 5)
    assert not talk.it.choose(key, 0)
    assert talk.it.choose(key, 2)
    assert talk.outcome() == {"outcome": "selected", "optionId": "all"}


def test_the_words_of_a_no_follow_its_turn(talk: Talk) -> None:
    talk.it.answer(talk.ask(), Choice.DENY, "use the test database")
    talk.end()
    assert talk.prompts()[-1] == "use the test database"


def test_no_more_is_open_than_is_shown(talk: Talk) -> None:
    for number in range(OPEN + 5):
        talk.ask(number + 1000, f"c{number}")
    assert len(talk.open_keys()) == OPEN
    assert len([message for message in talk.sent if "error" in message]) == 5


STRANGE: dict[str, Any] = {
    "no JSON": b"npm notice",
    "no object": b"[1]",
    "another protocol": b'{"id": 1}',
    "a line too long": None,
    "an answer to nothing": {"id": 77, "result": {}},
    "an answer to a text": {"id": "x", "result": {}},
    "an answer without an id": {"result": {}},
    "an unknown notification": {"method": "session/ended", "params": {}},
    "an unknown request": {"id": 5, "method": "session/approve", "params": {}},
    "news of a stranger": {
        "method": "session/update",
        "params": {"sessionId": "t", "update": {"sessionUpdate": "plan"}},
    },
    "news of a kind that is not known": {
        "method": "session/update",
        "params": {"sessionId": SESSION, "update": {"sessionUpdate": "goal_update"}},
    },
    "broken news": {"method": "session/update", "params": {"sessionId": SESSION}},
    "a request without options": {"id": 6, "method": "session/request_permission", "params": {"sessionId": SESSION}},
    "a request with an id that is in use": {
        "id": "a",
        "method": "session/request_permission",
        "params": {"sessionId": SESSION, "toolCall": {"toolCallId": "z"}, "options": []},
    },
}


@pytest.mark.parametrize("what", STRANGE.values(), ids=STRANGE)
def test_what_is_not_understood_makes_the_state_unknown_until_the_turn_ends(talk: Talk, what: Any) -> None:
    """Issue 17, build 6: never a guess."""
    if "in use" in str(what) or (isinstance(what, dict) and what.get("id") == "a"):
        talk.ask("a")
    talk.hear(what) if isinstance(what, dict) else talk.it.hear(what)
    if not talk.open_keys():
        assert STATES.meaning(talk.it.report().state) is State.UNKNOWN
    talk.end()
    assert talk.state == "idle"


KNOWN: dict[str, dict[str, Any]] = {
    "an extension's news": {"method": "_agent/status", "params": {"x": 1}},
    "a request for what is not offered": {"id": 9, "method": "fs/write_text_file", "params": {"path": "/etc/passwd"}},
    "a terminal": {"id": 9, "method": "terminal/create", "params": {"command": "sh"}},
}


@pytest.mark.parametrize("what", KNOWN.values(), ids=KNOWN)
def test_what_pro0_does_not_offer_is_refused_and_no_wonder(talk: Talk, what: dict[str, Any]) -> None:
    talk.hear(what)
    assert talk.state == "working"
    if "id" in what:
        assert talk.sent[-1]["error"]["code"] == messages.METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (r"fine \ud83d", "fine \ufffd"),
        (r"\ude00 all done", "\ufffd all done"),
        (r"\uD83D\ud83d\uDE00!", "\ufffd😀!"),
        (r"\ud83d\\ude00", "\ufffd\\ude00"),
        (r"\\ud83d \u00e9\n", "\\ud83d é\n"),
    ],
)
def test_half_a_letter_is_no_reason_not_to_hear_the_rest(talk: Talk, text: str, whole: str) -> None:
    """An agent may cut its text in the middle of one, or ask leave for such a text."""
    talk.replaced = ('"HERE"', f'"{text}"')
    talk.update("agent_message_chunk", content={"type": "text", "text": "HERE"})
    assert (talk.state, talk.shown[-1]) == ("working", whole)
    talk.ask(title="HERE")
    assert json.loads(talk.it.report().asks[0].input)["title"] == whole
    talk.end()
    assert talk.it.last_words == whole


def test_an_image_without_an_address_is_shown_as_one(talk: Talk) -> None:
    for more in ({"uri": None}, {"uri": "file:///a.png"}, {}):
        talk.update("agent_message_chunk", content={"type": "image", "mimeType": "image/png", "data": "AA", **more})
        assert talk.state == "working"
    assert talk.shown[-3:] == ["[image]\n", "[image file:///a.png]\n", "[image]\n"]


def test_a_broken_end_of_a_turn_is_an_end_all_the_same(talk: Talk) -> None:
    talk.it.prompt("mail", "read it")
    talk.answer("session/prompt")
    assert talk.prompts()[-1] == "read it", "or its mail would wait for ever"


def test_after_a_compaction_it_is_told_again_who_it_is() -> None:
    """Issue 17, build 2; once, behind the turn in which it compacted."""
    talk = Talk(who="you are w1").open()
    for status in ("in_progress", "completed"):
        talk.update("compaction_update", compactionId="k", status=status)
    assert talk.prompts() == ["who you are"]
    talk.end()
    assert talk.prompts() == ["who you are", "you are w1"]
    assert talk.state == "working"


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        pytest.param([2.0, 2.5], [0.0, 0.5], id="it goes on with the sum"),
        pytest.param([0.25, 0.5], [0.25, 0.5], id="it begins its sum anew"),
        pytest.param([2.25, 1.0, 1.5], [0.25, 1.0, 1.5], id="it begins its sum anew later"),
        pytest.param([3.5, 3.25, 3.75], [1.5, 1.5, 1.75], id="it corrects itself"),
        pytest.param([3.0, -1.0, 0.0, 3.25], [1.0, 1.0, 1.0, 1.25], id="it tells what cannot be"),
    ],
)
def test_what_it_cost_since_it_was_opened(told: list[float], cost: list[float]) -> None:
    """It had cost 2 dollars before. What is counted never falls: the team's limit would let through what was spent."""
    talk = Talk(session="old")
    talk.answer("initialize", protocolVersion=1, agentCapabilities={"loadSession": True})
    talk.update("usage_update", "old", used=1, size=2, cost={"amount": 2.0, "currency": "USD"})
    talk.hear({"id": talk.asked("session/load")["id"], "result": {}})
    counted = []
    for amount in told:
        talk.update("usage_update", "old", used=1, size=2, cost={"amount": amount, "currency": "USD"})
        talk.update("usage_update", "old", used=1, size=2, cost={"amount": 9, "currency": "EUR"})
        counted.append(talk.it.cost)
    assert counted == cost


def test_what_a_session_cost_that_could_not_be_loaded_is_not_taken_off() -> None:
    """Its load may fail after it has told its cost; the new session begins at nothing."""
    talk = Talk(session="old", lost="who you were")
    talk.answer("initialize", protocolVersion=1, agentCapabilities={"loadSession": True})
    talk.update("usage_update", "old", used=1, size=2, cost={"amount": 5.0, "currency": "USD"})
    talk.hear({"id": talk.asked("session/load")["id"], "error": {"code": -32002, "message": "gone"}})
    talk.answer("session/new", sessionId=SESSION)
    talk.update("usage_update", used=1, size=2, cost={"amount": 0.2, "currency": "USD"})
    assert talk.it.cost == 0.2


def test_a_message_over_the_limit_is_said_to_be_too_long(talk: Talk) -> None:
    """It may be a request whose agent waits for the answer for ever."""
    talk.it.hear(None)
    assert talk.shown[-1] == "not understood: a message: longer than the 4 MiB that pro0 reads; Esc stops the turn"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
METHODS = (
    "session/update",
    "session/request_permission",
    "$/cancel_request",
    "_x",
    "fs/read_text_file",
    "new/word",
    "",
)
ANYTHING = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0"]),
        "id": st.sampled_from([1, 2, 3, 4, "a", None, 1.5]),
        "method": st.sampled_from(METHODS),
        "params": JSON | st.just({"sessionId": SESSION, "toolCall": {"toolCallId": "c"}, "options": []}),
        "result": JSON | st.just({"stopReason": "end_turn"}),
        "error": JSON | st.just({"code": 1, "message": "no"}),
    },
)
STEPS = st.one_of(
    ANYTHING.map(lambda message: json.dumps(message).encode()),
    st.binary(max_size=30),
    st.none(),
    st.sampled_from(["ask", "change", "prompt", "cancel", "stale", "allow"]),
)


@given(steps=st.lists(STEPS, max_size=12))
@settings(deadline=None)
def test_whatever_an_agent_sends_nothing_is_answered_twice_or_for_another(steps: list[Any]) -> None:
    """Issue 17, must show 2: 0 stale, 0 doubled; and no prompt goes out while another is under way."""
    talk = Talk().open()
    seen: list[str] = []
    for number, step in enumerate(steps):
        if step == "ask":
            seen.append((talk.ask(f"id{number}", "c") if len(talk.open_keys()) < OPEN else "") or "")
        elif step == "change":
            talk.update("tool_call_update", toolCallId="c", rawInput={"command": str(number)})
        elif step == "prompt":
            talk.it.prompt("person", str(number))
        elif step == "cancel":
            talk.it.cancel()
        elif step == "stale":
            stale = [key for key in seen if key not in talk.open_keys()]
            assert not any(talk.it.answer(key, Choice.ALLOW) for key in stale)
        elif step == "allow" and talk.open_keys():
            assert talk.it.answer(talk.open_keys()[0], Choice.ALLOW)
        else:
            talk.it.hear(step if not isinstance(step, str) else b"")
        answered = [message["id"] for message in talk.sent if "result" in message or "error" in message]
        asked = [id for id in answered if isinstance(id, str) and id.startswith("id")]
        assert len(asked) == len(set(asked))
        assert talk.it.turning or talk.state != "working"
