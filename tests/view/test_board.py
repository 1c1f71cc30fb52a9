"""The board and the bar: what they show, and what their keys ask for."""

import time
from datetime import UTC, datetime

import pytest
from msgspec import structs
from msgspec.structs import replace

from pro0.model.message import Message, MessageType
from pro0.model.need import Need, NeedKind, Picture
from pro0.model.runtime import Phase, Runtime, State
from pro0.model.task import Awaiting, Status, Task, TaskList, Wait
from pro0.model.team import Wanted
from pro0.ops.mail.messages import Letter
from pro0.ops.team.status import LeadStatus, MemberStatus, TeamStatus
from pro0.rules.needs import needs
from pro0.rules.views import task_digest
from pro0.view.bar import bar
from pro0.view.board import GONE, HELP, KEYS, BoardView
from pro0.view.drawing import columns_of, plain
from pro0.view.items import WAITS, Item
from pro0.view.keys import Key
from pro0.view.line import Line
from pro0.view.news import News
from pro0.view.wishes import Prompt, ViewRequest, asked

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EVIL = "evil\x1b]52;c;x\x07\u202e name"


def need(kind: NeedKind, subject: str, what: str, member: str = "") -> Need:
    return Need(id=f"{kind}:{subject}", kind=kind, subject=subject, what=what, command="pro0 act", member=member)


NEEDS = (
    need(NeedKind.PERMISSION, "w2", "w2 waits: may it run ls?", "w2"),
    need(NeedKind.REVIEW, "task-3", "task-3 waits for you (review: look): judge me"),
)


def member(name: str, state: State = State.IDLE, unread: int = 0, note: str = "") -> MemberStatus:
    return MemberStatus(name=name, agent_id=name, agent="shell", state=state, unread=unread, note=note)


def news(*members: MemberStatus) -> News:
    wait = Wait(kind=Awaiting.REVIEW, reason="look", since=NOW, by="w1")
    tasks = (
        Task(id="task-1", title="done already", status=Status.COMPLETED),
        Task(id="task-2", title=EVIL, status=Status.IN_PROGRESS, assignee="w1"),
        Task(id="task-3", title="judge me", status=Status.IN_PROGRESS, awaiting=wait),
    )
    message = Message(
        seq=1, id="m1", from_="w1", to="human", type=MessageType.MESSAGE, content="hello\nthere", timestamp=NOW
    )
    look = TeamStatus(
        name="alpha",
        project="/p",
        mode="in-process",
        mode_reason="asked for",
        phase=Phase.RUNNING,
        paused=False,
        lead=LeadStatus(1, "running"),
        outside=None,
        members=members,
        tasks={"in_progress": 2, "completed": 1},
        attention=NEEDS,
    )
    return News(status=look, tasks=tasks, letters=(Letter("human", message, again=False),))


TWO = news(member("w1"), member("w2", State.WAITING, 3, "may it run ls?"), member("lead"))


def press(board: BoardView, *names: str) -> ViewRequest | None:
    """Press keys and return what the last one asked for."""
    wish = None
    for name in names:
        wish = board.press(Key(name.encode(), name), TWO)
    return wish


def chosen(board: BoardView) -> str:
    return next((plain(row)[2:].split()[0] for row in board.rows(TWO, 100, 40, "") if plain(row).startswith("›")), "")


def test_it_shows_everything_once_and_nothing_that_a_terminal_obeys() -> None:
    rows = BoardView().rows(TWO, 100, 40, "")
    text = "\n".join(map(plain, rows))
    assert len(rows) == 40
    for shown in (
        "alpha · running · 2 in progress, 1 completed · /p",
        "WAITS FOR YOU",
        "hello there",
    ):
        assert text.count(shown) == 1
    assert text.index("task-3") < text.index("  w2 ") < text.index("  lead") < text.index("  w1") < text.index("task-2")
    assert "▸ 1 finished · f shows them" in text
    assert r"evil\x1b]52;c;x\x07\u202e name" in text
    assert all(columns_of(row) <= 100 for row in rows)


