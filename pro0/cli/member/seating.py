"""A member as typed on the command line, with the text of its role."""

from pro0.agents import adapter_named
from pro0.cli.context import store
from pro0.cli.output import say
from pro0.model.agent import AGENTS
from pro0.ops.tasks.drafts import SeatDraft
from pro0.ops.tasks.roles import all_roles, apply_role
from pro0.rules.spelling import nearest

ALIKE = 0.8
"""The similarity from which a word counts as a misspelt role; higher than elsewhere, since a role may be any word."""


def say_unread(draft: SeatDraft) -> SeatDraft:
    """Return the member; say so when it was given a prompt that its agent does not read."""
    if draft.prompt and draft.agent in AGENTS and (why := adapter_named(draft.agent).no_prompt):
        say(f"the prompt of {draft.name} has no effect: {why}")
    return draft


def seated(draft: SeatDraft) -> SeatDraft:
    """Return the member with the text of its role. Warn of an unknown role with a name like a known one's."""
    roles = [role.id for role in all_roles(store())]
    draft_with_role = apply_role(store(), draft)
    if draft.role and draft_with_role.role not in roles and (near := nearest(draft.role, roles, ALIKE)):
        say(f"there is no role {draft.role}: {draft.name} gets only this word as its role; did you mean {near}?")
    return draft_with_role
