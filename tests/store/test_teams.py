"""Teams are there whole or not at all, and gone for good (rulings 3.1, 3.10; AC-66, AC-67; reliability 10, 32)."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, EnvironmentMissing, NotFound, Refused, StoreError
from pro0.model.message import Notice
from pro0.model.runtime import UsageBook
from pro0.model.stored import iso
from pro0.model.team import Environment, TeamConfig, Wanted
from pro0.rules.words.presets import PRESETS
from pro0.store.removal import trees
from pro0.store.tasklist import TaskFile
from pro0.store.teams import Store, TeamStore, check_owner
from tests import crowd
from tests.faults import KILLED, KILLS, MUTATING, fail_with, points
from tests.teams import NOW, files, make_team

LAYOUT = {
    "teams", "teams/alpha", "teams/alpha/sessions", "teams/alpha/logs", "teams/alpha/config.json",
    "teams/alpha/wanted.json", "teams/alpha/runtime.json", "tasks", "tasks/alpha", "tasks/alpha/tasks.json",
    "mailboxes", "mailboxes/alpha", "mailboxes/alpha/lead", "mailboxes/alpha/lead/messages.json",
    "mailboxes/alpha/human", "mailboxes/alpha/human/messages.json",
}  # fmt: skip
pytestmark = pytest.mark.usefixtures("no_sync")
BARE = {"teams", "tasks", "mailboxes"}


def config(name: str = "alpha", uid: str = "u1") -> TeamConfig:
    return TeamConfig(name=name, created_at=NOW, uid=uid, project="/")


def create(home: Path, name: str = "alpha") -> TeamStore:
    return Store(home).create(config(name), Wanted())


def there(home: Path) -> set[str]:
    return {name for name in files(home) if not name.endswith(".lock")}


@pytest.fixture
def whole(home: Path, tmp_path: Path) -> set[str]:
    """All that belongs to a team, as a creation that nobody disturbs makes it."""
    create(tmp_path / "undisturbed")
    return there(tmp_path / "undisturbed")


def test_a_team_is_made_whole_and_private(home: Path) -> None:
    """S004-091, reliability 32: 0700 and 0600 under any umask."""
    before = os.umask(0)
    try:
        team = create(home)
    finally:
        os.umask(before)
    assert there(home) >= LAYOUT
    assert team.exists()
    assert Store(home).names() == ["alpha"]
    for name in ["", *files(home)]:
        assert (home / name).stat().st_mode & 0o077 == 0, name


BAD = {
    "empty": "",
    "with a space": "team name",
    "above": "../etc/passwd",
    "long": "a" * 49,
    "upper case": "A",
    "trash": ".trash-x",
    "below": "a/b",
    "with a NUL": "a\0b",
}


@pytest.mark.parametrize("name", BAD.values(), ids=BAD)
def test_a_bad_name_makes_nothing(home: Path, name: str) -> None:
    """AC-66."""
    with pytest.raises(BadInput):
        create(home, name)
    assert not home.exists()


def test_a_name_that_is_taken_is_refused_and_untouched(home: Path) -> None:
    """AC-67."""
    create(home)
    before = (home / "teams/alpha/config.json").read_bytes()
    with pytest.raises(Refused, match="there is a team alpha already"):
        Store(home).create(config(uid="u2"), Wanted())
    assert (home / "teams/alpha/config.json").read_bytes() == before


def test_what_is_refused_says_what_to_do(home: Path) -> None:
    create(home)
    with pytest.raises(Refused) as taken:
        create(home)
    hint = "pro0 team attach -t alpha, or remove it: pro0 team cleanup -t alpha"
    assert (taken.value.message, taken.value.code, taken.value.hint) == (
        "there is a team alpha already",
        "conflict",
        hint,
    )
    (home / "mailboxes" / "beta").mkdir()
    with pytest.raises(StoreError) as left:
        create(home, "beta")
    assert left.value.message == f"{home / 'mailboxes' / 'beta'} is there, but no team beta"
    assert left.value.hint == "it may hold work; `pro0 doctor --repair` moves it aside and frees the name"
    with pytest.raises(BadInput):
        Store(home).discard("alpha", "../u")
    assert Store(home).team("alpha").exists()


def test_who_waits_for_a_home_is_told_what_is_done_to_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("pro0.store.lock.sign", lambda _descriptor, text: said.append(text))
    create(home)
    Store(home).discard("alpha", "u1")
    Store(home).sweep()
    assert [text for text in said if "mailbox" not in text] == [
        "create team alpha",
        "remove team alpha",
        "finish removals",
    ]


def test_an_event_is_one_line_of_what_is_known(home: Path) -> None:
    team = create(home)
    team.log_event(NOW, "w1", "task.claim", task="task-1", number=2, nothing=None, empty="")
    (line,) = (home / "teams/alpha/events.jsonl").read_text().splitlines()
    head = {"at": iso(NOW), "actor": "w1", "event": "task.claim"}
    assert json.loads(line) == head | {"task": "task-1", "number": 2, "empty": ""}


def test_what_a_team_is_made_of_is_what_it_was_given(home: Path) -> None:
    given = Environment(variables={"A": "1"})
    team = Store(home).create(config(), Wanted(), given)
    assert team.environment.read().variables == {"A": "1"}
    assert team.config.read() == replace(config(), revision=1)
    for file in (team.environment.path, team.usage.path):
        file.unlink(missing_ok=True)
    assert (team.environment.read(), team.usage.read()) == (Environment(), UsageBook())
    assert team.comments("task-1").find() is None
    assert Store(home).roles.read() == PRESETS


def race(home: Path, number: int) -> None:
    try:
        Store(home).create(config(uid=f"u{number}"), Wanted())
    except Refused:
        return
    (home / f"won-{number}").touch()


def test_of_eight_who_make_one_team_one_does(home: Path) -> None:
    crowd.run(race, [(home, number) for number in range(8)])
    won = [path.name.removeprefix("won-") for path in home.glob("won-*")]
    assert len(won) == 1
    assert create_uid(home) == f"u{won[0]}"


def create_uid(home: Path) -> str:
    return Store(home).team("alpha").config.read().uid


def test_a_home_of_links_or_of_others_is_unsafe(home: Path, tmp_path: Path) -> None:
    """Reliability 30, 32: exit 6; a mode that is too open is tightened."""
    (tmp_path / "elsewhere").mkdir()
    home.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentMissing, match="symbolic link"):
        create(home)
    home.unlink()
    home.mkdir(mode=0o755)
    create(home)
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("mode", "then"), [(0o700, 0o700), (0o500, 0o500), (0o701, 0o700), (0o640, 0o700)])
def test_only_a_mode_that_is_too_open_is_tightened(home: Path, mode: int, then: int) -> None:
    home.mkdir()
    home.chmod(mode)
    check_owner(home)
    assert home.stat().st_mode & 0o777 == then


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_home_of_somebody_else_is_refused(home: Path) -> None:
    home.mkdir()
    os.chown(home, 65534, 65534)
    with pytest.raises(EnvironmentMissing, match="belongs to another user"):
        create(home)


def test_work_without_a_team_is_not_taken_over(home: Path) -> None:
    """tasks/alpha without teams/alpha may be somebody's work: it is neither used nor removed."""
    (home / "tasks" / "alpha").mkdir(parents=True)
    (home / "tasks" / "alpha" / "tasks.json").write_text("work")
    with pytest.raises(StoreError, match="is there, but no team"):
        create(home)
    assert (home / "tasks" / "alpha" / "tasks.json").read_text() == "work"
    assert Store(home).names() == []


