"""Data that does not fit, as msgspec says it of real values, in plain words."""

from typing import Annotated, Literal

import msgspec
import pytest

from pro0.rules.validation import validation_message


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    number: int | None = None
    texts: list[str] = []
    word: Literal["a", "b"] = "a"
    short: Annotated[str, msgspec.Meta(max_length=2)] = ""
    either: int | str = 0
    ratio: float = 0.5
    yes: bool = False
    named: dict[str, int] = {}


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    inner: list[Inner] = []


def inner(**fields: object) -> object:
    return {"name": "x", "inner": [fields]}


CASES: dict[str, tuple[object, str]] = {
    "the whole": ([], "it must be a mapping of names to values, not a list"),
    "missing": ({}, "it needs 'name'"),
    "unknown": ({"name": "x", "nmae": 1}, "there is no 'nmae'"),
    "a text": ({"name": 1}, "name: it must be a text, not a whole number"),
    "nothing": ({"name": None}, "name: it must be a text, not nothing"),
    "unknown within": ({"name": "x", "inner": [{}, {"y": 1}]}, "inner, 2: there is no 'y'"),
    "may be nothing": (inner(number="1"), "inner, 1, number: it must be a whole number, not a text"),
    "one of two": (inner(either=[]), "inner, 1, either: it must be a whole number or a text, not a list"),
    "in a list": (inner(texts=["a", 1.5]), "inner, 1, texts, 2: it must be a text, not a number"),
    "a word": (inner(word="c"), "inner, 1, word: there is no 'c'"),
    "too long": (inner(short="abc"), "inner, 1, short: it must be a text of length <= 2"),
    "a number": (inner(ratio=True), "inner, 1, ratio: it must be a number, not true or false"),
    "true or false": (inner(yes=2), "inner, 1, yes: it must be true or false, not a whole number"),
    "a value by name": (inner(named={"a": "b"}), "inner, 1, named: it must be a whole number, not a text"),
}


@pytest.mark.parametrize(("data", "said"), CASES.values(), ids=CASES)
def test_what_does_not_fit(data: object, said: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(data, Outer)
    assert validation_message(refused.value) == said


@pytest.mark.parametrize("said", ["something new", "Expected something", "Object of another kind"])
def test_what_nobody_knows_is_said_as_it_is(said: str) -> None:
    assert validation_message(ValueError(said)) == said


def test_a_kind_that_nobody_knows_keeps_its_name() -> None:
    assert validation_message(ValueError("Expected `datetime`, got `ext`")) == "it must be a date and time, not ext"
