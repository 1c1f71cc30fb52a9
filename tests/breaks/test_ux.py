"""What a newcomer and a daily user met."""

import os
import re
from pathlib import Path

from tests.breaks.program import PRO0, Program, comes
from tests.repositories import git
from tests.view.person import Person
from tests.waiting import STUCK, wait_until

OSC = re.compile(rb"\x1b\].*?(?:\a|\x1b\\)", re.DOTALL)
MAIN = "windows:\n- layout: main-vertical\n  panes: [{name: ada, agent: shell}, {name: ben, agent: shell}]\n"


def up(view: Person, name: str = "w1") -> None:
    """Wait until the view shows a team at rest; the start says the same before, and what is typed then is dropped."""
    view.sees(lambda rows: f"{name} idle" in rows[-1] and "Ctrl+T" in rows[-1])


def choose(view: Person, name: str) -> bool:
    """Go a row nearer to this member's on the board; True once that is chosen. A late screen makes it wait."""
    rows = view.rows()
    at = _chosen(rows)
    wanted = next((place for place, row in enumerate(rows) if row[2:].startswith(f"{name} ")), None)
    if at is None or wanted is None or at == wanted:
        return at is not None and at == wanted
    view.press("Down" if at < wanted else "Up")
    wait_until(lambda: _chosen(view.rows()) != at, STUCK, f"the chosen row is another than row {at}")
    return False


def _chosen(rows: list[str]) -> int | None:
    return next((place for place, row in enumerate(rows) if row.startswith("› ")), None)


def socket() -> Path:
    """Return the socket of the team's own tmux server."""
    [found] = [one for one in Path(os.environ["TMUX_TMPDIR"]).glob("tmux-*/*") if "person" not in one.name]
    return found


def test_1_who_waits_rings(pro0: Program, tmp_path: Path) -> None:
    """A view in which nobody looks at the board rings when a task asks its person."""
    with pro0.view("w1=shell") as view:
        up(view)
        view.tmux("pipe-pane", f"cat > {tmp_path}/bytes")
        pro0("task", "create", "one", "--assignee", "w1", "--requires", "approval")
        pro0("task", "update", "1", "--awaiting", "input", "what?")
        rings = comes(lambda: b"\a" in OSC.sub(b"", (tmp_path / "bytes").read_bytes()))
        assert rings, "the view of a team that waits for its person rings no bell"


def test_2_idle_is_no_letter(pro0: Program) -> None:
    """After work and a real question the question alone is mail."""
    pro0.start("-m", "w1=shell", "-m", "w2=shell")
    pro0("task", "create", "one", "--run", "true")
    pro0("task", "create", "two", "--run", "true", "--blocked-by", "1")
    wait_until(lambda: pro0.task("2")["status"] == "completed", STUCK, "both are done", every=0.2)
    wait_until(lambda: pro0.member("w2")["state"] == pro0.member("w1")["state"] == "idle", STUCK, "idle", every=0.2)
    pro0("member", "spawn", "asker", "--agent", "command", "--", "sh", "-c", f"{PRO0} send human 'red?'; exec cat")
    wait_until(lambda: "red?" in pro0("inbox", "--all"), STUCK, "the question has come", every=0.2)
    mail = [letter["message"]["content"] for letter in pro0.json("inbox", "--all")]
    assert not [text for text in mail if " is idle" in text], "the inbox has letters that a member is idle"


def test_3_a_pane_is_of_tmuxs_terminal(pro0: Program) -> None:
    """A member in tmux has tmux's terminal type, whatever terminal the team was started from."""
    pro0("team", "start", "alpha", "--mode", "tmux", "--detach", "--lead", "none", TERM="xterm-kitty")
    pro0("member", "spawn", "k", "--agent", "command", "--", "sh", "-c", "echo TERM=$TERM.; exec cat")
    wait_until(lambda: "TERM=" in pro0("member", "peek", "k"), STUCK, "it says its terminal", every=0.2)
    assert "TERM=xterm-kitty" not in pro0("member", "peek", "k"), "TERM in a pane is that of who typed the start"


def test_3_colours_and_italics_arrive(pro0: Program) -> None:
    """Whoever attaches sees 24-bit colour and italics of a member in tmux."""
    shows = r"while :; do printf '\033[38;2;255;100;7mtrue\033[0m \033[3mitalic\033[0m\n'; sleep 1; done"
    pro0("team", "start", "alpha", "--mode", "tmux", "--detach", "--lead", "none", TERM="xterm-256color")
    pro0("member", "spawn", "k", "--agent", "command", "--", "sh", "-c", shows)
    before = "env -u TMUX COLORTERM=truecolor TERM=xterm-256color"
    with pro0.terminal("team", "attach", "alpha", before=before) as view:
        view.sees("italic")
        rows = next(row for row in view.rows("-e") if "italic" in row)
        assert "38;2;255;100;7" in rows, "24-bit colour is flattened"
        assert "\x1b[3mitalic" in rows, "italics arrive as reverse video"


