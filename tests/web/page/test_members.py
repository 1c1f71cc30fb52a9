"""What people do with members on the page: chat, the terminal and its keyboard, changes with comments, permissions."""

import os
import shutil
import subprocess
import sys

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, expect

from pro0.model.need import AskedPermission, Choice
from pro0.model.runtime import ENDED, State
from pro0.ops import permissions
from pro0.ops.mail import messages
from pro0.ops.team.members import SeatDraft
from pro0.store.paths import PERMISSIONS
from tests.engine.crew import Crew
from tests.repositories import commit
from tests.teams import member
from tests.waiting import STUCK, wait_until
from tests.web.page.conftest import pairing
from tests.web.page.pages import SIZES, Shown


@pytest.fixture(scope="module")
def mode() -> str:
    return "tmux"


def test_the_chat_of_a_session_is_watched_and_written_to(shown: Shown, alpha: Crew) -> None:
    """S000-001, 035, 044, 047."""
    page = shown.go("member", "ada@chat")
    chat = page.get_by_role("log", name="Chat")
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    messages.send(ada, "human", "I begin with the lexer")
    expect(chat).to_contain_text("I begin with the lexer")
    page.get_by_label("To this session").fill("begin with its tests")
    shown.press("Send")
    expect(chat).to_contain_text("begin with its tests")
    wait_until(lambda: any("its tests" in letter.message.content for letter in messages.inbox(ada)), STUCK, "it came")


