"""Agents that the settings define, as members: started, told apart, ended."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.errors import BadInput, EnvironmentMissing
from pro0.model.agent import Definition, Modes, Signs
from pro0.model.runtime import State
from pro0.ops.mail import messages
from pro0.ops.tasks.drafts import SeatDraft, with_definitions
from pro0.ops.team import members
from pro0.rules.words import prompts
from tests.engine.crew import PATIENCE, Crew, crew
from tests.waiting import wait_until

TELL = """
import json, os, pathlib, sys, time
name = os.environ["PRO0_AGENT_ID"]
pathlib.Path(f"{name}.new").write_text(json.dumps([sys.argv[1:], dict(os.environ)]))
os.rename(f"{name}.new", f"{name}.told")
time.sleep(600)
"""


Folders = tuple[Path, Path]


@pytest.fixture
def folders(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    """The folders of a crew that ends soon, and whose lead nobody else starts."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    return home, tmp_path


def agent(*words: str, **fields: object) -> Definition:
    return Definition(argv=(sys.executable, "-S", "-c", TELL, *words), **fields)  # type: ignore[arg-type]


def told(crew: Crew, name: str) -> tuple[list[str], dict[str, str]]:
    file = crew.project / f"{name}.told"
    wait_until(file.exists, PATIENCE, f"{name} has told")
    argv, environment = json.loads(file.read_text())
    return argv, environment


def test_each_gets_its_words_and_the_variables_it_names(alpha: Crew) -> None:
    with alpha.team.environment.change("a test") as change:
        kept = {**change.value.variables, "PATH": "/usr/bin:/bin", "PRO0_REVIVE_LEAD": "0"}
        reserved = {"ONE_KEY": "of one", "TWO_KEY": "of two"}
        change.value = replace(change.value, variables=kept, reserved=reserved)
    alpha.lead()
    one = agent("--file", "{prompt_file}", "{options}", environment=("ONE_*",), modes=Modes(ask=("--careful",)))
    two = agent("{prompt}", environment=("TWO_KEY",))
    command = SeatDraft(name="w3", agent="command", argv=two.argv[:-1])
    drafts = with_definitions(
        [SeatDraft(name="w1", agent="one"), SeatDraft(name="w2", agent="two"), command], {"one": one, "two": two}
    )
    alpha.spawn(*drafts)
    (argv, first), (words, second), (_, third) = (told(alpha, name) for name in ("w1", "w2", "w3"))
    assert (argv[0], argv[2:]) == ("--file", ["--careful"])
    assert "You are w1, a teammate" in Path(argv[1]).read_text()
    assert "You are w2, a teammate" in words[0]
    keys = [{name: found[name] for name in ("ONE_KEY", "TWO_KEY") if name in found} for found in (first, second, third)]
    assert keys == [{"ONE_KEY": "of one"}, {"TWO_KEY": "of two"}, {}]
    assert alpha.shut_down("w1").state is State.SHUTDOWN


def test_what_cannot_be_is_said_before_anything_is_there(alpha: Crew) -> None:
    gone = {"gone": Definition(argv=("no-such-program", "{prompt}"), install="pipx install no-such-program")}
    mute = {"mute": agent(modes=Modes(bypass=()))}
    before = alpha.team.wanted.path.read_bytes()
    with pytest.raises(
        EnvironmentMissing, match="no-such-program, which the agent gone runs, is not installed"
    ) as said:
        members.spawn(alpha.context, with_definitions([SeatDraft(name="w1", agent="gone")], gone), 10)
    assert said.value.hint == "pipx install no-such-program"
    with pytest.raises(BadInput, match="the agent mute has no permission mode ask"):
        members.spawn(alpha.context, with_definitions([SeatDraft(name="w1", agent="mute")], mute), 10)
    with pytest.raises(BadInput, match="'mute' cannot be a lead agent"):
        members.spawn(alpha.context, with_definitions([SeatDraft(name="lead", agent="mute", leads=True)], mute), 10)
    with pytest.raises(BadInput, match="there is no agent 'nobody'") as nobody:
        with_definitions([SeatDraft(name="w1", agent="nobody")], mute)
    assert nobody.value.hint
    assert "gemini, mute, opencode" in nobody.value.hint
    assert alpha.team.wanted.path.read_bytes() == before


