"""A plan that a member has to have approved before it changes anything."""

from typing import Literal

from pro0.model.stored import Count, Moment, Stored, Tag

PLAN_LIMIT = 64 * 1024
"""Bytes of a plan: it is kept in wanted.json."""

Verdict = Literal["", "approved", "rejected"]
Approver = Literal["human", "lead"]
"""Who gives the verdict: the person alone, or the lead agent too."""


class PlanGate(Stored, frozen=True):
    """What has become of it: required, handed in, then approved or rejected; a rejected member hands in another."""

    id: str = ""
    """Of the plan that was handed in last, made of its text and its session; empty for none yet."""
    text: str = ""
    incarnation: Tag | Literal[""] = ""
    """The session that has handed it in."""
    at: Moment | None = None
    verdict: Verdict = ""
    by: str = ""
    feedback: str = ""
    """What was wrong with it, for one that was rejected."""
    decided_at: Moment | None = None
    generation: Count = 0
    """The session that begins with the approval, 0 before it."""

    @property
    def approved(self) -> bool:
        """Return whether the member may go on."""
        return self.verdict == "approved"

    @property
    def stage(self) -> str:
        """Return how it stands, in a word or two."""
        return self.verdict or ("handed in" if self.id else "required")
