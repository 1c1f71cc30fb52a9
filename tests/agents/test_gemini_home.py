"""The home of Gemini CLI in a session: all that is the person's, and their settings with ours below them."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pro0.agents.adapter import Brief
from pro0.agents.gemini import home
from pro0.agents.gemini.adapter import GEMINI
from pro0.errors import BadInput
from pro0.model.team import Seat
from pro0.store.files import add_links, delete
from tests.faults import fail_about, fault_at

SESSION = "11111111-1111-4111-8111-111111111111"
Begun = Callable[..., Path]


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The home of a person who has used Gemini CLI."""
    own = tmp_path / "ann"
    for name in ("tmp/shop/chats", "extensions/theirs", "commands"):
        (own / ".gemini" / name).mkdir(parents=True)
    (own / ".gemini" / "oauth_creds.json").write_text("theirs")
    (own / ".gemini" / "extensions" / "theirs" / "gemini-extension.json").write_text("{}")
    (own / ".env").write_text("A=1")
    return own


@pytest.fixture
def begun(person: Path, tmp_path: Path) -> Begun:
    """Begin a session as the lead does; returns its home."""

    def begin(environment: Mapping[str, str] | None = None, name: str = "s1") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        variables = environment or {"HOME": str(person)}
        call = GEMINI.call(
            Brief(
                seat=Seat(agent_id="w1", name="w1", agent="gemini"),
                session=SESSION,
                folder=str(folder),
                cwd=str(tmp_path),
                environment=variables,
                pro0=(sys.executable, "-I", "-m", "pro0"),
            )
        )
        for file, data in call.files.items():
            (folder / file).write_bytes(data)
        add_links(folder, call.links)
        return Path(call.env[home.VARIABLE])

    return begin


def settings(person: Path, text: str) -> None:
    (person / ".gemini" / "settings.json").write_text(text)


def read(own: Path) -> dict[str, object]:
    return dict(json.loads((own / ".gemini" / "settings.json").read_text()))


def test_all_that_is_the_persons_is_there(begun: Begun, person: Path) -> None:
    own = begun()
    assert read(own.parent / "home") == json.loads((own / "settings.json").read_text())
    theirs = {path.relative_to(person): path for path in person.rglob("*") if path.is_file()}
    assert len(theirs) == 3
    for name, path in theirs.items():
        assert (own / name).samefile(path), name


ALWAYS = (
    *("tmp/cart/chats/session-1.jsonl", "history/cart/a", "policies/auto-saved.toml", "google_accounts.json"),
    *("gemini-credentials.json", "GEMINI.md", "oauth_creds.json"),
)
PRESENT = ("commands/a.toml", "extensions/theirs/b")
"""Below folders that Gemini makes in the session's home alone, where the person has none."""


@pytest.mark.parametrize(
    ("name", "there"), [*((name, True) for name in (*ALWAYS, *PRESENT)), *((name, False) for name in ALWAYS)]
)
def test_what_gemini_writes_is_the_persons(name: str, there: bool, begun: Begun, person: Path) -> None:
    """Behaviour 3.17: its sign-in, its conversations and what it may do without asking outlive the session."""
    if not there:
        delete(person / ".gemini")
    own = begun()
    path = own / ".gemini" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("new")
    delete(own.parent)
    assert (person / ".gemini" / name).read_text() == "new"


def test_the_persons_settings_are_above_ours(begun: Begun, person: Path) -> None:
    mine = {"ui": {"theme": "x"}, "mcpServers": {"mine": {}}, "hooks": {"AfterAgent": [{"hooks": []}]}}
    settings(person, json.dumps(mine))
    own = begun()
    assert read(own)["ui"] == {"theme": "x"}
    assert set(dict(read(own)["mcpServers"])) == {"mine", "pro0"}  # type: ignore[call-overload]
    (own / ".gemini" / "settings.json").write_text("{}")
    assert json.loads((person / ".gemini" / "settings.json").read_text()) == mine, "a session changes its own alone"


