"""What a place of documents promises, and the documents of a team as a whole: the same of each kind of store."""

import errno
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pro0.errors import ErrorCode, Pro0Error, StoreError, Unwritable
from pro0.store.files import SIZE_LIMIT
from pro0.store.paths import CONFIG, LOCK, MESSAGES, PERMISSIONS, RUNTIME, TASKS, TROUBLES, USAGE, WANTED
from pro0.store.places.place import DocumentPlace
from pro0.store.places.promises import Documents
from tests.faults import EVERY, fail_with, fault_at
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.usefixtures("no_sync")
MISSING = ("No such file or directory", "there is no such document")


def write(place: DocumentPlace, name: str, data: bytes) -> None:
    with place.open() as opened:
        opened.replace(name, data)


def test_a_document_is_read_whole_or_not_at_all(empty: DocumentPlace) -> None:
    write(empty, "x.json", b"12345")
    with empty.open() as opened:
        assert opened.read("x.json", 5) == opened.read("x.json", SIZE_LIMIT) == b"12345"
        with pytest.raises(OSError, match="more than 4"):
            opened.read("x.json", 4)
        with pytest.raises(FileNotFoundError) as absent:
            opened.read("y.json", 5)
        assert (absent.value.errno, absent.value.filename) == (errno.ENOENT, "y.json")
        assert absent.value.strerror in MISSING


def test_who_holds_a_place_sees_what_it_has_written(empty: DocumentPlace) -> None:
    with empty.locked("a test") as opened:
        opened.replace("x.json", b"1")
        assert opened.read("x.json", 1) == b"1"
        assert opened.holds("x.json")


def test_a_place_is_named_by_its_kind_its_team_and_what_is_in_it(empty: DocumentPlace, documents: Documents) -> None:
    assert empty.path.parts[-3::2] == ("mailboxes", "w1")
    assert empty.path.parent == documents.mailboxes.path
    assert documents.tasks.path.parts[-2] == "tasks"
    assert documents.tasks.path.name == documents.mailboxes.path.name == documents.team.path.name


def test_a_document_that_is_not_there_has_no_stamp(empty: DocumentPlace) -> None:
    with pytest.raises(FileNotFoundError) as absent:
        empty.stamp("y.json")
    assert absent.value.errno == errno.ENOENT
    assert Path(absent.value.filename).name == "y.json"
    assert absent.value.strerror in MISSING


@pytest.mark.parametrize(
    ("error", "kind", "code", "words"),
    [
        (OSError("it has 9 bytes"), StoreError, ErrorCode.STORE_CORRUPT, "it has 9 bytes"),
        (OSError(errno.EMFILE, "Too many"), StoreError, StoreError("").code, "Too many (EMFILE)"),
        (OSError(errno.ENOSPC, "Full"), Unwritable, Unwritable("").code, "Full (ENOSPC)"),
    ],
    ids=["too large", "too many files", "full"],
)
def test_an_error_of_the_system_is_told_for_what_it_is(
    empty: DocumentPlace, error: OSError, kind: type[StoreError], code: str, words: str
) -> None:
    """A document is called damaged only when it is."""
    with pytest.raises(StoreError) as told:
        empty.translate(error, "x.json")
    assert (type(told.value), told.value.code) == (kind, code)
    assert told.value.message == f"cannot use {empty.path / 'x.json'}: {words}"


def test_the_stamp_of_a_document_is_another_after_each_change(empty: DocumentPlace) -> None:
    stamps = []
    for data in (b"1", b"2", b"2"):
        write(empty, "x.json", data)
        write(empty, "y.json", data)
        stamps.append(empty.stamp("x.json"))
        write(empty, "y.json", b"another")
        assert empty.stamp("x.json") == stamps[-1]
    assert len({*stamps}) == 3


def test_the_places_in_a_place_are_told_in_order(empty: DocumentPlace) -> None:
    """Not its documents, and each place once, however much is in it."""
    assert (empty.folders(), empty.within("nothing").folders()) == ([], [])
    write(empty, "x.json", b"1")
    for name in ("c", "a", "b"):
        with empty.locked("a test") as opened, opened.within(name) as inside:
            inside.replace("1.json", b"1")
            inside.replace("2.json", b"2")
            with inside.within("deep") as below:
                below.replace("3.json", b"3")
    assert empty.folders() == ["a", "b", "c"]
    assert {*empty.names()} - {LOCK} == {"a", "b", "c", "x.json"}


