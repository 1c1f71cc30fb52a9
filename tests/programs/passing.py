"""A process that tries to do what no member may: `passing.py FILE`, as whoever the system takes it for.

FILE has one line of JSON: for each operation that is not a member's, the exit code and the code of what came of it.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pro0.errors import Pro0Error
from pro0.ops.context import Context, caller_of
from pro0.store.paths import home
from pro0.store.teams import Store
from tests.ops.test_permissions import CALLS, FORBIDDEN


def attempt(name: str) -> tuple[int, str]:
    """Call an operation as whoever this is, and return how that ended."""
    try:
        root = home(os.environ)
        caller, _ = caller_of(os.environ, root)
        CALLS[name][1](Context(Store(root).team("alpha"), caller))
    except Pro0Error as error:
        return error.exit_code, error.code
    return 0, "done"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.with_suffix(".new").write_text(json.dumps({name: attempt(name) for name in FORBIDDEN}))
    file.with_suffix(".new").rename(file)
