"""Verdicts reach the agent: its next input names the verdict, the question and its kind, in every way of working."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.engine.opening.briefs import Briefs
from pro0.errors import Refused
from pro0.mcp.protocol import Call
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.table import perform
from pro0.mcp.tools.tool import TOOLS
from pro0.model.caller import Caller, Who
from pro0.model.runtime import SeatState, State
from pro0.model.task import Awaiting, Draft, Gate, Policy, Status, Task, Verdict
from pro0.model.team import Seat
from pro0.ops.context import Context, lead_context
from pro0.ops.tasks import gates, tasks, trees
from pro0.rules.runs import turn_prompt
from pro0.rules.tasks import answers
from pro0.rules.tasks.changes import with_tasks
from pro0.rules.tasks.effects import ESCALATIONS
from pro0.store.teams import TeamStore
from tests.teams import NOW, granted, human, make_team, set_state

WAYS = ("run", "tree", "pool", "worker")
LIVES = {"living": State.IDLE, "over": State.CRASHED}
CELLS = list(product(Awaiting, Verdict, ("", "mind the limits")))
QUESTION = "phase 1 done, see docs/x.md"
INCARNATION = "inc-w1"


def team_of(home: Path, way: str) -> TeamStore:
    """A team whose member w1 works in this way."""
    team = make_team(home, "w1")
    agent = "runner" if way == "run" else "claude"
    with team.wanted.change("a test") as change:
        seat = Seat(agent_id="w1", name="W1", agent=agent, disposable=way == "worker")
        change.value = replace(change.value, seats=(seat,))
    return team


def asking(team: TeamStore, way: str, kind: Awaiting, **fields: object) -> Task:
    """A task whose session, w1, asks a person something."""
    policy = {"tree": Policy.SUPERVISED, "worker": Policy.DISPATCH}.get(way)
    [task] = tasks.create(human(team), [replace(Draft(title="the parser", policy=policy), **fields)])
    if policy:
        with team.wanted.change("a test") as change:
            change.value = replace(change.value, seats=(replace(change.value.seats[0], task=task.id),))
        trees.begin(lead_context(team), task.id, "w1", INCARNATION)
    else:
        tasks.claim(session(team), task.id)
    return gates.hand_off(session(team), task.id, kind, QUESTION)


def session(team: TeamStore) -> Context:
    return Context(team, Caller(Who.MEMBER, "w1", INCARNATION))


def mail(team: TeamStore) -> list[str]:
    return [message.content for message in team.mailbox("w1").head.read().messages]


def next_input(team: TeamStore, way: str, task: Task, before: int) -> str:
    """What the agent that works on a task next is told first: its mail, its claim's answer, or a first prompt."""
    if len(new := mail(team)[before:]) == 1:
        return new[0]
    assert new == []
    if task.status is not Status.PENDING:
        tasks.reopen(human(team), task.id)
    if way == "run":
        return turn_prompt.prompt(tasks.show(human(team), task.id), None, tasks.remarks(human(team), task.id), 1, "")
    if way == "pool":
        set_state(team, "w1", State.IDLE, "inc-later")
        claimed = tasks.claim(Context(team, Caller(Who.MEMBER, "w1", "inc-later")), task.id)
        return "\n".join(map(answers.line, answers.unread_answers(claimed.history)))
    seat = team.wanted.read().seats[0]
    state = SeatState(agent_id="w1", generation=2, incarnation="inc-2", state=State.STARTING, since=NOW, started_at=NOW)
    return Briefs(team, team.config.read()).brief(seat, adapter_named("claude"), state, {}, task).prompt


