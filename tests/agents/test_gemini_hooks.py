"""What Gemini CLI is told around its turns: what it forgot, and its mail."""

import errno
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pro0.agents.gemini import hooks as gemini_hooks
from pro0.agents.gemini.adapter import GEMINI
from pro0.model.message import Mailbox, Notice
from pro0.rules import mail
from pro0.rules.words import prompts
from pro0.store.mailbox import Box
from tests.agents import placed
from tests.faults import fail_about, fault_at
from tests.waiting import STUCK

ME = "11111111-1111-4111-8111-111111111111"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
PROMPT = "You are ann, a teammate in the team <shop>.\nIts members work on one project."
LINE = "You have 1 unread message: run `pro0 inbox`"
CHAT, EMPTY_CHAT = (f"session-2026-11-22T03-0{minute}-22222222.jsonl" for minute in (3, 9))
HEADER = {"sessionId": placed.GEMINI, "projectHash": "468abf4e"}
CONTEXT = {"id": "context", "type": "user", "content": [{"text": "<session_context>"}]}


@dataclass
class Session:
    """A session whose agent calls its hooks; what the model is told of is written down as Gemini CLI does it."""

    place: Path
    box: Mailbox = field(default_factory=lambda: Mailbox(agent_id="ann"))
    said: list[dict[str, Any]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=lambda: [HEADER])
    loading: bool = False
    """True while a resume has not loaded the conversation: it has begun an empty one meanwhile."""

    def __post_init__(self) -> None:
        (self.place / "session").mkdir()
        (self.place / "session/prompt.md").write_text(PROMPT)

    def says(self, who: str, *content: object, **more: object) -> None:
        """Add to the conversation."""
        self.said.append({"id": f"record-{len(self.lines)}", "type": who, "content": content, **more})
        self.lines.append(self.said[-1])

    def stopped(self, left: int) -> None:
        """Forget all but the first records of the conversation, as after Esc."""
        self.said = self.said[:left]
        self.lines.append({"$set": {"messages": list(self.said), "lastUpdated": "2026-11-22T11:05:07.580Z"}})

    def post(self, *texts: str, urgent: bool = False) -> None:
        """Let mail come."""
        for text in texts:
            id = f"mail-{self.box.next_seq}-{ME}"
            self.box = mail.post(self.box, Notice(id=id, from_="lead", to="ann", content=text, urgent=urgent), NOW)

    def reads(self, *, by_command: bool = False) -> None:
        """Read all mail with the tool, or with `pro0 inbox`."""
        self.box, given = mail.hand_out(self.box, self.box.messages, ME)
        found = json.dumps([{"id": one.message.id, "content": one.message.content} for one in given])
        if by_command:
            texts = [one.message.content.replace("\n", "\n  ") for one in given]
            found = "".join(f"lead → ann · 12:00\n  {text}\n" for text in texts)
        self.says("gemini", "", toolCalls=[{"name": "check_messages", "result": found}])
        self.says("user", {"functionResponse": {"response": {"output": found}}})

    def hook(self, event: str, prompt: str = "") -> dict[str, Any]:
        """Call the hook; return what it says, as data."""
        chat, box = self.place / CHAT, self.place / "messages.json"
        write(chat, self.lines)
        if self.loading:
            write(chat := self.place / EMPTY_CHAT, [HEADER, {"$set": {"messages": [CONTEXT]}}])
        box.write_bytes(msgspec.json.encode(self.box))
        named = {"session_id": placed.GEMINI, "transcript_path": str(chat)}
        said = json.dumps({"hook_event_name": event, "prompt": prompt, **named})
        answer = gemini_hooks.answer(said.encode(), box, self.place / "session", ME)
        return json.loads(answer) if answer else {}

    def begins(self, prompt: str) -> str:
        """Begin a turn; return what it is told again. Gemini CLI hands on no `<` and `>`."""
        context = added(self.hook("BeforeAgent", prompt)).replace("<", "&lt;").replace(">", "&gt;")
        self.says("user", {"text": prompt}, *([{"text": f"<hook_context>{context}</hook_context>"}] if context else []))
        return context

    def ends(self, answer: str = "Done.") -> None:
        """End the turn as it should."""
        self.says("gemini", answer)
        self.hook("AfterAgent")


