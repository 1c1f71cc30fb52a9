"""Adapters of the agents in the settings."""

import re
from functools import cache
from typing import Literal

from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.agents.acp.adapter import ACP, call
from pro0.agents.adapter import Adapter, Brief, Invocation, OneTurn, TurnOutput
from pro0.agents.drawings import drawing_named
from pro0.agents.own_tools import COMMANDS
from pro0.model.agent import Definition, Signs, is_told
from pro0.model.runtime import State
from pro0.rules.definitions import COMMAND, GIVEN, OPTIONS
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import Drawing, Rule

MESSAGE = 64 * 1024
"""The most characters of one turn's message; the end of its output counts."""
_GIVEN = re.compile(rf"\{{({'|'.join(GIVEN)})\}}")


@cache
def custom(name: str, definition: Definition) -> Adapter:
    """Return the adapter of an agent from the settings."""
    return _acp(name, definition) if definition.acp else _by_screen(name, definition)


def _acp(name: str, definition: Definition) -> Adapter:
    """Return the adapter of an agent with the Agent Client Protocol."""
    return replace(
        ACP,
        name=name,
        program=definition.acp[0],
        call=lambda brief: call(_filled(definition, brief, definition.acp, {}), brief),
        elsewhere=None,
        passes=definition.environment,
        takes=_takes(definition),
        install=definition.install,
        turn=_turn(definition),
    )


def _by_screen(name: str, definition: Definition) -> Adapter:
    """Return the adapter of an agent in a terminal."""
    drawing = _drawing(definition)
    return Adapter(
        name=name,
        program=definition.argv[0],
        call=lambda brief: _call(definition, brief, definition.argv),
        elsewhere=lambda brief: _call(definition, brief, definition.argv),
        first_state=State.STARTING if drawing else State.RUNNING,
        delivery="line" if definition.is_fed else "none",
        answers_shutdown=definition.answers_shutdown,
        passes=definition.environment,
        takes=_takes(definition),
        screens=drawing,
        prompt_on_screen=drawing is not None and definition.instructed,
        install=definition.install,
        turn=_turn(definition),
    )


def _turn(definition: Definition) -> OneTurn | None:
    """Return how an agent does one turn: its whole output is one message."""
    words = definition.turn
    if not words:
        return None
    return OneTurn(call=lambda brief: _call(definition, brief, words), read=_read, reads_stdin=not is_told(words))


def _read(output: TurnOutput, line: bytes) -> TurnOutput:
    whole = f"{output.message}\n{line.decode(errors='replace')}" if output.message else line.decode(errors="replace")
    return replace(output, message=whole[-MESSAGE:])


def _takes(definition: Definition) -> tuple[Literal["model", "effort"], ...]:
    return (*(("model",) if definition.model else ()), *(("effort",) if definition.effort else ()))


def _call(definition: Definition, brief: Brief, words: tuple[str, ...]) -> Invocation:
    prompt, files = first_prompt.words(brief)
    prompts = {"prompt": prompt, "prompt_file": f"{brief.folder}/{first_prompt.FILE}"}
    is_read = words == definition.turn or definition.instructed
    return Invocation(argv=_filled(definition, brief, words, prompts), files=files if is_read else {})


def _filled(definition: Definition, brief: Brief, words: tuple[str, ...], prompts: dict[str, str]) -> tuple[str, ...]:
    """Return the words of a definition, with the session's options and values filled in."""
    seat = brief.seat
    values = {**prompts, "model": seat.model, "effort": seat.effort}
    mode = (definition.modes and definition.modes.words(brief.mode)) or ()
    own_options = [word.replace(COMMAND, command) for command in COMMANDS for word in definition.own_commands]
    options = (
        *mode,
        *(definition.model if seat.model else ()),
        *(definition.effort if seat.effort else ()),
        *own_options,
    )
    program, *rest = words
    placed = [program, *([] if OPTIONS in rest else [OPTIONS]), *rest]
    spread = [part for word in placed for part in (options if word == OPTIONS else (word,))]
    return tuple(_GIVEN.sub(lambda match: values.get(match[1], match[0]), word) for word in spread)


def _drawing(definition: Definition) -> Drawing | None:
    screens = definition.screens
    if isinstance(screens, Signs):
        return _by_signs(screens)
    return drawing_named(screens) if screens else None


def _by_signs(signs: Signs) -> Drawing:
    """Return screen rules from a definition's signs: those of waiting come first; a menu without a sign is a dialog."""
    texts_of = (
        (State.WAITING, signs.waiting),
        (State.DIALOG, signs.dialog),
        (State.WORKING, signs.working),
        (State.ERROR, signs.error),
    )
    rules = [
        Rule(
            name=f"{state}: {text}",
            state=state,
            menu=menu,
            anywhere=(re.escape(text),),
            note=(f"({re.escape(text)}.*)",) if state is State.ERROR else (),
        )
        for state, texts in texts_of
        for text in texts
        for menu in (None, ())
    ]
    return Drawing(
        frame=Frame(prompt=rf"^{re.escape(signs.prompt.rstrip())}(?:\s|$)"),
        rules=(
            *rules,
            Rule(name="menu", state=State.DIALOG, menu=()),
            Rule(name="typed", state=State.DRAFT, box=("typed",)),
            Rule(name="empty", state=State.IDLE, box=("empty",)),
        ),
    )
