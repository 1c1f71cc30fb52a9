"""What is written about the protocol is what is served: the OpenRPC document, the page, and the example on it."""

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.rpc.server import serving
from pro0.rpc.table import METHODS, NOT_SERVED
from pro0.store.teams import TeamStore
from tests.rpc.conftest import Connect
from tests.teams import human
from tests.waiting import STUCK
from tools import openrpc

PAGE = openrpc.PAGE.read_text(encoding="utf-8")
DOCUMENT: Any = json.loads(openrpc.DOCUMENT.read_text(encoding="utf-8"))


def test_the_committed_document_and_tables_are_current() -> None:
    assert openrpc.DOCUMENT.read_text(encoding="utf-8") == openrpc.text(), "run `make schemas`"
    assert openrpc.page(PAGE) == PAGE, "run `make schemas`"


def test_the_page_has_every_method_and_every_operation_that_is_none() -> None:
    named = re.findall(r"^\| `([a-z._]+)`", PAGE, re.MULTILINE)
    assert sorted(named) == sorted([*METHODS, "rpc.discover", *NOT_SERVED])


def test_what_a_socket_serves_is_the_committed_document(connect: Connect) -> None:
    assert connect().result("rpc.discover") == DOCUMENT


METHOD = {
    "type": "object",
    "required": ["name", "params", "result"],
    "properties": {
        "name": {"type": "string", "pattern": r"^[a-z]+(\.[a-z_]+)+$"},
        "summary": {"type": "string", "minLength": 1},
        "paramStructure": {"enum": ["by-name", "by-position", "either"]},
        "params": {"type": "array", "items": {"$ref": "#/$defs/descriptor"}},
        "result": {"$ref": "#/$defs/descriptor"},
    },
    "patternProperties": {"^x-": {}},
    "additionalProperties": False,
}
"""What the specification of OpenRPC 1.2 asks of a method, as far as this document uses it."""
OPENRPC = {
    "type": "object",
    "required": ["openrpc", "info", "methods"],
    "properties": {
        "openrpc": {"const": "1.2.6"},
        "info": {"type": "object", "required": ["title", "version"]},
        "methods": {"type": "array", "items": METHOD},
        "components": {"type": "object", "properties": {"schemas": {"type": "object"}}},
    },
    "patternProperties": {"^x-": {}},
    "additionalProperties": False,
    "$defs": {
        "descriptor": {
            "type": "object",
            "required": ["name", "schema"],
            "properties": {"name": {"type": "string"}, "required": {"type": "boolean"}, "schema": {"type": "object"}},
        }
    },
}


def test_the_document_is_one_of_openrpc() -> None:
    jsonschema.validate(DOCUMENT, OPENRPC, cls=jsonschema.Draft202012Validator)
    names = [method["name"] for method in DOCUMENT["methods"]]
    assert len(names) == len(set(names))
    for method in DOCUMENT["methods"]:
        params = [one["name"] for one in method["params"]]
        assert len(params) == len(set(params))


def test_every_schema_is_one_and_refers_to_what_is_there() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', openrpc.text()))
    assert referred == set(schemas), "one is missing, or nothing refers to it"


def test_the_example_of_the_page_runs(team: TeamStore, connect: Connect, tmp_path: Path) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    connect().result("task.list")
    done = subprocess.run(
        [sys.executable, "-I", "-c", example], capture_output=True, text=True, cwd=tmp_path, timeout=STUCK
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "task-1 open say hello\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="the example is for Node.js")
def test_the_example_for_node_follows_a_list_through_the_ends_of_its_servers(team: TeamStore, tmp_path: Path) -> None:
    """Cut off by a server that ends; another one begins after a change that nobody has told it."""
    [example] = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)
    person = human(team)
    tasks.create(person, [Draft(title="one")])
    argv = ["node", "--input-type=module", "-e", example]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout
        assert process.stderr
        stuck = threading.Timer(STUCK, process.kill)
        stuck.start()
        try:
            with serving(team):
                assert process.stdout.readline() == "task-1 open one\n"
                tasks.create(person, [Draft(title="two"), Draft(title="three")])
                assert {process.stdout.readline() for _ in range(2)} == {"task-2 open two\n", "task-3 open three\n"}
                tasks.delete(person, "2")
                assert process.stdout.readline() == "task-2 is gone\n"
            tasks.cancel(person, "1")
            with serving(team):
                assert {process.stdout.readline() for _ in range(2)} == {"task-1 closed one\n", "task-3 open three\n"}
        finally:
            stuck.cancel()
            process.terminate()
        assert process.stderr.read() == ""


@pytest.mark.parametrize("method", DOCUMENT["methods"], ids=lambda method: method["name"])
def test_every_method_says_what_it_does_and_who_may(method: Any) -> None:
    assert method["summary"].endswith(".")
    assert method["name"] == "rpc.discover" or method["x-callers"]
