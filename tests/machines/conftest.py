"""Three machines apart, and a team at home whose members are on them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Result, let_scripts
from tests.e2e.conftest import Cli, Team
from tests.leftovers import processes_under
from tests.machines import apart
from tests.machines.apart import Apart
from tests.repositories import repository_in

SKEWS = {"build1": 0.0, "build2": 600.0, "build3": -600.0}
"""The machines, and the seconds by which their clocks are wrong."""


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Apart]]:
    assert not apart.lacks(), apart.lacks()
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "2")
    made = {name: Apart(tmp_path / name, name, number, skew) for number, (name, skew) in enumerate(SKEWS.items(), 1)}
    (tmp_path / "ssh").write_text("\n".join((machine.at / "client").read_text() for machine in made.values()))
    monkeypatch.setenv("PRO0_SSH", f"ssh -F {tmp_path}/ssh")
    for machine in made.values():
        machine.start()
    try:
        yield made
    finally:
        for machine in made.values():
            machine.stop()
        assert not processes_under(tmp_path)


@pytest.fixture
def team(machines: dict[str, Apart], cli: Cli, home: Path, tmp_path: Path) -> Iterator[Team]:
    """A team of a project with a commit, removed before the machines are."""
    let_scripts(home)
    project = tmp_path / "project"
    project.mkdir()
    repository_in(project)

    def patient(*words: str, **options: object) -> Result:
        return cli(*words, **{"seconds": 300, **options})

    team = Team(patient, project, home)
    yield team
    team.end()
