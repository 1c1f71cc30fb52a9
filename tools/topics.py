"""Pages about settings, layouts, files of tasks, hooks and reliability, as Markdown and as roff."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pro0.config import SETTINGS
from pro0.config.table import Setting
from tools.meanings import (
    FILE_EXITS,
    HOOK_EXITS,
    HOOKS,
    LAYOUT_KEYS,
    MEMBER_KEYS,
    PERMISSIONS,
    POLICIES,
    ROLE_KEYS,
    SETTINGS_EXITS,
    TASK_KEYS,
    VARIABLES,
    WINDOW_KEYS,
)

ROOT = Path(__file__).parents[1]
PROMISE = re.compile(r"^\| ([A-Z][^|]+) \| ([^|]+) \|", re.MULTILINE)
POINT = re.compile(r"^\* (.+)$", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.])\s+(?=[A-Z`])")
LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
TASKS_EXAMPLE = """\
tasks:
  - key: parser
    title: Write the parser
    acceptance: all tests of tests/parser pass
  - title: Test it on old files
    blocked_by: [parser]
    run: make check
    timeout: 600
"""
SETTINGS_EXAMPLE = """\
maxTeammates: 5
permissionMode: edits
worktree: {setup: npm ci}
hooks:
  TaskCompleted: make test
"""
HOOKS_EXAMPLE = """\
hooks:
  TaskCompleted: make test
  HumanNeeded: "notify-send 'pro0: something needs you'"
hookTimeoutSeconds: 60
"""
HOOK_KEYS = {
    "hook_event_name": "The event.",
    "team_name": "The team.",
    "teammate_name": "The member that it is about, null for you.",
    "cwd": "The folder in which the hook runs: the project, or the member's worktree.",
    "task_id, task_subject, task_description, task, result": "With an event of a task: the task.",
    "from, to, note": "With a change: the state before, the state now, and why.",
    "need": "With HumanNeeded: the need, as `pro0 needs --json` prints it.",
}
NOTHING: Mapping[str, str] = {}
SETTINGS_FILES = {
    "~/.pro0/config.yaml": "Your settings.",
    "PROJECT/.pro0/config.yaml": "The project's settings.",
}
LAYOUT_FILES = {
    "PROJECT/.pro0/layouts/NAME.yaml": "A layout of the project.",
    "~/.pro0/layouts/NAME.yaml": "A layout of yours.",
}


class Topic(NamedTuple):
    """One page: its name and section in the manual, its paragraphs, its tables, an example, and its last sections."""

    name: str
    section: int
    about: str
    paragraphs: tuple[str, ...]
    tables: Mapping[str, Mapping[str, str]]
    example: str
    language: str
    see_also: tuple[str, ...]
    endings: Mapping[str, Mapping[str, str]]
    """The sections that come last in a page of the manual."""


def topics() -> tuple[Topic, ...]:
    """Return every page."""
    return (_settings(), _layout(), _tasks(), _hooks())


def reliability() -> Topic:
    """Return the manual's page on what pro0 promises, from the page of the site."""
    promised, _, rest = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").partition("## What is not ")
    limits, _, how = rest.partition("## How it is tested\n")
    tested = LINK.sub(r"\1", " ".join(how.strip().rpartition("\n\n")[0].split()))
    points = tuple(LINK.sub(r"\1", f"* {point}") for point in POINT.findall(limits))
    tables = {"Promises": dict(PROMISE.findall(promised))}
    paragraphs = (tested, "The promises stand below. This is not promised:", *points)
    about = "what pro0 promises, and how that is tested"
    return Topic("reliability", 7, about, paragraphs, tables, "", "", ("pro0-doctor.1", "pro0-needs.1"), {})


def default_of(setting: Setting) -> str:
    """Return a setting's default as `pro0 config` prints it; "" for an empty one."""
    if isinstance(setting.default, bool):
        return str(setting.default).lower()
    return str(setting.default) if setting.default or setting.default == 0 else ""


