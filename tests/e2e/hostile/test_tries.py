"""Another machine that is hostile: its own program in the place of pro0 there, over a real sshd (issue 19)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import sshd
from tests.e2e.hostile.checks import Try
from tests.e2e.hostile.home import CODED, ROOT, Home, home
from tests.e2e.hostile.tries import KINDS, TRIES
from tests.e2e.machines import called_with
from tests.engine.crew import kill
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory, short_folder: Path) -> Iterator[Home]:
    with home(tmp_path_factory.mktemp("tries"), short_folder) as made:
        yield made


ROWS = [pytest.param(name, marks=[pytest.mark.soak] * row.soak) for name, row in TRIES.items()]


@pytest.mark.parametrize("name", ROWS)
def test_a_hostile_machine_gets_a_members_rights_and_harms_nothing(person: Home, name: str) -> None:
    """Issue 19, must show 4."""
    row = TRIES[name]
    before, letters, person.known = person.known or person.seen(), person.letters(), None
    if row.gives:
        person.bring(row.gives, comes=row.comes)
        row.check(person, CODED, {})
        row.after(person, CODED, {})
        person.works()
    else:
        joined(person, row)
    person.known = person.seen()
    assert person.known == before, row.wants
    person.got_nothing_forged(letters)


def joined(person: Home, row: Try) -> None:
    """Let a member be on that machine, until it has tried all."""
    person.plan(serve=row.serve, end=row.end)
    member = person.join(row.agent)
    told = person.told(member)
    person.works(member)
    row.check(person, member, told)
    person.go()
    if not row.ends_itself:
        person.end(member)
    person.comes_to_its_end(member)
    row.after(person, member, told)
    person.is_proven(member)


def test_who_never_answers_is_asked_by_nobody_once_the_lead_is_gone(tmp_path: Path, short_folder: Path) -> None:
    """Issue 19, must show 4: no ssh and no git outlives the lead that waits for it, however that ends."""
    with home(tmp_path, short_folder) as person:
        person.plan(serve=("refuses",), end=("never_says_so",), receive=("never",))
        refusing = person.join("command")
        person.told(refusing)
        person.go()
        person.join("command", worktree=True)
        for asked in ("end", "receive"):
            wait_until((person.there.at / asked).exists, STUCK, f"it is asked to {asked}")
        assert called_with(f"{person.there.at}/client")
        lead = person.team.runtime.read().lead
        assert lead
        kill(lead)
        wait_until(lambda: not called_with(f"{person.there.at}/client"), STUCK, "nobody asks any more")


def test_the_page_of_faults_has_their_numbers() -> None:
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    rows = [f"| {kind} | {len(tries)} |" for kind, tries in KINDS.items()]
    assert "\n".join(rows) in page
    assert sum(map(len, KINDS.values())) == len(TRIES)
