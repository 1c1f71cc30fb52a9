"""The requests of keys on the board or in the scrollback: an act of the view, or a question to the person."""

from typing import NamedTuple

from pro0.model.need import Need, NeedKind
from pro0.model.runtime import ENDED, State
from pro0.model.task import SETTLED, Awaiting, Status, Task
from pro0.rules.person.permissions import CUT
from pro0.rules.views import task_digest
from pro0.view.items import FOLDED, WAITS, Item
from pro0.view.line import Line
from pro0.view.news import News


class ViewRequest(NamedTuple):
    """One act with its target and text: one of acts.ACTS, or an act of the view itself.

    Acts of the view are: back, leave, help, view, read, diff, words, say, key, interrupt, copy.
    """

    act: str
    target: str = ""
    text: str = ""


class Prompt(NamedTuple):
    """A line being typed, with its act and target."""

    act: str
    target: str
    asks: str
    line: Line = Line()
    at_once: bool = False
    """True when the next key is the whole answer: y for yes, any other for no."""


FIELDS = {
    "/": Prompt("find", "", "find"),
    "b": Prompt("broadcast", "", "to all"),
    "@": Prompt("message", "", "write @name and the text"),
    "t": Prompt("create", "", "new task"),
    "S": Prompt("spawn", "", "new member and its agent"),
}
"""Keys that ask for a line of text, whichever line of the board is chosen."""
WORDY = frozenset({"send", "broadcast", "message", "create", "spawn", "assign", "reject-plan"})
"""Acts that do nothing when the typed text is empty."""


def asked(name: str, item: Item, news: News) -> ViewRequest | Prompt | None:
    """Return the request that a key makes on a line, or the question to the person before it."""
    if item.id == FOLDED:
        return ViewRequest("unfold") if name in ("enter", " ") else _say(f"{name}: choose a line that is not folded")
    task = next((task for task in news.tasks if task.id == item.task), None)
    match name:
        case " " if item.part != "members":
            return ViewRequest("read", item.task or item.id)
        case "enter" | " ":
            return ViewRequest("view", item.member) if item.member else _say(_nobody(item))
        case "m":
            return _to(item.member) if item.member else FIELDS["@"]._replace(line=Line("@", 1))
        case "d":
            target = item.member if item.part == "messages" else item.task or item.member
            return ViewRequest("diff", target) if target else _say("choose a member or a task: d shows its changes")
        case "l" | "i" | "x":
            return _of_member(name, item, news)
        case "a" | "r":
            return _answer(name, item, task)
        case "A" | "R" | "o":
            return _again(name, item, task, news)
    return None


def _of_member(name: str, item: Item, news: News) -> ViewRequest | Prompt:
    if not item.member:
        return _say(_nobody(item))
    if name == "l":
        return ViewRequest("words", item.member)
    if name == "x" and item.part != "members":
        return _say("choose a member: x asks one to shut down")
    if name == "x":
        return Prompt("shutdown", item.member, f"ask {item.member} to shut down? y or n", at_once=True)
    member = news.member(item.member)
    if member and member.agent == "command" and member.state is State.RUNNING:
        return Prompt("interrupt", item.member, f"send Ctrl+C to the program of {item.member}? y or n", at_once=True)
    return ViewRequest("interrupt", item.member)


def _answer(name: str, item: Item, task: Task | None) -> ViewRequest | Prompt:
    """Return the way to answer a line: a text for a task, a yes to a plan, a reply, or a view of the asking member."""
    act = "approve" if name == "a" else "reject"
    kind = item.need.kind if item.need else None
    if task and task.waits:
        verb = "answer" if name == "a" and task.waits.kind is Awaiting.INPUT else act
        # The task may wait for something else by the time the person has typed.
        return Prompt(act, f"{task.id} {task_digest(task)}", f"{verb} {task.id}, with")
    if item.need and kind is NeedKind.PLAN:
        plan = f"{item.member} {item.need.request}"  # the member may hand in another plan meanwhile
        if name == "r":
            return Prompt("reject-plan", plan, f"reject the plan of {item.member}, because")
        return Prompt("approve-plan", plan, f"approve the plan of {item.member}? y or n", at_once=True)
    if name == "a" and item.need and kind in (NeedKind.HOOK, NeedKind.NOTICE, NeedKind.LOSSES):
        return ViewRequest("seen", item.need.command.rpartition(" ")[2])
    if item.need and kind is NeedKind.PERMISSION and item.need.request:
        return _permission(name, item.need)
    if item.member and (
        kind in (NeedKind.PERMISSION, NeedKind.DIALOG)
        or (item.part == "members" and item.look in ("waiting", "dialog"))
    ):
        return ViewRequest("view", item.member)
    if name == "a" and item.member and item.part == "messages":
        return _to(item.member)
    if item.need:
        return _say(f"answer it with: {item.need.command}")
    return _say("choose a task that waits for you: a approves and r rejects it")


def _permission(name: str, need: Need) -> ViewRequest | Prompt:
    """Return the question about a permission request; a request too long for a line has to be read in full first."""
    if name == "r":
        return Prompt("deny", need.request, f"deny {need.member} this, because")
    if need.why.endswith(CUT):
        return _say(f"Space shows all of it; then: {need.command}")
    return Prompt("allow", need.request, f"allow {need.member} this: {need.why}? y or n", at_once=True)


def _again(name: str, item: Item, task: Task | None, news: News) -> ViewRequest | Prompt:
    """Return the request to assign, retry or reopen a task, or to restart a member."""
    member = news.member(item.member)
    if name == "R" and member and member.state in ENDED and (task is None or item.part == "members"):
        return ViewRequest("restart", item.member)
    if name == "R" and task and task.status is Status.FAILED:
        return ViewRequest("retry", task.id)
    if name == "R":
        return _say("choose a member that has ended or a task that has failed: R starts it again")
    if task is None:
        return _say(f"choose a task: {name} {'assigns' if name == 'A' else 'reopens'} it")
    if name == "A":
        return Prompt("assign", task.id, f"assign {task.id} to")
    if task.status not in SETTLED:
        return _say(f"{task.id} is {task.status.words}: only a finished task is reopened")
    return ViewRequest("reopen", task.id)


def _to(member: str) -> Prompt:
    return Prompt("send", member, f"to {member}")


def _say(text: str) -> ViewRequest:
    return ViewRequest("say", text=text)


def _nobody(item: Item) -> str:
    return {"messages": "no member wrote this", WAITS: "this is about no member: Space reads it"}.get(
        item.part, "nobody has this task"
    )
