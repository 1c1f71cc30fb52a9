"""Where the store is; with as good as no import, for programs that many agents start at once."""

import os
from collections.abc import Mapping

HOME_VARIABLE = "PRO0_HOME"


def root(environment: Mapping[str, str]) -> str:
    """Return the root of the store as it is said: PRO0_HOME, else ~/.pro0; `paths.home` checks it."""
    return environment.get(HOME_VARIABLE) or os.path.expanduser("~/.pro0")  # noqa: PTH111 - pathlib takes long to import
