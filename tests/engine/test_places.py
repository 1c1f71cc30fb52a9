"""Which mode a team gets, and why: must show 5, S004-059, rulings 3.13."""

from pathlib import Path

import pytest

from pro0.engine.places import choose_mode
from pro0.errors import EnvironmentMissing

INSIDE = {"TMUX": "/tmp/tmux-0/default,1,0"}
ITERM = {"TERM_PROGRAM": "iTerm.app", "ITERM_SESSION_ID": "w0t0p0:5E5A1F6C-0000-4000-8000-000000000000"}
LACKS = "pyghostty is not installed"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A machine that has tmux and the screen model, or only one of them, or none."""
    if "tmux" in request.param:
        (tmp_path / "tmux").write_text("#!/bin/sh\n")
        (tmp_path / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if "model" not in request.param:
        monkeypatch.setattr("pro0.terminals.library.find_spec", lambda name: None)


BOTH, TMUX, MODEL, NONE = ("tmux", "model"), ("tmux",), ("model",), ()
CASES = [
    pytest.param(BOTH, INSIDE, True, "tmux", "this terminal is inside tmux", id="inside tmux"),
    pytest.param(BOTH, INSIDE, False, "tmux", "this terminal is inside tmux", id="inside tmux, piped"),
    pytest.param(BOTH, {}, True, "in-process", "this is a terminal outside tmux", id="terminal, all there"),
    pytest.param(MODEL, {}, True, "in-process", "this is a terminal outside tmux", id="terminal without tmux"),
    pytest.param(MODEL, INSIDE, True, "in-process", "this is a terminal outside tmux", id="tmux's variable only"),
    pytest.param(BOTH, ITERM, True, "in-process", "this is a terminal outside tmux", id="iTerm2"),
    pytest.param(BOTH, ITERM | INSIDE, True, "tmux", "this terminal is inside tmux", id="iTerm2 with tmux inside"),
    pytest.param(TMUX, {}, True, "tmux", f"this is a terminal, and {LACKS}: a separate tmux server", id="no model"),
    pytest.param(NONE, {}, True, "headless", f"tmux is not installed, and {LACKS}", id="terminal, nothing there"),
    pytest.param(BOTH, {}, False, "headless", "there is no terminal", id="no terminal"),
    pytest.param(NONE, {}, False, "headless", "there is no terminal", id="no terminal, no tmux"),
    pytest.param(BOTH, ITERM, False, "headless", "there is no terminal", id="no terminal, iTerm2"),
]


@pytest.mark.parametrize(("machine", "environment", "terminal", "mode", "reason"), CASES, indirect=["machine"])
def test_auto_says_what_and_why(
    machine: None, environment: dict[str, str], terminal: bool, mode: str, reason: str
) -> None:
    assert choose_mode("auto", environment, terminal=terminal) == (mode, reason)


ASKED = [
    pytest.param(NONE, "tmux", "tmux is not installed", id="tmux"),
    pytest.param(TMUX, "in-process", LACKS, id="in-process"),
]


@pytest.mark.parametrize(("machine", "mode", "why"), ASKED, indirect=["machine"])
def test_what_is_asked_for_and_cannot_work_is_exit_6_with_the_mend(machine: None, mode: str, why: str) -> None:
    """Nothing falls back in silence."""
    with pytest.raises(EnvironmentMissing, match=why) as error:
        choose_mode(mode, {}, terminal=True)
    assert error.value.exit_code == 6
    assert "--mode" in str(error.value.hint)


@pytest.mark.parametrize("machine", [BOTH], indirect=True)
@pytest.mark.parametrize("mode", ["tmux", "in-process", "headless"])
def test_what_is_asked_for_and_works_is_taken(machine: None, mode: str) -> None:
    assert choose_mode(mode, {}, terminal=False) == (mode, "asked for")
