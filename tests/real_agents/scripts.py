"""Scripted models that react: a teammate that reads its mail, does its work, and leaves when it is asked to; a lead."""

import re
from collections.abc import Mapping

from pro0.scripted_model.request import ModelRequest
from pro0.scripted_model.tools import is_offered
from pro0.scripted_model.turns import ModelTurn, Script, say, shell, use

MAIL = re.compile(r"You have \d+ unread message")
OFFER = re.compile(r"\d+ tasks? (?:is|are) ready for you")
ASKED_TO_LEAVE = "Please shut down"
SUBTASK_OVER = re.compile(r"\b(?:completed|failed) task-\d+ \(")
NOBODY_YET = "is not a member of"
NO_TASK = re.compile(r'"tasks":\s*\[\]')
LEAD = "You are the lead agent of the team"
"""What the first prompt of a lead agent begins with."""


def marker(agent_id: str) -> str:
    """Return what the first prompt of a teammate begins with."""
    return f"You are {agent_id}, a teammate"


def teammate(*work: ModelTurn, offered: Mapping[str, tuple[ModelTurn, ...]] | None = None) -> Script:
    """Do the turns of the work one by one; read mail when told of it; approve to be shut down when asked.

    When told that tasks are ready, look which, and do the work that is kept for the first that is known, by its id.
    What was for somebody who is no member yet is done again; some agents stop a model that does the same twice in a
    row, so it reads its mail in between.
    """
    left, later, done = list(work), dict(offered or {}), [say("I begin.")]
    looks = False

    def script(request: ModelRequest) -> ModelTurn:
        nonlocal looks
        looks = looks or _told(request, OFFER)
        if any(NOBODY_YET in result for result in request.results()):
            left[:0] = use("check_messages"), done[0]
        if _asked_to_leave(request):
            return use("approve_shutdown")
        if _told(request, MAIL):
            return use("check_messages")
        if later and looks:
            looks = False
            return use("get_claimable_tasks")
        if ready := next((id for id in later if any(f'"{id}"' in result for result in request.results())), None):
            left.extend(later.pop(ready))
        done[0] = left.pop(0) if left else say("Nothing is left to do.")
        return done[0]

    return script


def planner(task: str, *plan: ModelTurn) -> Script:
    """Carry out a plan for a task with subtasks; after each of them that is over, say that the task is complete.

    Claude Code sends a first request at times before its MCP servers are connected: then it waits for their tools.
    """
    left, complete = list(plan), use("complete_task", task_id=task, result="all is there")

    def script(request: ModelRequest) -> ModelTurn:
        if _told(request, MAIL):
            return use("check_messages")
        if any(SUBTASK_OVER.search(result) for result in request.results()):
            return complete
        if left and not is_offered(left[0].calls[0], request.tools):
            return shell("sleep 1")
        return left.pop(0) if left else say("I wait.")

    left.append(complete)
    return script


def lead(*plan: ModelTurn) -> Script:
    """Carry out a plan; look at the tasks after each piece of news, and stop the team when none is open any more."""
    left, last = list(plan), [""]

    def script(request: ModelRequest) -> ModelTurn:
        turn = _lead_turn(request, left, last[0])
        last[0] = turn.calls[0].tool if turn.calls else ""
        return turn

    return script


def _lead_turn(request: ModelRequest, left: list[ModelTurn], last: str) -> ModelTurn:
    if _asked_to_leave(request):
        return use("approve_shutdown")
    if left:
        return left.pop(0) if is_offered(left[0].calls[0], request.tools) else shell("sleep 1")
    if _told(request, MAIL):
        return use("check_messages")
    if last == "check_messages":
        return use("list_tasks")
    if last == "list_tasks" and any(NO_TASK.search(result) for result in request.results()):
        return use("stop_team", reason="all is done")
    return say("I wait for news.")


def _asked_to_leave(request: ModelRequest) -> bool:
    return any(ASKED_TO_LEAVE in result for result in request.results())


def _told(request: ModelRequest, line: re.Pattern[str]) -> bool:
    """Return True when a line is new to the model; Claude Code passes on as the system what comes in mid-turn."""
    return any(line.search(entry.text) for entry in request.news if entry.who in ("user", "system"))
