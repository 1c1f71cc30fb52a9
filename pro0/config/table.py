"""The table of settings, the only source for every reader of settings."""

from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple, cast

import msgspec

from pro0.config.rules import (
    SettingRule,
    choice,
    commands,
    database,
    limit,
    mapping,
    names,
    program,
    switch,
    target,
    whole,
    word,
)
from pro0.model.agent import Definition
from pro0.model.team import WINDOW_LAYOUTS, Approver, WindowLayout

Permission = Literal["ask", "edits", "plan", "bypass"]
PERMISSIONS: tuple[Permission, ...] = ("ask", "edits", "plan", "bypass")
MAY = "ask (read), edits (read and change files), plan (read, and write a plan), bypass (everything)"
"""The permission modes in words."""
Mode = Literal["auto", "tmux", "in-process", "iterm2", "headless"]
LEAST_FIRST: tuple[Permission, ...] = ("plan", "ask", "edits", "bypass")
Speakers = Literal["terminal", "scripts"]
SPEAKERS: tuple[Speakers, ...] = ("terminal", "scripts")
APPROVERS: tuple[Approver, ...] = ("human", "lead")
MODES: tuple[Mode, ...] = ("auto", "tmux", "in-process", "iterm2", "headless")


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The table of settings: name, type, rule and default, one row per setting."""

    enabled: Annotated[bool, switch("PRO0_EXPERIMENTAL_AGENT_TEAMS", "Teams may be used.")] = True
    max_teammates: Annotated[int, limit("PRO0_MAX_TEAMMATES", "How many teammates may run at once.", 1, 100)] = 10
    teammate_mode: Annotated[Mode, choice("PRO0_TEAMMATE_MODE", "Where teammates are shown.", MODES)] = "auto"
    poll_interval_ms: Annotated[
        int,
        whole(
            "PRO0_POLL_INTERVAL_MS", "Most milliseconds between two checks; at least 1000.", 0, 3_600_000, at_least=1000
        ),
    ] = 3000
    cleanup_on_exit: Annotated[
        bool, switch("PRO0_CLEANUP_ON_EXIT", "The lead removes sockets, panes and runtime files when it ends.")
    ] = True
    end_grace_seconds: Annotated[
        int, limit("PRO0_END_GRACE_SECONDS", "Seconds from TERM to KILL when a session is ended.", 0, 600)
    ] = 10
    max_subtask_depth: Annotated[
        int, limit("PRO0_MAX_SUBTASK_DEPTH", "How many levels of subtasks there may be.", 0, 100)
    ] = 5
    max_subtasks_per_parent: Annotated[
        int,
        limit("PRO0_MAX_SUBTASKS_PER_PARENT", "How many subtasks a task may have; no limit for an epic.", 1, 10_000),
    ] = 20
    task_timeout_minutes: Annotated[
        int, limit("PRO0_TASK_TIMEOUT_MINUTES", "Most minutes of work on a subtask of a supervised task.", 1, 100_000)
    ] = 30
    max_review_cycles: Annotated[
        int, limit("PRO0_MAX_REVIEW_CYCLES", "Reviews in a row without progress before a human is asked.", 0, 10_000)
    ] = 10
    max_workers: Annotated[int, limit("PRO0_MAX_WORKERS", "How many workers there may be at once.", 1, 100)] = 10
    stuck_seconds: Annotated[
        int, limit("PRO0_STUCK_SECONDS", "Seconds of silence until a worker counts as stuck.", 1, 86_400)
    ] = 300
    task_agent: Annotated[str, word("PRO0_TASK_AGENT", "The agent for tasks that get a session of their own.")] = ""
    bell: Annotated[bool, switch("PRO0_BELL", "Terminals ring, with a desktop notice, when you are needed.")] = True
    notify: Annotated[
        str,
        target("PRO0_NOTIFY", "A command, or a URL for a POST, that is told each new need."),
    ] = ""
    ssh: Annotated[str, program("PRO0_SSH", "The command that reaches other machines, with its options.")] = "ssh"
    store: Annotated[
        str, database("PRO0_STORE", "The database for the documents of new teams; without it, files are used.")
    ] = ""
    revive_lead: Annotated[bool, switch("PRO0_REVIVE_LEAD", "A lead that has died is started again automatically.")] = (
        True
    )
    continue_after_limit: Annotated[
        bool, switch("PRO0_CONTINUE_AFTER_LIMIT", "A member goes on when the rate limit that stopped it is over.")
    ] = True
    permission_mode: Annotated[
        Permission,
        choice("PRO0_PERMISSION_MODE", "What agents may do without asking.", PERMISSIONS, rising=LEAST_FIRST),
    ] = "ask"
    plan_approval: Annotated[
        Approver,
        choice(
            "PRO0_PLAN_APPROVAL",
            "Who decides on members' plans: you alone, or the lead too.",
            APPROVERS,
            rising=APPROVERS,
        ),
    ] = "human"
    verdicts: Annotated[
        Speakers,
        choice(
            "", "Whether verdicts need a terminal, or any program of yours may give them.", SPEAKERS, rising=SPEAKERS
        ),
    ] = "terminal"
    window_layout: Annotated[
        WindowLayout, choice("PRO0_WINDOW_LAYOUT", "How tmux lays out a team's windows.", WINDOW_LAYOUTS)
    ] = "tiled"
    panes_per_window: Annotated[
        int, whole("PRO0_PANES_PER_WINDOW", "Members in one window at most; 0 for as many as have room.", 0, 100)
    ] = 0
    hook_timeout_seconds: Annotated[
        int, limit("PRO0_HOOK_TIMEOUT_SECONDS", "Seconds until a hook that does not end is ended.", 1, 86_400)
    ] = 60
    pass_environment: Annotated[
        tuple[str, ...], names("PRO0_PASS_ENVIRONMENT", "Variables that members get beyond the usual ones.")
    ] = ()
    worktree: Annotated[
        dict[str, str],
        commands(
            "PRO0_WORKTREE_COMMANDS",
            "Commands that set a new worktree up, and clean up before it goes.",
            ("setup", "teardown"),
        ),
    ] = {}
    agents: Annotated[dict[str, Definition], mapping("PRO0_AGENTS", "Agents besides pro0's own, by name.")] = {}


class Setting(NamedTuple):
    """One row of `SETTINGS`, as shown to people, in the documents and by `pro0 config`."""

    name: str
    attribute: str
    default: object
    rule: SettingRule


def _rows() -> Iterable[Setting]:
    for field in msgspec.structs.fields(Settings):
        default = {} if field.default is msgspec.NODEFAULT else field.default
        yield Setting(field.encode_name, field.name, default, cast(SettingRule, field.type.__metadata__[0]))


SETTINGS = tuple(_rows())
NAMES = tuple(setting.name for setting in SETTINGS)
