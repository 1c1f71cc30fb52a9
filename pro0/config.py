"""Settings: flag > environment > project > user > default, decided in this one place (rulings 3.14).

A new setting is one more field of `Settings`: everything else here reads that table.
"""

import errno
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, cast

import msgspec

from pro0.errors import BadInput, Refused
from pro0.model.agent import Definition
from pro0.model.hook import Event
from pro0.model.plan_gate import Approver
from pro0.model.team import WINDOW_LAYOUTS, WindowLayout
from pro0.rules.definitions import VARIABLE, definitions

if TYPE_CHECKING:
    import yaml

USER_FILE = "config.yaml"
"""The user's settings, in PRO0_HOME."""
HOOKS = "hooks"
PROJECT_FILE = Path(".pro0") / USER_FILE
"""The project's settings, in the project directory."""
SIZE_LIMIT = 1024 * 1024
"""Bytes of a settings file."""
DEPTH_LIMIT = 16
EVENT_LIMIT = 10_000

Permission = Literal["ask", "edits", "plan", "bypass"]
APPROVERS: tuple[Approver, ...] = ("human", "lead")
PERMISSIONS: tuple[Permission, ...] = ("ask", "edits", "plan", "bypass")
Mode = Literal["auto", "tmux", "in-process", "iterm2", "headless"]
MODES: tuple[Mode, ...] = ("auto", "tmux", "in-process", "iterm2", "headless")

_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_WORD = re.compile(r"[a-z0-9-]{0,48}")
_STRINGS = r"""("(?:\\.|[^"\\])*(?:"|\Z)|'[^']*(?:'|\Z))"""
_OUTSIDE_STRINGS = re.compile(rf"{_STRINGS}|(?<!:)//[^\n]*|/\*.*?(?:\*/|\Z)|\t", re.DOTALL)
_BROKEN = (ValueError, LookupError, AttributeError, ArithmeticError)
"""What PyYAML lets through, besides its own errors, for text like `!!int ""`."""


class Rule(NamedTuple):
    """Which values a setting takes; both functions raise ValueError for any other."""

    variable: str
    about: str
    allowed: str
    parse: Callable[[str], object]
    check: Callable[[object], object]
    """Also raises BadInput, which says more."""
    joined: bool = False
    """Whether what every source says counts, entry by entry; of two that are called the same a person's own."""


def switch(variable: str, about: str) -> Rule:
    """Make the rule of a setting that is on or off."""

    def parse(text: str) -> object:
        if text.lower() not in _SWITCH:
            raise ValueError(text)
        return _SWITCH[text.lower()]

    def check(value: object) -> object:
        if not isinstance(value, bool):
            raise ValueError(value)
        return value

    return Rule(variable, about, "true or false", parse, check)


def whole(variable: str, about: str, low: int, high: int, *, at_least: int = 0) -> Rule:
    """Make the rule of a whole number; a smaller one than `at_least` is raised to it."""

    def parse(text: str) -> object:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            raise ValueError(text)
        return int(text)

    def check(value: object) -> object:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(value)
        return max(value, at_least)

    return Rule(variable, about, f"a whole number from {low} to {high}", parse, check)


def choice(variable: str, about: str, words: tuple[str, ...]) -> Rule:
    """Make the rule of a setting that is one word of a list."""

    def check(value: object) -> object:
        if value not in words:
            raise ValueError(value)
        return value

    return Rule(variable, about, f"one of {', '.join(words)}", str, check)


def word(variable: str, about: str) -> Rule:
    """Make the rule of a setting that is one name, or nothing."""

    def check(value: object) -> object:
        if not isinstance(value, str) or not _WORD.fullmatch(value):
            raise ValueError(value)
        return value

    return Rule(variable, about, "a name of letters, digits and '-'", str, check)


def names(variable: str, about: str) -> Rule:
    """Make the rule of a list of names of variables, `NAME*` standing for all that begin so; as text: with commas."""

    def check(value: object) -> object:
        if not isinstance(value, list | tuple) or not all(isinstance(n, str) and VARIABLE.fullmatch(n) for n in value):
            raise ValueError(value)
        return tuple(value)

    def parse(text: str) -> object:
        return [name.strip() for name in text.split(",") if name.strip()]

    return Rule(variable, about, "a list of names of variables; NAME* is all that begin so", parse, check)


