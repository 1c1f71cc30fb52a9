"""Files of JSON lines that grow, are cut and are replaced."""

import errno
import os
from datetime import UTC, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.agents.transcripts import NOTE, Follower, decoded, head, matching, shortened, sure_value, tail, value
from pro0.rules.screens.rate_limits import is_limit, named_end
from tests.faults import fail_about, fail_with, fault_at
from tests.teams import NOW

NUMBER = msgspec.json.Decoder(int)


@given(cuts=st.lists(st.integers(0, 60), max_size=12))
def test_every_line_once_however_the_file_grows(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("grows") / "file"
    whole = b"".join(b"%d\n" % n for n in range(20))
    follower, got = Follower(path), []
    for cut in (*sorted(cuts), len(whole)):
        path.write_bytes(whole[:cut])
        got += follower.read(NUMBER)
    assert got == list(range(20))


def test_lines_that_are_none_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b'1\n{"half": \n\n\xff\n"two"\n2\n3')
    assert Follower(path).read(NUMBER) == [1, 2]


def test_a_file_that_was_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_bytes(b"1\n2\n")
    follower = Follower(path)
    assert follower.read(NUMBER) == [1, 2]
    other.write_bytes(b"7\n8\n9\n")
    other.replace(path)
    assert follower.read(NUMBER) == [7, 8, 9]


def test_a_file_that_was_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1\n2\n")
    follower = Follower(path)
    assert follower.read(NUMBER) == [1, 2]
    path.write_bytes(b"3\n")
    assert follower.read(NUMBER) == [3]


def test_one_look_reads_no_more_than_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1\n2\n3\n")
    follower = Follower(path)
    assert [follower.read(NUMBER, limit=3) for _ in range(4)] == [[1], [2], [3], []]


def test_a_line_that_is_larger_than_the_limit_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1\n" + b"9" * 50 + b"\n2\n")
    follower = Follower(path)
    got = [number for _ in range(20) for number in follower.read(NUMBER, limit=8)]
    assert got == [1, 2]


