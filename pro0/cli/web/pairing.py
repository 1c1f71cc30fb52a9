"""The link that pairs a device: only a person on a terminal gets one."""

import os
from importlib.util import find_spec
from io import StringIO

from pro0.cli.context import human_only, store
from pro0.cli.output import drawable
from pro0.errors import ErrorCode, Refused
from pro0.model.home import Rights
from pro0.ops import trust
from pro0.ops.devices import new_code
from pro0.ops.verdicts import SCRIPTS
from pro0.terminals.asking import has_terminal

_WHITE_ON_BLACK = "\x1b[38;5;231;48;5;16m{}\x1b[0m"
"""Fixed colours, so that a camera reads the code on any terminal. The light parts of the code are drawn."""


def link(url: str, rights: Rights) -> str:
    """Return the address that pairs one device; raises Refused for a member, and without a terminal."""
    human_only("pair a device")
    home = store().home
    if not has_terminal() and trust.settings(home, None, os.environ).verdicts != "scripts":
        text = "only a person may pair a device, and this program has no terminal"
        raise Refused(text, code=ErrorCode.NO_TERMINAL, hint=f"do it in a terminal; {SCRIPTS}")
    # In the fragment, which browsers never send: so it gets into no log, proxy or referrer.
    return f"{url}#pair={new_code(home, rights)}"


def picture(address: str) -> str:
    """Return an address as the lines of a QR code; "" for a terminal that cannot draw it."""
    if not drawable() or find_spec("segno") is None:
        return ""
    import segno

    drawn = StringIO()
    segno.make(address, error="l", micro=False).terminal(drawn, compact=True)
    return "\n".join(map(_WHITE_ON_BLACK.format, drawn.getvalue().splitlines()))
