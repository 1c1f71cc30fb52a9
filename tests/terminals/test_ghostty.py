"""The screen model: what programs print is shown as tmux shows it, and nothing breaks it."""

import random
import resource
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.rules.screens.escapes import plain
from pro0.terminals.ghostty import Ghostty
from pro0.terminals.library import library
from tests.waiting import wait_until

STREAMS = {
    "plain": b"one\r\ntwo\tx\r\n\r\nfour",
    "scrolled": b"".join(b"line %d\r\n" % n for n in range(100)),
    "colours": b"\x1b[1;31mred\x1b[0m \x1b[48;5;22mgreen\x1b[K\x1b[0m\r\n\x1b[38;2;1;2;3mrgb\x1b[0m",
    "wide": "你好 世界 é 한글\r\n|".encode(),
    "wrapped": b"x" * 200 + b"\r\n" + b"y" * 80 + b"z",
    "alternate": b"before\r\n\x1b[?1049h\x1b[2J\x1b[5;10Hinside\x1b[1;1Htop",
    "back": b"before\r\n\x1b[?1049h\x1b[2Jinside\x1b[?1049lafter",
    "region": b"".join(b"%d\r\n" % n for n in range(20)) + b"\x1b[5;10r\x1b[10;1H\n\n\nnew\x1b[r\x1b[1;1Htop",
    "editing": b"abcdef\x1b[3D\x1b[2Pxy\r\nabc\x1b[2D\x1b[3@\x1b[1K\r\nlast\x1b[1A\x1b[L\x1b[5;5Hfive\x1b[1J",
    "boxes": "┌──┐\r\n│ ✔│\r\n└──┘ ❯ › ● ⏺".encode(),
}


@pytest.fixture
def screen() -> Iterator[Ghostty]:
    one = Ghostty(str(library()), 80, 24, 10000, lambda answer: None)
    yield one
    one.close()


def texts(screen: Ghostty) -> list[str]:
    return [plain(row).rstrip() for row in screen.rows()]


@pytest.mark.parametrize("stream", STREAMS.values(), ids=list(STREAMS))
def test_screens_are_those_of_tmux_row_by_row(screen: Ghostty, stream: bytes, tmp_path: Path) -> None:
    """Must show 3."""
    screen.feed(stream)
    (tmp_path / "stream").write_bytes(stream)
    server = ("tmux", "-u", "-L", f"model-{uuid.uuid4().hex[:8]}", "-f", "/dev/null")
    show = f"stty raw -echo; cat {tmp_path}/stream; touch {tmp_path}/done; exec sleep 600"
    try:
        subprocess.run([*server, "new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", show], check=True)
        subprocess.run([*server, "set-option", "-g", "status", "off"], check=True)
        wait_until((tmp_path / "done").exists, 20, "all is printed")

        def same() -> bool:
            done = subprocess.run([*server, "capture-pane", "-p"], capture_output=True, text=True, check=True)
            # tmux 3.6 and newer print a tab as a tab.
            rows = [row.expandtabs().rstrip() for row in done.stdout.removesuffix("\n").split("\n")]
            return (rows + [""] * 24)[:24] == texts(screen)

        wait_until(same, 20, f"tmux shows {texts(screen)}")
    finally:
        subprocess.run([*server, "kill-server"], check=False, capture_output=True)


def test_random_bytes_and_sizes_break_nothing(screen: Ghostty) -> None:
    """In the guard a fault here would be its end; so every call is made after every kind of input."""
    rng = random.Random(5)
    pieces = [
        *STREAMS.values(),
        b"\x1b[",
        b"\x1b]0;",
        b"\x07",
        b"\xff\xfe",
        "👨‍👩‍👧".encode(),
        b"\x1b[?1049h",
        b"\x1b[?1049l",
    ]
    for _ in range(300):
        screen.feed(rng.choice(pieces) if rng.random() < 0.7 else rng.randbytes(200))
        if rng.random() < 0.1:
            screen.resize(rng.randint(2, 300), rng.randint(2, 100))
        rows, cursor = screen.rows(), screen.cursor()
        assert 0 <= cursor.line < len(rows)
        assert screen.title() is not None
        assert screen.text(5).count("\n") < 5
        assert len(screen.history()) >= 0
        assert screen.mode(2004) in (True, False)
    kept = screen.rows()
    assert [row != again for row, again in zip(kept, screen.rows(), strict=True)] == [False] * len(kept)


