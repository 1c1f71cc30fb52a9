"""Our client of ACP in a real terminal: the agent does what its prompt says, the lead and a person do the rest."""

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from pro0.agents import defined
from pro0.agents.acp.adapter import ACP, deliver, read_last_words, reply, stop, usage
from pro0.agents.acp.program import AcpClient
from pro0.agents.acp.start import USED, AcpStart
from pro0.agents.adapter import Adapter, Brief, SessionView
from pro0.agents.bridge import handing, reports
from pro0.agents.memory import Memory
from pro0.agents.turn_end import WORDS
from pro0.errors import EnvironmentMissing
from pro0.model.agent import Definition
from pro0.model.message import Mailbox
from pro0.model.need import Choice, PermissionAnswer
from pro0.model.runtime import State
from pro0.model.screen import Screen
from pro0.model.team import Seat
from pro0.rules.screens import screens
from pro0.rules.screens.states import combine
from pro0.rules.words import prompts
from pro0.store.files import encode
from tests.agents import acp_agent, placed
from tests.real_agents.terminal import Terminal
from tests.waiting import STUCK, wait_until

AGENT = (sys.executable, "-I", acp_agent.__file__)


class Session:
    """One client with its agent, in a pane of its own."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.folder = Path(view.folder)
        self.log = self.folder / "log"
        self.terminal = Terminal(90, 30)

    def run(self, prompt: str, *how: str, session: str = "", ends: bool = False) -> "Session":
        """Start it. Of one that `ends` a shell says how, and stays: tmux may lose a dying pane's last line."""
        adapter = defined("mine", Definition(acp=(*AGENT, f"log={self.log}", *how)))
        seat = Seat(agent_id="w1", name="w1", agent="mine")
        mailbox = str(self.folder / "messages.json")
        brief = Brief(
            seat=seat, prompt=prompt, folder=self.view.folder, pro0=("pro0",), environment={}, mailbox=mailbox
        )
        call = adapter.call(replace(brief, session=session, resume=bool(session)))
        for name, data in call.files.items():
            (self.folder / name).write_bytes(data)
        command = shlex.join(call.argv)
        said = f'{command}; echo "the client ended with $?"; exec sleep 600'
        self.terminal.run(shlex.join(("sh", "-c", said)) if ends else command, self.folder)
        return self

    def read(self) -> State | None:
        reading = reports.look(self.view, Memory())
        return reading.state if reading else None

    def drawn(self) -> State:
        assert ACP.screens
        return screens.read(ACP.screens, self.terminal.look())[-1].state

    def becomes(self, state: State) -> None:
        """Wait until its report says so."""
        wait_until(lambda: self.read() is state, STUCK, f"it is {state}")

    def shows(self, text: str) -> None:
        wait_until(lambda: text in self.terminal.screen(), STUCK, f"it shows {text}")

    def asks(self) -> str:
        """Wait for a request, and return its key."""
        wait_until(lambda: reports.asked(self.view), STUCK, "it asks")
        asked = reports.asked(self.view)
        assert asked
        return asked[0].key

    def sent(self, method: str) -> list[dict[str, Any]]:
        """Return the parameters of what the agent was sent by this method."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [message["params"] for message in map(json.loads, lines) if message.get("method") == method]

    def prompts(self) -> list[str]:
        return [params["prompt"][0]["text"] for params in self.sent("session/prompt")]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(handing, "PATIENCE", STUCK)
    session = Session(replace(placed.session_view(tmp_path, ""), started_at=datetime.now(UTC)))
    yield session
    session.terminal.close()


def answer(choice: Choice, text: str = "") -> PermissionAnswer:
    return PermissionAnswer(choice=choice, text=text, by="human", at=datetime(2026, 11, 24, tzinfo=UTC))


def test_the_life_of_a_session(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first prompt to the last words; report and screen agree in every state."""
    monkeypatch.setenv("PRO0_AGENT_ID", "w1")
    session.run("say hello\ntool Read a file\ncost 0.25\nask\nsay bye")
    key = session.asks()
    session.shows("waiting for permission: Run it")
    assert (session.read(), session.drawn()) == (State.WAITING, State.WAITING)
    [new] = session.sent("session/new")
    [server] = new["mcpServers"]
    assert (new["cwd"], server["command"], server["args"]) == (str(session.folder), "pro0", ["mcp"])
    assert {"name": "PRO0_AGENT_ID", "value": "w1"} in server["env"]
    assert reply(session.view, key, answer(Choice.ALLOW))
    session.becomes(State.IDLE)
    session.shows("── idle")
    assert session.drawn() is State.IDLE
    words = read_last_words(session.view, Memory())
    assert words
    assert words.text.startswith("hello\noutcome")
    assert words.text.endswith("bye")
    spent = usage(session.view, Memory())
    assert spent
    assert spent.cost_usd == 0.25
    assert "• Read a file" in session.terminal.screen()


