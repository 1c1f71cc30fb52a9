"""Codex's screen rules, as seen in version 0.169."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule, TitleRule

_BUSY = r"^[•◦] .*\besc to interrupt\)"

CODEX_SCREENS = Drawing(
    frame=Frame(
        prompt=r"^[›!](?:\s|$)",
        holds_cursor=True,
        menu=r"^\s*› \d+\. ",
        top=r"^[›•■✗✔⚠] ",
        hints=r"Ask Codex to do anything|Ask a follow-up question",
    ),
    sign=r"^(?:\[ \S+ \]|[^\x00-\x7f\w]\ufe0f?) ",
    titles=(
        TitleRule(name="title-action-required", state=State.WAITING, title=r"^\[ [!.] \] Action Required"),
        TitleRule(name="title-spinner", state=State.WORKING, title=r"^[⠀-⣿] "),
    ),
    rules=(
        Rule(
            name="permission",
            state=State.WAITING,
            menu=(r"^\s*(?:Would you like to |Allow .*\brun tool\b|Do you want to )",),
            note=(
                r"^\s*\$ (.+)$",
                r"^\s*Allow (.*\brun tool\b.*?)\??$",
                r"^\s*Would you like to ((?!run).*)\?$",
                r"^\s*Destination: (.+)$",
            ),
        ),
        Rule(name="menu", state=State.DIALOG, menu=(), note=(r"^\s*(\S.*?\?|Hooks need review|Select .*)(?:\s|$)",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(
            name="esc-to-interrupt",
            state=State.WORKING,
            box=("empty",),
            above=(_BUSY,),
            over=r"^• (?:Messages to be submitted|Queued)",
        ),
        Rule(
            name="api-error",
            state=State.ERROR,
            box=("empty",),
            above=(r"^■ (?!Conversation interrupted)",),
            coloured=True,
            note=(r"^■ (.*)$",),
        ),
        Rule(name="empty-box", state=State.IDLE, box=("empty",)),
    ),
)
