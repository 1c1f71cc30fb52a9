"""Every example of every help, and every command in the documents, as it stands there (design, People)."""

import re
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from pro0.cli.call import program
from pro0.model.caller import Caller, Who
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from tests.cli.conftest import Pro0, seat
from tests.cli.examples import ROOT, calls, of_a_document, of_the_helps

PAGES = [
    Path("README.md"),
    Path("CHANGELOG.md"),
    *sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "reference"),
]
DOCUMENTS = [str(page) for page in PAGES if any(of_a_document(str(page)))]
HELPS = list(dict.fromkeys(line for _, line in of_the_helps()))
NEEDS_MORE = (
    r"pro0 team (start|attach|wait|stop|resume|cleanup|forget|show .*--archived)",
    r"pro0 member (spawn|restart|shutdown|forget|peek|focus|approve-plan|reject-plan|answer|merge)",
    r"pro0 diff\b",
    r"pro0 (task (start|watch)|worker (show|logs|kill|merge t1)|agent (list|prove)|run|delegate|plan|shutdown)\b",
    r"pro0 (mcp|lead|demo|man|verdict|web|uninstall)\b",
    r"pro0 member revoke 3",
    r"pro0 doctor --host",
    r"pro0 (store copy|host)\b",
    r".*(--watch|--wait| -f$| -f --json)",
    r".*[|<>$;&]",
    r"(claude|codex|gemini) ",
)
"""What needs a lead, a session, a request, a terminal, another machine or a shell, or waits: others type it."""
TYPED = [line for line in HELPS if not any(re.match(pattern, line) for pattern in NEEDS_MORE)]
FIRST = {
    "pro0 task (complete|release|fail) 3": ["task claim 3"],
    "pro0 task (approve|reject) [34]": ["task update 3 --awaiting input which", "task update 4 --awaiting work"],
    "pro0 task (retry|continue|close) 3": ["task claim 3", "task fail 3 why"],
    "pro0 task reopen 3": ["task claim 3", "task complete 3"],
    "pro0 task (unblock|update) 7": ["task block 7 5"],
    "pro0 member revoke w1": ["member env w1"],
    "pro0 task create .* --role tester": ["role add tester --prompt test"],
}
"""What has to be done before an example can be true."""


def parsed(words: list[str]) -> None:
    """Parse one call as the program would, and do nothing; raises what the program would say of it."""
    command: click.Command = program
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        assert found, words
        command, words = found, words[1:]
    if not isinstance(command, click.Group):
        command.make_context("pro0", [*words]).close()


@pytest.mark.parametrize("line", HELPS)
def test_an_example_can_be_typed(line: str) -> None:
    assert "pro0" in line
    for words in calls(line):
        parsed(words)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_of_the_documents_are_there(name: str) -> None:
    """Whatever is written out in full can be typed; what is only named is a command."""
    found = [words for line in of_a_document(name) for words in calls(line)]
    assert found
    for words in found:
        if words[:1] != ["COMMAND"] and "--help" not in words:
            try:
                parsed(words)
            except click.MissingParameter:
                continue


@pytest.fixture
def world(team: Context, project: Path, scripts: None) -> Context:
    """A team with the members, tasks, mail and files that examples name; its person lets scripts give verdicts."""
    for name in ("ada", "Test Runner"):
        seat(team, name)
    (project / "tasks.yaml").write_text("- title: one\n")
    for folder in (project, project.parent / "old"):
        (folder / ".tickets").mkdir(parents=True)
        (folder / ".tickets" / "a-1.md").write_text("---\nid: a-1\nstatus: open\ndeps: []\n---\n# one\n")
    tasks.create(team, [Draft(title=f"task {number}") for number in range(1, 8)])
    w1 = next(state for state in team.team.runtime.read().seats if state.agent_id == "w1")
    for number in range(1, 5):  # an example answers the fourth message
        messages.send(replace(team, caller=Caller(Who.MEMBER, "w1", w1.incarnation)), "human", f"question {number}")
    return team


@pytest.mark.parametrize("line", TYPED)
def test_an_example_works(line: str, pro0: Pro0, world: Context) -> None:
    for pattern, before in FIRST.items():
        for one in before if re.match(pattern, line) else ():
            assert pro0(*one.split()).code == 0, one
    [words] = calls(line)
    called = pro0(*words)
    assert (called.code, "Traceback" in called.err) == (0, False), called
