"""The end of a turn: its record, and the one letter about it with the agent's last words (issue 14, build 3)."""

import pytest
from msgspec.structs import replace

from pro0.model.decision import Seen, Tell
from pro0.model.runtime import State, TurnEnd
from pro0.model.screen import LastWords
from pro0.model.task import Task
from pro0.rules.lead.idling import IDLE_AFTER
from pro0.rules.lead.turn_ends import LATE
from pro0.rules.words import prompts
from tests.rules.building import at
from tests.rules.supervising import decided, held, led, look, only, recorded, seat, session, wish

AGENT = seat("w1", agent="claude")
LATER = IDLE_AFTER.total_seconds()


def words(text: str = "I found 3 bugs", id: str = "turn-1", source: str = "transcript") -> LastWords:
    return LastWords(text=text, id=id, source=source)


def seen(state: State, since: float = 0, said: LastWords | None = None, **more: object) -> dict[str, Seen]:
    return {"inc-w1": replace(Seen(state=state, since=at(since), source="events", words=said), **more)}


class Story:
    """A member whose lead looks at it again and again; `letters` are those to the lead address."""

    def __init__(self, *tasks: Task, was: State = State.WORKING) -> None:
        self.state = session(state=was, since=at(-5), source="events", told=())
        self.tasks = tasks
        self.letters: list[str] = []

    def goes_on(self, now: float, session_view: dict[str, Seen], **more: object) -> "Story":
        decision = decided(led(look(self.state, seats=[AGENT], now=now, seen=session_view, tasks=self.tasks, **more)))  # type: ignore[arg-type]
        self.letters += [tell.content for tell in only(Tell, decision) if tell.to == "lead"]
        self.state = recorded(decision)
        return self


def test_the_end_of_a_turn_is_recorded_and_told_once_with_the_words() -> None:
    story, session_view = Story(), seen(State.IDLE, said=words(), running=("make",))
    for now in (0, 0.5, LATER, LATER + 1, 600):
        story.goes_on(now, session_view)
    assert story.letters == ["w1 is idle; still runs: make\nIts last words:\nI found 3 bugs"]
    expected = TurnEnd(
        at=at(0), how="ended", words="I found 3 bugs", source="transcript", id="turn-1", running=("make",)
    )
    assert story.state.turn == expected


def test_a_claim_is_named() -> None:
    story = Story(held(1))
    story.goes_on(0, seen(State.IDLE, said=words())).goes_on(LATER, seen(State.IDLE, said=words()))
    assert story.letters == ["w1 is idle; holds task-1\nIts last words:\nI found 3 bugs"]
    assert story.state.turn
    assert story.state.turn.claims == ("task-1",)


FOUND = TurnEnd(at=at(0), how="ended", words="I found 3 bugs", source="transcript", id="turn-1")


def test_words_that_come_after_the_end_belong_to_it() -> None:
    story = Story().goes_on(0, seen(State.IDLE)).goes_on(1, seen(State.IDLE, said=words()))
    assert story.state.turn == FOUND
    story.goes_on(LATER, seen(State.IDLE, said=words())).goes_on(60, seen(State.IDLE, said=words()))
    assert story.letters == ["w1 is idle\nIts last words:\nI found 3 bugs"]


def test_words_that_come_before_the_end_belong_to_it() -> None:
    story = Story().goes_on(0, seen(State.WORKING, -5, said=words())).goes_on(1, seen(State.IDLE, 1, words()))
    assert story.state.turn == replace(FOUND, at=at(1))
    story.goes_on(1 + LATER, seen(State.IDLE, 1, words())).goes_on(60, seen(State.IDLE, 1, words()))
    assert story.letters == ["w1 is idle\nIts last words:\nI found 3 bugs"]