@pytest.mark.parametrize("lives", LIVES)
@pytest.mark.parametrize("way", WAYS)
def test_every_verdict_is_in_the_agents_next_input(way: str, lives: str, home: Path) -> None:
    """M1, S001-033, S001-035, S001-036, S001-005, S001-080: verdict, kind and question; no two cells alike."""
    team = team_of(home, way)
    inputs: dict[tuple[str, str, str], str] = {}
    for kind, verdict, text in CELLS:
        set_state(team, "w1", State.IDLE)
        task, before = asking(team, way, kind), len(mail(team))
        set_state(team, "w1", LIVES[lives])
        after = gates.answer(human(team), task.id, verdict, text)
        told = next_input(team, way, after, before)
        for part in (verdict.value, kind.upper(), f'"{QUESTION}"', text):
            assert part in told, (kind, verdict, text, told)
        goes_on = lives == "living" and way != "run" and after.status is not Status.PENDING
        assert (len(mail(team)) - before == 1) is goes_on
        if after.status is Status.IN_PROGRESS:
            assert after.claim
            assert (after.claim.incarnation, after.session) == (INCARNATION, INCARNATION)
        inputs[kind, verdict, text] = re.sub(r"task-\d+|t\d+|\d\d:\d\d", "#", told)
        if after.status not in (Status.COMPLETED, Status.CANCELLED):
            tasks.cancel(human(team), task.id)
    assert len(set(inputs.values())) == len(CELLS)


@pytest.mark.parametrize("way", ["tree", "pool", "worker"])
def test_an_answer_goes_on_in_the_session_that_asked(way: str, home: Path) -> None:
    """M1, S000-022, S003-005: the same session has the claim, and completes without a claim of its own."""
    team = team_of(home, way)
    task = asking(team, way, Awaiting.INPUT)
    after = gates.approve(human(team), task.id, "blue")
    assert (after.status, after.assignee, after.epoch) == (Status.IN_PROGRESS, "w1", 2)
    assert mail(team) == [f'task-1 (the parser): a person approved your INPUT "{QUESTION}": go on as they say.\nblue']
    assert tasks.complete(session(team), task.id, "painted").status is Status.COMPLETED


ENDS: dict[str, tuple[Callable[[Context, str], object], str]] = {
    "closed": (lambda by, id: gates.close(by, id, "good enough"), f"""\
{{}}: a person closed the task as it is; it waited for your REVIEW "{QUESTION}".
good enough"""),
    "handed back": (gates.clear, f"""\
{{}}: a person handed the task back without a verdict; it waited for your REVIEW "{QUESTION}"."""),
    "cancelled": (lambda by, id: tasks.cancel(by, id, "not needed"), "task-1 was cancelled: not needed"),
    "cancelled with what is above it": (lambda by, _: tasks.cancel(by, "2"), "task-1 was cancelled: the parser"),
}  # fmt: skip
"""How a person ends a wait without a verdict, and what the session that asked is told."""


@pytest.mark.parametrize("lives", LIVES)
@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("way", ["tree", "pool", "worker"])
def test_a_session_that_waits_hears_of_the_end_without_a_verdict(way: str, how: str, lives: str, home: Path) -> None:
    """Behaviour 2.14: else it would wait for an answer that never comes."""
    team = team_of(home, way)
    task = asking(team, way, Awaiting.REVIEW)
    tasks.create(human(team), [Draft(title="all of it")])
    with team.tasks.change("a test") as change:
        change.value = with_tasks(change.value, [replace(task, parent="task-2")])
    set_state(team, "w1", LIVES[lives])
    end, told = ENDS[how]
    end(human(team), task.id)
    assert mail(team) == ([told.format("task-1 (the parser)")] if lives == "living" else [])
    assert tasks.show(human(team), task.id).claim is None


def test_a_rejection_that_cancels_is_told_once_and_a_subtask_that_waits_hears_of_it(home: Path) -> None:
    team = team_of(home, "pool")
    task = asking(team, "pool", Awaiting.INPUT)
    gates.reject(human(team), task.id, "no")
    assert len(mail(team)) == 1
    below = asking(team, "pool", Awaiting.INPUT)
    tasks.create(human(team), [Draft(title="all of it", awaiting=Awaiting.INPUT)])
    with team.tasks.change("a test") as change:
        change.value = with_tasks(change.value, [replace(below, parent="task-3")])
    gates.reject(human(team), "3", "no")
    assert mail(team)[1:] == ["task-2 was cancelled: no"]


