"""Commands that another machine asks for: few, with a member's rights, once for each id."""

import queue
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.errors import Pro0Error, Refused
from pro0.link import asks as asks_module
from pro0.link.asks import (
    AT_ONCE,
    DONE_FOR_OTHERS,
    FORGOTTEN,
    KEPT,
    LATER,
    PERMISSIONS_AT_ONCE,
    REMEMBERED,
    TOOLS_FOR_OTHERS,
    UNKNOWN,
    WAIT_AT_ONCE,
    Answer,
    Asks,
    refusal,
)
from pro0.link.doing import CHECK, CommandEnd, CommandRequest, Doing, without_wait
from pro0.link.mail import OwnMail
from pro0.link.own import OwnSendings, OwnSession
from pro0.link.permission import HOOK, OwnPermissions
from pro0.mcp.tools.table import TOOLS
from pro0.model.caller import Who
from tests.engine.test_backlog import no_threads
from tests.waiting import STUCK, wait_until

REFUSED = """
|task|task create x|task create -f /etc/passwd|task add x|task import .|task update 1 --run x|task approve 1
member permission-hook -t alpha
member spawn x -- sh|member env w1|member answer x allow|member forget w1|member peek w1|team start|team stop
team cleanup|team logs|config set ssh x|config trust|mcp|rpc team.stop|web|run|delegate x|worker kill t1|hosted end x
lead alpha|uninstall|doctor|-t alpha task list|--version|task --help|shutdown|plan x|import .|events|needs --watch
mcp --call|mcp --call task_create|mcp --call spawn_teammate|mcp --call message x|mcp --call submit_plan
needs --watch=5|task next --watch|inbox \0
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
    for words in ("inbox --wait 5", "inbox --wait=5", "send w1 x --wait 5", "member permission-hook"):
        assert not refusal(words.split())


def test_tools_for_other_machines_are_a_members_and_do_not_wait() -> None:
    """Issue 19, build 2: no tool that is not there, and none that makes tasks or plans."""
    assert not {name for name in TOOLS_FOR_OTHERS if TOOLS[name].waits or Who.MEMBER not in TOOLS[name].callers}
    others = {name for name, tool in TOOLS.items() if Who.MEMBER in tool.callers} - TOOLS_FOR_OTHERS
    assert others == {"submit_plan", "update_task", "task_create", "ticket_create", "role_list"}


@pytest.fixture
def done(home: Path, tmp_path: Path) -> tuple[Asks, "queue.Queue[None]"]:
    rings: queue.Queue[None] = queue.Queue()
    session = OwnSession("shop", "bob")
    return Asks(Doing(tmp_path, OwnMail(session), OwnPermissions(session)), lambda: rings.put(None)), rings


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


def test_what_was_sent_before_a_restart_is_not_sent_again(tmp_path: Path) -> None:
    """behaviour 3.32: whoever asks again is told that nobody knows; what sends nothing is done again."""
    for again in (False, True):
        asks = Asks(Telling(), lambda: None, OwnSendings(tmp_path / "one", again=again))
        errors = list[object]()
        for words in (["send", "lead", "x"], ["task", "comment", "1", "x"], ["mcp", "--call", "message"], ["inbox"]):
            asks.take({"id": words[0], "words": words, "input": ""})
            answer = wait_until(asks.answers, STUCK, "it is answered")[0]
            errors.append(answer["errors"])
            asks.gone(words[0])
        assert errors == ([UNKNOWN] * 3 + [""] if again else [""] * 4)


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


def test_what_no_command_can_be_given_is_passed_over(done: tuple[Asks, "queue.Queue[None]"]) -> None:
    """Issue 19, must show 4: JSON may hold half a character; nothing of it waits for ever."""
    asks, rings = done
    half = "\ud800"
    for words, given in ((["send", "human", "-"], half), (HOOK, half), (["inbox", "--wait", "9"], half)):
        asks.take({"id": f"{words}"[:64], "words": words, "input": given})
    asks.take({"id": half, "words": ["inbox"], "input": ""})
    assert not asks.answers()
    assert not waiting(asks)
    asks.take({"id": "word", "words": ["send", "human", half], "input": ""})
    assert answered(asks, rings)["code"] == Refused.exit_code


def test_a_long_input_reaches_a_command(done: tuple[Asks, "queue.Queue[None]"]) -> None:
    """Issue 19, build 1: more than a pipe takes, for one that needs a while until it reads."""
    asks, rings = done
    asks.take({"id": "long", "words": ["mcp", "--call", "message"], "input": "x" * 300_000})
    assert "cannot be read" in str(answered(asks, rings)["errors"])


def test_a_refusal_names_no_more_than_a_line(done: tuple[Asks, "queue.Queue[None]"]) -> None:
    """Issue 19, must show 4: what is remembered is not as long as what was asked."""
    asks, rings = done
    asks.take({"id": "a", "words": ["x" * 1_000_000, "y"], "input": ""})
    assert len(str(answered(asks, rings)["errors"])) < 300


class Printing(Doing):
    """Prints a mebibyte, whatever it is asked for."""

    def __init__(self) -> None:
        pass

    def do(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        tell(CommandEnd(0, "x" * (1 << 20), ""))


def test_what_is_remembered_is_bounded_and_still_known_as_done() -> None:
    """Issue 19, must show 2 and 4: who asks again late is told that it was done, and it is not done again."""
    rings: queue.Queue[None] = queue.Queue()
    asks = Asks(Printing(), lambda: rings.put(None))
    for number in range(2 * KEPT >> 20):
        asks.take({"id": str(number), "words": ["team", "status"], "input": ""})
        assert len(str(answered(asks, rings)["out"])) == 1 << 20
        wait_until(lambda: not waiting(asks), STUCK, "it is over")
    assert sum(len(str(kept["out"])) for kept in asks._answers.values()) <= KEPT
    asks.take({"id": "0", "words": ["team", "status"], "input": ""})
    assert answered(asks, rings)["errors"] == FORGOTTEN


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
    at_once = [answer for answer in asks.answers() if "already running" in str(answer["errors"])]
    assert len(at_once) >= AT_ONCE
    got = len(at_once)
    while got < 3 * AT_ONCE:
        rings.get(timeout=STUCK)
        got += len(asks.answers())


class HeldUp(Doing):
    """Does nothing, and so waits until nobody wants its answer any more."""

    def __init__(self) -> None:
        pass

    def do(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        request.settled.wait(STUCK)
        if not request.is_gone:
            tell(CommandEnd(0, request.id, ""))


class Telling(HeldUp):
    """Tells at once, and waits until somebody has it."""

    def do(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        tell(CommandEnd(0, request.id, ""))
        request.settled.wait(STUCK)


def permission(id: str) -> dict[str, object]:
    return {"id": id, "words": HOOK, "input": ""}


def waiting(asks: Asks) -> set[str]:
    """What still waits: of these, another that asks is not done a second time."""
    return {request.id for request in asks._requests}


@pytest.mark.parametrize(
    ("words", "held"),
    [(HOOK, True), (["inbox"], True), (["mcp", "--call", "check_messages"], True), (["needs"], False)],
)
def test_who_gets_mail_or_a_permission_leaves_a_note_of_it(words: list[str], held: bool) -> None:
    """Issue 19, must show 2: else a cut at that moment would give it twice, or count an answer as given elsewhere."""
    rings: queue.Queue[None] = queue.Queue()
    asks = Asks(Telling(), lambda: rings.put(None))
    asks.take({"id": "a", "words": words, "input": ""})
    assert answered(asks, rings)["held"] is held
    asks.taken("a")


def test_requests_for_permissions_have_a_number_of_their_own() -> None:
    """Issue 19, must show 4: neither they nor commands that wait keep each other out."""
    asks = Asks(HeldUp(), lambda: None)
    for number in range(PERMISSIONS_AT_ONCE):
        asks.take(permission(str(number)))
    asks.take({"id": "mail", "words": ["inbox", "--wait", "5"], "input": ""})
    asks.take({"id": "status", "words": ["team", "status"], "input": ""})
    assert not asks.answers()
    asks.take(permission("late"))
    [refused] = asks.answers()
    assert (refused["id"], "requests are already waiting" in str(refused["errors"])) == ("late", True)
    asks.gone("0")
    wait_until(lambda: "0" not in waiting(asks), STUCK, "there is room again")
    asks.take(permission("late"))
    assert not asks.answers()
    assert len(waiting(asks)) == PERMISSIONS_AT_ONCE + 2


def test_a_request_for_a_permission_outlives_a_cut_as_its_hook_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, build 4: who does not ask again once the link is back has gone meanwhile."""
    monkeypatch.setattr(asks_module, "BACK", 0.3)
    asks = Asks(HeldUp(), lambda: None)
    asks.connected()
    for id in ("stays", "goes"):
        asks.take(permission(id))
    asks.take({"id": "mail", "words": ["inbox", "--wait", "5"], "input": ""})
    asks.cut_off()
    wait_until(lambda: waiting(asks) == {"stays", "goes"}, STUCK, "mail waits for no answer that cannot come")
    time.sleep(0.6)  # longer than the time since it was connected first
    asks.cut_off()
    assert waiting(asks) == {"stays", "goes"}
    asks.connected()
    asks.take(permission("stays"))
    wait_until(lambda: waiting(asks) == {"stays"}, STUCK, "one has gone")


