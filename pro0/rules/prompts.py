"""Every text that a member or the lead address is told by pro0."""

from collections.abc import Iterable

from pro0.model.runtime import SeatState, State
from pro0.model.task import Status, Task


def unread_line(unread: int) -> str:
    """Return the one fixed line that a pane gets about its mail (rulings 3.6)."""
    return f"You have {unread} unread message{'' if unread == 1 else 's'}: run `pro0 inbox`"


def ready_line(ready: int) -> str:
    """Return the fixed line that an idle agent gets about tasks it could claim."""
    return f"{ready} task{' is' if ready == 1 else 's are'} ready for you: run `pro0 task next`"


def needs_a_person(state: SeatState) -> str:
    """Return what is told about a member that waits for a person, or whose turn ended in an error."""
    what = {State.WAITING: "waits for a permission", State.DIALOG: "shows a dialog of its own"}
    said = what.get(state.state, "has an error")
    note = f" ({state.note})" if state.note else ""
    return f"{state.agent_id} {said}{note}; look: pro0 member peek {state.agent_id}"


def spent(cost: float, limit: float) -> str:
    """Return what is told when a team comes near its limit of cost, in US dollars, or reaches it."""
    what = "no new session starts" if cost >= limit else "when it is reached no new session starts"
    return f"the team has cost about ${cost:.2f} of ${limit:.2f}: {what}; see pro0 team cost"


def shutdown_request(reason: str) -> str:
    """Return what a member is asked when it should end."""
    why = f" ({reason})" if reason else ""
    return f"Please shut down{why}. Answer with `pro0 shutdown approve` or `pro0 shutdown reject REASON`."


def ended(state: SeatState, tasks: Iterable[Task]) -> str:
    """Return what the lead address is told about a member that ended by itself."""
    verb = "has crashed" if state.state is State.CRASHED else "has exited"
    how = f" ({state.note})" if state.note else ""
    freed = ", ".join(task.id for task in tasks)
    return f"{state.agent_id} {verb}{how}" + (f"; pending again: {freed}" if freed else "")


def idle(agent_id: str, last: Task | None) -> str:
    """Return what the lead address is told about a member that has nothing to do, with its last result."""
    if last is None:
        return f"{agent_id} is idle"
    said = last.closed_reason if last.status is Status.FAILED else last.result or ""
    return f"{agent_id} is idle; last: {last.id} {last.status}" + (f": {_ending(said)}" if said.strip() else "")


def lead_stays_down(times: int) -> str:
    """Return what the lead address is told when the lead died too often to be started again (rulings 3.12)."""
    return f"the lead has died {times} times in a minute and stays down; see pro0 team logs, then: pro0 team resume"


def _ending(text: str, limit: int = 200) -> str:
    """Return the last line of a text, where commands say how they went."""
    line = " ".join(text.strip().splitlines()[-1].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