@pytest.mark.parametrize("drop", ["crash", "release"])
def test_an_answer_is_heard_again_after_its_hearer_dropped_the_task(drop: str, home: Path) -> None:
    """Behaviour 2.14: w1 asked and is gone, w2 heard the answer and is gone too."""
    team = team_of(home, "pool")
    task = asking(team, "pool", Awaiting.INPUT)
    set_state(team, "w1", State.CRASHED)
    gates.approve(human(team), task.id, "blue")
    heard = []
    for name in ("w2", "w3"):
        set_state(team, name, State.WORKING)
        claimed = tasks.claim(Context(team, Caller(Who.MEMBER, name, f"inc-{name}")), task.id)
        heard.append([answers.line(remark) for remark in answers.unread_answers(claimed.history)])
        if drop == "crash":
            tasks.free(lead_context(team), name, f"inc-{name}", "crashed")
        else:
            tasks.release(Context(team, Caller(Who.MEMBER, name, f"inc-{name}")), task.id, "too hard")
    assert heard == [[f'approved the INPUT "{QUESTION}": go on as they say. They say: blue']] * 2


def test_a_gate_over_rejections_is_completed_anew_in_one_session(home: Path) -> None:
    """S001-040: a second completion after a rejection is a new one, not the first one again."""
    team = team_of(home, "pool")
    tasks.create(human(team), [Draft(title="t", requires=Gate.REVIEW)])
    tasks.claim(session(team), "1")
    for cycle in range(3):
        waits = tasks.complete(session(team), "1", f"try {cycle}")
        assert (waits.awaiting is not None, waits.result) == (True, f"try {cycle}")
        gates.reject(human(team), "1", f"no {cycle}")
    told = turn_prompt.prompt(waits, None, tasks.remarks(human(team), "1"), 1, "")
    assert "w1, complete (review), " in told
    assert ": try 2" in told


@pytest.mark.parametrize(
    "seat", [{"agent": "shell"}, {"agent": "command", "argv": ("true",)}], ids=["shell", "command"]
)
def test_who_takes_no_message_in_gets_no_claim_by_one(seat: dict[str, object], home: Path) -> None:
    team = team_of(home, "pool")
    with team.wanted.change("a test") as change:
        change.value = replace(change.value, seats=(replace(change.value.seats[0], **seat),))
    task = asking(team, "pool", Awaiting.INPUT)
    after = gates.approve(human(team), task.id, "blue")
    assert (after.status, after.claim, mail(team)) == (Status.PENDING, None, [])


def test_the_history_keeps_what_a_hand_off_was_and_what_was_answered(home: Path) -> None:
    """M4, S001-143"""
    team = team_of(home, "run")
    task = asking(team, "run", Awaiting.CHECKPOINT)
    gates.approve(human(team), task.id)
    kept = [(entry.act, entry.kind, entry.asked, entry.text) for entry in tasks.history(human(team), task.id)]
    assert kept[-2:] == [
        ("hand_off", Awaiting.CHECKPOINT, "", QUESTION),
        ("approve", Awaiting.CHECKPOINT, QUESTION, ""),
    ]


@pytest.mark.parametrize("way", WAYS)
def test_an_escalation_approved_three_times_without_progress_ends_the_task(way: str, home: Path) -> None:
    """M1: it costs a session each time; it has failed and says so, and a retry begins the count anew."""
    team = team_of(home, way)
    task = asking(team, way, Awaiting.ESCALATION)
    for turn in range(ESCALATIONS):
        assert task.awaiting, turn
        task = gates.approve(human(team), task.id, f"go on, {turn}")
        task = again(team, way, task)
    assert task.status is Status.FAILED
    assert task.closed_reason == f"escalated again after 3 approvals without progress: {QUESTION}"
    task = gates.retry(human(team), task.id)
    assert again(team, way, task).awaiting


