"""What no single fault reaches: other people's homes, looks that fail, a head of one huge message."""

import errno
import os
from pathlib import Path

import pytest

from pro0.errors import EnvironmentMissing, StoreError
from pro0.model.caller import THE_HUMAN
from pro0.model.message import BODY_LIMIT
from pro0.ops.mail import messages
from pro0.ops.team import teams
from pro0.rules import mail
from pro0.store.files import exists
from tests.crash import starts, worlds
from tests.crash.worlds import Place, World
from tests.faults import fail_with, fault_at


@pytest.mark.parametrize("look", ["names", "exists"])
def test_a_look_that_fails_is_never_a_no(place: Place, look: str) -> None:
    """Reliability 13: no team is taken for gone because of an error."""
    with place.home(worlds.made(starts.base)) as home:
        world = World(home)
        with pytest.raises(StoreError, match="EIO"), fault_at(1, fail_with(errno.EIO), ("stat", "listdir", "scandir")):
            world.store.names() if look == "names" else world.team.exists()
        assert world.store.names() == ["alpha"]


def test_what_is_below_a_file_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not exists(tmp_path / "file" / "below")
    assert not exists(tmp_path / "nothing")
    assert exists(tmp_path / "file")


def test_a_home_of_somebody_else_is_left_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 32."""
    with place.home(worlds.made(starts.base)) as home:
        before = worlds.tree(home)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(EnvironmentMissing, match="another user"):
            teams.create(World(home).store, THE_HUMAN, teams.Home(name="beta", project=home))
        assert worlds.tree(home) == before


def test_a_single_message_is_never_sealed_however_long(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "HEAD_BYTES", BODY_LIMIT // 2)
    with place.home(worlds.made(starts.base)) as home:
        world = World(home)
        messages.send(world.human(), "w1", "x" * BODY_LIMIT)
        head = world.team.mailbox("w1").head.read()
        assert (head.sealed, len(head.messages)) == (0, 1)
        messages.send(world.human(), "w1", "next")
        head = world.team.mailbox("w1").head.read()
        assert (head.sealed, [message.content for message in head.messages]) == (1, ["next"])
