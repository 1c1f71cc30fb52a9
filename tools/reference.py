"""Write docs/reference.md and docs/reference/ from the tables on which the program runs."""

import ast
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

import click

from pro0 import errors
from pro0.cli.call import program
from pro0.config import SETTINGS, SIZE_LIMIT
from pro0.errors import ErrorCode, Pro0Error
from pro0.mcp.tools.table import TOOLS
from pro0.model.caller import Who
from pro0.model.message import BODY_LIMIT
from pro0.model.team import PLAN_LIMIT
from pro0.ops.tasks.roles import PROMPT_LIMIT
from pro0.ops.tasks.tasks import RESULT_LIMIT
from pro0.rules.text import REASON_LIMIT, TEXT_LIMIT, TITLE_LIMIT
from pro0.view.board import HELP as KEYS
from tools import outputs
from tools.event_names import events
from tools.exit_codes import DECLARED, exit_codes, own_exit_codes
from tools.manpages import shown_commands
from tools.meanings import VARIABLES, WORDS
from tools.schemas import STORED
from tools.topics import default_of, markdown, table, topics

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference.md"
FOLDER = ROOT / "docs" / "reference"
HEAD = """# Reference

Made by `make reference` from the program's own tables.

These things have a page of their own.

* [Every command with its options](reference/commands.md), and [what `--json` prints](reference/json.md)
* [Settings](reference/config.md), and [hooks](reference/hooks.md)
* [Layouts](reference/layout.md), and [files of tasks](reference/tasks.md)
* [JSON-RPC](rpc.md)

Editors check the files that you write by these schemas.

* [config-file.json](schema/config-file.json) for settings
* [layout-file.json](schema/layout-file.json) for layouts
* [tasks-file.json](schema/tasks-file.json) for files of tasks
"""
LIMITS = {
    "members and workers": "the settings `maxTeammates` and `maxWorkers`",
    "a message": f"{BODY_LIMIT >> 10} KiB",
    "a task's title": f"{TITLE_LIMIT} characters",
    "a task's result": f"{RESULT_LIMIT >> 10} KiB",
    "a task's description, or another long text": f"{TEXT_LIMIT >> 10} KiB",
    "a reason": f"{REASON_LIMIT >> 10} KiB",
    "a plan": f"{PLAN_LIMIT >> 10} KiB",
    "the prompt of a role": f"{PROMPT_LIMIT >> 10} KiB",
    "the name of a team, the id of a member": "48 characters",
    "a settings file or layout": f"{SIZE_LIMIT >> 10} KiB",
}


def page() -> str:
    """Return the text of the page."""
    parts = (
        ("Commands", ("Command", "What it does"), _commands(program, "pro0")),
        ("Settings", ("Setting", "Values", "Default", "Variable", "What it sets"), _settings()),
        ("Tools of agents", ("Tool", "For", "What it does"), _tools()),
        ("Exit codes", ("Code", "When"), exit_codes()),
        ("Exit codes by command", ("Command", "Codes", "What they say besides"), _own_exit_codes()),
        ("Error codes", ("Code", "Exit code", "What went wrong"), _error_codes()),
        *((title, ("Word", "What it means"), _words(meanings)) for title, (_, meanings) in WORDS.items()),
        ("Events of a team's log", ("Event",), ((f"`{name}`",) for name in events())),
        ("Environment", ("Variable", "What it is"), _variables()),
        ("Limits", ("Of", "At most"), LIMITS.items()),
        ("Stored files", ("File, below `PRO0_HOME`", "Schema"), _files()),
    )
    keys = f"\n## Keys of the view\n\n```\n{chr(10).join(KEYS)}\n```\n"
    return HEAD + "".join(f"\n## {title}\n\n{table(columns, rows)}" for title, columns, rows in parts) + keys


def pages() -> dict[str, str]:
    """Return the text of every further page by its file name."""
    made = {"commands.md": _all_commands(), "json.md": outputs.page()}
    return made | {f"{topic.name}.md": markdown(topic) for topic in topics()}