def test_tasks_are_shown_by_status() -> None:
    """Build 2: trouble first, then what moves, then what can be taken; finished ones only when they are unfolded."""
    tasks = tuple(Task(id=f"task-{n}", title="t", status=status) for n, status in enumerate(Status, 1))
    board, look = BoardView(), News(tasks=tasks)

    def shown() -> list[str]:
        return [" ".join(row[13:24].split()) for row in _plain(board, look) if row[2:].startswith("task-")]

    assert shown() == ["failed", "in progress", "done", "ready"]
    board.press(Key(b"f", "f"), look)
    assert shown() == ["failed", "in progress", "done", "ready", "completed", "cancelled"]


def _plain(board: BoardView, look: News) -> list[str]:
    return [plain(row) for row in board.rows(look, 80, 20, "")]


def test_the_arrows_and_tab_choose() -> None:
    board = BoardView()
    steps = [
        ([], "w2"),  # the first need: w2 waits
        (["down"], "task-3"),
        (["down"], "w2"),
        (["down", "down"], "w1"),
        (["tab"], "task-2"),
        (["down"], "▸"),
        (["tab"], "w1"),
        (["tab", "up"], "w2"),
        (["G"], "w1"),
        (["g"], "w2"),
        (["page-down"], "w1"),
        (["n"], "w2"),
        (["n"], "task-3"),
        (["n"], "w2"),
        (["end", "home"], "w2"),
    ]
    for keys, found in steps:
        press(board, *keys)
        assert chosen(board) == found, keys
    board.choose("tasks")
    assert chosen(board) == "task-2"
    board.open()
    assert chosen(board) == "w2"


def needing(*needs: Need) -> News:
    look = news(member("w1"))
    assert look.status
    return structs.replace(look, status=replace(look.status, attention=needs))


HOOKS = [
    replace(need(NeedKind.HOOK, name, f"{name} crashed"), command=f"pro0 seen {name}") for name in ("hook1", "hook2")
]


def test_a_key_acts_on_the_line_that_was_seen_as_the_chosen_one() -> None:
    """Of the first line after Ctrl+T too: what comes above it moves it, and takes no key for it."""
    board, (first, later) = BoardView(), HOOKS
    board.open()
    board.rows(needing(first), 80, 20, "")
    assert board.press(Key(b"a", "a"), needing(later, first)) == ViewRequest("seen", "hook1")
    assert any(row.startswith("› hook1 ") for row in _plain(board, needing(later, first)))


def test_no_key_acts_on_a_line_that_has_come_where_another_was() -> None:
    board, (first, later) = BoardView(), HOOKS
    board.rows(needing(first, later), 80, 20, "")
    look = needing(later)
    assert any(row.startswith("› hook2 ") for row in _plain(board, look))
    assert board.press(Key(b"a", "a"), look) == ViewRequest("say", text=GONE)
    assert board.press(Key(b"a", "a"), look) == ViewRequest("seen", "hook2")


def test_what_the_person_finds_or_unfolds_is_no_line_that_has_gone() -> None:
    board = BoardView()
    press(board, *W1)
    assert chosen(board) == "w1"
    press(board, "/", *"judge", "enter")
    assert chosen(board) == "task-3"
    assert press(board, "a") is None
    press(board, "escape", "escape")
    assert chosen(board) == "w1", "it is chosen again after the search"


def test_the_board_opens_on_what_needs_the_person_after_a_search() -> None:
    """behaviour 3.21: a search that found a member would hide the needs for ever."""
    board = BoardView()
    press(board, "/", *"w1", "enter", "enter")
    assert not any("WAITS" in row for row in _plain(board, news()))
    board.open()
    assert any("WAITS" in row for row in _plain(board, news()))


W1 = ["tab", "down", "down"]
"""The keys that lead to the row of w1."""
JUDGED = f"task-3 {task_digest(news().tasks[2])}"
"""What a verdict names: the task, and what the person saw of it."""


