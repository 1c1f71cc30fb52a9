"""The words tmux is told: pure text, proved on a real parser."""

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, EnvironmentMissing, Refused
from pro0.model.runtime import Handle
from pro0.sessions.backend import Opening, Place
from pro0.sessions.starting import check, surroundings
from pro0.sessions.tmux.pasting import UNTOUCHED
from pro0.sessions.tmux.script import PaneRow, at_least, block, line, literal, ours, rows, word
from pro0.sessions.tmux.socket import SurroundingTmux
from pro0.sessions.tmux.windows import arrange, bring_up
from tests.waiting import STUCK

PLACE = Place("team", "0123456789abcdef", Path("/"))
HANDLE = Handle(backend="tmux", incarnation="a-1", pid=7, socket="/s", server_pid=5, server_start="99", pane="%3")
CORPUS = [
    ";",
    "x;",
    "\\;",
    "-R",
    "--",
    "#(id)",
    "#{pid}",
    "'",
    '"',
    "$HOME",
    "~",
    "{",
    "}",
    "%if",
    "a\tb",
    "é 🙂",
    "\x1b[",
    "\\",
]


def seats(number: int) -> list[Opening]:
    return [Opening(f"i-{n}", f"w-{n}", ("cat", "-"), Path("/l")) for n in range(number)]


def row(
    pane: str,
    window: str,
    *,
    tag: str = "i",
    window_team: str = PLACE.uid,
    name: str = "",
    size: tuple[int, int] = (220, 50),
    is_floating: bool = False,
) -> PaneRow:
    width, height = size
    return PaneRow(
        pane=pane,
        pid=1,
        server_pid=5,
        server_start="99",
        dead=False,
        is_floating=is_floating,
        window=window,
        session="$0",
        width=width,
        height=height,
        tag=tag,
        team=window_team,
        window_team=window_team,
        window_name=name,
        session_name="team",
        socket="/s",
    )


def test_every_word_reaches_tmux_as_it_is(home: Path) -> None:
    """35: through the script's quoting, for a payload corpus and every byte a word may hold."""
    corpus = [*CORPUS, "".join(map(chr, range(32, 127)))]
    sets = [line(("set-option", "-g", f"@w{n}", text)) for n, text in enumerate(corpus)]
    asked = [line(("show-options", "-gv", f"@w{n}")) for n in range(len(corpus))]
    assert told(*sets, *asked) == corpus