def _all_commands() -> str:
    parts = ["# Commands\n\nMade by `make reference` from the commands.\n"]
    for path, command in _leaves(program, "pro0"):
        context = click.Context(command, info_name=path, help_option_names=["-h", "--help"])
        usage = " ".join([path, *command.collect_usage_pieces(context)])
        rows = [row for parameter in command.params if (row := _option(parameter, context))]
        parts.append(f"\n## {path}\n\n{command.get_short_help_str(1000)}\n\n```\n{usage}\n```\n")
        if rows:
            parts.append("\n" + table(("Option", "What it does"), rows))
    return "".join(parts)


def _leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield path, command
    if isinstance(command, click.Group):
        for name, below in shown_commands(command, click.Context(command, info_name=path)):
            yield from _leaves(below, f"{path} {name}")


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    record = parameter.get_help_record(context)
    return (f"`{record[0]}`", record[1]) if record else None


def _own_exit_codes() -> Iterator[tuple[str, ...]]:
    yield "any", "1, 130", "1 by a fault of pro0, or when the answer cannot be written."
    for path, command in _leaves(program, "pro0"):
        yield f"`{path}`", ", ".join(map(str, sorted(DECLARED[path]))), own_exit_codes(command)


def _words(meanings: Mapping[StrEnum, str]) -> Iterator[tuple[str, str]]:
    for word, text in meanings.items():
        yield f"`{word}`", text


def _variables() -> Iterator[tuple[str, str]]:
    for name, text in VARIABLES.items():
        yield f"`{name}`", text
    for setting in SETTINGS:
        if setting.rule.variable:
            yield f"`{setting.rule.variable}`", f"The setting `{setting.name}`."


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    if not isinstance(command, click.Group):
        yield f"`{path}`", command.get_short_help_str(150)
        return
    for name, below in shown_commands(command, click.Context(command, info_name=path)):
        yield from _commands(below, f"{path} {name}")


def _settings() -> Iterator[tuple[str, ...]]:
    for setting in SETTINGS:
        rule = setting.rule
        default = default_of(setting)
        variable = f"`{rule.variable}`" if rule.variable else ""
        yield f"`{setting.name}`", rule.allowed, f"`{default}`" if default else "", variable, rule.about


def _tools() -> Iterator[tuple[str, ...]]:
    names = {Who.LEAD_AGENT: "lead agents", Who.MEMBER: "members", Who.OUTSIDE: "agents outside a team"}
    for tool in TOOLS.values():
        callers = ", ".join(name for who, name in names.items() if who in tool.callers)
        yield f"`{tool.name}`", callers, tool.about


def _error_codes() -> Iterator[tuple[str, ...]]:
    known = exits()
    for code in ErrorCode:
        yield f"`{code}`", ", ".join(map(str, sorted(known.get(code, ())))), code.meaning


def exits() -> dict[ErrorCode, set[int]]:
    """Return error code → the exit codes of the error classes with which the source raises it."""
    kinds = {
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Pro0Error)
    }
    exits: dict[ErrorCode, set[int]] = {}
    for kind in kinds.values():
        exits.setdefault(kind.code, set()).add(kind.exit_code)
    for path in sorted((ROOT / "pro0").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds:
                for named in _codes_in(node.keywords):
                    exits.setdefault(named, set()).add(kinds[node.func.id].exit_code)
    return exits


def _codes_in(keywords: list[ast.keyword]) -> Iterator[ErrorCode]:
    for keyword in keywords:
        for part in ast.walk(keyword.value) if keyword.arg == "code" else ():
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "ErrorCode":
                yield ErrorCode[part.attr]


def _files() -> Iterator[tuple[str, ...]]:
    for name, (_, where) in STORED.items():
        yield f"`{where}`", f"[{name}.json](schema/{name}.json)"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in pages():
            path.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(page().splitlines())} lines in docs/reference.md")


if __name__ == "__main__":
    main()