def test_the_same_words_of_the_next_turn_are_words_of_their_own(session: Session) -> None:
    """Else nobody is told of the second turn that ends with `Done.`."""
    session.run("say Done.")
    session.becomes(State.IDLE)
    first = read_last_words(session.view, Memory())
    assert first
    assert deliver(session.view, "say Done.")
    wait_until(lambda: read_last_words(session.view, Memory()) != first, STUCK, "the next turn has its words")
    session.becomes(State.IDLE)
    second = read_last_words(session.view, Memory())
    assert second
    assert (first.text, second.text) == ("Done.", "Done.")
    assert first.id != second.id
    assert deliver(session.view, "sleep 0")
    wait_until(lambda: len(session.prompts()) == 3, STUCK, "a turn without words begins")
    session.becomes(State.IDLE)
    assert read_last_words(session.view, Memory()) == second


def test_what_finds_no_room_is_written_later_and_before_the_end_of_its_turn(session: Session) -> None:
    """A folder in the place of a file refuses it, as a full disk does."""
    refusing = [session.folder / f"{name}.new" for name in (WORDS, USED)]
    for place in refusing:
        place.mkdir()
    session.run("cost 0.25\nsay The answer is 42.")
    session.shows("── idle")
    assert session.read() is not State.IDLE, "its words are still missing"
    refusing[0].rmdir()
    wait_until(lambda: read_last_words(session.view, Memory()), STUCK, "its words are there")
    assert session.read() is not State.IDLE, "its cost is still missing"
    refusing[1].rmdir()
    session.becomes(State.IDLE)
    words, spent = read_last_words(session.view, Memory()), usage(session.view, Memory())
    assert words
    assert spent
    assert (words.text, spent.cost_usd) == ("The answer is 42.", 0.25)


def test_an_agent_is_not_started_where_nothing_can_be_handed_to_it(tmp_path: Path) -> None:
    """Else it would run on below the guard, and the pane would show where our program broke."""
    (tmp_path / reports.INBOX).write_bytes(b"")
    with pytest.raises(EnvironmentMissing, match=r"cannot make .*inbox") as refused:
        AcpClient(tmp_path, AcpStart(argv=("touch", str(tmp_path / "started")), server=("pro0",)))
    assert refused.value.hint == "free some room, then `pro0 member restart`"
    assert not (tmp_path / "started").exists()


def test_why_the_client_cannot_begin_is_said_with_what_to_do(session: Session) -> None:
    (session.folder / reports.INBOX).write_bytes(b"")
    session.run("say hello", ends=True)
    session.shows("the client ended with 6")
    shown = session.terminal.screen()
    assert "pro0: cannot make" in shown
    assert "hint: free some room" in shown


def test_mail_is_a_prompt_and_no_key(session: Session) -> None:
    """Issue 17, must show 1: at once when it is idle, else at the end of the turn; a draft stays."""
    session.run("say hello")
    session.becomes(State.IDLE)
    session.terminal.keys("half a thought")
    session.shows("› half a thought")
    assert session.drawn() is State.DRAFT
    assert deliver(session.view, "wait")
    session.becomes(State.WORKING)
    assert deliver(session.view, "say read it")
    wait_until(lambda: len(session.prompts()) > 1, STUCK, "the agent has got the first")
    assert session.prompts()[1:] == ["wait"], "the other one waits for the end of the turn"
    assert stop(session.view)
    wait_until(lambda: session.prompts()[-1] == "say read it", STUCK, "it comes at the end of the turn")
    session.becomes(State.IDLE)
    session.shows("› half a thought")


@pytest.mark.parametrize("acked", [3, 2, None])
def test_a_line_about_mail_begins_a_turn_while_there_is_any(session: Session, acked: int | None) -> None:
    """The agent may have read it in the turn before; a mailbox that cannot be read may hold some."""
    line = "You have 1 unread message: run `pro0 inbox`"
    session.run("wait")
    session.becomes(State.WORKING)
    box = b"{" if acked is None else encode(Mailbox(agent_id="w1", next_seq=4, acked=acked))
    (session.folder / "messages.json").write_bytes(box)
    for text in (line, "say the end"):
        assert deliver(session.view, text)
    assert stop(session.view)
    wait_until(lambda: session.prompts()[-1] == "say the end", STUCK, "the next line comes")
    assert (line in session.prompts()) is (acked != 3)


def test_a_person_answers_and_types_in_the_pane(session: Session) -> None:
    session.run("ask").asks()
    session.shows("3 Reject")
    session.terminal.keys("9", "Enter")
    session.shows("type the number of one of the answers")
    session.terminal.keys("3", "Enter")
    session.shows('"optionId": "no"')
    session.becomes(State.IDLE)
    session.terminal.paste("say one\nsay two")
    session.terminal.keys("Enter")
    wait_until(lambda: session.prompts()[-1] == "say one\nsay two", STUCK, "a pasted line break sends nothing")
    session.terminal.keys("wait", "Enter")
    session.becomes(State.WORKING)
    session.terminal.keys("Escape")
    session.becomes(State.IDLE)


