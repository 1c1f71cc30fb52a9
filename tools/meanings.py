"""What the words of the program mean, one sentence for each; tests/house holds them to the program's own lists."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pro0.model.home import HookEvent
from pro0.model.need import NeedKind
from pro0.model.runtime import State
from pro0.model.task import Awaiting, Gate, Policy, Status
from pro0.model.team import PermissionMode

STATES: Mapping[State, str] = {
    State.STARTING: "The agent is being started.",
    State.WORKING: "The agent is in a turn.",
    State.IDLE: "The agent waits for a message or a task.",
    State.RUNNING: "The program runs; it shows no other state.",
    State.WAITING: "The agent asks for a permission or an answer.",
    State.DIALOG: "A dialog of the agent is open, such as a login.",
    State.DRAFT: "The agent's input holds text, so pro0 types nothing there.",
    State.ERROR: "The last turn ended with an error.",
    State.UNKNOWN: "No source tells the state.",
    State.STOPPING: "The session is being ended.",
    State.UNRESPONSIVE: "The member was told something and does not react.",
    State.UNREACHABLE: "The agent's machine is out of reach.",
    State.SHUTDOWN: "The session has ended, because it was asked to.",
    State.EXITED: "The program has ended by itself.",
    State.CRASHED: "The session ended without being asked to.",
}
NEEDS: Mapping[NeedKind, str] = {
    NeedKind.NO_LEAD: "The lead has died with every session, as after a reboot.",
    NeedKind.OWN_AGENT: "Your own agent led the team and is gone.",
    NeedKind.PERMISSION: "An agent asks for a permission.",
    NeedKind.DIALOG: "An agent shows a dialog that only a person answers.",
    NeedKind.QUESTION: "A task waits for an answer, or an agent asks one.",
    NeedKind.PLAN: "A member's plan waits for approval.",
    NeedKind.GATE: "A task waits for your approval.",
    NeedKind.REVIEW: "A task waits for your review.",
    NeedKind.ESCALATION: "Sessions make no progress on a task.",
    NeedKind.CRASH: "A member has crashed.",
    NeedKind.NOT_STARTED: "A member could not be started.",
    NeedKind.WORKTREE: "A worktree could not be made ready.",
    NeedKind.LOST: "pro0 has recognised nothing on a member's screen for 20 seconds.",
    NeedKind.ERROR: "A member's turn ended with an error.",
    NeedKind.UNRESPONSIVE: "A member does not react.",
    NeedKind.UNREACHABLE: "The machine of a member's agent is out of reach.",
    NeedKind.FAILED: "A task has failed.",
    NeedKind.STUCK: "A task can never start, since a task that it needs was cancelled or deleted.",
    NeedKind.STALLED: "A supervised tree does not go on by itself.",
    NeedKind.UNTAKEN: "A task is ready, and nobody takes it.",
    NeedKind.IDLE_CLAIM: "A member ended its turn and still holds a task.",
    NeedKind.COST: "The team has reached its cost limit.",
    NeedKind.LIMIT: "No new session of an agent starts, since its provider limits it.",
    NeedKind.MAIL: "You have unread messages.",
    NeedKind.HOOK: "A hook cannot run.",
    NeedKind.NOTICE: "The command or URL for notices fails.",
    NeedKind.LOSSES: "A repair could not save everything.",
}
HOOKS: Mapping[HookEvent, str] = {
    HookEvent.TASK_CREATED: "Before a task is made; exit 2 refuses it.",
    HookEvent.TASK_COMPLETED: "Before a task counts as completed; exit 2 refuses that.",
    HookEvent.TEAMMATE_IDLE: "When a member is about to be idle; exit 2 sends it back to work with the hook's words.",
    HookEvent.MEMBER_CHANGED: "After a member's state has changed.",
    HookEvent.TEAM_CHANGED: "After the team has begun to run, begun to stop, or stopped.",
    HookEvent.HUMAN_NEEDED: "When something new needs you.",
}
STATUSES: Mapping[Status, str] = {
    Status.PENDING: "Nobody works on it yet.",
    Status.IN_PROGRESS: "Somebody has claimed it.",
    Status.DONE: "Its work is done, and it waits for its subtasks.",
    Status.COMPLETED: "It is finished; tasks that wait for it may begin.",
    Status.FAILED: "It was given up.",
    Status.CANCELLED: "It is not wanted any more.",
}
GATES: Mapping[Gate, str] = {
    Gate.APPROVAL: "You approve the result.",
    Gate.REVIEW: "You review the change.",
    Gate.CONTENT: "You check the content.",
}
AWAITED: Mapping[Awaiting, str] = {
    Awaiting.WORK: "You do the work.",
    Awaiting.APPROVAL: "You approve or reject.",
    Awaiting.INPUT: "You answer a question.",
    Awaiting.REVIEW: "You review.",
    Awaiting.CONTENT: "You check the content.",
    Awaiting.ESCALATION: "You decide how it goes on.",
    Awaiting.CHECKPOINT: "You say whether it may go on.",
}
POLICIES: Mapping[Policy, str] = {
    Policy.POOL: "Any member that is free claims it.",
    Policy.SUPERVISED: "It gets a session of its own, and so do its subtasks, one after the other.",
    Policy.DISPATCH: "A worker in a worktree of its own does it.",
}
PERMISSIONS: Mapping[PermissionMode, str] = {
    PermissionMode.ASK: "The agent asks before it edits files or runs commands.",
    PermissionMode.EDITS: "The agent edits files without asking, and asks before it runs commands.",
    PermissionMode.PLAN: "The agent reads and plans only.",
    PermissionMode.BYPASS: "The agent asks for nothing.",
}
WORDS: Mapping[str, tuple[type[StrEnum], Mapping[Any, str]]] = {
    "States of members": (State, STATES),
    "What needs you": (NeedKind, NEEDS),
    "Hooks": (HookEvent, HOOKS),
    "Statuses of tasks": (Status, STATUSES),
    "Gates (`requires`)": (Gate, GATES),
    "What a task waits for (`awaiting`)": (Awaiting, AWAITED),
    "Ways of working (`policy`)": (Policy, POLICIES),
    "Permission modes": (PermissionMode, PERMISSIONS),
}
"""Section of the reference → the program's list, and the meaning of each word in it."""