def write(chat: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write a transcript."""
    chat.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def added(answer: dict[str, Any]) -> str:
    """Return what an answer adds to what the model is told."""
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session that has not been told anything."""
    session = Session(tmp_path)
    session.says("user", {"text": "<session_context>"})
    return session


def test_the_first_prompt_is_told_again_until_it_is_kept(session: Session) -> None:
    """A first turn that is stopped, or whose first request fails, is forgotten, and so may be the next."""
    assert session.begins(PROMPT) == ""
    for _ in range(2):
        session.stopped(1)
        session.hook("AfterAgent")
        told = session.begins("[System: go on]")
        assert told == prompts.forgotten(PROMPT.replace("<", "&lt;").replace(">", "&gt;"), [])
    session.ends()
    assert session.begins("You have 1 unread message") == ""


def test_what_is_kept_is_not_looked_for_any_more(session: Session) -> None:
    """A conversation that grew too long is replaced by a summary, in which nothing is found word by word."""
    session.begins(PROMPT)
    session.post("one")
    session.reads()
    session.ends()
    session.stopped(0)
    assert session.begins("And now?") == ""


@pytest.mark.parametrize("by_command", [False, True])
def test_mail_that_was_read_in_a_stopped_turn_is_told_again(session: Session, by_command: bool) -> None:
    session.post("long ago")
    session.box = mail.acknowledge(session.box, 1)
    session.begins(PROMPT)
    session.ends()
    begin = len(session.said)
    session.begins("You have 1 unread message")
    session.post("Letter 1", 'Letter 12:\nsay "ünï"')
    session.reads(by_command=by_command)
    assert session.begins("while it goes on") == ""
    session.stopped(begin)
    told = session.begins("Please go on")
    assert "From lead" in told
    assert [told.count(text) for text in ("long ago", "Letter 1\n", "Letter 12", PROMPT.splitlines()[1])] == [
        0,
        1,
        1,
        0,
    ]
    session.post("Letter 2")
    session.reads(by_command=by_command)
    assert session.begins("and on") == ""
    session.ends()
    session.stopped(begin)
    assert session.begins("Please go on") == ""


def test_mail_that_was_sealed_meanwhile_is_told_again_too(session: Session, tmp_path: Path) -> None:
    """A full mailbox keeps only its newest messages in one file."""
    store = Box(tmp_path, "ann")
    store.make()
    texts = [f"Letter {number} of many" for number in range(3 * mail.HEAD_COUNT)]

    def post(some: Sequence[str]) -> None:
        for number, text in enumerate(some):
            store.post(Notice(id=f"{text} {number}", from_="lead", to="ann", content=text), lambda: NOW)
        session.box = store.head.read()

    post(["long ago"])
    store.acknowledge(1)
    post([])
    session.begins(PROMPT)
    session.ends()
    begin = len(session.said)
    session.begins("You have unread messages")
    post(texts)
    given = store.hand_out(ME, acknowledge=False)
    session.says("user", {"text": json.dumps([one.message.id for one in given])})
    post([])
    assert session.box.sealed > 1
    assert session.begins("while it goes on") == ""
    session.stopped(begin)
    told = session.begins("Please go on")
    assert [text for text in texts if f": {text}\n" not in f"{told}\n"] == []
    assert "long ago" not in told
    session.ends()
    assert session.begins("and on") == ""


def test_a_tool_whose_answer_was_taken_back_has_told_nothing(session: Session) -> None:
    """Of a turn in which a person said no to a tool the calls stay in the transcript, with what they answered."""
    session.begins(PROMPT)
    session.post("Letter 1")
    session.reads()
    session.stopped(len(session.said) - 1)
    assert "Letter 1" in session.begins("Please go on")


def test_mail_of_an_earlier_session_is_not_told_again(session: Session) -> None:
    session.post("one", "two")
    session.box = mail.acknowledge(session.box, 2)
    session.begins(PROMPT)
    session.stopped(1)
    assert "From lead" not in session.begins("Please go on")


def test_a_prompt_before_which_a_person_spoke_is_not_told_twice(session: Session) -> None:
    assert session.begins("Hello?") == ""
    session.ends()
    assert session.begins(PROMPT) == ""


def test_mail_is_told_of_once_after_a_tool(session: Session) -> None:
    """Issue 17, must show 1: in the middle of a turn, urgent or not; what stays unread is told of again at its end."""
    session.begins(PROMPT)
    assert session.hook("AfterTool") == {}
    session.post("in your own time")
    assert added(session.hook("AfterTool")) == LINE
    session.reads()
    session.post("now", urgent=True)
    assert added(session.hook("AfterTool")) == LINE
    assert session.hook("AfterTool") == {}
    assert session.hook("AfterAgent") == {"decision": "block", "reason": LINE}
    session.post("and now", urgent=True)
    assert added(session.hook("AfterTool")) == LINE.replace("1 unread message", "2 unread messages")
    session.reads()
    assert session.hook("AfterTool") == session.hook("AfterAgent") == {}


def test_a_transcript_that_cannot_be_read_now_hides_no_mail(session: Session) -> None:
    """And what is known stays known: the next turn repeats no text that was kept."""
    session.begins(PROMPT)
    session.ends()
    session.post("one")
    session.reads()
    session.post("two")
    with fault_at(None, fail_about(CHAT, errno.EIO), ("open",)):
        assert session.hook("AfterAgent") == {"decision": "block", "reason": LINE}
    assert session.begins(LINE) == ""


@pytest.mark.parametrize(("left", "goes_on"), [(1, False), (2, False), (3, True)])
def test_a_session_that_has_forgotten_all_does_not_go_on(
    session: Session, tmp_path: Path, left: int, goes_on: bool
) -> None:
    """It could not be resumed, and would not know its first prompt: a new one is begun."""
    session.begins(PROMPT)
    session.ends()
    session.stopped(left)
    session.hook("BeforeAgent")
    assert GEMINI.began
    assert GEMINI.began(placed.gemini(tmp_path, (tmp_path / CHAT).read_bytes())) is goes_on


def test_an_argument_that_looks_like_a_rewritten_conversation_is_none(session: Session, tmp_path: Path) -> None:
    """A tool that changes a database is given such objects: without what was said before them nothing would go on."""
    session.begins(PROMPT)
    session.ends()
    update = {"query": {"id": 7}, "update": {"$set": {"messages": []}}}
    session.says("gemini", "", toolCalls=[{"name": "update_one", "args": update}])
    session.says("user", {"functionResponse": {"response": {"output": "1"}}})
    assert session.begins(LINE) == "", "it knows its first prompt"
    assert GEMINI.began
    assert GEMINI.began(placed.gemini(tmp_path, (tmp_path / CHAT).read_bytes()))


def resumed(session: Session, *, rewritten: bool = True) -> None:
    """Resume the session as Gemini CLI does, without what begins with its context; pro0 gives it a new folder."""
    for file in (session.place / "session").iterdir():
        file.unlink()
    if rewritten:
        session.said = [one for one in session.said if "<session_context>" not in str(one["content"])]
        session.stopped(len(session.said))


def merged(session: Session) -> None:
    """Refuse a tool: Gemini CLI rewrites the conversation, with the first prompt behind its own context."""
    context, prompt, *others = session.said
    session.said = [{**context, "id": "merged", "content": [context["content"][0], prompt["content"][0]]}, *others]
    session.stopped(len(session.said))


@pytest.mark.parametrize("rewritten", [True, False])
def test_a_first_prompt_that_a_resume_leaves_out_is_told_again_until_it_is_kept(
    session: Session, rewritten: bool
) -> None:
    """Gemini CLI leaves out each message that begins with its own context."""
    session.begins(PROMPT)
    session.ends()
    session.begins(LINE)
    session.ends()
    merged(session)
    resumed(session, rewritten=rewritten)
    begin = len(session.said)
    for _ in range(2):
        told = session.begins(LINE)
        assert told == prompts.forgotten(PROMPT.replace("<", "&lt;").replace(">", "&gt;"), [])
        session.stopped(begin)
    session.begins(LINE)
    session.ends()
    assert session.begins(LINE) == "", "it is known"
    session.ends()
    resumed(session)
    assert session.begins(LINE) == "", "the resume keeps what it was told again"


@pytest.mark.parametrize("same_file", [True, False])
def test_a_prompt_that_comes_before_a_resume_has_loaded_the_conversation(session: Session, same_file: bool) -> None:
    """Gemini CLI begins an empty one first, in the same file within the minute in which the session was begun."""
    session.begins(PROMPT)
    session.ends()
    merged(session)
    resumed(session, rewritten=False)
    if same_file:
        session.lines += [HEADER, {"$set": {"messages": [CONTEXT]}}]
    session.loading = not same_file
    told = added(session.hook("BeforeAgent", LINE))
    assert told == prompts.forgotten(PROMPT, [])


def test_a_resume_that_keeps_the_first_prompt_tells_nothing(session: Session) -> None:
    session.begins(PROMPT)
    session.ends()
    resumed(session)
    assert session.begins(LINE) == ""


@pytest.mark.parametrize("readable", [True, False])
def test_a_transcript_is_needed_and_a_mailbox_is_not(session: Session, tmp_path: Path, readable: bool) -> None:
    session.hook("AfterTool")
    place = tmp_path / CHAT if readable else "/nowhere"
    said = json.dumps({"hook_event_name": "BeforeAgent", "transcript_path": str(place), "prompt": "Hello?"}).encode()
    answers = [gemini_hooks.answer(said, tmp_path / "none", tmp_path / "session", ME) for _ in range(2)]
    assert [b"You are ann" in answer for answer in answers] == [False, readable]


@pytest.mark.parametrize(("said", "box"), [(b"", b"{}"), (b"[]", b"{}"), (b"{}", b"{"), (b"{}", b'{"surprise":1}')])
def test_what_cannot_be_read_changes_no_turn(tmp_path: Path, said: bytes, box: bytes) -> None:
    (tmp_path / "messages.json").write_bytes(box)
    assert gemini_hooks.answer(said, tmp_path / "messages.json", tmp_path, ME) == b""


def called(arguments: Sequence[str], said: bytes) -> subprocess.CompletedProcess[bytes]:
    line = gemini_hooks.command(*arguments)
    environment = {**os.environ, "PRO0_INCARNATION": ME}
    return subprocess.run(["/bin/sh", "-c", line], input=said, capture_output=True, env=environment, timeout=STUCK)


def test_the_command_is_a_program_of_its_own(tmp_path: Path) -> None:
    box = mail.post(Mailbox(), Notice(id="1", from_="lead", to="ann", content="now", urgent=True), NOW)
    (tmp_path / "a box").write_bytes(msgspec.json.encode(box))
    done = called([str(tmp_path / "a box"), str(tmp_path)], b'{"hook_event_name": "AfterTool"}')
    assert added(json.loads(done.stdout)) == LINE
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_command_never_fails_a_turn(tmp_path: Path) -> None:
    done = called([str(tmp_path / "none"), str(tmp_path / "neither")], b'{"hook_event_name": "BeforeAgent"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
