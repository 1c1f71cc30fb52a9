"""A document made anew from its remains and from what others say: what nobody knows does the least harm (rulings 3)."""

from typing import Any

import pytest
from msgspec.structs import replace

from pro0.model.message import Notice
from pro0.model.runtime import Exit, Failure, Phase, Refusal, Report, Runtime, SeatState, State
from pro0.model.stored import Process
from pro0.model.task import Archived, Awaiting, Claim, Status, Task, TaskList, Wait
from pro0.model.team import Member, PermissionMode, PlanGate, Seat, TeamConfig, Wanted, Wish
from pro0.rules.repair import rebuilding
from pro0.rules.repair.rebuilding import RISKY, TeamFacts
from pro0.rules.repair.salvage import Remains, recover
from pro0.rules.tasks import archive
from pro0.store.files import encode
from tests.rules.building import T0, at, task

ENCODED = {"permission_mode": b'"permissionMode"', "gate": b'"gate"'}
GUARD, AGENT = Process(pid=7, start="70", boot_id="b"), Process(pid=8, start="80", boot_id="b")
KNOWN = TeamFacts(name="alpha", now=at(9))


def remains(damaged: dict[str, set[str]] | None = None, **fields: Any) -> Remains[Any]:
    return Remains(fields, [], damaged or {})


DEBT = Notice(id="n", from_="lead", to="w1", content="c")


def over(number: int) -> Task:
    return task(number, status=Status.COMPLETED)


def test_tasks_that_can_be_read_are_kept_once() -> None:
    """The last copy counts; what has no task's id is none."""
    odd = [replace(task(1), id=id) for id in ("task-x", "x-1", "task-", "task-1234567890", "1")]
    made = rebuilding.tasks(remains(tasks=[task(1), *odd, task(1, priority=0)], outbox=[DEBT], next_id=9), KNOWN)
    assert made == TaskList(tasks=(task(1, priority=0),), outbox=(DEBT,), next_id=9)


@pytest.mark.parametrize(
    ("fields", "more", "next_id"),
    [
        ({}, {}, 1),
        ({"next_id": 30}, {}, 30),
        ({"tasks": [task(5)]}, {}, 6),
        ({}, {"highest_task": 40}, 41),
        ({}, {"archive": ((over(50), over(3)), ())}, 51),
    ],
)
def test_no_number_is_given_twice(fields: dict[str, Any], more: dict[str, Any], next_id: int) -> None:
    assert rebuilding.tasks(remains(**fields), replace(KNOWN, **more)).next_id == next_id


def test_the_archive_is_counted_when_there_is_one() -> None:
    made = rebuilding.tasks(remains(tasks=[task(9)]), replace(KNOWN, archive=((over(1), over(2)), (over(9),))))
    assert (made.sealed, made.archived, made.recalled) == (2, Archived(completed=2), ("task-9",))
    untouched = rebuilding.tasks(remains(sealed=4, archived=Archived(failed=3)), KNOWN)
    assert (untouched.sealed, untouched.archived) == (4, Archived(failed=3))


def test_a_segment_of_which_nothing_can_be_read_is_empty() -> None:
    assert rebuilding.segment(remains()).tasks == ()


def test_nothing_in_the_archive_is_unsettled() -> None:
    """What was cut in the middle of a task, and what somebody changed."""
    cut, kept, changed = task(1), over(2), task(3, status=Status.IN_PROGRESS)
    made = rebuilding.segment(remains({"task-1": {"status"}}, tasks=[cut, kept, kept, changed], revision=4))
    assert [(one.id, one.status) for one in made.tasks] == [
        ("task-1", Status.FAILED),
        ("task-2", Status.COMPLETED),
        ("task-3", Status.FAILED),
    ]
    assert "its status could not be read" in made.tasks[0].closed_reason
    assert made.tasks[2].closed_reason.startswith("it was archived with a status that no archived task has: look at it")
    assert (made.revision, archive.fault(made)) == (4, "")


HELD = task(
    1,
    status=Status.IN_PROGRESS,
    claim=Claim(agent_id="w1", incarnation="i", epoch=1, claimed_at=T0),
    awaiting=Wait(kind=Awaiting.INPUT, since=T0, by="w1"),
)


@pytest.mark.parametrize("field", sorted(RISKY))
def test_a_task_whose_state_is_unknown_has_failed(field: str) -> None:
    """It runs again only when a person says so."""
    (made,) = rebuilding.tasks(remains({"task-1": {field, "title"}}, tasks=[HELD]), KNOWN).tasks
    why = f"its {field} could not be read: look at it, then: pro0 task reopen task-1"
    assert made == replace(HELD, status=Status.FAILED, claim=None, awaiting=None, closed_reason=why)