def test_a_no_counts_that_takes_other_requests_with_it(session: Session) -> None:
    """The agent offers none, so the turn ends, and what else it asks for is refused too."""
    session.run("ask-two")
    wait_until(lambda: len(reports.asked(session.view) or ()) == 2, STUCK, "it asks for both")
    assert reply(session.view, session.asks(), answer(Choice.DENY))
    session.becomes(State.IDLE)
    assert session.sent("session/cancel")


def test_answers_that_come_together_count_each(session: Session) -> None:
    session.run("ask-two")
    wait_until(lambda: len(reports.asked(session.view) or ()) == 2, STUCK, "it asks for both")
    keys = [asked.key for asked in reports.asked(session.view) or ()]
    with ThreadPoolExecutor() as there:
        taken = [there.submit(reply, session.view, key, answer(Choice.ALLOW)) for key in keys]
        assert [one.result() for one in taken] == [True, True]
    session.becomes(State.IDLE)


def test_a_long_answer_is_shown_and_given_like_any(session: Session) -> None:
    """It names a whole command; to fit it into its row letter by letter would take hours."""
    session.run("ask-long 200000")
    key = session.asks()
    session.shows("waiting for permission: Run it · 1 Always allow xxx")
    assert reply(session.view, key, answer(Choice.DENY))
    session.shows('"optionId": "no"')


def test_what_was_typed_before_a_question_is_no_answer_to_it(session: Session) -> None:
    """A draft that is just a number, begun before the request was there."""
    session.run("sleep 0")
    session.becomes(State.IDLE)
    session.terminal.keys("1")
    session.shows("› 1")
    assert deliver(session.view, "ask")
    key = session.asks()
    session.shows("waiting for permission")
    session.terminal.keys("Enter")
    session.shows("not taken as an answer")
    assert session.asks() == key
    session.terminal.keys("1", "Enter")
    session.shows('"optionId": "yes"')


def test_a_changed_request_takes_no_answer_of_before(session: Session) -> None:
    """Issue 17, must show 2: neither from elsewhere nor by a number typed at the old one."""
    session.run("ask-changing 0.5")
    old = session.asks()
    session.terminal.keys("1")
    wait_until(lambda: session.asks() != old, STUCK, "it asks for something else")
    assert not reply(session.view, old, answer(Choice.ALLOW))
    session.shows("rm -rf /")
    session.terminal.keys("Enter")
    session.shows("not taken as an answer")
    assert reply(session.view, session.asks(), answer(Choice.DENY))
    session.shows('"optionId": "no"')


def test_the_first_answer_counts(session: Session) -> None:
    """Issue 17, must show 2: pane and elsewhere at the same time, one outcome, and it is the one that is told."""
    for number in range(5):
        if number:
            session.becomes(State.IDLE)
            assert deliver(session.view, f"ask\nsay round {number}")
        else:
            session.run("ask\nsay round 0")
        key = session.asks()
        session.shows("3 Reject")
        with ThreadPoolExecutor() as there:
            taken = there.submit(reply, session.view, key, answer(Choice.ALLOW))
            session.terminal.keys("3", "Enter")
        session.shows(f"round {number}")
        told = [json.loads(line) for line in session.log.read_text().splitlines() if '"outcome"' in line]
        assert len(told) == number + 1
        assert told[-1]["result"]["outcome"]["optionId"] == ("yes" if taken.result() else "no")


def test_a_session_is_gone_on_with_or_begun_anew(session: Session) -> None:
    session.run("", session="sess-1")
    session.becomes(State.IDLE)
    session.shows("said before")
    assert (session.prompts(), session.sent("session/load")[0]["sessionId"]) == ([], "sess-1")
    session.terminal.close()
    session.terminal = Terminal(90, 30)
    session.run("", session="forgotten")
    wait_until(session.prompts, STUCK, "it is told who it is")
    assert "Your earlier conversation could not be loaded" in session.prompts()[0]


HOSTILE = {
    "garbage": ('raw "npm notice"\nsay still here', "not understood: no message"),
    "a stranger's news": ("foreign\nsay still here", "about another session"),
    "news of a new kind": ("news goal_update\nsay still here", "not understood: goal_update"),
    "an answer to nothing": ('raw {"id": 99, "result": {}}\nsay still here', "which was not asked"),
    "files": ("read\nsay still here", "pro0 does not offer fs/read_text_file"),
    "an id twice": ("ask-again", "an invalid id"),
    "a flood": ("flood 20000\nsay still here", "line 19999"),
}