ASKS = """
import pathlib, sys
heard = pathlib.Path("heard")
while True:
    print("> ", end="", flush=True)
    line = sys.stdin.readline().strip()
    if line == "?":
        print("Allow this? y", flush=True)
        sys.stdin.readline()
        print("\\x1b[2J\\x1b[H", end="")
    elif line:
        with heard.open("a") as file:
            file.write(line + "\\n")
"""


SLOW = """
import pathlib, sys, time
print("> " + sys.argv[2], end="", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.02)
print(f"\\r{sys.argv[1][:100]}\\n> ", end="", flush=True)
time.sleep(600)
"""


def press(crew: Crew, *keys: str) -> None:
    """Press keys in the pane of w1, as a person does."""
    handle = crew.state("w1").handle
    assert handle
    subprocess.run(["tmux", "-S", handle.socket, "send-keys", "-t", handle.pane, *keys], check=True)


def test_one_is_nudged_by_its_signs_and_never_while_it_asks(folders: Folders) -> None:
    """The words of the settings are enough to know when a line may be typed, and that it was taken."""
    signs = Signs(prompt="> ", waiting=("Allow this?",))
    asks = {"asks": Definition(argv=(sys.executable, "-S", "-c", ASKS), nudge=True, screens=signs)}
    with crew(*folders, "tmux") as alpha:
        alpha.lead()
        alpha.spawn(*with_definitions([SeatDraft(name="w1", agent="asks")], asks))
        assert alpha.reaches("w1", State.IDLE).source == "screen"
        press(alpha, "?", "Enter")
        alpha.reaches("w1", State.WAITING)
        messages.send(alpha.context, "w1", "hello")
        alpha.spawn("w2")  # so that the lead has looked again
        press(alpha, "y", "Enter")
        wait_until((alpha.project / "heard").is_file, PATIENCE, "it is told when it is idle")
        assert (alpha.project / "heard").read_text() == f"{prompts.unread_line(1)}\n"


@pytest.mark.parametrize("drawn", ["", "say hello", "say he"])
def test_one_is_not_idle_before_it_has_taken_its_first_prompt(folders: Folders, drawn: str) -> None:
    """An empty input, or one with the prompt itself, is drawn long before: a letter would come before the prompt."""
    argv = (sys.executable, "-S", "-c", SLOW, "{prompt}", drawn)
    slow = {"slow": Definition(argv=argv, nudge=True, screens=Signs(prompt="> "))}
    with crew(*folders, "tmux") as alpha:
        alpha.lead()
        alpha.spawn(*with_definitions([SeatDraft(name="w1", agent="slow", prompt="say hello")], slow))
        wait_until(lambda: alpha.state("w1").rule == first_prompt.UNTAKEN, PATIENCE, "its input is seen")
        assert alpha.state("w1").state is State.STARTING
        (alpha.project / "go").touch()
        assert alpha.reaches("w1", State.IDLE).source == "screen"


SHOW = r"""
import sys, time
print(f"You have hit your session limit, resets {sys.argv[1]} (Asia/Tokyo)\n\n> ", end="", flush=True)
time.sleep(600)
"""


THREE_HOURS = timedelta(hours=3)
"""A limit that has just ended names no end, whatever the hour at which this runs."""


def test_the_time_of_day_at_which_a_limit_ends_is_understood_in_its_zone(folders: Folders) -> None:
    signs = Signs(prompt="> ", error=("hit your session limit",))
    at = datetime.now(ZoneInfo("Asia/Tokyo")) + THREE_HOURS
    argv = (sys.executable, "-S", "-c", SHOW, at.strftime("%I%p").lstrip("0").lower())
    limited = {"limited": Definition(argv=argv, screens=signs)}
    with crew(*folders, "in-process") as alpha:
        alpha.lead()
        alpha.spawn(*with_definitions([SeatDraft(name="w1", agent="limited")], limited))
        wait_until(lambda: alpha.team.runtime.read().limits, PATIENCE, "it is held")
        [limit] = alpha.team.runtime.read().limits
    assert limit.named
    assert limit.until.astimezone(UTC) == at.replace(minute=1, second=0, microsecond=0)
