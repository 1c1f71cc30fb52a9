"""Which operations exist, and who may call each."""

from pro0.ops import (
    costs,
    delivery,
    gates,
    hiring,
    importing,
    members,
    messages,
    outside,
    repair,
    roles,
    runs,
    status,
    tasks,
    teams,
    trees,
)
from pro0.ops.context import OPERATIONS

NOUNS = (
    costs,
    delivery,
    gates,
    hiring,
    importing,
    members,
    messages,
    outside,
    repair,
    roles,
    runs,
    status,
    tasks,
    teams,
    trees,
)

__all__ = ["NOUNS", "OPERATIONS"]