@pytest.mark.parametrize(("prompt", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_agent_is_survived(session: Session, prompt: str, shown: str) -> None:
    session.run(prompt)
    session.shows(shown)
    if "ask" in prompt:
        assert reply(session.view, session.asks(), answer(Choice.DENY))
    session.becomes(State.IDLE)
    if "flood" not in prompt:
        session.shows("still here" if "still" in prompt else "outcome")


@pytest.mark.parametrize(
    ("prompt", "how", "shown", "code"),
    [
        ("die 0", (), "── it breaks", "1"),
        ("die 7", (), "── it breaks", "7"),
        ("x", ("version=2",), "the agent speaks version 2 of ACP, pro0 speaks 1", "1"),
        ("x", ("auth",), "the agent wants you to log in first: Authentication required", "1"),
    ],
)
def test_an_end_is_told_with_its_reason(
    session: Session, prompt: str, how: tuple[str, ...], shown: str, code: str
) -> None:
    session.run(prompt, *how, ends=True)
    session.shows("the client ended with ")
    assert shown in session.terminal.screen()
    session.shows(f"the client ended with {code}")


@pytest.mark.parametrize("helper", ["sleep 600", "yes"])
def test_a_dead_agent_is_at_its_end_though_a_helper_holds_its_output(session: Session, helper: str) -> None:
    """Else it would work for ever, and take mail."""
    session.run(f"helper {helper}\nsay my last words\ndie 7", ends=True)
    session.shows("the client ended with 7")
    screen = session.terminal.screen()
    assert "── it breaks" in screen
    if helper != "yes":
        assert "my last words" in screen


def test_a_client_that_is_gone_takes_no_line(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the line is taken back, so that it cannot come twice."""
    session.run("say hello")
    session.becomes(State.IDLE)
    os.kill(int(session.terminal.value("pane_pid")), signal.SIGKILL)
    wait_until(lambda: session.terminal.value("pane_dead") == "1", STUCK, "the client has ended")
    monkeypatch.setattr(handing, "PATIENCE", 0.1)
    assert not deliver(session.view, "say again")
    assert not stop(session.view)
    assert not reply(session.view, "1-x", answer(Choice.ALLOW))
    assert not [*(session.folder / reports.INBOX).iterdir(), *(session.folder / reports.ANSWERS).iterdir()]


def test_a_look_at_a_broken_report_never_raises(tmp_path: Path) -> None:
    view = placed.session_view(tmp_path, "")
    for data in (b"", b"{", b"[]", b'{"state": 5}', b'{"asks": [1]}', b"\xff"):
        Path(view.folder, reports.STATE).write_bytes(data)
        reading = reports.look(view, Memory())
        assert reading is None or reading.state is State.UNKNOWN
        assert reports.asked(view) in (None, ())


ADAPTER: Callable[..., Adapter] = lambda **fields: defined("mine", Definition(acp=("mine", "--acp"), **fields))  # noqa: E731


def test_what_a_definition_says() -> None:
    adapter = ADAPTER(environment=("A_*",), model=("-m", "{model}"), install="get mine")
    seat = Seat(agent_id="w1", name="w1", agent="mine", model="big")
    start = msgspec.json.decode(adapter.call(Brief(seat=seat, prompt="x", folder="/f")).files["acp.json"])
    assert start["argv"] == ["mine", "-m", "big", "--acp"]
    assert (adapter.program, adapter.passes, adapter.takes, adapter.install) == (
        "mine",
        ("A_*",),
        ("model",),
        "get mine",
    )
    assert (adapter.answers_shutdown, adapter.delivery, adapter.channel) == (True, "line", "protocol")


@pytest.mark.parametrize("prompt", ["Do it.", ""])
def test_an_agent_is_told_who_it_is_after_it_has_compacted(prompt: str) -> None:
    """With the place of its first prompt, where it was given one."""
    seat = Seat(agent_id="w1", name="w1", agent="mine")
    brief = Brief(seat=seat, prompt=prompt, folder="/f", resume=not prompt, session="" if prompt else "sess-1")
    start = msgspec.json.decode(ADAPTER().call(brief).files["acp.json"], type=AcpStart)
    assert start.who == prompts.compacted("w1", "/f/prompt.md" if prompt else "")


def test_report_and_screen_together_are_the_state_that_counts(tmp_path: Path) -> None:
    """An unknown message is not outvoted by an empty input."""
    view = placed.session_view(tmp_path, "")
    Path(view.folder, reports.STATE).write_text('{"state": "unknown news", "turns": 1}')
    own = reports.look(view, Memory())
    assert own
    assert ACP.screens
    reading = combine(None, (own, *screens.read(ACP.screens, Screen(rows=("› ", "── idle")))))
    assert reading
    assert reading.state is State.UNKNOWN
