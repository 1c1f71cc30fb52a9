"""The secrets withheld from members: other sessions' incarnations, which name processes, files and claims."""

import os
import re
from collections.abc import Callable
from contextlib import suppress

from pro0.model.caller import Who
from pro0.ops.context import Context
from pro0.store.paths import DOCUMENT

WITHHELD = "withheld"
"""The replacement for another session's incarnation."""
_KEPT_FROM = frozenset({Who.MEMBER, Who.LEAD_AGENT, Who.OUTSIDE})


def may_see(context: Context, incarnation: str) -> bool:
    """Return True when a caller may see this session's incarnation; members see only their own."""
    return context.caller.who not in _KEPT_FROM or context.caller.incarnation == incarnation


def veil(context: Context) -> Callable[[str], str]:
    """Return a function removing from a text the incarnations hidden from the caller."""
    hidden = sorted(incarnation for incarnation in _incarnations(context) if not may_see(context, incarnation))
    if not hidden:
        return str
    pattern = re.compile(rf"(?<![A-Za-z0-9-])(?:{'|'.join(map(re.escape, hidden))})(?![A-Za-z0-9-])")
    return lambda text: pattern.sub(WITHHELD, text)


def _incarnations(context: Context) -> set[str]:
    """Return the incarnations of all sessions with files in a team."""
    if context.caller.who not in _KEPT_FROM:
        return set()
    with suppress(OSError):
        names = os.listdir(context.team.paths.sessions)
        return {name.partition(".")[0] for name in names if name.endswith(DOCUMENT)} - {""}
    return set()
