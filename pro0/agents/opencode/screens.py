"""OpenCode's screen rules, as seen in version 1.18."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

_OPEN = r"^\s*┃\s+(?:△ |.*\besc dismiss\b)"

OPENCODE_SCREENS = Drawing(
    frame=Frame(
        prompt=r"^\s*┃ {0,2}",
        floor=r"^\s*╹▀{8}",
        holds_cursor=True,
        hints=r"Ask anything",
        menu=_OPEN,
        keys=_OPEN,
        menu_height=60,
        top=r"^[^┃]*$",
    ),
    rules=(
        Rule(
            name="permission",
            state=State.WAITING,
            menu=(r"┃\s+△ (?:Permission required|Always allow|Reject permission)",),
            note=(r"┃\s+[#←→] (\S.*?)(?:\s{3,}|$)", r"┃\s+\$ (.*?)(?:\s{3,}|$)"),
        ),
        Rule(name="question", state=State.WAITING, menu=(r"\besc dismiss\b",), note=(r"┃\s+(\S.*\?)(?:\s{3,}|$)",)),
        Rule(name="menu", state=State.DIALOG, menu=()),
        Rule(name="overlay", state=State.DIALOG, anywhere=(r"^ {8,}[^\s┃][^┃]{0,80}? {3,}esc(?: {3,}|$)",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(
            name="retrying",
            state=State.WORKING,
            box=("empty",),
            foot=(r"\bretrying in\b",),
            note=(r"^[\s■⬝]*(\S.*\[retrying in[^\]]*\])",),
        ),
        Rule(name="esc-interrupt", state=State.WORKING, box=("empty",), foot=(r"\besc (?:again to )?interrupt\b",)),
        Rule(name="empty-box", state=State.IDLE, box=("empty",), foot=(r"\bctrl\+p\b",)),
    ),
)