def told(*script: str) -> list[str]:
    """Return what a real server prints for the lines of a script."""
    done = subprocess.run(
        ["tmux", "-u", "-L", "words", "-f", "/dev/null", "start-server", ";", "source-file", "-"],
        input="\n".join(script),
        capture_output=True,
        text=True,
        timeout=STUCK,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


BEFORE = ["3.2", "3.2a", "3.3a", "3.6b", "next-3.6", "2.9a", "1.8", "", "master"]
NEWER = ["3.7", "3.7c", "3.7-rc", "next-3.7", "next-3.8", "3.8", "3.10", "3.10a", "3.70", "4.0", "next-4.0", "10.1"]


def test_a_version_is_compared_by_its_numbers(home: Path) -> None:
    """Compared as texts, 3.10 would come before 3.7, and next-3.6 after it."""
    versions = [*BEFORE, *NEWER]
    asked = [line(("display-message", "-p", f"{version}={at_least(3, 7, version)}")) for version in versions]
    assert told(*asked) == [f"{version}={int(version in NEWER)}" for version in versions]


def test_the_flag_that_keeps_bytes_is_given_where_the_server_has_it(home: Path) -> None:
    """From tmux 3.7 on, pasted control bytes become letters without it; before, no server takes it."""
    usage, has = told(line(("list-commands", "paste-buffer")), line(("display-message", "-p", UNTOUCHED)))
    flags = usage.split("[-")[1].split("]")[0]
    assert has == str(int("S" in flags)), usage


@pytest.mark.parametrize(
    ("text", "shown"),
    [("worker-1", "worker-1"), ("#(touch X)", "##(touch X)"), ("a\x1b]0;x\x07b\n", "a?]0;x?b?"), ("é", "é")],
)
def test_a_literal_means_nothing_to_tmux(text: str, shown: str) -> None:
    """40."""
    assert literal(text) == shown


def test_a_word_is_printable_whatever_it_holds() -> None:
    assert word("a;\n") == '"a\\073\\012"'
    assert block("c", "%1", "x", "y") == 'if-shell -F -t "%1" "c" { x } { y }'


@pytest.mark.parametrize(
    "changed",
    [
        {"incarnation": "x},1"},
        {"incarnation": ""},
        {"pane": "=team:"},
        {"pane": ""},
        {"server_start": "#{start_time}"},
    ],
    ids=str,
)
def test_a_handle_that_cannot_be_a_pane_is_refused(changed: dict[str, str]) -> None:
    """6, 39: only ids, never a name that might match something else."""
    fields = {"incarnation": "a-1", "pane": "%3", "server_start": "99"} | changed
    with pytest.raises(Refused) as refused:
        ours(Handle(backend="tmux", pid=7, socket="/s", server_pid=5, **fields))
    assert refused.value.code == "backend_stale"
    assert "a-1 7 5 99" in ours(HANDLE)


@pytest.mark.parametrize("text", ["", "%1", "%1 2 3", "%1 x 5 99 0 0 @0 $0 80 24 - - - - team:/s", "no server running"])
def test_what_is_not_a_pane_is_passed_over(text: str) -> None:
    assert rows([text]) == {}


@pytest.mark.parametrize("socket", ["/tmp/tmux-0/default", "/tmp/a,b/default", "/tmp/a,1,2/default"])
def test_the_surrounding_tmux_is_known_whatever_its_socket_is_called(socket: str) -> None:
    surrounding = SurroundingTmux(f"{socket},1234,5")
    assert (surrounding.socket, surrounding.server_pid, surrounding.session) == (socket, "1234", "$5")


def test_a_pane_is_read_with_odd_names() -> None:
    (found,) = rows(["%1 2 5 99 1 0 @0 $0 80 24 i - - - my team é:/a b/s"]).values()
    assert (found.session_name, found.socket, found.tag, found.dead) == ("my team é", "/a b/s", "i", True)


@pytest.mark.parametrize(
    ("number", "there", "session", "expected"),
    [
        (3, [], "", [("=team:=pro0-i-0", 3)]),
        (13, [], "", [("=team:=pro0-i-0", 6), ("=team:=pro0-i-6", 6), ("=team:=pro0-i-12", 1)]),
        (2, [row("%1", "@4")], "$0", [("@4", 2)]),
        (7, [row("%1", "@4")], "$0", [("@4", 5), ("$0:=pro0-i-5", 2)]),
        (1, [row(f"%{n}", "@4") for n in range(6)], "$0", [("$0:=pro0-i-0", 1)]),
        (1, [row("%1", "@4", window_team="-")], "$0", [("$0:=pro0-i-0", 1)]),
        (1, [row("%1", "@4", tag="-")], "$0", [("@4", 1)]),
        (5, [row("%1", "@4", window_team="-", size=(70, 15))], "$0", [("$0:=pro0-i-0", 4), ("$0:=pro0-i-4", 1)]),
        (2, [row("%1", "@4", size=(20, 5))], "$0", [("$0:=pro0-i-0", 1), ("$0:=pro0-i-1", 1)]),
        (1, [row("%1", "@4", is_floating=True), row("%2", "@4")], "$0", [("$0:=pro0-i-0", 1)]),
        (1, [row("%1", "@4"), row("%2", "@4", tag="-", is_floating=True)], "$0", [("$0:=pro0-i-0", 1)]),
    ],
    ids=[
        *("new", "three-windows", "room", "overflow", "full", "not-ours", "persons-pane-in-ours", "small", "tiny"),
        *("one-floats", "persons-floats"),
    ],
)
def test_where_panes_go(number: int, there: list[PaneRow], session: str, expected: list[tuple[str, int]]) -> None:
    groups = arrange(PLACE, seats(number), {one.pane: one for one in there}, session)
    assert [(group.target, len(group.openings)) for group in groups] == expected
    assert [opening for group in groups for opening in group.openings] == seats(number)
    assert [bool(group.create) for group in groups] == [not target.startswith("@") for target, _ in expected]


def named(*windows: str) -> list[Opening]:
    return [replace(opening, window=name) for opening, name in zip(seats(len(windows)), windows, strict=True)]


@pytest.mark.parametrize(
    ("place", "windows", "there", "expected"),
    [
        (PLACE, "aab", [], [("=team:=pro0-i-0", 2), ("=team:=pro0-i-2", 1)]),
        (PLACE, "aba", [], [("=team:=pro0-i-0", 2), ("=team:=pro0-i-1", 1)]),
        (PLACE, "ab", [row("%1", "@4", name="b")], [("$0:=pro0-i-0", 1), ("@4", 1)]),
        (PLACE, "a", [row("%1", "@4")], [("$0:=pro0-i-0", 1)]),
        (replace(PLACE, panes_per_window=1), "aa", [], [("=team:=pro0-i-0", 1), ("=team:=pro0-i-1", 1)]),
    ],
    ids=["two", "mixed", "one-there", "not-into-unnamed", "one-each"],
)
def test_members_go_into_the_windows_that_a_layout_names(
    place: Place, windows: str, there: list[PaneRow], expected: list[tuple[str, int]]
) -> None:
    groups = arrange(place, named(*windows), {one.pane: one for one in there}, "$0" if there else "")
    assert [(group.target, len(group.openings)) for group in groups] == expected
    assert {group.window for group in groups} == set(windows)


def test_windows_are_laid_out_as_their_layout_says() -> None:
    place = replace(PLACE, layout="even-vertical", layouts={"a": "main-vertical", "b": "tiled"})
    script = bring_up(place, arrange(place, [*named("a", "a", "b"), *named("")], {}, ""), start=False)
    assert script.count('"main-vertical"') == 1
    assert script.count('"even-vertical"') == 1
    assert '"pro0-team-a"' in script


def test_the_same_session_twice_is_refused() -> None:
    (seat,) = seats(1)
    with pytest.raises(BadInput, match="same incarnation"):
        check(PLACE, [seat, seat])


def test_an_incarnation_is_a_plain_name() -> None:
    with pytest.raises(BadInput, match="incarnation"):
        check(PLACE, [Opening("a b", "w", ("cat", "-"), Path("/l"))])
    with pytest.raises(EnvironmentMissing, match="'w'"):
        check(PLACE, [Opening("a", "w", ("/none", "-"), Path("/l"))])


def test_sessions_see_only_what_is_on_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding 9."""
    for name in ("ANTHROPIC_API_KEY", "PRO0_TOKEN", "LD_PRELOAD", "TMUX", "LC_ALL"):
        monkeypatch.setenv(name, "x")
    seen = surroundings()
    assert "LC_ALL" in seen
    assert not {"ANTHROPIC_API_KEY", "PRO0_TOKEN", "LD_PRELOAD", "TMUX"} & set(seen)
