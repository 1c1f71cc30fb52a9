"""Imports go down: the floors of ARCHITECTURE.md, read from there, so that page and code cannot disagree."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from tests.house.source import ROOT, Modules, imports, lazy, package, room_of, sample

OUTSIDE = {"", "__main__"}
"""`pro0/__init__.py` and `pro0/__main__.py` belong to no room."""
FLOOR = re.compile(r"^(\d)  (\w+(?:  \w+)*)", re.MULTILINE)


def floors(page: str) -> dict[str, int]:
    """Return room → floor from the code block of the page."""
    blocks = re.findall(r"^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    [block] = [block for block in blocks if FLOOR.match(block)]
    lines = [FLOOR.match(line) for line in block.splitlines()]
    assert all(lines), f"a line of the floors cannot be read: {block}"
    return {room: int(line[1]) for line in lines if line for room in line[2].split()}


def upward(modules: Modules, floor: dict[str, int]) -> Iterator[str]:
    """Yield every import that goes up, sideways between rooms, or concerns a room without a floor."""
    for name in modules:
        room = room_of(name)
        if room in OUTSIDE:
            continue
        if room not in floor:
            yield f"{name}: the room {room} is not in ARCHITECTURE.md"
            continue
        for target, line in (*imports(name, modules), *lazy(name, modules)):
            other = room_of(target)
            if not target.startswith("pro0.") or other in {*OUTSIDE, room}:
                continue
            if floor.get(other, 99) >= floor[room]:
                yield f"{name}:{line} imports {target}, which is not below {room}"


def cycle(modules: Modules) -> list[str]:
    """Return one cycle of imports between modules, empty when there is none."""
    graph = {name: sorted({target for target, _ in imports(name, modules)} & set(modules)) for name in modules}
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name not in done:
            for target in graph[name]:
                if found := visit(target, [*trail, name]):
                    return found
            done.add(name)
        return []

    return next((found for name in graph if (found := visit(name, []))), [])


def between_sub_rooms(modules: Modules) -> Iterator[str]:
    """Yield every import that closes a circle between the sub-rooms of one room."""
    arrows: dict[str, dict[str, str]] = {}
    for name in modules:
        for target, line in imports(name, modules):
            here, there = sub_room_of(name, modules), sub_room_of(target, modules)
            if here and there and here != there and room_of(name) == room_of(target):
                arrows.setdefault(here, {}).setdefault(there, f"{name}:{line} imports {target}")
    for start in arrows:
        reached, edge = set[str](), {start}
        while edge := {there for here in edge for there in arrows.get(here, {})} - reached:
            reached |= edge
        if start in reached:
            yield from (f"{where}, and {start} is reached from there" for where in arrows[start].values())


def sub_room_of(name: str, modules: Modules) -> str:
    """Return the folder below its room that a module lies in, empty for a module of the room itself."""
    folder = name if any(other.startswith(f"{name}.") for other in modules) else name.rpartition(".")[0]
    return folder if folder.count(".") >= 2 else ""


def page() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def listed(problems: Iterable[str]) -> str:
    return "\n".join(problems)


def test_imports_go_down() -> None:
    problems = list(upward(package(), floors(page())))
    assert not problems, listed(problems)


def test_there_is_no_cycle() -> None:
    found = cycle(package())
    assert not found, " → ".join(found)


def test_sub_rooms_do_not_import_each_other_in_a_circle() -> None:
    problems = list(between_sub_rooms(package()))
    assert not problems, listed(problems)


def test_no_folder_holds_more_than_fits_one_glance() -> None:
    folders = Counter(path.parent for path in (ROOT / "pro0").rglob("*.py") if path.name != "__init__.py")
    assert {str(folder): count for folder, count in folders.items() if count > 15} == {}


def test_every_room_of_the_page_is_there() -> None:
    assert set(floors(page())) == {room_of(name) for name in package()} - OUTSIDE


def test_the_page_is_read_whole() -> None:
    assert floors("text\n```\n2  b  c\n1  a\n```\n") == {"b": 2, "c": 2, "a": 1}
    assert floors("```\nx = 1\n```\n```\n2  b    (about it)\n1  a    c_d    people\n```\n") == {"b": 2, "a": 1}


FLOORS = {"cli": 3, "store": 2, "agents": 2, "model": 1}


@pytest.mark.parametrize(
    "source",
    [
        "import pro0.cli.main",
        "from pro0.cli import main",
        "from pro0 import cli",
        "def f():\n    from pro0.cli import main",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pro0.cli.main import x",
        "import importlib\nimportlib.import_module('pro0.cli.main')",
        "TABLE = {'main': 'pro0.cli.main:X'}",
        "import pro0.agents.one",
        "from ..agents import one",
        "from pro0.attic import x",
    ],
)
def test_an_import_up_or_sideways_is_found(source: str) -> None:
    modules = sample(cli="", cli__main="", agents="", agents__one="", store="", store__paths=source)
    assert list(upward(modules, FLOORS))


def test_imports_down_or_within_a_room_pass() -> None:
    source = "import os, pro0\nfrom pro0.model import task\nfrom . import other\nTABLE = {'x': 'pro0.store.other:X'}"
    assert not list(upward(sample(model="", model__task="", store__other="", store__paths=source), FLOORS))


def test_a_room_without_a_floor_is_found() -> None:
    assert list(upward(sample(attic=""), FLOORS)) == ["pro0.attic: the room attic is not in ARCHITECTURE.md"]


def test_a_circle_of_sub_rooms_is_found() -> None:
    modules = sample(
        a="", a__b="", a__b__x="from pro0.a.c import y", a__c="", a__c__y="", a__c__z="import pro0.a.b.w", a__b__w=""
    )
    assert len(list(between_sub_rooms(modules))) == 2
    assert not cycle(modules)
    del modules["pro0.a.c.z"]
    assert not list(between_sub_rooms(modules))


def test_a_cycle_is_found() -> None:
    modules = sample(
        a="from pro0 import b", b="def f():\n    import pro0.c", c="from pro0.a import x", d="import pro0.a"
    )
    assert cycle(modules) == ["pro0.a", "pro0.b", "pro0.c", "pro0.a"]
    assert cycle(sample(a="from pro0 import b", b="", c="import pro0.a, pro0.b")) == []
