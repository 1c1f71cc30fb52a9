"""Logs that go on in a new file: no line lost, none twice, by however many they are written (rulings 3.5)."""

import errno
import os
import resource
from pathlib import Path

import msgspec
import pytest
from filelock import lock_descriptor

from pro0.store import atomic, journal
from pro0.store.journal import Journal
from pro0.store.paths import rotated, rotation
from tests import crowd
from tests.faults import DONE, KILLED, MUTATING, Fault, count, fail_with, fault_at, in_child, kill_after, kill_before
from tests.waiting import STUCK, wait_until

NAME = "events.jsonl"
OPENING = ("open", "listdir")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LIMIT", 1000)


def append(folder: Path, *lines: object) -> None:
    with atomic.folder(folder) as descriptor:
        for line in lines:
            journal.append(descriptor, NAME, line)


def read(log: Journal) -> list[object]:
    return [msgspec.json.decode(line) for line in log.fresh()]


@pytest.mark.usefixtures("small")
def test_a_full_log_goes_on_in_a_new_file(tmp_path: Path) -> None:
    append(tmp_path, *range(1000))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["events-000001.jsonl", "events-000002.jsonl", "events-000003.jsonl", NAME]
    assert all(1000 <= (tmp_path / name).stat().st_size < 1010 for name in names[:-1])
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.iterdir())
    assert read(Journal(tmp_path / NAME)) == list(range(1000))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("number", [0, 1, 50, 400, 1000, 5000])
def test_the_last_lines_are_read_across(tmp_path: Path, number: int) -> None:
    append(tmp_path, *range(1000))
    log = Journal(tmp_path / NAME)
    assert [int(line) for line in log.last(number)] == list(range(1000))[max(0, 1000 - number) :]
    assert read(log) == []
    append(tmp_path, *range(1000, 1700))
    assert read(log) == list(range(1000, 1700))


@pytest.mark.usefixtures("small")
def test_a_reader_that_follows_misses_nothing(tmp_path: Path) -> None:
    log, found = Journal(tmp_path / NAME), list[object]()
    for start in range(0, 2000, 37):
        append(tmp_path, *range(start, start + 37))
        found += read(log)
    assert found == list(range(len(found)))


def test_a_log_that_goes_on_in_a_new_file_while_it_is_read_stays_in_order(tmp_path: Path) -> None:
    """The file that is renamed meanwhile has been opened before; the new one waits for the next look."""
    (tmp_path / rotated(NAME, 1)).write_bytes(b"1\n")
    (tmp_path / NAME).write_bytes(b"2\n")
    log = Journal(tmp_path / NAME)
    look = log.fresh()
    assert next(look) == b"1"
    (tmp_path / NAME).rename(tmp_path / rotated(NAME, 2))
    (tmp_path / NAME).write_bytes(b"3\n")
    assert list(look) == [b"2"]
    assert list(log.fresh()) == [b"3"]


def test_a_line_that_is_not_whole_is_read_later(tmp_path: Path) -> None:
    log = Journal(tmp_path / NAME)
    (tmp_path / NAME).write_bytes(b"1\n2")
    assert list(log.fresh()) == [b"1"]
    with (tmp_path / NAME).open("ab") as file:
        file.write(b"3\n")
    assert list(log.fresh()) == [b"23"]


@pytest.mark.parametrize("before", [b'{"at":"1"}\n', b""])
@pytest.mark.parametrize("cut", [b'{"at":"2","ev', b'{"at":"2"}', b"\0" * 8])
def test_a_line_that_was_cut_spoils_no_later_one(cut: bytes, before: bytes, tmp_path: Path) -> None:
    """The machine lost its power, or the writer was killed within the write."""
    (tmp_path / NAME).write_bytes(before + cut)
    append(tmp_path, {"at": "3"}, {"at": "4"})
    assert (tmp_path / NAME).read_bytes() == before + cut + b'\n{"at":"3"}\n{"at":"4"}\n'
    assert list(Journal(tmp_path / NAME).fresh())[-2:] == [b'{"at":"3"}', b'{"at":"4"}']


def test_an_empty_line_is_none(tmp_path: Path) -> None:
    """Two writers may end the same line, or one a line that another is still writing."""
    (tmp_path / NAME).write_bytes(b"1\n\n2\n\n")
    assert list(Journal(tmp_path / NAME).fresh()) == [b"1", b"2"]
    assert list(Journal(tmp_path / NAME).last(2)) == [b"1", b"2"]


def test_a_pipe_in_the_place_of_a_log_takes_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(OSError, match="No such device or address"):
        append(tmp_path, 1)