@pytest.mark.parametrize("fault", KILLS)
def test_wherever_creating_is_killed_there_is_a_whole_team_or_none(
    home: Path, whole: set[str], fault: Callable[..., object]
) -> None:
    """Reliability 11: and the next one makes it, and nothing is left over."""
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(home / str(len(homes)))
        homes[-1].mkdir(parents=True)
        return lambda: create(homes[-1])

    for point in points(prepare, fault, MUTATING):
        place = homes[-1]
        assert point.ended == KILLED, point
        if Store(place).team("alpha").exists():
            assert there(place) == whole, point
            with pytest.raises(Refused):
                create(place)
        else:
            assert Store(place).names() == []
            create(place)
            assert there(place) == whole, point


def test_wherever_creating_fails_nothing_is_left(home: Path, whole: set[str]) -> None:
    """Reliability 13: an error leaves no half of a team behind; it may be there when only the last sync failed."""
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(home / str(len(homes)))
        homes[-1].mkdir(parents=True)
        return lambda: create(homes[-1])

    for point in points(prepare, fail_with(28), MUTATING):
        place = homes[-1]
        left = there(place) if place.exists() else set()
        assert left <= BARE or left == whole, (point, left)


@pytest.mark.parametrize("later", [StoreError("it cannot be seen"), OSError(5, "the disk is broken")])
def test_what_kept_a_team_from_being_made_is_told(
    home: Path, later: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the removal of what was made meets then; the next one finishes that."""

    def fails(error: Exception) -> Callable[..., None]:
        def raises(*_: object) -> None:
            raise error

        return raises

    with monkeypatch.context() as patched:
        patched.setattr(TaskFile, "create", fails(StoreError("the disk is full")))
        patched.setattr(trees, "put_away", fails(later))
        with pytest.raises(StoreError, match="the disk is full"):
            create(home)
    assert create(home).exists()


@pytest.mark.parametrize("fault", KILLS)
def test_wherever_removing_is_killed_it_can_be_finished(
    home: Path, whole: set[str], fault: Callable[..., object]
) -> None:
    """Rulings 3.10: the rename is the commit; what is left is finished by the next sweep."""
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(home / str(len(homes)))
        homes[-1].mkdir(parents=True)
        create(homes[-1])
        create(homes[-1], "other")
        return lambda: Store(homes[-1]).discard("alpha", "u1")

    other = {name.replace("alpha", "other") for name in whole}
    for point in points(prepare, fault, MUTATING):
        place = homes[-1]
        if (place / "teams" / "alpha").exists():
            assert there(place) == whole | other, point
        Store(place).sweep()
        assert there(place) in (whole | other, other), point
        Store(place).discard("alpha", "u1")
        assert there(place) == other, point


def test_removing_is_idempotent_and_makes_nothing(home: Path) -> None:
    store = Store(home)
    store.discard("alpha", "u1")
    assert store.sweep() == []
    assert not home.exists()
    create(home)
    for _ in range(2):
        store.discard("alpha", "u1")
        assert there(home) == BARE
    assert create(home).exists()


def write_late(home: Path, number: int) -> None:
    """Send, change tasks, log and comment until the team is gone."""
    team = Store(home).team("alpha")
    (home.parent / f"ready-{number}").touch()
    for count in range(100_000):
        try:
            box = team.mailbox("lead")
            box.post(Notice(id=f"{number}-{count}", from_="w1", to="lead", content="x" * 20_000), lambda: NOW)
            team.log_event(NOW, "w1", "late")
            team.mailbox(f"w{count}").make()
            with team.wanted.change("x") as change:
                change.value = Wanted(revision=change.value.revision)
        except NotFound:
            return


def test_late_writers_bring_nothing_back(home: Path) -> None:
    """Rulings 3.10, AC-75, reliability 10: 0 ghost folders, and every writer is told that it is not there."""
    for turn in range(3):
        create(home)
        for path in home.parent.glob("ready-*"):
            path.unlink()
        writers = [crowd.start(write_late, home, number) for number in range(4)]
        while len(list(home.parent.glob("ready-*"))) < 4:
            pass
        Store(home).discard("alpha", f"u{turn}")
        crowd.all_end_well(writers, 30)
        assert there(home) == BARE


def test_a_late_event_of_a_removed_team_is_dropped(home: Path) -> None:
    team = make_team(home, "w1")
    Store(home).discard("alpha", "u")
    team.log_event(NOW, "w1", "late")
    with pytest.raises(NotFound, match="there is no team alpha"):
        team.require()
    assert there(home) == BARE
