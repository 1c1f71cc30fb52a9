"""What every adapter keeps; a new one is one folder and one row, and this says what it lacks.

The rows come from the table of programs; what a program cannot do is said by the adapter's own fields.
"""

import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.agents import adapter_named, adapter_of, first_prompt
from pro0.agents.adapter import Adapter, Brief, Invocation
from pro0.agents.drawings import drawing_named, loaded
from pro0.agents.installed import USUAL
from pro0.agents.memory import Memory
from pro0.agents.variables import ALL, RESERVED
from pro0.cli.agent.look import explain
from pro0.engine.background.nudging import KEYS
from pro0.engine.opening.elsewhere import brief_there
from pro0.errors import EnvironmentMissing
from pro0.model.agent import AGENTS, DRAWN, PROGRAMS, modes_of
from pro0.model.runtime import ENDED, State
from pro0.model.team import PermissionMode, Seat
from pro0.scripted_model.setups import SETUPS
from tests.agents import placed
from tests.recorded import recordings
from tools.agents.install import PINNED


def loads(place: str) -> bool:
    """Return True for a place that is there; `test_its_row_names_what_is_there` says of any other what it lacks."""
    with suppress(ImportError, AttributeError):
        return bool(loaded(place))
    return False


ROOT = Path(__file__).parents[2]
NAMES = sorted(name for name, place in AGENTS.items() if loads(place))
REAL = [name for name in NAMES if adapter_named(name).program]
SECRET = "s3cr3t-s3nt1n3l"
HERE = ("/p0", "/ann", "/bin/python", sys.executable, sys.prefix)
"""What a session of this machine is told, and another machine has not."""
CONVERSATION = "22222222-2222-4222-8222-222222222222"
PROMPT = "--help; say 'ünï'\nand \"more\""


