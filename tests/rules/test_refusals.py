"""Every refusal of the rules: one line that names the thing, a word for programs, and the next step (rulings 4)."""

import pytest
from msgspec.structs import replace

from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller
from pro0.model.task import Changes, Draft, Gate, Kind, Policy, Status, Task
from pro0.rules import text
from pro0.rules.tasks import changes, editing
from pro0.rules.tasks.acts import Act, TaskPhase
from pro0.rules.tasks.limits import Limits
from tests.rules.building import (
    LEAD_AGENT,
    T0,
    W1,
    W1_LATER,
    W2,
    ask,
    claimed,
    listed,
    make,
    standing,
    task,
    update,
)
from tests.rules.refusing import Case, refused

LIST = "list them: pro0 task list"
READY = "see what is ready: pro0 task ready"
OTHER = "take another one: pro0 task next"


def act(one: Task, act: Act, caller: Caller = W1, **more: object) -> object:
    return changes.act(listed(one), one.id, ask(act, caller, **more))  # type: ignore[arg-type]


def delete(*tasks: Task, caller: Caller = THE_HUMAN) -> object:
    return editing.delete(listed(*tasks), "task-1", caller, force=False, now=T0)


SUPERVISED = replace(claimed(task(1, policy=Policy.SUPERVISED)))
WAITS = replace(standing(TaskPhase.WORKING), status=Status.DONE)
EPIC = task(1, type=Kind.EPIC)

ACTS: dict[str, Case] = {
    "no such task": (
        lambda: changes.act(listed(), "task-9", ask(Act.CLAIM)), 3, "not_found", "there is no task-9", LIST
    ),
    "a failed one is started": (
        lambda: act(standing(TaskPhase.FAILED), Act.WISH, THE_HUMAN),
        4, "not_ready", "task-1 is failed", "pro0 task retry task-1",
    ),
    "a completed one is claimed by a person": (
        lambda: act(standing(TaskPhase.COMPLETED), Act.CLAIM, THE_HUMAN),
        4, "not_ready", "task-1 is completed", "pro0 task reopen task-1",
    ),
    "a completed one is claimed by a member": (
        lambda: act(standing(TaskPhase.COMPLETED), Act.CLAIM), 4, "not_ready", "task-1 is completed", READY
    ),
    "not ready": (
        lambda: act(task(1, 2), Act.CLAIM), 4, "not_ready", "task-1 is blocked: task-2 is gone", READY
    ),
    "reserved": (
        lambda: act(task(1, assignee="w2"), Act.CLAIM), 4, "reserved", "task-1 is reserved for w2", "pro0 task next"
    ),
    "an epic is assigned": (
        lambda: changes.assign(listed(EPIC), "task-1", ask(Act.ASSIGN, THE_HUMAN, assignee="w1"), "n"),
        4, "not_ready", "task-1 is an epic, which only groups tasks", None,
    ),
    "claimed": (
        lambda: act(standing(TaskPhase.WORKING, W2), Act.CLAIM), 4, "conflict",
        "task-1 is claimed by w2 (epoch 1)", OTHER,
    ),
    "started while claimed": (
        lambda: act(standing(TaskPhase.WORKING, W2), Act.START, THE_LEAD),
        4, "conflict", "task-1 is claimed by w2 (epoch 1)", OTHER,
    ),
    "wished for while claimed": (
        lambda: act(standing(TaskPhase.WORKING, W2), Act.WISH, THE_HUMAN),
        4, "conflict", "task-1 is claimed by w2 (epoch 1)", OTHER,
    ),
    "not in the table": (
        lambda: act(standing(TaskPhase.PENDING), Act.COMPLETE), 4, "wrong_phase",
        "task-1 is pending: a task that is pending cannot be completed", "claim it first: pro0 task claim task-1",
    ),
    "a claimed one is reopened": (
        lambda: act(standing(TaskPhase.WORKING), Act.REOPEN, THE_HUMAN), 4, "wrong_phase",
        "task-1 is in progress: a task that is in progress cannot be reopened", "see it: pro0 task show task-1",
    ),
    "an epic is tried again": (
        lambda: act(EPIC, Act.RETRY, THE_HUMAN), 4, "wrong_phase",
        "task-1 is pending: an epic that is pending cannot be tried again", "see it: pro0 task show task-1",
    ),
    "what waits is failed": (
        lambda: act(standing(TaskPhase.AWAITING), Act.FAIL), 4, "wrong_phase",
        "task-1 is awaiting a human: a task that is awaiting a human cannot be failed",
        "complete it: pro0 task approve task-1, or give it back: pro0 task reject task-1 WHY",
    ),
    "a member approves": (
        lambda: act(standing(TaskPhase.AWAITING), Act.APPROVE), 4, "not_allowed",
        "task-1 cannot be approved by w1: only a person may", None,
    ),
    "a member cancels": (
        lambda: act(standing(TaskPhase.PENDING), Act.CANCEL), 4, "not_allowed",
        "task-1 cannot be cancelled by w1: only a person or a lead agent may", None,
    ),
    "another's claim": (
        lambda: act(standing(TaskPhase.WORKING), Act.COMPLETE, W2), 4, "not_owner",
        "task-1 is claimed by w1, not by w2", None,
    ),
    "an older claim": (
        lambda: act(standing(TaskPhase.WORKING), Act.FAIL, W1_LATER), 4, "stale_claim",
        "stale claim: task-1 was claimed again since (epoch 1)", "see who holds it: pro0 task show task-1",
    ),
    "a human hands off what is another's": (
        lambda: act(standing(TaskPhase.WORKING), Act.HAND_OFF, THE_HUMAN), 4, "not_owner",
        "task-1 is claimed by w1, not by human", None,
    ),
    "a session that waits is started": (
        lambda: act(WAITS, Act.START, THE_LEAD), 4, "conflict",
        "the session of task-1, w1, waits for its subtasks", None,
    ),
    "a session that waits is wished for": (
        lambda: act(WAITS, Act.WISH, THE_HUMAN), 4, "conflict",
        "the session of task-1, w1, waits for its subtasks", None,
    ),
    "nobody could review": (
        lambda: act(standing(TaskPhase.DONE), Act.REVIEW, THE_LEAD), 4, "no_session",
        "task-1 has no session that could review", None,
    ),
    "the last was no start": (
        lambda: act(standing(TaskPhase.WORKING), Act.UNDO_START, THE_LEAD), 4, "wrong_phase",
        "the newest act on task-1 was not its start", None,
    ),
    "a lead agent cancels what is gated": (
        lambda: act(replace(standing(TaskPhase.PENDING), requires=Gate.REVIEW), Act.CANCEL, LEAD_AGENT), 4,
        "not_allowed", "task-1 is gated: only a human may cancel it", None,
    ),
    "a lead agent cancels what waits": (
        lambda: act(standing(TaskPhase.AWAITING), Act.CANCEL, LEAD_AGENT), 4, "not_allowed",
        "task-1 is gated: only a human may cancel it", None,
    ),
    "a lead agent tries a supervised one again": (
        lambda: act(replace(standing(TaskPhase.FAILED), policy=Policy.SUPERVISED), Act.RETRY, LEAD_AGENT),
        4, "not_allowed", "task-1 is supervised: only a human may retry it", None,
    ),
}  # fmt: skip

