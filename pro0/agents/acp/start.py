"""What our client is started with, and what it leaves in its session's folder, by file."""

import msgspec

SETTINGS = "acp.json"
"""What to run, and how to begin."""
USED = "used.json"
"""What the session has cost."""


class AcpStart(msgspec.Struct, omit_defaults=True):
    """What a client starts with."""

    argv: tuple[str, ...]
    server: tuple[str, ...]
    """The command of pro0's own tools."""
    session: str = ""
    """The id of the session to resume, empty for a new one."""
    lost: str = ""
    """The first prompt of a new session when that one cannot be resumed."""
    who: str = ""
    """What the agent is told after it has compacted its conversation."""
    mailbox: str = ""
    """The file of the member's mailbox, empty where it is on another machine."""
