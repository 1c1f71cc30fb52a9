"""All errors of pro0 as one tree. Each branch has one exit code.

Pro0Error 1
├── BadInput 2             the arguments of the call cannot be used
├── NotFound 3             no such team, member, task, recipient
├── Refused 4              conflict, not allowed, not ready, awaiting
├── StoreError 5           corrupt, newer schema, lock time-out
│   ├── Unwritable 5       nothing can be written: disk full, over quota, read-only, broken
│   └── KeepsNoTeam 5      the database has no tables of pro0, or this role may not use them
├── EnvironmentMissing 6   tmux, git or an agent is missing; an unsafe path
├── Kept 7                 finished, but something was kept on purpose
└── TimedOut 124           a wait reached its time limit
"""

from enum import StrEnum


class ErrorCode(StrEnum):
    """What went wrong, in one word for programs; `meaning` says it in a sentence."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "ErrorCode":
        """Make a member from a value and its meaning."""
        code = str.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    FAILED = "failed", "The act failed."
    BAD_INPUT = "bad_input", "The arguments of the call cannot be used."
    NOT_FOUND = "not_found", "The named thing does not exist."
    REFUSED = "refused", "The act is not allowed now, or not for this caller."
    STORE_ERROR = "store_error", "A file of the store cannot be read, written or locked."
    ENVIRONMENT = "environment", "A program, machine or path that the act needs is missing or unsafe."
    KEPT = "kept", "Something was kept on purpose."
    TIMED_OUT = "timed_out", "A wait reached its time limit."
    AGENT_MISSING = "agent_missing", "The program of an agent is not installed."
    BACKEND_STALE = "backend_stale", "The pane or log of a session is gone, or no longer the team's."
    BAD_IDENTITY = "bad_identity", "A variable that names the caller has an invalid value."
    BAD_IMPORT = "bad_import", "A file to be imported has errors."
    BAD_LAYOUT = "bad_layout", "A layout has errors."
    BAD_SETTING = "bad_setting", "A setting has an invalid value."
    BLOCKED_BY_HOOK = "blocked_by_hook", "A hook refused."
    CLOCK = "clock", "The clocks of machines that share a team differ."
    CONFLICT = "conflict", "Somebody else's change or file is in the way."
    CYCLE = "cycle", "The tasks would wait for each other in a circle."
    DECIDED = "decided", "A person has given the verdict already."
    DEMO_FAILED = "demo_failed", "A check of the demo failed."
    DIRTY = "dirty", "A checkout has changes that are not committed."
    DISABLED = "disabled", "Agent teams are turned off by the settings."
    GATED = "gated", "A person has to give a verdict first."
    GIT_FAILED = "git_failed", "A call of git failed."
    IDENTITY_MISMATCH = "identity_mismatch", "The process claims to be another session than it is."
    IDENTITY_UNPROVEN = "identity_unproven", "Nothing proves the session that the process claims."
    IN_USE = "in_use", "Something is still used by others."
    INTERNAL = "internal", "An error in pro0 itself."
    INVALID_GRANT = "invalid_grant", "A grant is unknown, revoked or expired."
    INVALID_TEXT = "invalid_text", "A text is not valid Unicode."
    IT2_FAILED = "it2_failed", "A call of iTerm2's program failed."
    LEAD_ALIVE = "lead_alive", "The lead of the team runs, so its files are not repaired."
    LEAD_STOPPED = "lead_stopped", "The lead of the team was asked to stop."
    LIBRARY_MISSING = "library_missing", "An optional library is not installed."
    LIVE_SESSIONS = "live_sessions", "Members of the team still run."
    LOCK_TIMEOUT = "lock_timeout", "Another process held a lock for too long."
    NEWER_SCHEMA = "newer_schema", "A newer pro0 wrote the file."
    NO_DIRECTORY = "no_directory", "The present directory is gone."
    NO_GRANT = "no_grant", "The member has no grant."
    NO_PLAN = "no_plan", "No plan was handed in yet."
    NO_PLAN_REQUIRED = "no_plan_required", "Nobody asked the member for a plan."
    NO_REPOSITORY = "no_repository", "The directory is not in a git repository."
    NO_REQUEST = "no_request", "Nobody asked the member to shut down."
    NO_SESSION = "no_session", "The session that worked on the task has ended."
    NO_TEAM = "no_team", "No team belongs to the present directory."
    NO_TERMINAL = "no_terminal", "The act needs a terminal."
    NOT_ALLOWED = "not_allowed", "The caller may never do this."
    NOT_AN_EPIC = "not_an_epic", "The task is no epic."
    NOT_MEMBER = "not_member", "The caller belongs to another team, or to none."
    NOT_OURS = "not_ours", "The process or pane was not started by pro0."
    NOT_OWNER = "not_owner", "Another member has claimed the task."
    NOT_READY = "not_ready", "The task cannot be worked on yet."
    NOT_TRUSTED = "not_trusted", "A person has not agreed to commands of this file."
    NOTHING_TO_SHOW = "nothing_to_show", "The team has no pane to show."
    OUTPUT = "output", "The answer cannot be written to stdout."
    OVER_BUDGET = "over_budget", "The team has reached its cost limit."
    PAUSED = "paused", "The team is paused."
    PAIRING_LOCKED = "pairing_locked", "Too many pairing codes were wrong."
    PIN_DIFFERS = "pin_differs", "The two new PINs are not the same."
    PIN_LOCKED = "pin_locked", "Too many PINs were wrong."
    PIN_NEEDED = "pin_needed", "A verdict PIN is set, and none was given."
    RECIPIENT_ENDED = "recipient_ended", "The member has ended."
    RESERVED = "reserved", "The task is reserved for another member."
    STALE_ANSWER = "stale_answer", "The task has changed since it was shown."
    STALE_CLAIM = "stale_claim", "The claim belongs to an earlier session."
    STALE_PLAN = "stale_plan", "Another plan has been handed in since."
    STALE_SESSION = "stale_session", "The caller's session has ended or been replaced."
    STAYS = "stays", "A member did not agree to end."
    STOPPING = "stopping", "The team is stopping."
    STORE_CORRUPT = "store_corrupt", "A file of the store is damaged."
    TASK_FAILED = "task_failed", "A task failed."
    TASK_SESSION = "task_session", "The session is for one task only."
    TMUX_FAILED = "tmux_failed", "A call of tmux failed."
    TMUX_MISSING = "tmux_missing", "tmux is not installed."
    TMUX_TIMEOUT = "tmux_timeout", "tmux did not answer."
    TOO_DEEP = "too_deep", "The subtask would be too many levels deep."
    TOO_LARGE = "too_large", "A file or text is too large."
    TOO_MANY = "too_many", "A limit on the number of such items is reached."
    UNREACHED = "unreached", "Another machine does not answer, or does not let pro0 in."
    UNKNOWN_SETTING = "unknown_setting", "There is no such setting."
    UNSAFE_PATH = "unsafe_path", "A path is a link, belongs to another user, or cannot be used."
    USAGE = "usage", "The command line has an error."
    WAITS = "waits", "The team waits for a person or a member."
    WHICH_TEAM = "which_team", "The project has several teams."
    WORK_FAILED = "work_failed", "Tasks of the team failed, or cannot be done."
    WRONG_CODE = "wrong_code", "A pairing code is wrong, used up or too old."
    WRONG_PHASE = "wrong_phase", "The act does not fit the present state."
    WRONG_PIN = "wrong_pin", "The PIN is wrong."


class Pro0Error(Exception):
    """A failure for a person to read: one sentence, a code for programs, and at most one hint."""

    exit_code = 1
    code = ErrorCode.FAILED
    of_team: bool
    """True if the hint helps only while the team is there."""

    def __init__(
        self, message: str, *, code: ErrorCode | None = None, hint: str | None = None, of_team: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.of_team = of_team
        if code:
            self.code = code


class BadInput(Pro0Error):
    """The arguments of the call cannot be used."""

    exit_code = 2
    code = ErrorCode.BAD_INPUT


def unread(error: OSError) -> BadInput:
    """Return the error for an unreadable stdin: a folder, a broken disk, or a write-only file."""
    hint = "give a file or a pipe that can be read: < FILE"
    return BadInput(f"stdin cannot be read: {error.strerror or error}", hint=hint)


class NotFound(Pro0Error):
    """The named thing does not exist."""

    exit_code = 3
    code = ErrorCode.NOT_FOUND


class Refused(Pro0Error):
    """The act is not allowed now, or not for this caller; nothing changed."""

    exit_code = 4
    code = ErrorCode.REFUSED


class StoreError(Pro0Error):
    """A file of the store cannot be read, written or locked; it stays as it is."""

    exit_code = 5
    code = ErrorCode.STORE_ERROR


class Unwritable(StoreError):
    """Nothing can be written: the disk is full, over quota, read-only or broken. Acts without the disk still work."""


class KeepsNoTeam(StoreError):
    """The database answers but has no team for this role: it was made anew, or tables or rights are missing."""


class EnvironmentMissing(Pro0Error):
    """Something outside pro0 that the act needs, such as a program or a machine, is missing or unsafe."""

    exit_code = 6
    code = ErrorCode.ENVIRONMENT


class Kept(Pro0Error):
    """The act finished, but kept something on purpose."""

    exit_code = 7
    code = ErrorCode.KEPT


class TimedOut(Pro0Error):
    """A wait reached its time limit."""

    exit_code = 124
    code = ErrorCode.TIMED_OUT
