"""Find libghostty-vt, the library of our own terminals, or say what is missing."""

import sys
from importlib.util import find_spec
from pathlib import Path

from pro0 import looking
from pro0.errors import EnvironmentMissing, ErrorCode

VERSION = "0.1.3"
"""The one supported version of pyghostty: pro0/terminals/ghostty.py knows its library's interface."""


def library() -> Path:
    """Return the path of libghostty-vt; raises EnvironmentMissing, naming the missing part."""
    spec = find_spec("pyghostty")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("pyghostty is not installed")
    package = Path(next(iter(spec.submodule_search_locations)))
    if not looking.is_folder(package.parent / f"pyghostty-{VERSION}.dist-info"):
        raise _missing(f"the version of pyghostty is not {VERSION}")
    suffix = "dylib" if sys.platform == "darwin" else "so"
    file = package / "_lib" / f"libghostty-vt.{suffix}"
    if not looking.is_file(file):
        raise _missing(f"pyghostty has no {file.name}")
    return file


def how_to_mend() -> str:
    """Return what a person may do where our own terminals are unavailable."""
    from pro0.installation import adding

    return f"{adding('view')}, or use --mode tmux or --mode headless"


def missing() -> str:
    """Return the reason our own terminals are unavailable here, or "" when they are available."""
    try:
        library()
    except EnvironmentMissing as error:
        return error.message
    return ""


def _missing(text: str) -> EnvironmentMissing:
    return EnvironmentMissing(text, code=ErrorCode.LIBRARY_MISSING, hint=how_to_mend())
