"""No source of any agent lets a line be typed by a word that pro0 does not know: what each adapter's tables say, tried.

Each place of each source has somebody here who says words there. An adapter whose table, title or drawing is not tried
fails, so that a new source cannot be forgotten.
"""

import ast
import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from pro0 import agents
from pro0.agents import adapter_named, defined
from pro0.agents.adapter import Memory, SessionView
from pro0.agents.codex import server as codex_server
from pro0.agents.codex.server import FLAGS
from pro0.agents.opencode.database import FINISHES, ROLES, _Message, _Time, _turn
from pro0.agents.opencode.server import STATUSES, _state
from pro0.model.agent import AGENTS, DRAWN, Definition, Signs
from pro0.model.runtime import ENDED, State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import nudges, screens
from pro0.rules.screens.screens import Drawing
from pro0.rules.screens.states import ATTENTION, combine
from pro0.rules.screens.words import Words
from tests.agents import placed
from tests.recorded import recordings

SAFE = (*ATTENTION, State.WORKING, State.UNKNOWN, State.STARTING, *ENDED)
"""States in which no line is typed into a pane."""
COUNT = 200
IDLE = Reading(state=State.IDLE, source="screen", rule="empty-box")
OWN = {
    "mine": Definition(argv=("mine",), nudge=True, screens=Signs(prompt=">", waiting=("Allow?",), working=("busy",))),
    **{f"my {name}": Definition(argv=("mine",), nudge=True, screens=name) for name in sorted(DRAWN)},
}
"""Agents of the settings, with signs and with each drawing that pro0 knows."""
ADAPTERS = {**{name: adapter_named(name) for name in AGENTS}, **{name: defined(name, OWN[name]) for name in OWN}}


def unknown(known: Words) -> list[str]:
    """Return words that are not in a table: its own, bent, joined and cut, and such as nobody would think of."""
    dice = random.Random(known.place)
    parts = sorted({part for word in known.states for part in word.split("_")} - {""}) or ["x"]
    made: dict[str, None] = dict.fromkeys((" ", "\0", "null", "💤", "idle!", "unknown_", "x" * 5000))
    while len(made) < COUNT + len(known.states):
        made["_".join(dice.choices([*parts, "goal", "proposal", "paused", "Idle", "ready"], k=dice.randint(1, 3)))] = (
            None
        )
        made[dice.choice(parts).upper() + str(dice.randint(0, 99))] = None
    return [word for word in made if word not in known.states][:COUNT]


def of_claude(home: Path, word: str) -> Reading | None:
    state = json.dumps({"sessionId": placed.CLAUDE, "status": word}).encode()
    return looked("claude", placed.claude(home, b"", state))


def of_codex(home: Path, word: str) -> Reading | None:
    events = ("task_started", "task_complete", word)
    times = (f"2026-11-22T04:00:0{second}Z" for second in range(3))
    lines = [
        {"timestamp": at, "type": "event_msg", "payload": {"type": e}} for at, e in zip(times, events, strict=True)
    ]
    return looked("codex", placed.codex(home, b"".join(json.dumps(line).encode() + b"\n" for line in lines)))


def of_flag(home: Path, word: str) -> Reading | None:
    """What codex' server says of a turn that goes on by its rollout; the server itself is in tests/agents."""
    event = {"timestamp": "2026-11-22T04:00:00Z", "type": "event_msg", "payload": {"type": "task_started"}}
    with patch.object(codex_server, "_flag", lambda *_: word):
        return looked("codex", placed.codex(home, json.dumps(event).encode() + b"\n"))


def of_pi(home: Path, word: str) -> Reading | None:
    return looked("pi", placed.pi(home, b"", json.dumps({"state": word, "turns": 1}).encode()))


def of_gemini(home: Path, word: str) -> Reading | None:
    first = placed.recording("gemini.jsonl").split(b"\n")[0] + b"\n"
    said = [
        {"id": str(n), "type": kind, "timestamp": "2026-11-22T04:00:00Z"} for n, kind in enumerate(("gemini", word))
    ]
    return looked("gemini", placed.gemini(home, first + b"".join(json.dumps(one).encode() + b"\n" for one in said)))


def of_opencode(home: Path, word: str) -> Reading | None:
    class Server:
        def get(self, path: str) -> bytes:
            return json.dumps({"ses_1": {"type": word}}).encode() if "status" in path else b"[]"

    return _state(Server(), "ses_1", placed.session_view(home, "ses_1"))  # type: ignore[arg-type]


def of_role(_home: Path, word: str) -> Reading | None:
    return _turn(_Message(role=word, time=_Time(completed=1)))


def of_finish(_home: Path, word: str) -> Reading | None:
    return _turn(_Message(role="assistant", finish=word, time=_Time(completed=1)))


SAYS: dict[tuple[str, str, str], Callable[[Path, str], Reading | None]] = {
    ("claude", "session file", "status"): of_claude,
    ("codex", "rollout", "event"): of_codex,
    ("codex", FLAGS.source, FLAGS.place): of_flag,
    ("gemini", "transcript", "type"): of_gemini,
    ("opencode", STATUSES.source, STATUSES.place): of_opencode,
    ("opencode", ROLES.source, ROLES.place): of_role,
    ("opencode", FINISHES.source, FINISHES.place): of_finish,
    ("pi", "bridge", "state"): of_pi,
}
PLACES = [(name, words) for name in AGENTS for words in adapter_named(name).words]


def looked(agent: str, session_view: SessionView) -> Reading | None:
    look = adapter_named(agent).look
    assert look
    return look(session_view, Memory())


def typable(reading: Reading | None, *others: Reading) -> bool:
    """Return whether a line may be typed, by what the lead takes all of it for; also when it was idle before."""
    readings = [*([reading] if reading else []), *others]
    counted = [combine(previous, readings) for previous in (None, IDLE)]
    return any(one is None or one.state not in SAFE for one in counted)