def test_the_places_of_a_team_are_there_with_it(documents: Documents) -> None:
    for place in (documents.team, documents.tasks, documents.mailboxes):
        assert place.is_there()
        assert not place.within("nothing").is_there()


@pytest.mark.files
@pytest.mark.parametrize("call", ["listdir", "scandir"])
def test_a_place_that_cannot_be_listed_is_not_taken_for_an_empty_one(call: str, empty: DocumentPlace) -> None:
    with fault_at(1, fail_with(errno.EMFILE), (call,)), pytest.raises(StoreError, match=r"w1: .*EMFILE"):
        print(empty.names(), empty.folders())


@pytest.mark.files
def test_a_place_behind_a_link_is_none(empty: DocumentPlace, tmp_path: Path) -> None:
    tmp_path.joinpath("outside").mkdir()
    (empty.path / "link").symlink_to(tmp_path / "outside")
    assert empty.folders() == []


ACTS: dict[str, Callable[[Documents], object]] = {
    "wanted": lambda documents: write(documents.team, WANTED, b"{}"),
    "runtime": lambda documents: write(documents.team, RUNTIME, b"{}"),
    "tasks": lambda documents: write(documents.tasks, TASKS, b"{}"),
    "an event": lambda documents: documents.log({"event": "x"}),
    "config": lambda documents: write(documents.team, CONFIG, b"{}"),
    "usage": lambda documents: write(documents.team, USAGE, b"{}"),
    "troubles": lambda documents: write(documents.team, TROUBLES, b"{}"),
    "permissions": lambda documents: write(documents.team, PERMISSIONS, b"{}"),
    "mail": lambda documents: write(box_of(documents, "w1"), MESSAGES, b"{}"),
}


def box_of(documents: Documents, name: str) -> DocumentPlace:
    box = documents.mailboxes.within(name)
    box.make()
    return box


@pytest.mark.parametrize("act", ACTS)
def test_the_signs_of_a_team_are_others_after_each_change(documents: Documents, act: str) -> None:
    """So that a list that is shown is read again only when it may be another."""
    signs = []
    for _ in range(3):
        ACTS[act](documents)
        signs.append(tuple(documents.signs()))
        assert tuple(documents.signs()) == signs[-1]
    assert len({*signs}) == 3


@pytest.mark.files
def test_the_signs_of_a_team_cost_a_stat_a_file(documents: Documents) -> None:
    """They are looked at every two seconds, of every team of a home."""
    for name in ("w1", "w2"):
        box_of(documents, name)
    for act in ACTS.values():
        act(documents)
    with fault_at(0, fail_with(errno.EIO), EVERY) as seen:
        signs = [*documents.signs()]
    assert len(signs) == len(ACTS)
    assert Counter(call.name for call in seen.seen) == {"stat": len(ACTS) + 1, "listdir": 1}


def test_a_watch_without_a_descriptor_to_have_leaves_none_open(documents: Documents) -> None:
    """Whoever finds none tries again and again."""
    documents.watch([documents.mailboxes], "x").close()  # what a process opens once, it has then
    before = psutil.Process().num_fds()
    for at in (1, 2):
        with suppress(OSError), fault_at(at, fail_with(errno.EMFILE), ("pipe",)):
            documents.watch([documents.mailboxes], "x").close()
    assert psutil.Process().num_fds() == before


def test_a_watch_tells_of_what_was_asked_for(documents: Documents) -> None:
    """Of a change below a place too."""
    box = documents.mailboxes.within("w1")
    box.make()
    watch = documents.watch([documents.mailboxes], r"x\.json")
    told = 0

    def tells() -> bool:
        nonlocal told
        told += 1
        with suppress(Pro0Error):
            write(box, "x.json", b"%d" % told)
        return watch.drain()

    try:
        wait_until(tells, STUCK, "it looks")
        wait_until(lambda: not watch.drain(), STUCK, "it has told all")
        write(box, "x.json", b"last")
        wait_until(watch.drain, STUCK, "it tells")
    finally:
        watch.close()
