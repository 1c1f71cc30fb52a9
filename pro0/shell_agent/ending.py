"""How a command ended, in words."""

from pro0.children import Ending


def how(ending: Ending) -> str:
    """Return why a command counts as failed: how it ended, and the last line of its output."""
    why = ending.why or (f"exit code {ending.code}" if ending.code > 0 else f"killed by signal {-ending.code}")
    last_line = ending.tail.splitlines()[-1] if ending.tail else ""
    return f"{why}: {last_line}" if last_line else why
