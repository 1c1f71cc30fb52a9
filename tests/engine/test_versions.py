"""What is switched off for the version of an agent program that is installed (behaviour 3.30)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.agents import adapter_named, limited
from pro0.engine.opening import versions
from pro0.engine.opening.versions import off_for
from pro0.model.agent import AGENTS
from pro0.model.home import AgentAct, Proof
from pro0.model.runtime import State
from pro0.ops import proofs
from tests.teams import NOW

OFF = (AgentAct.TYPING, AgentAct.STATES)
CLAUDE = adapter_named("claude")


@pytest.fixture
def installed(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that installs a `claude` which does this when it is asked for its version, and gives a PATH."""

    def install(script: str) -> str:
        folder = tmp_path / script.replace("/", "").replace(" ", "-")
        folder.mkdir()
        (folder / "claude").write_text(f"#!/bin/sh\necho asked >> {folder}/asked\n{script}\n")
        (folder / "claude").chmod(0o755)
        return str(folder)

    return install


def prove(home: Path, version: str, *off: AgentAct, agent: str = "claude") -> None:
    proofs.keep(home, Proof(agent=agent, version=version, at=NOW, off=off))


def test_a_program_is_asked_only_when_something_is_off_and_once(home: Path, installed: Callable[[str], str]) -> None:
    path = installed("echo 2.0.0")
    prove(home, "2.0.0")
    prove(home, "2.0.0", *OFF, agent="codex")
    assert off_for(home, CLAUDE, path) == ()
    assert not Path(path, "asked").exists()
    prove(home, "2.0.0", *OFF)
    assert [off_for(home, CLAUDE, path) for _ in range(3)] == [OFF] * 3
    assert Path(path, "asked").read_text() == "asked\n"


@pytest.mark.parametrize(
    ("script", "off"),
    [("echo 2.0.0", OFF), ("echo 2.0.1", ()), ("exit 1", OFF), ("echo none", OFF)],
)
def test_it_is_off_for_its_version_and_for_a_program_that_says_none(
    script: str, off: tuple[AgentAct, ...], home: Path, installed: Callable[[str], str]
) -> None:
    prove(home, "2.0.0", *OFF)
    assert off_for(home, CLAUDE, installed(script)) == off


def test_what_a_program_has_said_counts_for_seconds_only(
    home: Path, installed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shim stays as it is while its program changes; a program that fails once says its version later."""
    prove(home, "2.0.0", *OFF)
    path = installed("cat version")
    monkeypatch.chdir(path)
    version = Path(path, "version")
    assert off_for(home, CLAUDE, path) == OFF
    version.write_text("2.0.1")
    assert off_for(home, CLAUDE, path) == ()
    version.write_text("2.0.0")
    monkeypatch.setattr(versions, "FRESH", 0)
    assert off_for(home, CLAUDE, path) == OFF


def test_the_program_of_another_machine_gets_all_that_is_off(home: Path, installed: Callable[[str], str]) -> None:
    """Issue 19, build 2: its version is not known here."""
    prove(home, "2.0.0", *OFF)
    assert off_for(home, CLAUDE, None) == OFF
    assert off_for(home, adapter_named("codex"), None) == ()


def test_what_is_not_installed_has_nothing_switched_off(home: Path, tmp_path: Path) -> None:
    prove(home, "2.0.0", *OFF)
    assert off_for(home, CLAUDE, str(tmp_path)) == ()
    assert off_for(home, adapter_named("shell"), str(tmp_path)) == ()


@pytest.mark.parametrize("agent", AGENTS)
def test_an_adapter_has_nothing_left_of_what_is_off(agent: str) -> None:
    whole = adapter_named(agent)
    assert limited(whole, ()) is whole
    assert limited(whole, [AgentAct.TYPING]).interrupt == ""
    unseen = limited(whole, [AgentAct.STATES])
    assert (unseen.look, unseen.screens, unseen.first_state) == (None, None, State.RUNNING)
    assert limited(whole, [AgentAct.CHANNEL]).deliver is None
    silent = limited(whole, [AgentAct.ANSWERS])
    assert (silent.permissions, silent.asks_by_hook) == (None, False)
