"""GitHub Copilot CLI's screen rules, as seen in version 1.0, for a `command` member."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

COPILOT_SCREENS = Drawing(
    frame=Frame(prompt=r"^❯(?:\s|$)", edge=r"^─{8}", menu=r"^│ ❯ \d+\. ", keys=r"\besc to cancel\b", top=r"^╭─"),
    rules=(
        Rule(
            name="permission",
            state=State.WAITING,
            menu=(r"^│ Do you want to (?!trust)",),
            note=(r"^│ │ (.*?)\s*│ │$",),
        ),
        Rule(name="menu", state=State.DIALOG, menu=(), note=(r"^│ (\S.*\?)\s*│$",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(name="working", state=State.WORKING, box=("empty",), foot=(r"^ \S Working\b.*\besc\b",)),
        Rule(name="empty-box", state=State.IDLE, box=("empty",), foot=(r"/ commands\b",)),
    ),
)
