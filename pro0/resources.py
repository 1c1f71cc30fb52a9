"""Where pro0's own files are, in a checkout or installed."""

import sys
from pathlib import Path

_PACKAGE = Path(__file__).absolute().parent

GUARD = _PACKAGE / "guard" / "__main__.py"
"""The program that runs in every pane."""

REVIVED = "--revived"
"""What a lead is told that a guard has started."""

PI_BRIDGE = _PACKAGE / "agents" / "pi" / "bridge.mjs"
"""The extension that every pi of a team is started with."""

_INSTALLED = {"layouts": Path("share", "pro0", "layouts"), "man": Path("share", "man", "man1")}


def guard_argv(launch: Path) -> tuple[str, ...]:
    """Return the argv that starts a guard for a launch file.

    Without site (-S) and apart from the user's environment and folder (-I): a guard starts at a third of the price,
    and nobody's `PYTHONPATH` or `sitecustomize` gets into it.
    """
    return (sys.executable, "-I", "-S", str(GUARD), str(launch.absolute()))


def lead_argv(team: str, *, revived: bool = False) -> tuple[str, ...]:
    """Return the argv that starts the lead of a team; `revived` when a guard found that there is none."""
    return (sys.executable, "-I", "-m", "pro0", "lead", team, *((REVIVED,) if revived else ()))


def data(name: str) -> Path:
    """Return the folder of what is shipped beside the code, `layouts` or `man`; KeyError for any other name."""
    installed = Path(sys.prefix) / _INSTALLED[name]
    checkout = _PACKAGE.parent / name
    return checkout if (_PACKAGE.parent / "pyproject.toml").is_file() else installed