MAKING: dict[str, Case] = {
    "a cycle": (
        lambda: make(listed(), Draft(title="a", blocked_by=("2",)), Draft(title="b", blocked_by=("1",))),
        4, "cycle", "that makes a dependency cycle: task-1 → task-2 → task-1", "drop one of them",
    ),
    "an unknown dependency": (
        lambda: make(listed(), Draft(title="a", blocked_by=("7",))), 3, "not_found", "there is no task-7", LIST
    ),
    "itself": (
        lambda: make(listed(), Draft(title="a", blocked_by=("1",))), 4, "cycle", "task-1 cannot depend on itself", None
    ),
    "a NUL": (
        lambda: make(listed(), Draft(title="a", run="\0")), 2, "bad_input", "a command cannot hold a NUL byte", None
    ),
    "no time": (
        lambda: make(listed(), Draft(title="a", timeout=0)), 2, "bad_input", "0 seconds is no time limit",
        "more than 0, at most a week (604800)",
    ),
    "one key twice": (
        lambda: make(listed(), Draft(title="a", key="k"), Draft(title="b", key="k")), 2, "bad_input",
        "two tasks have the key 'k'", "a key names one task of the file",
    ),
    "a member reserves": (
        lambda: make(listed(), Draft(title="a", assignee="w2"), caller=W1), 4, "not_allowed",
        "w1 may not assign tasks: only a person or a lead agent may", None,
    ),
    "below what is over": (
        lambda: make(listed(task(1, status=Status.FAILED)), Draft(title="a", parent="1")), 4, "wrong_phase",
        "task-1 is failed: it takes no new subtasks", "reopen it first: pro0 task reopen task-1",
    ),
    "a member delegates": (
        lambda: make(listed(), Draft(title="a", policy=Policy.DISPATCH), caller=W1), 4, "not_allowed",
        "w1 may not delegate: only a person or a lead agent may",
        'say what is needed: pro0 task comment ID "blocked: …"',
    ),
    "beside its own": (
        lambda: make(listed(SUPERVISED, replace(SUPERVISED, id="task-2")), Draft(title="a"), caller=W1),
        4, "not_allowed", "w1 may make supervised tasks only under task-1, task-2",
        "pro0 task create TITLE --parent ID",
    ),
    "under another's": (
        lambda: make(listed(SUPERVISED), Draft(title="a", parent="1"), caller=W2), 4, "not_allowed",
        "w2 may make supervised tasks only under a task that it works on", "pro0 task create TITLE --parent ID",
    ),
    "too deep": (
        lambda: make(listed(task(1)), Draft(title="a", parent="1"), bounds=Limits(depth=0)), 4, "too_deep",
        "'a' would be 1 levels deep, more than maxSubtaskDepth (0)", "make it a subtask of a task further up",
    ),
    "too many": (
        lambda: make(listed(task(1)), Draft(title="a", parent="1"), bounds=Limits(subtasks=0)), 4, "too_many",
        "task-1 would have more subtasks than maxSubtasksPerParent (0)",
        "group them under subtasks, or raise the setting",
    ),
    "out of range": (
        lambda: make(listed(), Draft(title="a", priority=1_000_001)), 2, "bad_input",
        "priority 1000001 is out of range", "0 to 4 are usual, lower goes first",
    ),
    "no title": (
        lambda: make(listed(), Draft(title=" ")), 2, "bad_input", "a task needs a title",
        'pro0 task create "what to do"',
    ),
    "a title of two lines": (
        lambda: make(listed(), Draft(title="a\rb")), 2, "bad_input", "the title is more than one line",
        "put the rest into --description",
    ),
    "a long title": (
        lambda: make(listed(), Draft(title="x" * 1025)), 2, "bad_input", "the title has 1025 bytes, more than 1024",
        "put the rest into --description",
    ),
    "a long description": (
        lambda: make(listed(), Draft(title="a", description="x" * 262145)), 2, "bad_input",
        "the description has 262145 bytes, more than 262144", "put it in a file and name the file",
    ),
    "a long acceptance": (
        lambda: make(listed(), Draft(title="a", acceptance="x" * 262145)), 2, "bad_input",
        "the acceptance has 262145 bytes, more than 262144", "put it in a file and name the file",
    ),
    "a long command": (
        lambda: make(listed(), Draft(title="a", run="x" * 262145)), 2, "bad_input",
        "the command has 262145 bytes, more than 262144", "put it in a file and name the file",
    ),
    "a role of two lines": (
        lambda: make(listed(), Draft(title="a", role="a\nb")), 2, "bad_input", "the role is more than one line", None
    ),
    "no Unicode": (
        lambda: make(listed(), Draft(title="\ud800")), 2, "bad_input", "the title is not valid Unicode text",
        "it holds a lone surrogate; pass UTF-8",
    ),
    "an empty label": (lambda: text.labels([" "]), 2, "bad_input", "a label is empty", "leave it out"),
    "many labels": (
        lambda: text.labels(map(str, range(51))), 2, "bad_input", "51 labels are more than 50", "use fewer"
    ),
}  # fmt: skip