def test_all_that_could_not_be_read_is_named() -> None:
    (made,) = rebuilding.tasks(remains({"task-1": set(RISKY)}, tasks=[HELD]), KNOWN).tasks
    *others, last = sorted(RISKY)
    assert made.closed_reason.startswith(f"its {', '.join(others)} and {last} could not be read: look at it")


def test_a_task_cut_behind_its_id_is_not_without_a_name() -> None:
    found = recover(b'{"schemaVersion": 1, "revision": 3, "tasks": [{"id": "task-6",', TaskList)
    (made,) = rebuilding.tasks(found, KNOWN).tasks
    assert (made.id, made.title, made.status) == ("task-6", "(its title could not be read)", Status.FAILED)
    assert "status could not be read: look at it" in made.closed_reason


def test_all_that_is_unknown_is_named() -> None:
    (made,) = rebuilding.tasks(remains({"task-1": {"run", "claim", "labels"}}, tasks=[HELD]), KNOWN).tasks
    assert made.closed_reason.startswith("its claim and run could not be read")


@pytest.mark.parametrize("damage", [{"title"}, {"labels", "priority"}, set[str]()])
def test_other_damage_changes_nothing(damage: set[str]) -> None:
    assert rebuilding.tasks(remains({"task-1": damage}, tasks=[HELD]), KNOWN).tasks == (HELD,)


def test_a_settled_task_stays_settled_when_its_status_is_known() -> None:
    harmless = rebuilding.tasks(remains({"task-1": {"claim"}}, tasks=[over(1)]), KNOWN)
    assert harmless.tasks == (over(1),)
    unknown = rebuilding.tasks(remains({"task-1": {"status"}}, tasks=[over(1)]), KNOWN)
    assert unknown.tasks[0].status is Status.FAILED


def test_lost_tasks_are_named_in_order() -> None:
    mentioned = ["task-10", "task-2", "task-1", "task-3", "task-2"]
    assert rebuilding.lost_tasks(mentioned, TaskList(tasks=(task(1),))) == ["task-2", "task-3", "task-10"]
    assert rebuilding.lost_tasks(mentioned, TaskList(), before=["task-10"]) == ["task-1", "task-2", "task-3"]


def test_known_tasks_are_those_that_were_neither_deleted_nor_called_lost() -> None:
    made = [{"event": "task.create", "task": f"task-{number}"} for number in (1, 2, 3)]
    over = [{"event": "task.delete", "task": "task-1"}, {"event": "task.lost", "task": "task-2"}, {"event": "free"}]
    odd = ["task-007", "task-0", "task-x", "task-²", "task-٣", "notes", ""]
    assert rebuilding.known_tasks([*made, *over], ["task-2", "task-9", *odd]) == {"task-3", "task-9"}


def test_ids_in_a_row_are_one_piece() -> None:
    lost = [f"task-{number}" for number in (10, 2, 3, 5, 6, 7)]
    assert rebuilding.runs(lost) == ["task-2", "task-3", "task-5 to task-7", "task-10"]


def state(agent_id: str, incarnation: str = "i", **fields: object) -> SeatState:
    usual = SeatState(
        agent_id=agent_id, generation=2, incarnation=incarnation, state=State.IDLE, since=T0, started_at=T0
    )
    return replace(usual, **fields)


def seat(agent_id: str, **fields: object) -> Seat:
    return replace(Seat(agent_id=agent_id, name=agent_id.title(), agent="shell"), **fields)


CONFIG = TeamConfig(
    name="alpha",
    created_at=T0,
    uid="u",
    project="/p",
    members=(Member(name="W One", agent_id="w1", category="dev", agent="claude"), Member(name="M", agent_id="w3")),
)


def test_seats_come_from_whoever_knows_them() -> None:
    """Their own remains first, then config.json, then the sessions; a program that nobody knows is no program.

    Nobody else knows their permissions, which may have been the least.
    """
    facts = replace(KNOWN, config=CONFIG, runtime=Runtime(seats=(state("w1"), state("w2", worktree="/w2"))))
    kept, least = seat("w4", prompt="kept", generation=5), PermissionMode.PLAN
    damaged = remains(seats=[kept], max_cost=3.0)
    made = rebuilding.desired(damaged, facts)
    assert damaged.lost == [f"everything of {agent_id} but its name, agent and role" for agent_id in ("w1", "w3", "w2")]
    assert rebuilding.desired(remains(outbox=[DEBT]), facts).outbox == (DEBT,)
    assert made == Wanted(
        max_cost=3.0,
        seats=(
            kept,
            Seat(agent_id="w1", name="W One", agent="claude", generation=2, role="dev", permission_mode=least),
            Seat(agent_id="w3", name="M", agent="command", generation=1, permission_mode=least),
            Seat(agent_id="w2", name="w2", agent="command", generation=2, permission_mode=least, worktree=True),
        ),
    )


