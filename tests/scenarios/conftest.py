"""Whole teams with a short grace: headless and in tmux, in the soak in every mode."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import elsewhere, sshd
from tests.conftest import Result
from tests.contracts.stand_in import terminal_for
from tests.elsewhere import Placed
from tests.engine.crew import Crew, crew
from tests.repositories import commit, put, repository_in
from tests.scenarios import pages
from tests.scenarios.runs import Terminal
from tests.sshd import Machine

MODES = ("headless", "tmux")
OTHER_MODES = ("in-process", "iterm2")
EVERY_MODE = (*MODES, *(pytest.param(mode, marks=pytest.mark.soak) for mode in OTHER_MODES))


VIEW = f"in-process@{elsewhere.HOST}"
SHORT = {
    ("test_a_hundred_tasks_are_done_once_and_in_order", VIEW),
    ("test_a_killed_member", f"{VIEW}-guard"),
    ("test_a_member_that_is_killed_there", f"agent-{VIEW}"),
    ("test_nothing_survives_there", f"each guard there KILL-{VIEW}"),
    ("test_everything_stands_still_and_goes_on", f"{VIEW}-test"),
    ("test_while_stopping", f"{VIEW}-1"),
    ("test_killed_at_every_step", f"{VIEW}-start-lead"),
    ("test_a_lead_that_can_write_no_more_ends_them_all_the_same", f"{VIEW}-a member-test"),
    ("test_no_secret_of_home_goes_to_another_machine", VIEW),
}
"""The tests of the short lane with members on another machine, and a part of its id; the soak has the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    elsewhere.leave_to_the_soak(items, Path(__file__).parent, SHORT)


@pytest.fixture
def brief(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of a team that ends fast, and whose lead comes back only when a test says so."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    monkeypatch.setenv("PRO0_POLL_INTERVAL_MS", "1000")


@contextmanager
def crew_in(mode: str, home: Path, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """Have a team in the terminal that a mode asks for, and its members on the machine that it names."""
    shown = elsewhere.mode_here(mode)
    with (
        terminal_for(shown, folder),
        elsewhere.machine_for(mode, folder, patch) as machine,
        crew(home, folder, shown, machine) as made,
    ):
        yield made


@pytest.fixture(params=(*EVERY_MODE, *elsewhere.MODES))
def alpha(
    request: pytest.FixtureRequest, brief: None, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Crew]:
    """A team with a lead and without members."""
    with crew_in(request.param, home, tmp_path, monkeypatch) as made:
        made.lead()
        yield made


@pytest.fixture
def placed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Placed]:
    """The mode that is a test's parameter, with the machine that it names; it comes before the team in a test."""
    with elsewhere.machine_for(request.param, tmp_path, monkeypatch) as machine:
        yield Placed(request.param, machine)


@pytest.fixture
def terminal(brief: None, cli: Callable[..., Result], home: Path, tmp_path: Path) -> Iterator[Terminal]:
    """A person at a project without a team, who has a scripted agent."""
    made = Terminal(cli, home, tmp_path)
    yield made
    made.end()


@pytest.fixture
def alone(scripts: None, terminal: Terminal) -> Terminal:
    """The same with the team alpha, which has no members, and an epic, task-1."""
    terminal.pro0("team", "start", "alpha", "--mode", "headless", "--detach")
    terminal.create("the epic", "--type", "epic")
    return terminal


@pytest.fixture
def shop(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's repository, with the agents' programs on the path."""
    pages.stand_ins(home, tmp_path, monkeypatch)
    project = tmp_path / "shop"
    project.mkdir()
    repository_in(project)
    put(project, "plan.yaml", "- {key: lib, title: build it, run: make lib}\n")
    commit(project, "Makefile", pages.MAKEFILE)
    put(project, "work", "#!/bin/sh\n")
    put(project, "my-agent", "#!/bin/sh\necho '<promise>APPROVAL_NEEDED: look</promise>'\n")
    for place in (project, tmp_path / "old"):
        put(place, ".tickets/a-1.md", pages.TICKET)
    for program in ("work", "my-agent"):
        (project / program).chmod(0o755)
    try:
        yield project
    finally:
        for team in sorted(path.name for path in (home / "teams").glob("*")):
            pages.typed(f"pro0 team cleanup {team} --force", project)


@pytest.fixture
def build1(shop: Path, tmp_path: Path) -> Iterator[Machine]:
    """Another machine, which the person's `~/.ssh/teams` names, with the agents' programs, and what it is to make."""
    if lacking := sshd.lacks():
        pytest.skip(lacking)
    commit(shop, "src/Makefile", pages.WATCHED)
    with sshd.machine(tmp_path / "build1") as made:
        made.install()
        shutil.copytree(tmp_path / "bin", made.bin, dirs_exist_ok=True)
        (made.bin / "mine").write_text("#!/bin/sh\nexec sleep 60\n")
        (made.bin / "mine").chmod(0o700)
        teams = Path.home() / ".ssh" / "teams"
        teams.parent.mkdir(mode=0o700)
        shutil.copy(made.at / "client", teams)
        yield made
        pages.typed("pro0 team cleanup shop --force", shop)  # while its machine can still be told