EDITING: dict[str, Case] = {
    "over": (
        lambda: update(listed(standing(TaskPhase.FAILED)), "task-1", Changes(title="b")), 4, "refused",
        "task-1 is failed: its fields cannot be changed", "pro0 task reopen task-1",
    ),
    "an agent's gate": (
        lambda: update(listed(task(1)), "task-1", Changes(requires=""), LEAD_AGENT), 4, "not_allowed",
        "only a human changes what task-1 requires", None,
    ),
    "a member's update": (
        lambda: update(listed(task(1)), "task-1", Changes(title="b"), W1), 4, "not_allowed",
        "w1 may not update task-1, which is no subtask of its own task", None,
    ),
    "no gate": (
        lambda: update(listed(task(1)), "task-1", Changes(requires="odd")), 2, "bad_input", "'odd' is no gate",
        "one of approval, review, content; none removes it",
    ),
    "the command of what is at work": (
        lambda: update(listed(claimed(task(1))), "task-1", Changes(run="x"), LEAD_AGENT), 4, "not_allowed",
        "task-1 is in progress: its command cannot be changed", None,
    ),
    "a long description": (
        lambda: update(listed(task(1)), "task-1", Changes(description="x" * 262145)), 2, "bad_input",
        "the description has 262145 bytes, more than 262144", "put it in a file and name the file",
    ),
    "a long acceptance": (
        lambda: update(listed(task(1)), "task-1", Changes(acceptance="x" * 262145)), 2, "bad_input",
        "the acceptance has 262145 bytes, more than 262144", "put it in a file and name the file",
    ),
    "a role of two lines": (
        lambda: update(listed(task(1)), "task-1", Changes(role="a\nb")), 2, "bad_input",
        "the role is more than one line", None,
    ),
    "a gated one is deleted by an agent": (
        lambda: delete(standing(TaskPhase.AWAITING), caller=LEAD_AGENT), 4, "not_allowed",
        "task-1 is gated: only a human may delete it", None,
    ),
    "a claimed one is deleted": (
        lambda: delete(claimed(task(1))), 4, "refused", "task-1 is claimed by w1",
        "cancel it first: pro0 task cancel task-1",
    ),
    "a named one is deleted": (
        lambda: delete(task(1), task(2, 1), task(3, parent=1)), 4, "refused", "task-2, task-3 refer to task-1",
        "--force removes these references too",
    ),
}  # fmt: skip

CASES = ACTS | MAKING | {f"{name}, later": case for name, case in EDITING.items()}


@pytest.mark.parametrize("what", CASES)
def test_what_is_refused_is_said_with_the_next_step(what: str) -> None:
    refused(*CASES[what])
