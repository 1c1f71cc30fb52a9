"""JSON as a guard reads it, in a process of its own: strictly, whichever module does it."""

import json
import os
import subprocess
import sys

import pytest

from pro0.guard import text
from tests.waiting import STUCK

TEXTS = {
    '{"a": [1, 2.5, -3, true, null], "b": {"c": "\\u00fc"}}': "{'a': [1, 2.5, -3, True, None], 'b': {'c': 'ü'}}",
    '{"a": 1, "a": 2}': "a key stands twice",
    '{"b": [{"a": 1, "a": 1}]}': "a key stands twice",
    '"a\tb"': "ValueError",
    "NaN": "nan",
    "1 2": "ValueError",
}
READ = """
import json, sys
from pro0.guard.text import parse
for text in json.loads(sys.argv[1]):
    try:
        print(parse(text))
    except ValueError as error:
        print("a key stands twice" if "twice" in str(error) else "ValueError")
"""


def test_what_is_read_and_what_is_none() -> None:
    words = [sys.executable, "-c", READ, json.dumps(list(TEXTS))]
    done = subprocess.run(words, capture_output=True, timeout=STUCK, check=True, env=os.environ | {"PYTHONUTF8": "1"})
    assert done.stdout.decode().splitlines() == list(TEXTS.values())


def test_a_key_that_stands_twice_is_said_by_the_public_module_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    assert text.parse('{"a": {"b": 1}}') == {"a": {"b": 1}}
    with pytest.raises(ValueError, match=r"^a key stands twice$"):
        text.parse('{"a": {"b": 1, "b": 1}}')
