"""Gemini CLI's screen rules, as seen in version 0.61."""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule, TitleRule

GEMINI_SCREENS = Drawing(
    frame=Frame(
        prompt=r"^ [>!*](?:\s|$)",
        foot=r"^ workspace \(/directory\)",
        hints=r"Type your (?:message|shell command)",
        menu=r"^\s*│?\s*● \d+\. ",
        keys=r"^\s*╰─+╯",
        top=r"^\s*╭─",
    ),
    sign=r"^[^\x00-\x7f\w]\ufe0f? ",
    titles=(
        TitleRule(name="title-action-required", state=State.WAITING, title=r"^✋"),
        TitleRule(name="title-working", state=State.WORKING, title=r"^✦"),
        TitleRule(name="title-ready", state=State.IDLE, title=r"^◇"),
    ),
    rules=(
        Rule(
            name="permission",
            state=State.WAITING,
            menu=(r"Action Required|\bAllow execution\b|\bApply this change\b|\bAllow once\b",),
            note=(r"│\s+\?\s+(.*?)\s*│$",),
        ),
        Rule(
            name="question",
            state=State.WAITING,
            menu=(r"Answer Questions",),
            note=(r"│\s*(\S.*\?)\s*│$",),
        ),
        Rule(name="menu", state=State.DIALOG, menu=(), note=(r"│\s*(\S.*\?|Select .*?)\s*│$",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(
            name="retrying",
            state=State.WORKING,
            box=("empty",),
            above=(r"^ \S Trying to reach .*\(esc to cancel\b",),
            note=(r"^ \S (Trying to reach .*?\))",),
        ),
        Rule(
            name="esc-to-cancel",
            state=State.WORKING,
            box=("empty",),
            above=(r"^ (?:\S .*\(esc to cancel\b|! Shell awaiting input)",),
        ),
        Rule(
            name="api-error",
            state=State.ERROR,
            box=("empty",),
            above=(r"^(?:✕ .*Error|ℹ This request failed)",),
            over=r"\? for shortcuts$|^─{8}|^⚠ |^ℹ This request failed",
            coloured=True,
            note=(r"^[✕ℹ] (.*)$",),
        ),
        Rule(name="empty-box", state=State.IDLE, box=("empty",), foot=(r"\S",)),
    ),
)
