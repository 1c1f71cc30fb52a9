"""Which operations exist, and who may call each."""

from pro0.ops import costs, delivery, members, messages, outside, repair, status, tasks, teams
from pro0.ops.context import OPERATIONS

NOUNS = (costs, delivery, members, messages, outside, repair, status, tasks, teams)

__all__ = ["NOUNS", "OPERATIONS"]