def again(team: TeamStore, way: str, task: Task) -> Task:
    """Let a task's session go on, or another one begin, and escalate."""
    if task.claim is None:
        if way in ("tree", "worker"):
            trees.begin(lead_context(team), task.id, "w1", INCARNATION)
        else:
            tasks.claim(session(team), task.id)
    return gates.hand_off(session(team), task.id, Awaiting.ESCALATION, QUESTION)


def test_progress_between_escalations_begins_the_count_anew(home: Path) -> None:
    team = team_of(home, "run")
    task = asking(team, "run", Awaiting.ESCALATION)
    for kind in (Awaiting.ESCALATION, Awaiting.CHECKPOINT, *[Awaiting.ESCALATION] * 3):
        gates.approve(human(team), task.id)
        tasks.claim(session(team), task.id)
        task = gates.hand_off(session(team), task.id, kind, QUESTION)
        assert task.awaiting


@pytest.mark.parametrize("how", ["completed", "at its gate", "cancelled"])
def test_what_is_begun_anew_counts_its_escalations_anew(how: str, home: Path) -> None:
    """Behaviour 2.7: completing is progress, and a reopened task begins from the beginning."""
    team = team_of(home, "run")
    gate = Gate.REVIEW if how == "at its gate" else None
    task = asking(team, "run", Awaiting.ESCALATION, requires=gate)
    for turn in range(ESCALATIONS):
        gates.approve(human(team), task.id)
        tasks.claim(session(team), task.id)
        if turn < ESCALATIONS - 1:
            gates.hand_off(session(team), task.id, Awaiting.ESCALATION, QUESTION)
    if how == "cancelled":
        tasks.cancel(human(team), task.id)
    else:
        tasks.complete(session(team), task.id)
    if how == "at its gate":
        gates.reject(human(team), task.id)
    else:
        tasks.reopen(human(team), task.id)
    tasks.claim(session(team), task.id)
    assert gates.hand_off(session(team), task.id, Awaiting.ESCALATION, QUESTION).awaiting


@pytest.mark.parametrize("family", ["task", "ticket"])
@pytest.mark.parametrize(("way", "kind"), [("tree", "input"), ("pool", "review"), ("worker", "review")])
def test_a_request_for_review_in_a_tree_is_a_question(way: str, kind: str, family: str, home: Path) -> None:
    """M2, S000-022, S000-024, S000-028, S000-099, S000-130, S003-019, AC-47: its answer goes back to the agent."""
    team = team_of(home, way)
    task = gates.approve(human(team), asking(team, way, Awaiting.CHECKPOINT).id)
    tool_context = ToolContext(granted(team, "w1"), home)
    call = Call(
        1, f"{family}_request_review", {"task_id": task.id, "reason": "drop it?"}, lambda *_: None, stateless=True
    )
    perform(TOOLS[call.name], tool_context, call)
    after = gates.approve(human(team), task.id, "no, keep it")
    told = "INPUT" if kind == "input" else "REVIEW"
    assert f'approved your {told} "drop it?"' in mail(team)[-1]
    assert after.status is (Status.IN_PROGRESS if kind == "input" else Status.COMPLETED)


HINTS = {
    Awaiting.INPUT: 'answer it: pro0 task approve task-1 "ANSWER"',
    Awaiting.CHECKPOINT: "let it go on: pro0 task approve task-1, or pro0 task reject task-1 WHY",
    Awaiting.REVIEW: "complete it: pro0 task approve task-1, or give it back: pro0 task reject task-1 WHY, "
    "or pro0 task continue task-1",
}


@pytest.mark.parametrize("kind", HINTS)
def test_the_hint_names_the_act_that_fits(kind: Awaiting, home: Path) -> None:
    """M2"""
    team = team_of(home, "tree")
    task = asking(team, "tree", kind)
    for act in (tasks.complete, gates.retry):
        with pytest.raises(Refused) as error:
            act(human(team), task.id)
        assert error.value.hint == HINTS[kind]
