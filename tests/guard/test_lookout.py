"""When a guard starts a lead and when its team is gone for good, by a clock that the test sets (rulings 3.12)."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from pro0.guard import detached, lookout
from pro0.guard import launch as launches
from pro0.guard.lookout import TRIES, Leads, Lookout
from pro0.processes import table

PATIENCE, JITTER = 5.0, 2.0
NOBODY = {"pid": 2**22 + 1, "start": "1", "bootId": "none"}


class Desk:
    """A team's folder, a clock, and what was started."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.team = folder / "teams" / "band"
        self.team.mkdir(parents=True)
        self.lease = self.team / "lease"
        self.environment = folder / "environment"
        self.environment.write_text(json.dumps({"variables": {"X": "theirs", "Y": "y"}}))
        self.now, self.share = 100.0, 0.0
        self.started: list[tuple[object, ...]] = []
        monkeypatch.setattr(lookout, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(lookout, "fraction", lambda: self.share)
        monkeypatch.setattr(detached, "start", lambda *words: self.started.append(words))
        self.values = {
            "argv": ["lead"],
            "cwd": "/c",
            "lease": str(self.lease),
            "environment": str(self.environment),
            "variables": {"X": "ours"},
            "errors": "/e",
            "patience": PATIENCE,
            "jitter": JITTER,
        }

    def leads(self) -> Leads:
        return Leads(launches.Revival(self.values))

    def lookout(self, gone: float, *, leads: bool = True) -> Lookout:
        revival = launches.Revival(self.values) if leads else None
        return Lookout(SimpleNamespace(team_folder=str(self.team), gone=gone, revival=revival))  # type: ignore[arg-type]

    def write(self, *lines: object) -> None:
        """Write a lease, one value a line."""
        self.lease.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def tried(self, leads: Leads) -> int:
        """Look for long; return how many leads were started."""
        before = len(self.started)
        for _ in range(4 * TRIES):
            leads.look()
            self.now += PATIENCE + JITTER
        return len(self.started) - before


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_start_is_due_after_the_patience_and_a_share_of_the_jitter(desk: Desk, share: float) -> None:
    leads, desk.share = desk.leads(), share
    assert leads.due() == float("inf")
    leads.look()
    wait = PATIENCE + share * JITTER
    assert leads.due() == wait
    desk.now += wait - 0.25
    leads.look()
    assert (leads.due(), desk.started) == (0.25, [])
    desk.now += 0.25
    leads.look()
    assert desk.started == [(["lead"], "/c", {"X": "ours", "Y": "y"}, "/e")]
    assert leads.due() == float("inf")


def test_so_many_are_tried_and_as_many_again_beside_another_lease(desk: Desk) -> None:
    leads = desk.leads()
    assert desk.tried(leads) == TRIES
    assert leads.due() == float("inf")
    assert desk.tried(leads) == 0
    desk.write(NOBODY)
    assert desk.tried(leads) == TRIES
    desk.write(NOBODY | {"start": "2"})
    assert desk.tried(leads) == TRIES


def test_another_lease_begins_the_patience_anew(desk: Desk) -> None:
    leads = desk.leads()
    leads.look()
    desk.now += PATIENCE - 1
    desk.write(NOBODY)
    leads.look()
    assert leads.due() == PATIENCE
    desk.now += 1
    leads.look()
    assert desk.started == []


@contextmanager
def living() -> Iterator[dict[str, object]]:
    """Yield the words of a lease that this process holds."""
    me = table.entry(os.getpid())
    assert me
    yield {"pid": me.pid, "start": me.start, "bootId": me.boot_id}


def test_beside_a_lead_that_lives_or_rests_none_is_due(desk: Desk) -> None:
    leads = desk.leads()
    with living() as held:
        for lease in ((held, "more", "lines"), (NOBODY | {"rests": "stays down"},), (held | {"rests": "soon"},)):
            desk.write(*lease)
            assert desk.tried(leads) == 0
            assert leads.due() == float("inf")


@pytest.mark.parametrize("key", ["pid", "start", "bootId"])
@pytest.mark.parametrize("wrong", [None, [], {"a": 1}])
def test_a_lease_without_a_whole_name_is_nobodys(desk: Desk, key: str, wrong: object) -> None:
    with living() as held:
        desk.write(held | {key: wrong})
    assert desk.tried(desk.leads()) == TRIES


@pytest.mark.parametrize("text", ["", "{", "[]", '{"variables": {}}', '{"variables": ["X"]}', '{"other": {"X": "x"}}'])
def test_without_the_teams_variables_none_is_started(desk: Desk, text: str) -> None:
    desk.environment.write_text(text)
    assert desk.tried(desk.leads()) == 0
    desk.environment.unlink()
    assert desk.tried(desk.leads()) == 0


def test_looks_are_spread_and_come_sooner_when_a_start_is_due(desk: Desk) -> None:
    alone, looks = desk.lookout(0.0, leads=False), desk.lookout(0.0)
    assert [alone.pause(4.0), looks.pause(4.0)] == [3.0, 3.0]
    desk.share = 1.0
    assert [alone.pause(4.0), looks.pause(4.0)] == [4.0, 4.0]
    desk.share = 0.5
    assert alone.pause(4.0) == 3.5
    looks.look()
    desk.now += PATIENCE + JITTER / 2 - 0.25
    assert looks.pause(4.0) == 0.25
    desk.now += 9
    assert looks.pause(4.0) == 0.0


def test_a_share_is_from_none_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for byte in (0, 51, 255):
        monkeypatch.setattr(lookout, "os", SimpleNamespace(urandom=lambda count, byte=byte: bytes([byte]) * count))
        drawn.append(lookout.fraction())
    assert drawn == [0.0, 0.2, 1.0]


@pytest.mark.parametrize("gone", [0.0, 3.0])
def test_a_team_is_gone_when_it_is_missing_at_two_looks_for_long_enough(desk: Desk, gone: float) -> None:
    looks = desk.lookout(gone)
    assert looks.look()
    assert looks.pause(99.0) == PATIENCE, "whoever leads was looked for"
    desk.team.rename(desk.team.with_name("away"))
    for _ in range(2):
        assert looks.look(), "the first look tells nothing"
        desk.now += max(0.0, gone - 0.25)
        assert looks.look()
        desk.now += 0.25
        assert not looks.look()
        desk.team.with_name("away").rename(desk.team)
        assert looks.look()
        desk.now += 1
        desk.team.rename(desk.team.with_name("away"))


def test_a_home_that_cannot_be_seen_has_its_team(desk: Desk) -> None:
    looks = desk.lookout(0.0)
    teams = desk.team.parent
    desk.team.rename(teams.with_name("away"))
    teams.rmdir()
    for instead in (lambda: None, lambda: teams.write_text("a file")):
        instead()
        for _ in range(3):
            assert looks.look()
            desk.now += 9
