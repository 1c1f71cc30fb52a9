"""A change that older stored files do not fit needs a higher schemaVersion (issue 13, build 6)."""

import copy
from typing import Any

import pytest

from pro0.model.stored import SCHEMA_VERSION
from tools import schemas, shapes

VERSION, RECORDED = shapes.recorded()
NOW = shapes.shapes()


def test_what_older_files_do_not_fit_has_a_new_version() -> None:
    problems = shapes.broken(RECORDED, NOW)
    assert not problems or VERSION < SCHEMA_VERSION, (
        f"{problems}: files of schemaVersion {VERSION} no longer fit; raise SCHEMA_VERSION, or let them fit"
    )


def test_each_key_is_recorded() -> None:
    assert (SCHEMA_VERSION, shapes.extended()) == (VERSION, RECORDED), "run `make schemas`"


def changed(name: str, part: str, change: dict[str, Any]) -> shapes.Shapes:
    """Return today's shapes with one part of one schema changed."""
    whole: dict[str, Any] = copy.deepcopy({key: schemas.schema(key) for key in schemas.STORED})
    below: dict[str, Any] = whole[name]["$defs"][part]
    for key, value in change.items():
        below[key] = {**below[key], **value} if isinstance(value, dict) else value
    return shapes.shapes_of(whole)


TASK: list[tuple[str, dict[str, Any], str]] = [
    ("Task", {"properties": {"title": {"type": "integer"}}}, "tasks.tasks[].title no longer takes string"),
    ("Task", {"required": ["id", "status", "title"]}, "tasks.tasks[].title must be there now, and older files lack it"),
    ("Awaiting", {"enum": ["approval"]}, "tasks.tasks[].awaiting.kind no longer takes checkpoint"),
]


@pytest.mark.parametrize(("part", "change", "told"), TASK)
def test_a_narrower_shape_is_noticed(part: str, change: dict[str, Any], told: str) -> None:
    assert any(line.startswith(told) for line in shapes.broken(NOW, changed("tasks", part, change)))


def test_a_key_that_goes_is_noticed_and_a_new_one_passes() -> None:
    more = changed("tasks", "Task", {"properties": {"neverThere": {"type": "integer"}}})
    assert not shapes.broken(NOW, more)
    assert shapes.broken(more, NOW) == ["tasks.tasks[].neverThere is gone"]


def test_a_new_key_that_must_be_there_is_noticed() -> None:
    change = {"properties": {"neverThere": {"type": "integer"}}, "required": ["id", "neverThere"]}
    told = ["tasks.tasks[].neverThere must be there now, and older files lack it"]
    assert [line for line in shapes.broken(NOW, changed("tasks", "Task", change)) if "neverThere" in line] == told
