"""What may be done to the tasks of the model, by whom, and what it makes of them (rulings 2)."""

from copy import deepcopy

from tests.rules.model import (
    AGENTS,
    CANCELS,
    COMPLETES,
    CYCLES,
    ESCALATIONS,
    IN_CHARGE,
    RETURNS,
    Item,
    Model,
)


def act(model: Model, verb: str, number: int, who: str, *, kind: str = "work", session: str = "w1") -> bool:
    """Do one act, or return False and change nothing; `session` gets a claim that is not its caller's own."""
    item = model.items.get(number)
    if item is None:
        return False
    if verb == "clear" and who == "human" and item.open and not item.waits:
        return True
    lets_not_through = verb in ("reject", "clear") and item.at_gate
    was_stopped, was_settled, waited = item.stopped, not item.open, item.open and bool(item.waits)
    if not VERBS[verb](model, number, item, who, kind, session):
        return False
    item.just_started = verb == "start"
    item.kept_open = item.kept_open or verb == "reopen" or lets_not_through
    item.at_gate = item.at_gate and bool(item.waits) and verb != "hold"
    model.changed(number)
    if verb not in ("start", "claim", "undo_start") and not (verb == "release" and who in ("w1", "w2")):
        item.returned = 0
    if not was_stopped:
        model.tell_of_stop(number, who)
    if was_settled or not item.open or item.status == "done" or (waited and not item.waits):
        model.follow(item.parent)
    return True


def _owns(item: Item, who: str) -> bool:
    return item.holder == who


def _working(item: Item) -> bool:
    return item.status == "in_progress" and not item.waits


