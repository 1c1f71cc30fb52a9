"""The rules for the screen that our own client draws: a check of its report, and what stands in for it."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

_FOOT = r"^── (?:starting|working|idle|error|waiting|unknown)\b"
ACP_SCREENS = Drawing(
    frame=Frame(prompt=r"^›(?:\s|$)", foot=_FOOT, menu=r"(?!)", keys=r"(?!)"),
    rules=(
        Rule(
            name="waiting",
            state=State.WAITING,
            foot=(r"^── waiting\b",),
            note=(r"^── waiting for permission: (.*?) · ",),
        ),
        Rule(name="typed", state=State.DRAFT, box=("typed",), foot=(_FOOT,)),
        Rule(name="starting", state=State.STARTING, box=("empty",), foot=(r"^── starting\b",)),
        Rule(name="working", state=State.WORKING, box=("empty",), foot=(r"^── working\b",)),
        Rule(name="error", state=State.ERROR, box=("empty",), foot=(r"^── error\b",), note=(r"^── error: (.*)",)),
        Rule(name="idle", state=State.IDLE, box=("empty",), foot=(r"^── idle\b",)),
    ),
)
