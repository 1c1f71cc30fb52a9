"""The exit codes of the program, from its error classes."""

from collections.abc import Iterator

from pro0 import errors
from pro0.errors import Pro0Error


def exit_codes() -> Iterator[tuple[str, str]]:
    """Yield each exit code with what it means."""
    yield "0", "The act is done."
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, Pro0Error):
            above = [parent.exit_code for parent in kind.__bases__ if issubclass(parent, Pro0Error)]
            if kind.exit_code not in above:
                yield str(kind.exit_code), str(kind.__doc__)
    yield "130", "The person interrupted the act."
