"""The operations of pro0, and the callers allowed for each."""

from pro0.ops import grants
from pro0.ops.context import OPERATIONS
from pro0.ops.mail import delivery, messages
from pro0.ops.repair import repair
from pro0.ops.tasks import gates, importing, roles, tasks, trees
from pro0.ops.team import costs, feed, members, needs, outside, plan_approval, progress, status, teams
from pro0.ops.work import diffs, hiring, runs, workers

NOUNS = (
    costs,
    delivery,
    diffs,
    feed,
    gates,
    grants,
    hiring,
    importing,
    members,
    messages,
    needs,
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
