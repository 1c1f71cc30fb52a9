"""A team that is on disk only, for a page that needs no more: nobody leads it, so nothing changes by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0.ops.context import Context
from pro0.store.teams import Store, TeamStore
from tests.conftest import let_scripts
from tests.teams import human, make_team


class OnDisk(NamedTuple):
    """The team alpha, and its person."""

    store: Store
    team: TeamStore
    context: Context


@contextmanager
def on_disk(folder: Path, *members: str) -> Iterator[OnDisk]:
    """Make the team with these members in a home in that folder."""
    home = folder / "pro0"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("PRO0_HOME", str(home))
        let_scripts(home)
        team = make_team(home, *members)
        yield OnDisk(Store(home), team, human(team))
