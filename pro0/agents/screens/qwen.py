"""Qwen Code's screen rules, as seen in version 0.15, for a `command` member."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

QWEN_SCREENS = Drawing(
    frame=Frame(
        prompt=r"^[>!*](?:\s|$)",
        edge=r"^─{8}",
        hints=r"Type your (?:message|shell command)",
        hint_colours=("38;5;103",),
        menu=r"^\s*│?\s*[›●] \d+\. ",
        keys=r"^\s*╰─+╯",
        top=r"^\s*╭─",
    ),
    rules=(
        Rule(
            name="permission",
            state=State.WAITING,
            menu=(r"\bAllow execution\b|\bApply this change\b|\ballow once\b",),
            note=(r"│\s+\?\s+(.*?)\s*←?\s*│$",),
        ),
        Rule(name="menu", state=State.DIALOG, menu=(), note=(r"│\s*(\S.*\?)\s*│$",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(
            name="esc-to-cancel",
            state=State.WORKING,
            box=("empty",),
            above=(r"^  .*\besc to cancel\)",),
            over=r"^  (?![✦●✕✓>╭│╰])\S",
        ),
        Rule(name="api-error", state=State.ERROR, box=("empty",), above=(r"^\s*✕ .*Error",), note=(r"^\s*✕ (.*)$",)),
        Rule(name="empty-box", state=State.IDLE, box=("empty",)),
    ),
)