TASK_KEYS = {
    "title": "What to do, in one line.",
    "key": "A name for this task within the file, for `blocked_by` and `parent`.",
    "description": "The details of the task.",
    "type": "task, or epic, which only groups.",
    "acceptance": "When it counts as done.",
    "labels": "A list of labels, or one text with commas.",
    "run": "A shell command; the task succeeds when it exits with 0.",
    "timeout": "Seconds until the command is ended.",
    "parent": "The key or id of its parent task.",
    "blocked_by": "Keys or ids of the tasks that have to be completed first.",
    "priority": "A whole number, lower goes first; 0 to 4 are usual, 2 is the default.",
    "assignee": "The member that it is reserved for.",
    "role": "The role of whoever works on it.",
    "requires": "The gate that you pass before it counts as completed.",
    "awaiting": "What the new task waits for from you at first.",
    "policy": "How it is worked on.",
    "agent": "The agent of its own session.",
    "shared": "True lets its session work in the project's checkout, not in a worktree.",
}
"""The keys of a task in a file of tasks or a layout."""
LAYOUT_KEYS = {
    "description": "One line about the layout.",
    "mode": "Where members are shown, as the setting `teammateMode`.",
    "lead": "The agent that leads: it plans, spawns members and hands out tasks.",
    "prompt": "What the lead agent is told first.",
    "permission_mode": "What members may do without asking.",
    "members": "The members by name: an agent's name, or a mapping of the keys of a member.",
    "windows": "The windows of tmux, each with its panes.",
    "roles": "Roles by name, each with its prompt.",
    "tasks": "The first tasks: titles, or mappings of the keys of a task.",
}
MEMBER_KEYS = {
    "name": "Its name, where members are a list.",
    "agent": "The agent that it runs.",
    "role": "A role of the layout or of `pro0 role list`.",
    "prompt": "What it is told first.",
    "argv": "The program of the agent `command`, as a list.",
    "nudge": "True lets pro0 type a line about new mail into the program of `command`.",
    "model": "The model, as the agent names it.",
    "effort": "The reasoning effort, as the agent names it.",
    "permission_mode": "What it may do without asking.",
    "window": "The window of its pane.",
    "host": "The machine that runs its program, by its name for ssh.",
    "plan": "True makes it hand in a plan before it changes anything.",
}
WINDOW_KEYS = {
    "window_name": "The window's name.",
    "layout": "How tmux lays out its panes.",
    "panes": "Names of members, or mappings of the keys of a member; `shell_command` makes a `command` member.",
}
ROLE_KEYS = {
    "name": "The role's name, where roles are a list.",
    "prompt": "What whoever has the role is told.",
}
VARIABLES = {
    "PRO0_HOME": "The folder of all teams, settings and worktrees; `~/.pro0` without it.",
    "PRO0_TEAM": "The team that commands act on; set in every session of a member.",
    "PRO0_AGENT_ID": "In a session: the member's id.",
    "PRO0_INCARNATION": "In a session: its id.",
    "PRO0_MEMBER_OF": "In a session: the home of its team.",
    "PRO0_TEAM_UID": "In a session or a hook: the team's own id, which outlives its name.",
    "PRO0_HOSTED": "In a session of another machine's team: its folder here; its commands run on the team's machine.",
    "PRO0_GRANT": "The proof that `pro0 member env` gives a program that acts as a member.",
    "PRO0_TASK_ID": "In a session of one task: that task.",
    "PRO0_PARENT_TASK_ID": "In a session of one task: its parent.",
    "PRO0_PORT_BASE": "In a member's session, and in the set-up of its worktree: the first of its twenty ports.",
    "PRO0_WORKTREE": "For `worktree: {setup, teardown}`: the worktree.",
    "PRO0_PROJECT": "For `worktree: {setup, teardown}`: the project.",
    "PRO0_NEED": "For the command of `notify`: the need, in one sentence.",
    "PRO0_STATE_FD": "For a program of yours: the file descriptor to which it writes its state.",
    "PRO0_LEAD": "In processes that belong to no session: leads, guards and servers.",
    "PRO0_AWAITS_TEAM": "For a lead that starts while its team is still being made; only pro0 sets it.",
    "PRO0_RUN": "In a command that pro0 runs: the id of that run.",
    "PRO0_TOOLS_LISTED": "For a server of tools: the file that it makes once its tools are listed; only pro0 sets it.",
    "PRO0_BRIDGE": "In a session of pi: the folder of pro0's extension.",
    "PRO0_DIRECT": "1 makes each command run in a process of its own.",
    "PRO0_DEBUG": "1 prints the traceback of a fault of pro0.",
}
"""Environment variables that belong to no setting."""

HOOK_EXITS = {
    "0": "The hook agrees.",
    "2": "The hook refuses, before a task is made or completed or when a member is about to be idle.",
    "126, 127": "The shell cannot run the hook. Before a task is made or completed this refuses; else it is noted.",
    "any other": "The hook has failed. That is noted, and changes nothing.",
}
"""Exit code of a hook → its effect."""
FILE_EXITS = {
    "2": "The file is wrong. The command has changed nothing, and says what is wrong, and where.",
    "3": "There is no such file.",
}
"""Exit codes of commands that read a layout or a file of tasks."""
SETTINGS_EXITS = {
    "2": "A settings file is wrong. The command has changed nothing, and says what is wrong in which file."
}
"""Exit codes of every command that needs the settings."""
