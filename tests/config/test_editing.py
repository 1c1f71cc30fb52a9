"""`pro0 config set` and `unset`: one value changes, and nothing else that the person wrote."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pro0 import config
from pro0.errors import BadInput, StoreError
from pro0.ops.team import settings_file
from pro0.store import lock

WRITTEN = """# mine
maxTeammates: 4      # as many as I can watch
teammateMode: tmux

hooks:
  TaskCompleted: make test   # maxTeammates: 9
permissionMode: "ask" # not more
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / config.USER_FILE


def change(path: Path, name: str, value: str | None) -> str:
    """Set, or unset, and return what the file then holds."""
    if value is None:
        settings_file.drop(path, name)
    else:
        settings_file.put(path, name, value)
    return path.read_bytes().decode() if path.exists() else ""


@pytest.mark.parametrize(
    ("name", "value", "before", "after"),
    [
        ("maxTeammates", "20", "", "maxTeammates: 20\n"),
        ("maxTeammates", "20", "bell: false", "bell: false\nmaxTeammates: 20\n"),
        ("maxTeammates", "20", WRITTEN, WRITTEN.replace("maxTeammates: 4 ", "maxTeammates: 20 ", 1)),
        ("teammateMode", "in-process", WRITTEN, WRITTEN.replace("tmux", "in-process")),
        ("bell", "off", WRITTEN, WRITTEN + "bell: false\n"),
        ("passEnvironment", "A, B_*", "", 'passEnvironment: ["A","B_*"]\n'),
        ("taskAgent", "on", "", 'taskAgent: "on"\n'),
        ("taskAgent", "", "", 'taskAgent: ""\n'),
        ("maxTeammates", None, WRITTEN, WRITTEN.replace("maxTeammates: 4      # as many as I can watch\n", "")),
        ("bell", None, WRITTEN, WRITTEN),
        ("bell", None, "", ""),
        ("maxTeammates", "7", "maxTeammates: lots\nbell: true\n", "maxTeammates: 7\nbell: true\n"),
        ("maxTeammates", "4", "maxTeammates: 3  # don't raise", "maxTeammates: 4  # don't raise\n"),
        ("maxTeammates", "4", "maxTeammates:  # 'how' many\n", "maxTeammates: 4  # 'how' many\n"),
        ("taskAgent", "pi", 'taskAgent: "a # b"  # no "c"\n', 'taskAgent: pi  # no "c"\n'),
        ("taskAgent", "pi", "taskAgent: 'it''s # b'\n", "taskAgent: pi\n"),
        ("taskAgent", "pi", "taskAgent: a#b\n", "taskAgent: pi\n"),
        ("passEnvironment", "A", "passEnvironment: [B, C] # '\n", """passEnvironment: ["A"] # '\n"""),
        ("maxTeammates", "4", "# mine\r\nmaxTeammates: 3\r\nbell: true", "# mine\r\nmaxTeammates: 4\r\nbell: true"),
        ("bell", "off", "# mine\r\nmaxTeammates: 3", "# mine\r\nmaxTeammates: 3\r\nbell: false\r\n"),
        ("maxTeammates", None, "# mine\r\nmaxTeammates: 3\r\nbell: true", "# mine\r\nbell: true"),
    ],
)
def test_one_value_changes_and_nothing_else(name: str, value: str | None, before: str, after: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(before.encode())
    assert change(path, name, value) == after
    said = config.load(path.parent, None, {}, {})
    if name == "maxTeammates" and value:
        assert said.max_teammates == int(value)


@pytest.mark.parametrize(
    ("name", "value", "before"),
    [
        ("maxTeammates", "20", '{"maxTeammates": 4}'),
        ("maxTeammates", "20", "experimental:\n  agentTeams:\n    maxTeammates: 4\n"),
        ("maxTeammates", None, "experimental: {agentTeams: {maxTeammates: 4}}\n"),
        ("passEnvironment", "A", "passEnvironment:\n- B\n- C\n"),
        ("passEnvironment", None, "passEnvironment:\n  - B\n"),
    ],
)
def test_what_cannot_be_changed_in_one_line_is_left_to_the_person(
    name: str, value: str | None, before: str, path: Path
) -> None:
    path.parent.mkdir()
    path.write_text(before)
    with pytest.raises(BadInput, match=f"{name} cannot be changed without touching more of") as refused:
        change(path, name, value)
    assert str(path) in (refused.value.hint or "")
    assert path.read_text() == before


def test_no_value_of_a_setting_is_refused_before_anything_is_made(path: Path) -> None:
    with pytest.raises(BadInput, match="maxTeammates must be a whole number from 1 to 100, not 'many'"):
        change(path, "maxTeammates", "many")
    assert not path.parent.exists()


def test_a_file_keeps_its_mode(path: Path) -> None:
    """A checkout may be shared by a group; a new file is the person's alone."""
    assert change(path, "bell", "false")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o664)
    assert change(path, "bell", "true")
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def test_a_file_behind_a_link_stays_behind_it(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "pro0.yaml"
    real.parent.mkdir()
    path.parent.mkdir()
    real.write_text("bell: true\n")
    path.symlink_to(real)
    change(path, "bell", "false")
    assert path.is_symlink()
    assert real.read_text() == "bell: false\n"


@pytest.mark.parametrize("value", ["false", None], ids=["set", "unset"])
def test_nothing_is_made_where_a_link_leads_while_that_place_is_away(
    value: str | None, path: Path, tmp_path: Path
) -> None:
    """A new file below a mount point would hide the person's own until somebody unmounts the disk."""
    path.parent.mkdir()
    path.symlink_to(tmp_path / "disk" / "dotfiles" / "pro0.yaml")
    with pytest.raises(BadInput, match="link to a file that does not exist"):
        change(path, "bell", value)
    assert not (tmp_path / "disk").exists()
    assert path.is_symlink()


def test_changes_at_once_are_all_kept(path: Path) -> None:
    """Also of the first ones, which make the folder; and nothing but the settings is in it afterwards."""
    wanted = {"bell": "false", "maxTeammates": "20", "teammateMode": "tmux", "permissionMode": "ask"}
    with ThreadPoolExecutor(len(wanted)) as at_once:
        for _ in range(5):
            list(at_once.map(lambda row: change(path, *row), wanted.items()))
            assert sorted(path.read_text().splitlines()) == sorted(f"{name}: {wanted[name]}" for name in wanted)
            list(at_once.map(lambda name: change(path, name, None), wanted))
            assert path.read_text() == ""
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_folder_that_another_process_holds_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    with lock.folder_locked(path.parent), pytest.raises(StoreError, match="another process is changing") as refused:
        change(path, "bell", "false")
    assert (refused.value.code, refused.value.hint) == ("lock_timeout", lock.END_IT)
    assert change(path, "bell", "false") == "bell: false\n"