def _claim(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if who == "lead" or item.holder or not model.ready(number):
        return False
    if who in AGENTS and item.assignee not in (None, who):
        return False
    model.give(number, who)
    return True


def _start(model: Model, number: int, item: Item, who: str, _kind: str, session: str) -> bool:
    parent_again = item.status == "done" and not item.holder and not item.epic
    if who != "lead" or not (parent_again or (not item.holder and model.ready(number))):
        return False
    model.give(number, session)
    return True


def _undo_start(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if who != "lead" or not _working(item) or not item.just_started:
        return False
    if item.from_done:
        item.status, item.holder, item.last = "done", None, None
    else:
        model.back(number)
    return True


def _wish(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    parent_again = item.status == "done" and not item.holder and not item.epic
    if who != "human" or not (parent_again or model.ready(number)):
        return False
    item.policy = item.policy if model.policy(number) else "supervised"
    item.wish = True
    return True


def _escalate(item: Item) -> None:
    item.holder = None
    if item.escalated < ESCALATIONS:
        item.waits = "escalation"
    else:
        item.status, item.escalated = "failed", 0


def _release(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if not _working(item) or (who in AGENTS and not _owns(item, who)):
        return False
    item.returned += 1
    if who in ("w1", "w2") and item.returned >= RETURNS and model.policy(number) in ("supervised", "dispatch"):
        _escalate(item)
    else:
        model.back(number)
    return True


def _complete(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    left = model.left(number)
    if item.status == "pending" and not item.waits and who == "human" and not model.open_below(number):
        model.finish(number)
        return True
    if not _working(item) or who == "lead" or (who in AGENTS and not _owns(item, who)):
        return False
    if not left or model.policy(number) != "supervised":
        model.finish(number)
        return True
    if item.open_before is not None and left < item.open_before:
        item.escalated = 0
    item.cycles = item.cycles + 1 if item.open_before is not None and left >= item.open_before else 0
    item.open_before = left
    if item.cycles > CYCLES:
        _escalate(item)
    else:
        item.status, item.watch = "done", set()
    return True


def _hand_off(_model: Model, _number: int, item: Item, who: str, kind: str, _session: str) -> bool:
    if not _working(item) or who == "lead" or not _owns(item, who):
        return False
    if kind == "escalation":
        _escalate(item)
    else:
        item.holder, item.waits, item.escalated = None, kind, 0
    return True


def _fail(_model: Model, _number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if not _working(item) or (who in AGENTS and not _owns(item, who)):
        return False
    item.status, item.holder = "failed", None
    return True


def _approve(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if who != "human" or not item.open or not item.waits:
        return False
    if item.waits in COMPLETES:
        model.finish(number, passed=item.waits)
    else:
        if item.waits == "escalation":
            item.escalated += not item.unagreed
            item.unagreed = False
        model.back(number)
    return True


def _reject(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if who != "human" or not item.open or not item.waits:
        return False
    if item.waits in CANCELS:
        model.cancel_all(number, who)
    else:
        model.back(number)
    return True


def _hold(_model: Model, _number: int, item: Item, who: str, kind: str, _session: str) -> bool:
    if who != "human" or not item.open or not (item.waits or item.status == "pending"):
        return False
    item.waits, item.wish = kind, False
    return True


def _clear(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if who != "human" or not item.open or not item.waits:
        return False
    model.back(number)
    return True


def _retry(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    pooled = model.policy(number) in (None, "pool")
    if item.status != "failed" or who not in IN_CHARGE or (who == "lead agent" and not pooled):
        return False
    return _if_no_circle(model, lambda: model.back(number))


def _continue(model: Model, number: int, item: Item, who: str, _kind: str, session: str) -> bool:
    if who != "human" or not item.stopped or item.unagreed:
        return False
    if not _if_no_circle(model, lambda: model.give(number, session)):
        return False
    model.told[session] += 1
    return True


def _close(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    idle = item.status == "pending" and not item.waits and not model.open_below(number)
    if who != "human" or not (item.stopped or idle):
        return False
    return _if_no_circle(model, lambda: model.finish(number))


def _cancel(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if not item.open or who not in IN_CHARGE:
        return False
    below = [model.items[n] for n in model.items if number in model.above(n) and model.items[n].open]
    if who == "lead agent" and any(one.requires or one.waits for one in (item, *below)):
        return False
    model.cancel_all(number, who)
    return True


def _reopen(model: Model, number: int, item: Item, who: str, _kind: str, _session: str) -> bool:
    if item.open or who != "human":
        return False
    if not _if_no_circle(model, lambda: model.back(number)):
        return False
    item.assignee, item.escalated = None, 0
    return True


def _if_no_circle(model: Model, change: object) -> bool:
    assert callable(change)
    before = deepcopy(model.items)
    change()
    if model.circular():
        model.items = before
        return False
    return True


VERBS = {
    "claim": _claim,
    "start": _start,
    "undo_start": _undo_start,
    "wish": _wish,
    "release": _release,
    "complete": _complete,
    "hand_off": _hand_off,
    "fail": _fail,
    "approve": _approve,
    "reject": _reject,
    "hold": _hold,
    "clear": _clear,
    "retry": _retry,
    "continue": _continue,
    "close": _close,
    "cancel": _cancel,
    "reopen": _reopen,
}
"""One function for each verb; which starts, releases and holds are a human's is in there, not in a table."""


def died(model: Model, session: str) -> None:
    """Take away what a dead session held: what had a session of its own has failed, the rest is pending again."""
    for number, item in list(model.items.items()):
        if item.holder == session:
            item.holder = None
            if item.status == "in_progress" and model.policy(number) in ("supervised", "dispatch"):
                item.status = "failed"
                model.tell_of_stop(number, "lead")
                model.follow(item.parent)
            elif item.status == "in_progress":
                model.back(number)
        elif item.open and not item.holder and item.assignee == session and not item.begun:
            item.assignee = None


def create(model: Model, new: Item, who: str) -> bool:
    """Add a task, or return False and change nothing."""
    number = model.next
    if new.parent is not None and (new.parent not in model.items or not model.items[new.parent].open):
        return False
    if not new.deps <= set(model.items) or (new.assignee and who not in IN_CHARGE):
        return False
    model.items[number] = new
    mine = {n for n, i in model.items.items() if i.holder == who and _working(i) and model.policy(n) == "supervised"}
    outside = not mine.intersection(model.above(number)) and bool(mine or model.watcher(number) is not None)
    delegates = model.policy(number) == "dispatch"
    if model.circular() or len(model.above(number)) > 5 or (who in ("w1", "w2") and (outside or delegates)):
        del model.items[number]
        return False
    model.next += 1
    if new.assignee:
        model.told[new.assignee] += 1
    model.tell_of_stop(number, who)
    model.follow()
    return True


def delete(model: Model, number: int, who: str, *, force: bool) -> bool:
    """Remove a task, or return False and change nothing."""
    item = model.items.get(number)
    named = any(number in other.deps or other.parent == number for other in model.items.values())
    if item is None or who not in IN_CHARGE or (who == "lead agent" and (item.requires or item.waits)):
        return False
    if not force and (item.holder or named):
        return False
    below = {number, *(n for n in model.items if number in model.above(n))}
    failed = any(model.items[n].status == "failed" and model.watcher(n) is not None for n in below)
    if who == "lead agent" and failed:
        return False
    del model.items[number]
    for other in model.items.values():
        other.deps.discard(number)
        other.parent = None if other.parent == number else other.parent
    model.follow(item.parent)
    return True