def test_4_an_idle_shell_is_not_interrupted(pro0: Program) -> None:
    """`i` on the board leaves a member alone that does nothing."""
    with pro0.view("w1=shell") as view:
        up(view)
        view.press("C-t")
        view.sees("MEMBERS")
        view.press("i")
        view.sees(lambda rows: any("w1" in row and "interrupt" in row for row in rows))
        said = "\n".join(view.rows())
        assert "w1 is interrupted" not in said, "an idle shell is interrupted, which ends it"
        assert pro0.member("w1")["state"] == "idle"


def test_5_the_last_words_stay_in_the_view(pro0: Program) -> None:
    """The view shows the screen of a member that has crashed."""
    with pro0.view("w1=shell") as view:
        up(view)
        pro0("member", "spawn", "a1", "--agent", "command", "--", "sh", "-c", "echo the last words; exit 9")
        wait_until(lambda: pro0.member("a1")["state"] == "crashed", STUCK, "it has crashed", every=0.2)
        view.press("C-t", *["Up"] * 5)
        wait_until(lambda: choose(view, "a1"), STUCK, "it is chosen", every=0.5)
        view.press("Enter")
        view.sees(
            lambda rows: (
                "MEMBERS" not in rows
                and any("the last words" in row or "a1 shows" in row or "a1 has shown" in row for row in rows)
            )
        )
        assert "the last words" in "\n".join(view.rows()), "the view shows nothing of a member that crashed"


def test_6_the_main_pane_is_the_largest(pro0: Program, tmp_path: Path) -> None:
    """It has its share also in a terminal that is smaller than what the server was made for."""
    (tmp_path / "main.yaml").write_text(MAIN)
    pro0("team", "start", "alpha", "--mode", "tmux", "--detach", "--lead", "none", "-l", str(tmp_path / "main.yaml"))
    with pro0.terminal("team", "attach", "alpha", columns=90, before="env -u TMUX TERM=xterm-256color") as view:
        view.sees(lambda rows: any("ada" in row for row in rows) and any("ben" in row for row in rows))
        show = ("-S", str(socket()), "list-panes", "-a", "-F", "#{window_width} #{pane_left} #{pane_width}")
        panes = [[int(word) for word in line.split()] for line in view.tmux(*show).splitlines()]
        assert all(width == 90 for width, _, _ in panes), panes
        main, other = sorted(panes, key=lambda pane: pane[1])[:2]
        assert main[2] > other[2], "the main pane is the smallest"


def test_7_the_board_pages(pro0: Program) -> None:
    """One key goes a page further in a list that is longer than the screen."""
    with pro0.view("w1=shell") as view:
        up(view)
        tasks = "".join(f"- {{title: piece {number:02}}}\n" for number in range(60))
        pro0("task", "create", "--file", "-", stdin=tasks)
        view.press("C-t")
        view.sees("piece 01")
        for _ in range(6):
            view.press("NPage")
        assert comes(lambda: "piece 59" in "\n".join(view.rows())), "PageDown does nothing on the board"


def test_8_what_a_member_changed_is_shown(pro0: Program) -> None:
    """One command shows a member's work in its worktree."""
    pro0.start("--lead", "none", "--worktrees", "-m", "w1=shell")
    pro0("task", "create", "one", "--run", "echo made > made.txt; git add made.txt; git commit -qm made")
    wait_until(lambda: pro0.task("1")["status"] == "completed", STUCK, "it is done", every=0.2)
    shown = pro0.run("diff", "w1")
    assert shown.code == 0, "there is no command that shows what a member changed"
    assert "+++ b/made.txt" in shown.out


def test_9_there_is_a_page(pro0: Program) -> None:
    """The program serves its teams to a browser."""
    assert re.search(r"^  (web|serve) .*(page|browser)", pro0("--help"), re.MULTILINE), "there is no page for a browser"


def test_10_cleanup_says_what_goes(pro0: Program) -> None:
    """Open tasks and unread mail that go with a team are said."""
    pro0.start("-m", "w1=shell")
    pro0("task", "create", "one", "--requires", "approval")
    pro0("team", "stop", "alpha", "--force")
    said = pro0("team", "cleanup", "alpha")
    assert "1 open task" in said, "open tasks go with a team without a word"


def test_10_a_removed_team_can_be_read(pro0: Program) -> None:
    """Its tasks are kept until they are forgotten."""
    pro0.start("-m", "w1=shell")
    pro0("task", "create", "the work")
    pro0("team", "stop", "alpha", "--force")
    pro0("team", "cleanup", "alpha")
    kept = pro0.run("team", "show", "alpha", "--archived")
    assert "the work" in kept.out, "nothing of a removed team is kept"


def test_8_merges_home(pro0: Program) -> None:
    """A member's branch is merged by a command."""
    pro0.start("--lead", "none", "--worktrees", "-m", "w1=shell")
    pro0("task", "create", "one", "--run", "echo made > made.txt; git add made.txt; git commit -qm made")
    wait_until(lambda: pro0.task("1")["status"] == "completed", STUCK, "it is done", every=0.2)
    assert pro0.run("member", "merge", "w1").code == 0, "no command merges a member's branch"
    assert git(pro0.project, "show", "HEAD:made.txt") == "made"
