"""The link that pairs a device: only a person on a terminal gets one."""

import os

from pro0.cli.context import human_only, store
from pro0.errors import ErrorCode, Refused
from pro0.model.home import Rights
from pro0.ops import trust
from pro0.ops.devices import new_code
from pro0.ops.verdicts import SCRIPTS
from pro0.terminals.asking import has_terminal


def link(url: str, rights: Rights) -> str:
    """Return the address that pairs one device; raises Refused for a member, and without a terminal."""
    human_only("pair a device")
    home = store().home
    if not has_terminal() and trust.settings(home, None, os.environ).verdicts != "scripts":
        text = "to pair a device is a person's, and this program has no terminal"
        raise Refused(text, code=ErrorCode.NO_TERMINAL, hint=f"do it in a terminal; {SCRIPTS}")
    # In the fragment, which browsers send to nobody: a log, a proxy, a referrer never has it.
    return f"{url}#pair={new_code(home, rights)}"