@pytest.mark.parametrize(
    ("lost", "mode"),
    [({"permission_mode"}, PermissionMode.PLAN), ({"gate", "host"}, PermissionMode.PLAN), ({"role"}, None)],
)
def test_a_member_whose_limits_are_lost_may_only_plan(lost: set[str], mode: PermissionMode | None) -> None:
    (made,) = rebuilding.desired(remains({"w1": lost}, seats=[seat("w1")]), KNOWN).seats
    assert made == seat("w1", permission_mode=mode)


@pytest.mark.parametrize("limit", [{"permission_mode": PermissionMode.ASK}, {"gate": PlanGate()}])
def test_a_member_whose_limit_has_a_damaged_key_may_only_plan(limit: dict[str, Any]) -> None:
    (key,) = limit
    data = encode(Wanted(seats=(seat("w1", **limit), seat("w2"))))
    damaged = recover(data.replace(ENCODED[key], b'"odd"', 1), Wanted)
    made = rebuilding.desired(damaged, KNOWN)
    assert made.seats == (seat("w1", permission_mode=PermissionMode.PLAN), seat("w2"))
    assert [loss.partition(" (")[0] for loss in damaged.lost] == ["the odd of w1"]


LIMIT = {"event": "team.limit", "usd": "5"}


@pytest.mark.parametrize(
    ("events", "limit"),
    [
        ((), 0.0),
        ((LIMIT, {"event": "team.limit", "usd": "0.25"}, {"event": "x", "usd": "7"}), 0.25),
        ((LIMIT, {"event": "team.limit", "usd": "0"}), 0.0),
        ((LIMIT, {"event": "team.limit", "usd": "1e+09"}), 1e9),
        ((LIMIT, {"event": "team.limit"}, {"event": "team.limit", "usd": "nan"}), 5.0),
        (({"event": "team.limit", "usd": "9e+999"},), 1e9),
    ],
)
def test_a_limit_of_cost_is_remembered_by_its_event(events: tuple[dict[str, str], ...], limit: float) -> None:
    facts = replace(KNOWN, events=events)
    assert rebuilding.desired(remains(), facts).max_cost == limit
    assert rebuilding.desired(remains(max_cost=3.0), facts).max_cost == 3.0


WISHES = ["its wish", "its paused", "its maxCost", "its outside", "its stop", "its remove", "its seats", "its outbox"]


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (KNOWN, ()),
        (replace(KNOWN, events=({"event": "team.create"},)), ("its paused", "its maxCost")),
        (replace(KNOWN, runtime=Runtime()), ("its wish", "its seats")),
        (replace(KNOWN, config=TeamConfig(name="alpha", created_at=T0)), ("its seats",)),
    ],
)
def test_wishes_that_nobody_knows_are_named(facts: TeamFacts, told: tuple[str, ...]) -> None:
    cut = recover(b"", Wanted)
    rebuilding.desired(cut, facts)
    assert cut.lost == [name for name in WISHES if name not in told]


def test_a_seat_of_which_something_is_left_is_not_made_anew() -> None:
    facts = replace(KNOWN, config=CONFIG, runtime=Runtime(seats=(state("w1"),)))
    made = rebuilding.desired(remains(seats=[seat("w1", prompt="kept")]), facts)
    assert [(one.agent_id, one.prompt) for one in made.seats] == [("w1", "kept"), ("w3", "")]


@pytest.mark.parametrize("name", ["human", "all", "A b", "", "../x"])
def test_what_cannot_be_a_member_gets_no_seat(name: str) -> None:
    assert rebuilding.desired(remains(seats=[seat(name), seat("lead")]), KNOWN).seats == (seat("lead"),)


@pytest.mark.parametrize(
    ("phase", "wish"),
    [(None, Wish.RUN), (Phase.RUNNING, Wish.RUN), (Phase.STOPPING, Wish.STOP), (Phase.STOPPED, Wish.STOP)],
)
def test_a_team_that_should_stop_is_not_started(phase: Phase | None, wish: Wish) -> None:
    facts = replace(KNOWN, runtime=Runtime(phase=phase) if phase else None)
    assert rebuilding.desired(remains(), facts).wish is wish
    other = Wish.RUN if wish is Wish.STOP else Wish.STOP
    assert rebuilding.desired(remains(wish=other), facts).wish is other


