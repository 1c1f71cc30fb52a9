"""One line reaches one agent, or waits and says why: the pane of a drawn agent, without any agent (checks 35 to 37)."""

import math
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec.structs import replace

from pro0 import sessions
from pro0.agents.adapter import Adapter, Invocation, SessionView
from pro0.agents.claude.screens import CLAUDE_SCREENS
from pro0.engine.background.nudging import FORGETS, OFF, OLDER, Nudger
from pro0.engine.log import Log
from pro0.model.agent import AGENTS
from pro0.model.decision import Nudge, Nudged, Seen
from pro0.model.home import AgentAct
from pro0.model.runtime import Handle, Process, Report, SeatState, State
from pro0.model.screen import Screen
from pro0.model.team import Seat
from pro0.ops.context import clock
from pro0.rules.words.prompts import ready_line, unread_line
from pro0.sessions.backend import QUIET, Asked, Key, always
from pro0.sessions.memory import InMemory
from tests.engine.crew import Crew
from tests.engine.test_backlog import no_threads
from tests.waiting import STUCK

LINE = "You have 2 unread messages: run `pro0 inbox`"
EDGE = "─" * 80
IDLE, WORKING = ["  ? for shortcuts"], ["  esc to interrupt"]
PERMISSION = Screen(
    rows=(
        "● Bash(make)",
        EDGE,
        " Bash command",
        "   make",
        " Do you want to proceed?",
        " ❯ 1. Yes",
        "   2. No",
        " Esc to cancel",
    )
)


def drawn(text: str = "", foot: list[str] = IDLE, last: str = "● Done.") -> Screen:
    """The screen of an agent with a text in its input, below the last thing it said."""
    rows = [last, "", EDGE, f"❯ {text}".rstrip(), EDGE, *foot]
    return Screen(rows=tuple(rows), styled=tuple(rows), cursor=(2 + len(text), 3))


