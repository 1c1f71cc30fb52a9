"""What the lead announces: each need once on each surface in use, whoever leads; forgotten when it is gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.decision import Announce, Decision, Person, Snapshot
from pro0.model.need import NeedKind, Picture, Surface, Trouble
from pro0.model.runtime import Phase, State
from pro0.model.task import Status
from pro0.rules.lead.announcing import announce, key, own_keys
from pro0.rules.lead.plan import View
from pro0.rules.needs import needs, next_look
from pro0.rules.tasks.board import Board
from tests.rules.building import at, task
from tests.rules.supervising import decided, ids, look, only, seat, session, wish
from tests.rules.test_needs import KINDS, REQUEST, held, of_member, picture

ALL = frozenset(Surface)
FAILED = task(1, status=Status.FAILED)


def seen(*tasks: object, person: Person | None = None, surfaces: frozenset[Surface] = ALL) -> Snapshot:
    return replace(look(session(), tasks=tasks), person=person or Person(), surfaces=surfaces)  # type: ignore[arg-type]


def after(snapshot: Snapshot, decision: Decision, *made: str) -> Snapshot:
    """The next look of the same lead: these announcements were made."""
    kept = snapshot.person.announced if snapshot.person and decision.announced is None else decision.announced
    person = replace(snapshot.person or Person(), announced=kept or ())
    return replace(snapshot, runtime=decision.runtime, person=person, announced=snapshot.announced | {*made})


def keys(decision: Decision) -> list[str]:
    return [key(one.surface, one.need.id) for one in only(Announce, decision)]


def test_a_need_is_owed_on_every_surface_until_it_was_made_and_then_never_again() -> None:
    first = seen(FAILED)
    owed = keys(decided(first))
    assert len(owed) == len(Surface)
    again = after(first, decided(first), *owed[:1])
    assert keys(decided(again)) == owed[1:]
    told = after(again, decided(again), *owed)
    assert decided(told).announced == tuple(owed)
    kept = after(told, decided(told))
    assert keys(decided(kept)) == []
    assert decided(kept).announced is None, "a record that is right is not written"


def test_the_next_lead_knows_what_was_recorded_and_makes_what_was_not() -> None:
    owed = keys(decided(seen(FAILED)))
    heir = seen(FAILED, person=Person(announced=tuple(owed[:2])))
    assert keys(decided(heir)) == owed[2:]


def test_what_is_answered_is_forgotten_and_announced_anew_when_it_comes_again() -> None:
    owed = keys(decided(seen(FAILED)))
    gone = decided(seen(person=Person(announced=tuple(owed))))
    assert gone.announced == ()
    assert gone.needs == ()
    later = replace(FAILED, updated_at=at(5), completed_at=at(5))
    assert len(keys(decided(seen(later)))) == len(Surface)


@pytest.mark.parametrize("blind", ["tasks", "person"])
def test_what_cannot_be_seen_is_neither_new_nor_gone(blind: str) -> None:
    known = seen(FAILED, person=Person(announced=("bell x",)))
    decision = decided(replace(known, **{blind: None}))
    assert (keys(decision), decision.announced) == ([], None)


def test_only_surfaces_in_use_are_owed() -> None:
    assert keys(decided(seen(FAILED, surfaces=frozenset()))) == []
    [one] = only(Announce, decided(seen(FAILED, surfaces=frozenset({Surface.BELL}))))
    assert one.surface is Surface.BELL


def test_a_failed_notice_is_not_announced_by_the_surface_that_fails() -> None:
    failed = Trouble(id="t", kind=NeedKind.NOTICE, subject="http://x", why="no route", at=at(0))
    decision = decided(seen(person=Person(troubles=(failed,))))
    assert {one.surface for one in only(Announce, decision)} == {Surface.BELL, Surface.HOOK}
    assert [need.kind for need in decision.needs] == [NeedKind.NOTICE]


def test_nothing_is_announced_while_the_team_stops() -> None:
    stopping = replace(look(session(), tasks=[FAILED], stop=wish()), person=Person(), surfaces=ALL)
    assert keys(decided(stopping)) == []
    assert decided(stopping).runtime.phase is Phase.STOPPING


def looked_at(picture: Picture) -> View:
    """What a lead sees of the team that this is the picture of."""
    snapshot = replace(
        seen(),
        now=picture.now,
        wanted=picture.wanted,
        runtime=picture.runtime,
        tasks=picture.tasks,
        spent=picture.spent,
        elsewhere=picture.elsewhere,
        person=Person(
            picture.mail, picture.older, picture.troubles, picture.requests, picture.left_alone, past=picture.past
        ),
    )
    return View(snapshot=snapshot, board=Board(picture.tasks.tasks), new_id=ids())


PICTURES = {
    **{name: shown for name, (shown, *_) in KINDS.items() if not (shown.unled or shown.suspended)},
    "older notices": picture(older=2),
    "a permission with its request": replace(
        of_member(State.WAITING),
        requests=(REQUEST,),
    ),
    "the second permission of a wait": replace(
        of_member(State.WAITING), requests=(REQUEST,), past=(replace(REQUEST, id="r0", at=at(-2), outcome="elsewhere"),)
    ),
    "may still run elsewhere": picture(
        seats=(seat(host="build1"),), sessions=(session(state=State.SHUTDOWN),), elsewhere=frozenset({"inc-w1"})
    ),
    "idle with a claim in a moment": held(State.IDLE, -60),
}


@pytest.mark.parametrize("has_duties", [True, False])
@pytest.mark.parametrize("name", PICTURES)
def test_the_lead_knows_all_needs_that_anybody_is_shown(name: str, has_duties: bool) -> None:
    """Issue 13, build 4: one list for every reader; it says too when to look again."""
    view = looked_at(PICTURES[name])
    view = replace(view, snapshot=replace(view.snapshot, has_duties=has_duties))
    said = announce(view, view.snapshot.runtime)
    assert (said.needs, said.wake_at) == (needs(PICTURES[name]), next_look(PICTURES[name]))
    assert said.needs or said.wake_at


def on(machine: str, snapshot: Snapshot, *, has_duties: bool) -> Snapshot:
    """What the lead of one of the machines that share the team sees; it has no member here."""
    return replace(snapshot, machine=machine, has_duties=has_duties)


@pytest.mark.parametrize("with_duties", ["", "two"])
def test_the_bell_rings_on_every_machine_and_the_rest_is_announced_once(with_duties: str) -> None:
    """Issue 19, build 5: a person may sit at any of them."""
    rung = {
        machine: {
            (one.surface, one.need.subject)
            for one in only(Announce, decided(on(machine, seen(FAILED), has_duties=machine == with_duties)))
        }
        for machine in ("", "two", "three")
    }
    everywhere = {(Surface.BELL, "task-1")}
    once = {(Surface.HOOK, "task-1"), (Surface.NOTIFY, "task-1")}
    assert rung == {machine: everywhere | (once if machine == with_duties else set()) for machine in rung}


def test_leads_of_one_team_record_their_own_announcements_and_come_to_rest() -> None:
    """The record is one for all, and what another lead announced is neither this one's to make nor to forget."""
    record: tuple[str, ...] = ("bell@gone x",)
    made: dict[str, frozenset[str]] = {"": frozenset(), "two": frozenset()}
    writes = 0
    for _ in range(5):
        for machine in made:
            seen_now = on(machine, seen(FAILED, person=Person(announced=record)), has_duties=not machine)
            decision = decided(replace(seen_now, announced=made[machine]))
            made[machine] |= {key(one.surface, one.need.id, machine) for one in only(Announce, decision)}
            if decision.announced is not None:
                mine = own_keys(record, seen_now)
                record = (*(name for name in record if name not in mine), *decision.announced)
                writes += 1
    [need] = decided(seen(FAILED)).needs
    assert set(record) == {"bell@gone x", *(f"{name} {need.id}" for name in ("bell", "hook", "notify", "bell@two"))}
    assert writes == 2
    heir = on("two", seen(FAILED, person=Person(announced=record)), has_duties=True)
    assert keys(decided(heir)) == [], "who has the duties later announces nothing twice"
    answered = on("two", seen(person=Person(announced=record)), has_duties=False)
    assert decided(answered).announced == ()


def test_a_need_of_the_very_round_is_announced_in_it() -> None:
    """A crash that this decision records."""
    crashed = replace(look(session(), dead=["w1"]), person=Person(), surfaces=ALL)
    assert {one.need.kind for one in only(Announce, decided(crashed))} == {NeedKind.CRASH}
    assert decided(crashed).runtime.seats[0].state is State.CRASHED


@given(st.lists(st.sampled_from(["made", "lead dies", "look", "answer"]), max_size=12))
def test_whatever_happens_in_between_each_surface_makes_it_once(acts: list[str]) -> None:
    """Leads that die after the record was written, and looks at any time."""
    snapshot, made = seen(FAILED), list[str]()
    for act in acts:
        decision = decided(snapshot)
        fresh = keys(decision)[:1] if act == "made" else []
        made += fresh
        snapshot = after(snapshot, decision, *fresh)
        if act == "lead dies":  # it has recorded what it had made
            snapshot = replace(after(snapshot, decided(snapshot)), announced=frozenset())
        if act == "answer":
            answered = after(snapshot, decided(snapshot))
            assert decided(replace(answered, tasks=seen().tasks)).announced in ((), None)
    assert len(made) == len(set(made))