def mapping(variable: str, about: str) -> Rule:
    """Make the rule of the agents by name; as text: JSON."""

    def parse(text: str) -> object:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise ValueError(text) from None

    return Rule(variable, about, "a mapping of names to definitions", parse, definitions, joined=True)


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The table of settings: name, type, rule and default of each, one row per setting."""

    enabled: Annotated[bool, switch("PRO0_EXPERIMENTAL_AGENT_TEAMS", "Teams may be used.")] = True
    max_teammates: Annotated[int, whole("PRO0_MAX_TEAMMATES", "How many teammates may live at once.", 1, 100)] = 10
    teammate_mode: Annotated[Mode, choice("PRO0_TEAMMATE_MODE", "Where teammates are shown.", MODES)] = "auto"
    poll_interval_ms: Annotated[
        int,
        whole("PRO0_POLL_INTERVAL_MS", "Longest time between two looks, raised to 1000.", 0, 3_600_000, at_least=1000),
    ] = 3000
    cleanup_on_exit: Annotated[
        bool, switch("PRO0_CLEANUP_ON_EXIT", "The lead removes sockets, panes and runtime files at its end.")
    ] = True
    end_grace_seconds: Annotated[
        int, whole("PRO0_END_GRACE_SECONDS", "Seconds from TERM to KILL when a session is ended.", 0, 600)
    ] = 10
    max_subtask_depth: Annotated[
        int, whole("PRO0_MAX_SUBTASK_DEPTH", "How many levels of subtasks there may be.", 0, 100)
    ] = 5
    max_subtasks_per_parent: Annotated[
        int, whole("PRO0_MAX_SUBTASKS_PER_PARENT", "How many subtasks a task may have; an epic any number.", 1, 10_000)
    ] = 20
    task_timeout_minutes: Annotated[
        int, whole("PRO0_TASK_TIMEOUT_MINUTES", "Minutes of work on one subtask of a supervised task.", 1, 100_000)
    ] = 30
    max_review_cycles: Annotated[
        int, whole("PRO0_MAX_REVIEW_CYCLES", "Reviews in a row without progress before a human is asked.", 0, 10_000)
    ] = 10
    max_workers: Annotated[int, whole("PRO0_MAX_WORKERS", "How many workers there may be at once.", 1, 100)] = 10
    stuck_seconds: Annotated[int, whole("PRO0_STUCK_SECONDS", "When a silent worker counts as stuck.", 1, 86_400)] = 300
    task_agent: Annotated[str, word("PRO0_TASK_AGENT", "Which agent works on tasks that have a session each.")] = ""
    bell: Annotated[bool, switch("PRO0_BELL", "`team status --watch` rings when you are needed.")] = True
    revive_lead: Annotated[bool, switch("PRO0_REVIVE_LEAD", "A lead that has died comes back by itself.")] = True
    permission_mode: Annotated[
        Permission, choice("PRO0_PERMISSION_MODE", "What agents may do without asking.", PERMISSIONS)
    ] = "ask"
    plan_approval: Annotated[
        Approver, choice("PRO0_PLAN_APPROVAL", "Who decides on members' plans: you alone, or the lead too.", APPROVERS)
    ] = "human"
    window_layout: Annotated[
        WindowLayout, choice("PRO0_WINDOW_LAYOUT", "How tmux lays out a team's windows.", WINDOW_LAYOUTS)
    ] = "tiled"
    panes_per_window: Annotated[
        int, whole("PRO0_PANES_PER_WINDOW", "Members in one window at most; 0 for as many as have room.", 0, 100)
    ] = 0
    hook_timeout_seconds: Annotated[
        int, whole("PRO0_HOOK_TIMEOUT_SECONDS", "Seconds until a hook that does not end is ended.", 1, 86_400)
    ] = 60
    pass_environment: Annotated[
        tuple[str, ...], names("PRO0_PASS_ENVIRONMENT", "Variables that members get beyond the usual ones.")
    ] = ()
    agents: Annotated[dict[str, Definition], mapping("PRO0_AGENTS", "Agents besides pro0's own, by name.")] = {}


class Setting(NamedTuple):
    """One row of `SETTINGS`: what people, documents and `pro0 config` see of a setting."""

    name: str
    attribute: str
    default: object
    rule: Rule


class Chosen(NamedTuple):
    """The value of a setting, and where it came from."""

    name: str
    value: object
    source: str


def _rows() -> Iterable[Setting]:
    for field in msgspec.structs.fields(Settings):
        default = {} if field.default is msgspec.NODEFAULT else field.default
        yield Setting(field.encode_name, field.name, default, cast(Rule, field.type.__metadata__[0]))


SETTINGS = tuple(_rows())
_NAMES = tuple(setting.name for setting in SETTINGS)


def load(home: Path, project: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """Return the settings in force; flags have the settings' names, None meaning not given; BadInput for a bad one."""
    chosen = explain(home, project, environ, flags)
    return msgspec.convert({name: value for name, value, _ in chosen}, Settings)