class Pane(InMemory):
    """A pane in which a drawn agent reads what is typed; `between` happens after a paste, before its Enter.

    Whatever is put in rests on a look, and is not when a person has typed since that began, `typed`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.screen = drawn()
        self.text = ""
        self.sent: list[str] = []
        self.between: Callable[[], None] = lambda: None
        self.swallows = 0
        self.typed = -math.inf
        self.unseen: Callable[[], None] = lambda: None
        """Happens after the last look before a key."""
        self.looked = -math.inf
        self.escape: Callable[[], None] = lambda: None

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        self.looked = time.monotonic()
        return {"inc-1": self.screen}

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:
        if self._disturbs(looked):
            return False
        self.show(self.text + line)
        self.between()
        looked = time.monotonic()
        return may_press() and self.press(handle, "Enter", looked)

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:
        self.unseen()
        if self._disturbs(looked):
            return False
        if key == "Escape":
            self.escape()
            return True
        if self.swallows:
            self.swallows -= 1
            return True
        self.sent.append(self.text)
        self.show("", WORKING)
        return True

    def _disturbs(self, looked: float | None) -> bool:
        assert looked is not None
        assert looked <= self.looked, "it rests on a look that began earlier than it says"
        return self.typed >= looked - QUIET

    def show(self, text: str, foot: list[str] = IDLE) -> None:
        self.text, self.screen = text, drawn(text, foot)


TOY = Adapter(
    name="toy",
    program="",
    call=lambda _: Invocation(argv=("true",)),
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    screens=CLAUDE_SCREENS,
)


@pytest.fixture
def pane(monkeypatch: pytest.MonkeyPatch) -> Pane:
    made = Pane()
    monkeypatch.setattr(sessions, "backend_named", lambda name: made)
    monkeypatch.setitem(sys.modules, "pro0.agents.toy", sys.modules[__name__])
    monkeypatch.setitem(AGENTS, "toy", "toy:TOY")
    return made


class Hand:
    """A nudger with one session that it has looked at."""

    def __init__(self, crew: Crew, state: State = State.IDLE) -> None:
        self.over = threading.Event()
        self.nudger = Nudger(crew.team, Log(crew.team), self.over.set)
        me = Process(pid=1, start="1", boot_id="1")
        handle = Handle(backend="memory", incarnation="inc-1")
        now = clock()
        self.state = SeatState(
            agent_id="w1", generation=1, incarnation="inc-1", state=state, since=now, started_at=now, handle=handle
        )
        report = Report(agent_id="w1", incarnation="inc-1", guard=me, agent=me, since=now)
        runtime = replace(crew.team.runtime.read(), seats=(self.state,))
        seat = Seat(agent_id="w1", name="w1", agent="toy")
        wanted = replace(crew.team.wanted.read(), seats=(seat,))
        self.look: Callable[[], Mapping[str, Seen]] = lambda: self.nudger.agent_states.look(
            wanted, runtime, {"inc-1": report}
        )
        self.look()

    def nudge(self, line: str = LINE, *, urgent: bool = False) -> str:
        """Nudge once and return why the line waits, empty when it arrived."""
        self.over.clear()
        self.nudger.begin(Nudge("w1", "inc-1", line, Nudged(mail=7), urgent), self.state)
        assert self.over.wait(STUCK)
        return self.nudger.queued()["inc-1"]


@pytest.fixture
def hand(pane: Pane, alpha: Crew) -> Hand:
    return Hand(alpha)


def test_an_idle_agent_gets_the_line_and_it_is_known_to_have_arrived(pane: Pane, hand: Hand) -> None:
    assert hand.nudge() == ""
    assert pane.sent == [LINE]
    arrived = hand.nudger.arrived()["inc-1"]
    assert arrived == Nudged(mail=7, at=arrived.at, by="keys")
    assert arrived.at


def test_a_line_for_which_no_thread_starts_is_handed_over_later(
    pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with no_threads(monkeypatch), pytest.raises(RuntimeError):
        hand.nudge()
    assert hand.nudge() == ""
    assert pane.sent == [LINE]


@pytest.mark.parametrize("off", [(AgentAct.TYPING,), (AgentAct.TYPING, AgentAct.STATES), tuple(AgentAct)])
@pytest.mark.parametrize("urgent", [False, True])
def test_nothing_is_typed_for_a_version_for_which_typing_is_off(
    urgent: bool, off: tuple[AgentAct, ...], pane: Pane, hand: Hand
) -> None:
    """Not even into a pane that looks free, nor where nobody looks any more (behaviour 3.30)."""
    hand.state = replace(hand.state, off=off)
    hand.look()
    assert hand.nudge(urgent=urgent) == OFF
    assert (pane.sent, pane.text) == ([], "")


@pytest.mark.parametrize(("text", "why", "sent"), [("", "", [LINE]), ("half a thought", "it is draft", [])])
def test_a_turn_that_failed_is_over_too(text: str, why: str, sent: list[str], pane: Pane, hand: Hand) -> None:
    """Else mail would wait for ever with an agent that had one error of its API."""
    pane.screen = drawn(text, last="● API Error: 529 overloaded")
    assert hand.nudge() == why
    assert pane.sent == sent


@pytest.mark.parametrize(
    ("screen", "why"),
    [
        (drawn("", WORKING), "it is working"),
        (drawn("half a thought"), "it is draft"),
        (PERMISSION, "it is waiting"),
        (Screen(rows=("$ ls", "a b c", "$ ")), "it is unknown"),
    ],
    ids=["working", "a draft of the person", "a permission", "a shell"],
)
def test_nothing_is_put_in_while_an_agent_is_not_idle(screen: Screen, why: str, pane: Pane, hand: Hand) -> None:
    """An Enter in a permission would approve it (check 36)."""
    pane.screen = screen
    assert hand.nudge() == why
    assert (pane.sent, pane.text, hand.nudger.arrived()) == ([], "", {})


def comes_up(pane: Pane) -> None:
    pane.screen = PERMISSION


def types_too(pane: Pane) -> None:
    pane.show("half a thought" + pane.text)


def types_after(pane: Pane) -> None:
    pane.show(pane.text + " no, wait")


@pytest.mark.parametrize("happens", [comes_up, types_too, types_after])
def test_what_happens_between_the_line_and_its_enter_stops_the_enter(
    happens: Callable[[Pane], None], pane: Pane, hand: Hand
) -> None:
    pane.between = lambda: happens(pane)
    assert "or its screen has changed" in hand.nudge()
    assert pane.sent == []
    assert hand.nudger.arrived() == {}


def types_unseen(pane: Pane) -> None:
    pane.typed = time.monotonic()


@pytest.mark.parametrize("stands", ["", LINE], ids=["a new line", "a line of an earlier try"])
def test_what_is_typed_after_the_last_look_stops_the_enter(stands: str, pane: Pane, hand: Hand) -> None:
    """Their draft would be sent with the line. It stays there, and gets its Enter when it stands alone later."""
    pane.show(stands)
    pane.unseen = lambda: types_unseen(pane)
    assert hand.nudge()
    assert pane.sent == []


def test_nothing_is_put_in_while_a_person_types(pane: Pane, hand: Hand) -> None:
    """What they have typed may not be drawn yet."""
    types_unseen(pane)
    assert "somebody is typing there" in hand.nudge()
    assert pane.text == ""


def test_a_turn_is_not_stopped_while_a_person_types(pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Escape would take away what they have typed."""
    watched = hand.nudger.agent_states.watched("inc-1")
    assert watched
    able = replace(watched.adapter, interrupt="Escape")
    monkeypatch.setattr(hand.nudger.agent_states, "watched", lambda incarnation: replace(watched, adapter=able))
    pane.screen = drawn("", WORKING)
    pane.escape = lambda: pytest.fail("Escape was pressed")
    types_unseen(pane)
    assert hand.nudge(urgent=True) == "it is working"


