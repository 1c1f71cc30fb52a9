"""Which operations exist, and who may call each."""

from pro0.ops import (
    costs,
    delivery,
    feed,
    gates,
    grants,
    hiring,
    importing,
    members,
    messages,
    outside,
    plan_approval,
    progress,
    repair,
    roles,
    runs,
    status,
    tasks,
    teams,
    trees,
    workers,
)
from pro0.ops.context import OPERATIONS

NOUNS = (
    costs,
    delivery,
    feed,
    gates,
    grants,
    hiring,
    importing,
    members,
    messages,
    outside,
    plan_approval,
    progress,
    repair,
    roles,
    runs,
    status,
    tasks,
    teams,
    trees,
    workers,
)

__all__ = ["NOUNS", "OPERATIONS"]
