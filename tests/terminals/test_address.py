"""The address of a socket."""

import os
import stat
import sys
from pathlib import Path

import pytest

from pro0.terminals import address


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere its folder keeps others out until it has its mode")
def test_a_socket_is_open_to_our_user_alone_from_its_first_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: also between the bind and the call that sets its mode, whatever the umask."""
    modes: list[int] = []
    monkeypatch.setattr(Path, "chmod", lambda path, _mode: modes.append(stat.S_IMODE(path.stat().st_mode)))
    mask = os.umask(0)
    try:
        for path in (tmp_path / "s", tmp_path / ("long" * 40) / "s"):
            path.parent.mkdir(exist_ok=True)
            address.bound(str(path)).close()
    finally:
        os.umask(mask)
    assert modes == [0o600, 0o600]
