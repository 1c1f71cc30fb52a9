"""What is listed for each kind of caller: written beforehand from the table of tools, since to make it takes long."""

import os
from pathlib import Path

from pro0.mcp.protocol import Listing
from pro0.mcp.wire import decode
from pro0.model.ids import LEAD
from pro0.ops.identity import session_of
from pro0.store.paths import DOCUMENT

FOLDER = Path(__file__).with_name("listed")
LEAD_AGENT, MEMBER, OUTSIDE = KINDS = "lead_agent", "member", "outside"


def kind_of_caller(home: Path) -> str:
    """Return who this process speaks for: the lead agent, a member, or an agent outside every team."""
    session = session_of(os.environ, home)
    if session is None:
        return OUTSIDE
    if session[2] is None:  # only a guard was found: what its report says takes longer to find out
        from pro0.ops.context import caller_of

        return str(caller_of(os.environ, home)[0].who)
    return LEAD_AGENT if session[2] == LEAD else MEMBER


def listing(kind: str) -> Listing:
    """Return what a caller of this kind is told."""
    found = decode(file(kind).read_bytes())
    assert isinstance(found, dict)
    return Listing(str(found["instructions"]), found["tools"])


def file(kind: str) -> Path:
    """Return where the list of one kind of caller is."""
    return FOLDER / f"{kind}{DOCUMENT}"