def _settings() -> Topic:
    rows = {}
    for setting in SETTINGS:
        default = default_of(setting) or "nothing"
        variable = f" Variable: {setting.rule.variable}." if setting.rule.variable else ""
        rows[setting.name] = f"{setting.rule.about} Values: {setting.rule.allowed}. Default: {default}.{variable}"
    paragraphs = (
        "The settings stand in two files. Yours is config.yaml in PRO0_HOME, the project's is .pro0/config.yaml.",
        "A flag counts before the environment, that before the project's file, and that before yours.",
        "What a project's file would run, hand out, allow or spend counts only after `pro0 config trust`.",
        "`pro0 config --long` shows each setting with its value. `pro0 config set NAME VALUE` writes one.",
    )
    tables = {"Settings": rows, "Permission modes": {str(mode): text for mode, text in PERMISSIONS.items()}}
    see = ("pro0-config.1", "pro0-config-set.1", "pro0-config-trust.1", "pro0-hooks.7")
    return Topic(
        "config", 5, "settings of pro0", paragraphs, tables, SETTINGS_EXAMPLE, "yaml", see, _settings_endings()
    )


def _settings_endings() -> Mapping[str, Mapping[str, str]]:
    told = ("PRO0_HOME", "PRO0_WORKTREE", "PRO0_PROJECT", "PRO0_PORT_BASE", "PRO0_NEED")
    of_settings = {
        setting.rule.variable: f"The setting {setting.name}." for setting in SETTINGS if setting.rule.variable
    }
    trusted = {"~/.pro0/trusted.json": "What you have agreed to of projects, by `pro0 config trust`."}
    return _endings(SETTINGS_EXITS, told, SETTINGS_FILES | trusted, of_settings)


def _endings(
    exits: Mapping[str, str], told: Iterable[str], files: Mapping[str, str], more: Mapping[str, str] = NOTHING
) -> Mapping[str, Mapping[str, str]]:
    variables = dict(more) | {name: VARIABLES[name] for name in told}
    return {"Exit status": exits, "Environment": variables, "Files": files}


def _layout() -> Topic:
    paragraphs = (
        "A layout is a YAML or JSON file that names members, their windows, and first tasks.",
        "`pro0 team start NAME -l LAYOUT` takes a file or a name. A name is looked for in .pro0/layouts of the "
        "project, in layouts of PRO0_HOME, and among those that pro0 brings along.",
        "The keys agent, role, model, effort, permission_mode and nudge may also stand in a window or at the top. A "
        "member without them takes those of its window, then those of the top.",
    )
    tables = {
        "Top": LAYOUT_KEYS,
        "A member": MEMBER_KEYS,
        "A window": WINDOW_KEYS,
        "A role": ROLE_KEYS,
    }
    example = (ROOT / "layouts" / "trio.yaml").read_text(encoding="utf-8")
    see = ("pro0-team-start.1", "pro0-tasks.5", "pro0-config.5")
    endings = _endings(FILE_EXITS, ("PRO0_HOME",), LAYOUT_FILES)
    return Topic("layout", 5, "layouts of teams", paragraphs, tables, example, "yaml", see, endings)


def _tasks() -> Topic:
    paragraphs = (
        "A file of tasks is YAML or JSON. It holds a list of tasks, or a mapping whose key tasks has the list.",
        "A task is its title alone, or a mapping. `pro0 task create -f FILE` makes all tasks of a file, or none.",
        "A key may be written with underscores or in camel case.",
    )
    tables = {"A task": TASK_KEYS, "Policies": {str(policy): text for policy, text in POLICIES.items()}}
    see = ("pro0-task-create.1", "pro0-layout.5")
    files = {"~/.pro0/tasks/TEAM/tasks.json": "The tasks of a team, as pro0 keeps them. It is not for editing."}
    endings = _endings(FILE_EXITS, ("PRO0_HOME", "PRO0_TEAM"), files)
    return Topic("tasks", 5, "files of tasks", paragraphs, tables, TASKS_EXAMPLE, "yaml", see, endings)


