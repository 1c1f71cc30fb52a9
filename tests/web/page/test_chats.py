"""The chat of a ticket's session: its first message, what its agent says, and the reviews of its subtasks."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from pro0.model.task import Draft, Policy, Status
from pro0.ops.tasks import tasks
from tests.engine.crew import Crew
from tests.waiting import STUCK, wait_until
from tests.web.page.pages import Shown

SCRIPT = Path(__file__).parents[2] / "programs" / "speaking.py"
FIRST = "Plan the lexer, and see that it is built."


@pytest.fixture(scope="module")
def mode() -> str:
    return "in-process"


@pytest.fixture(scope="module", autouse=True)
def task_agent() -> Iterator[None]:
    """Let Claude Code work on tasks that have a session each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRO0_TASK_AGENT", "claude")
        yield


@pytest.fixture(scope="module", autouse=True)
def stand_in(task_agent: None, alpha: Crew) -> None:
    """Let the members of the team find a stand-in for it."""
    folder = alpha.project.parent / "bin"
    folder.mkdir()
    (folder / "claude").write_text(f'#!/bin/sh\nexec {sys.executable} -I {SCRIPT} claude "$@"\n')
    (folder / "claude").chmod(0o755)
    with alpha.team.environment.change("a test") as change:
        found = {"HOME": os.environ["HOME"], "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        change.value = replace(change.value, variables=found)


def at_work_on(alpha: Crew, id: str) -> str:
    """Return whose session works on a task, once one does."""
    wait_until(lambda: alpha.task(id).claim, STUCK, f"a session works on {id}")
    claim = alpha.task(id).claim
    assert claim
    return claim.agent_id


def turn(alpha: Crew, name: str, **asked: str) -> None:
    """Let the stand-in have one more turn."""
    folder = Path(os.environ["HOME"]) / "speaking"
    folder.mkdir(exist_ok=True)
    part = folder / f"{name}.part"
    part.write_text(json.dumps({"claim": "", "complete": "", "text": "", **asked}))
    part.rename(folder / f"{name}.json")


def test_the_chat_of_a_ticket_has_its_first_message_and_each_review(shown: Shown, alpha: Crew) -> None:
    """S000-001, 035, 044, 047: a ticket is started on the page, and its chat read there while its subtasks end."""
    [parent] = alpha.give(Draft(title="the lexer", description=FIRST, policy=Policy.SUPERVISED))
    below = [alpha.give(Draft(title=title, parent=parent))[0] for title in ("its states", "its tests")]
    page = shown.go("tree", parent)
    shown.press("Start", shown.panel)
    shown.panel.get_by_role("link", name="Its session").click()
    chat = page.get_by_role("log", name="Chat")
    first = chat.get_by_role("group", name="first prompt")
    expect(first).to_have_text(f"Your task, {parent}: the lexer\n{FIRST}")
    above = at_work_on(alpha, parent)
    expect(chat).to_contain_text(f"{above} is there")
    expect(chat.get_by_text(FIRST)).to_have_count(1)
    chat.get_by_role("button", name="Show all of it").first.click()
    expect(first).to_contain_text(f"TASK_ID={parent}")
    reviews = chat.locator("li.review")
    for count, id in enumerate(below, 1):
        turn(alpha, above, complete=parent, text=f"planned {count}")
        expect(chat).to_contain_text(f"planned {count}")
        turn(alpha, at_work_on(alpha, id), complete=id, text="done")
        expect(reviews).to_have_count(count)
        expect(reviews.last).to_contain_text(f"completed {id}")
        expect(reviews.last).to_contain_text("about its subtasks")
        expect(reviews.last).to_contain_text(f"Read the comments of {parent} and adjust its subtasks")
    turn(alpha, above, complete=parent, text="built")
    wait_until(lambda: alpha.task(parent).status is Status.COMPLETED, STUCK, "the whole of it is over")
    for id in (*below, parent):
        tasks.delete(alpha.context, id)


GROWS = """async () => {
  const own = await import(new URL("data/team.js", document.baseURI));
  const { html } = await import(new URL("html.js", document.baseURI));
  const { render } = await import(new URL("vendor/preact.js", document.baseURI));
  const { Chat } = await import(new URL("parts/chat.js", document.baseURI));
  const { connection } = own.team.value;
  const at = (second) => `2026-01-01T00:00:0${second}Z`;
  const whole = { tool: { arguments: "make", result: "" }, said: { text: "the beginning" } };
  connection.call = async (method, params) => whole[params.item_id];
  connection.subscribe = (name, params, start, change) => {
    const tool = { id: "tool", type: "tool", at: at(1), text: "Bash", state: "running" };
    const said = { id: "said", type: "said", author: "ada", at: at(2), text: "the", cut: true };
    start([tool, said]);
    globalThis.grow = () => {
      whole.tool = { arguments: "make", result: "built" };
      whole.said = { text: "the beginning and the end" };
      change(null, { ...tool, state: "done" });
      change(null, { ...said });
    };
    return () => {};
  };
  render(html`<${Chat} session="ada" />`, document.getElementById("page"));
}"""
"""A chat of a tool that runs and an answer that grows; what asks its server is given the answer here."""


def test_what_is_open_in_a_chat_grows_with_it(shown: Shown) -> None:
    """Whoever opens a tool while it runs sees its result when it is done."""
    page = shown.go("board")
    page.evaluate(GROWS)
    page.locator("summary").click()
    expect(page.get_by_role("group", name="Arguments")).to_have_text("make")
    page.get_by_role("button", name="Show all of it").click()
    said = page.get_by_role("group", name="said of ada")
    expect(said).to_have_text("the beginning")
    page.evaluate("grow()")
    expect(page.get_by_role("group", name="Result")).to_have_text("built")
    expect(said).to_have_text("the beginning and the end")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


LONG = """async () => {
  const own = await import(new URL("data/team.js", document.baseURI));
  const { html } = await import(new URL("html.js", document.baseURI));
  const { render } = await import(new URL("vendor/preact.js", document.baseURI));
  const { Chat } = await import(new URL("parts/chat.js", document.baseURI));
  const { connection } = own.team.value;
  const at = (number) => new Date(1e12 + number).toISOString();
  const said = (number) => ({ id: `s-${number}`, type: "said", author: "ada", at: at(number), text: `line ${number}` });
  let change;
  connection.call = async (method, { content }) => {
    change(null, { ...said(900), id: "m-1", author: "human", text: content });
    return { id: "1" };
  };
  connection.subscribe = (name, params, start, changed) => {
    change = changed;
    start(Array.from({ length: 60 }, (_, number) => said(number)));
    globalThis.add = (number) => change(null, said(number));
    return () => {};
  };
  render(html`<${Chat} session="ada" />`, document.getElementById("page"));
}"""
"""A chat too long for its box, that gets what `add` says and what is sent; what asks its server is answered here."""

FROM_END = "({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight"


def test_whoever_reads_further_up_in_a_chat_stays_there(shown: Shown) -> None:
    """The newest item stays in view only for whoever sees the end, or has sent it."""
    page = shown.go("board")
    page.evaluate(LONG)
    chat = page.get_by_role("log", name="Chat")
    for number in (100, 101):
        expect(chat).to_contain_text("line 59")
        page.evaluate(f"add({number})")
        expect(chat).to_contain_text(f"line {number}")
        assert chat.evaluate(FROM_END) < 1
    chat.evaluate("(box) => box.scrollTo({ top: 200 })")
    page.evaluate("add(102)")
    expect(chat).to_contain_text("line 102")
    assert chat.evaluate("({ scrollTop }) => scrollTop") == 200
    page.get_by_label("To this session").fill("go on")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(chat.get_by_role("group", name="said of human")).to_have_text("go on")
    assert chat.evaluate(FROM_END) < 1
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