@pytest.mark.parametrize("cut", range(1, 7))
def test_keys_with_modifiers_are_asked_for_however_the_words_are_cut(screen: Ghostty, cut: int) -> None:
    for words, level in ((b"\x1b[>4;1m", 1), (b"a\x1b[>4;2m", 2), (b"\x1b[>4m b", 0)):
        for piece in (words[:cut], words[cut:]):
            screen.feed(piece)
        screen.feed(b"text")
        assert screen.modified_keys() == level


KINDS = {
    "plain": "line {0}",
    "full": "{0} " + "x" * 70,
    "colours": "\x1b[32m ok \x1b[0m \x1b[38;5;240mline\x1b[0m \x1b[1;31m{0} failed\x1b[0m",
    "true colours": "\x1b[38;2;{1};{1};9mone \x1b[38;2;9;{1};{1}mtwo \x1b[0m{0}",
    "links": "\x1b]8;;http://example/{0}\x1b\\link\x1b]8;;\x1b\\ {0}",
    "emoji": "👨‍👩‍👧 👍🏽 🏳️‍🌈 {0}",
}


def printed(screen: Ghostty, kind: str, first: int, last: int) -> None:
    """Print these lines, some at a time."""
    for start in range(first, last, 500):
        lines = (KINDS[kind].format(number, number % 256) for number in range(start, start + 500))
        screen.feed("".join(f"{line}\r\n" for line in lines).encode())


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_lines_are_kept_and_not_twice_that(screen: Ghostty, kind: str, columns: int) -> None:
    screen.resize(columns, 50)
    printed(screen, kind, 0, 25000)
    assert 10000 <= len(screen.history()) <= 21000
    last, before = reversed(screen.text(2).split("\n"))
    assert "24999" in last
    assert "24998" in before


@pytest.mark.parametrize("columns", [20, 80, 300])
def test_ten_thousand_lines_are_kept_in_another_size(screen: Ghostty, columns: int) -> None:
    printed(screen, "plain", 0, 12000)
    screen.resize(columns, 30)
    assert len(screen.history()) >= 10000
    printed(screen, "plain", 12000, 25000)
    assert 10000 <= len(screen.history()) <= 21000


def test_the_memory_of_old_lines_is_used_again(screen: Ghostty) -> None:
    """Counted in pages that the system had to give: to get them anew for new lines takes fifteen times as long."""
    printed(screen, "plain", 0, 30000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    printed(screen, "plain", 30000, 40000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000


def test_rows_hold_nothing_but_text_and_colours(screen: Ghostty) -> None:
    screen.feed(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b]4;1;red\x07\x1b[31mred\x1b]133;A\x07\x1b[0m")
    rows = "\n".join(screen.rows())
    assert "\x1b]" not in rows
    assert plain(rows).startswith("linkred")


def test_rows_without_text_have_the_background_they_were_erased_with(screen: Ghostty) -> None:
    screen.feed(b"\x1b[44m\x1b[2K\x1b[2;5H\x1b[41m\x1b[3X\x1b[3;1H\x1b[48;2;1;2;3m\x1b[1K\x1b[4;79H\x1b[K\x1b[0m")
    assert screen.rows()[:5] == [
        f"\x1b[0m\x1b[48;5;4m{' ' * 80}\x1b[0m",
        "\x1b[0m    \x1b[0m\x1b[48;5;1m   \x1b[0m",
        "\x1b[0m\x1b[48;2;1;2;3m \x1b[0m",
        f"\x1b[0m{' ' * 78}\x1b[0m\x1b[48;2;1;2;3m  \x1b[0m",
        "",
    ]
    screen.feed(b"\x1b[2J")
    screen.resize(40, 10)
    assert screen.rows() == [""] * 10