@pytest.mark.parametrize(
    ("said", "paused"),
    [([], False), (["pause"], True), (["pause", "unpause"], False), (["unpause", "pause", "stop"], True)],
)
def test_a_pause_is_remembered_by_its_event(said: list[str], paused: bool) -> None:
    facts = replace(KNOWN, events=(*({"event": f"team.{what}"} for what in said), {"other": "x"}))
    assert rebuilding.desired(remains(), facts).paused is paused
    assert rebuilding.desired(remains(paused=not paused), facts).paused is not paused


EVENT = {
    "event": "team.create",
    "uid": "u-event",
    "project": "/event",
    "mode": "tmux",
    "reason": "asked",
    "tmux": "/socket",
    "iterm2": "W0",
    "sockets": "/sockets",
}


def test_a_config_is_made_of_its_event() -> None:
    wanted = Wanted(seats=(seat("w1", role="dev"), seat("w2")))
    facts = replace(KNOWN, events=({"event": "x"}, EVENT), wanted=wanted, runtime=Runtime(seats=(state("w1"),)))
    made = rebuilding.config(remains(), facts)
    assert made == TeamConfig(
        name="alpha",
        created_at=at(9),
        uid="u-event",
        project="/event",
        mode="tmux",
        mode_reason="asked",
        inside_tmux="/socket",
        iterm2_session="W0",
        sockets="/sockets",
        members=(
            Member(name="W1", agent_id="w1", category="dev", session_id="i", spawned_at=T0, agent="shell"),
            Member(name="W2", agent_id="w2", agent="shell"),
        ),
    )


def test_what_a_config_still_says_wins() -> None:
    known = Member(name="Other", agent_id="w1", agent="pi")
    fields: dict[str, Any] = {
        "name": "beta",
        "created_at": T0,
        "uid": "u",
        "project": "/p",
        "mode": "headless",
        "members": [known],
    }
    fields |= {"mode_reason": "r", "inside_tmux": "/t", "iterm2_session": "W0", "sockets": "/s"}
    facts = replace(KNOWN, events=(EVENT,), wanted=Wanted(seats=(seat("w1"),)))
    assert rebuilding.config(remains(**fields), facts) == TeamConfig(**fields | {"name": "alpha", "members": (known,)})


def test_a_config_of_which_nothing_is_left() -> None:
    made = rebuilding.config(remains(), replace(KNOWN, new_uid="new", project="/here"))
    assert made == TeamConfig(name="alpha", created_at=at(9), uid="new", project="/here")


CUT_CONFIG = b'{"schemaVersion": 1, "revision": 2, "name": "alpha", "leadAgentId": "lead", "perm'
UNTOLD = ["its planApproval", "its windows", "its layout", "its panesPerWindow", "its worktrees"]


@pytest.mark.parametrize(
    ("permission", "mode", "named"),
    [
        ({"permission": "bypass"}, PermissionMode.BYPASS, []),
        ({"permission": "plan"}, PermissionMode.PLAN, []),
        ({"permission": "all"}, PermissionMode.PLAN, ["its permissionMode"]),
        ({}, PermissionMode.PLAN, ["its permissionMode"]),
    ],
)
def test_a_permission_mode_that_nobody_knows_is_the_least(
    permission: dict[str, str], mode: PermissionMode, named: list[str]
) -> None:
    """An event of an earlier version tells none."""
    cut = recover(CUT_CONFIG, TeamConfig)
    made = rebuilding.config(cut, replace(KNOWN, events=(EVENT | permission,)))
    assert (made.permission_mode, cut.lost) == (mode, ["its createdAt", *named, *UNTOLD])
    odd = recover(b'{"name": "alpha", "permissionMode": "odd"}', TeamConfig)
    assert rebuilding.config(odd, replace(KNOWN, events=(EVENT | permission,))).permission_mode is mode
    assert odd.lost == ['its permissionMode ("odd")']
    data = encode(TeamConfig(name="alpha", created_at=T0, permission_mode=PermissionMode.PLAN))
    damaged = recover(data.replace(ENCODED["permission_mode"], b'"permIssionMode"'), TeamConfig)
    assert rebuilding.config(damaged, replace(KNOWN, events=(EVENT | permission,))).permission_mode is mode
    assert damaged.lost == ["the unknown key 'permIssionMode' (\"plan\")"]


