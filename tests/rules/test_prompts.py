"""Every text that agents and people are told, word by word: agents act on what stands there."""

import pytest
from msgspec.structs import replace

from pro0.model.runtime import SeatState, State
from pro0.model.task import Awaiting, Status, Task, Wait
from pro0.rules import prompts
from tests.rules.building import T0, task

CRASHED = SeatState(agent_id="w1", generation=1, incarnation="i", state=State.CRASHED, since=T0, started_at=T0)
DONE = replace(task(3), status=Status.COMPLETED, result="first line\n  all   is\twell  \n")


def waiting(reason: str) -> Task:
    wait = Wait(kind=Awaiting.INPUT, since=T0, by="w1", reason=reason)
    return replace(task(2), status=Status.IN_PROGRESS, awaiting=wait)


TEXTS: dict[str, tuple[str, str]] = {
    "no mail": (prompts.unread_line(0), "You have 0 unread messages: run `pro0 inbox`"),
    "one message": (prompts.unread_line(1), "You have 1 unread message: run `pro0 inbox`"),
    "two messages": (prompts.unread_line(2), "You have 2 unread messages: run `pro0 inbox`"),
    "one ready": (prompts.ready_line(1), "1 task is ready for you: run `pro0 task next`"),
    "two ready": (prompts.ready_line(2), "2 tasks are ready for you: run `pro0 task next`"),
    "a permission": (
        prompts.needs_a_person(replace(CRASHED, state=State.WAITING, note="rm x")),
        "w1 waits for a permission (rm x); look: pro0 member peek w1",
    ),
    "a dialog": (
        prompts.needs_a_person(replace(CRASHED, state=State.DIALOG)),
        "w1 shows a dialog of its own; look: pro0 member peek w1",
    ),
    "an error": (
        prompts.needs_a_person(replace(CRASHED, state=State.ERROR)),
        "w1 has an error; look: pro0 member peek w1",
    ),
    "near the limit": (
        prompts.spent(8.126, 10),
        "the team has cost about $8.13 of $10.00: when it is reached no new session starts; see pro0 team cost",
    ),
    "at the limit": (
        prompts.spent(10, 10),
        "the team has cost about $10.00 of $10.00: no new session starts; see pro0 team cost",
    ),
    "asked to end": (
        prompts.shutdown_request(""),
        "Please shut down. Answer with `pro0 shutdown approve` or `pro0 shutdown reject REASON`.",
    ),
    "asked to end, and why": (
        prompts.shutdown_request("enough"),
        "Please shut down (enough). Answer with `pro0 shutdown approve` or `pro0 shutdown reject REASON`.",
    ),
    "crashed": (prompts.ended(CRASHED, []), "w1 has crashed"),
    "crashed, with tasks": (
        prompts.ended(replace(CRASHED, note="signal 9"), [task(1), task(2)]),
        "w1 has crashed (signal 9); pending again: task-1, task-2",
    ),
    "exited": (prompts.ended(replace(CRASHED, state=State.EXITED), []), "w1 has exited"),
    "idle": (prompts.idle("w1", None), "w1 is idle"),
    "idle after a task": (prompts.idle("w1", DONE), "w1 is idle; last: task-3 completed: all is well"),
    "idle after a task without a result": (
        prompts.idle("w1", replace(DONE, result=None)),
        "w1 is idle; last: task-3 completed",
    ),
    "idle after a task with an empty result": (
        prompts.idle("w1", replace(DONE, result=" \n")),
        "w1 is idle; last: task-3 completed",
    ),
    "idle after a failure": (
        prompts.idle("w1", replace(DONE, status=Status.FAILED, closed_reason="no disk")),
        "w1 is idle; last: task-3 failed: no disk",
    ),
    "go on, with words": (prompts.goes_on(task(1), "use the other one"), "go on with task-1: use the other one"),
    "go on": (prompts.goes_on(task(1), ""), "go on with task-1: title 1"),
    "held up by a question": (
        prompts.stopped(waiting("which one?")),
        "task-2 waits for a human (input: which one?): title 2; nothing beside it starts before that",
    ),
    "failed": (
        prompts.stopped(replace(task(2), status=Status.FAILED, closed_reason="x\nno disk")),
        "task-2 has failed (no disk): title 2; a human decides: pro0 task retry, continue or close task-2",
    ),
    "failed without a reason": (
        prompts.stopped(replace(task(2), status=Status.FAILED, closed_reason=" ")),
        "task-2 has failed: title 2; a human decides: pro0 task retry, continue or close task-2",
    ),
    "a lead that stays down": (
        prompts.lead_stays_down(3),
        "the lead has died 3 times in a minute and stays down; see pro0 team logs, then: pro0 team resume",
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_said(what: str) -> None:
    text, expected = TEXTS[what]
    assert text == expected


@pytest.mark.parametrize(("length", "shown"), [(199, "x" * 199), (200, "x" * 200), (201, "x" * 199 + "…")])
def test_a_long_result_is_cut(length: int, shown: str) -> None:
    assert prompts.idle("w1", replace(DONE, result="x" * length)) == f"w1 is idle; last: task-3 completed: {shown}"


def test_a_supervisor_is_told_what_is_over() -> None:
    """S000 4.5: what became of each subtask, the end of its result, and what to do now."""
    over = {
        "task-3": DONE,
        "task-4": replace(task(4), status=Status.FAILED, role="tester", result="not said"),
        "task-5": None,
        "task-6": replace(task(6), status=Status.COMPLETED, result=" "),
        "task-7": replace(task(7), status=Status.COMPLETED),
    }
    *lines, last = prompts.review(task(1), over).split("\n")
    assert lines == [
        "completed task-3 (title 3): all is well.",
        "tester failed task-4 (title 4).",
        "task-5 was deleted.",
        "completed task-6 (title 6).",
        "completed task-7 (title 7).",
    ]
    assert last == (
        "Read the comments of task-1 and adjust its subtasks if that is needed. "
        "If all is well, simply complete task-1 again: the next subtask is started, and it ends, by itself."
    )
