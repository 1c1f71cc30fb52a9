"""aider's screen rules, as seen in version 0.86, for a `command` member."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

_QUESTION = r"\(Y\)es/\(N\)o.*\]:(?:\s|$)"

AIDER_SCREENS = Drawing(
    frame=Frame(
        prompt=r"^(?:[\w-]+(?: [\w-]+){0,2})?>(?:\s|$)", menu=_QUESTION, keys=_QUESTION, menu_height=2, top=r"^─{8}"
    ),
    rules=(
        Rule(name="permission", state=State.WAITING, menu=(_QUESTION,), note=(r"^(.*\?) \(Y\)es/",)),
        Rule(name="waiting-for-model", state=State.WORKING, foot=(r"^.{0,14}Waiting for \S+$",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",), absent=(r"\S",)),
        Rule(name="empty-prompt", state=State.IDLE, box=("empty",), absent=(r"\S",)),
    ),
)