COMMENTED = r"""// mine
{ "a": "http://x", /* one
"b": 1, */ "c": "// \" /* no */", // end
  "d": 1 }
"""


def test_comments_are_no_settings(begun: Begun, person: Path) -> None:
    settings(person, COMMENTED)
    found = read(begun())
    assert {name: found[name] for name in ("a", "c", "d")} == {"a": "http://x", "c": '// " /* no */', "d": 1}
    assert "b" not in found


@pytest.mark.parametrize("text", ["{", "[]", "{} // and {}\n{}"])
def test_settings_that_are_not_understood_are_not_lost(text: str, begun: Begun, person: Path) -> None:
    settings(person, text)
    with pytest.raises(BadInput, match=r"settings\.json"):
        begun()


REFUSED = [errno.EACCES, errno.EIO, errno.EMFILE, errno.ESTALE]


@pytest.mark.parametrize("code", REFUSED)
def test_settings_that_cannot_be_read_are_not_lost(code: int, begun: Begun, person: Path) -> None:
    """The agent would run outside the sandbox that they ask for."""
    settings(person, '{"tools": {"sandbox": "docker"}}')
    file = person / ".gemini" / "settings.json"
    for call in ("open", "stat"):
        with fault_at(None, fail_about(str(file), code), (call,)), pytest.raises(BadInput) as refused:
            begun(name=call)
        assert str(refused.value) == f"{file} cannot be read: {os.strerror(code)}"
        assert refused.value.hint == f"make {file} readable, or move it away"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_settings_that_are_no_file_are_not_lost(kind: str, begun: Begun, person: Path) -> None:
    file = person / ".gemini" / "settings.json"
    file.mkdir() if kind == "folder" else os.mkfifo(file)
    with pytest.raises(BadInput, match=r"settings\.json is not a regular file"):
        begun()


@pytest.mark.parametrize("code", REFUSED)
def test_a_folder_that_cannot_be_listed_is_not_empty(code: int, begun: Begun, person: Path) -> None:
    """What is not linked is not there for the agent: extensions, commands, its sign-in of tools."""
    folder = person / ".gemini"
    with fault_at(None, fail_about(str(folder), code), ("scandir", "listdir")), pytest.raises(BadInput) as refused:
        begun()
    assert str(refused.value) == f"{folder} cannot be read: {os.strerror(code)}"


@pytest.mark.parametrize("place", ["nowhere", "ann/.env"])
def test_a_home_that_is_not_there_has_no_settings(place: str, begun: Begun, tmp_path: Path) -> None:
    assert set(read(begun({"HOME": str(tmp_path / place)}))) == {"mcpServers"}


@pytest.mark.parametrize("text", ["", " \n"])
def test_empty_settings_are_none(text: str, begun: Begun, person: Path) -> None:
    settings(person, text)
    assert set(read(begun())) == {"mcpServers"}


@pytest.mark.parametrize(
    ("where", "text", "variable", "sandboxed"),
    [
        ("", "", "", False),
        ("", "", "true", True),
        ("", "", "docker", True),
        ("ann", '{"tools": {"sandbox": true}}', "", True),
        ("ann", '{"tools": {"sandbox": "podman"}}', "", True),
        ("ann", '{"tools": {"sandbox": {"enabled": true}}}', "", True),
        ("ann", '{"tools": {"sandbox": {"enabled": false}}}', "", False),
        ("ann", '{"tools": {"sandbox": false}}', "", False),
        ("ann", '{"tools": {"sandbox": true}}', " 0 ", False),
        ("shop", '{"tools": {"sandbox": true}}', "", True),
        ("shop", '{"tools": {"sandbox": false}}', "1", True),
    ],
)
def test_its_own_sandbox_has_the_persons_home(
    where: str, text: str, variable: str, sandboxed: bool, person: Path, tmp_path: Path
) -> None:
    """It shows no file behind a link, and so no sign-in."""
    if where:
        (tmp_path / where / ".gemini").mkdir(parents=True, exist_ok=True)
        (tmp_path / where / ".gemini" / "settings.json").write_text(text)
    environment = {"HOME": str(person), "GEMINI_SANDBOX": variable}
    assert home.is_sandboxed(environment, str(tmp_path / "shop")) is sandboxed
    brief = Brief(
        seat=Seat(agent_id="w1", name="w1", agent="gemini"),
        session=SESSION,
        folder=str(tmp_path / "s1"),
        cwd=str(tmp_path / "shop"),
        environment=environment,
        pro0=("pro0",),
    )
    call = GEMINI.call(brief)
    assert ((home.VARIABLE in call.env), bool(call.links)) == (not sandboxed, not sandboxed)