def test_the_same_words_from_a_better_source_are_no_news() -> None:
    story = Story().goes_on(0, seen(State.IDLE, said=words(source="hook", id="7")))
    for now in (1, LATER, 60):
        story.goes_on(now, seen(State.IDLE, said=words()))
    assert len(story.letters) == 1
    assert story.state.turn
    assert story.state.turn.source == "transcript"


@pytest.mark.parametrize("state", [State.IDLE, State.WORKING])
def test_a_better_source_that_comes_late_is_no_news(state: State) -> None:
    """Its words may have been told already, or wait to be told while the agent works on."""
    story, is_over = Story().goes_on(0, seen(State.IDLE, said=words(source="hook", id="7"))), state is State.IDLE
    since, moments = (0, (LATER, LATER + 1, 60)) if is_over else (1, (1, 2, 60))
    for number, now in enumerate(moments):
        story.goes_on(now, seen(state, since, words() if number else words(source="hook", id="7")))
    assert len(story.letters) == 1
    assert story.state.turn == FOUND


@pytest.mark.parametrize("told", [True, False], ids=["the first is told in time", "the next turn begins at once"])
def test_no_words_are_lost_when_another_turn_begins(told: bool) -> None:
    story = Story().goes_on(0, seen(State.IDLE, said=words("one")))
    if told:
        story.goes_on(LATER, seen(State.IDLE, said=words("one")))
    story.goes_on(3, seen(State.WORKING, 3, words("one"))).goes_on(5, seen(State.IDLE, 5, words("two", "turn-2")))
    story.goes_on(5 + LATER, seen(State.IDLE, 5, words("two", "turn-2")))
    assert [letter.splitlines()[-1] for letter in story.letters] == ["one", "two"]


def test_a_turn_that_no_look_saw_is_told_all_the_same() -> None:
    story = Story().goes_on(0, seen(State.IDLE, said=words("one"))).goes_on(LATER, seen(State.IDLE, said=words("one")))
    story.goes_on(4, seen(State.IDLE, said=words("two", "turn-2")))
    assert story.state.turn == replace(FOUND, at=at(4), words="two", id="turn-2")
    for now in (4 + LATER, 60):
        story.goes_on(now, seen(State.IDLE, said=words("two", "turn-2")))
    assert [letter.splitlines()[-1] for letter in story.letters] == ["one", "two"]


def test_words_of_one_that_works_on_are_told_after_a_while() -> None:
    story, busy = Story().goes_on(0, seen(State.IDLE, said=words())), seen(State.WORKING, 1, words())
    story.goes_on(1, busy).goes_on(5, busy)
    assert not story.letters
    story.goes_on(LATE.total_seconds(), busy).goes_on(60, busy)
    assert story.letters == ["w1 has ended a turn\nIts last words:\nI found 3 bugs"]


def test_the_words_of_one_that_ends_are_told() -> None:
    story = Story().goes_on(0, seen(State.IDLE, said=words()))
    story.goes_on(1, {}, dead=["w1"])
    assert story.letters[-1] == "w1 has ended a turn\nIts last words:\nI found 3 bugs"


def test_the_end_of_a_screen_is_called_so() -> None:
    story, session_view = Story(), seen(State.IDLE, said=words("done.", source="screen"))
    story.goes_on(0, session_view).goes_on(LATER, session_view)
    assert story.letters == ["w1 is idle\nThe end of its screen:\ndone."]


@pytest.mark.parametrize(
    ("state", "rule", "how"),
    [
        (State.IDLE, "task_complete", "ended"),
        (State.ERROR, "failed turn", "failed"),
        (State.IDLE, "turn_aborted", "interrupted"),
    ],
)
def test_the_record_says_how_a_turn_ended(state: State, rule: str, how: str) -> None:
    turn = Story().goes_on(0, seen(state, rule=rule)).state.turn
    assert (turn and turn.how, turn and turn.words) == (how, "")


def test_an_agent_that_has_come_up_has_ended_no_turn() -> None:
    assert Story(was=State.STARTING).goes_on(0, seen(State.IDLE)).state.turn is None


