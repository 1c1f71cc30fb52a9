"""Recorded screens of the real programs are read right."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from pro0.agents.drawings import drawing_named
from pro0.model.agent import DRAWN
from pro0.model.runtime import State
from pro0.model.screen import Screen
from pro0.rules.screens import nudges, screens
from pro0.rules.screens.escapes import screen_of
from pro0.rules.words import prompts
from tests.recorded import FOLDER, QUIET, Recording, drawn, recordings

RECORDED = recordings()
LIVING = [recording for recording in RECORDED if recording.state != "ended"]
VIEWS: dict[str, Callable[[Recording], Screen]] = {
    "plain": lambda recording: recording.plain,
    "plain with the cursor": lambda recording: replace(recording.plain, cursor=recording.screen.cursor),
    "with escapes": lambda recording: replace(recording.screen, cursor=None),
    "with escapes and the cursor": lambda recording: recording.screen,
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("recording", LIVING, ids=lambda recording: recording.name)
def test_a_recorded_screen_is_read_right(recording: Recording, view: str) -> None:
    """Issue 4, line 4."""
    reading = drawn(recording.agent, VIEWS[view](recording))
    assert (reading.state, reading.source) == (recording.state, "screen")
    assert bool(reading.rule) is (recording.state != State.UNKNOWN), "of a screen that nobody knows no rule speaks"


@pytest.mark.parametrize("recording", RECORDED, ids=lambda recording: recording.name)
def test_the_screen_of_an_ended_program_is_not_quiet(recording: Recording) -> None:
    """Whether a program lives is for its process to say; what it left behind must not look ready for a message."""
    if recording.state == "ended":
        assert all(drawn(recording.agent, view(recording)).state not in QUIET for view in VIEWS.values())


def test_every_agent_and_every_state_is_recorded() -> None:
    assert {recording.agent for recording in RECORDED} == set(DRAWN)
    states = {State.IDLE, State.WORKING, State.WAITING, State.DIALOG, State.DRAFT, State.ERROR}
    assert {recording.state for recording in LIVING} == states | {State.UNKNOWN}
    assert len(list(FOLDER.glob("*.txt"))) == len(RECORDED)


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "pi", "gemini"])
@pytest.mark.parametrize("size", [(80, 20), (200, 60)])
def test_small_and_large_terminals_are_recorded(agent: str, size: tuple[int, int]) -> None:
    """Issue 4, line 4. pi asks for no permission."""
    states = {State.IDLE, State.WORKING, State.DRAFT} | ({State.WAITING} if agent != "pi" else set())
    assert states <= {r.state for r in LIVING if r.agent == agent and r.size == size}


NOTES = {
    "claude-permission-prompt": "Bash command · touch perm1.txt",
    "claude-2.1.330-120x40-permission": "Bash command · touch made.txt",
    "claude-permission-prompt-mcp": 'Tool use · tiny - ping_team(text: "hi") (MCP)',
    "claude-apikey-prompt": "Do you want to use this API key?",
    "claude-api-error-retrying-401": "API error · Retrying in 1s · attempt 3/10",
    "codex-permission-prompt": "touch /tmp/try/code/esc1",
    "codex-permission-prompt-mcp": 'the tiny MCP server to run tool "ping_team"',
    "codex-api-error-429": "exceeded retry limit, last status: 429 Too Many Requests",
    "opencode-permission-prompt": "Shell command · touch perm1.txt",
    "pi-api-error": "529 scripted error 529",
    "qwen-permission-prompt": "Shell touch perm1.txt",
    "copilot-permission-prompt": "touch perm1.txt",
    "aider-permission-prompt": "Run shell command?",
}


@pytest.mark.parametrize("name", NOTES)
def test_the_note_says_what_is_asked_for_or_what_failed(name: str) -> None:
    recording = next(r for r in RECORDED if r.name == name)
    assert drawn(recording.agent, recording.screen).note == NOTES[name]


@pytest.mark.parametrize("hint", ["Resend your message to try again", "Once fixed, resend your message"])
@pytest.mark.parametrize("name", ["claude-2.1.330-120x40-error-400", "claude-error-400-80x20"])
def test_a_hint_after_a_failed_turn_is_no_draft(name: str, hint: str) -> None:
    """Nor is it in plain text, where nothing says that it is dim; the same words behind a cursor are one."""
    screen = next(r for r in RECORDED if r.name == name).plain
    box = max(i for i, row in enumerate(screen.rows) if row.startswith("❯"))
    rows = (*screen.rows[:box], f"❯ {hint}", *screen.rows[box + 1 :])
    assert drawn("claude", Screen(rows=rows)).state is State.ERROR
    assert drawn("claude", Screen(rows=rows, cursor=(2 + len(hint), box))).state is State.DRAFT


@pytest.mark.parametrize("version", ["0.73.1", "0.87.1"])
@pytest.mark.parametrize("size", [(60, 12), (80, 14), (120, 40)])
def test_a_menu_of_pi_is_known_however_small_its_terminal(version: str, size: tuple[int, int]) -> None:
    """In a small one its upper edge is out of sight; the search row is nothing that a person typed."""
    columns, height = size
    screen = next(r for r in RECORDED if r.name == f"pi-{version}-120x40-menu").plain
    rows = [row[:columns] if row.startswith("─") else row for row in screen.rows]
    wrapped = [row[i : i + columns] for row in rows for i in range(0, max(1, len(row)), columns)]
    last = max(i for i, row in enumerate(wrapped) if row)
    reading = drawn("pi", Screen(rows=tuple(wrapped[: last + 1][-height:])))
    assert (reading.state, reading.rule) == (State.DIALOG, "menu")


def ruled(version: str, rule: str, last: str = "") -> Screen:
    """Return a recorded draft of pi with a ruled line, and the cursor in the row below it."""
    recording = next(r for r in RECORDED if r.name == f"pi-{version}-120x40-draft")
    _, row = recording.screen.cursor or (0, 0)
    rows = recording.screen.styled
    assert rows[row].startswith("\x1b[39m"), "the edge has a colour that ends here"
    draft = ("\x1b[39mplease do not send this", rule, last)
    return replace(screen_of("\n".join((*rows[:row], *draft, *rows[row + 1 :]))), cursor=(len(last), row + 2))


@pytest.mark.parametrize("version", ["0.73.1", "0.87.1"])
@pytest.mark.parametrize("width", [8, 20, 119, 120])
def test_a_ruled_line_in_a_draft_of_pi_is_part_of_it(version: str, width: int) -> None:
    """Else its empty last row would be an empty input, and Enter would send the person's draft with a line of mail."""
    line = prompts.unread_line(2)
    for last in ("", line):
        screen, rule = ruled(version, "─" * width, last), "─" * width
        reading = drawn("pi", screen)
        assert reading.state is State.DRAFT
        assert screens.typed(drawing_named("pi"), screen) == f"please do not send this {rule} {last}".strip()
        assert not nudges.input_is_free(drawing_named("pi"), reading, screen)
        assert not nudges.holds_only(drawing_named("pi"), reading, screen, line)


