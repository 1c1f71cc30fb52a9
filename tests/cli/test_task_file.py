"""`task create -f`: many tasks at once, with references between them, all or nothing."""

import json
from pathlib import Path

import pytest

from pro0.ops.context import Context
from tests.cli.conftest import Pro0, tree

YAML = """
tasks:
  - title: build
    key: b
    run: make
    timeout: 60
    labels: fast
  - title: test
    key: 2x
    blocked-by: [b]
    priority: 0
  - title: ship
    description: |
      two
      lines
    blockedBy: [b, 2x, 1]
    parent: all
    assignee: w1
  - {title: all of it, key: all, type: epic}
"""


def test_a_yaml_file(pro0: Pro0, project: Path, team: Context) -> None:
    """rulings 2.6: dependencies are given at creation, atomically."""
    pro0("task", "create", "before")
    (project / "tasks.yaml").write_text(YAML)
    made = json.loads(pro0("task", "create", "-f", "tasks.yaml", "--json").out)
    assert [task["id"] for task in made] == ["task-2", "task-3", "task-4", "task-5"]
    assert made[0]["labels"] == ["fast"]
    assert made[1]["dependencies"] == ["task-2"]
    assert made[2]["dependencies"] == ["task-2", "task-3", "task-1"]
    assert (made[2]["parent"], made[2]["assignee"], made[2]["description"]) == ("task-5", "w1", "two\nlines\n")
    assert made[3]["type"] == "epic"


def test_json_and_stdin_and_plain_titles(pro0: Pro0, team: Context) -> None:
    text = json.dumps([{"title": "a", "key": "a"}, {"title": "b", "blockedBy": "a"}])
    assert pro0("task", "create", "-f", "-", "-o", "name", stdin=text).out == "task-1\ntask-2\n"
    assert pro0("task", "create", "-f", "-", stdin="- one\n- two\n").out.splitlines() == [
        "task-3 created: one",
        "task-4 created: two",
    ]


REFUSED = {
    "an unknown reference": ("- {title: a, blockedBy: [9]}", 3, "task-9"),
    "a key that no task has": ("- title: a\n- {title: b, blockedBy: [c]}", 2, "task 2 of "),
    "a parent that no task is": ("- {title: b, parent: top}", 2, "names 'top', which is no key in it and no task id"),
    "a cycle": ("- {title: a, key: a, blockedBy: [b]}\n- {title: b, key: b, blockedBy: [a]}", 4, "cycle: a → b → a"),
    "itself": ("- {title: a, key: a, blockedBy: [a]}", 4, "a cannot depend on itself"),
    "a word that YAML takes for no": ("- {title: no}", 2, 'not true or false\nhint: quote it: "…"'),
    "a day": ("- {title: 2024-01-01}", 2, 'not a date\nhint: quote it: "…"'),
    "a list": ("- {title: [a]}", 2, "not a list\nhint: pro0 task create --help"),
    "a key twice": ("- {title: a, key: a}\n- {title: b, key: a}", 2, "'a'"),
    "no title": ("- title: a\n- run: make", 2, "task 2"),
    "an unknown field": ("- title: a\n- {title: b, colour: red}", 2, "colour"),
    "a misspelt field": ("- {title: a, blokedBy: [1]}", 2, "did you mean blockedBy?"),
    "a wrong type": ("- title: a\n- {title: b, timeout: soon}", 2, "timeout"),
    "a title of two lines": ('- title: a\n- {title: "b\\nc"}', 2, "one line"),
    "a field twice": ("- {title: a, blockedBy: [], blocked-by: []}", 2, "twice"),
    "an unknown member": ("- title: a\n- {title: b, assignee: nobody}", 3, "nobody"),
    "no list": ("title: a", 2, "holds no tasks"),
    "a number": ("7", 2, "holds no tasks"),
    "a list of lists": ("- [a]", 2, "task 1"),
    "nothing": ("", 2, "holds no tasks"),
    "no YAML": ("a: [", 2, "neither YAML nor JSON"),
    "aliases": ("- &a {title: a}\n- *a", 2, "aliases"),
    "a python object": ("- !!python/object/apply:os.system [touch x]", 2, "YAML"),
    "a bad time limit": ("- {title: a, timeout: -1}", 2, "-1"),
    "a name twice": ("- title: a\n  run: x\n  run: y", 2, "'run' occurs twice, line 3"),
    "a name twice in JSON": ('[{"title": "a", "run": "x", "\\u0072un": "y"}]', 2, "has the key 'run' twice"),
    "a name twice in JSON that is YAML": ('[{title: a, "run": x, run: y}]', 2, "'run' occurs twice, line 1"),
    "deep": ("[" * 100_000, 2, "nest"),
    "deep and whole": ("[" * 20_000 + "]" * 20_000, 2, "exceeded maximum nesting depth"),
    "deep in a field": ('[{"title": "a", "run": ' + '{"x": ' * 20 + "1" + "}" * 20 + "}]", 2, "is nested too deep"),
    "no UTF-8": ("\udcff", 2, "UTF-8"),
}


@pytest.mark.parametrize(("text", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_all_or_nothing(text: str, code: int, said: str, pro0: Pro0, home: Path, project: Path, team: Context) -> None:
    file = project / "tasks.yaml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    before = tree(home)
    called = pro0("task", "create", "-f", str(file))
    assert called.code == code, called
    assert said in called.err
    assert tree(home) == before
    assert not (project / "x").exists()


def test_a_file_stands_alone(pro0: Pro0, team: Context) -> None:
    assert pro0("task", "create", "title", "-f", "x.yaml").code == 2
    assert pro0("task", "create", "--run", "x", "-f", "x.yaml").code == 2
    assert pro0("task", "create", "-f", "x.yaml").code == 3
    assert pro0("task", "create", "-f", ".").code == 2
    assert pro0("task", "create").code == 2
