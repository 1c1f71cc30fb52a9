"""What the pages and the help said, and what was so."""

import json
import re

import pytest

from tests.breaks.program import SOURCE, Program, comes, needs_you
from tests.waiting import STUCK, wait_until

AGENT = 'echo "<promise>COMPLETE</promise>"\n'
RANGE = r"task-(\d+)(?: to task-(\d+))?"
LAYOUT = "windows:\n- panes: [{name: w1, agent: shell, %s}]\n"


def readme() -> str:
    return (SOURCE / "README.md").read_text(encoding="utf-8")


def named_in(text: str) -> set[str]:
    """Return the tasks that a text names, each one of a range too."""
    ranges = (range(int(first), int(last or first) + 1) for first, last in re.findall(RANGE, text))
    return {f"task-{number}" for found in ranges for number in found}


def test_a1_a_repair_names_what_it_lost(pro0: Program) -> None:
    """Tasks that only events and folders know any more are named at once, and under needs you until they are seen."""
    pro0.start("--lead", "none")
    for number in range(1, 8):
        pro0("task", "create", f"piece {number}")
    pro0("task", "comment", "5", "look here")
    pro0("team", "stop", "alpha", "--force")
    tasks = pro0.home / "tasks" / "alpha" / "tasks.json"
    tasks.write_bytes(tasks.read_bytes()[: len(tasks.read_bytes()) // 3])
    said = pro0.typed("doctor", "--repair", "-t", "alpha").out
    kept = pro0("task", "list")
    lost = [f"task-{number}" for number in range(1, 8) if f"task-{number} " not in kept]
    assert lost
    assert [id for id in lost if id not in named_in(said)] == [], "a repair does not name the tasks that it lost"
    shown = needs_you(pro0("team", "status"))
    assert [id for id in lost if id not in named_in(shown)] == [], (
        "needs you does not name the tasks that a repair lost"
    )


def test_a2_a_run_says_what_it_leaves_alone(pro0: Program) -> None:
    """Ready tasks outside of epics are named by a run that ends."""
    agent = str(pro0.script("agent", AGENT))
    pro0.start("--lead", "none")
    pro0("task", "create", "all", "--type", "epic")
    pro0("task", "create", "one", "--parent", "1")
    pro0("task", "create", "standalone one")
    done = pro0.run("run", "--headless", "--", agent)
    assert re.search("in no epic: .*task-3|1 outside of epics", done.out + done.err), (
        "a run says that all tasks are completed while one is pending"
    )


@pytest.mark.parametrize("word", ["start_directory: ./sub", "focus: true"])
def test_a3_no_word_of_a_layout_is_ignored(pro0: Program, word: str) -> None:
    """It is done, or refused by its name."""
    (pro0.project / "sub").mkdir()
    (pro0.project / "mine.yaml").write_text(LAYOUT % word)
    started = pro0.run("team", "start", "alpha", "--detach", "--mode", "headless", "-l", "mine.yaml")
    assert started.code == 2, "a word of a layout is taken and ignored"
    assert word.partition(":")[0] in started.err


def test_a4_what_is_to_be_installed_can_be(pro0: Program) -> None:
    """No page names a package that no index has, and the first one says how to install from a clone."""
    assert "pip install 'pro0[view]'" not in pro0.pages(), "a hint names a package that no index has"
    assert re.search(r"^(uv tool|pipx) install '\.\[view\]'$", readme(), re.MULTILINE)


def test_a5_no_example_of_a_member_ends_after_one_message(pro0: Program) -> None:
    """An agent that is given `--message` leaves after its answer: it is a turn of a run, and no member."""
    members = re.findall(r"^\s+argv: \[aider.*$", pro0.pages(), re.MULTILINE)
    assert [line for line in members if "--message" in line] == [], "an example of a member ends after one message"


def test_a6_no_layout_is_for_this_repository_alone(pro0: Program) -> None:
    """What is shipped runs in any repository."""
    assert not re.search(r"\bchecks\b.*(layout|pair|trio)|(pair|trio).*\bchecks\b", pro0("team", "start", "--help")), (
        "a layout with pro0's own checks is offered to everybody"
    )
    assert pro0.run("team", "start", "alpha", "--detach", "--mode", "headless", "-l", "checks").code in (2, 3)


def test_a7_no_first_example_is_a_dead_end(pro0: Program) -> None:
    """A team of shells alone is given no task without a command."""
    starts = re.findall(r"^pro0 team start .*--task .*$", pro0.pages(), re.MULTILINE)
    agents = [re.findall(r"-m (?:\"[^\"=]*|\S*?)=(\w+)", line) for line in starts]
    assert [line for line, names in zip(starts, agents, strict=True) if names and set(names) <= {"shell"}] == [], (
        "the first example makes a task that nobody can do"
    )


def test_b1_it_can_be_installed_and_begun_with_a_real_agent(pro0: Program) -> None:
    """The first page begins with how to install it, and a team of a real agent comes before one of shells."""
    assert re.search(r"^(uv tool|pipx) install ", readme(), re.MULTILINE), "no page says how to install it"
    starts = [line for line in readme().splitlines() if line.startswith("pro0 team start ")]
    assert "=claude" in starts[0], "the first team of the first page has no agent"


def test_b2_codes_of_errors_are_on_a_page(pro0: Program) -> None:
    """What a program reads of a failed command is described."""
    pro0.start("--lead", "none")
    failed = [("task", "show", "99"), ("team", "status", "nobody")]
    codes = [json.loads(pro0.run(*words, "--json").err.splitlines()[-1])["error"]["code"] for words in failed]
    pages = pro0.pages()
    assert [code for code in codes if f"`{code}`" not in pages] == [], "codes of errors are on no page"


def test_b3_each_command_is_on_a_page(pro0: Program) -> None:
    """Commands and what may be set have a reference."""
    pages = pro0.pages()
    names = ("team list", "task blocked", "task query", "task watch", "task unblock", "worker show", "config get")
    assert [name for name in names if f"pro0 {name}" not in pages] == [], "commands are named on no page"
    assert pro0.run("config", "--long").code == 0, "no command says what a setting means"


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/ways-of-working.md", "docs/comparison.md", "docs/upgrading.md"])
def test_b4_what_helps_to_decide_is_a_page(pro0: Program, page: str) -> None:
    """When to use what, how other tools do, what is protected, and what an upgrade changes."""
    assert (SOURCE / page).is_file(), f"there is no page {page}"


def test_e_pages_of_man_say_how_a_command_ends(pro0: Program) -> None:
    """They have what one looks for in them."""
    page = pro0("man", "team", "start")
    assert "EXIT STATUS" in page, "pages of man have the help, and no more"
    assert "SEE ALSO" in page


@pytest.mark.parametrize("group", ["", "team", "member", "task"])
def test_f_long_lists_of_commands_are_in_groups(pro0: Program, group: str) -> None:
    """Nobody reads 28 commands in one list."""
    shown = pro0(*group.split(), "--help")
    assert shown.count(":\n  ") > 3, "commands are in one flat list"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("task create", ("pool, ", "supervised, ", "dispatch, ", "work (", "input (")),
        ("team start", ("ask (", "edits (", "plan (", "bypass (")),
    ],
)
def test_f_words_that_decide_are_explained(pro0: Program, command: str, words: tuple[str, ...]) -> None:
    """Whoever chooses reads what each choice means."""
    shown = " ".join(pro0(*command.split(), "--help").split())
    assert [word for word in words if word not in shown] == [], "choices are offered without what they mean"


def test_g_a_gate_whose_program_is_missing_is_closed(pro0: Program) -> None:
    """No task counts as completed when its check could not run; the person is told, and doctor looks."""
    pro0.settings("hooks: {TaskCompleted: ./no-such-hook.sh}\n")
    pro0.start("-m", "w1=shell")
    pro0("task", "create", "one", "--run", "true")
    told = comes(lambda: "no-such-hook" in needs_you(pro0("team", "status")), 0.5)
    assert told, "a gate whose program is missing is open in silence"
    assert pro0.task("1")["status"] != "completed"
    assert "no-such-hook" in pro0.run("doctor").out


def test_a9_what_is_offered_can_be_chosen(pro0: Program) -> None:
    """The runner belongs to `pro0 run` alone, and no list of agents names it."""
    pro0.start("--lead", "none")
    refused = pro0.run("member", "spawn", "w1", "--agent", "shel")
    assert "runner" not in refused.err, "an agent is offered that is then refused"
    assert "did you mean shell?" in refused.err
    wait_until(lambda: pro0.json("team", "status"), STUCK, "it still runs")
