"""What every backend promises, on each of them."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.errors import BadInput, EnvironmentMissing
from pro0.model.runtime import Process
from pro0.sessions import backend_named as named
from pro0.sessions.backend import Place
from pro0.ssh import NOT_BEGUN
from tests.contracts.stages import Stage, incarnations
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "pro0: 2 unread messages; run `pro0 inbox` #(touch X) $HOME -R"

pytestmark = pytest.mark.usefixtures("home")


def test_opened_sessions_are_alive_in_order_and_distinct(stage: Stage) -> None:
    """S003-006: each member has a place of its own;"""
    openings = stage.sleepers(8)
    handles = stage.start(openings)
    assert [handle.incarnation for handle in handles] == [opening.incarnation for opening in openings]
    assert len({(handle.pane, handle.pid) for handle in handles}) == 8
    assert stage.backend.alive(handles) == incarnations(handles)
    assert all(handle.backend == stage.backend.name for handle in handles)
    more = stage.open(3)
    assert stage.backend.alive(handles + more) == incarnations(handles + more)
    assert stage.start([]) == ()


def test_a_backend_is_found_by_its_name(stage: Stage) -> None:
    assert type(named(stage.backend.name)) is type(stage.backend)


def test_a_handle_survives_being_stored(stage: Stage) -> None:
    """A later lead, with another object, finds the same sessions."""
    (handle,) = stage.open(1)
    if stage.real:
        assert named(stage.backend.name).alive([handle]) == {handle.incarnation}


def test_another_lead_finds_where_a_session_is_shown(stage: Stage) -> None:
    """Rulings 3.12: it has only the guard's report."""
    first, second = stage.open(2)
    stage.shows(second, "here is 1")  # One that has only just been started has no command line yet.
    guard = processes.identify(second.pid) if stage.real else Process(pid=1, start="1", boot_id="1")
    assert guard
    assert stage.backend.find(stage.place, second.incarnation, guard, Path(second.log)) == second
    if stage.terminal:
        assert stage.backend.find(stage.place, first.incarnation, guard, Path(second.log)) is None
        stage.leave()
        assert stage.backend.find(stage.place, second.incarnation, guard, Path(second.log)) is None


def test_one_that_dies_is_not_alive_and_the_others_are(stage: Stage) -> None:
    first, second, third = handles = stage.open(3)
    stage.die(second)
    stage.only_alive(handles, {first.incarnation, third.incarnation})


def test_close_ends_that_one_only_and_twice_is_once(stage: Stage) -> None:
    first, second, third = handles = stage.open(3)
    stage.backend.close(second)
    stage.only_alive(handles, {first.incarnation, third.incarnation})
    stage.backend.close(second)
    assert stage.backend.alive(handles) == {first.incarnation, third.incarnation}


def test_peek_shows_what_the_program_printed(stage: Stage) -> None:
    handles = stage.open(2)
    for number, handle in enumerate(handles):
        stage.shows(handle, f"here is {number}")
        assert stage.backend.peek(handle, 1) == f"here is {number}"


def test_dismantle_may_be_repeated_and_needs_nothing(stage: Stage) -> None:
    stage.backend.dismantle(stage.place)
    stage.backend.dismantle(stage.place)


def test_a_command_to_watch_exists_where_there_is_something_to_watch(stage: Stage) -> None:
    assert stage.backend.attach_command(stage.place, ()) == ()
    handles = stage.open(1)
    assert bool(stage.backend.attach_command(stage.place, handles)) == stage.real


NOT_THERE, IN_THE_WAY = ("/no/such/program", "x"), ("/dev/null", "x")


@pytest.mark.parametrize(
    ("argv", "error"),
    [(NOT_THERE, EnvironmentMissing), (("cat",), BadInput), (IN_THE_WAY, EnvironmentMissing)],
    ids=["not-there", "one-word", "not-executable"],
)
def test_a_bad_program_starts_nobody(stage: Stage, argv: tuple[str, ...], error: type[Exception]) -> None:
    """60: a failed step leaves nothing."""
    world = stage.world()
    openings = [*stage.sleepers(2), stage.opening(*argv)]
    if stage.knows_programs:
        with pytest.raises(error):
            stage.start(openings)
        assert stage.world() == world
        return
    *others, bad = handles = stage.start(openings)
    if argv in (NOT_THERE, IN_THE_WAY):
        stage.only_alive(handles, incarnations(tuple(others)))
        assert (end := stage.ending(bad))
        assert (end.code, f"cannot start {argv[0]}" in end.output) == (NOT_BEGUN, True), end
    for other in others:
        stage.shows(other, "here is")
    for handle in handles:
        stage.backend.close(handle)
    stage.backend.dismantle(stage.place)
    wait_until(lambda: stage.world() == world, SECONDS, "nothing is left, here and there")


def test_no_project_folder_starts_nobody(stage: Stage) -> None:
    world = stage.world()
    place = Place("team", stage.place.uid, stage.folder / "gone", stage.place.inside_tmux)
    with pytest.raises(EnvironmentMissing, match="gone"):
        stage.backend.open(place, stage.sleepers(2))
    assert stage.world() == world


def test_the_environment_that_sessions_see_holds_no_secret(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding 9: what is set where the team is started does not reach every pane."""
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    script = "import os; print('secret', os.environ.get('SECRET_TOKEN'), flush=True)"
    (handle,) = stage.start([stage.opening(sys.executable, "-c", f"{script}\nimport time; time.sleep(600)")])
    if stage.real:
        stage.shows(handle, "secret None")
        stage.backend.close(handle)
        stage.only_alive((handle,), set())


def test_hostile_titles_and_folders_are_never_run(stage: Stage, tmp_path: Path) -> None:
    """36, 40, 48: whatever they mean to a shell, to tmux, to a terminal."""
    title = "#(touch ran) #{pid} $(touch ran) `touch ran` ; touch ran \\; -s '\" \\ %s {x} é \x1b]52;c;eA==\a"
    project = tmp_path / title.translate(str.maketrans("/\x1b\a", "   "))
    project.mkdir()
    stage.place = replace(stage.place, project=project)
    (handle,) = stage.start([stage.opening("sh", "-c", "echo here is 0; exec sleep 600", title=title)])
    stage.backend.label({handle: title})
    stage.only_alive((handle,), {handle.incarnation})
    if stage.real:
        stage.shows(handle, "here is 0")
    stage.backend.close(handle)
    stage.only_alive((handle,), set())
    assert not list(tmp_path.rglob("ran"))
    assert not Path("ran").exists()
