"""Agents that the settings define: how they are started, seen and fed."""

from dataclasses import dataclass
from functools import reduce

import pytest
from msgspec.json import encode

from pro0.agents import adapter_of, defined
from pro0.agents.adapter import Brief, TurnOutput
from pro0.agents.custom import MESSAGE
from pro0.agents.drawings import drawing_named
from pro0.agents.first_prompt import IN_ARGV
from pro0.agents.own_tools import COMMANDS
from pro0.agents.runner import RUNNER
from pro0.model.agent import Definition, Modes, Signs
from pro0.model.run import RunOptions
from pro0.model.runtime import State
from pro0.model.screen import Screen
from pro0.model.team import PermissionMode, Seat
from pro0.rules.screens import screens

BYPASS = Modes(ask=(), bypass=("--yes", "--all"))


def argv(*words: str, mode: PermissionMode = PermissionMode.ASK, **fields: object) -> tuple[str, ...]:
    """Return what a seat of such an agent, with a model and a prompt, is started with."""
    definition = Definition(argv=("mine", *words), **fields)  # type: ignore[arg-type]
    seat = Seat(agent_id="w1", name="w1", agent="mine", definition=definition, model="big {prompt}")
    brief = Brief(seat=seat, prompt="Build {model}.", mode=mode, folder="/f")
    return adapter_of(seat).call(brief).argv


MODEL = ("-m", "{model}")


def test_words_are_filled_each_once() -> None:
    """What stands in a prompt is no place for anything."""
    assert argv("{prompt}") == ("mine", "Build {model}.")
    assert argv("--file={prompt_file}", "{not a place}") == ("mine", "--file=/f/prompt.md", "{not a place}")
    assert argv("{prompt}", model=MODEL) == ("mine", "-m", "big {prompt}", "Build {model}.")


def test_options_stand_where_they_are_wanted_else_behind_the_program() -> None:
    mode = PermissionMode.BYPASS
    assert argv("go", mode=mode, modes=BYPASS) == ("mine", "--yes", "--all", "go")
    assert argv("go", "{options}", "x", mode=mode, modes=BYPASS) == ("mine", "go", "--yes", "--all", "x")
    assert argv("go", modes=BYPASS, effort=("-e{effort}",)) == ("mine", "go")


def test_the_words_for_own_commands_are_there_once_for_each() -> None:
    """Else its person is asked each time when it reads its mail."""
    allowed = tuple(word for command in COMMANDS for word in ("--allow", f"pro0 {command}"))
    assert argv("go", own_commands=("--allow", "pro0 {command}")) == ("mine", *allowed, "go")
    assert argv("go", "{options}", own_commands=("--allow=pro0 {command}",))[:3] == ("mine", "go", "--allow=pro0 inbox")


def test_a_long_prompt_is_in_a_file_and_one_that_is_not_asked_for_nowhere() -> None:
    brief = Brief(seat=Seat(agent_id="w1", name="w1", agent="mine"), prompt="x" * (IN_ARGV + 1), folder="/f")
    told = defined("mine", Definition(argv=("mine", "{prompt}"))).call(brief)
    assert told.argv[1] == "Read the whole file /f/prompt.md and do what it says."
    assert told.files == {"prompt.md": brief.prompt.encode()}
    assert defined("mine", Definition(argv=("mine",))).call(brief).files == {}


def test_what_a_definition_says_the_adapter_does() -> None:
    plain = defined("mine", Definition(argv=("mine",), install="get mine"))
    assert (plain.program, plain.install, plain.delivery, plain.answers_shutdown) == ("mine", "get mine", "none", False)
    assert (plain.first_state, plain.screens, plain.passes) == (State.RUNNING, None, ())
    rich = Definition(argv=("mine",), nudge=True, shutdown="ask", screens="aider", environment=("A_*",))
    adapter = defined("mine", rich)
    assert (adapter.delivery, adapter.answers_shutdown, adapter.passes) == ("line", True, ("A_*",))
    assert (adapter.first_state, adapter.screens) == (State.STARTING, drawing_named("aider"))


TURNS = {
    "told in argv": (("mine", "--once", "{prompt}"), ("mine", "-m", "big", "--once", "Build it."), False),
    "told on stdin": (("mine", "{options}", "--once"), ("mine", "-m", "big", "--once"), True),
}


@pytest.mark.parametrize(("words", "started", "stdin"), TURNS.values(), ids=TURNS)
def test_a_turn_of_its_own(words: tuple[str, ...], started: tuple[str, ...], stdin: bool) -> None:
    turn = defined("mine", Definition(argv=("mine",), turn=words, model=MODEL)).turn
    assert turn
    call = turn.call(Brief(seat=Seat(agent_id="w1", name="w1", agent="mine", model="big"), prompt="Build it."))
    assert (call.argv, turn.reads_stdin) == (started, stdin)
    assert call.files == {"prompt.md": b"Build it."}
    assert reduce(turn.read, [b"one", b"", "zw\xf6lf".encode("latin1")], TurnOutput()).message == "one\n\nzw\ufffdlf"
    assert len(turn.read(TurnOutput(message="x" * MESSAGE), b"end").message) == MESSAGE


def test_one_that_does_no_turns() -> None:
    assert defined("mine", Definition(argv=("mine", "{prompt}"))).turn is None


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (
            (encode(RunOptions(agent="mine", definition=Definition(argv=("mine",), environment=("A_*",)))).decode(),),
            {"A_*"},
        ),
        ((encode(RunOptions(agent="claude")).decode(),), set()),
        (("{",), set()),
        ((), set()),
    ],
    ids=["of the settings", "another", "no options", "nothing"],
)
def test_a_run_gets_the_variables_of_its_agent(words: tuple[str, ...], variables: set[str]) -> None:
    """Whatever stands in the file of seats: the lead asks for it, and must not stumble."""
    seat = Seat(agent_id="runner", name="runner", agent="runner", argv=words)
    assert set(adapter_of(seat).passes) - set(RUNNER.passes) == variables


@dataclass
class Shown:
    """What a screen shows, and what that means."""

    rows: tuple[str, ...]
    state: State


SIGNS = Signs(prompt="> ", waiting=("Allow this?",), dialog=("Log in",), working=("esc to stop",), error=("Error:",))
SHOWN = {
    "empty": Shown(("done.", "", "> "), State.IDLE),
    "typed": Shown(("done.", "", "> hello"), State.DRAFT),
    "working": Shown(("esc to stop", "", "> "), State.WORKING),
    "error": Shown(("Error: 429", "", "> "), State.ERROR),
    "waiting beats working": Shown(("esc to stop", "Allow this? [y/n]", "", "> "), State.WAITING),
    "waiting in a menu": Shown(("Allow this?", "❯ 1. Yes", "  2. No", "Enter to confirm"), State.WAITING),
    "another menu": Shown(("What now?", "❯ 1. Yes", "  2. No", "Enter to confirm"), State.DIALOG),
    "dialog": Shown(("Log in", "", "> "), State.DIALOG),
    "unknown": Shown(("$",), State.UNKNOWN),
    "a dot is a dot": Shown(("Error",), State.UNKNOWN),
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_signs_are_a_way_to_read_a_screen(shown: Shown) -> None:
    drawing = defined("mine", Definition(argv=("mine",), screens=SIGNS)).screens
    [reading] = screens.read(drawing, Screen(rows=shown.rows))
    assert reading.state is shown.state
    assert reading.note == (shown.rows[0] if shown.state is State.ERROR else "")