@pytest.mark.parametrize("width", [8, 20, 119])
def test_a_ruled_line_is_told_by_its_width_where_no_colour_is_known(width: int) -> None:
    screen = ruled("0.87.1", "─" * width)
    assert drawn("pi", Screen(rows=screen.rows)).state is State.DRAFT


@pytest.mark.parametrize("column", [2, 3, 29])
def test_a_draft_in_the_words_of_a_hint_is_no_hint(column: int) -> None:
    """Wherever its cursor stands: a hint is drawn in grey, and the person's words are not."""
    recording = next(r for r in RECORDED if r.name == "claude-2.1.330-120x40-draft")
    row = next(i for i, text in enumerate(recording.screen.rows) if text.startswith("❯\xa0please"))
    said = recording.screen.rows[row][2:]
    rows = [text.replace(said, 'Try "npm test" again on CI') for text in recording.screen.styled]
    screen = replace(screen_of("\n".join(rows)), cursor=(column, row))
    assert drawn("claude", screen).state is State.DRAFT
    assert screens.typed(drawing_named("claude"), screen) == 'Try "npm test" again on CI'


def test_a_hint_is_known_by_the_cursor_where_nothing_is_drawn_in_colour() -> None:
    """As with NO_COLOR: the escapes that are there tell of the cursor alone."""
    edge = "─" * 40
    screen = screen_of("\n".join(("said", edge, '❯ \x1b[7mT\x1b[27mry "edit x"', edge)))
    assert drawn("claude", replace(screen, cursor=(2, 2))).state is State.IDLE
    assert drawn("claude", replace(screen, cursor=(14, 2))).state is State.DRAFT


