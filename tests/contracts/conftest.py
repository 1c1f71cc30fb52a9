"""Every backend on a stage of its own; tmux is needed, and its absence is an error, never a skip."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sshd
from tests.contracts.elsewhere import ELSEWHERE
from tests.contracts.stages import STAGES, Stage
from tests.elsewhere import HOST, leave_to_the_soak
from tests.sshd import Machine
from tests.waiting import STUCK

SECONDS = STUCK
LINE = "pro0: 2 unread messages; run `pro0 inbox` #(touch X) $HOME -R"


@pytest.fixture(autouse=True, scope="module")
def _tmux_is_there() -> None:
    if not shutil.which("tmux"):
        pytest.fail("these tests need tmux: install it", pytrace=False)


VIEW, TMUX = f"in-process@{HOST}", f"tmux@{HOST}"
SHORT = {
    ("test_peek_shows_what_the_program_printed", VIEW),
    ("test_close_ends_that_one_only_and_twice_is_once", VIEW),
    ("test_one_that_dies_is_not_alive_and_the_others_are", TMUX),
    ("test_another_lead_finds_where_a_session_is_shown", TMUX),
    ("test_a_bad_program_starts_nobody", VIEW),
    ("test_the_environment_that_sessions_see_holds_no_secret", VIEW),
    ("test_hostile_titles_and_folders_are_never_run", TMUX),
    ("test_a_nudge_arrives_once_and_exactly", VIEW),
    ("test_a_nudge_arrives_once_and_exactly", TMUX),
    ("test_argv_reaches_the_program_word_for_word", TMUX),
    ("test_peek_reads_what_scrolled_away_and_joins_long_lines", TMUX),
    ("test_a_server_that_is_killed", TMUX),
    ("test_what_is_typed_after_the_last_look_stops_the_enter", VIEW),
    ("test_what_is_typed_after_the_last_look_stops_the_enter", TMUX),
    ("test_screens_are_seen_with_title_style_and_cursor", VIEW),
    ("test_screens_are_seen_with_title_style_and_cursor", TMUX),
    ("test_what_a_member_shows_and_is_typed_arrives_unchanged", TMUX),
    ("test_an_agent_that_never_reads_takes_no_nudge", VIEW),
    ("test_a_guard_that_is_killed_here_ends_nobody_there_before_that_machine_is_asked", VIEW),
}
"""The tests of the short lane with a session on another machine, and its stage; the soak has the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_to_the_soak(items, Path(__file__).parent, SHORT)


@pytest.fixture(scope="session")
def build1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Another machine, for all tests of a worker."""
    if lacking := sshd.lacks():
        pytest.skip(lacking)
    with sshd.machine(tmp_path_factory.mktemp("machine") / "build1") as made:
        made.install()
        yield made


@pytest.fixture(params=[*STAGES, *ELSEWHERE])
def stage(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from played(request, tmp_path)


@pytest.fixture(params=["tmux", "tmux-inside", "tmux@build1", "tmux-inside@build1"])
def terminal(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from played(request, tmp_path)


def played(request: pytest.FixtureRequest, folder: Path) -> Iterator[Stage]:
    """Yield the stage that is a fixture's parameter, and leave it."""
    name = request.param
    stage = ELSEWHERE[name](folder, request.getfixturevalue("build1")) if name in ELSEWHERE else STAGES[name](folder)
    try:
        yield stage
    finally:
        stage.leave()
