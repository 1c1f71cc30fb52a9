"""`pro0 doctor --host`: what another machine lacks for members, asked over a real sshd."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0 import __version__
from tests import sshd
from tests.cli.conftest import Pro0
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with sshd.machine(tmp_path_factory.mktemp("hosts") / "build1") as made:
        yield made


@pytest.fixture
def build1(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PRO0_SSH", machine.ssh)
    (machine.bin / "pro0").unlink(missing_ok=True)
    return machine


def checks(pro0: Pro0, code: int) -> dict[str, dict[str, str]]:
    result = pro0("doctor", "--host", "build1", "--json")
    assert result.code == code, result
    return {row["name"]: row for row in json.loads(result.out)["checks"]}


def test_a_machine_with_pro0_says_how_it_is(build1: Machine, pro0: Pro0) -> None:
    """Issue 19, build 1."""
    build1.install()
    found = checks(pro0, 0)
    assert found["ssh"]["what"] == "build1 answers"
    assert found["pro0"]["what"].startswith(f"pro0 {__version__}")
    assert {"python", "git", "in-process", "agent shell"} <= found.keys()
    assert not {"tmux", "home", "settings"} & found.keys()


def test_a_machine_without_pro0_is_told_what_to_install(build1: Machine, pro0: Pro0) -> None:
    """Issue 19, build 1."""
    found = checks(pro0, 1)
    assert found.keys() == {"ssh", "pro0"}
    assert found["pro0"]["what"] == "not installed there"
    assert f"install pro0 {__version__} there" in found["pro0"]["mend"]


@pytest.mark.parametrize(
    ("program", "name", "says"),
    [
        ("echo 'pro0 0.0.1 (pip)'", "pro0", f"0.0.1 there, {__version__} here"),
        ("echo broken >&2; exit 1", "pro0", "not installed there: broken"),
        (f"echo hello; echo 'pro0 {__version__} (x)'", "pro0", "its shell prints something before pro0: hello"),
        (f"echo 'pro0 {__version__} (x)'", "doctor", "its pro0 doctor gives no readable answer"),
        (
            f"echo 'pro0 {__version__} (x)'; echo '{{\"checks\": [7]}}'",
            "doctor",
            "its pro0 doctor gives no readable answer",
        ),
        (f"echo 'pro0 {__version__}'; yes '[' | head -n 99999", "doctor", "its pro0 doctor gives no readable answer"),
        (f"echo 'pro0 {'9' * 5000}'", "pro0", f"{'9' * 40} there, {__version__} here"),
    ],
)
def test_a_machine_with_something_else_is_seen(build1: Machine, pro0: Pro0, program: str, name: str, says: str) -> None:
    """Issue 19, build 1."""
    build1.install(program)
    row = checks(pro0, 1)[name]
    assert (row["state"], row["what"]) == ("fail", says)
    assert row["mend"]


def test_what_it_says_draws_nothing_on_the_terminal_here(build1: Machine, pro0: Pro0) -> None:
    r"""Issue 19, must show 4: another machine is no friend; `\33[2J` would clear the screen."""
    row = '{"name": "git", "state": "ok", "what": "a\\u001b[2Jb", "mend": "c\\u0007"}'
    build1.install(f"if [ $1 = --version ]; then echo 'pro0 {__version__}'; else echo '{{\"checks\": [{row}]}}'; fi")
    result = pro0("doctor", "--host", "build1")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "\a" not in result.out


def test_a_machine_that_is_off_is_named_with_the_next_step(pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, build 1."""
    monkeypatch.setenv("PRO0_SSH", "ssh -F none")
    result = pro0("doctor", "--host", "nowhere.invalid")
    assert result.code == 1
    assert "nowhere.invalid cannot be reached" in result.out
    assert "fix: this must work without a question: ssh nowhere.invalid true" in result.out


@pytest.mark.parametrize("more", [("-t", "alpha"), ("--repair",)])
def test_another_machine_is_looked_at_alone(pro0: Pro0, more: tuple[str, ...]) -> None:
    """Issue 19, build 1."""
    assert pro0("doctor", "--host", "build1", *more).code == 2


def test_a_host_is_no_option_of_ssh(pro0: Pro0, tmp_path: Path) -> None:
    """Issue 19, must show 4."""
    mark = tmp_path / "mark"
    assert pro0("doctor", f"--host=-oProxyCommand=touch {mark}").code == 2
    assert not mark.exists()