@pytest.mark.parametrize(("limit", "lines"), [(100, [1, 22, 333]), (8, [22, 333]), (7, [333]), (4, []), (1, [])])
def test_the_tail_holds_whole_lines_only(tmp_path: Path, limit: int, lines: list[int]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1\n22\n333\n")
    assert tail(path, NUMBER, limit) == lines


def test_what_is_no_file_holds_nothing(tmp_path: Path) -> None:
    """A pipe in a file's place would hold up whoever opens it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "none", tmp_path / ("x" * 300)):
        follower = Follower(path)
        assert (follower.read(NUMBER), follower.failed) == ([], False)
        assert tail(path, NUMBER) == []
        assert head(path, 10) == b""
        assert value(path, NUMBER) is None


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.EMFILE, errno.ESTALE])
@pytest.mark.parametrize("call", ["open", "fstat"])
def test_what_cannot_be_read_now_is_not_empty(tmp_path: Path, code: int, call: str) -> None:
    """Else a conversation would seem never begun, and a turn that failed would seem well."""
    path = tmp_path / "file"
    path.write_bytes(b"1\n")
    with fault_at(None, fail_with(code), (call,)):
        for read in (lambda: tail(path, NUMBER), lambda: head(path, 10)):
            with pytest.raises(OSError) as failed:
                read()
            assert (failed.value.errno, failed.value.filename) == (code, str(path))
        with pytest.raises(OSError):
            sure_value(path, NUMBER)
        assert value(path, NUMBER) is None
        follower = Follower(path)
        assert (follower.read(NUMBER), follower.failed) == ([], True)
    assert (follower.read(NUMBER), follower.failed) == ([1], False)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name in ("a/1.txt", "b/2.txt", "b/2.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "c").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (("*", "*.txt"), ["a/1.txt", "b/2.txt"]),
        (("*", "2.*"), ["b/2.log", "b/2.txt"]),
        (("b", "2.txt"), ["b/2.txt"]),
        (("*", "[1].txt"), ["a/1.txt"]),
        (("c", "*"), []),
        (("none", "*"), []),
        (("*", "x" * 300), []),
    ],
)
def test_each_level_has_its_pattern(folders: Path, patterns: tuple[str, ...], names: list[str]) -> None:
    found = sorted(str(path.relative_to(folders)) for path in matching(folders, *patterns, surely=True))
    assert found == names


@pytest.mark.parametrize(("code", "surely"), [(errno.EMFILE, False), (errno.EIO, True), (errno.EACCES, True)])
@pytest.mark.parametrize("pattern", ["*.txt", "1.txt"])
def test_what_may_be_in_a_folder_that_cannot_be_listed_is_not_missing(
    folders: Path, pattern: str, code: int, surely: bool
) -> None:
    with fault_at(None, fail_about(f"{folders}/a", code), ("scandir", "stat")):
        found = [*matching(folders, "b", "*.txt", surely=surely), *matching(folders, "*", "2.*", surely=surely)]
        assert len(found) == 3, "what is found elsewhere is found"
        with pytest.raises(OSError):
            list(matching(folders, "[ac]", pattern, surely=surely))


def test_a_folder_of_somebody_else_is_passed_over(folders: Path) -> None:
    with fault_at(None, fail_about(f"{folders}/a", errno.EACCES), ("scandir", "stat")):
        assert list(matching(folders, "[ac]", "*.txt")) == list(matching(folders, "[ac]", "1.txt")) == []


def test_what_an_agent_says_becomes_one_short_line() -> None:
    assert shortened("a\n  b\tc") == "a b c"
    assert len(shortened("x" * 9999)) < 300


HALVES = {
    r'"cut \ud83d"': "cut \ufffd",
    r'"\uDE00 behind"': "\ufffd behind",
    r'"\ud83d\ud83d\ude00"': "\ufffd\U0001f600",
    r'"\ud83d \ude00"': "\ufffd \ufffd",
    r'"\\ud83d \ud83d"': r"\ud83d" + " \ufffd",
    r'"\\\ud83d\n"': "\\\ufffd\n",
    r'"a\ud83d\"b"': 'a\ufffd"b',
}


@pytest.mark.parametrize(("line", "said"), HALVES.items())
def test_half_a_character_is_read_as_what_cannot_be_shown(line: str, said: str) -> None:
    assert decoded([line.encode(), msgspec.Raw(line.encode())], msgspec.json.Decoder(str)) == [said, said]


@pytest.mark.parametrize("line", [r'"\ud83d', r'{"a": "\ud83d"}', r'"\ud83"', r"\ud83d"])
def test_a_line_with_half_a_character_may_be_undecodable_all_the_same(line: str) -> None:
    assert decoded([line.encode()], msgspec.json.Decoder(str)) == []


LIMITS = {
    "Google": ("You exceeded your current quota, ", "Please retry in 2h47m56.584147483s", 10076.584147),
    "Google, soon": ("Quota exceeded for metric: x, limit: 20, ", "Please retry in 34s", 34),
    "OpenAI": ("Rate limit reached for x on tokens per min (TPM): ", "Please try again in 1 hour and 30 minutes", 5400),
    "Anthropic": ("API Error: 429 ", "resets at 2026-01-01T01:00:00Z", 3600),
    "a header": ("429 Too Many Requests ", "retry-after: 30", 30),
}
"""By provider: how an error begins, the words that name its end, and the seconds until then."""


@pytest.mark.parametrize("provider", LIMITS)
@given(before=st.integers(0, 2 * NOTE), within=st.integers(0, 2 * NOTE), behind=st.integers(0, 2 * NOTE))
def test_a_long_error_still_says_that_it_is_a_limit_and_when_it_ends(
    provider: str, before: int, within: int, behind: int
) -> None:
    """A note of another machine may be no longer."""
    begin, end, seconds = LIMITS[provider]
    note = shortened(f"{'see ' * (before // 4)}{begin}{'go ' * (within // 3)}{end} {'on ' * (behind // 3)}")
    assert len(note) <= NOTE
    assert is_limit(note)
    assert named_end(note, NOW, UTC) == NOW + timedelta(seconds=seconds)


@given(st.text(alphabet="ab 429retyin.s", max_size=3 * NOTE))
def test_a_note_begins_as_the_text_does(text: str) -> None:
    line, note = " ".join(text.split()), shortened(text)
    assert len(note) <= NOTE
    assert line.startswith(note.partition(" … ")[0])
    assert all(part in line for part in note.split(" … "))