def report(agent_id: str, incarnation: str = "i", **fields: object) -> Report:
    usual = Report(agent_id=agent_id, incarnation=incarnation, guard=GUARD, agent=AGENT, state=State.IDLE, since=T0)
    return replace(usual, **fields)


WANTED = Wanted(seats=(seat("w1", generation=4), seat("w2")))


def test_sessions_come_from_the_reports_of_their_guards() -> None:
    """Of members that nobody wants only those that live."""
    said = (report("w1", task="task-1", note="n"), report("w8", "alive"), report("w9", "dead"))
    made = rebuilding.runtime(remains(), replace(KNOWN, wanted=WANTED, reports=said, living=frozenset({"alive"})))
    assert {one.agent_id: one.incarnation for one in made.seats} == {"w8": "alive", "w1": "i"}
    assert made.seats[1] == SeatState(
        agent_id="w1",
        generation=4,
        incarnation="i",
        state=State.IDLE,
        since=T0,
        started_at=T0,
        task="task-1",
        guard=GUARD,
        agent=AGENT,
        note="n",
    )
    assert made.seats[0].generation == 1


def test_the_living_session_counts_then_the_newest() -> None:
    facts = replace(
        KNOWN,
        wanted=WANTED,
        reports=(report("w1", "old", since=at(1)), report("w1", "new", since=at(2)), report("w1", "alive")),
    )
    assert rebuilding.runtime(remains(), facts).seats[0].incarnation == "new"
    living = replace(facts, living=frozenset({"alive"}))
    assert rebuilding.runtime(remains(), living).seats[0].incarnation == "alive"
    of_the_dead = remains(seats=[state("w1", "recorded")])
    assert rebuilding.runtime(of_the_dead, facts).seats == (state("w1", "recorded"),)
    assert rebuilding.runtime(of_the_dead, living).seats[0].incarnation == "alive"
    both = replace(living, living=frozenset({"alive", "recorded"}))
    assert rebuilding.runtime(of_the_dead, both).seats == (state("w1", "recorded"),)


def test_nobody_is_made_up() -> None:
    facts = replace(KNOWN, reports=(report("w1"),))
    assert rebuilding.runtime(remains(seats=[state("human"), state("w2")]), facts).seats == (state("w2"),)


@pytest.mark.parametrize(
    ("said", "ended", "recorded"),
    [
        (State.IDLE, False, State.IDLE),
        (State.IDLE, True, State.EXITED),
        (State.CRASHED, True, State.CRASHED),
        (State.SHUTDOWN, True, State.SHUTDOWN),
    ],
)
def test_who_has_ended_has_ended(said: State, ended: bool, recorded: State) -> None:
    end = Exit(at=at(1), code=0) if ended else None
    facts = replace(KNOWN, wanted=WANTED, reports=(report("w1", state=said, exit=end),))
    (made,) = rebuilding.runtime(remains(), facts).seats
    assert (made.state, made.exit) == (recorded, end)


@pytest.mark.parametrize(
    ("wish", "living", "phase"),
    [
        (None, False, Phase.RUNNING),
        (Wish.RUN, False, Phase.RUNNING),
        (Wish.STOP, False, Phase.STOPPED),
        (Wish.STOP, True, Phase.STOPPING),
    ],
)
def test_the_phase_follows_from_the_wish(wish: Wish | None, living: bool, phase: Phase) -> None:
    facts = replace(KNOWN, wanted=Wanted(wish=wish) if wish else None, living=frozenset({"i"} if living else ()))
    assert rebuilding.runtime(remains(), facts).phase is phase
    assert rebuilding.runtime(remains(phase=Phase.STOPPING), facts).phase is Phase.STOPPING


def test_the_rest_of_a_runtime_is_kept_but_its_lead() -> None:
    failure = Failure(agent_id="w1", generation=1, at=T0, message="m")
    refusal = Refusal(request_id="r")
    made = rebuilding.runtime(
        remains(lead=GUARD, lead_version="9", failures=[failure], refusals=[refusal], phase=Phase.RUNNING), KNOWN
    )
    assert made == Runtime(lead_version="9", failures=(failure,), refusals=(refusal,))


def test_a_report_is_what_the_lead_knew() -> None:
    end = Exit(at=at(1), code=1)
    known = state("w1", guard=GUARD, agent=AGENT, task="task-1", note="n", exit=end, state=State.EXITED)
    assert rebuilding.report(known) == report("w1", task="task-1", note="n", exit=end, state=State.EXITED)
    assert rebuilding.report(state("w1")) is None