def test_the_keyboard_is_taken_and_given_back(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    name = f"typist-{request.node.callspec.id}"
    alpha.spawn(SeatDraft(name=name, agent="command", argv=("sh", "-c", "echo ready; exec cat")))
    page = shown.go("member", f"{name}@terminal")
    rows = page.locator(".xterm-rows")
    expect(rows).to_contain_text("ready")
    page.locator(".xterm-screen").click()
    page.keyboard.type("nobody takes this")
    shown.press("Take the keyboard")
    expect(page.get_by_role("button", name="Give the keyboard back")).to_be_visible()
    expect(page.get_by_label(f"Keyboard of {name}")).to_be_focused()
    page.keyboard.type("typed on the page")
    page.keyboard.press("Enter")
    expect(rows).to_contain_text("typed on the pagetyped on the page")
    expect(rows).not_to_contain_text("nobody takes this")
    page.keyboard.press("Control+Alt+k")
    take = page.get_by_role("button", name="Take the keyboard")
    expect(take).to_be_visible()
    alpha.shut_down(name, force=True)
    expect(take).to_have_count(0)


@pytest.mark.soak
def test_a_text_is_written_in_vim(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    if not shutil.which("vim"):
        pytest.fail("this test needs vim: install it")
    name = f"editor-{request.node.callspec.id}"
    file = alpha.project / f"{name}.txt"
    file.write_text("".join(f"line {number}\n" for number in range(1, 400)))
    alpha.spawn(SeatDraft(name=name, agent="command", argv=("vim", "-u", "NONE", "-i", "NONE", "-n", str(file))))
    page = shown.go("member", f"{name}@terminal")
    rows = page.locator(".xterm-rows")
    expect(rows).to_contain_text("line 1")
    shown.press("Take the keyboard")
    expect(page.get_by_label(f"Keyboard of {name}")).to_be_focused()
    page.keyboard.type("G")
    expect(rows).to_contain_text("line 399")
    page.keyboard.type("owritten on the page, äöü")
    expect(rows).to_contain_text("written on the page, äöü")
    page.keyboard.press("Escape")
    page.keyboard.type(":%s/line 7$/seven/")
    page.keyboard.press("Enter")
    page.keyboard.type(":wq")
    page.keyboard.press("Enter")
    wait_until(lambda: alpha.state(name).state in ENDED, STUCK, "vim has ended")
    lines = file.read_text().splitlines()
    assert lines == [f"line {n}" if n != 7 else "seven" for n in range(1, 400)] + ["written on the page, äöü"]


def test_a_line_is_commented_and_a_branch_is_merged(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    name = f"writer-{request.node.callspec.id}"
    argv = ("sh", "-c", "exec sleep 86400")
    alpha.spawn(SeatDraft(name=name, agent="command", argv=argv, worktree=True))
    path = f"{name}.txt"
    commit(alpha.team.paths.home / alpha.state(name).worktree, path, "one\ntwo\n")
    page = shown.go("member", f"{name}@changes")
    page.get_by_role("button", name=f"Comment on line 2 of {path}").click()
    page.get_by_label("Your comment").fill("say three")
    shown.press("Save comment")
    shown.press("Send 1 comment")
    shown.says(f"sent to {name}")
    letters = messages.inbox(member(alpha.team, name, alpha.state(name).incarnation))
    assert f"{path}:2: say three\n> two" in [letter.message.content for letter in letters]
    shown.press("Merge")
    shown.says("is merged")
    assert (alpha.project / path).read_text() == "one\ntwo\n"


def test_a_comment_stays_with_its_line_when_its_member_writes_on(
    shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    """One that is being typed too. What was said about a line that is gone is shown apart, and sent with the others."""
    name = f"goes-on-{request.node.callspec.id}"
    alpha.spawn(SeatDraft(name=name, agent="command", argv=("sh", "-c", "exec sleep 86400"), worktree=True))
    tree, path = alpha.team.paths.home / alpha.state(name).worktree, f"{name}.txt"
    commit(tree, path, "one\n}\ntwo\n}\nlast\n")
    page = shown.go("member", f"{name}@changes")

    def comment(line: int, text: str) -> None:
        page.get_by_role("button", name=f"Comment on line {line} of {path}").click()
        page.get_by_label("Your comment").fill(text)

    for line, text in ((3, "about two"), (4, "about the second end"), (5, "about the last")):
        comment(line, text)
        shown.press("Save comment")
    comment(1, "half of a word")
    commit(tree, path, "new\nand new\none\n}\ntwo\n}\n")
    shown.press("Refresh")
    expect(page.locator(".patch tr:has(+ tr .remark) .number")).to_have_text(["3", "5", "6"])
    expect(page.get_by_label("Your comment")).to_have_value("half of a word")
    gone = page.get_by_role("region", name="Comments on lines that are gone")
    expect(gone).to_contain_text(f"{path}:5: last")
    expect(gone).to_contain_text("about the last")
    shown.press("Save comment")
    shown.press("Delete comment", gone)
    expect(gone).to_have_count(0)
    shown.press("Send 3 comments")
    shown.says(f"sent to {name}")
    expect(page.get_by_role("button", name="Send")).to_have_count(0)
    [letter] = messages.inbox(member(alpha.team, name, alpha.state(name).incarnation))
    sent = [("5: about two", "two"), ("6: about the second end", "}"), ("3: half of a word", "one")]
    assert letter.message.content == "\n\n".join(f"{path}:{text}\n> {code}" for text, code in sent)
    alpha.shut_down(name, force=True)


def test_a_branch_whose_conflict_is_resolved_is_merged_after_another_look(
    shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    name = f"resolver-{request.node.callspec.id}"
    argv = ("sh", "-c", "exec sleep 86400")
    alpha.spawn(SeatDraft(name=name, agent="command", argv=argv, worktree=True))
    path, worktree = f"{name}.txt", alpha.team.paths.home / alpha.state(name).worktree
    commit(worktree, path, "of the member\n")
    commit(alpha.project, path, "of the project\n")
    page = shown.go("member", f"{name}@changes")
    conflict = page.get_by_text(f"a merge would conflict in {path}")
    expect(conflict).to_be_visible()
    commit(worktree, path, "of the project\n")
    shown.press("Refresh")
    expect(conflict).to_have_count(0)
    shown.press("Merge")
    shown.says("is merged")


@pytest.mark.soak
def test_a_team_is_started(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    page = shown.go("start")
    name = f"beta-{request.node.callspec.id}"
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    page.get_by_role("textbox", name="Project").fill(str(alpha.project))
    page.get_by_role("combobox", name="Lead agent").select_option("none")
    page.get_by_role("textbox", name="Members").fill("zoe=shell")
    page.get_by_role("textbox", name="Tasks").fill("the first\nthe second")
    try:
        shown.press("Start")
        page.wait_for_url(f"**/#/{name}/needs")
        page.goto(f"{shown.origin}#/{name}/tree")
        expect(page.locator(".line")).to_have_count(2)
    finally:
        command = [sys.executable, "-m", "pro0", "team", "cleanup", name, "--force"]
        environment = os.environ | {"PRO0_HOME": str(alpha.store.home)}
        subprocess.run(command, check=True, timeout=STUCK, env=environment, capture_output=True)


def asks(alpha: Crew, command: str, key: str, choices: tuple[Choice, ...] = tuple(Choice)) -> str:
    """Let ada ask leave for a command while nobody sees that no dialog is on its screen; return the request's id."""
    alpha.leads[0].kill()
    alpha.leads[0].wait()
    with alpha.team.runtime.change("a test") as change:
        seats = tuple(replace(seat, state=State.WAITING) for seat in change.value.seats)
        change.value = replace(change.value, seats=seats)
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    return permissions.ask(ada, AskedPermission(tool="Bash", input=command, key=key, choices=choices)).id


KNOWS = """async (request) => {
  const { team } = await import(new URL("data/team.js", document.baseURI));
  const told = team.value.needs.all.filter((need) => need.kind === "permission" && need.member === "ada");
  return told.length === 1 && told[0].request === request;
}"""
"""True once this request is all for which ada waits: a new need is told before the one in whose place it comes."""


def test_a_permission_is_answered_with_its_whole_input_in_sight(
    shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    command = "rm -rf build && make\n" * 40
    page = shown.go("tree")
    asked = asks(alpha, command, request.node.callspec.id)
    wait_until(lambda: page.evaluate(KNOWS, asked), STUCK, "its need is told")
    shown.go("needs")
    card = page.get_by_role("main").get_by_role("listitem").filter(has_text="permission").filter(has_text="ada")
    expect(card.get_by_label("The whole input")).to_have_text(command)
    card.get_by_role("button", name="Allow: ").first.click()
    wait_until(lambda: permissions.show(alpha.context, asked).answer is not None, STUCK, "it is answered")
    given = permissions.show(alpha.context, asked).answer
    assert given
    assert given.choice is Choice.ALLOW


def test_a_permission_that_could_not_be_read_comes_by_itself_once_it_can_be(
    shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    """Else it could not be answered before the page is loaded anew."""
    command = f"make {request.node.callspec.id}"
    page = shown.go("tree")
    asked = asks(alpha, command, f"read late {request.node.callspec.id}")
    wait_until(lambda: page.evaluate(KNOWS, asked), STUCK, "its need is told")
    page.evaluate("link.hold()")
    file = alpha.team.paths.team / PERMISSIONS
    whole = file.read_bytes()
    file.write_bytes(b"{")
    try:
        shown.go("needs")
        card = page.get_by_role("main").get_by_role("listitem").filter(has_text="permission").filter(has_text="ada")
        expect(card).to_contain_text(PERMISSIONS)
        expect(card.get_by_role("button", name="Allow: ")).to_have_count(0)
    finally:
        file.write_bytes(whole)
    expect(card.get_by_label("The whole input")).to_have_text(command)
    card.get_by_role("button", name="Allow: ").first.click()
    wait_until(lambda: permissions.show(alpha.context, asked).answer is not None, STUCK, "it is answered")
    page.evaluate("link.free()")
    expect(card.get_by_role("button", name="Allow: ")).to_have_count(0)


PARAMETERS = """async (input) => {
  const { parametersOf } = await import(new URL("data/input.js", document.baseURI));
  return parametersOf(input);
}"""


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ('{"command": "make\\ntest",\n "timeout": 5}', [["command", "make\ntest"], ["timeout", "5"]]),
        ('{"path": "\\u00e4.py", "deep": {"a": ["x"]}}', [["path", "ä.py"], ["deep", '{\n  "a": [\n    "x"\n  ]\n}']]),
        ('{"run": "\\u202egnp.exe\\u0000\\u200b"}', [["run", r"\u{202e}gnp.exe\u{0}\u{200b}"]]),
        ('{"command": "rm -rf /", "command": "ls"}', None),
        ('{"n": 1.00000000000000000001}', None),
        ('{"2": "second", "1": "first"}', None),
        ("make install", None),
        ('["make"]', None),
        ("null", None),
    ],
)
def test_an_input_is_shown_by_its_parameters_only_when_they_are_all_of_it(
    shown: Shown, text: str, parameters: list[list[str]] | None
) -> None:
    """What is not shown as it was asked could be allowed unseen."""
    assert shown.page.evaluate(PARAMETERS, text) == parameters


def test_three_acts_lead_from_the_command_to_an_allowed_permission(
    shown: Shown, alpha: Crew, chromium: Browser, request: pytest.FixtureRequest
) -> None:
    """A person calls for the address, opens it on a phone, and taps on what is shown whole; it has two answers."""
    asked = asks(alpha, "make install", f"at once {request.node.callspec.id}", (Choice.ALLOW, Choice.DENY))
    address = pairing(alpha)
    size = SIZES["phone"]
    with chromium.new_context(viewport=size["viewport"], has_touch=size["touch"]) as context:
        page = context.new_page()
        page.goto(address)
        card = page.get_by_role("main").get_by_role("listitem").filter(has_text="make install")
        expect(card.get_by_label("The whole input")).to_have_text("make install")
        expect(card.get_by_role("button", name="Always allow")).to_have_count(0)
        card.get_by_role("button", name="Allow: ").first.tap()
        wait_until(lambda: permissions.show(alpha.context, asked).answer is not None, STUCK, "it is answered")
        expect(card).not_to_be_visible()