@pytest.mark.parametrize(("agent", "words"), PLACES, ids=[f"{name}-{words.place}" for name, words in PLACES])
def test_an_unknown_word_lets_nobody_type(agent: str, words: Words, tmp_path: Path) -> None:
    """Whatever its screen shows beside it, and whatever it did before."""
    say = SAYS[agent, words.source, words.place]
    tried = unknown(words)
    assert len(set(tried)) == COUNT
    for n, word in enumerate(tried):
        reading = say(tmp_path / str(n), word)
        assert not typable(reading, IDLE), word
        assert not typable(reading, IDLE, replace(IDLE, source="title")), word
        assert not typable(reading, replace(IDLE, state=State.ERROR)), word


@pytest.mark.parametrize(("agent", "words"), PLACES, ids=[f"{name}-{words.place}" for name, words in PLACES])
def test_a_known_word_means_what_its_table_says(agent: str, words: Words, tmp_path: Path) -> None:
    """Said in the same way: so what is tried above stands where the agent writes it."""
    said = {w: SAYS[agent, words.source, words.place](tmp_path / str(n), w) for n, w in enumerate(words.states)}
    assert all(reading is None or reading.state is not State.UNKNOWN for reading in said.values())
    meant = {word: state for word, state in words.states.items() if state and state is not State.RUNNING}
    if words is ROLES:
        meant["assistant"] = State.IDLE  # its message is finished
    assert {word: reading and reading.state for word, reading in said.items() if word in meant} == meant


def test_every_source_has_a_table_that_is_tried() -> None:
    """What an adapter calls a source of states is a literal in its modules, or a name there.

    One that calls it the process knows which conversation it is in, and no state.
    """
    names: set[str] = set()
    room = Path(agents.__path__[0])
    for path in {*room.rglob("*.py")} - {room / "there.py"}:  # it hands on what an adapter on another machine said
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) in ("LastWords", "last_words"):
                continue
            for keyword in (keyword for keyword in node.keywords if keyword.arg == "source"):
                module = import_module(".".join(("pro0.agents", *path.relative_to(room).with_suffix("").parts)))
                names.add(eval(ast.unparse(keyword.value), vars(module)))
    assert names - {"process"} == {words.source for _, words in PLACES}
    assert {(name, words.source, words.place) for name, words in PLACES} == set(SAYS)
    silent = {name for name, adapter in ADAPTERS.items() if adapter.look and not adapter.words}
    assert silent == {"runner"}, "which only looks so that it is not taken for idle, and says nothing"


SIGNS = [
    letter
    for code in range(0x2190, 0x2C00)
    if unicodedata.category(letter := chr(code)) in ("So", "Sm") and not 0x2800 <= code < 0x2900
]
"""Signs as agents put them before a title; a spinner is known wherever it has turned to."""
DRAWINGS = [(name, adapter.screens) for name, adapter in ADAPTERS.items() if adapter.screens]
NAMES = [name for name, _ in DRAWINGS]


def titles(drawing: Drawing) -> Iterator[str]:
    known = {"✳", *(rule.title[1] for rule in drawing.titles)}
    for sign in random.Random(1).sample([sign for sign in SIGNS if sign not in known], COUNT):
        yield from (f"{sign} project", f"{sign}  Ready (project)")


@pytest.mark.parametrize(("name", "drawing"), DRAWINGS, ids=NAMES)
def test_an_unknown_sign_in_a_title_lets_nobody_type(name: str, drawing: Drawing) -> None:
    """An agent whose titles tell states says in which titles it does; one that only names its project does not."""
    assert bool(drawing.sign) == bool(drawing.titles), name
    found = [reading for title in titles(drawing) for reading in screens.read(drawing, Screen(title=title))]
    assert len(found) == 2 * COUNT * bool(drawing.titles)
    assert not any(typable(reading, IDLE) for reading in found)
    for title in ("project", "Gemini CLI (project)", "✳ Claude Code", "π - project", "OC | Fix it", "host", ""):
        said = screens.read(drawing, Screen(title=title))
        assert title.startswith("✳") or all(reading.state is not State.UNKNOWN for reading in said)


def test_an_unknown_word_between_the_brackets_of_codex_lets_nobody_type() -> None:
    drawing = adapter_named("codex").screens
    assert drawing
    for sign in [*SIGNS[:COUNT], "?", "wait"]:
        (reading,) = screens.read(drawing, Screen(title=f"[ {sign} ] Something Required | project"))
        assert not typable(reading, IDLE)


@pytest.mark.parametrize(("name", "drawing"), DRAWINGS, ids=NAMES)
def test_unknown_words_on_a_screen_let_nobody_type(name: str, drawing: Drawing) -> None:
    """Rows without an input, a menu of words that nobody knows, and words in an input."""
    for n in range(COUNT):
        dice = random.Random(n)
        words = ["".join(dice.choices("abcdefghijklmnoprstuvwxyz", k=dice.randint(3, 9))) for _ in range(4)]
        menu = (f"{words[0]} {words[1]}", f" ❯ {words[2]}", f"   {words[3]}", "", " Enter to confirm · Esc to cancel")
        for rows in ((*words, "", words[0]), ("● said", "", *menu), ("✻ said", "", *(f" {word}" for word in words))):
            screen = Screen(rows=rows)
            reading = combine(None, screens.read(drawing, screen))
            assert not nudges.input_is_free(drawing, reading, screen), rows
    for draft in (r for r in recordings() if r.agent == name.removeprefix("my ") and r.state == State.DRAFT):
        assert not nudges.input_is_free(drawing, screens.read(drawing, draft.plain)[-1], draft.plain)