def brief(name: str, **changes: object) -> Brief:
    """Return a session about to start, with all that an agent may be told."""
    seat = Seat(agent_id="ann", name="Ann", agent=name, argv=("true",) if name == "command" else ())
    whole = Brief(
        seat=seat,
        prompt=PROMPT,
        folder="/p0/s/ann",
        cwd="/ann/shop",
        project="/ann/shop",
        environment={"HOME": "/ann", "PRO0_TEAM": "auth", "A_KEY": SECRET, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        pro0=("/bin/python", "-m", "pro0"),
        mailbox="/p0/mail/ann.json",
    )
    return replace(whole, **changes)


def started(name: str, **changes: object) -> Invocation:
    return adapter_named(name).call(brief(name, **changes))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_its_row_names_what_is_there(name: str) -> None:
    for place in filter(None, (PROGRAMS[name].adapter, PROGRAMS[name].screens)):
        module, _, attribute = place.partition(":")
        file = f"pro0/agents/{module.replace('.', '/')}.py"
        assert Path(ROOT, file).is_file(), f"the row {name!r} of PROGRAMS in pro0/model/agent.py names {file}: add it"
        assert loaded(place), f"{file} has no {attribute}"


@pytest.mark.parametrize("name", NAMES)
def test_what_an_agent_gets_is_reserved_for_it(name: str) -> None:
    """Behaviour 3.17: what no table names would reach every agent."""
    reserved = RESERVED.get(name, ALL if name == "runner" else ())
    assert adapter_named(name).passes == reserved, (
        f"the row {name!r} of RESERVED in pro0/agents/variables.py must name what the adapter passes"
    )


@pytest.fixture(params=NAMES)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return adapter_named(request.param)


def test_it_has_the_name_of_its_row(adapter: Adapter) -> None:
    assert AGENTS[adapter.name]


def begun(name: str, way: str, **changes: object) -> dict[str, object]:
    """Return what a session is begun with, in one of three ways, without what differs at every start."""
    one, *others = ({**parts} for parts in (_parts(_begun(name, way, **changes)) for _ in range(3)))
    return {key: part for key, part in one.items() if all(other.get(key) == part for other in others)}


def _begun(name: str, way: str, **changes: object) -> Invocation:
    adapter, whole = adapter_named(name), brief(name, **changes)
    if way == "turn":
        assert adapter.turn
        return adapter.turn.call(whole)
    if way == "elsewhere":
        seat = replace(whole.seat, host="build1")
        return adapter_of(seat).call(brief_there(replace(whole, seat=seat)))
    return adapter.call(whole)


def _parts(call: Invocation) -> dict[str, object]:
    words = {f"word {number}": word for number, word in enumerate(call.argv)}
    files = {f"file {name}": data.decode() for name, data in call.files.items()}
    return {**words, **files, **{f"variable {name}": text for name, text in call.env.items()}, "links": call.links}


CHOOSING = [name for name in NAMES if name != "runner"]
"""A runner is started alike: the agent that does its turns gets the choices of its seat (`pro0/runner/turns.py`)."""
WAYS = [(name, way) for name in CHOOSING for way in ("call", "elsewhere", "turn") if getattr(adapter_named(name), way)]
WORKING = [
    (name, way, mode)
    for name, way in WAYS
    for mode in (PermissionMode.EDITS, PermissionMode.BYPASS)
    if mode in (modes_of(name, None) or PermissionMode)
]
"""The modes that let an agent work, but none that its row does not name: pro0 refuses these."""
ALIKE = {("codex", "turn"): [("ask", "plan")]}
"""Modes that mean the same: `codex exec` asks nobody, so whom it would have to ask may only read."""


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_each_permission_mode_changes_how_it_begins(name: str, way: str) -> None:
    """Behaviour 3.17: an adapter that does not look at `brief.mode` would let it do what it likes."""
    starts = {mode: begun(name, way, mode=PermissionMode(mode)) for mode in modes_of(name, None)}
    alike = [pair for pair in combinations(starts, 2) if starts[pair[0]] == starts[pair[1]]]
    assert alike == ALIKE.get((name, way), []), (
        f"{way} of {name} does the same in these modes: tell them apart by brief.mode, "
        f"or name in its row of PROGRAMS the modes that it has"
    )


@pytest.mark.parametrize(("name", "way"), [(name, way) for name, way in WAYS if not modes_of(name, None)])
def test_what_no_mode_limits_begins_alike_in_all(name: str, way: str) -> None:
    """It is refused no mode, and shown without one."""
    starts = [begun(name, way, mode=mode) for mode in PermissionMode]
    assert all(start == starts[0] for start in starts), f"{way} of {name} uses brief.mode: name its modes in PROGRAMS"


@pytest.mark.parametrize("choice", ["model", "effort"])
@pytest.mark.parametrize(("name", "way"), WAYS)
def test_a_choice_that_it_takes_is_told_to_it_and_no_other(name: str, way: str, choice: str) -> None:
    seat = replace(brief(name).seat, **{choice: "the-chosen-one"})
    usual, chosen = begun(name, way), begun(name, way, seat=seat)
    if choice in adapter_named(name).takes:
        told = [key for key, part in chosen.items() if "the-chosen-one" in str(part)]
        assert told, f"the `takes` of {name} names {choice}, and its {way} leaves out brief.seat.{choice}"
    else:
        assert chosen == usual, f"{way} of {name} uses brief.seat.{choice}, which its `takes` does not name"


@pytest.mark.parametrize(("name", "way", "mode"), WORKING)
def test_who_may_only_delegate_is_held_to_it_in_modes_that_let_it_work(
    name: str, way: str, mode: PermissionMode
) -> None:
    free, bound = (begun(name, way, mode=mode, delegate_only=only) for only in (False, True))
    if adapter_named(name).delegates:
        assert free != bound, f"{name} has `delegates`, and its {way} does not look at brief.delegate_only"
    else:
        assert free == bound, f"{way} of {name} uses brief.delegate_only: give its adapter delegates=True"


def test_it_is_started_by_words_without_a_secret(adapter: Adapter) -> None:
    for mode in modes_of(adapter.name, None) or PermissionMode:
        invocation = started(adapter.name, mode=PermissionMode(mode))
        assert invocation.argv[0]
        assert all("\0" not in word for word in invocation.argv)
        assert SECRET not in " ".join(invocation.argv)
        assert not any(SECRET in value for value in invocation.env.values())


def test_its_files_stay_in_the_folder_of_the_session(adapter: Adapter) -> None:
    assert [name for name in started(adapter.name).files if "/" in name or name in ("", ".", "..")] == []


def test_the_same_session_is_started_by_the_same_words(adapter: Adapter) -> None:
    """But for a port or a password of its own, which the environment holds."""
    assert started(adapter.name).argv[0] == started(adapter.name).argv[0]
    assert len(started(adapter.name).argv) == len(started(adapter.name).argv)


@pytest.mark.parametrize("name", REAL)
def test_the_first_prompt_is_one_word_and_is_kept_in_a_file(name: str) -> None:
    invocation = started(name)
    assert [word for word in invocation.argv if PROMPT in word], "it is not changed, and no shell reads it"
    assert PROMPT.encode() in invocation.files.values(), "agents.first_prompt.words gives the word and the file"


@pytest.mark.parametrize("name", [name for name in NAMES if adapter_named(name).elsewhere])
def test_on_another_machine_it_is_started_by_words_that_name_nothing_of_this_one(name: str) -> None:
    """Issue 19, build 2: the words are all that another machine gets."""
    adapter = adapter_named(name)
    seat = replace(brief(name).seat, host="build1", model="m" if "model" in adapter.takes else "")
    for mode in PermissionMode:
        whole = brief(name, seat=seat, mode=mode, session=CONVERSATION if adapter.session_ids == "chosen" else "")
        invocation = adapter_of(seat).call(brief_there(whole))
        assert not invocation.env
        words = [word for word in invocation.argv if PROMPT not in word]
        assert not [word for word in words for here in HERE if here in word]
        assert not adapter.program or len(words) == len(invocation.argv) - 1, "the prompt is in one word, unchanged"


@pytest.mark.parametrize("name", [name for name in NAMES if adapter_named(name).elsewhere])
def test_on_another_machine_a_conversation_goes_on_by_its_id_alone(name: str) -> None:
    """Issue 19, build 2: with an id that home chose, or that the agent chose there."""
    seat = replace(brief(name).seat, host="build1")
    adapter, own = adapter_of(seat), adapter_named(name)
    assert (adapter.session_ids != "none") == (own.session_ids != "none") == bool(own.began)
    assert adapter.began is None, "that machine looks whether it has it"
    if own.began:
        new = brief_there(brief(name, seat=seat, session=CONVERSATION))
        call = adapter.call(replace(new, prompt="", resume=True))
        assert CONVERSATION in call.argv
        assert PROMPT not in call.argv
        assert not call.files, "nobody waits for it to take its prompt"
        assert not [word for word in call.argv for here in HERE if here in word]
        assert (CONVERSATION in adapter.call(new).argv) == (adapter.session_ids == "chosen")


@pytest.mark.parametrize("name", [name for name in NAMES if not adapter_named(name).elsewhere])
def test_an_agent_that_needs_files_of_this_machine_is_started_on_no_other(name: str) -> None:
    seat = replace(brief(name).seat, host="build1")
    with pytest.raises(EnvironmentMissing, match=f"{name} cannot run on another machine"):
        adapter_of(seat).call(brief_there(brief(name, seat=seat)))


@pytest.mark.parametrize("name", [name for name in REAL if adapter_named(name).session_ids != "none"])
def test_a_conversation_is_resumed_by_its_id_and_told_nothing(name: str) -> None:
    words = started(name, prompt="", session=CONVERSATION, resume=True).argv
    assert any(CONVERSATION in word for word in words)
    assert not any(PROMPT in word for word in words)
    assert adapter_named(name).began, "a conversation that was never stored is begun anew"


@pytest.mark.parametrize("name", NAMES)
def test_an_id_that_pro0_chooses_is_among_the_words(name: str) -> None:
    chosen = adapter_named(name).session_ids == "chosen"
    assert any(CONVERSATION in word for word in started(name, session=CONVERSATION).argv) == chosen


def test_a_line_is_typed_only_where_the_screen_is_read(adapter: Adapter) -> None:
    """Delivery by line requires screen rules, or a person's own word for it (`--nudge`)."""
    if adapter.delivery == "line":
        assert adapter.screens, f"{adapter.name} has no screen rules: add screens.py and its row, or delivery='none'"


def test_its_screens_are_those_of_its_row(adapter: Adapter) -> None:
    """Whose screens no row names, of them no recording is asked for."""
    row = drawing_named(adapter.name) if adapter.name in DRAWN else None
    assert adapter.screens is row, (
        f"the row {adapter.name!r} of PROGRAMS in pro0/model/agent.py must name its screens, and no others"
    )


def test_a_channel_of_its_own_has_a_name(adapter: Adapter) -> None:
    """People are told which one carried a line."""
    assert bool(adapter.channel) == bool(adapter.deliver)
    assert adapter.channel != KEYS


def test_what_is_read_of_it_has_a_table_of_words(adapter: Adapter) -> None:
    if adapter.look and adapter.program:
        assert adapter.words, f"name the tables by which the files of {adapter.name} are read: words=(…,)"


def test_it_begins_in_a_state_that_lives(adapter: Adapter) -> None:
    assert adapter.first_state in State
    assert adapter.first_state not in ENDED


@pytest.mark.parametrize("name", REAL)
def test_what_a_person_is_told_of_it(name: str) -> None:
    adapter = adapter_named(name)
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    row = next((line for line in page.splitlines() if line.startswith(f"| `{name}` | ")), "")
    assert row, f"docs/agents.md has no row for {name}"
    assert adapter.install, "say how a person installs it"
    assert adapter.tested, "say with which versions it was tried"
    assert all(version in row for version in adapter.tested), "docs/agents.md names each version that was tried"


@pytest.mark.parametrize("name", sorted(PINNED))
def test_a_person_is_told_to_install_what_is_tried(name: str) -> None:
    """A package that moved to another name stays at its last version for ever."""
    install = adapter_named(name).install
    assert install.split()[-1] == PINNED[name].name
    assert install in (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_its_screens_are_recorded(name: str) -> None:
    """At least idle, and one on which nothing may be typed."""
    states = {recording.state for recording in recordings() if recording.agent == name}
    assert State.IDLE in states, f"tests/screens has no recording of {name} while it is idle"
    assert states & {State.WAITING, State.DIALOG}, f"tests/screens has no recording of {name} that asks: {states}"


@pytest.mark.parametrize("name", [name for name in REAL if adapter_named(name).look])
def test_its_files_are_recorded(name: str) -> None:
    """What is read of an agent's own files is tested with files that the agent wrote."""
    assert list(placed.RECORDINGS.glob(f"{name}.*")), f"tests/agents/recordings has no files of {name}"
    assert callable(getattr(placed, name, None)), f"tests.agents.placed lays out no files of {name} as the agent does"
    assert name in placed.PLACED or name in placed.DATABASES, f"PLACED of tests.agents.placed lacks {name}: damage it"


TELLS_LATER = {"codex": "its rollout begins with its first turn", "pi": "its bridge reports when it has loaded"}
"""Agents whose look tells nothing until they have begun; tests/engine/test_sights.py shows what counts until then."""


@pytest.mark.parametrize("name", [name for name in REAL if adapter_named(name).look and name not in TELLS_LATER])
def test_no_mail_is_typed_before_its_first_prompt_is_taken(name: str, tmp_path: Path) -> None:
    """An empty input is no sign that it waits: the prompt of argv may come a moment later."""
    adapter = adapter_named(name)
    conversation = CONVERSATION if adapter.session_ids == "chosen" else ""
    session_view = placed.session_view(tmp_path, conversation, datetime.now(UTC))
    Path(session_view.folder, first_prompt.FILE).write_text("begin")
    assert adapter.look
    reading = adapter.look(session_view, Memory())
    assert adapter.prompt_on_screen or (reading and reading.state is State.STARTING), (
        "its `look` says STARTING while `first_prompt.awaited`, or `prompt_on_screen` lets its screen tell"
    )


@pytest.mark.parametrize("name", [name for name in REAL if adapter_named(name).session_ids == "learned"])
def test_a_conversation_of_an_earlier_session_is_not_its_own(name: str, tmp_path: Path) -> None:
    """`member restart --fresh` begins anew, in a home where older conversations are."""
    [recorded] = [path for path in placed.RECORDINGS.glob(f"{name}.*") if path.suffix in (".jsonl", ".sql")]
    earlier = getattr(placed, name)(tmp_path, recorded.read_bytes())
    anew = placed.session_view(tmp_path / "new", "", placed.LATER)
    Path(anew.folder, first_prompt.FILE).write_text(placed.ASKED.get(name, "begin"))
    adapter = adapter_named(name)
    assert adapter.look
    for memory in (Memory(), Memory()):
        reading = adapter.look(replace(anew, environment=earlier.environment), memory)
        assert reading is None or not reading.session, reading


@pytest.mark.parametrize("name", REAL)
def test_it_is_in_each_table_of_real_programs(name: str) -> None:
    """Each table is of what only the program itself tells."""
    assert name in PINNED, "PINNED of tools/agents/install.py names the version that is tried"
    assert name in SETUPS, "SETUPS of pro0/scripted_model/setups.py lets `pro0 agent prove` try it out"
    assert name in USUAL, "USUAL of pro0/agents/installed.py has each agent that has modes"


PAGES = ("README.md", "docs/glossary.md", "docs/howto/mixed-team.md", "docs/howto/prove-agent.md")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", REAL)
def test_it_is_on_each_page_that_names_the_agents(name: str, page: str) -> None:
    """A paragraph or the head of a table that names four of the others is a list of them."""
    others = [re.compile(rf"\b{other}\b", re.IGNORECASE) for other in REAL if other != name]
    lists = [
        line
        for line in (ROOT / page).read_text(encoding="utf-8").splitlines()
        if sum(bool(other.search(line)) for other in others) >= 4
    ]
    assert lists, "this page has no list of agents any more"
    assert any(re.search(rf"\b{name}\b", line, re.IGNORECASE) for line in lists), f"{page} names the others: {lists}"


@pytest.mark.parametrize("name", [name for name in REAL if PROGRAMS[name].modes])
def test_what_each_of_its_modes_means_is_told(name: str) -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    [head] = [line for line in page.splitlines() if line.startswith("| mode |")]
    assert f"| {name} |" in head, "the table of modes in docs/agents.md has a column for it"


@pytest.mark.parametrize("name", DRAWN)
def test_the_help_of_explain_names_it(name: str) -> None:
    assert re.search(rf"\b{name}\b", str(explain.help)), "AGENT is one whose screens pro0 knows"


@pytest.mark.parametrize("name", [name for name in NAMES if adapter_named(name).look])
@given(data=st.binary(max_size=200))
def test_a_look_at_a_folder_of_anything_never_raises(
    name: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    session_view = placed.session_view(home, CONVERSATION)
    for file in ("state.json", "bridge.json", "prompt.md"):
        Path(session_view.folder, file).write_bytes(data)
    adapter, memory = adapter_named(name), Memory()
    assert adapter.look
    for _ in range(2):
        adapter.look(session_view, memory)
        if adapter.usage:
            adapter.usage(session_view, memory)
        if adapter.began:
            adapter.began(session_view)
