"""Teams are there whole or not at all, and gone for good (rulings 3.1, 3.10; AC-66, AC-67; reliability 10, 32)."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, EnvironmentMissing, NotFound, Refused, StoreError
from pro0.model import ids
from pro0.model.message import Notice
from pro0.model.runtime import Hosted
from pro0.model.stored import iso
from pro0.model.team import Environment, TeamConfig, Wanted
from pro0.model.usage import UsageBook
from pro0.rules.words.presets import PRESETS
from pro0.store.files import File
from pro0.store.removal import trees
from pro0.store.tasklist import TaskFile
from pro0.store.teams import Store, TeamStore, check_owner
from tests import crowd
from tests.faults import KILLED, KILLS, MUTATING, fail_with, points
from tests.postgres import Postgres
from tests.store.raw import all_of
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


def create(home: Path, name: str = "alpha", url: str = "") -> TeamStore:
    return Store(home).create(config(name), Wanted(), url=url)


def there(home: Path) -> set[str]:
    return {name for name in files(home) if not name.endswith(".lock")}


@pytest.fixture
def whole(home: Path, tmp_path: Path, kept_at: str) -> set[str]:
    """All that belongs to a team, as a creation that nobody disturbs makes it."""
    create(tmp_path / "undisturbed", url=kept_at)
    made = all_there(tmp_path / "undisturbed", kept_at)
    gone(tmp_path / "undisturbed", kept_at, "alpha")
    return made


def all_there(home: Path, url: str) -> set[str]:
    """Return all that there is of teams: files, and rows by the names of their documents."""
    return there(home) | {f"row {team} {name}" for team, name in rows(url)}


def rows(url: str) -> list[tuple[str, str]]:
    """Return the documents in a database, each with the name of its team; a team without any has none."""
    if not url:
        return []
    with psycopg.connect(url) as connection:
        if connection.execute("select to_regclass('pro0.acts')").fetchone() == (None,):
            return []
        return connection.execute(
            "select t.name, coalesce(d.name, '') from pro0.teams t left join pro0.documents d on d.team = t.id"
        ).fetchall()


def gone(home: Path, url: str, *names: str) -> None:
    """Remove the teams of a home, so that another home may use their names in the same database."""
    for name in names:
        Store(home).discard(name, "u1")
    assert rows(url) == []


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


def test_a_name_that_is_taken_is_refused_and_untouched(home: Path, kept_at: str) -> None:
    """AC-67."""
    before = all_of(create(home, url=kept_at))
    for url in {"", kept_at}:
        with pytest.raises(Refused, match="there is a team alpha already"):
            Store(home).create(config(uid="u2"), Wanted(), url=url)
    assert all_of(Store(home).team("alpha")) == before


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
    assert left.value.message == f"{home / 'mailboxes' / 'beta'} exists, but the team beta does not"
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


def test_an_event_is_one_line_of_what_is_known(home: Path, kept_at: str) -> None:
    team = create(home, url=kept_at)
    team.log_event(NOW, "w1", "task.claim", task="task-1", number=2, nothing=None, empty="")
    (line,) = team.documents.events().last(9)
    head = {"at": iso(NOW), "actor": "w1", "event": "task.claim"}
    assert json.loads(line) == head | {"task": "task-1", "number": 2, "empty": ""}


def test_an_event_with_a_detail_of_another_kind_is_told_all_the_same(home: Path, kept_at: str) -> None:
    """It is for people, and no reason for whoever acts to fail."""
    team = create(home, url=kept_at)
    team.log_event(NOW, "w1", "late", where=Path("/x"))  # type: ignore[arg-type]
    (line,) = team.documents.events().last(9)
    assert json.loads(line)["where"] == "/x"


def test_what_a_team_is_made_of_is_what_it_was_given(home: Path, kept_at: str) -> None:
    given = Environment(variables={"A": "1"})
    team = Store(home).create(config(), Wanted(), given, url=kept_at)
    assert team.environment.read().variables == {"A": "1"}
    assert team.config.read() == replace(config(), revision=1)
    team.environment.path.unlink()
    assert (team.environment.read(), team.usage.read()) == (Environment(), UsageBook())
    assert team.comments("task-1").find() is None
    assert Store(home).roles.read() == PRESETS


@pytest.mark.files
def test_who_has_a_mailbox(home: Path) -> None:
    """No folder without one is an owner, nor is the address of all."""
    team = create(home)
    for name in ("w9", "no name"):
        (team.paths.mailboxes / name).mkdir()
    shutil.copytree(team.paths.mailboxes / "lead", team.paths.mailboxes / ids.ALL)
    assert team.mailbox_owners() == ["human", "lead"]


def test_what_another_machine_runs_for_a_team_is_known_until_it_is_over(home: Path, kept_at: str) -> None:
    """It is known here alone, wherever the documents are: by this machine's lead it is ended there."""
    team = create(home, url=kept_at)
    assert (team.elsewhere(), team.all_hosted(), team.hosted("i-1")) == ([], [], None)
    made = []
    for name in ("i-2", "i-1"):
        made.append(
            Hosted(
                agent_id="w1",
                incarnation=name,
                there=name,
                host="box",
                ssh="ssh",
                team="alpha",
                project="/",
                argv=("x",),
            )
        )
        File(team.paths.sessions, team.paths.hosted(name), Hosted).create(made[-1])
    (team.paths.sessions / "i-3.json").write_text("a report")
    known = [replace(hosted, revision=1) for hosted in reversed(made)]
    assert team.elsewhere() == ["i-1", "i-2"]
    assert team.all_hosted() == known
    assert team.hosted("i-2") == known[1]
    for _ in range(2):
        team.drop_hosted("i-2")
        assert team.all_hosted() == known[:1]
    (team.paths.sessions / team.paths.hosted("i-1")).write_text("{")
    with pytest.raises(StoreError, match="corrupt"):
        team.hosted("i-1")
    team.paths.sessions.rename(home / "elsewhere")
    assert team.elsewhere() == []