def fills(folder: Path) -> None:
    """Append a line for which there is room in part, and another once there is more."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    append(folder, "whole")
    resource.setrlimit(resource.RLIMIT_FSIZE, (len('"whole"\n"par'), most))
    with pytest.raises(OSError, match="No space left on device"):
        append(folder, "part of it")
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    append(folder, "later")
    assert list(Journal(folder / NAME).fresh()) == [b'"whole"', b'"pa', b'"later"']


def test_a_line_for_which_there_is_no_room_spoils_no_other(tmp_path: Path) -> None:
    """The file system of a disk that is nearly full writes what fits, and says how much."""
    crowd.all_end_well([crowd.start(fills, tmp_path)], STUCK)


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "else").write_text("1\n")
    (tmp_path / NAME).symlink_to(tmp_path / "else")
    os.mkfifo(tmp_path / rotated(NAME, 1))
    assert list(Journal(tmp_path / NAME).fresh()) == []
    assert list(Journal(tmp_path / "gone" / NAME).fresh()) == []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.EACCES])
def test_who_must_be_certain_is_told_of_what_is_out_of_reach(code: int, tmp_path: Path) -> None:
    """Others read what can be read; what is no log for good is no reason for anybody."""
    append(tmp_path, *range(300))
    os.mkfifo(tmp_path / rotated(NAME, 7))
    (tmp_path / rotated(NAME, 8)).symlink_to(tmp_path / NAME)
    expected = list(Journal(tmp_path / NAME).certain())
    calls = count(lambda: list(Journal(tmp_path / NAME).certain()), OPENING)
    assert len(expected) == 300
    assert len(calls) > 3
    for number, call in enumerate(calls, 1):
        is_a_log = not call.about.endswith((rotated(NAME, 7), rotated(NAME, 8)))
        with fault_at(number, fail_with(code), OPENING):
            assert (len(list(Journal(tmp_path / NAME).fresh())) < 300) == is_a_log
        with fault_at(number, fail_with(code), OPENING), pytest.raises(OSError, match=os.strerror(code)):
            list(Journal(tmp_path / NAME).certain())
    assert list(Journal(tmp_path / "gone" / NAME).certain()) == []


def test_of_a_file_that_is_too_long_the_end_is_read(tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(1024 * 1024 * 1024)
    append(tmp_path, 1)
    append(tmp_path, 2)
    assert [line.lstrip(b"\0") for line in Journal(tmp_path / NAME).last(5)] == [b"", b"1", b"2"]


@pytest.mark.usefixtures("small")
def test_of_a_file_that_is_too_long_the_last_two_limits_are_read(tmp_path: Path) -> None:
    lines = [b"%03d" % number for number in range(501)]
    (tmp_path / NAME).write_bytes(b"".join(line + b"\n" for line in lines))
    assert list(Journal(tmp_path / NAME).fresh()) == lines[1:]
    log = Journal(tmp_path / NAME)
    assert log.last(2) == lines[-2:]
    assert list(log.fresh()) == []


def test_a_long_line_is_read_in_parts(tmp_path: Path) -> None:
    line = b"x" * 3_000_000
    (tmp_path / NAME).write_bytes(line + b"\nshort\n" + line)
    log = Journal(tmp_path / NAME)
    assert list(log.fresh()) == [line, b"short"]
    with (tmp_path / NAME).open("ab") as file:
        file.write(b"y\n")
    assert list(log.fresh()) == [line + b"y"]


def test_nobody_waits_for_the_reader_of_a_pipe(tmp_path: Path) -> None:
    """Reliability 30"""
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(OSError, match="No such device"):
        append(tmp_path, 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("before", "rotates"), [(997, False), (998, True)])
def test_the_limit_at_which_a_log_goes_on_in_a_new_file(tmp_path: Path, before: int, rotates: bool) -> None:
    (tmp_path / NAME).write_bytes(b"x" * (before - 1) + b"\n")
    append(tmp_path, 1)
    assert (tmp_path / rotated(NAME, 1)).exists() == rotates
    assert (tmp_path / NAME).exists() != rotates


@pytest.mark.usefixtures("small")
def test_whoever_finds_a_full_log_waits_for_nobody(tmp_path: Path) -> None:
    """Another writer is about to give it its new name, or somebody looks; the next writer tries again."""
    (tmp_path / NAME).write_bytes(b"0\n" * 600)
    with (tmp_path / NAME).open("rb") as other:
        assert lock_descriptor(other.fileno(), blocking=False)
        append(tmp_path, 1)
        assert os.listdir(tmp_path) == [NAME]
    append(tmp_path, 2)
    assert os.listdir(tmp_path) == [rotated(NAME, 1)]
    assert read(Journal(tmp_path / NAME)) == [0] * 600 + [1, 2]


def test_only_the_very_file_that_is_full_gets_a_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a link to it; and the first number when no file is seen."""
    (tmp_path / "real").touch()
    (tmp_path / NAME).symlink_to("real")
    with atomic.folder(tmp_path) as folder, (tmp_path / "real").open("ab") as file:
        journal._rotate(folder, NAME, file.fileno())
        assert sorted(os.listdir(tmp_path)) == [NAME, "real"]
        os.rename(tmp_path / "real", tmp_path / NAME)
        with monkeypatch.context() as patched:
            patched.setattr(os, "listdir", lambda _folder: [])
            journal._rotate(folder, NAME, file.fileno())
    assert os.listdir(tmp_path) == [rotated(NAME, 1)]


