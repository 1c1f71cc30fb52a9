"""Members as they are asked for: which agent each runs, as the settings say, and whether it can be started."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from pro0.agents import AGENTS, defined
from pro0.agents.installed import require
from pro0.errors import BadInput
from pro0.model.agent import Definition
from pro0.model.run import RUNNER
from pro0.model.team import PermissionMode


class SeatDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A member as it is asked for."""

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
    """Whether this is the team's lead agent, who reads the mailbox `lead`."""
    delegates: bool = False
    worktree: bool | None = None
    """Whether it gets a worktree of its own; None for what the team's members get."""
    plan: bool = False
    """Whether it has to have a plan approved before it changes anything."""
    definition: Definition | None = None
    """How its agent is run, for one that the settings define."""


def with_definitions(drafts: Iterable[SeatDraft], definitions: Mapping[str, Definition]) -> list[SeatDraft]:
    """Return the drafts, each that runs an agent of the settings with its definition; raises BadInput for no agent."""
    for draft in (found := [replace(draft, definition=definitions.get(draft.agent)) for draft in drafts]):
        if draft.definition is None and draft.agent not in AGENTS:
            known = ", ".join(sorted({*AGENTS, *definitions}))
            raise BadInput(f"there is no agent {draft.agent!r}", hint=f"one of {known}")
    return found


def takeable(draft: SeatDraft) -> None:
    """Raise BadInput for a model or an effort that its agent does not take."""
    takes = defined(draft.agent, draft.definition).takes
    for what, asked in (("model", draft.model), ("effort", draft.effort)):
        if asked and what not in takes:
            raise BadInput(f"the agent {draft.agent} takes no {what}", hint=f"leave the {what} out")


def taken(draft: SeatDraft) -> SeatDraft:
    """Return the draft without what its agent does not take, of what all members of a layout are given."""
    takes = defined(draft.agent, draft.definition).takes
    model, effort = (draft.model if "model" in takes else "", draft.effort if "effort" in takes else "")
    return replace(draft, model=model, effort=effort)


def startable(draft: SeatDraft, mode: PermissionMode, path: str) -> None:
    """Raise BadInput for what its agent cannot be, EnvironmentMissing when its program is nowhere on the PATH."""
    adapter = defined(draft.agent, draft.definition)
    if draft.agent == "command" and not draft.argv:
        hint = "pro0 member spawn NAME --agent command -- PROGRAM [ARG ...]"
        raise BadInput("a command member needs a program", hint=hint)
    if draft.leads and not _instructed(draft):
        hint = "pro0 agent list shows those that can"
        raise BadInput(f"{draft.agent!r} cannot be a lead agent: it takes no instructions", hint=hint)
    if draft.agent == RUNNER and not draft.argv:
        raise BadInput("a runner is started by `pro0 run`", hint="pro0 run --help")
    if draft.agent not in ("command", RUNNER) and draft.argv:
        raise BadInput(f"the agent {draft.agent} takes no program", hint="--agent command runs any program")
    if draft.plan:
        _plannable(draft)
    limitable(draft, draft.permission_mode or mode)
    require(adapter, path)


def _instructed(draft: SeatDraft) -> bool:
    return draft.definition.instructed if draft.definition else draft.agent not in ("command", RUNNER, "shell")


def _plannable(draft: SeatDraft) -> None:
    """Raise BadInput for a member that cannot be kept to planning."""
    modes = draft.definition.modes if draft.definition else None
    limits = bool(modes and modes.plan is not None) if draft.definition else _instructed(draft)
    if draft.leads or not limits:
        what = "a lead agent" if draft.leads else f"the agent {draft.agent}"
        raise BadInput(f"{what} cannot be kept to planning first", hint="leave --plan out")


def limitable(draft: SeatDraft, mode: PermissionMode) -> None:
    """Raise BadInput for a mode that the definition of its agent does not know; one without any cannot be limited."""
    modes = draft.definition.modes if draft.definition else None
    if modes and modes.words(mode) is None:
        hint = f"--permission-mode {' or '.join(modes.known)}, or define it: agents.{draft.agent}.modes"
        raise BadInput(f"the agent {draft.agent} knows no permission mode {mode}", hint=hint)
