"""Whose word a verdict is, every surface says itself: none makes a context that lets everything pass."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.source import Modules, package, room_of, sample

HOW = {
    "cli": "by_terminal",
    "mcp": "nobody",
    "rpc": "by_program",
    "runner": "nobody",
    "shell_agent": "nobody",
    "view": "on_board",
    "web": "by_device",
}
"""How each surface knows a person's verdict for one; where agents speak nobody is a person."""
MAKERS = {"Context", "found"}
"""What returns a context of a caller; `click.Context` is another thing."""
FIRST_LIMIT = "replace(context, vouch=in_process)"
"""In `team start`: the limit of cost of a team that was made in the same moment is no change of one."""


def unvouched(modules: Modules) -> Iterator[str]:
    """Yield every context that a surface makes or changes without its own way to know a person's verdict."""
    for name, tree in modules.items():
        if (room := room_of(name)) not in HOW:
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if ast.unparse(call) == FIRST_LIMIT and name == "pro0.cli.team.start":
                continue
            said = next((ast.unparse(one.value) for one in call.keywords if one.arg == "vouch"), None)
            made = isinstance(call.func, ast.Name) and call.func.id in MAKERS
            if (made or said) and said != HOW[room]:
                yield f"{name}:{call.lineno} vouches by {said}, not by {HOW[room]}"


def test_every_surface_vouches_for_its_person() -> None:
    """Rulings 5.6"""
    problems = list(unvouched(package()))
    assert not problems, "\n".join(problems)


def test_teams_are_made_by_surfaces_in_one_place() -> None:
    """`teams.create` lets everything pass by itself, `found` asks for the surface's word; the demo is by itself."""
    callers = {
        name
        for name, tree in package().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "teams.create"
    }
    assert callers == {"pro0.engine.opening.founding", "pro0.cli.demo.acts"}


@pytest.mark.parametrize(
    "source",
    [
        "Context(team, who)",
        "Context(team, who, vouch=in_process)",
        "found(store, caller)",
        "replace(context, vouch=in_process)",
        "replace(context, vouch=lambda *_: None)",
    ],
)
@pytest.mark.parametrize("room", HOW)
def test_one_that_lets_everything_pass_is_found(source: str, room: str) -> None:
    assert list(unvouched(sample(**{f"{room}__x": source})))


@pytest.mark.parametrize("room", HOW)
def test_one_that_vouches_passes(room: str) -> None:
    assert not list(unvouched(sample(**{f"{room}__x": f"Context(team, who, vouch={HOW[room]}); click.Context(x)"})))
