"""Words of other programs for pro0's commands. Such a word never runs a command; the error names the right one."""

from collections.abc import Container

_MAKE = ("create", "add", "start", "spawn")
_REMOVE = ("delete", "remove", "cleanup", "shutdown")
_END = ("stop", "kill", "shutdown", "cancel")
_LOOK = ("show", "status", "get")
_LINES = ("logs", "peek")

SYNONYMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("new", "create", "add", "make", "init", "launch", "open"), _MAKE),
    **dict.fromkeys(("rm", "delete", "remove", "destroy", "purge", "clean"), _REMOVE),
    **dict.fromkeys(("kill", "stop", "end", "terminate", "quit", "exit", "down"), _END),
    **dict.fromkeys(("show", "info", "view", "inspect", "describe", "get", "status"), _LOOK),
    **dict.fromkeys(("log", "logs", "output", "tail"), _LINES),
    **dict.fromkeys(("edit", "set", "change", "rename"), ("update", "edit", "set")),
    **dict.fromkeys(("attach", "enter", "watch", "select"), ("attach", "focus")),
    **dict.fromkeys(("ls", "list", "ps"), ("list",)),
    "restart": ("resume", "restart", "retry"),
    "up": ("start",),
    "continue": ("resume",),
    "finish": ("complete",),
    "send": ("send", "comment"),
    "msg": ("send",),
    "message": ("send",),
    "mail": ("inbox",),
    "settings": ("config",),
    "check": ("doctor",),
}
"""For each word: the commands that it may mean, the likeliest first."""


def command_for(word: str, commands: Container[str]) -> str:
    """Return the first of the known commands that a word may mean, "" for none."""
    return next((command for command in SYNONYMS.get(word, ()) if command in commands), "")
