"""The caller of a change."""

from datetime import datetime
from enum import StrEnum

import msgspec

from pro0.model.ids import HUMAN, LEAD
from pro0.model.stored import Document


class Pin(Document, frozen=True, kw_only=True):
    """pin.json: the hash of the PIN that a person's verdicts require, "" for none."""

    salt: str = ""
    hash: str = ""
    """scrypt of the PIN with the salt, both as hex."""
    wrong: int = 0
    """Wrong tries since the last right one."""
    locked_until: datetime | None = None


class Who(StrEnum):
    """The kinds of callers. Verdicts and other human acts belong to a human alone (behaviour 2.3)."""

    HUMAN = "human"
    LEAD = "lead"
    LEAD_AGENT = "lead_agent"
    MEMBER = "member"
    OUTSIDE = "outside"
    """A person's own agent outside of any team: it may only make a team, which it then leads (behaviour 3.16)."""


ANYONE = frozenset(Who) - {Who.OUTSIDE}
PEOPLE_AND_AGENTS = frozenset({Who.HUMAN, Who.LEAD_AGENT, Who.MEMBER})
HUMAN_ONLY = frozenset({Who.HUMAN})
IN_CHARGE = frozenset({Who.HUMAN, Who.LEAD_AGENT})
LEAD_ONLY = frozenset({Who.LEAD})


class Caller(msgspec.Struct, frozen=True):
    """A caller with its address; a member also has the incarnation of its session."""

    who: Who
    agent_id: str
    incarnation: str


THE_HUMAN = Caller(Who.HUMAN, HUMAN, HUMAN)
THE_LEAD = Caller(Who.LEAD, LEAD, LEAD)