def test_another_home_of_the_person_counts(begun: Begun, person: Path, tmp_path: Path) -> None:
    own = begun({"HOME": str(tmp_path / "nobody"), home.VARIABLE: str(person)})
    assert (own / ".gemini" / "oauth_creds.json").read_text() == "theirs"


@pytest.mark.parametrize("variable", ["HOME", home.VARIABLE])
def test_a_link_of_the_person_with_the_name_of_ours_is_theirs(variable: str, person: Path) -> None:
    """What leads from a session's home to the person's begins at the root, and a session sets the variable."""
    (person / "person").symlink_to("docs/person")
    assert home.data({variable: str(person)}) == person / ".gemini"
    (person / "person").unlink()
    (person / "person").symlink_to(person / "docs")
    assert home.data({"HOME": str(person)}) == person / ".gemini"


def test_a_team_that_is_begun_in_a_session_has_the_persons_home_too(begun: Begun, person: Path) -> None:
    """Its variable leads to a folder that goes with the session."""
    outer = begun()
    inner = begun({"HOME": "/", home.VARIABLE: str(outer), home.TRUSTED: str(person / "trusted")}, "s2")
    delete(outer.parent)
    assert (inner / ".gemini" / "oauth_creds.json").read_text() == "theirs"
    assert home.trusted({"HOME": str(person)}) == person / ".gemini" / "trustedFolders.json"


def test_the_end_of_a_session_takes_nothing_of_the_persons(begun: Begun, person: Path) -> None:
    before = sorted(person.rglob("*"))
    own = begun()
    delete(own.parent)
    assert {path for path in before if not path.exists()} == set()
    assert (person / ".gemini" / "oauth_creds.json").read_text() == "theirs"


def test_the_pro0_of_another_machine_makes_it_there(person: Path, tmp_path: Path) -> None:
    """The shell there has the lines alone; what stands in its home is known there alone."""
    settings(person, '{"ui": {"theme": "x"}}')
    folder, bin_ = tmp_path / "hosted", tmp_path / "bin"
    folder.mkdir()
    bin_.mkdir()
    (bin_ / "pro0").write_text(f'#!/bin/sh\nexec {sys.executable} -I -m pro0 "$@"\n')
    (bin_ / "gemini").write_text('#!/bin/sh\nenv; cat "$GEMINI_CLI_HOME/.gemini/settings.json"\n')
    for program in bin_.iterdir():
        program.chmod(0o755)
    brief = Brief(
        seat=Seat(agent_id="w1", name="w1", agent="gemini"), folder="$PRO0_HOSTED", prompt="hi", pro0=("pro0",)
    )
    assert GEMINI.elsewhere
    environment = {"HOME": str(person), "PATH": f"{bin_}{os.pathsep}{os.defpath}", "PRO0_HOSTED": str(folder)}
    done = subprocess.run(
        GEMINI.elsewhere(brief).argv, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert f"{home.TRUSTED}={person}/.gemini/trustedFolders.json" in lines
    assert json.loads(last) == {
        "ui": {"theme": "x"},
        "mcpServers": {"pro0": {"command": "pro0", "args": ["mcp"], "trust": True}},
    }
    assert (folder / "home" / ".gemini" / "oauth_creds.json").read_text() == "theirs"
