"""All errors of pro0 as one tree. Each branch has one exit code.

Pro0Error 1
├── BadInput 2             the words of the call are off
├── NotFound 3             no such team, member, task, recipient
├── Refused 4              conflict, not allowed, not ready, awaiting
├── StoreError 5           corrupt, newer schema, lock time-out
│   └── Unwritable 5       the disk takes nothing: full, over quota, read-only, broken
├── EnvironmentMissing 6   tmux, git or an agent is missing; an unsafe path
├── Kept 7                 finished, but something was kept on purpose
└── TimedOut 124           the limit of a wait ran out
"""


class Pro0Error(Exception):
    """A failure for a person to read: one sentence, a code for programs, and at most one hint."""

    exit_code = 1
    code = "failed"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code


class BadInput(Pro0Error):
    """The words of the call cannot be used."""

    exit_code = 2
    code = "bad_input"


class NotFound(Pro0Error):
    """The named thing does not exist."""

    exit_code = 3
    code = "not_found"


class Refused(Pro0Error):
    """The act is not allowed now, or not for this caller; nothing changed."""

    exit_code = 4
    code = "refused"


class StoreError(Pro0Error):
    """A file of the store cannot be read, written or locked; it stays as it is."""

    exit_code = 5
    code = "store_error"


class Unwritable(StoreError):
    """The disk takes nothing: full, over quota, read-only or broken. Acts without the disk still work."""


class EnvironmentMissing(Pro0Error):
    """An outside thing needed for the act is missing or unsafe."""

    exit_code = 6
    code = "environment"


class Kept(Pro0Error):
    """The act finished, but kept something on purpose."""

    exit_code = 7
    code = "kept"


class TimedOut(Pro0Error):
    """The limit of a wait ran out."""

    exit_code = 124
    code = "timed_out"
