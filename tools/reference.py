"""Write docs/reference.md from the tables on which the program runs: nothing in it is written by hand."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from pro0 import errors
from pro0.cli.call import program
from pro0.config import SETTINGS
from pro0.errors import ErrorCode, Pro0Error
from pro0.mcp.tools.table import TOOLS
from pro0.model.caller import Who
from tools.manpages import shown_commands
from tools.schemas import STORED

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference.md"
HEAD = """# Reference

Made by `make reference` from the program's own tables.
"""


def page() -> str:
    """Return the text of the page."""
    parts = (
        ("Commands", ("Command", "What it does"), _commands(program, "pro0")),
        ("Settings", ("Setting", "Values", "Default", "Variable", "What it sets"), _settings()),
        ("Tools of agents", ("Tool", "For", "What it does"), _tools()),
        ("Exit codes", ("Code", "When"), _exit_codes()),
        ("Error codes", ("Code", "Exit code", "What went wrong"), _error_codes()),
        ("Stored files", ("File, below `PRO0_HOME`", "Schema"), _files()),
    )
    return HEAD + "".join(f"\n## {title}\n\n{_table(columns, rows)}" for title, columns, rows in parts)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    if not isinstance(command, click.Group):
        yield f"`{path}`", command.get_short_help_str(150)
        return
    for name, below in shown_commands(command, click.Context(command, info_name=path)):
        yield from _commands(below, f"{path} {name}")


def _settings() -> Iterator[tuple[str, ...]]:
    for setting in SETTINGS:
        rule = setting.rule
        default = str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default or "")
        variable = f"`{rule.variable}`" if rule.variable else ""
        yield f"`{setting.name}`", rule.allowed, f"`{default}`" if default else "", variable, rule.about


def _tools() -> Iterator[tuple[str, ...]]:
    names = {Who.LEAD_AGENT: "lead agents", Who.MEMBER: "members", Who.OUTSIDE: "agents outside a team"}
    for tool in TOOLS.values():
        callers = ", ".join(name for who, name in names.items() if who in tool.callers)
        yield f"`{tool.name}`", callers, tool.about


def _exit_codes() -> Iterator[tuple[str, ...]]:
    yield "0", "The act is done."
    for kind in _kinds().values():
        if kind.exit_code not in (parent.exit_code for parent in kind.__bases__ if issubclass(parent, Pro0Error)):
            yield str(kind.exit_code), str(kind.__doc__)
    yield "130", "The person interrupted the act."


def _error_codes() -> Iterator[tuple[str, ...]]:
    known = exits()
    for code in ErrorCode:
        yield f"`{code}`", ", ".join(map(str, sorted(known.get(code, ())))), code.meaning


def exits() -> dict[ErrorCode, set[int]]:
    """Return the exit codes with which each error code is raised: those of the error classes that the source names."""
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


def _kinds() -> dict[str, type[Pro0Error]]:
    return {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Pro0Error)}


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
    print(f"{len(page().splitlines())} lines in docs/reference.md")


if __name__ == "__main__":
    main()
