"""Hooks: the events at which a person's own commands are asked or told, and which files the person agreed to."""

from enum import StrEnum

from pro0.model.stored import Document


class HookEvent(StrEnum):
    """When a hook runs; one of the first three can say no."""

    TASK_CREATED = "TaskCreated"
    TASK_COMPLETED = "TaskCompleted"
    TEAMMATE_IDLE = "TeammateIdle"
    MEMBER_CHANGED = "MemberChanged"
    TEAM_CHANGED = "TeamChanged"
    HUMAN_NEEDED = "HumanNeeded"


class Consent(Document, frozen=True, kw_only=True):
    """trusted.json: projects and layouts, by path, with the digest of what the person agreed to."""

    projects: dict[str, str] = {}
