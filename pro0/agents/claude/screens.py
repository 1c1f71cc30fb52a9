"""Claude Code's screen rules, as seen in version 2.1."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule, TitleRule

_EDGE = r"^─{8}"
_SPINNER = r"^[·✢✳✶✻✽*] \S"
_FAILED = (
    r"^(?:●|  ⎿)\s+((?:API Error|Invalid API key|Not logged in|Please run /login|Credit balance|Context limit reached"
    r"|You've (?:hit|reached) your)\b.*)$"
)
_HINTS = r"Press up to edit queued messages|Try \"|Resend your message to try again|Once fixed, resend your message"

CLAUDE_SCREENS = Drawing(
    frame=Frame(prompt=r"^[❯!#&>](?:\s|$)", edge=_EDGE, top=_EDGE, hints=_HINTS),
    sign=r"^(?!✳ )[^\x00-\x7f\w]\ufe0f? ",
    titles=(TitleRule(name="title-spinner", state=State.WORKING, title=r"^[⠀-⣿] "),),
    rules=(
        Rule(
            name="permission",
            state=State.WAITING,
            menu=(r"(?i)\b(?:do you want to|would you like to|wants to) (?!use this API key|trust)",),
            note=(
                r"^ (?!Do you want|Esc )(\w.*)$",
                r"^ {3}(?!\d\.)(\S.*)$",
                "^╌{8,}\n" + r" (?!Do you want|\s*\d+ )(\S.*)$",
                r"^ Do you want to ((?!proceed).*)\?$",
            ),
        ),
        Rule(
            name="question",
            state=State.WAITING,
            menu=(r"^(?:←\s+)?\s*[☐☒✔]\s", r"^Enter to select\b"),
            note=(r"^(\S.*\?)$",),
        ),
        Rule(name="menu", state=State.DIALOG, menu=(), note=(r"^\s*(\S.*\?|WARNING.*|Select .*)(?:\s|$)",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",), absent=(r"^Resume this session with",)),
        Rule(
            name="retrying",
            state=State.WORKING,
            box=("empty",),
            above=(_SPINNER + r".*[Rr]etrying in",),
            note=(r"^. (.*[Rr]etrying in.*)$",),
        ),
        Rule(name="esc-to-interrupt", state=State.WORKING, box=("empty",), foot=(r"\besc to interrupt\b",)),
        Rule(name="spinner", state=State.WORKING, box=("empty",), above=(_SPINNER + r".*…",), over=r"^  ❯ |^    "),
        Rule(
            name="api-error",
            state=State.ERROR,
            box=("empty",),
            above=(_FAILED,),
            over=_SPINNER + r".* for \d",
            coloured=True,
            note=(_FAILED,),
        ),
        Rule(name="empty-box", state=State.IDLE, box=("empty",), absent=(r"^Resume this session with",)),
    ),
)
