"""What needs the person: every kind from a picture, with an id that stays, and gone when it is answered."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.message import Message, MessageType
from pro0.model.need import Choice, Need, NeedKind, PermissionAnswer, PermissionRequest, Picture, Trouble
from pro0.model.runtime import Failure, Phase, RateLimit, Runtime, SeatState, State, TurnEnd
from pro0.model.task import Archived, Awaiting, Claim, Kind, Policy, Status, Task, TaskList, Wait
from pro0.model.team import PlanGate, Seat, Wanted, Wish
from pro0.rules.lead.turns import LOST
from pro0.rules.needs import UNPROVEN, needs, next_look, stands_for_itself
from pro0.rules.tasks.gates import at_gate
from tests.rules.building import at, task
from tests.rules.supervising import seat, session

LATER = 1000.0
NOW = at(0)


def picture(
    *tasks: Task, seats: tuple[Seat, ...] = (), sessions: tuple[SeatState, ...] = (), **more: object
) -> Picture:
    """A running team as its files tell it."""
    wanted, runtime = Wanted(seats=seats), Runtime(seats=sessions)
    return replace(Picture(now=NOW, wanted=wanted, runtime=runtime, tasks=TaskList(tasks=tasks)), **more)


def of_member(state: State, rule: str = "") -> Picture:
    return picture(seats=(seat(),), sessions=(session(state=state, rule=rule, note="a note"),))


def waits(kind: Awaiting) -> Picture:
    return picture(task(1, awaiting=Wait(kind=kind, since=at(-5), by="w1", reason="because")))


def letter(seq: int = 1, sender: str = "w1", kind: MessageType = MessageType.MESSAGE, id: str = "") -> Message:
    return Message(
        id=id or f"m{seq}", seq=seq, from_=sender, to="human", type=kind, content="red\nor blue?", timestamp=at(-9)
    )


def held(state: State, since: float, **more: object) -> Picture:
    claim = Claim(agent_id="w1", incarnation="inc-w1", epoch=1, claimed_at=at(-900))
    one = task(1, status=Status.IN_PROGRESS, assignee="w1", claim=claim, **more)
    return picture(one, seats=(seat(),), sessions=(session(state=state, since=at(since)),))


def trouble(kind: NeedKind) -> Picture:
    return picture(troubles=(Trouble(id="t-1", kind=kind, subject="it", why="it broke", at=at(-3)),))


def supervised(**fields: object) -> Task:
    return task(1, policy=Policy.SUPERVISED, **fields)


FAILURE = Failure(agent_id="w1", generation=1, at=NOW, message="no")
HANDED_IN = PlanGate(id="p1", text="the plan", at=at(-2))
KINDS: dict[str, tuple[Picture, NeedKind, str, str]] = {
    "no lead": (picture(unled=True), NeedKind.NO_LEAD, "human", "pro0 team resume"),
    "suspended lead": (picture(suspended=77), NeedKind.NO_LEAD, "human", "kill -CONT 77"),
    "own agent": (picture(left_alone=True), NeedKind.OWN_AGENT, "human", "pro0 inbox"),
    "permission": (of_member(State.WAITING), NeedKind.PERMISSION, "w1", "pro0 member focus w1"),
    "permission, unread": (picture(requests=None), NeedKind.PERMISSION, "permissions", "pro0 doctor"),
    "dialog": (of_member(State.DIALOG), NeedKind.DIALOG, "w1", "pro0 member focus w1"),
    "error": (of_member(State.ERROR), NeedKind.ERROR, "w1", "pro0 member focus w1"),
    "lost": (of_member(State.UNKNOWN, rule=LOST), NeedKind.LOST, "w1", "pro0 member focus w1"),
    "unresponsive": (of_member(State.UNRESPONSIVE), NeedKind.UNRESPONSIVE, "w1", "pro0 member shutdown w1 --force"),
    "unreachable": (of_member(State.UNREACHABLE), NeedKind.UNREACHABLE, "w1", "pro0 member peek w1"),
    "crash": (of_member(State.CRASHED), NeedKind.CRASH, "w1", "pro0 member restart w1"),
    "not started": (
        picture(
            seats=(seat(),), runtime=Runtime(failures=(Failure(agent_id="w1", generation=1, at=NOW, message="no"),))
        ),
        NeedKind.NOT_STARTED,
        "w1",
        "pro0 member restart w1",
    ),
    "plan": (
        picture(seats=(seat(gate=HANDED_IN),), sessions=(session(),)),
        NeedKind.PLAN,
        "w1",
        "pro0 member approve-plan w1",
    ),
    "question": (waits(Awaiting.INPUT), NeedKind.QUESTION, "task-1", "pro0 task approve task-1 ANSWER"),
    **{
        f"gate {kind}": (waits(kind), NeedKind.GATE, "task-1", "pro0 task approve task-1")
        for kind in (Awaiting.WORK, Awaiting.APPROVAL, Awaiting.CONTENT, Awaiting.CHECKPOINT)
    },
    "review": (waits(Awaiting.REVIEW), NeedKind.REVIEW, "task-1", "pro0 task approve task-1"),
    "escalation": (waits(Awaiting.ESCALATION), NeedKind.ESCALATION, "task-1", "pro0 task approve task-1"),
    "failed": (picture(task(1, status=Status.FAILED)), NeedKind.FAILED, "task-1", "pro0 task retry task-1"),
    "failed, archived": (
        picture(tasks=TaskList(archived=Archived(failed=2))),
        NeedKind.FAILED,
        "archive",
        "pro0 task list --archived --status failed",
    ),
    "stuck": (
        picture(task(1, status=Status.CANCELLED), task(2, dependencies=("task-1",))),
        NeedKind.STUCK,
        "task-2",
        "pro0 task unblock task-2 task-1",
    ),
    "stalled, its session is gone": (
        picture(supervised(status=Status.DONE), task(2, parent=1, status=Status.COMPLETED)),
        NeedKind.STALLED,
        "task-1",
        "pro0 task start task-1",
    ),
    "stalled, nobody starts it": (picture(supervised()), NeedKind.STALLED, "task-1", "pro0 task start task-1"),
    "untaken": (
        picture(task(1, run=None), seats=(seat(),), sessions=(session(),)),
        NeedKind.UNTAKEN,
        "task-1",
        "pro0 member spawn NAME --agent AGENT",
    ),
    "untaken, assigned": (
        picture(task(1, assignee="w1"), seats=(seat(),), sessions=(session(),)),
        NeedKind.UNTAKEN,
        "task-1",
        "pro0 task assign task-1 MEMBER",
    ),
    "idle claim": (held(State.IDLE, -121), NeedKind.IDLE_CLAIM, "task-1", 'pro0 send w1 "how is task-1?"'),
    "cost": (picture(wanted=Wanted(max_cost=2.0), spent=2.5), NeedKind.COST, "team", "pro0 team cost --limit USD"),
    "cost, unread": (picture(wanted=Wanted(max_cost=2.0), spent=None), NeedKind.COST, "team", "pro0 doctor"),
    "limit": (
        picture(
            runtime=Runtime(limits=(RateLimit(agent="claude", since=at(-5), at=at(-5), until=at(LATER), note="429"),))
        ),
        NeedKind.LIMIT,
        "claude",
        "pro0 team status",
    ),
    "mail": (picture(mail=(letter(),)), NeedKind.MAIL, "w1", "pro0 inbox"),
    "a notice": (picture(mail=(letter(kind=MessageType.NOTIFICATION),)), NeedKind.MAIL, "pro0", "pro0 inbox"),
    "hook": (trouble(NeedKind.HOOK), NeedKind.HOOK, "it", "pro0 needs --seen t-1"),
    "failed notice": (trouble(NeedKind.NOTICE), NeedKind.NOTICE, "it", "pro0 needs --seen t-1"),
    "failed set-up": (trouble(NeedKind.WORKTREE), NeedKind.WORKTREE, "it", "pro0 needs --seen t-1"),
    "losses": (trouble(NeedKind.LOSSES), NeedKind.LOSSES, "it", "pro0 needs --seen t-1"),
}


def only(shown: Picture) -> Need:
    [found] = needs(shown)
    return found


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_one_need_with_its_answer(name: str) -> None:
    shown, kind, subject, command = KINDS[name]
    found = only(shown)
    assert (found.kind, found.subject, found.command) == (kind, subject, command)
    assert found.what
    assert len(found.what.splitlines()) == 1


def test_every_kind_is_in_the_table() -> None:
    assert {kind for _, kind, _, _ in KINDS.values()} == set(NeedKind)


@pytest.mark.parametrize("name", KINDS)
def test_an_id_stays_while_time_passes_and_others_come_and_go(name: str) -> None:
    shown, *_ = KINDS[name]
    before = only(shown)
    other = task(9, status=Status.FAILED)
    later = replace(
        shown,
        now=NOW + timedelta(seconds=500),
        tasks=replace(shown.tasks, tasks=(*shown.tasks.tasks, other)),
    )
    assert before.id in [found.id for found in needs(later)]
    assert len({found.id for found in needs(later)}) == 2


ANSWERED = {
    "the permission is given": of_member(State.WORKING),
    "it was shut down": of_member(State.SHUTDOWN),
    "it starts again": replace(of_member(State.CRASHED), wanted=Wanted(seats=(seat(generation=2),))),
    "the plan is approved": picture(seats=(seat(gate=replace(HANDED_IN, verdict="approved")),), sessions=(session(),)),
    "completed": picture(task(1, status=Status.COMPLETED, awaiting=None)),
    "started": held(State.WORKING, -500),
    "idle for a minute only": held(State.IDLE, -60),
    "the holder waits for the person elsewhere": picture(),
    "an epic": picture(task(1, type=Kind.EPIC)),
    "somebody can": picture(task(1, run="true"), seats=(seat(),), sessions=(session(),)),
    "an agent can": picture(task(1), seats=(seat(agent="claude"),), sessions=(session(),)),
    "of the person": picture(task(1, assignee="human")),
    "paused": picture(task(1), wanted=Wanted(paused=True)),
    "to stop": picture(supervised(), task(2), wanted=Wanted(wish=Wish.STOP)),
    "stopped": picture(supervised(), task(2), runtime=Runtime(phase=Phase.STOPPED)),
    "the limit is over": picture(
        runtime=Runtime(limits=(RateLimit(agent="claude", since=at(-5), at=at(-5), until=at(-1)),))
    ),
    "the failure is an earlier session's": picture(seats=(seat(generation=2),), runtime=Runtime(failures=(FAILURE,))),
    "the failure is another member's": picture(seats=(seat("w2"),), runtime=Runtime(failures=(FAILURE,))),
    "the failed session's task speaks for it": picture(
        seats=(seat(task="task-1"),), runtime=Runtime(failures=(FAILURE,))
    ),
    "below the limit": picture(wanted=Wanted(max_cost=2.0), spent=1.9),
    "no limit": picture(spent=None),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_what_is_answered_is_gone(name: str) -> None:
    assert needs(ANSWERED[name]) == ()


def test_a_failed_task_speaks_for_what_depends_on_it_and_for_its_session() -> None:
    failed, after = task(1, status=Status.FAILED), task(2, dependencies=("task-1",))
    shown = picture(failed, after, seats=(seat(task="task-1"),), sessions=(session(state=State.CRASHED),))
    assert only(shown).subject == "task-1"


def test_a_member_that_never_started_is_one_need_and_no_crash() -> None:
    shown = replace(
        of_member(State.CRASHED), runtime=Runtime(failures=(FAILURE,), seats=(session(state=State.CRASHED),))
    )
    assert (only(shown).kind, only(shown).what) == (NeedKind.NOT_STARTED, "w1 could not be started: no")


@pytest.mark.parametrize("failures", [(), (FAILURE,)], ids=["crashed", "never started"])
def test_a_stopped_team_names_no_restart_which_it_would_refuse(failures: tuple[Failure, ...]) -> None:
    over = Runtime(failures=failures, seats=(session(state=State.CRASHED),), phase=Phase.STOPPED)
    assert only(replace(of_member(State.CRASHED), runtime=over)).command == "pro0 team resume"


@pytest.mark.parametrize(
    ("title", "why", "what"), [("", "it is cut", ": it is cut"), ("", "", ""), ("t", "it is cut", ": t")]
)
def test_a_failed_task_is_told_with_its_title_or_else_its_reason(title: str, why: str, what: str) -> None:
    shown = picture(task(1, title=title, description=title, closed_reason=why, status=Status.FAILED))
    assert only(shown).what == f"task-1 has failed{what}"


def test_many_tasks_that_nobody_takes_are_one_need() -> None:
    found = only(picture(*(task(n) for n in range(1, 41))))
    assert found.what.startswith("task-1, task-2, task-3 and 37 more: ready, but ")
    assert (found.subject, found.others) == ("task-1", ("task-2", "task-3")), "all that the sentence names, as data"


def test_a_limit_stays_one_need_while_the_cost_cannot_be_read() -> None:
    """So it is not announced a second time."""
    assert only(KINDS["cost"][0]).id == only(KINDS["cost, unread"][0]).id


def test_a_new_message_of_the_same_sender_is_a_new_need() -> None:
    first, both = only(picture(mail=(letter(),))), only(picture(mail=(letter(), letter(2))))
    assert both.what == "2 unread messages from w1"
    assert both.why == "red"
    assert first.id != both.id


@pytest.mark.parametrize(
    ("id", "own"),
    [("inc-1:ended:lead", True), ("inc-1:waiting:2026-01-01T00:00:00+00:00:human", True), ("uid:cost:all:2:lead", True),
     ("task-3:12:lead", True), ("5f0c:approved", True),
     ("runner-1:stopped:lead", False), ("task-3:12:review of task-4", False)],
)  # fmt: skip
def test_a_notice_about_another_need_is_not_a_second_one(id: str, *, own: bool) -> None:
    notice = letter(kind=MessageType.NOTIFICATION, id=id)
    assert stands_for_itself(notice) is own
    assert bool(needs(picture(mail=(notice,)))) is not own


@pytest.mark.parametrize(
    ("state", "incarnation", "holds", "needed"),
    [(State.EXITED, "inc-w1", "", ["1 unread notice"]), (State.EXITED, "inc-old", "", []),
     (State.EXITED, "inc-w1", "task-1", []), (State.SHUTDOWN, "inc-w1", "", []), (State.IDLE, "inc-w1", "", []),
     (State.CRASHED, "inc-w1", "", ["w1 has crashed"])],
)  # fmt: skip
def test_of_an_exit_the_notice_is_the_need(state: State, incarnation: str, holds: str, needed: list[str]) -> None:
    """An end without a crash is no need of its own, and nobody else would tell the person (behaviour 3.11)."""
    notice = letter(kind=MessageType.NOTIFICATION, id=f"{incarnation}:ended:lead")
    shown = picture(seats=(seat(task=holds or None),), sessions=(session(state=state),), mail=(notice,))
    assert [need.what for need in needs(shown)] == needed


def test_the_next_look_is_when_an_idle_claim_becomes_a_need() -> None:
    assert next_look(held(State.IDLE, -60)) == at(60)
    assert next_look(held(State.IDLE, -200)) is None
    assert next_look(held(State.WORKING, -60)) is None


@given(st.lists(st.sampled_from(sorted(KINDS)), unique=True))
def test_needs_of_all_kinds_stand_in_the_order_of_urgency(names: list[str]) -> None:
    mails = tuple(message for name in names for message in KINDS[name][0].mail)
    troubles = tuple(one for name in names for one in KINDS[name][0].troubles)
    found = needs(picture(mail=mails, troubles=troubles, left_alone="own agent" in names, unled="no lead" in names))
    order = list(NeedKind)
    assert [order.index(need.kind) for need in found] == sorted(order.index(need.kind) for need in found)


def test_a_plan_is_named_by_its_id() -> None:
    """Then an answer can be bound to the plan that was shown."""
    [need] = needs(KINDS["plan"][0])
    assert need.request == HANDED_IN.id


@pytest.mark.parametrize(
    ("what", "why", "sentence"),
    [
        ("task-1 has failed: build", "exit code 3", "task-1 has failed: build: exit code 3"),
        ("w1 has crashed (killed by signal 9)", "killed by signal 9", "w1 has crashed (killed by signal 9)"),
        ("1 unread message from w1", "red\nor  blue?", "1 unread message from w1: red or blue?"),
        ("1 unread message from w1", "", "1 unread message from w1"),
        ("task-1 has failed: build", "x" * 300, f"task-1 has failed: build: {'x' * 200}…"),
    ],
)
def test_a_need_is_told_with_its_reason_once_and_in_one_line(what: str, why: str, sentence: str) -> None:
    """The same sentence on the command line, the board, in a desktop notice and in `notify`."""
    need = Need(id="a", kind=NeedKind.FAILED, subject="task-1", what=what, why=why, command="pro0 act")
    assert need.sentence == sentence


SAID: dict[str, tuple[str, str, float | None, str, str, str]] = {
    "no lead": ("the lead and every session have died: no work goes on", "", None, "", "", ""),
    "suspended lead": (
        *("the lead is suspended (SIGSTOP, pid 77): it starts, watches and ends nobody", "", None, "", "", ""),
    ),
    "own agent": ("your own agent, which led the team, is gone: you get its mail now", "", None, "", "", ""),
    "permission": ("w1 waits for a permission (a note)", "a note", -1000.0, "pro0 member peek w1", "w1", ""),
    "dialog": ("w1 shows a dialog of its own (a note)", "a note", -1000.0, "pro0 member peek w1", "w1", ""),
    "error": ("w1 has an error (a note)", "a note", -1000.0, "pro0 member peek w1", "w1", ""),
    "lost": ("w1 shows nothing that pro0 knows (a note)", "a note", -1000.0, "pro0 member peek w1", "w1", ""),
    "unresponsive": ("w1 does not answer", "", -1000.0, "", "w1", ""),
    "unreachable": ("w1 is out of reach (a note)", "a note", -1000.0, "", "w1", ""),
    "crash": ("w1 has crashed (a note)", "a note", -1000.0, "", "w1", ""),
    "not started": ("w1 could not be started: no", "no", 0.0, "", "w1", ""),
    "plan": ("w1 has handed in its plan", "", -2.0, "pro0 member show w1", "w1", ""),
    "question": (
        "task-1 waits for you (input: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "input",
    ),
    "gate work": (
        "task-1 waits for you (work: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "work",
    ),
    "gate approval": (
        "task-1 waits for you (approval: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "approval",
    ),
    "gate content": (
        "task-1 waits for you (content: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "content",
    ),
    "gate checkpoint": (
        "task-1 waits for you (checkpoint: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "checkpoint",
    ),
    "review": (
        "task-1 waits for you (review: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "review",
    ),
    "escalation": (
        "task-1 waits for you (escalation: because): title 1",
        "because",
        -5.0,
        "pro0 task show task-1",
        "",
        "escalation",
    ),
    "failed": ("task-1 has failed: title 1", "", 0.0, "pro0 task show task-1", "", ""),
    "failed, archived": ("2 archived tasks have failed", "", None, "", "", ""),
    "stuck": ("task-2 can never start, it needs task-1: title 2", "", 0.0, "pro0 task show task-2", "", ""),
    "stalled, its session is gone": (
        "task-1 stands still: its session is gone: title 1",
        "its session is gone",
        0.0,
        "",
        "",
        "",
    ),
    "stalled, nobody starts it": (
        "task-1 stands still: it does not start by itself: title 1",
        "it does not start by itself",
        0.0,
        "",
        "",
        "",
    ),
    "untaken": (
        "task-1: ready, but members here only run commands",
        "members here only run commands",
        0.0,
        "pro0 task show task-1",
        "",
        "",
    ),
    "untaken, assigned": (
        "task-1: ready, but w1 does not take it",
        "w1 does not take it",
        0.0,
        "pro0 task show task-1",
        "",
        "",
    ),
    "idle claim": ("w1 has ended its turn, and holds task-1: title 1", "", -121.0, "pro0 member peek w1", "w1", ""),
    "permission, unread": (
        "permissions.json cannot be read: an agent may wait for a permission that is not shown",
        "",
        None,
        "",
        "",
        "",
    ),
    "cost": ("the team has cost about $2.50 of $2.00: no new session starts", "", None, "", "", ""),
    "cost, unread": ("the team's cost, limited to $2.00, cannot be read: no new session starts", "", None, "", "", ""),
    "limit": ("no new session of claude starts at least until 2026-01-01 00:16:40 UTC: 429", "429", -5.0, "", "", ""),
    "mail": ("1 unread message from w1", "red", -9.0, "", "", ""),
    "a notice": ("1 unread notice", "red", -9.0, "", "", ""),
    "hook": ("the hook 'it' could not run: it broke", "it broke", -3.0, "", "", ""),
    "failed notice": ("a notice to it failed: it broke", "it broke", -3.0, "", "", ""),
    "failed set-up": ("the worktree of it could not be made ready: it broke", "it broke", -3.0, "", "", ""),
    "losses": ("it was repaired, but some of it was lost: it broke", "it broke", -3.0, "", "", ""),
}
"""What each is called, why, since which second, the command that shows more, whose it is, and the kind of wait."""


@pytest.mark.parametrize("name", KINDS)
def test_a_need_says_what_it_is_why_since_when_and_where_there_is_more(name: str) -> None:
    need, (what, why, since, look, member, awaiting) = only(KINDS[name][0]), SAID[name]
    assert (need.what, need.why, need.since) == (what, why, since if since is None else at(since))
    assert (need.look, need.member, need.awaiting) == (look, member, awaiting)


def test_a_failed_task_says_whose_it_was_why_and_when() -> None:
    failed = task(1, status=Status.FAILED, assignee="w1", closed_reason="exit code 3", completed_at=at(-7))
    need = only(picture(failed))
    assert (need.member, need.why, need.since) == ("w1", "exit code 3", at(-7))
    untitled = only(picture(replace(failed, title="", description="", completed_at=None)))
    assert (untitled.what, untitled.since) == ("task-1 has failed: exit code 3", failed.updated_at)


def test_a_reason_that_only_names_the_gate_is_not_said_twice() -> None:
    wait = Wait(kind=Awaiting.WORK, since=at(-5), by="w1", reason=at_gate(Awaiting.WORK))
    need = only(picture(task(1, assignee="w1", awaiting=wait)))
    assert (need.why, need.member, need.awaiting) == ("", "w1", "work")


def test_a_message_is_told_by_its_first_line() -> None:
    for content, why in (("\n \n", ""), ("\n  one\ntwo", "one"), ("x" * 300, "x" * 200)):
        assert only(picture(mail=(replace(letter(), content=content),))).why == why


def test_notices_of_sealed_parts_count_with_the_others() -> None:
    notices = tuple(letter(seq, kind=MessageType.NOTIFICATION) for seq in (1, 2))
    notices = (replace(notices[0], timestamp=at(-20)), replace(notices[1], content="newest"))
    both, sealed = only(picture(mail=notices, older=2)), only(picture(older=2))
    assert (both.what, both.why, both.since, both.id) == (
        "4 unread notices",
        "newest",
        at(-20),
        only(picture(mail=notices)).id,
    )
    assert (sealed.what, sealed.why, sealed.since) == ("2 unread notices", "", None)
    assert (sealed.id, both.id) == ("mail:pro0:older", "mail:pro0:2025-12-31T23:59:40.000Z")


def test_mail_from_the_person_is_called_so() -> None:
    assert only(picture(mail=(letter(sender="human"),))).what == "1 unread message from you"


def test_a_claim_of_the_idle_is_told_with_its_last_words() -> None:
    shown = held(State.IDLE, -121)
    turn = TurnEnd(at=at(-121), how="ended", words="there are 3 bugs", source="transcript")
    sessions = tuple(replace(state, turn=turn) for state in shown.runtime.seats)
    need = only(replace(shown, runtime=replace(shown.runtime, seats=sessions)))
    assert need.sentence.endswith(": said: there are 3 bugs")


def test_each_who_cannot_do_a_task_is_named() -> None:
    found = needs(picture(task(1, assignee="w1"), task(2, assignee="w2"), task(3, assignee="w1"), seats=(seat(),)))
    assert [need.why for need in found] == ["w1 does not take it", "w2 does not take it"]


def test_a_supervised_task_that_waits_for_another_does_not_stand_still() -> None:
    """The one before it is the need: it is started by a person, and those after it by themselves."""
    first, second = supervised(), task(2, 1, policy=Policy.SUPERVISED)
    assert only(picture(first, second)).subject == "task-1"
    below = task(2, policy=Policy.SUPERVISED, parent=1)
    assert "task-2" not in {need.subject for need in needs(picture(first, below))}


@pytest.mark.parametrize("beside", [None, *Status])
def test_an_epic_that_alone_holds_up_its_tree_is_shown(beside: Status | None) -> None:
    """Behaviour 2.4: nothing below it is open, and nothing would end it by itself."""
    claim = Claim(agent_id="s1", incarnation="inc-s1", epoch=1, claimed_at=at(-900))
    above = supervised(status=Status.DONE, assignee="s1", claim=claim)
    below = [task(3, parent=2 if beside is Status.COMPLETED else 1, status=beside)] if beside else []
    found = {need.subject: need for need in needs(picture(above, task(2, type=Kind.EPIC, parent=1), *below))}
    if beside in (None, Status.COMPLETED, Status.CANCELLED):
        assert found["task-2"].what == "task-2 stands still: it has no open subtask: title 2"
        assert found["task-2"].command == "pro0 task complete task-2"
    else:
        assert "task-2" not in found


@pytest.mark.parametrize("policy", [None, Policy.POOL])
def test_what_is_reopened_below_a_completed_parent_stands_still(policy: Policy | None) -> None:
    """Its turn never comes: the one above it is to be reopened, and started."""
    above, below = supervised(status=Status.COMPLETED), task(2, parent=1, policy=policy)
    need = only(picture(above, below))
    assert need.what == "task-2 stands still: task-1, above it, is completed: title 2"
    assert (need.kind, need.command) == (NeedKind.STALLED, "pro0 task reopen task-1")


REQUEST = PermissionRequest(
    id="r1", agent_id="w1", incarnation="inc-w1", tool="Bash", input='{"command": "make"}', key="k", at=at(-1)
)


def test_a_permission_that_can_be_answered_from_here_says_how() -> None:
    """Behaviour 3.28; its id stays, so the same dialog is announced once."""
    shown = of_member(State.WAITING)
    need = only(replace(shown, requests=(replace(REQUEST, incarnation="inc-w2"), REQUEST)))
    assert (need.kind, need.request, need.why) == (NeedKind.PERMISSION, "r1", "make")
    assert need.what == "w1 waits for a permission: Bash (make)"
    assert (need.command, need.look) == ("pro0 member answer r1 allow", "pro0 member answer r1")
    assert need.id == only(shown).id


def allowed(request: PermissionRequest, when: float) -> PermissionRequest:
    """A request that the person has answered."""
    return replace(request, answer=PermissionAnswer(choice=Choice.ALLOW, by="human", at=at(when)))


def test_each_request_of_one_wait_is_a_need_of_its_own() -> None:
    """3.27: an agent asks A, B and C at once, and waits all the time; each is announced when it comes to it."""
    a, b, c = (replace(REQUEST, id=id, key=id, at=at(-1000 + place)) for place, id in enumerate("abc"))
    waits = of_member(State.WAITING)
    steps = [
        replace(waits, requests=()),  # the dialog is seen before its request is known
        replace(waits, requests=(a, b, c)),
        replace(waits, requests=(b, c), past=(allowed(a, -900),)),
        replace(waits, requests=(c,), past=(allowed(a, -900), replace(b, outcome="elsewhere"))),
        replace(
            waits, past=(allowed(a, -900), replace(b, outcome="elsewhere"), allowed(c, -800))
        ),  # it has not gone on yet
    ]
    found = [only(step) for step in steps]
    assert [need.request for need in found] == ["", "a", "b", "c", ""]
    base = only(waits).id
    assert [need.id for need in found] == [base, base, f"{base}:b", f"{base}:c", f"{base}:c"]


def test_who_answers_a_later_request_first_is_asked_nothing_anew() -> None:
    a, b = replace(REQUEST, id="a", at=at(-1000)), replace(REQUEST, id="b", at=at(-999))
    waits = of_member(State.WAITING)
    for requests, past in (((a, b), ()), ((a,), (allowed(b, -900),)), ((), (allowed(a, -800), allowed(b, -900)))):
        assert only(replace(waits, requests=requests, past=past)).id == only(waits).id


def test_a_request_of_an_earlier_wait_or_of_another_session_makes_no_need_another() -> None:
    waits = of_member(State.WAITING)
    earlier = replace(REQUEST, id="a", at=at(-1500))
    others = (
        allowed(earlier, -1400),
        replace(earlier, outcome="elsewhere"),
        replace(allowed(REQUEST, 0), incarnation="i"),
    )
    assert only(replace(waits, requests=(REQUEST,), past=others)).id == only(waits).id


@pytest.mark.parametrize(
    ("state", "incarnation"), [(State.WAITING, "inc-earlier"), (State.DIALOG, "inc-w1"), (State.ERROR, "inc-w1")]
)
def test_a_request_answers_no_other_need(state: State, incarnation: str) -> None:
    """One of an earlier session, or one left over behind another dialog."""
    shown = of_member(state)
    assert needs(replace(shown, requests=(replace(REQUEST, incarnation=incarnation),))) == needs(shown)


@pytest.mark.parametrize(
    ("ago", "needed"), [(timedelta(seconds=5), False), (UNPROVEN, False), (UNPROVEN + timedelta(seconds=1), True)]
)
def test_what_may_still_run_elsewhere_is_given_up_by_the_person(ago: timedelta, needed: bool) -> None:
    """Issue 19, build 4: a machine that has just been asked gets time to answer."""
    ended = replace(session(), state=State.SHUTDOWN, since=NOW - ago)
    seen = picture(seats=(replace(seat(), host="build1"),), sessions=(ended,), elsewhere=frozenset({ended.incarnation}))
    found = [need for need in needs(seen) if need.kind is NeedKind.UNREACHABLE]
    assert [(need.command, need.since) for need in found] == [("pro0 member forget w1", ended.since)] * needed
    anew = replace(seen, wanted=Wanted(seats=(replace(seat(generation=2), host="build1"),)))
    assert [need for need in needs(anew) if need.kind is NeedKind.UNREACHABLE] == found
