"""What the lead decides before a session starts, or a member counts as idle: worktrees, and the hooks' word."""

from msgspec.structs import replace

from pro0.model.decision import Prepare, Question, Start, Tell, WorkFolder
from pro0.model.runtime import State
from tests.rules.building import at
from tests.rules.supervising import decided, led, look, only, recorded, seat, session

ADA = seat("ada", worktree=True)
READY = {("ada", 1): WorkFolder(path="/trees/ada", branch="teams/alpha/ada")}


def test_a_worktree_comes_before_its_session() -> None:
    seen = look(seats=[ADA])
    first = decided(seen)
    assert (first.actions, first.runtime.seats) == ((Prepare(ADA),), ())
    then = decided(replace(seen, worktree_jobs=READY))
    [start] = only(Start, then)
    assert (start.work_folder.path, recorded(then, "ada").worktree) == ("/trees/ada", "/trees/ada")
    assert recorded(then, "ada").branch == "teams/alpha/ada"


def test_one_that_cannot_be_made_is_the_starts_failure() -> None:
    broken = {("ada", 1): WorkFolder(error="no repository")}
    [start] = only(Start, decided(replace(look(seats=[ADA]), worktree_jobs=broken)))
    assert start.work_folder.error == "no repository"


def test_a_worktree_of_an_earlier_generation_is_asked_for_again() -> None:
    again = replace(ADA, generation=2)
    over = session("ada", State.SHUTDOWN, worktree="/trees/ada")
    assert decided(replace(look(over, seats=[again], dead=["ada"]), worktree_jobs=READY)).actions == (Prepare(again),)


def test_a_session_that_a_lead_died_over_waits_for_its_worktree() -> None:
    begun = session("ada", State.STARTING, guard=None, agent=None, worktree="/trees/ada", started_at=at(-60))
    seen = replace(look(begun, seats=[ADA], reports=[]), unopened={"inc-ada": True})
    first = decided(seen)
    assert first.actions == (Prepare(ADA),)
    assert recorded(first, "ada").state is State.STARTING, "however long it takes"
    [start] = only(Start, decided(replace(seen, worktree_jobs=READY)))
    assert (start.incarnation, start.prepared) == ("inc-ada", True)


def test_hooks_are_asked_before_a_member_counts_as_idle() -> None:
    idle = session(told=(), since=at(-10))
    seen = replace(led(look(idle)), hooked=True)
    first = decided(seen)
    [question] = only(Question, first)
    assert (question.state.agent_id, only(Tell, first)) == ("w1", [])
    free = decided(replace(seen, answers={question.key: ""}))
    assert [tell.to for tell in only(Tell, free)] == ["lead"]
    kept = decided(replace(seen, answers={question.key: "the tests fail"}))
    [told] = only(Tell, kept)
    assert (told.to, "the tests fail" in told.content) == ("w1", True)
    assert not decided(replace(seen, answers={question.key: "no"}, runtime=kept.runtime)).actions
