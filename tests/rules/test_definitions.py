"""Agents that the settings define: what is right, and what is said of what is wrong."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput
from pro0.model.agent import Definition, Modes, Signs
from pro0.model.decision import Ask, End, Nudge, Snapshot
from pro0.model.runtime import Unread
from pro0.rules.definitions import definitions
from tests.rules.supervising import decided, look, only, seat, session, wish

PLAIN = {"argv": ["mine", "{prompt}"]}
WHOLE: dict[str, Any] = {
    "argv": ["mine", "run", "{options}", "--file={prompt_file}"],
    "environment": ["MINE_API_KEY", "MINE_*"],
    "modes": {"ask": [], "bypass": ["--yes"]},
    "model": ["--model", "{model}"],
    "effort": ["--effort={effort}"],
    "nudge": True,
    "screens": {"prompt": "> ", "waiting": ["Allow?"]},
    "shutdown": "ask",
    "install": "pipx install mine",
}


def test_a_definition_is_read_whole() -> None:
    assert definitions({"mine": PLAIN}) == {"mine": Definition(argv=("mine", "{prompt}"))}
    found = definitions({"mine": WHOLE})["mine"]
    assert found.screens == Signs(prompt="> ", waiting=("Allow?",))
    assert (found.modes, found.shutdown, found.nudge) == (Modes(ask=(), bypass=("--yes",)), "ask", True)
    assert definitions({"mine": found}) == {"mine": found}


def test_what_is_told_at_the_start_is_known_by_the_words() -> None:
    told = {"a {prompt}": True, "--file={prompt_file}": True, "--go": False, "{model}": False}
    assert {word: Definition(argv=("mine", word)).instructed for word in told} == told


def test_one_that_speaks_acp_is_fed_told_and_asked() -> None:
    found = definitions({"mine": {"acp": ["mine", "{options}", "--acp"], "model": ["-m", "{model}"]}})["mine"]
    assert (found.instructed, found.is_fed, found.answers_shutdown) == (True, True, True)


WRONG: dict[str, tuple[object, str]] = {
    "no mapping": (["mine"], "agents must be a mapping"),
    "no definition": ({"mine": "mine"}, "agents.mine: it must be a mapping of names to values, not a text"),
    "an own name": ({"claude": PLAIN}, "agents.claude: pro0 itself uses the name claude"),
    "none": ({"none": PLAIN}, "agents.none: pro0 itself uses the name none"),
    "upper case": ({"Mine": PLAIN}, "agents: 'Mine' cannot be the name of an agent"),
    "a path": ({"../x": PLAIN}, "agents: '../x' cannot be the name of an agent"),
    "a number": ({5: PLAIN}, "agents: '5' cannot be the name of an agent"),
    "nothing to run": ({"mine": {}}, "agents.mine: argv must begin with a program"),
    "no program of ACP": ({"mine": {"acp": ["-c"]}}, "agents.mine: acp must begin with a program"),
    "a prompt for ACP": (
        {"mine": {"acp": ["mine", "{prompt}"]}},
        "agents.mine: acp: the protocol passes the prompt",
    ),
    "both ways": ({"mine": {**PLAIN, "acp": ["mine"]}}, "agents.mine: argv: acp replaces it"),
    "screens of ACP": ({"mine": {"acp": ["mine"], "screens": "qwen"}}, "agents.mine: screens: acp replaces it"),
    "keys for ACP": ({"mine": {"acp": ["mine"], "nudge": True}}, "agents.mine: nudge: acp replaces it"),
    "no words": ({"mine": {"argv": []}}, "agents.mine: argv must begin with a program"),
    "an option first": ({"mine": {"argv": ["-c"]}}, "agents.mine: argv must begin with a program"),
    "a prompt first": ({"mine": {"argv": ["{prompt}"]}}, "agents.mine: argv must begin with a program"),
    "a folder's program": ({"mine": {"argv": ["./mine"]}}, "agents.mine: argv must begin with a program"),
    "a turn of nothing": ({"mine": {**PLAIN, "turn": ["-c"]}}, "agents.mine: turn must begin with a program"),
    "an unknown place in a turn": ({"mine": {**PLAIN, "turn": ["mine", "{x}"]}}, "agents.mine: '{x}': there is no {x}"),
    "a NUL": ({"mine": {"argv": ["mine", "a\0b"]}}, "agents.mine: argv, 2: it must be a text matching regex"),
    "an unknown key": ({"mine": {**PLAIN, "promt": "x"}}, "agents.mine: there is no 'promt'"),
    "an unknown place": ({"mine": {"argv": ["mine", "{promt}"]}}, "agents.mine: '{promt}': there is no {promt}, only"),
    "options in a word": ({"mine": {"argv": ["mine", "x{options}"]}}, "agents.mine: 'x{options}': there is no"),
    "options elsewhere": ({"mine": {**PLAIN, "model": ["{options}"]}}, "agents.mine: '{options}': there is no"),
    "own commands": ({"mine": {**PLAIN, "ownCommands": ["{model}"]}}, "agents.mine: '{model}': ownCommands knows only"),
    "no command": ({"mine": {**PLAIN, "ownCommands": ["--all"]}}, "agents.mine: ownCommands: no word contains {c"),
    "an unknown mode": (
        {"mine": {**PLAIN, "modes": {"yolo": []}}},
        "agents.mine: modes: there is no 'yolo'",
    ),
    "no variable": ({"mine": {**PLAIN, "environment": ["A B"]}}, "agents.mine: environment: 'A B' is not the name"),
    "an identity": ({"mine": {**PLAIN, "environment": ["PRO0_*"]}}, "agents.mine: environment: 'PRO0_*' is not"),
    "everything": ({"mine": {**PLAIN, "environment": ["*"]}}, "agents.mine: environment: '*' is not the name"),
    "unknown screens": ({"mine": {**PLAIN, "screens": "vim"}}, "agents.mine: screens: no screens of 'vim' are known"),
    "an empty sign": ({"mine": {**PLAIN, "screens": {"prompt": " "}}}, "agents.mine: screens: an empty text"),
    "an unknown end": ({"mine": {**PLAIN, "shutdown": "kill"}}, "agents.mine: shutdown: there is no 'kill'"),
}


@pytest.mark.parametrize(("written", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(written: object, said: str) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(said)}"):
        definitions(written)


def defined(**fields: Any) -> Snapshot:
    """A team with one member that runs such an agent, idle, with mail, and asked to end."""
    mine = seat(agent="mine", definition=Definition(argv=("mine",), **fields))
    return look(session(), seats=[mine], unread={"w1": Unread(newest=1, count=1)})


@pytest.mark.parametrize(("nudge", "lines"), [(True, 1), (False, 0)])
def test_a_line_is_typed_where_the_definition_says_so(nudge: bool, lines: int) -> None:
    assert len(only(Nudge, decided(defined(nudge=nudge)))) == lines


@pytest.mark.parametrize(("shutdown", "kind"), [("ask", Ask), ("terminate", End)])
def test_it_ends_as_its_definition_says(shutdown: str, kind: type[Ask] | type[End]) -> None:
    asked = defined(shutdown=shutdown)
    wanted = replace(asked.wanted, seats=(replace(asked.wanted.seats[0], shutdown=wish()),))
    assert [type(action) for action in decided(replace(asked, wanted=wanted)).actions] == [kind]
