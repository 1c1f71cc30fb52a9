"""The error of a look that failed: it proves neither that a process lives nor that it has ended."""

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""What a look at a process meets that is gone, or that is a stranger's and hidden."""


def unseen(error: OSError) -> Exception:
    """Return the error for a look that anything else made fail, such as too many open files."""
    from pro0.errors import EnvironmentMissing  # late: it would cost each guard 4 ms

    message = f"the system's table of processes cannot be read: {error.strerror or error}"
    return EnvironmentMissing(message, hint="once more, in a moment")
