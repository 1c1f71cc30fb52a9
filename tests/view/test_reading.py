"""Reading a task or a message as a whole, from the board."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import NotFound, Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Draft, Gate
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.store.teams import Store
from pro0.view.drawing import columns_of, wrapped
from pro0.view.keys import Key
from pro0.view.news import News, look
from pro0.view.reading import LINES, changes, whole
from pro0.view.scroll import Scroll
from pro0.view.wishes import ViewRequest
from tests.repositories import put, repository_in
from tests.task_fields import SAMPLES


@pytest.fixture
def person(home: Path, tmp_path: Path) -> Context:
    """Somebody with a team of nobody."""
    return teams.create(Store(home), THE_HUMAN, teams.Home(name="alpha", project=tmp_path))


def test_a_task_is_read_with_all_that_was_said_about_it(person: Context) -> None:
    draft = Draft(
        title="prices", description="of all shops", acceptance="sums add up", run="make p", requires=Gate.REVIEW
    )
    tasks.create(person, [draft])
    tasks.comment(person, "1", "begin with Rome")
    tasks.claim(person, "1")
    text = whole(person, News(), "task-1")
    assert text.startswith(
        "task-1: prices\nin progress, human\n\nof all shops\n\nacceptance\nsums add up\n\nrun\nmake p\n\n"
    )
    assert text.endswith(" human\nbegin with Rome")


@pytest.mark.parametrize("field", sorted(set(SAMPLES) - {"awaiting"}))
def test_each_field_that_somebody_sets_is_read(person: Context, field: str) -> None:
    """What a task waits for has a test of its own."""
    tasks.create(person, [Draft(title="prices"), Draft(title="above"), Draft(title="before")])
    bare = whole(person, News(), "task-1")
    with person.team.tasks.change("a test") as change:
        first, *others = change.value.tasks
        changed = (replace(first, **{field: SAMPLES[field]}), *others)
        change.value = replace(change.value, tasks=changed)
    assert whole(person, News(), "task-1") != bare, f"whole of view/reading.py leaves out {field}"


def test_what_it_waits_for_comes_first(person: Context) -> None:
    tasks.create(person, [Draft(title="prices", requires=Gate.REVIEW)])
    tasks.claim(person, "1")
    with pytest.raises(Refused):  # it waits for the review that it requires
        tasks.complete(person, "1", "they are made")
    text = whole(person, News(), "task-1")
    assert text.startswith("task-1: prices\nin progress, human, awaiting review\n\nresult\nthey are made")


def test_a_message_is_read_to_its_end(person: Context) -> None:
    messages.send(person, "human", "first\n" + "word " * 100 + "last")
    news = look(person, News())
    [letter] = news.letters
    head, _, body = whole(person, news, letter.message.id).partition("\n\n")
    assert head.startswith("human, ")
    assert body == letter.message.content


def test_what_is_gone_is_not_found(person: Context) -> None:
    with pytest.raises(NotFound, match="there is no task-7"):
        whole(person, News(), "task-7")


@given(st.text(st.sampled_from("ab 日e\u0301🚀\n\t\x1b"), max_size=200), st.integers(2, 40))
def test_every_row_fits_and_no_letter_is_lost(text: str, columns: int) -> None:
    rows = wrapped(text, columns)
    assert all(columns_of(row) <= columns for row in rows)
    shown = "".join(rows).replace(" ", "")
    assert shown == text.replace("\x1b", "\\x1b").replace(" ", "").replace("\n", "").replace("\t", "")


@pytest.mark.parametrize("line", ["x" * 1_000_000, "x" * 999_999 + "ä", "word " * 200_000], ids=["x", "ä", "words"])
def test_a_line_of_any_length_is_broken_once(line: str) -> None:
    """The changes of a bundle kept all news and acts waiting for minutes."""
    begun = time.process_time()
    rows = wrapped(line, 80)
    assert time.process_time() - begun < 5
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")


def test_of_many_changes_no_more_rows_are_kept_than_lines(tmp_path: Path, person: Context) -> None:
    """One long line is as many rows as it takes."""
    put(repository_in(tmp_path), "bundle", "x" * 80 * (LINES + 100))
    members.spawn(person, [members.SeatDraft(name="w1")], 1)
    rows = changes(person, "w1", 80)
    assert (len(rows), rows[-1]) == (LINES + 1, "… and more: pro0 diff w1")


def test_words_stay_whole_where_they_can() -> None:
    assert wrapped("a word and anotherword that", 10) == ["a word and", "anotherwor", "d that"]


@pytest.mark.parametrize("key", ["enter", "escape", "q"])
def test_who_has_read_goes_back_and_copies_nothing(key: str) -> None:
    scroll = Scroll([f"row {number}" for number in range(50)], 9, from_top=True)
    assert scroll.rows(40, 10)[0] == "row 0"
    assert scroll.press(Key(b"", "page-down")) is None
    assert scroll.rows(40, 10)[0] == "row 9"
    assert scroll.press(Key(b"", key)) == ViewRequest("back")


def test_an_empty_search_seeks_what_was_sought_before_if_anything() -> None:
    scroll = Scroll(["one", "two", "one", "three"], 9)
    for name in ("n", "/", "enter"):
        scroll.press(Key(b"", name))
    assert "no search yet: / begins one" in scroll.rows(60, 5)[-1]
    for name in ("/", *"one", "enter", "/", "enter"):
        scroll.press(Key(b"", name))
    assert scroll.rows(60, 5)[-1].startswith("\x1b[7m 1/4 ")
