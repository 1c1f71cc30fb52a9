"""How pi draws its states, as seen in version 0.73.

It has no permission prompts, and draws its menus where its input box was, as if somebody had typed them: a draft.
"""

from pro0.model.runtime import State
from pro0.rules.drawing import Frame
from pro0.rules.screens import Drawing, Rule

_FOOT = r"\d%/\d"

PI_SCREENS = Drawing(
    frame=Frame(prompt=r"^", edge=r"^─{8}"),
    rules=(
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