def test_one_that_came_up_and_claimed_has_ended_a_turn_that_no_look_saw() -> None:
    """A fast first turn is over before the lead has seen any work: the claim tells of it."""
    story = Story(held(1), was=State.STARTING).goes_on(0, seen(State.IDLE))
    assert story.state.turn == TurnEnd(at=at(0), how="ended", claims=("task-1",))


@pytest.mark.parametrize("more", [{"stop": wish()}, {"seats": [replace(AGENT, task="task-9")]}])
def test_nobody_hears_of_turns_in_a_team_that_stops_or_in_a_session_of_a_task(more: dict[str, object]) -> None:
    state = session(state=State.WORKING, since=at(-5), source="events", told=())
    for now in (0, LATER):
        given = {"seats": [AGENT], **more}
        decision = decided(led(look(state, now=now, seen=seen(State.IDLE, said=words()), **given)))  # type: ignore[arg-type]
        state = recorded(decision)
        assert not [tell for tell in only(Tell, decision) if tell.to == "lead"]


def test_a_person_gets_no_letter_and_sees_the_words() -> None:
    state = session(state=State.WORKING, since=at(-5), source="events", told=())
    for now in (0, LATER, 60):
        decision = decided(look(state, seats=[AGENT], now=now, seen=seen(State.IDLE, said=words())))
        assert not only(Tell, decision)
        state = recorded(decision)
    assert state.turn
    assert state.turn.words == "I found 3 bugs"


def test_one_that_holds_a_claim_is_asked_once_for_a_word_within_fifteen_seconds() -> None:
    state, asked = session(state=State.WORKING, since=at(-5), source="events", told=()), []
    for now in (0, LATER, 9, 15, 16, 60, 119):
        session_view = seen(State.IDLE, said=words())
        decision = decided(look(state, seats=[AGENT], now=now, seen=session_view, tasks=[held(1)]))
        asked += [(now, tell.content) for tell in only(Tell, decision) if tell.to == "w1"]
        state = recorded(decision)
    assert asked == [(15, prompts.owes_a_word(held(1)))]


def test_a_turn_without_words_of_its_own_does_not_say_the_last_ones_again() -> None:
    """Its record keeps their id: they are still the last words that the agent shows."""
    story = Story()
    story.goes_on(0, seen(State.IDLE, said=words())).goes_on(LATER, seen(State.IDLE, said=words()))
    assert story.letters == ["w1 is idle\nIts last words:\nI found 3 bugs"]
    story.goes_on(60, seen(State.WORKING, 60, words())).goes_on(70, seen(State.IDLE, 70, words()))
    assert story.state.turn == TurnEnd(at=at(70), how="ended", id="turn-1")
    for now in (71, 70 + LATER, 600):
        story.goes_on(now, seen(State.IDLE, 70, words()))
    assert story.letters[1:] == ["w1 is idle"]
    assert story.state.turn == TurnEnd(at=at(70), how="ended", id="turn-1")


@pytest.mark.parametrize("leads", ["a person", "an agent"])
def test_words_of_an_ended_agent_are_a_letter_to_an_agent_only(leads: str) -> None:
    """A person reads the lead's mail, and sees the words wherever they look; both times they count as told."""
    turn = TurnEnd(at=at(-20), how="ended", words="done", source="transcript", id="turn-1")
    state = session(state=State.CRASHED, source="events", told=(), turn=turn)
    team = look(state, seats=[AGENT])
    decision = decided(led(team) if leads == "an agent" else team)
    told = [tell for tell in only(Tell, decision) if "done" in tell.content]
    assert [(tell.to, tell.content) for tell in told] == (
        [("lead", prompts.turn_ended("w1", turn))] if leads == "an agent" else []
    )
    assert f"inc-w1:idle:{at(-20).isoformat()}" in recorded(decision).told
