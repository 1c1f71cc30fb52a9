"""What every adapter keeps; a new one is one folder and one row, and this says what it lacks.

The rows come from the table of programs; what a program cannot do is said by the adapter's own fields.
"""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.agents import adapter_named, adapter_of
from pro0.agents.adapter import Adapter, Brief, Invocation
from pro0.agents.memory import Memory
from pro0.agents.variables import ALL, RESERVED
from pro0.engine.background.nudging import KEYS
from pro0.engine.opening.elsewhere import brief_there
from pro0.errors import EnvironmentMissing
from pro0.model.agent import AGENTS, DRAWN
from pro0.model.runtime import ENDED, State
from pro0.model.team import PermissionMode, Seat
from tests.agents import placed
from tests.recorded import recordings
from tools.agents.install import PINNED

ROOT = Path(__file__).parents[2]
NAMES = sorted(AGENTS)
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


@pytest.mark.parametrize("name", NAMES)
def test_what_an_agent_gets_is_reserved_for_it(name: str) -> None:
    """Behaviour 3.17: what no table names would reach every agent."""
    assert adapter_named(name).passes == RESERVED.get(name, ALL if name == "runner" else ())


@pytest.fixture(params=NAMES)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return adapter_named(request.param)


def test_it_has_the_name_of_its_row(adapter: Adapter) -> None:
    assert AGENTS[adapter.name]


@pytest.mark.parametrize("mode", PermissionMode)
def test_it_is_started_by_words_without_a_secret(adapter: Adapter, mode: PermissionMode) -> None:
    invocation = started(adapter.name, mode=mode)
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


@pytest.mark.parametrize("name", [name for name in REAL if adapter_named(name).elsewhere])
def test_who_may_only_delegate_may_do_no_more_on_another_machine(name: str) -> None:
    seat = replace(brief(name).seat, host="build1")
    call = adapter_of(seat).call
    free, bound = (call(brief_there(brief(name, seat=seat, delegate_only=only))).argv for only in (False, True))
    assert free != bound


@pytest.mark.parametrize("name", [name for name in NAMES if not adapter_named(name).elsewhere])
def test_an_agent_that_needs_files_of_this_machine_is_started_on_no_other(name: str) -> None:
    seat = replace(brief(name).seat, host="build1")
    with pytest.raises(EnvironmentMissing, match=f"{name} cannot be on another machine"):
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
