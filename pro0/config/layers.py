"""Layers: which source wins for each setting, and which parts of a project's file need the person's agreement.

A project's file may lie in a freshly cloned repository, and an agent may write it. So three kinds of its settings
wait for the person's agreement: permissions of agents, commands to run, and higher limits on spending. All other
settings count at once.
"""

from collections.abc import Callable, Iterable, Mapping
from os.path import realpath
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from pro0.config.files import PROJECT_FILE, USER_FILE, Written, check_names, quoted, read
from pro0.config.table import NAMES, SETTINGS, Setting, Settings
from pro0.decoding import convert
from pro0.errors import BadInput, ErrorCode, Refused

Powers = Mapping[str, tuple[str, ...]]
"""The parts of a project's file that need the person's agreement: hooks by event, settings by name, as written."""
Agreed = Callable[[Powers], bool]


class Chosen(NamedTuple):
    """The value of a setting, and its source."""

    name: str
    value: object
    source: str


def nobody(_powers: Powers) -> bool:
    """Agree to nothing; the default when nobody asks the person."""
    return False


def load(
    home: Path,
    project: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    agreed: Agreed = nobody,
) -> Settings:
    """Return the settings in force; a flag of None is not given; raises BadInput for a bad value."""
    chosen = explain(home, project, environ, flags, agreed)
    return convert({name: value for name, value, _ in chosen}, Settings)


def explain(
    home: Path,
    project: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    agreed: Agreed = nobody,
) -> tuple[Chosen, ...]:
    """Return every setting in force with its source; reads at most two files and writes none."""
    from_command = [*_flags(flags), *_environment(environ)]
    persons = _choices_of(read(home / USER_FILE))
    projects = _agreed(_project(home, project), persons, agreed)
    in_force = {chosen.name: chosen for chosen in reversed([*from_command, *projects, *persons])}
    for setting in SETTINGS:
        if setting.rule.joined:
            # A repository does not speak for the person: it must not redefine the person's own entries.
            in_force |= {chosen.name: chosen for chosen in _joined([*from_command, *persons, *projects], setting.name)}
    return tuple(in_force.get(setting.name, Chosen(setting.name, setting.default, "default")) for setting in SETTINGS)


def hooks(home: Path) -> Powers:
    """Return the hook commands of the person's own settings by event; raises BadInput for a bad block."""
    return read(home / USER_FILE).hooks


def powers(home: Path, project: Path | None) -> Powers:
    """Return the parts of a project's file in need of the person's agreement."""
    written = _project(home, project)
    return _powers(written, _wider(_choices_of(written), _choices_of(read(home / USER_FILE))))


def require_enabled(settings: Settings) -> None:
    """Raise Refused when teams are turned off."""
    if not settings.enabled:
        raise Refused(
            "agent teams are turned off (enabled: false)",
            code=ErrorCode.DISABLED,
            hint="`pro0 config` shows where; PRO0_EXPERIMENTAL_AGENT_TEAMS=1 turns them on",
        )


def _joined(layers: Iterable[Chosen], name: str) -> Iterable[Chosen]:
    """Yield the values of all sources merged into one, the strongest first; nothing when no source has any."""
    if matching := [chosen for chosen in layers if chosen.name == name]:
        values = [cast("dict[str, object]", chosen.value) for chosen in reversed(matching)]
        together = {entry: value for entries in values for entry, value in entries.items()}
        yield Chosen(name, together, ", ".join(chosen.source for chosen in matching))


def _flags(flags: Mapping[str, object]) -> Iterable[Chosen]:
    flags_given = {name: value for name, value in flags.items() if value is not None}
    check_names(flags_given, NAMES, "the flags")
    for setting in SETTINGS:
        if setting.name in flags_given:
            yield _chosen(setting, flags_given[setting.name], "flag", text=True)


def _environment(environ: Mapping[str, str]) -> Iterable[Chosen]:
    for setting in SETTINGS:
        if (variable := setting.rule.variable) and (text := environ.get(variable)):
            yield _chosen(setting, text, setting.rule.variable, text=True)


def _project(home: Path, project: Path | None) -> Written:
    """Read a project's file; the person's own file never counts as a project's."""
    path = project / PROJECT_FILE if project else None
    return Written(home) if path is None or realpath(path) == realpath(home / USER_FILE) else read(path)


def _choices_of(written: Written) -> list[Chosen]:
    settings = [setting for setting in SETTINGS if setting.name in written.values]
    return [_chosen(setting, written.values[setting.name], str(written.path), text=False) for setting in settings]


def _agreed(written: Written, persons: list[Chosen], agreed: Agreed) -> list[Chosen]:
    """Return the settings of a project's file in force: all when agreed, else only the harmless ones."""
    choices = _choices_of(written)
    wider = _wider(choices, persons)
    if not wider or agreed(_powers(written, wider)):
        return choices
    return [choice for choice in choices if choice not in wider]


def _wider(choices: list[Chosen], persons: list[Chosen]) -> list[Chosen]:
    """Return the settings allowing more than the person's own settings do."""
    rows = {setting.name: setting for setting in SETTINGS}
    defaults = {setting.name: setting.default for setting in SETTINGS}
    personal = defaults | {choice.name: choice.value for choice in persons}
    return [choice for choice in choices if rows[choice.name].rule.widens(choice.value, personal[choice.name])]


def _powers(written: Written, wider: list[Chosen]) -> Powers:
    values = {choice.name: msgspec.json.encode(choice.value, order="sorted").decode() for choice in wider}
    return written.hooks | {name: (value,) for name, value in values.items()}


def _chosen(setting: Setting, raw: object, source: str, *, text: bool) -> Chosen:
    rule = setting.rule
    try:
        return Chosen(setting.name, rule.check(rule.parse(raw) if text and isinstance(raw, str) else raw), source)
    except BadInput as error:
        raise BadInput(f"{error.message} ({source})", code=ErrorCode.BAD_SETTING, hint=error.hint) from None
    except ValueError:
        message = f"{setting.name} must be {rule.allowed}, not {quoted(raw)} ({source})"
        raise BadInput(message, code=ErrorCode.BAD_SETTING) from None
