"""pro0 whose clock of the wall is wrong: `skewed.py FILE ARGUMENT...`, by the seconds in FILE, read at every look.

Only that clock is wrong; what counts the seconds since the machine came up goes on as if nothing had happened.
"""

import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

OFFSET = Path(sys.argv[1]) if __name__ == "__main__" else Path()
_right = time.time


class Skewed(datetime):
    """Datetimes whose now is wrong."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz or UTC) + timedelta(seconds=offset())


def offset() -> float:
    """Return by how much the clock is wrong now."""
    return float(OFFSET.read_text())


if __name__ == "__main__":
    time.time = lambda: _right() + offset()

    from pro0.ops import context

    context.datetime = Skewed  # type: ignore[attr-defined]
    from pro0.cli.main import main

    sys.exit(main(sys.argv[2:]))
