"""More states of a real agent: it asks about files and plans, its model asks or quotes, a person opens its menus."""

import os
from collections.abc import Callable

from pro0.scripted_model.turns import say, shell, use
from tests.real_agents.agents import ASKING
from tests.real_agents.states import PROMPT, Stage, idle, idle_after_turn, permission

QUOTE = """Here is what such prompts look like:

Do you want to proceed?
❯ 1. Yes
  2. No, and tell Codex what to do differently (esc)

Press enter to confirm or esc to cancel

› 1. Yes, proceed (y)

△ Permission required
  Allow once   Allow always   Reject

● 1. Allow once

✶ Hatching… (esc to interrupt)

• Working (2s • esc to interrupt)

⠼ Thinking... (esc to cancel, 1s)

■ unexpected status 529

That was the last of the prompts."""
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\nEOF"
ARGUMENTS: dict[str, tuple[str, dict[str, object]]] = {
    "claude": ("Write", {"file_path": "{}/new.txt", "content": "one\n────────────────────\ntwo\n"}),
    "codex": ("exec_command", {"cmd": PATCH}),
    "gemini": ("write_file", {"file_path": "{}/new.txt", "content": "one\ntwo\n"}),
    "opencode": ("write", {"filePath": "{}/new.txt", "content": "one\ntwo\n"}),
}
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}
ASKERS: dict[str, tuple[str, dict[str, object]]] = {
    "claude": ("AskUserQuestion", {"multiSelect": False}),
    "opencode": ("question", {}),
    "gemini": ("ask_user", {"type": "choice"}),
}


def quoting(stage: Stage) -> None:
    """The model said what prompts, spinners and errors look like."""
    stage.prompt(say(QUOTE))
    stage.shows("the last of the prompts")
    stage.settle()


def permission_edit(stage: Stage) -> None:
    """The agent asks whether it may write a file."""
    tool, arguments = ARGUMENTS[stage.agent]
    filled = {key: str(value).replace("{}", str(stage.project)) for key, value in arguments.items()}
    os.environ["OPENCODE_PERMISSION"] = '{"edit":"ask"}'
    words = ("opencode", "--prompt") if stage.agent == "opencode" else ASKING[stage.agent]
    stage.start(*words, PROMPT, turns=(use(tool, **filled), say("It is made.")))
    stage.asked()
    stage.settle(4)


def permission_long(stage: Stage) -> None:
    """The agent asks about a command of more lines than a small terminal has."""
    command = "touch \\\n  " + " \\\n  ".join(f"part-{number}.txt" for number in range(30))
    stage.start(*ASKING[stage.agent], PROMPT, turns=(shell(command, outside=True), say("It is made.")))
    stage.asked()
    stage.settle(4)


def permission_second(stage: Stage) -> None:
    """The agent asks, and the second answer is chosen but not given."""
    permission(stage)
    stage.terminal.keys("Right" if stage.agent == "opencode" else "Down")
    stage.settle(2)


def question(stage: Stage) -> None:
    """The model asks its person something."""
    tool, more = ASKERS[stage.agent]
    stage.prompt(use(tool, questions=[{**QUESTION, **more}]), say("Thank you."))
    stage.asked()
    stage.settle(4)


def menu(stage: Stage) -> None:
    """The person opens the menu of models."""
    idle(stage)
    _open_menu(stage)


def menu_after_turn(stage: Stage) -> None:
    """The same after a turn, when OpenCode draws it over its screen."""
    idle_after_turn(stage)
    _open_menu(stage)


def _open_menu(stage: Stage) -> None:
    stage.terminal.keys("-l", "/model")
    stage.settle(1.5)
    stage.terminal.keys("Enter")
    stage.settle(3)


QUESTIONS: dict[str, Callable[[Stage], None]] = {
    "quoting": quoting,
    "permission-edit": permission_edit,
    "permission-long": permission_long,
    "permission-second": permission_second,
    "question": question,
    "menu": menu,
    "menu-after-turn": menu_after_turn,
}