def test_a_line_that_is_drawn_late_gets_its_enter(pane: Pane, hand: Hand) -> None:
    """A busy agent draws what was pasted after a while, and bit by bit."""

    def late() -> None:
        pane.show("")
        threading.Timer(0.3, pane.show, [LINE[:20]]).start()
        threading.Timer(0.6, pane.show, [LINE]).start()

    pane.between = late
    assert hand.nudge() == ""
    assert pane.sent == [LINE]


@pytest.mark.parametrize("stands", [LINE, unread_line(1)])
def test_a_line_that_an_earlier_try_has_left_there_only_gets_its_enter(stands: str, pane: Pane, hand: Hand) -> None:
    pane.show(stands)
    assert hand.nudge() == ""
    assert pane.sent == [stands]


@pytest.mark.parametrize("line", [LINE, ready_line(1)])
def test_a_line_about_something_else_that_was_left_there_does_not_count_for_this_one(
    line: str, pane: Pane, hand: Hand
) -> None:
    """Else an agent would count as told of tasks that it has not heard of, or of mail."""
    pane.show(stands := ready_line(3) if line == LINE else LINE)
    assert hand.nudge(line=line) == OLDER
    assert (pane.sent, hand.nudger.arrived()) == ([stands], {})
    pane.show("")
    hand.state = replace(hand.state, since=clock())
    assert hand.nudge(line=line) == ""
    assert pane.sent == [stands, line]


def test_a_round_that_has_not_seen_a_line_arrive_hands_over_no_second_one(pane: Pane, hand: Hand) -> None:
    """An urgent one would stop the turn that the first has begun."""
    assert hand.nudge() == ""
    pane.show("")
    hand.over.clear()
    hand.nudger.begin(Nudge("w1", "inc-1", LINE, Nudged(mail=7), urgent=True), hand.state)
    assert not hand.over.wait(0.5)
    assert pane.sent == [LINE]
    assert hand.nudger.arrived()
    assert hand.nudge() == ""
    assert pane.sent == [LINE, LINE]


def test_an_own_line_is_no_draft_of_a_person(pane: Pane, hand: Hand) -> None:
    """Else nobody would ever send it: nothing is done to an agent in whose input a person types."""
    watched = hand.nudger.agent_states.watched("inc-1")
    assert watched
    states = []
    for text in (LINE, LINE + " please", "half a thought"):
        pane.show(text)
        reading, _ = hand.nudger.agent_states.now(watched)
        states.append(reading and reading.state)
    assert states == [State.IDLE, State.DRAFT, State.DRAFT]


def test_an_agent_that_takes_the_enter_for_a_part_of_the_paste_gets_one_more(pane: Pane, hand: Hand) -> None:
    pane.swallows = 1
    assert hand.nudge() == ""
    assert pane.sent == [LINE]


