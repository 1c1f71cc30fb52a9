"""`pro0 config set` and `unset`, as a person meets them: which file, and which value counts then."""

import json
import shlex
from pathlib import Path

import pytest

from pro0.config import SETTINGS
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become


def test_set_and_unset_say_what_is_in_force(pro0: Pro0, home: Path) -> None:
    path = home / "config.yaml"
    assert pro0("config", "set", "maxTeammates", "20").out == f"maxTeammates is 20 ({path})\n"
    assert pro0("config", "get", "maxTeammates").out == "20\n"
    assert pro0("config", "unset", "maxTeammates").out == "maxTeammates is 10 (default)\n"


def test_a_stronger_source_is_named(pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRO0_MAX_TEAMMATES", "5")
    called = pro0("config", "set", "maxTeammates", "20")
    assert called.out == "maxTeammates is 5 (PRO0_MAX_TEAMMATES)\n"
    assert called.err == f"PRO0_MAX_TEAMMATES has precedence over {home / 'config.yaml'}\n"


def test_of_two_bad_values_each_can_be_mended(pro0: Pro0, home: Path) -> None:
    """What was written is said, and so is what is wrong still."""
    path = home / "config.yaml"
    home.mkdir()
    path.write_text("maxWorkers: x\nmaxTeammates: y\n")
    first = pro0("config", "set", "maxWorkers", "5")
    assert (first.code, first.out) == (0, f"{path} is changed: maxWorkers\n")
    assert first.err.startswith("no setting takes effect yet: maxTeammates must be")
    assert pro0("config", "unset", "maxTeammates").out == "maxTeammates is 10 (default)\n"
    assert pro0("config", "get", "maxWorkers").out == "5\n"


def test_the_projects_file_is_named_with_an_option(pro0: Pro0, project: Path) -> None:
    pro0("config", "set", "windowLayout", "even-vertical", "--project")
    assert (project / ".pro0" / "config.yaml").read_text() == "windowLayout: even-vertical\n"


def test_what_needs_the_persons_word_waits_for_it_there(pro0: Pro0, project: Path, scripts: None) -> None:
    called = pro0("config", "set", "permissionMode", "bypass", "--project")
    assert called.out == "permissionMode is ask (default)\n"
    assert (
        "until you trust them, settings of this project have no effect: permissionMode: pro0 config trust --show"
        in called.err
    )


def test_a_member_changes_no_settings(pro0: Pro0, home: Path, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    become(monkeypatch, team, "w1")
    called = pro0("config", "set", "permissionMode", "bypass")
    assert (called.code, called.err) == (4, "pro0: w1 may not change settings: only a person may\n")
    assert not (home / "config.yaml").exists()


def test_config_in_full(pro0: Pro0) -> None:
    shown = pro0("config", "--long")
    assert shown.code == 0, shown
    for words in ("maxTeammates: How many", "a whole number from 1 to 100", "PRO0_MAX_TEAMMATES", "10 (default)"):
        assert words in shown.out
    rows = {row["name"]: row for row in json.loads(pro0("config", "--long", "--json").out)}
    assert rows["maxTeammates"]["values"] == "a whole number from 1 to 100"
    assert set(rows) == {setting.name for setting in SETTINGS}


def test_a_byte_order_mark_stays(pro0: Pro0, home: Path) -> None:
    """Editors of Windows write one; `set` changes one value, and nothing else."""
    home.mkdir()
    (home / "config.yaml").write_bytes(b"\xef\xbb\xbfbell: true\r\n# mine\r\n")
    assert pro0("config", "set", "bell", "false").code == 0
    assert (home / "config.yaml").read_bytes() == b"\xef\xbb\xbfbell: false\r\n# mine\r\n"


@pytest.mark.parametrize(
    ("name", "value"), [("worktree", "{setup: npm ci}"), ("agents", "{mine: {argv: [mine]}}"), ("worktree", "npm ci")]
)
def test_a_mapping_that_is_no_json_is_answered_with_an_example_that_can_be_typed(
    pro0: Pro0, home: Path, name: str, value: str
) -> None:
    """The pages show such a value as YAML, as it stands in the file."""
    called = pro0("config", "set", name, value)
    assert called.code == 2
    hint = called.err.splitlines()[1]
    assert hint.startswith(f"hint: as JSON: pro0 config set {name} ")
    assert pro0(*shlex.split(hint.partition("JSON: pro0 ")[2])).code == 0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("maxTeammates:\n", "not null"),
        ("maxTeammates: yes\n", "not true"),
        ("null: 5\n", "there is no setting null"),
        (
            "bell: true\n---\nbell: true\n",
            "expected a single document in the stream, but found another document, line 2",
        ),
    ],
)
def test_a_file_is_answered_in_its_own_words(pro0: Pro0, home: Path, text: str, error: str) -> None:
    home.mkdir()
    (home / "config.yaml").write_text(text)
    called = pro0("config")
    assert called.code == 2
    assert error in called.err