def test_a_command_that_no_thread_does_may_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full system at home ends no link, and with it no agent elsewhere."""
    rings: queue.Queue[None] = queue.Queue()
    asks = Asks(Telling(), lambda: rings.put(None))
    ask: dict[str, object] = {"id": "a", "words": ["team", "status"], "input": ""}
    with no_threads(monkeypatch):
        asks.take(ask)
    refused = answered(asks, rings)
    assert (refused["id"], refused["code"], LATER in str(refused["errors"])) == ("a", Pro0Error.exit_code, True)
    assert not waiting(asks)
    asks.take(ask)
    assert answered(asks, rings)["out"] == "a"
    asks.taken("a")


@pytest.mark.parametrize("cut_again", [False, True])
def test_who_asks_no_more_is_given_up_though_no_thread_started(
    cut_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next look begins what the system had no room for; after another cut nobody can ask."""
    monkeypatch.setattr(asks_module, "BACK", 0.3)
    asks = Asks(HeldUp(), lambda: None)
    asks.take(permission("goes"))
    asks.cut_off()
    with no_threads(monkeypatch):
        asks.connected()
        asks.answers()
    if cut_again:
        asks.cut_off()
        asks.answers()
        time.sleep(0.6)
        assert waiting(asks) == {"goes"}
        asks.connected()
    asks.answers()
    wait_until(lambda: not waiting(asks), STUCK, "it has gone")


