"""pi's screen rules, as seen in versions 0.73 and 0.87.

pi draws its menus in place of its input box. Its permission prompts are the bridge's, drawn as those of an extension.
The later version shows its activity in the upper edge of its input box.
"""

from pro0.model.runtime import State
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

_FOOT = r"\d%/\d"
_BUSY = r"^── [⠀-⣿] "

PI_SCREENS = Drawing(
    frame=Frame(
        prompt=r"^",
        edge=rf"^─{{8}}|{_BUSY}\S.* ─+$",
        edges_alike=r"^─{8}",
        menu=r"^ ?→ ",
        keys=r"^─{8}",
        menu_in_box=True,
        top=r"^─{8}",
    ),
    rules=(
        Rule(name="permission", state=State.WAITING, menu=(r"^ Allow \S+\?$",), note=(r"^ (Allow \S+)\?$",)),
        Rule(name="menu", state=State.DIALOG, menu=(), note=(r"^(Only showing .*|Select .*)$",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(
            name="retrying",
            state=State.WORKING,
            box=("empty",),
            above=(r"^ [⠀-⣿] Retrying ",),
            foot=(_FOOT,),
            coloured=True,
            note=(r"^ [⠀-⣿] (Retrying .*\d+s)",),
        ),
        Rule(
            name="retrying-in-the-edge",
            state=State.WORKING,
            box=("empty",),
            rim=(_BUSY + "Retrying ",),
            foot=(_FOOT,),
            note=(_BUSY + r"(Retrying .*\d+s)",),
        ),
        Rule(name="spinner-in-the-edge", state=State.WORKING, box=("empty",), rim=(_BUSY,), foot=(_FOOT,)),
        Rule(name="spinner", state=State.WORKING, box=("empty",), above=(r"^ [⠀-⣿] \S",), coloured=True, foot=(_FOOT,)),
        Rule(
            name="api-error",
            state=State.ERROR,
            box=("empty",),
            above=(r"^ Error: ",),
            foot=(_FOOT,),
            coloured=True,
            note=(r"^ Error: (.*)$",),
        ),
        Rule(name="empty-box", state=State.IDLE, box=("empty",), foot=(_FOOT,)),
    ),
)