@pytest.mark.parametrize(
    ("keys", "wish"),
    [
        (["enter"], ViewRequest("view", "w2")),
        (["a"], ViewRequest("view", "w2")),
        (["tab", "enter"], ViewRequest("view", "w2")),
        (["tab", "a"], ViewRequest("view", "w2")),
        ([*W1, "i"], ViewRequest("interrupt", "w1")),
        ([*W1, "l"], ViewRequest("words", "w1")),
        ([*W1, "d"], ViewRequest("diff", "w1")),
        ([*W1, "m", "h", "i", "enter"], ViewRequest("send", "w1", "hi")),
        ([*W1, "m", "h", "i", "backspace", "enter"], ViewRequest("send", "w1", "h")),
        ([*W1, "m", "h", "ctrl-u", "enter"], None),
        ([*W1, "m", "h", "escape"], None),
        (["b", "x", "enter"], ViewRequest("broadcast", "", "x")),
        (["@", "w", "1", " ", "x", "enter"], ViewRequest("message", "", "@w1 x")),
        (["@", "w", "1", "tab", "x", "enter"], ViewRequest("message", "", "@w1 x")),
        (["t", "x", "enter"], ViewRequest("create", "", "x")),
        (["t", "enter"], None),
        (["S", "w", "9", "enter"], ViewRequest("spawn", "", "w9")),
        ([*W1, "x", "y"], ViewRequest("shutdown", "w1", "y")),
        ([*W1, "x", "n"], ViewRequest("shutdown", "w1", "n")),
        ([*W1, "x", "escape"], None),
        (["down", "a", "enter"], ViewRequest("approve", JUDGED)),
        (["down", "r", "n", "o", "enter"], ViewRequest("reject", JUDGED, "no")),
        (["tab", "tab", "A", "w", "1", "enter"], ViewRequest("assign", "task-2", "w1")),
        (["tab", "tab", "o"], ViewRequest("say", text="task-2 is in progress: only a finished task is reopened")),
        (["f", "tab", "tab", "down", "down", "o"], ViewRequest("reopen", "task-1")),
        (["tab", "tab", "a"], ViewRequest("say", text="choose a task that waits for you: a approves and r rejects it")),
        ([*W1, "r"], ViewRequest("say", text="choose a task that waits for you: a approves and r rejects it")),
        ([*W1, "o"], ViewRequest("say", text="choose a task: o reopens it")),
        (
            [*W1, "R"],
            ViewRequest("say", text="choose a member that has ended or a task that has failed: R starts it again"),
        ),
        (["tab", "tab", "x"], ViewRequest("say", text="choose a member: x asks one to shut down")),
        (["down", "i"], ViewRequest("say", text="this is about no member: Space reads it")),
        (["down", "m", "a", "enter"], ViewRequest("message", "", "@a")),
        (["down", " "], ViewRequest("read", "task-3")),
        (["tab", "tab", "tab", " "], ViewRequest("read", "m1")),
        (["tab", "tab", "tab", "a", "k", "enter"], ViewRequest("send", "w1", "k")),
        ([*W1, " "], ViewRequest("view", "w1")),
        (["tab", "tab", "enter"], ViewRequest("view", "w1")),
        (["escape"], ViewRequest("back")),
        (["q"], ViewRequest("leave")),
        (["ctrl-t"], ViewRequest("key", text="\x14")),
        (["?"], ViewRequest("help")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_keys_ask_for(keys: list[str], wish: ViewRequest | None) -> None:
    assert press(BoardView(), *keys) == wish


def test_what_is_typed_is_shown_with_the_cursor_behind_it() -> None:
    board = BoardView()
    assert board.cursor(100, 40) is None
    press(board, "m", "h", "i")
    assert plain(board.rows(TWO, 100, 40, "")[-1]) == "to w2: hi"
    assert board.cursor(100, 40) == (9, 39)


@pytest.mark.parametrize("letter", ["x", "日"])
def test_of_a_long_text_the_end_is_shown_and_the_cursor_stays_on_the_line(letter: str) -> None:
    board = BoardView()
    press(board, "m", *[letter] * 60, "e", "n", "d")
    foot = plain(board.rows(TWO, 40, 24, "")[-1])
    assert foot.startswith("to w2: …")
    assert foot.endswith(f"{letter}end")
    assert board.cursor(40, 24) == (columns_of(foot), 23)
    assert 38 <= columns_of(foot) < 40


@pytest.mark.parametrize("at", [0, 50_000, 100_000])
def test_a_text_of_any_length_costs_a_frame_no_more_than_its_columns(at: int) -> None:
    """A paste of 16 kB behind m kept every key waiting for twenty seconds."""
    begun = time.process_time()
    shown, column = Line("ä" * 100_000, at).shown(40)
    assert time.process_time() - begun < 1
    assert column < columns_of(shown) < 40 or column == columns_of(shown) == 39


def waiting(*tasks: Task) -> News:
    """A team without members in which these tasks wait for the person."""
    picture = Picture(now=NOW, wanted=Wanted(), runtime=Runtime(), tasks=TaskList(tasks=tasks))
    assert TWO.status
    return News(status=structs.replace(TWO.status, members=(), attention=needs(picture)), tasks=tasks)


def test_what_a_task_waits_for_is_read_before_a_long_title() -> None:
    wait = Wait(kind=Awaiting.INPUT, reason="red or blue?", since=NOW, by="w1")
    short = Task(id="task-1", title="paint the door", awaiting=wait)
    long = Task(id="task-2", title="a long title " * 9, awaiting=wait)
    rows = [plain(row) for row in BoardView().rows(waiting(short, long), 72, 24, "")]
    assert rows[3].rstrip() == "› task-1 waits for you (input: red or blue?): paint the door"
    assert rows[4].startswith("  task-2 waits for you (input: red or blue?): a long title a long")
    assert rows[4].endswith("…")
    assert columns_of(rows[4]) == 72


def test_a_task_is_found_by_its_labels_also_where_it_waits_for_the_person() -> None:
    wait = Wait(kind=Awaiting.INPUT, reason="which?", since=NOW, by="w1")
    tasks = (
        Task(id="task-1", title="waits", awaiting=wait, labels=("area:page",)),
        Task(id="task-2", title="is ready", labels=("soon", "area:page")),
        Task(id="task-3", title="is over", labels=("area:page",), status=Status.COMPLETED),
        Task(id="task-4", title="is about another area", labels=("area:view",)),
    )
    board, look = BoardView(), waiting(*tasks)
    for letter in "/AREA:PAGE":
        board.press(Key(letter.encode(), letter), look)
    assert [row[2:8] for row in _plain(board, look) if row[2:].startswith("task-")] == ["task-1", "task-2", "task-3"]


def test_counts_are_read_before_a_long_path() -> None:
    assert TWO.status
    far = structs.replace(TWO, status=structs.replace(TWO.status, project="/a/very/long/way" * 9))
    head = plain(BoardView().rows(far, 60, 24, "")[0])
    assert head.startswith("alpha · running · 2 in progress, 1 completed · /a/very")
    assert head.endswith("…")


def test_what_came_of_an_act_is_said() -> None:
    assert "sent to w1" in BoardView().rows(TWO, 100, 40, "sent to w1")[-1]


def test_a_team_of_nobody_and_a_small_terminal() -> None:
    assert len(BoardView().rows(News(), 20, 6, "")) == 6
    assert len(BoardView().rows(TWO, 20, 6, "")) == 6


def test_the_bar_shows_every_member_its_state_mail_and_the_keys() -> None:
    line = plain(bar(TWO.members, "w1", 100))
    assert "lead idle" in line
    assert "w2 waiting ✉3" in line
    assert line.endswith("Shift+↑↓ switch · Ctrl+T board")
    assert columns_of(line) == 99


def test_a_bar_that_is_short_of_room_has_marks_for_states_and_still_everyone() -> None:
    """At 80 columns a team of six and the keys have room."""
    states = (State.IDLE, State.WORKING, State.WAITING, State.CRASHED, State.SHUTDOWN, State.RUNNING)
    six = [member(f"mem-{n}", state, unread=int(n == 2)) for n, state in enumerate(states)]
    line = plain(bar(six, "mem-0", 80))
    assert line.split() == [*("mem-0", "idle", "mem-1▸", "mem-2?✉1", "mem-3!", "mem-4▪", "mem-5▸", "Ctrl+T", "board")]
    assert columns_of(line) < 80


def test_the_bar_says_how_much_needs_the_person_also_without_room() -> None:
    mail = need(NeedKind.MAIL, "w1", "1 unread message from w1")
    line = bar(TWO.members, "w1", 110, needs=(*NEEDS, mail))
    assert "\x1b[1;33m2 wait · 1 mail" in line
    assert plain(line).endswith("2 wait · 1 mail · Shift+↑↓ switch · Ctrl+T board")
    many = [member(f"member-{n}") for n in range(20)]
    for columns in (40, 60, 80):
        narrow = bar(many, "member-3", columns, needs=(mail,))
        assert plain(narrow).endswith("1 mail")
        assert columns_of(narrow) <= columns


@pytest.mark.parametrize("columns", [30, 40, 60])
def test_a_bar_without_room_keeps_the_member_that_is_shown_and_counts_the_others(columns: int) -> None:
    many = [member(f"member-{n}") for n in range(20)]
    for shown in many:
        line = plain(bar(many, shown.agent_id, columns))
        assert f" {shown.agent_id} idle " in line
        assert columns_of(line) <= columns
        counted = sum(int(word[1:]) for word in line.split() if word.startswith("+"))
        assert counted + sum(word.startswith("member-") for word in line.split()) == 20
    assert "a notice" in plain(bar(many, "member-3", columns, "a notice"))


def test_every_key_is_told_on_80_columns_and_24_rows() -> None:
    """Who cannot read how to leave is caught in it."""
    assert all(columns_of(line) <= 80 for line in (f" {KEYS}", *HELP))
    assert len(HELP) < 24
    assert plain(BoardView().rows(TWO, 80, 24, "")[-1]).rstrip() == f" {KEYS}"
    assert plain(BoardView().rows(TWO, 30, 24, "")[-1]).startswith(" ? help · q leave")


ASKS = replace(NEEDS[0], request="3f9a01c2be77", why="make build")


@pytest.mark.parametrize(
    ("need", "key", "wish"),
    [
        (ASKS, "a", Prompt("allow", ASKS.request, "allow w2 this: make build? y or n", at_once=True)),
        (ASKS, "r", Prompt("deny", ASKS.request, "deny w2 this, because")),
        (replace(ASKS, why="/a/b …"), "r", Prompt("deny", ASKS.request, "deny w2 this, because")),
        (replace(ASKS, why="/a/b …"), "a", "Space shows all of it; then: "),
        (NEEDS[0], "a", ViewRequest("view", "w2")),
        (replace(NEEDS[0], member="", subject="permissions"), "a", "answer it with: pro0 act"),
    ],
)
def test_a_permission_is_answered_here_where_all_of_it_is_seen(
    need: Need, key: str, wish: ViewRequest | Prompt | str
) -> None:
    item = Item(WAITS, need.id, (need.what,), need.member, need=need)
    got = asked(key, item, TWO)
    if isinstance(wish, str):
        assert isinstance(got, ViewRequest)
        assert got.text.startswith(wish)
    else:
        assert got == wish


LONG = replace(ASKS, why="npm test -- --watch=false && rm -rf " + "build/old " * 12 + "&& echo the end")
ANSWERED = ViewRequest("allow", LONG.request, "y")


@pytest.mark.parametrize(("columns", "lines"), [(200, 50), (80, 24), (40, 12), (20, 5), (8, 2), (1, 1)])
def test_nobody_says_yes_to_half_a_question(columns: int, lines: int) -> None:
    """Issue 14, build 7: all that is allowed is on the screen, in as many rows as it takes, or `y` does nothing."""
    look = news(member("w2", State.WAITING))
    assert look.status
    look = structs.replace(look, status=replace(look.status, attention=(LONG,)))
    board = BoardView()
    board.rows(look, columns, lines, "")
    assert board.press(Key(b"a", "a"), look) is None
    rows = board.rows(look, columns, lines, "")
    assert len(rows) == lines
    shown = " ".join(" ".join(plain(row).split()) for row in rows)
    answered = board.press(Key(b"y", "y"), look)
    assert answered
    assert (answered == ANSWERED) is ("rm -rf" in shown and "the end? y or n" in shown)
    assert answered == ANSWERED or answered.act == "say"
    assert board.press(Key(b"y", "y"), look) is None
