"""Agents: the programs a member can run."""

from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from pro0.agents.drawings import loaded
from pro0.errors import BadInput, EnvironmentMissing
from pro0.model.agent import AGENTS, offered

if TYPE_CHECKING:
    from pro0.agents.adapter import Adapter, Brief, Invocation, SessionView
    from pro0.model.agent import Definition
    from pro0.model.home import AgentAct
    from pro0.model.team import Seat


def adapter_named(name: str) -> "Adapter":
    """Return the adapter of the agent of that name; raises BadInput for an unknown name."""
    if name not in AGENTS:
        raise BadInput(f"there is no agent {name!r}", hint=f"one of {', '.join(sorted(offered()))}")
    return cast("Adapter", loaded(AGENTS[name]))


def adapter_of(seat: "Seat") -> "Adapter":
    """Return the adapter of a seat's agent; the seat's own definition comes first."""
    adapter = defined(seat.agent, seat.definition)
    if seat.host:
        adapter = _there(adapter)
    return replace(adapter, passes=(*adapter.passes, *adapter.passes_of(seat))) if adapter.passes_of else adapter


def defined(name: str, definition: "Definition | None") -> "Adapter":
    """Return the adapter of a definition from the settings; without one, pro0's own adapter of that name."""
    if definition is None:
        return adapter_named(name)
    from pro0.agents.custom import custom

    return custom(name, definition)


def limited(adapter: "Adapter", off: "Collection[AgentAct]") -> "Adapter":
    """Return an adapter without the acts that are switched off for this version of its program."""
    if not off:
        return adapter
    from pro0.model.home import AgentAct
    from pro0.model.runtime import State

    if AgentAct.STATES in off:
        adapter = replace(adapter, look=None, screens=None, first_state=State.RUNNING)
    if AgentAct.TYPING in off:
        adapter = replace(adapter, interrupt="")
    if AgentAct.CHANNEL in off:
        adapter = replace(adapter, deliver=None)
    if AgentAct.ANSWERS in off:
        adapter = replace(adapter, permissions=None, asks_by_hook=False)
    return adapter


def can_go_on(adapter: "Adapter", session_view: "SessionView", agent_id: str) -> bool:
    """Return True when a session can be resumed; raises EnvironmentMissing when its files cannot be read now."""
    try:
        return adapter.began is not None and adapter.began(session_view)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise EnvironmentMissing(
            f"its conversation cannot be read: {where}{error.strerror or error}",
            hint=f"fix that and start it again, or begin a new conversation: pro0 member restart {agent_id} --fresh",
        ) from error


def _there(adapter: "Adapter") -> "Adapter":
    """Return the adapter of an agent on another machine: home has its screen, its hooks, and that machine's reports."""

    from pro0.agents import there
    from pro0.agents.runner import usage  # reads a file at home, as for a runner

    def refused(_brief: "Brief") -> "Invocation":
        raise EnvironmentMissing(f"the agent {adapter.name} cannot run on another machine")

    return replace(
        adapter,
        call=adapter.elsewhere or refused,
        session_ids=adapter.session_ids_elsewhere,
        began=None,
        look=there.look(adapter) if adapter.look else None,
        prompt_on_screen=adapter.screens is not None,
        permissions=None,
        channel="",
        deliver=None,
        asks_at_turn_end=False,
        stop=None,
        last_words=there.last_words if adapter.last_words else None,
        chat=None,
        usage=usage if adapter.usage else None,
    )
