"""The program. `--version` and `mcp` are answered before anything else is imported, click too."""

import sys

from pro0 import __version__
from pro0.cli import interrupts

PATIENCE = 50_000
"""Objects until the first garbage collection: importing makes none, and collecting would be a tenth of a short call."""


def entry() -> int:
    """Run the program as the shell called it; returns the exit code."""
    interrupts.leave_at_once()
    try:
        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return interrupts.INTERRUPTED
    finally:
        import gc

        interrupts.leave_at_once()
        gc.freeze()  # who ends need not look for garbage: that was a fifth of a short call


def main(arguments: list[str]) -> int:
    """Run the program with these arguments; returns the exit code."""
    if arguments == ["--version"]:
        sys.stdout.write(f"pro0 {__version__}\n")
        return 0
    if arguments == ["mcp"]:  # an agent waits for it, and needs nothing of a command line
        from pro0.mcp.server import serve

        return serve()
    import gc

    gc.set_threshold(PATIENCE)
    from pro0.cli.call import run

    interrupts.as_usual()
    return run(arguments)