MENUS = {
    "the second is chosen": (" Trust it?", "", "   No, exit", " ❯ Yes, I trust this folder", "", " Enter to confirm"),
    "another pointer": ("Pick one", "› a", "  b", "  c", "press enter to continue"),
    "in a frame": ("│ Which?    │", "│ ▸ this    │", "│   that    │", "│ Enter to select │"),
}


@pytest.mark.parametrize("agent", ["claude", "codex", "pi", "qwen"])
@pytest.mark.parametrize("name", MENUS)
def test_a_menu_without_numbers_is_a_menu(agent: str, name: str) -> None:
    """One row is pointed at, and a row below says which key confirms it: nothing may be typed there."""
    assert drawn(agent, Screen(rows=("● said", "", *MENUS[name]))).state in (State.DIALOG, State.DRAFT)
    assert drawn("claude", Screen(rows=("● said", "", *MENUS[name]))).state is State.DIALOG


def test_what_a_model_says_of_a_menu_is_none() -> None:
    """Below it stands the input."""
    edge = "─" * 40
    for menu in MENUS.values():
        screen = Screen(rows=(*menu, "", edge, "❯", edge))
        assert drawn("claude", screen).state is State.IDLE


def test_the_note_of_another_try_is_found_in_either_spelling() -> None:
    recording = next(r for r in RECORDED if r.name == "claude-2.1.330-120x40-error-529")
    assert drawn("claude", recording.screen).note == "529 scripted error 529 · retrying in 19s · attempt 9/10"


TITLES = [
    ("claude", "⠐ Claude Code", State.WORKING),
    ("claude", "✳ Claude Code", None),
    ("codex", "⠏ project", State.WORKING),
    ("codex", "[ ! ] Action Required | project", State.WAITING),
    ("codex", "[ . ] Action Required | project", State.WAITING),
    ("codex", "project", None),
    ("gemini", "◇  Ready (project)", State.IDLE),
    ("gemini", "✦  Working… (project)", State.WORKING),
    ("gemini", "✋  Action Required (project)", State.WAITING),
    ("opencode", "OC | Working on it", None),
]


@pytest.mark.parametrize(("agent", "title", "state"), TITLES)
def test_a_title_says_what_its_agent_means_by_it(agent: str, title: str, state: State | None) -> None:
    """Claude's title is the same while it is idle and while it asks for a permission, so that it says neither."""
    readings = screens.read(drawing_named(agent), Screen(title=title))
    assert [(r.state, r.source) for r in readings] == ([(state, "title")] if state else [])


@pytest.mark.parametrize("agent", DRAWN)
def test_every_rule_names_a_sign(agent: str) -> None:
    """One that names none would fit everything."""
    for rule in drawing_named(agent).rules:
        assert rule.menu is not None or rule.box or rule.above or rule.foot or rule.anywhere, rule.name


def test_an_agent_of_which_nothing_is_known_says_nothing() -> None:
    assert screens.read(None, RECORDED[0].screen) == ()


TYPED = [
    ("claude-typed", "hello there [[sleep: 4]] [[say: done hello]]"),
    ("claude-idle", ""),
    ("claude-working-queued-message", ""),
    ("claude-permission-prompt", None),
    ("codex-typed", "hello there [[sleep: 4]] [[say: done hello]]"),
    ("gemini-pasted200", "[Pasted Text: 200 lines]"),
    ("gemini-line-stale-foot-110x16", "You have 1 unread message: run `pro0 inbox`"),
    ("opencode-typed", "hello there [[sleep: 4]] [[say: done hello]]"),
    ("pi-typed", "hello there [[sleep: 4]] [[say: done hello]]"),
]