def test_what_json_cannot_say_is_written_as_text(tmp_path: Path) -> None:
    append(tmp_path, {"at": tmp_path})
    assert read(Journal(tmp_path / NAME)) == [{"at": str(tmp_path)}]


@pytest.mark.parametrize("name", ["events.jsonl", "events-1.jsonl", "events-000000.jsonl", "events-00000x.jsonl", "x"])
def test_other_files_are_none_of_a_log(name: str) -> None:
    assert rotation(NAME, name) == 0


def write(folder: Path, name: str, number: int) -> None:
    journal.LIMIT = 1500
    for each in range(number):
        append(folder, [name, each])


@pytest.mark.parametrize("writers", [4])
def test_many_write_while_it_rotates(tmp_path: Path, writers: int) -> None:
    """No lock, no line lost or doubled, each writer's lines in order in the order of the files."""
    log, found = Journal(tmp_path / NAME), list[list[object]]()
    names = [f"w{number}" for number in range(writers)]
    processes = [crowd.start(write, tmp_path, name, 1500) for name in names]

    def follow() -> bool:
        found.extend(msgspec.json.decode(line) for line in log.fresh())
        return all(process.exitcode is not None for process in processes)

    wait_until(follow, 60, "the end of all writers")
    crowd.all_end_well(processes)
    follow()
    expected = [[name, count] for name in names for count in range(1500)]
    whole = [msgspec.json.decode(line) for line in Journal(tmp_path / NAME).fresh()]
    assert len(list(tmp_path.iterdir())) > 10
    for lines in (found, whole):
        assert sorted(lines) == expected
    assert len(whole) == len(expected)


@pytest.mark.usefixtures("small")
def test_a_file_goes_on_until_its_last_byte() -> None:
    lines = [(0, b"x" * 110 + b"\n")] * 9  # one byte less than fills a file
    assert [(name, len(data)) for name, data in journal.files_of(NAME, lines)] == [(NAME, 999)]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("full", [(), (1,), (1, 3)])
@pytest.mark.parametrize("number", [0, 1, 9, 10, 11, 20, 25])
def test_lines_become_files_that_are_read_in_their_order(tmp_path: Path, full: tuple[int, ...], number: int) -> None:
    """As a team comes back from a database: full files as they were, the rest in as many as they fill, none empty."""
    lines = [(file, b"%099d\n" % count) for file in (*full, 0) for count in range(number if file == 0 else 12)]
    made = dict(journal.files_of(NAME, lines))
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    assert {rotated(NAME, file) for file in full} <= made.keys()
    made_numbers = sorted(rotation(NAME, name) or 0 for name in made if name != NAME)
    assert all(
        len(data) == (1200 if rotation(NAME, name) in full else 1000) for name, data in made.items() if name != NAME
    )
    present = [number for number in made_numbers if number not in full]
    first = max(full, default=0) + 1
    assert present == [*range(first, first + len(present))]
    assert len(made.get(NAME, b"")) == number % 10 * 100
    assert (NAME in made) == (number % 10 > 0)
    assert [line + b"\n" for line in Journal(tmp_path / NAME).fresh()] == [line for _, line in lines]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("fault", [kill_before, kill_after, fail_with(28)])
def test_killed_or_failing_at_every_call(tmp_path: Path, fault: Fault) -> None:
    """The line is there or not, all others are, and the next writer goes on."""
    for at in range(1, 20):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / rotated(NAME, 1)).write_text("0\n" * 600)
        (folder / NAME).write_text("1\n" * 499)
        ended = in_child(lambda folder=folder: append(folder, 2), at, fault, MUTATING)  # type: ignore[misc]
        append(folder, 3)
        append(folder, *[4] * 600)
        found = read(Journal(folder / NAME))
        assert [line for line in found if line != 2] == [0] * 600 + [1] * 499 + [3] + [4] * 600, at
        assert found.count(2) <= 1
        assert found.count(2) == 1 or ended != DONE
        if ended == DONE and fault in (kill_before, kill_after):
            return
        assert ended != DONE or fault not in (kill_before, kill_after)
        assert ended == KILLED or fault not in (kill_before, kill_after)
    assert fault not in (kill_before, kill_after)


def test_a_log_is_made_before_it_is_needed(tmp_path: Path) -> None:
    with atomic.folder(tmp_path) as folder:
        for _ in range(2):
            journal.check(folder, NAME)
            assert (tmp_path / NAME).read_bytes() == b""
            assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600
        (tmp_path / NAME).unlink()
        (tmp_path / NAME).symlink_to(tmp_path / "else")
        with pytest.raises(OSError, match="symbolic"):
            journal.check(folder, NAME)
    assert not (tmp_path / "else").exists()


def test_a_log_that_was_cut_is_read_from_its_start(tmp_path: Path) -> None:
    log = Journal(tmp_path / NAME)
    (tmp_path / NAME).write_bytes(b"1\n2\nhalf")
    assert list(log.fresh()) == [b"1", b"2"]
    (tmp_path / NAME).write_bytes(b"3\n")
    assert list(log.fresh()) == [b"3"]
    assert list(log.fresh()) == []