class Broken(Doing):
    """Breaks as no command is known to, before it has an answer or after."""

    def __init__(self, *answers: CommandEnd) -> None:
        self._told = answers

    def do(self, request: CommandRequest, tell: Callable[[CommandEnd], None]) -> None:
        for done in self._told:
            tell(done)
        raise KeyError("a fault")


EVERY_KIND = (["team", "status"], ["send", "bob", "x", "--wait", "5"], ["inbox"], CHECK, HOOK)


@pytest.mark.parametrize("words", EVERY_KIND, ids=" ".join)
def test_a_fault_that_nobody_foresaw_is_told_and_holds_no_place(words: list[str]) -> None:
    """Issue 19, must show 4: who asked would wait for ever, and after a few of them nobody else could ask."""
    rings: queue.Queue[None] = queue.Queue()
    asks = Asks(Broken(), lambda: rings.put(None))
    for number in range(2 * PERMISSIONS_AT_ONCE):
        asks.take({"id": str(number), "words": words, "input": ""})
        told = answered(asks, rings)
        assert (told["id"], told["code"], told["out"]) == (str(number), Pro0Error.exit_code, "")
        assert "internal error: KeyError: 'a fault'" in str(told["errors"])
        wait_until(lambda: not waiting(asks), STUCK, "it is over")


