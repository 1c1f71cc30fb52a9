"""The lists of tools for each kind of caller, as files. `make schemas` writes them, since making them is slow."""

import json
import os
from collections.abc import Collection

from pro0.mcp.protocol import Listing
from pro0.model.ids import LEAD
from pro0.ops.identity import TASK_ID, session_of
from pro0.store.root import root

FOLDER = os.path.join(os.path.dirname(__file__), "listed")  # noqa: PTH118, PTH120 - pathlib takes a while to import
LEAD_AGENT, MEMBER, ONE_TASK, OUTSIDE = KINDS = "lead_agent", "member", "one_task", "outside"


def kind_of_caller() -> str:
    """Return the kind of caller: the lead agent, a member, a member's session for one task, or an agent outside teams.

    Raises Refused for an environment that names somebody without a proof.
    """
    session = session_of(os.environ, root(os.environ))
    if session is None:
        return OUTSIDE
    if session[2] == LEAD:
        return LEAD_AGENT
    return ONE_TASK if os.environ.get(TASK_ID) else MEMBER


def listing(kind: str, only: Collection[str] = ()) -> Listing:
    """Return the instructions and the tools for a kind of caller: all of them, or those in `only`."""
    with open(file(kind), "rb") as stream:
        document = json.load(stream)
    tools = [tool for tool in document["tools"] if not only or tool["name"] in only]
    return Listing(str(document["instructions"]), tools)


def file(kind: str) -> str:
    """Return the path of the list for one kind of caller."""
    return f"{FOLDER}{os.sep}{kind}{os.extsep}json"
