"""Check the agents defined in the settings. Each error names the agent and its fault."""

import re
from collections.abc import Iterable

import msgspec

from pro0.decoding import convert
from pro0.errors import BadInput
from pro0.model.agent import AGENTS, DRAWN, Definition, is_told
from pro0.model.ids import NAME
from pro0.rules.validation import validation_message

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
"""The name of a variable, or the common prefix of several before a `*`."""
PLACEHOLDER = re.compile(r"\{(\w+)\}")
GIVEN = ("prompt", "prompt_file", "model", "effort")
"""The values of a session, by the names of their placeholders."""
OPTIONS = "{options}"
COMMAND = "{command}"


def definitions(written: object) -> dict[str, Definition]:
    """Return agents by name, or raise BadInput for a bad definition."""
    if not isinstance(written, dict):
        raise BadInput(
            "agents must be a mapping of names to definitions", hint='agents: {mine: {argv: [mine, "{prompt}"]}}'
        )
    return {_name(name): _definition(f"agents.{name}", value) for name, value in written.items()}


def _name(name: object) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        hint = "use 1 to 48 of a-z, 0-9 and '-', starting with a letter or a digit"
        raise BadInput(f"agents: {str(name)[:80]!r} cannot be the name of an agent", hint=hint)
    if name in AGENTS or name == "none":
        raise BadInput(f"agents.{name}: pro0 itself uses the name {name}", hint="choose another name")
    return name


def _definition(where: str, value: object) -> Definition:
    try:
        definition = convert(value, Definition)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {validation_message(error)}") from None
    for trouble in _troubles(definition):
        raise BadInput(f"{where}: {trouble}")
    return definition


def _troubles(definition: Definition) -> Iterable[str]:
    if not definition.acp and not _is_program(definition.argv):
        yield "argv must begin with a program: its name, or an absolute path"
    yield from _troubles_of_acp(definition)
    if definition.turn and not _is_program(definition.turn):
        yield "turn must begin with a program: its name, or an absolute path"
    modes = [definition.modes.words(mode) or () for mode in definition.modes.known] if definition.modes else []
    words = [
        *definition.argv,
        *definition.acp,
        *definition.turn,
        *definition.model,
        *definition.effort,
        *(word for mode in modes for word in mode),
    ]
    places = (*definition.argv, *definition.acp, *definition.turn)
    placeholders = ", ".join(f"{{{name}}}" for name in GIVEN)
    there_are = f"only {placeholders} and the word {OPTIONS} in argv, acp and turn"
    for word in words:
        for name in PLACEHOLDER.findall(word):
            if name not in GIVEN and (word != OPTIONS or word not in places):
                yield f"{word!r}: there is no {{{name}}}, {there_are}"
    for word in definition.own_commands:
        if [name for name in PLACEHOLDER.findall(word) if f"{{{name}}}" != COMMAND]:
            yield f"{word!r}: ownCommands knows only {COMMAND}"
    if definition.own_commands and not any(COMMAND in word for word in definition.own_commands):
        yield f"ownCommands: no word contains {COMMAND}"
    for variable in definition.environment:
        if not VARIABLE.fullmatch(variable) or variable.startswith("PRO0_"):
            yield f"environment: {variable!r} is not the name of a variable that can be passed on"
    if isinstance(definition.screens, str) and definition.screens not in DRAWN:
        yield f"screens: no screens of {definition.screens!r} are known, only those of {', '.join(sorted(DRAWN))}"
    signs = definition.screens if not isinstance(definition.screens, str) and definition.screens else None
    if signs and not all(
        text.strip() for text in (signs.prompt, *signs.waiting, *signs.dialog, *signs.working, *signs.error)
    ):
        yield "screens: an empty text would match any screen"


def _troubles_of_acp(definition: Definition) -> Iterable[str]:
    if not definition.acp:
        return
    if not _is_program(definition.acp):
        yield "acp must begin with a program: its name, or an absolute path"
    if is_told(definition.acp):
        yield "acp: the protocol passes the prompt, so no word of acp may contain {prompt} or {prompt_file}"
    for name in ("argv", "screens", "nudge"):
        if getattr(definition, name):
            yield f"{name}: acp replaces it, so leave one of the two out"


def _is_program(words: tuple[str, ...]) -> bool:
    program = words[0] if words else ""
    relative = "/" in program and not program.startswith("/")
    return bool(program.strip()) and not (program.startswith("-") or PLACEHOLDER.search(program) or relative)
