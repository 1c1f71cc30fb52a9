"""Drafts of members: their agents, as defined in the settings, and the checks before a start."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from pro0.agents import defined
from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model.agent import AGENTS, Definition, modes_of, offered
from pro0.model.run import RUNNER
from pro0.model.team import PermissionMode, Seat
from pro0.rules.spelling import nearest


class SeatDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A draft of a member."""

    name: str
    agent: str = "shell"
    role: str = ""
    prompt: str = ""
    argv: tuple[str, ...] = ()
    nudge: bool = False
    window: str = ""
    model: str = ""
    effort: str = ""
    permission_mode: PermissionMode | None = None
    leads: bool = False
    """True for the team's lead agent, the reader of the mailbox `lead`."""
    delegates: bool = False
    worktree: bool | None = None
    """True for its own worktree; None for the team's default."""
    plan: bool = False
    """True when it needs an approved plan before any change."""
    unattended: bool = False
    """True when nobody waits for its start."""
    host: str = ""
    """The machine where its agent is to run; empty for this one."""
    definition: Definition | None = None
    """The definition of its agent, for an agent from the settings."""


def with_definitions(drafts: Iterable[SeatDraft], definitions: Mapping[str, Definition]) -> list[SeatDraft]:
    """Add definitions to drafts of agents from the settings; raises BadInput for an unknown agent."""
    for draft in (defined := [replace(draft, definition=definitions.get(draft.agent)) for draft in drafts]):
        known_agent(draft.agent, definitions)
        _no_runner(draft)
    return defined


def known_agent(name: str, definitions: Mapping[str, Definition]) -> None:
    """Raise BadInput for an agent that is neither pro0's own nor defined in the settings."""
    if name not in AGENTS and name not in definitions:
        raise BadInput(f"there is no agent {name!r}", hint=_meant(name, {*AGENTS, *definitions}))


def _no_runner(draft: SeatDraft) -> None:
    """Raise BadInput for a runner without what `pro0 run` gives it."""
    if draft.agent == RUNNER and not draft.argv:
        raise BadInput("a runner is started by `pro0 run`", hint="pro0 run --help")


def _meant(word: str, agents: Iterable[str]) -> str:
    names = sorted(set(agents) - {RUNNER})
    near = nearest(word, names)
    return f"did you mean {near}?" if near else f"one of {', '.join(names)}"


def takeable(draft: SeatDraft) -> None:
    """Raise BadInput for a model or an effort its agent does not accept."""
    takes = defined(draft.agent, draft.definition).takes
    for option, value in (("model", draft.model), ("effort", draft.effort)):
        if value and option not in takes:
            raise BadInput(f"the agent {draft.agent} takes no {option}", hint=f"leave out the {option}")


def taken(draft: SeatDraft) -> SeatDraft:
    """Return the draft without a model or effort its agent does not accept: a layout may set them for all members."""
    takes = defined(draft.agent, draft.definition).takes
    model, effort = (draft.model if "model" in takes else "", draft.effort if "effort" in takes else "")
    return replace(draft, model=model, effort=effort)


def startable(draft: SeatDraft, mode: PermissionMode, path: str) -> None:
    """Check that a member can start; raises BadInput for a wrong draft, EnvironmentMissing for a missing program."""
    adapter = defined(draft.agent, draft.definition)
    if draft.agent == "command" and not draft.argv:
        hint = "pro0 member spawn NAME --agent command -- PROGRAM [ARG ...]"
        raise BadInput("a command member needs a program", hint=hint)
    if draft.leads and not _instructed(draft):
        hint = "for agents that can: pro0 agent list"
        raise BadInput(f"{draft.agent!r} cannot be a lead agent: it takes no instructions", hint=hint)
    if draft.delegates and not adapter.delegates:
        raise BadInput(f"the agent {draft.agent} cannot be limited to delegating", hint="leave out --delegate-only")
    _no_runner(draft)
    if draft.agent not in ("command", RUNNER) and draft.argv:
        raise BadInput(f"the agent {draft.agent} takes no program", hint="--agent command runs any program")
    if draft.plan:
        _plannable(draft)
    limitable(draft, draft.permission_mode or mode)
    if draft.host:
        hostable(draft.name, draft.host, draft.agent, draft.definition, draft.leads)
        if draft.plan:
            raise BadInput("a member on another machine cannot hand in a plan", hint="leave out --plan")
        return
    from pro0.agents.installed import require  # late: a command about tasks starts nobody

    require(adapter, path)


def hostable(name: str, host: str, agent: str, definition: Definition | None, leads: bool = False) -> None:
    """Raise BadInput for an agent that cannot run on another machine, such as one that needs files of this one."""
    from pro0 import ssh  # late: a command about tasks reaches no machine

    ssh.host(host)
    if leads:
        raise BadInput("a lead agent cannot run on another machine", hint="run another member there")
    if defined(agent, definition).elsewhere is None:
        able = ", ".join(sorted(agent_name for agent_name in offered() if defined(agent_name, None).elsewhere))
        hint = f"one of {able}; any program: pro0 member spawn {name} --host {host} -- PROGRAM [ARG ...]"
        raise BadInput(f"the agent {agent} cannot run on another machine", hint=hint)
    if definition and any("{prompt_file}" in word for word in definition.argv):
        hint = f"use {{prompt}} instead of {{prompt_file}} in agents.{agent}.argv"
        raise BadInput(f"the agent {agent} reads its prompt from a file on this machine", hint=hint)


def reusable(seat: Seat, draft: SeatDraft, *, ended: bool, worktree: bool) -> None:
    """Raise Refused when a draft cannot reuse a seat: the member lives, or its code is on another machine."""
    if not ended:
        text, hint = f"there is a member {seat.agent_id} already", "choose another name"
        raise Refused(text, code=ErrorCode.CONFLICT, hint=hint)
    if seat.host and seat.worktree and (draft.host != seat.host or not worktree):
        hint = f"choose another name, or the same host: --host {seat.host} --worktree"
        raise Refused(f"the code of {seat.agent_id} is on {seat.host}", code=ErrorCode.CONFLICT, hint=hint)


def showable(draft: SeatDraft, mode: str) -> None:
    """Raise Refused for a member on another machine when there is no terminal here."""
    if draft.host and mode == "headless":
        hint = "start the team with --mode in-process or --mode tmux"
        raise Refused(f"{draft.name}, which runs on {draft.host}, must be shown in a terminal here", hint=hint)


def _instructed(draft: SeatDraft) -> bool:
    return draft.definition.instructed if draft.definition else draft.agent not in ("command", RUNNER, "shell")


def _plannable(draft: SeatDraft) -> None:
    """Raise BadInput for an agent without a plan mode."""
    limits = draft.agent != RUNNER and "plan" in modes_of(draft.agent, draft.definition)
    if draft.leads or not limits:
        subject = "a lead agent" if draft.leads else f"the agent {draft.agent}"
        raise BadInput(f"{subject} cannot be made to plan first", hint="leave out --plan")


def limitable(draft: SeatDraft, mode: PermissionMode) -> None:
    """Raise BadInput for a permission mode that its agent does not have; no modes means no limits."""
    modes = modes_of(draft.agent, draft.definition)
    if modes and mode not in modes:
        hint = f"--permission-mode {' or '.join(modes)}"
        own = f", or define it: agents.{draft.agent}.modes" if draft.definition else ""
        raise BadInput(f"the agent {draft.agent} has no permission mode {mode}", hint=hint + own)
