"""Open an address in the person's browser, where there is one."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress


def open_in_browser(url: str) -> None:
    """Open the URL in a browser; do nothing without a desktop. The browser's own output is hidden."""
    if (program := _opener()) is None:
        return
    with suppress(OSError):
        subprocess.Popen(
            [program, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _opener() -> str | None:
    if sys.platform == "darwin":
        return shutil.which("open")
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return shutil.which("xdg-open") if desktop and "SSH_CONNECTION" not in os.environ else None