def race(home: Path, number: int, url: str) -> None:
    try:
        Store(home).create(config(uid=f"u{number}"), Wanted(), url=url)
    except Refused:
        return
    (home / f"won-{number}").touch()


def test_of_eight_who_make_one_team_one_does(home: Path, kept_at: str) -> None:
    crowd.run(race, [(home, number, kept_at) for number in range(8)])
    won = [path.name.removeprefix("won-") for path in home.glob("won-*")]
    assert len(won) == 1
    assert create_uid(home) == f"u{won[0]}"


def test_of_eight_homes_that_make_one_team_in_a_database_one_does(home: Path, server: Postgres) -> None:
    homes = [home / str(number) for number in range(8)]
    url = server.url()
    crowd.run(race, [(homes[number], number, url) for number in range(8)])
    [won] = home.glob("*/won-*")
    assert create_uid(won.parent) == f"u{won.parent.name}"
    assert [Store(one).names() for one in homes].count([]) == 7
    assert {team for team, _ in rows(url)} == {"alpha"}


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
    with pytest.raises(StoreError, match="exists, but the team alpha does not"):
        create(home)
    assert (home / "tasks" / "alpha" / "tasks.json").read_text() == "work"
    assert Store(home).names() == []


@pytest.mark.parametrize("fault", KILLS)
def test_wherever_creating_is_killed_there_is_a_whole_team_or_none(
    home: Path, whole: set[str], kept_at: str, fault: Callable[..., object]
) -> None:
    """Reliability 11: and the next one makes it, and nothing is left over."""
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(home / str(len(homes)))
        homes[-1].mkdir(parents=True)
        if homes[1:]:
            gone(homes[-2], kept_at, "alpha")
        return lambda: create(homes[-1], url=kept_at)

    for point in points(prepare, fault, MUTATING):
        place = homes[-1]
        assert point.ended == KILLED, point
        if Store(place).team("alpha").exists():
            assert all_there(place, kept_at) == whole, point
            with pytest.raises(Refused):
                create(place, url=kept_at)
        else:
            assert Store(place).names() == []
            create(place, url=kept_at)
            assert all_there(place, kept_at) == whole, point


def test_wherever_creating_fails_nothing_is_left(home: Path, whole: set[str], kept_at: str) -> None:
    """Reliability 13: an error leaves no half of a team behind; it may be there when only the last sync failed."""
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(home / str(len(homes)))
        homes[-1].mkdir(parents=True)
        if homes[1:]:
            gone(homes[-2], kept_at, "alpha")
        return lambda: create(homes[-1], url=kept_at)

    for point in points(prepare, fail_with(28), MUTATING):
        place = homes[-1]
        left = all_there(place, kept_at) if place.exists() else set()
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
    home: Path, whole: set[str], kept_at: str, fault: Callable[..., object]
) -> None:
    """Rulings 3.10: the rename is the commit; what is left is finished by the next sweep."""
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(home / str(len(homes)))
        homes[-1].mkdir(parents=True)
        if homes[1:]:
            gone(homes[-2], kept_at, "other")
        create(homes[-1], url=kept_at)
        create(homes[-1], "other", url=kept_at)
        return lambda: Store(homes[-1]).discard("alpha", "u1")

    other = {name.replace("alpha", "other") for name in whole}
    for point in points(prepare, fault, MUTATING):
        place = homes[-1]
        if (place / "teams" / "alpha").exists():
            assert all_there(place, kept_at) == whole | other, point
        Store(place).sweep()
        assert all_there(place, kept_at) in (whole | other, other), point
        Store(place).discard("alpha", "u1")
        assert all_there(place, kept_at) == other, point


def test_removing_is_idempotent_and_makes_nothing(home: Path, kept_at: str) -> None:
    store = Store(home)
    store.discard("alpha", "u1")
    assert store.sweep() == []
    assert not home.exists()
    create(home, url=kept_at)
    for _ in range(2):
        store.discard("alpha", "u1")
        assert all_there(home, kept_at) <= BARE
    assert create(home, url=kept_at).exists()


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


def test_late_writers_bring_nothing_back(home: Path, kept_at: str) -> None:
    """Rulings 3.10, AC-75, reliability 10: 0 ghost folders, and every writer is told that it is not there."""
    for turn in range(3):
        create(home, url=kept_at)
        for path in home.parent.glob("ready-*"):
            path.unlink()
        writers = [crowd.start(write_late, home, number) for number in range(4)]
        while len(list(home.parent.glob("ready-*"))) < 4:
            pass
        Store(home).discard("alpha", f"u{turn}")
        crowd.all_end_well(writers, 30)
        assert all_there(home, kept_at) <= BARE


def test_a_late_event_of_a_removed_team_is_dropped(home: Path, kept_at: str) -> None:
    team = make_team(home, "w1", url=kept_at)
    Store(home).discard("alpha", "u")
    team.log_event(NOW, "w1", "late")
    with pytest.raises(NotFound, match="there is no team alpha"):
        team.require()
    assert all_there(home, kept_at) <= BARE
