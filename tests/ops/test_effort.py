"""What a claim costs, counted: bytes, flushes and decodings; how long it takes is in bench/store.py."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from pro0 import decoding
from pro0.model.stored import Document
from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.store import files
from pro0.store.teams import Store, TeamStore
from tests.faults import count
from tests.teams import human, make_team
from tests.traffic import traffic

MANY = 300


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team with many tasks, the first of them claimed."""
    team = make_team(home)
    tasks.create(human(team), [Draft(title=f"Task {number}", description="What to do. ") for number in range(MANY)])
    tasks.claim(human(team), "1")
    return team


def decoded(team: TeamStore, id: str) -> list[str]:
    """Claim a task and return the documents that were decoded for it."""
    found: list[str] = []

    def noted(data: bytes, kind: type[Document]) -> object:
        found.append(kind.__name__)
        return real(data, kind)

    real = decoding.decode
    with patch.object(files, "decode", noted):
        tasks.claim(human(team), id)
    return found


def test_a_claim_reads_and_writes_the_list_once_and_flushes_it_and_its_folder(team: TeamStore) -> None:
    cost = traffic(lambda: tasks.claim(human(team), "2"))
    size, wanted = team.tasks.path.stat().st_size, team.wanted.path.stat().st_size
    assert cost.read <= size + wanted
    assert cost.written <= size + 400
    done = [call.name for call in count(lambda: tasks.claim(human(team), "3"))]
    assert (done.count("fsync"), done.count("rename")) == (2, 1)


def test_while_nobody_else_writes_nothing_is_decoded_twice(team: TeamStore) -> None:
    assert decoded(team, "2") == []
    tasks.claim(human(Store(team.paths.home).team(team.name)), "3")
    assert decoded(team, "4") == ["TaskList"]
    assert decoded(team, "5") == []


def test_what_somebody_else_writes_counts_however_little_differs(team: TeamStore) -> None:
    """Same size, same time of change: the bytes decide."""
    data, status = team.tasks.path.read_bytes(), team.tasks.path.stat()
    team.tasks.path.write_bytes(data.replace(b'"Task 7"', b'"Tusk 7"'))
    os.utime(team.tasks.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert tasks.show(human(team), "8").title == "Tusk 7"
    assert Store(team.paths.home).team(team.name).tasks.read() == team.tasks.read()
