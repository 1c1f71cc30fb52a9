"""Paths of pro0's own files, in a checkout or installed."""

import sys
from pathlib import Path

from pro0 import looking

_PACKAGE = Path(__file__).absolute().parent

GUARD = _PACKAGE / "guard" / "__main__.py"
"""The program in every pane."""

REVIVED = "--revived"
"""The option for a lead started by a guard."""

PI_BRIDGE = _PACKAGE / "agents" / "pi" / "bridge.mjs"
"""The extension for every pi agent of a team."""

PRICES = _PACKAGE / "ops" / "team" / "prices.json"
"""The list prices of models, made by `make prices`."""

_INSTALLED = {
    "layouts": Path("share", "pro0", "layouts"),
    "man": Path("share", "man", "man1"),
    "man5": Path("share", "man", "man5"),
    "man7": Path("share", "man", "man7"),
}


def guard_argv(launch: Path) -> tuple[str, ...]:
    """Return the argv to start a guard with its launch file.

    Python starts without site (-S), apart from the user's environment and folder (-I). So a guard starts in a third of
    the time. Nobody's `PYTHONPATH` or `sitecustomize` gets into it.
    """
    return (sys.executable, "-I", "-S", str(GUARD), str(launch.absolute()))


def lead_argv(team: str, *, revived: bool = False) -> tuple[str, ...]:
    """Return the argv to start the lead of a team; `revived` when a guard restarts it."""
    return (sys.executable, "-I", "-m", "pro0", "lead", team, *((REVIVED,) if revived else ()))


def link_argv(record: Path) -> tuple[str, ...]:
    """Return the argv of the program of a session whose agent is on another machine."""
    return (sys.executable, "-I", "-m", "pro0.link", str(record.absolute()))


def data(name: str) -> Path:
    """Return the folder of the shipped `layouts`, `man`, `man5` or `man7`; KeyError for any other name."""
    place = _INSTALLED[name]
    checkout = _PACKAGE.parent / name
    return checkout if looking.is_file(_PACKAGE.parent / "pyproject.toml") else _data_root() / place


def _data_root() -> Path:
    """Return the folder below which the installer of this package has put its other files."""
    if sys.prefix != sys.base_prefix and _PACKAGE.is_relative_to(sys.prefix):
        return Path(sys.prefix)
    import sysconfig  # late: it takes 15 ms, and a virtual environment does not need it

    for scheme in sysconfig.get_scheme_names():
        if Path(sysconfig.get_path("purelib", scheme)) == _PACKAGE.parent:
            return Path(sysconfig.get_path("data", scheme))
    return Path(sys.prefix)
