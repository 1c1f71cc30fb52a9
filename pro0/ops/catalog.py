"""The operations of pro0, and the callers allowed for each."""

from pro0.ops import grants, permissions
from pro0.ops.context import OPERATIONS
from pro0.ops.mail import delivery, listing, messages
from pro0.ops.repair import repair
from pro0.ops.tasks import gates, importing, roles, tasks, trees
from pro0.ops.team import (
    costs,
    events,
    feed,
    machines,
    members,
    needs,
    outside,
    plan_approval,
    progress,
    status,
    teams,
)
from pro0.ops.work import diffs, hiring, runs, sessions, workers

NOUNS = (
    costs,
    delivery,
    diffs,
    events,
    feed,
    gates,
    grants,
    hiring,
    importing,
    listing,
    machines,
    members,
    messages,
    needs,
    outside,
    permissions,
    plan_approval,
    progress,
    repair,
    roles,
    runs,
    sessions,
    status,
    tasks,
    teams,
    trees,
    workers,
)

__all__ = ["NOUNS", "OPERATIONS"]
