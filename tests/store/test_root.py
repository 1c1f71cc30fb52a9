"""Whose a guard is, by the path that it was called with; one home, however it is reached."""

from pathlib import Path

import pytest

from pro0.store import root

NO_LAUNCH_FILES = [
    *("/h/teams/alpha/sessions/i-1.json", "/h/other/a/sessions/i.start.json", "", "/h/teams/alpha/i.start.json"),
    *("/h/teams/alpha/sessions/deep/i.start.json", "i.start.json", "teams/alpha/sessions/i.start.json"),
    *("h/teams/alpha/sessions/i.start.json", "/h/teams/alpha/sessions/.start.json", "/h/teams//sessions/i.start.json"),
]


def test_a_guard_is_told_by_its_launch_file() -> None:
    assert root.launched("/h/pro0/teams/alpha/sessions/i-1.start.json") == ("/h/pro0", "alpha", "i-1")
    assert root.launched("/teams/h/teams/alpha/sessions/i-1.start.json") == ("/teams/h", "alpha", "i-1")


@pytest.mark.parametrize("argument", NO_LAUNCH_FILES)
def test_what_is_no_launch_file(argument: str) -> None:
    assert root.launched(argument) is None


HOSTED = {
    "/h/pro0/hosted/i-1/start.json": "i-1",
    "/hosted/h/hosted/i-1/start.json": "i-1",
    "/hosted/i-1/start.json": None,
    "/h/hosted//start.json": None,
    "/h/hosted/deep/i-1/start.json": None,
    "/h/hosted/i-1/report.json": None,
    "/h/hosted/i-1": None,
    "/h/teams/alpha/sessions/i-1.start.json": None,
    "start.json": None,
    "": None,
}


@pytest.mark.parametrize("argument", HOSTED)
def test_what_another_machine_has_here_is_told_by_its_launch_file(argument: str) -> None:
    assert (root.HOSTS, root.HOSTED_LAUNCH) == ("hosted", "start.json")
    assert root.hosted(argument) == HOSTED[argument]


def test_homes_are_one_when_they_share_a_folder(tmp_path: Path) -> None:
    """Rulings 2.3: whatever links lead there; of homes that share but a part, that part counts."""
    home, other = tmp_path / "home", tmp_path / "other"
    for folder in ("teams/alpha", "tasks/alpha", "mailboxes/alpha"):
        (home / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    assert root.shared(str(tmp_path / "link"), str(home), "alpha")
    for kind in root.KINDS:
        (other / kind).mkdir(parents=True)
        assert not root.shared(str(other), str(home), "alpha")
        (other / kind / "mine").symlink_to(home / kind / "alpha")
        assert root.shared(str(other), str(home), "alpha")
        assert not root.shared(str(other), str(home), "beta")
        (other / kind / "mine").unlink()
        (other / kind).rmdir()
        (other / kind).symlink_to(home / kind)
        assert root.shared(str(other), str(home), "gone")
        (other / kind).unlink()
    assert not root.shared(str(tmp_path / "no"), str(home), "alpha")
    assert root.teams_of(str(tmp_path / "no")) == []
