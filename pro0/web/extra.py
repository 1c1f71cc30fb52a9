"""The libraries of the page, an optional part of the installation."""

from importlib.util import find_spec

from pro0 import installation
from pro0.errors import EnvironmentMissing, ErrorCode

LIBRARIES = ("segno", "starlette", "uvicorn", "websockets")


def require_libraries() -> None:
    """Raise EnvironmentMissing, with the one command that installs them, when libraries are missing."""
    if missing := [name for name in LIBRARIES if find_spec(name) is None]:
        text = f"the page needs {', '.join(missing)}, not installed here"
        raise EnvironmentMissing(text, code=ErrorCode.LIBRARY_MISSING, hint=installation.adding("web"))
