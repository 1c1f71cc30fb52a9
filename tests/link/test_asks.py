"""Commands that another machine asks for: few, with a member's rights, once for each id."""

import queue
from pathlib import Path

import pytest

from pro0.errors import Refused
from pro0.link.asks import AT_ONCE, DONE_FOR_OTHERS, REMEMBERED, TOOLS_FOR_OTHERS, Answer, Asks, refusal
from pro0.mcp.tools.table import TOOLS
from pro0.model.caller import Who
from tests.waiting import STUCK

REFUSED = """
|task|task create x|task create -f /etc/passwd|task add x|task import .|task update 1 --run x|task approve 1
member spawn x -- sh|member env w1|member answer x allow|member forget w1|member peek w1|team start|team stop
team cleanup|team logs|config set ssh x|config trust|mcp|rpc team.stop|web|run|delegate x|worker kill t1|hosted end x
lead alpha|uninstall|doctor|-t alpha task list|--version|task --help|shutdown|plan x|import .|events|needs --watch
mcp --call|mcp --call task_create|mcp --call spawn_teammate|mcp --call message x|mcp --call submit_plan
send w1 x --wait 5|inbox --wait|inbox --wait=5|task next --watch|inbox \0
"""


@pytest.mark.parametrize("words", [line.split(" ") for line in REFUSED.strip("\n").replace("\n", "|").split("|")])
def test_what_is_not_for_other_machines_is_refused(words: list[str]) -> None:
    """Issue 19, must show 4."""
    assert refusal([word for word in words if word])


def test_what_is_for_other_machines_passes() -> None:
    """Issue 19, build 1."""
    for name, below in DONE_FOR_OTHERS.items():
        for word in below.split() or [""]:
            assert not refusal([part for part in (name, word, "x") if part])
    for name in TOOLS_FOR_OTHERS:
        assert not refusal(["mcp", "--call", name])


def test_tools_for_other_machines_are_a_members_and_do_not_wait() -> None:
    """Issue 19, build 2: no tool that is not there, and none that makes tasks or plans."""
    assert not {name for name in TOOLS_FOR_OTHERS if TOOLS[name].waits or Who.MEMBER not in TOOLS[name].callers}
    others = {name for name, tool in TOOLS.items() if Who.MEMBER in tool.callers} - TOOLS_FOR_OTHERS
    assert others == {"submit_plan", "update_task", "task_create", "ticket_create", "role_list"}


@pytest.fixture
def done(home: Path, tmp_path: Path) -> tuple[Asks, "queue.Queue[None]"]:
    rings: queue.Queue[None] = queue.Queue()
    return Asks(tmp_path, lambda: rings.put(None)), rings


def answered(asks: Asks, rings: "queue.Queue[None]") -> Answer:
    while not (answers := asks.answers()):
        rings.get(timeout=STUCK)
    assert len(answers) == 1
    return answers[0]


def test_a_command_is_done_once_for_its_id(done: tuple[Asks, "queue.Queue[None]"], tmp_path: Path) -> None:
    """Issue 19, must show 2: one that was cut off asks again."""
    asks, rings = done
    ask: dict[str, object] = {"id": "a", "words": ["team", "status"], "input": ""}
    asks.take(ask)
    asks.take(ask)
    first = answered(asks, rings)
    assert first["code"] != 0  # there is no team here
    assert str(first["errors"]).startswith("pro0: ")
    (tmp_path / "pro0").mkdir(exist_ok=True)
    asks.take(ask)
    assert answered(asks, rings) is first


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"id": 7, "words": ["inbox"], "input": ""},
        {"id": "x" * 65, "words": ["inbox"], "input": ""},
        {"id": "a", "words": "inbox", "input": ""},
        {"id": "a", "words": ["inbox"], "input": None},
    ],
)
def test_what_is_no_ask_is_passed_over(done: tuple[Asks, "queue.Queue[None]"], ask: dict[str, object]) -> None:
    """Issue 19, must show 4."""
    asks, _ = done
    asks.take(ask)
    assert not asks.answers()


def test_a_flood_of_asks_is_bounded(done: tuple[Asks, "queue.Queue[None]"]) -> None:
    """Issue 19, must show 4: refusals are remembered up to a number, and few commands are done at once."""
    asks, rings = done
    for number in range(2 * REMEMBERED):
        asks.take({"id": str(number), "words": ["team", "stop"], "input": ""})
    assert {answer["code"] for answer in asks.answers()} == {Refused.exit_code}
    asks.take({"id": "0", "words": ["team", "stop"], "input": ""})
    assert len(asks.answers()) == 1
    for number in range(3 * AT_ONCE):
        asks.take({"id": f"many-{number}", "words": ["team", "status"], "input": ""})
    at_once = [answer for answer in asks.answers() if "being done already" in str(answer["errors"])]
    assert len(at_once) >= AT_ONCE
    got = len(at_once)
    while got < 3 * AT_ONCE:
        rings.get(timeout=STUCK)
        got += len(asks.answers())
