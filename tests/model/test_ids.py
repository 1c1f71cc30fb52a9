"""The one gate for names (rulings 3.2, AC-66, reliability 29)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.errors import BadInput
from pro0.model import ids

PUNCTUATED = r"""
. .. ../x ../etc/passwd a/b a\b -rf -a #(touch x) #{pid} a:b a.b a;b $(id) `id` ' " %s * ~ Foo foo_bar CON
config.json .lock .trash-x .new-x a=b a@b a+b a,
"""
FOREIGN = ["\xe4b", "e\u0301", "\u0430b", "x\u200b", "a\u200bb", "x\u202e", "\u0663", "\uff41", "\udc80"]
BLANK = ["", " ", "a b", "team name", "a\n", "a\nb", "a\0b", "\x1b[31m", "a\t", "a ", " a"]
BAD = [*PUNCTUATED.split(), *FOREIGN, *BLANK, *("a" * length for length in (49, 64, 255, 256))]
GOOD = ["a", "7", "a-b", "a--b", "a-", "0-0", "a" * 48, "con", "nul", "team", "tasks"]


@pytest.mark.parametrize("name", BAD, ids=ascii)
def test_a_bad_name_is_refused(name: str) -> None:
    for gate in (ids.team_name, ids.agent_id):
        with pytest.raises(BadInput) as refused:
            gate(name)
        assert refused.value.exit_code == 2


@pytest.mark.parametrize("name", GOOD)
def test_a_good_name_is_kept(name: str) -> None:
    assert ids.team_name(name) == ids.agent_id(name) == name


@pytest.mark.parametrize("name", ["lead", "human", "all"])
def test_reserved_names_are_no_members(name: str) -> None:
    for gate in (ids.agent_id, ids.agent_id_from, lambda text: ids.agent_id_from(text.upper())):
        with pytest.raises(BadInput, match="reserved"):
            gate(name)


@pytest.mark.parametrize(
    ("display", "id"),
    [("Frontend Coder", "frontend-coder"), ("  Bob ", "bob"), ("a_b  c", "a-b-c"), ("W1", "w1"), ("x-Y", "x-y")],
)
def test_an_id_is_made_of_a_display_name(display: str, id: str) -> None:
    """S004-100."""
    assert ids.agent_id_from(display) == id


@given(st.text())
def test_whatever_comes_out_is_one_plain_path_component(text: str) -> None:
    for gate in (ids.team_name, ids.agent_id, ids.agent_id_from):
        try:
            name = gate(text)
        except BadInput:
            continue
        assert ids.NAME.fullmatch(name)
        assert name.isascii()


@pytest.mark.parametrize(("text", "id"), [("7", "task-7"), ("task-7", "task-7"), ("999999999", "task-999999999")])
def test_task_ids(text: str, id: str) -> None:
    assert ids.task_id(text) == id
    assert f"task-{ids.task_number(id)}" == id


@pytest.mark.parametrize(
    "text", ["0", "07", "-1", "task-", "task-0", "Task-1", "1 ", "1\n", "1.0", "٣", "1" * 10, "../1"]
)
def test_what_is_no_task_id(text: str) -> None:
    with pytest.raises(BadInput):
        ids.task_id(text)
