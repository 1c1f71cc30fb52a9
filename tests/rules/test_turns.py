"""What an agent's turns mean: its state, who is told, and when it gets its one line."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.model.agent import Definition
from pro0.model.decision import Decision, Nudge, Nudged, Seen, Tell
from pro0.model.ids import HUMAN, LEAD
from pro0.model.runtime import State, Unread
from pro0.model.task import Status, Task
from pro0.model.team import Seat
from pro0.rules.lead.turns import AGAIN, LOOK, LOST_AFTER, REMIND, need
from pro0.rules.words import prompts
from tests.rules.building import T0, at, task
from tests.rules.supervising import decided, held, look, only, recorded, report, seat, session, wish

NOW, AGO = T0, at(-60)

CLAUDE = [seat(agent="claude")]
DEAF = [State.STARTING, State.WAITING, State.DIALOG, State.DRAFT, State.UNKNOWN, State.UNREACHABLE]


def seen(state: State, **more: Any) -> dict[str, Seen]:
    return {"inc-w1": Seen(state, AGO, "screen", **more)}


@pytest.mark.parametrize("state", [State.IDLE, State.WORKING, State.RUNNING, State.ERROR])
def test_new_mail_is_nudged_until_the_line_arrived(state: State) -> None:
    """rulings 3.6"""
    mail = look(session(state=state), seats=CLAUDE, unread={"w1": Unread(57, 3)})
    first = decided(mail)
    line = prompts.unread_line(3)
    assert only(Nudge, first) == [Nudge("w1", "inc-w1", line, Nudged(mail=57))]
    assert only(Nudge, decided(replace(mail, runtime=first.runtime))), "nothing says that it arrived"
    arrived = decided(replace(mail, nudged={"inc-w1": Nudged(mail=57)}))
    assert not only(Nudge, arrived)
    assert recorded(arrived).nudged == 57
    assert only(Nudge, decided(replace(mail, runtime=arrived.runtime, unread={"w1": Unread(58, 4)})))


@pytest.mark.parametrize("state", DEAF)
def test_no_nudge_where_an_enter_could_do_harm(state: State) -> None:
    assert not only(Nudge, decided(look(session(state=state), seats=CLAUDE, unread={"w1": Unread(1, 1)})))


@pytest.mark.parametrize("state", DEAF)
def test_an_agents_own_channel_goes_beside_a_draft_and_nothing_else(state: State) -> None:
    mail = look(session(state=state), seats=CLAUDE, unread={"w1": Unread(1, 1)})
    by_channel = decided(replace(mail, channels=frozenset({"claude"})))
    assert bool(only(Nudge, by_channel)) is (state is State.DRAFT)
    there = replace(
        mail, channels=frozenset({"claude"}), wanted=replace(mail.wanted, seats=(seat("w1", host="build1"),))
    )
    assert not only(Nudge, decided(there)), "another machine's channel is not in reach"


@pytest.mark.parametrize(("acp", "beside"), [(("mine", "--acp"), True), ((), False)])
def test_only_a_defined_agent_of_the_protocol_has_a_channel(acp: tuple[str, ...], *, beside: bool) -> None:
    """Whatever built-in agent has its name."""
    defined = [seat(agent="claude", definition=Definition(argv=() if acp else ("mine",), nudge=True, acp=acp))]
    mail = look(session(state=State.DRAFT), seats=defined, unread={"w1": Unread(1, 1)})
    nudges = only(Nudge, decided(replace(mail, channels=frozenset({"claude"}), line=frozenset({"claude"}))))
    assert bool(nudges) is beside


def test_a_machine_out_of_reach_is_beyond_what_its_old_screen_says() -> None:
    """Issue 19, build 4."""
    read = session(state=State.IDLE, source="screen", rule="empty-box")
    lost = report(state=State.UNREACHABLE, note="build1 cannot be reached", since=at(-5))
    cut = look(read, seats=CLAUDE, reports=[lost], seen=seen(State.IDLE), unread={"w1": Unread(1, 1)})
    decision = decided(cut)
    read_now = recorded(decision)
    assert (read_now.state, read_now.source, read_now.rule) == (State.UNREACHABLE, "", "")
    assert not only(Nudge, decision)
    back = decided(replace(cut, runtime=decision.runtime, reports={"inc-w1": report(state=State.STARTING, since=NOW)}))
    assert (recorded(back).state, recorded(back).source) == (State.IDLE, "screen")


def test_what_carried_the_line_is_recorded() -> None:
    mail = look(session(state=State.IDLE), seats=CLAUDE, unread={"w1": Unread(57, 3)})
    assert recorded(decided(replace(mail, nudged={"inc-w1": Nudged(mail=57, by="hook")}))).nudged_by == "hook"


@pytest.mark.parametrize(
    ("wanted", "nudged"),
    [
        (seat(agent="shell"), False),
        (seat(agent="command"), False),
        (seat(agent="command", nudge=True), True),
        (seat(agent="shell", host="build1"), True),
        (seat(agent="command", host="build1"), False),
    ],
)
def test_only_who_wants_the_line_is_nudged(wanted: Seat, nudged: bool) -> None:
    assert bool(only(Nudge, decided(look(session(), seats=[wanted], unread={"w1": Unread(1, 1)})))) is nudged


def test_what_was_read_is_not_nudged() -> None:
    assert not only(Nudge, decided(look(session(), seats=CLAUDE, unread={"w1": Unread(0, 0)})))


@pytest.mark.parametrize("state", [State.IDLE, State.ERROR, State.WORKING])
def test_mail_that_stays_unread_is_told_again_when_a_turn_is_over(state: State) -> None:
    """After a turn that failed later, for the next one may fail as well."""
    patience = REMIND.get(state, max(REMIND.values()))
    told = session(state=state, since=at(-6000), nudged=57, nudged_at=NOW - patience)
    again = only(Nudge, decided(look(told, seats=CLAUDE, unread={"w1": Unread(57, 3)})))
    assert bool(again) is (state in REMIND)
    lately = replace(told, nudged_at=NOW - patience / 2)
    assert not only(Nudge, decided(look(lately, seats=CLAUDE, unread={"w1": Unread(57, 3)})))


@pytest.mark.parametrize(
    ("state", "since", "told_at", "retold", "again"),
    [
        (State.IDLE, -2, -5, 0, True),
        (State.IDLE, -1.9, -5, 0, False),
        (State.IDLE, -5, -2, 0, False),
        (State.IDLE, -5, -5, 0, False),
        (State.IDLE, -2, -5, AGAIN[State.IDLE] - 1, True),
        (State.IDLE, -2, -5, AGAIN[State.IDLE], False),
        (State.ERROR, -2, -5, 0, True),
        (State.ERROR, -2, -5, AGAIN[State.ERROR], False),
        (State.WORKING, -2, -5, 0, False),
        (State.WAITING, -2, -5, 0, False),
    ],
)
def test_mail_that_a_turn_has_passed_over_is_told_of_again_at_once(
    state: State, since: float, told_at: float, retold: int, again: bool
) -> None:
    """What an agent has queued is lost with a turn that ends in a refused permission; nobody is told for ever."""
    told = session(state=state, since=at(since), nudged=57, nudged_at=at(told_at), retold=retold)
    nudges = only(Nudge, decided(look(told, seats=CLAUDE, unread={"w1": Unread(57, 3)})))
    assert [nudge.tells for nudge in nudges] == ([Nudged(mail=57, again=retold + 1)] if again else [])


def test_what_was_told_again_counts_for_this_mail_alone() -> None:
    told = session(state=State.IDLE, since=at(-9), nudged=57, nudged_at=at(-20))
    snapshot = look(told, seats=CLAUDE, unread={"w1": Unread(57, 3)})
    after = decided(replace(snapshot, nudged={"inc-w1": Nudged(mail=57, again=1, at=at(-1))}))
    assert not only(Nudge, after)
    assert (recorded(after).retold, recorded(after).nudged_at) == (1, at(-1))
    (nudge,) = only(Nudge, decided(look(recorded(after), seats=CLAUDE, unread={"w1": Unread(58, 4)})))
    assert nudge.tells == Nudged(mail=58)
    newer = decided(replace(snapshot, nudged={"inc-w1": Nudged(mail=58, at=NOW)}))
    assert recorded(newer).retold == 0


def test_an_idle_agent_is_told_once_of_what_it_could_claim() -> None:
    idle = session(state=State.IDLE, since=AGO)
    offers = look(idle, seats=CLAUDE, tasks=[task(1), task(2)])
    (nudge,) = only(Nudge, decided(offers))
    assert (nudge.line, nudge.tells.tasks) == (prompts.ready_line(2), ("task-1", "task-2"))
    told = decided(replace(offers, nudged={"inc-w1": nudge.tells}))
    assert not only(Nudge, told)
    assert only(Nudge, decided(look(recorded(told), seats=CLAUDE, tasks=[task(1), task(2), task(3)])))


@pytest.mark.parametrize("wanted", [seat(agent="shell"), seat(agent="command", nudge=True), seat(LEAD, agent="claude")])
def test_tasks_are_offered_to_agents_that_claim_by_themselves_only(wanted: Seat) -> None:
    idle = session(agent_id=wanted.agent_id, state=State.IDLE, since=AGO)
    assert not only(Nudge, decided(look(idle, seats=[wanted], tasks=[task(1)])))


def test_work_is_not_offered_in_the_moment_when_a_turn_ends() -> None:
    idle = session(state=State.IDLE, since=NOW)
    decision = decided(look(idle, seats=CLAUDE, tasks=[task(1)]))
    assert not only(Nudge, decision)
    assert decision.wake_at == NOW + timedelta(seconds=2)


@pytest.mark.parametrize("state", [State.WORKING, State.IDLE, State.WAITING, State.ERROR])
def test_what_the_agent_shows_counts_above_its_guard(state: State) -> None:
    snapshot = look(
        session(state=State.STARTING), seats=CLAUDE, seen=seen(state, note="Bash(rm)", session="s-1", rule="menu")
    )
    decision = decided(snapshot)
    now = recorded(decision)
    assert (now.state, now.since, now.source, now.note, now.session) == (state, AGO, "screen", "Bash(rm)", "s-1")
    assert now.rule == "menu"
    assert decision.wake_at is not None
    assert decision.wake_at <= NOW + LOOK
    assert recorded(decided(replace(snapshot, runtime=decision.runtime))) == now, "the guard's report changes nothing"


def test_the_session_of_another_member_stays_theirs() -> None:
    """A person may pick it in the pane of w1, where agents share a list of sessions."""
    sessions = session(session="s-1"), session("w2", session="s-2")
    both = look(*sessions, seats=[*CLAUDE, seat("w2", agent="claude")], seen=seen(State.WORKING, session="s-2"))
    now = recorded(decided(both))
    assert (now.state, now.session) == (State.WORKING, "s-1")


LOST = {
    "a screen that nobody knows": Seen(State.UNKNOWN, T0, "screen", lost=True),
    "it awaits its first prompt behind such a screen": Seen(State.STARTING, T0, "transcript", lost=True),
    "a word that nobody knows": Seen(State.UNKNOWN, T0, "rollout", note="something new"),
}


@pytest.mark.parametrize("what", LOST)
def test_who_shows_nothing_that_is_known_is_shown_to_the_person_after_a_while(what: str) -> None:
    """A start-up dialog of a later version: the member would be starting for as long as it stands there. Said once."""
    shown = {"inc-w1": LOST[what]}
    fresh = look(session(state=State.STARTING, since=T0, started_at=T0), seats=CLAUDE, seen=shown)
    early = decided(replace(fresh, now=T0 + LOST_AFTER - LOOK))
    assert not only(Tell, early)
    assert recorded(early).state is (State.UNKNOWN if "word" in what else State.STARTING)
    assert not need(recorded(early).state, recorded(early).rule)
    late = decided(replace(fresh, runtime=early.runtime, now=T0 + LOST_AFTER))
    (told,) = only(Tell, late)
    note = " (something new)" if "word" in what else ""
    assert (told.to, told.content) == (HUMAN, f"w1 shows nothing that pro0 knows{note}; look: pro0 member peek w1")
    assert need(recorded(late).state, recorded(late).rule) == prompts.LOST
    assert not only(Tell, decided(replace(fresh, runtime=late.runtime, now=T0 + 9 * LOST_AFTER)))
    known = {"inc-w1": Seen(State.IDLE, T0 + LOST_AFTER, "screen")}
    found = recorded(decided(replace(fresh, runtime=late.runtime, seen=known, now=T0 + 2 * LOST_AFTER)))
    assert not need(found.state, found.rule)


def test_who_starts_behind_a_screen_that_is_known_is_left_alone() -> None:
    """It may take its time."""
    shown = {"inc-w1": Seen(State.STARTING, T0, "transcript")}
    fresh = look(session(state=State.STARTING, since=T0, started_at=T0), seats=CLAUDE, seen=shown)
    assert not only(Tell, decided(replace(fresh, now=T0 + 9 * LOST_AFTER)))


def test_a_state_is_as_old_as_when_it_was_first_seen() -> None:
    """What another lead begins to see was so before; what the guard alone said is no sight of it."""
    session_view = {"inc-w1": Seen(State.WORKING, AGO, "screen")}
    for source, since in (("screen", NOW), ("", AGO)):
        known = session(state=State.WORKING, since=NOW, source=source)
        assert recorded(decided(look(known, seats=CLAUDE, seen=session_view))).since == since
    changed = session(state=State.IDLE, since=NOW, source="screen")
    assert recorded(decided(look(changed, seats=CLAUDE, seen=session_view))).since == AGO


def test_an_offer_says_which_mail_it_knows_of() -> None:
    """Else the arrival of the line would forget what was told before; a member that ends is offered nothing."""
    idle = session(state=State.IDLE, since=AGO, nudged=7, retold=2)
    (nudge,) = only(Nudge, decided(look(idle, seats=CLAUDE, tasks=[task(1)])))
    assert nudge.tells == Nudged(mail=7, tasks=("task-1",), again=2)
    for ending in ({"seats": [seat(agent="claude", shutdown=wish())]}, {"seats": CLAUDE, "stop": wish()}):
        snapshot = look(idle, tasks=[task(1)], **ending)
        for answering in ("shell", "claude"):
            assert not only(Nudge, decided(replace(snapshot, protocol=frozenset({answering}))))


@pytest.mark.parametrize(("why", "recorded_"), [({}, "old"), ({"inc-w1": "a draft"}, "a draft"), ({"inc-w1": ""}, "")])
def test_why_a_line_waits_is_recorded_until_it_arrived(why: dict[str, str], recorded_: str) -> None:
    snapshot = replace(look(session(queued="old"), seats=CLAUDE), queued=why)
    assert recorded(decided(snapshot)).queued == recorded_


def test_what_shows_the_same_moment_is_no_news_of_an_unresponsive_member() -> None:
    silent = session(state=State.UNRESPONSIVE, since=AGO)
    snapshot = look(silent, seats=CLAUDE, seen=seen(State.IDLE))
    assert recorded(decided(snapshot)).state is State.UNRESPONSIVE
    assert decided(snapshot).wake_at == NOW + LOOK


@pytest.mark.parametrize(("since", "offered"), [(-1.9, False), (-2, True)])
def test_an_idle_agent_is_offered_work_after_two_seconds(since: float, offered: bool) -> None:
    idle = session(state=State.IDLE, since=at(since))
    assert bool(only(Nudge, decided(look(idle, seats=CLAUDE, tasks=[task(1)])))) is offered


@pytest.mark.parametrize("day", [86400, -86400])
def test_a_clock_that_jumps_delays_no_line_and_repeats_none(day: float) -> None:
    """Anchors 57: of tasks and of mail an idle agent hears by seconds that pass."""
    idle = session(state=State.IDLE, since=at(-10 - day), nudged=57, nudged_at=at(-20 - day))
    moved = {at(-10 - day): at(-10), at(-20 - day): at(-20)}
    offer = replace(look(idle, seats=CLAUDE, tasks=[task(1)]), moved=moved)
    assert only(Nudge, decided(offer))
    mail = replace(look(idle, seats=CLAUDE, unread={"w1": Unread(57, 3)}), moved=moved)
    assert [nudge.tells.again for nudge in only(Nudge, decided(mail))] == [1]
    told = decided(replace(mail, nudged={"inc-w1": Nudged(mail=57, again=1, at=at(-1))}))
    assert not only(Nudge, told)
    assert (recorded(told).nudged_at, recorded(told).retold) == (at(-1), 1)
    before = Nudged(mail=57, again=0, at=idle.nudged_at)
    twice = replace(mail, runtime=replace(mail.runtime, seats=(replace(idle, retold=2),)), nudged={"inc-w1": before})
    assert (recorded(decided(twice)).nudged_at, recorded(decided(twice)).retold) == (idle.nudged_at, 2)


@pytest.mark.parametrize(
    ("arrived", "nudged", "offered"),
    [
        (Nudged(mail=7, tasks=()), 7, ("task-1",)),
        (Nudged(mail=8, tasks=()), 8, ("task-1",)),
        (Nudged(mail=6, tasks=("task-2",)), 7, ("task-1", "task-2")),
        (Nudged(mail=6, tasks=("task-1",)), 7, ("task-1",)),
    ],
)
def test_what_arrived_is_remembered(arrived: Nudged, nudged: int, offered: tuple[str, ...]) -> None:
    """When it brings nothing new, nothing is written."""
    known = session(nudged=7, offered=("task-1",), nudged_at=AGO)
    snapshot = replace(look(known, seats=CLAUDE), nudged={"inc-w1": arrived})
    after = recorded(decided(snapshot))
    news = (nudged, offered) != (7, ("task-1",))
    assert (after.nudged, after.offered, after.nudged_at) == (nudged, offered, NOW if news else AGO)


def test_a_session_that_is_ending_stays_so_whatever_its_agent_shows() -> None:
    ending = session(state=State.STOPPING, since=AGO, ending_since=AGO)
    assert recorded(decided(look(ending, seats=CLAUDE, seen=seen(State.IDLE)))).state is State.STOPPING


def test_an_unresponsive_member_is_so_until_its_agent_does_something() -> None:
    silent = session(state=State.UNRESPONSIVE, since=NOW)
    assert recorded(decided(look(silent, seats=CLAUDE, seen=seen(State.IDLE)))).state is State.UNRESPONSIVE
    longer = replace(silent, since=AGO - timedelta(seconds=1))
    assert recorded(decided(look(longer, seats=CLAUDE, seen=seen(State.WORKING)))).state is State.WORKING


@pytest.mark.parametrize("jump", [3600, -3600])
def test_a_clock_that_jumps_keeps_nobody_unresponsive_and_wakes_nobody(jump: float) -> None:
    """Anchors 57: what its agent did before and after it was given up is told apart by seconds that pass."""
    since, before, after = at(-30 - jump), at(-90 - jump), at(-10)
    silent = session(state=State.UNRESPONSIVE, since=since)
    moved = {since: at(-30), before: at(-90)}
    for shown, state in ((before, State.UNRESPONSIVE), (after, State.WORKING)):
        snapshot = look(silent, seats=CLAUDE, seen={"inc-w1": Seen(State.WORKING, shown, "screen")})
        assert recorded(decided(replace(snapshot, moved=moved))).state is state


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (State.WAITING, [HUMAN]),
        (State.DIALOG, [HUMAN]),
        (State.ERROR, [LEAD]),
        (State.IDLE, []),
        (State.WORKING, []),
    ],
)
def test_whoever_is_needed_is_told_once(state: State, told: list[str]) -> None:
    snapshot = look(session(state=State.WORKING, told=()), seats=CLAUDE, seen=seen(state, note="Bash(make)"))
    first = decided(snapshot)
    tells = [tell for tell in only(Tell, first) if ":idle:" not in tell.id]
    assert [tell.to for tell in tells] == told
    assert all("Bash(make)" in tell.content for tell in tells)
    again = decided(replace(snapshot, runtime=first.runtime))
    assert not [tell for tell in only(Tell, again) if ":idle:" not in tell.id]


@pytest.mark.parametrize(("name", "told"), [("w1", [HUMAN, LEAD]), (LEAD, [HUMAN])])
def test_beside_a_lead_agent_an_error_is_told_to_both(name: str, told: list[str]) -> None:
    ended = {f"inc-{name}": Seen(State.ERROR, AGO, "screen")}
    seats = [seat("w1", agent="claude"), seat(LEAD, agent="claude")]
    decision = decided(look(session(name, state=State.WORKING, told=()), seats=seats, seen=ended))
    assert [tell.to for tell in only(Tell, decision) if ":error:" in tell.id] == told


def test_mail_is_urgent_until_its_line_arrived() -> None:
    mail = look(session(state=State.WORKING), seats=CLAUDE, unread={"w1": Unread(9, 2, urgent=8)})
    assert [nudge.urgent for nudge in only(Nudge, decided(mail))] == [True]
    later = look(session(state=State.WORKING, nudged=8), seats=CLAUDE, unread={"w1": Unread(9, 2, urgent=8)})
    assert [nudge.urgent for nudge in only(Nudge, decided(later))] == [False]


@pytest.mark.parametrize(("state", "paused"), [(State.WORKING, False), (State.ERROR, False), (State.IDLE, True)])
def test_work_is_offered_only_to_who_is_idle_in_a_team_that_goes_on(state: State, paused: bool) -> None:
    at_rest = session(state=state, since=AGO)
    assert not only(Nudge, decided(look(at_rest, seats=CLAUDE, tasks=[task(1)], paused=paused)))


def asked(agent: str, idle: float, *tasks: Task, told: tuple[str, ...] = (), **more: Any) -> Decision:
    """What the lead decides about a member of the pool that ended its turn so long ago."""
    state = replace(session(), since=T0, told=told)
    return decided(look(state, now=idle, seats=[seat(agent=agent)], tasks=tasks, **more))


def words(decision: Decision) -> list[str]:
    return [tell.content for tell in only(Tell, decision) if tell.to == "w1"]


def test_an_agent_that_ends_its_turn_with_a_claim_is_asked_once_for_a_word() -> None:
    """Issue 14, 3: within 15 s, once for each claim; never whoever takes no messages in, or has some to read."""
    one, two = held(1), held(2)
    early = asked("claude", 9, one)
    assert words(early) == []
    assert early.wake_at is not None
    assert early.wake_at <= at(10)
    first = asked("claude", 10, one, two)
    second = asked("claude", 10, one, two, told=recorded(first).told)
    assert [words(first), words(second)] == [[prompts.owes_a_word(one)], [prompts.owes_a_word(two)]]
    assert words(asked("claude", 999, one, two, told=recorded(second).told)) == []
    assert words(asked("claude", 10, replace(one, epoch=2), told=recorded(second).told)) != []
    for agent in ("shell", "command", "runner"):
        assert words(asked(agent, 999, one)) == []
    assert words(asked("claude", 999, one, unread={"w1": Unread(1, 1)})) == []
    assert words(asked("claude", 999, replace(one, status=Status.DONE))) == []
    assert words(asked("claude", 999, one, stop=wish())) == []