@pytest.mark.parametrize(("name", "text"), TYPED)
def test_what_is_typed_is_known(name: str, text: str | None) -> None:
    recording = next(r for r in RECORDED if r.name == name)
    assert screens.typed(drawing_named(recording.agent), recording.screen) == text


def test_a_hint_is_told_from_the_same_words_typed() -> None:
    """By the cursor, which stands behind what was typed, and by how it is drawn, where that is known."""
    foot = "\n\n  fake-model default"
    words = "Ask Codex to do anything"
    assert drawn("codex", screen_of(f"› {words}{foot}")).state is State.IDLE
    assert drawn("codex", screen_of(f"› {words}{foot}", cursor=(2, 0))).state is State.IDLE
    assert drawn("codex", screen_of(f"› {words}{foot}", cursor=(26, 0))).state is State.DRAFT
    assert drawn("codex", screen_of(f"\x1b[1m›\x1b[0m \x1b[2m{words}\x1b[0m{foot}")).state is State.IDLE
    assert drawn("codex", screen_of(f"\x1b[1m›\x1b[0m {words}{foot}")).state is State.DRAFT
    assert drawn("codex", screen_of(f"\x1b[1m›\x1b[0m \x1b[2mAny other hint\x1b[0m{foot}")).state is State.IDLE
    assert drawn("codex", screen_of(f"\x1b[1m›\x1b[0m \x1b[7ma\x1b[0m{foot}")).state is State.DRAFT


def answered(name: str, words: str) -> Screen:
    """Return a recorded screen on which the last answer of the model, `done hello`, is another."""
    rows = list(next(r for r in RECORDED if r.name == name).screen.styled)
    last = max(i for i, row in enumerate(rows) if "done hello" in row)
    rows[last] = rows[last].replace("done hello", words)
    return screen_of("\n".join(rows))


@pytest.mark.parametrize("name", ["opencode-idle-after-turn", "codex-idle-after-turn"])
def test_a_box_without_the_cursor_is_covered_by_something_else(name: str) -> None:
    """OpenCode draws its menus over the screen and leaves the box as it was; an Enter would choose there."""
    recording = next(r for r in RECORDED if r.name == name)
    column, row = recording.screen.cursor or (0, 0)
    assert drawn(recording.agent, replace(recording.screen, cursor=(column, row - 20))).state is State.UNKNOWN
    assert drawn(recording.agent, replace(recording.screen, cursor=(column + 5, row))).state is State.IDLE


ANSWERS = [
    ("pi", "Error: 529 scripted", State.ERROR),
    ("pi", "⠴ Working...", State.WORKING),
    ("claude", "API Error: Repeated 529 Overloaded errors", None),
    ("codex", "■ unexpected status 529", None),
]


@pytest.mark.parametrize(("agent", "words", "sign_of"), ANSWERS)
def test_an_answer_in_the_words_of_a_sign_is_told_by_its_colour(agent: str, words: str, sign_of: State | None) -> None:
    """The model can say what its agent would say of an error; only the agent itself writes that in colour."""
    assert drawn(agent, answered(f"{agent}-idle-after-turn", words)).state is State.IDLE
    partly = f"{words[0]}\x1b[31m{words[1:]}\x1b[39m"
    assert drawn(agent, answered(f"{agent}-idle-after-turn", partly)).state is State.IDLE
    red = drawn(agent, answered(f"{agent}-idle-after-turn", f"\x1b[31m{words}\x1b[39m"))
    assert sign_of is None or red.state is sign_of


@pytest.mark.parametrize("agent", DRAWN)
@pytest.mark.parametrize("row", ["a-" * 4000, "> " * 4000, "─ " * 4000, "❯ 1. x" * 2000, "(esc" * 3000, "[" * 9000])
def test_a_long_row_is_read_in_the_end(agent: str, row: str) -> None:
    """What is printed is not trusted: no pattern may take ages over it."""
    screen = Screen(rows=("─" * 80, row, row, "─" * 80, row))
    assert drawn(agent, screen).source == "screen"