def _hooks() -> Topic:
    paragraphs = (
        "Hooks are shell commands of yours that pro0 asks, or tells, when something happens. They stand below hooks in "
        "the settings. An event has one command, or a list of them.",
        "A hook gets one JSON object on stdin. Exit 2 says no, and what the hook wrote to stderr is the reason.",
        "Any other failure is noted in events.jsonl and changes nothing. A hook before a task is made or completed "
        "whose program is missing refuses too, until you mend it or take it out. So does one that the system "
        "does not let begin.",
        "A hook that takes longer than hookTimeoutSeconds is ended with all that it started.",
        "Hooks of a project run only after `pro0 config trust`. Yours run first.",
    )
    tables = {"Events": {str(event): text for event, text in HOOKS.items()}, "What a hook gets": HOOK_KEYS}
    see = ("pro0-config.5", "pro0-config-trust.1", "pro0-needs.1")
    log = {"~/.pro0/teams/TEAM/events.jsonl": "What hooks have refused, and which have failed."}
    endings = _endings(HOOK_EXITS, ("PRO0_TEAM_UID", "PRO0_RUN"), SETTINGS_FILES | log)
    return Topic(
        "hooks", 7, "commands that pro0 asks or tells", paragraphs, tables, HOOKS_EXAMPLE, "yaml", see, endings
    )


def markdown(topic: Topic) -> str:
    """Return a page as Markdown."""
    parts = [f"# {topic.about[0].upper()}{topic.about[1:]}", "Made by `make reference`."]
    parts += ["\n".join(SENTENCE_END.split(paragraph)) for paragraph in topic.paragraphs]
    parts += [f"## Example\n\n```{topic.language}\n{topic.example}```"]
    parts += [
        f"## {title}\n\n{table(('Word', 'What it means'), _cells(rows))}".rstrip()
        for title, rows in (*topic.tables.items(), *topic.endings.items())
    ]
    return "\n\n".join(parts) + "\n"


def roff(topic: Topic, version: str, date: str) -> str:
    """Return a page of the manual."""
    name = f"pro0-{topic.name}"
    lines = [f'.TH "{name.upper()}" "{topic.section}" "{date}" "{version}" "pro0"']
    lines += [".SH NAME", f"{name} \\- {topic.about}", ".SH DESCRIPTION"]
    for paragraph in topic.paragraphs:
        lines += [".PP", plain(paragraph)]
    for title, rows in topic.tables.items():
        lines += [f".SH {title.upper()}", *terms(rows)]
    if topic.example:
        lines += [".SH EXAMPLE", ".nf", *map(_line, topic.example.splitlines()), ".fi"]
    for title, rows in topic.endings.items():
        lines += [f".SH {title.upper()}", *terms(rows)]
    lines += [".SH SEE ALSO", references(topic.see_also)]
    return "\n".join(lines) + "\n"


def terms(rows: Mapping[str, str]) -> Iterable[str]:
    """Yield roff of words and their meanings."""
    for word, text in rows.items():
        yield from (".TP", f"\\fB{plain(word)}\\fP", plain(text))


def references(pages: Iterable[str]) -> str:
    """Return names of pages, such as pro0-config.5, in the form of the manual."""
    return ", ".join(f"\\fB{page.rpartition('.')[0]}\\fP({page.rpartition('.')[2]})" for page in pages)


def plain(text: str) -> str:
    """Return a sentence as one line of roff."""
    return _line(text.replace("`", ""))


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table of Markdown."""
    lines = [columns, ("---",) * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _cells(rows: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return ((", ".join(f"`{word}`" for word in name.split(", ")), text) for name, text in rows.items())


def _line(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