def test_a_fault_after_an_answer_leaves_that_as_it_is() -> None:
    """Its asker may have it already, or ask for it again after a cut."""
    asks = Asks(Broken(CommandEnd(0, "done", "")), lambda: None)
    asks.take({"id": "a", "words": ["team", "status"], "input": ""})
    wait_until(lambda: not waiting(asks), STUCK, "it is over")
    assert [answer["out"] for answer in asks.answers()] == ["done"]


@pytest.mark.parametrize("words", [["inbox", "--wait", "5"], ["inbox"], HOOK], ids=" ".join)
def test_what_fails_before_it_takes_anything_is_told(words: list[str], done: tuple[Asks, "queue.Queue[None]"]) -> None:
    """Such as a mailbox that is not there: nobody has to take that answer first."""
    asks, rings = done
    for number in range(20):
        asks.take({"id": str(number), "words": words, "input": '{"tool_name": "Bash"}'})
        assert answered(asks, rings)["code"] != 0
        asks.taken(str(number))
        wait_until(lambda: not waiting(asks), STUCK, "it is over")


@pytest.mark.parametrize(
    ("words", "rest", "seconds"),
    [
        ("inbox", "inbox", None),
        ("inbox --wait 5", "inbox --wait 0", 5.0),
        ("inbox --wait=0.5 --json", "inbox --json --wait 0", 0.5),
        ("inbox --wait 5 --wait 7", "inbox --wait 0", 7.0),
        ("inbox --wait", "inbox --wait", None),
        ("inbox --wait x", "inbox --wait x", None),
        ("inbox --wait -1", "inbox --wait -1", None),
        ("inbox --wait nan", "inbox --wait nan", None),
        ("inbox --waits 5", "inbox --waits 5", None),
    ],
)
def test_a_wait_for_mail_is_many_looks(words: str, rest: str, seconds: float | None) -> None:
    """Issue 19, build 1: a time that is none is the command's to refuse."""
    assert without_wait(words.split()) == (rest.split(), seconds)


@pytest.mark.parametrize(
    ("words", "takes"),
    [
        ("inbox", True),
        ("inbox --wait 5 --json", True),
        ("mcp --call check_messages", True),
        ("inbox --all", False),
        ("inbox --sent", False),
        ("inbox --with ada", False),
        ("inbox --with=ada", False),
        ("send inbox x", False),
        ("mcp --call message", False),
    ],
)
def test_what_takes_mail(words: str, takes: bool) -> None:
    """Issue 19, build 1: only that is given back when its asker is gone."""
    assert CommandRequest("a", words.split(), "").takes_mail == takes


def test_a_flood_of_waits_is_bounded_and_keeps_no_other_command_waiting(
    done: tuple[Asks, "queue.Queue[None]"],
) -> None:
    """Issue 19, must show 4."""
    asks, rings = done
    for number in range(3 * WAIT_AT_ONCE):
        asks.take({"id": f"wait-{number}", "words": ["send", "x", "y", "--wait", "60"], "input": ""})
    asks.take({"id": "other", "words": ["team", "status"], "input": ""})
    answers = asks.answers()
    while len(answers) < 3 * WAIT_AT_ONCE + 1:
        rings.get(timeout=STUCK)
        answers += asks.answers()
    refused = [answer for answer in answers if "commands are already waiting" in str(answer["errors"])]
    assert len(refused) >= WAIT_AT_ONCE
    assert "other" not in [answer["id"] for answer in refused]
    assert "already running" not in str(answers)