def explain(
    home: Path, project: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]
) -> tuple[Chosen, ...]:
    """Return every setting in force with its source; reads at most two files and writes none."""
    told = [*_flags(flags), *_environment(environ)]
    projects = [*_file(project / PROJECT_FILE)] if project else []
    persons = [*_file(home / USER_FILE)]
    first = {chosen.name: chosen for chosen in reversed([*told, *projects, *persons])}
    for setting in SETTINGS:
        if setting.rule.joined:
            # What is in a repository is not the person's word: it defines nothing anew that the person has defined.
            first |= {chosen.name: chosen for chosen in _joined([*told, *persons, *projects], setting.name)}
    return tuple(first.get(setting.name, Chosen(setting.name, setting.default, "default")) for setting in SETTINGS)


def hooks(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands of the `hooks:` block of one settings file, by event; raises BadInput for a bad one."""
    return _commands(_parsed(_text(path), path), path)


def require_enabled(settings: Settings) -> None:
    """Raise Refused when teams are turned off (AC-77)."""
    if not settings.enabled:
        raise Refused(
            "agent teams are turned off (enabled: false)",
            code="disabled",
            hint="`pro0 config` shows where; PRO0_EXPERIMENTAL_AGENT_TEAMS=1 turns them on",
        )


def _joined(layers: Iterable[Chosen], name: str) -> Iterable[Chosen]:
    """Yield what all sources say of a setting as one value, the strongest first; nothing when none says anything."""
    if found := [chosen for chosen in layers if chosen.name == name]:
        values = [cast("dict[str, object]", chosen.value) for chosen in reversed(found)]
        together = {entry: value for one in values for entry, value in one.items()}
        yield Chosen(name, together, ", ".join(chosen.source for chosen in found))


def _flags(flags: Mapping[str, object]) -> Iterable[Chosen]:
    given = {name: value for name, value in flags.items() if value is not None}
    _check_names(given, _NAMES, "the flags")
    for setting in SETTINGS:
        if setting.name in given:
            yield _chosen(setting, given[setting.name], "flag", text=True)


def _environment(environ: Mapping[str, str]) -> Iterable[Chosen]:
    for setting in SETTINGS:
        if text := environ.get(setting.rule.variable):
            yield _chosen(setting, text, setting.rule.variable, text=True)


def _file(path: Path) -> Iterable[Chosen]:
    values = _flattened(_parsed(_text(path), path), path)
    for setting in SETTINGS:
        if setting.name in values:
            yield _chosen(setting, values[setting.name], str(path), text=False)


def _chosen(setting: Setting, raw: object, source: str, *, text: bool) -> Chosen:
    rule = setting.rule
    try:
        return Chosen(setting.name, rule.check(rule.parse(raw) if text and isinstance(raw, str) else raw), source)
    except BadInput as error:
        raise BadInput(f"{error.message} ({source})", code="bad_setting", hint=error.hint) from None
    except ValueError:
        said = f"{setting.name} must be {rule.allowed}, not {_shown(raw)} ({source})"
        raise BadInput(said, code="bad_setting") from None


def _text(path: Path) -> str:
    try:
        if not path.exists():
            return ""
        if not path.is_file():
            raise BadInput(f"the settings {path} are not a regular file")
        with path.open("rb") as stream:
            data = stream.read(SIZE_LIMIT + 1)
        if len(data) > SIZE_LIMIT:
            raise BadInput(f"the settings {path} are larger than {SIZE_LIMIT} bytes")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"the settings {path} are not UTF-8 text: {error.reason}") from error
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "OSError")
        raise BadInput(f"the settings {path} cannot be read: {error.strerror} ({code})") from error


def _parsed(text: str, path: Path) -> dict[object, object]:
    """Return the mapping in a settings file: YAML without aliases, or the PRD's JSON with comments."""
    if not text.strip():
        return {}
    import yaml  # only when there is something to read: start-up time

    if text.lstrip().startswith(("{", "//", "/*")):
        text = _OUTSIDE_STRINGS.sub(lambda match: match[1] or " ", text)
    try:
        _bounded(yaml.parse(text, yaml.SafeLoader), path)
        value = yaml.safe_load(text)
    except (yaml.YAMLError, *_BROKEN) as error:
        raise BadInput(f"the settings {path} are not YAML: {_trouble(error)}") from None
    return _mapping(value, f"the settings {path}")


def _bounded(events: Iterable["yaml.Event"], path: Path) -> None:
    """Refuse what costs more to read than its size: aliases, deep nesting, very many values."""
    import yaml

    depth = 0
    for count, event in enumerate(events):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_LIMIT or count > EVENT_LIMIT or isinstance(event, yaml.AliasEvent):
            raise BadInput(f"the settings {path} use aliases, or are nested too deep or too long to be settings")


def _trouble(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    return f"{problem or 'a value cannot be read'}{f', line {mark.line + 1}' if mark else ''}"


def _flattened(values: dict[object, object], path: Path) -> dict[object, object]:
    """Return the flat keys and those of the PRD's `experimental.agentTeams` block as one mapping (S004-105)."""
    _check_names(values, (*_NAMES, "experimental", HOOKS), str(path))
    _commands(values, path)
    outer = _mapping(values.get("experimental"), f"experimental ({path})")
    _check_names(outer, ("agentTeams",), f"experimental, {path}")
    inner = _mapping(outer.get("agentTeams"), f"experimental.agentTeams ({path})")
    _check_names(inner, _NAMES, f"experimental.agentTeams, {path}")
    flat = {key: value for key, value in values.items() if key not in ("experimental", HOOKS)}
    for key in inner.keys() & flat.keys():
        raise BadInput(f"{key} is set twice, flat and in experimental.agentTeams ({path})", hint="remove one of them")
    return flat | inner


def _commands(values: dict[object, object], path: Path) -> dict[str, tuple[str, ...]]:
    """Return the `hooks:` block: events, each with one command or a list of them, as the shell takes them."""
    block = _mapping(values.get(HOOKS), f"{HOOKS} ({path})")
    _check_names(block, tuple(Event), f"{HOOKS}, {path}")
    found = {}
    for event, value in block.items():
        commands = value if isinstance(value, list) else [value]
        if not commands or not all(isinstance(one, str) and one.strip() and "\0" not in one for one in commands):
            raise BadInput(f"{HOOKS}, {event} must be a command or a list of commands ({path})", code="bad_setting")
        found[str(event)] = tuple(commands)
    return found


def _mapping(value: object, what: str) -> dict[object, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadInput(f"{what} must be a mapping of names to values, not {_shown(value)}")
    return value


def _check_names(given: Iterable[object], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            hint = _nearest(str(key)[:80], known)
            raise BadInput(f"there is no setting {_shown(key)} ({where})", code="unknown_setting", hint=hint)


def _nearest(key: str, known: tuple[str, ...]) -> str:
    import difflib  # only for an error: it takes longer to import than all else here

    near = difflib.get_close_matches(key, known, 1, 0.5)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"


def _shown(value: object) -> str:
    text = f"{value!r}"
    return text if len(text) <= 80 else f"{text[:77]}..."