def test_a_line_that_is_gone_for_a_moment_is_still_there(
    pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gemini CLI that goes on with a session draws all of it anew, and the Enter that comes meanwhile is lost."""
    pane.swallows = 1
    redraws = iter([drawn()])

    def look(_handles: Sequence[Handle]) -> dict[str, Screen]:
        pane.looked = time.monotonic()
        return {"inc-1": next(redraws, pane.screen) if pane.text and not pane.swallows else pane.screen}

    monkeypatch.setattr(pane, "look", look)
    assert hand.nudge() == ""
    assert pane.sent == [LINE]


def test_a_line_that_does_not_leave_is_said_to_stay(pane: Pane, hand: Hand) -> None:
    pane.swallows = 9
    assert hand.nudge() == "the line is still in its input"
    assert (pane.sent, pane.swallows) == ([], 7), "never more than two"


def test_a_line_that_waits_is_not_tried_again_at_once(pane: Pane, hand: Hand) -> None:
    pane.screen = drawn("", WORKING)
    hand.nudge()
    pane.show("")
    hand.nudger.begin(Nudge("w1", "inc-1", LINE, Nudged(mail=7)), hand.state)
    assert pane.sent == []


def test_a_line_that_waits_is_tried_as_soon_as_the_agent_does_something_else(pane: Pane, hand: Hand) -> None:
    """After a long turn, in which it was tried more and more seldom, it would come a minute late."""
    pane.screen = drawn("", WORKING)
    hand.nudge()
    pane.show("")
    hand.state = replace(hand.state, since=clock())
    assert hand.nudge() == ""
    assert pane.sent == [LINE]


def test_an_agents_own_channel_is_used_whatever_it_does(
    pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    watched = hand.nudger.agent_states.watched("inc-1")
    assert watched

    def take(session_view: SessionView, line: str) -> bool:
        said.append(line)
        return True

    own = replace(watched.adapter, deliver=take)
    monkeypatch.setattr(hand.nudger.agent_states, "watched", lambda incarnation: replace(watched, adapter=own))
    pane.screen = drawn("", WORKING)
    assert hand.nudge() == ""
    assert (said, pane.sent) == ([LINE], [])


def stops(pane: Pane) -> None:
    pane.show("")


def leaves_a_draft(pane: Pane) -> None:
    pane.show("what it was asked to do")


@pytest.mark.parametrize(
    ("urgent", "can_be", "then", "why", "sent"),
    [
        (True, True, stops, "", [LINE]),
        (True, True, leaves_a_draft, "it is draft", []),
        (False, True, stops, "it is working", []),
        (True, False, stops, "it is working", []),
    ],
    ids=["stopped", "its prompt comes back", "not urgent", "cannot be stopped"],
)
def test_urgent_mail_stops_a_turn_where_that_can_be_done(
    urgent: bool,
    can_be: bool,
    then: Callable[[Pane], None],
    why: str,
    sent: list[str],
    pane: Pane,
    hand: Hand,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An agent puts the prompt of a turn that was stopped early back into its input: that is somebody's draft."""
    watched = hand.nudger.agent_states.watched("inc-1")
    assert watched
    able = replace(watched.adapter, interrupt="Escape" if can_be else "")
    monkeypatch.setattr(hand.nudger.agent_states, "watched", lambda incarnation: replace(watched, adapter=able))
    pane.screen = drawn("", WORKING)
    pane.escape = lambda: then(pane)
    assert hand.nudge(urgent=urgent) == why
    assert pane.sent == sent


def test_an_agent_that_forgets_a_stopped_turn_is_not_stopped(
    pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gemini CLI would not know any more what it has done and read; urgent mail comes to it after a tool."""
    watched = hand.nudger.agent_states.watched("inc-1")
    assert watched
    able = replace(watched.adapter, interrupt="Escape", forgets=True)
    monkeypatch.setattr(hand.nudger.agent_states, "watched", lambda incarnation: replace(watched, adapter=able))
    pane.screen = drawn("", WORKING)
    pane.escape = lambda: pytest.fail("Escape was pressed")
    assert hand.nudge(urgent=True) == FORGETS
    assert pane.sent == []


@pytest.mark.parametrize("works", [True, False])
def test_an_agents_own_channel_stops_its_turn_before_the_line_is_handed_over(
    works: bool, pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the line would wait behind the turn; its key is pressed where the channel does not work."""
    acts: list[str] = []
    watched = hand.nudger.agent_states.watched("inc-1")
    assert watched

    def done(act: str, after: bool = True) -> bool:
        acts.append(act)
        pane.screen = drawn("") if after else pane.screen
        return after

    own = replace(
        watched.adapter,
        deliver=lambda _sight, line: done(line),
        stop=lambda _sight: done("stop", works),
        interrupt="Escape",
    )
    monkeypatch.setattr(hand.nudger.agent_states, "watched", lambda incarnation: replace(watched, adapter=own))
    pane.screen = drawn("", WORKING)
    monkeypatch.setattr(pane, "escape", lambda: done("Escape"))
    assert hand.nudge(urgent=True) == ""
    assert acts == ["stop", *([] if works else ["Escape"]), LINE]


def test_a_permission_is_never_dismissed_for_urgent_mail(
    pane: Pane, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane.screen = PERMISSION
    pane.escape = lambda: pytest.fail("Escape was pressed")
    assert hand.nudge(urgent=True) == "it is waiting"
