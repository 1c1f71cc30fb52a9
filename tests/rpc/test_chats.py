"""Chats of sessions over JSON-RPC: what is in them, in which order, who may read them, each item once."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.model.runtime import State, TurnEnd
from pro0.model.task import Awaiting, Draft, Policy
from pro0.model.usage import SessionUsage
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.store.teams import TeamStore
from tests.agents import placed
from tests.agents.placed import CLAUDE, recording
from tests.rpc.calling import Failed, call, client
from tests.rpc.conftest import Connect
from tests.teams import human, make_team, member, set_state

LINE = {"type": "assistant", "timestamp": "2030-01-01T00:00:00Z"}


@pytest.fixture
def team(home: Path, tmp_path: Path) -> TeamStore:
    """A team whose w1 is Claude Code, with the recorded transcript."""
    made = make_team(home, "lead", "w1", "w2")
    agent_home = tmp_path / "agent"
    placed.claude(agent_home, recording("claude.jsonl"))
    with made.environment.change("a test") as environment:
        environment.value = replace(environment.value, variables={"HOME": str(agent_home)})
    with made.wanted.change("a test") as change:
        seats = tuple(replace(s, agent="claude") if s.agent_id == "w1" else s for s in change.value.seats)
        change.value = replace(change.value, seats=seats)
    known(made, "w1", session=CLAUDE)
    made.paths.sessions.mkdir(exist_ok=True)
    for name in ("lead", "w1", "w2"):
        (made.paths.sessions / f"inc-{name}.json").touch()
    return made


def known(team: TeamStore, name: str, **fields: Any) -> None:
    """Let the store know more of a session."""
    with team.runtime.change("a test") as change:
        seats = tuple(replace(s, **fields) if s.agent_id == name else s for s in change.value.seats)
        change.value = replace(change.value, seats=seats)


def transcript(team: TeamStore) -> Path:
    [path] = Path(team.environment.read().variables["HOME"]).rglob(f"{CLAUDE}.jsonl")
    return path


def write(team: TeamStore, id: str, *content: dict[str, object], author: str = "assistant") -> None:
    line = {**LINE, "type": author, "uuid": id, "message": {"role": author, "content": content}}
    with transcript(team).open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")


def chat_of(team: TeamStore, session: str = "w1", who: Context | None = None) -> list[Any]:
    found: list[Any] = call(client(team, who or human(team)), "session.chat.subscribe", session_id=session)["items"]
    return found


def shape(items: list[Any]) -> list[tuple[str, str]]:
    return [(item["type"], item.get("text", "")[:20]) for item in items]


def test_a_chat_has_the_transcript_the_mail_and_what_was_said_about_the_task_in_order(team: TeamStore) -> None:
    person, w1 = human(team), member(team, "w1")
    tasks.create(person, [Draft(title="parse")])
    tasks.claim(w1, "1")
    messages.send(person, "w1", "how is it going?")
    messages.send(w1, "w2", "can you help?")
    messages.send(member(team, "w2"), "human", "not of w1")
    gates.hand_off(w1, "1", Awaiting.INPUT, "tabs or spaces?")
    gates.approve(person, "1", "tabs")
    items = chat_of(team)
    assert shape(items)[:8] == [
        ("prompt", "CALL read_inbox {}\nC"),
        ("said", "I call"),
        ("tool", "mcp__pro0__read_inbo"),
        ("said", "I call"),
        ("tool", "Bash: touch rec"),
        ("said", "fine"),
        ("prompt", "ERR 529"),
        ("said", "API Error: Repeated "),
    ]
    said = {(item["type"], item.get("author", ""), item.get("to", ""), item.get("act", "")) for item in items}
    assert {("message", "human", "w1", ""), ("message", "w1", "w2", "")} <= said
    acts = [(item["author"], item["act"], item["task_id"]) for item in items if item["type"] == "remark"]
    assert acts == [("w1", "hand_off", "task-1"), ("human", "approve", "task-1")]
    assert [item["at"] for item in items] == sorted(item["at"] for item in items)
    assert len({item["id"] for item in items}) == len(items)
    assert [item["id"] for item in chat_of(team)] == [item["id"] for item in items], "each has its id for good"


def test_a_tool_has_its_arguments_and_its_result_on_request(team: TeamStore) -> None:
    [_, tool] = [item for item in chat_of(team) if item["type"] == "tool"]
    assert (tool["state"], "arguments" in tool) == ("done", False)
    whole = call(client(team), "session.chat.show", session_id="inc-w1", item_id=tool["id"])
    assert json.loads(whole["arguments"]) == {"command": "touch rec"}
    assert whole["result"] == "(Bash completed with no output)"
    for missing in ("t-nothing", "m-1", ""):
        with pytest.raises(Failed) as failed:
            call(client(team), "session.chat.show", session_id="w1", item_id=missing)
        assert failed.value.code == "not_found"


def test_what_comes_is_told_once_whoever_writes(connect: Connect, team: TeamStore) -> None:
    """A transcript lies elsewhere: nobody tells the lead that it has grown."""
    wire = connect()
    snapshot = wire.result("session.chat.subscribe", {"session_id": "inc-w1"})
    ids = {item["id"] for item in snapshot["items"]}
    write(team, "u1", {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "c1", "name": "Read", "input": {}})
    told = [wire.told() for _ in range(2)]
    assert [(one["operation"], one["item"]["type"], one["item"].get("state")) for one in told] == [
        ("create", "said", None),
        ("create", "tool", "running"),
    ]
    messages.send(human(team), "w1", "well?")
    assert wire.told()["item"]["text"] == "well?"
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "no such file", "is_error": True}
    write(team, "u2", result, author="user")
    ended = wire.told()
    assert (ended["operation"], ended["item"]["id"], ended["item"]["state"]) == ("update", "t-c1", "failed")
    assert not ids & {one["item"]["id"] for one in (*told, ended)}
    assert {one["id"] for one in (*told, ended)} == {snapshot["id"]}
    wire.result("session.chat.unsubscribe", {"id": snapshot["id"]})


def test_one_that_comes_back_is_told_what_it_missed(connect: Connect, team: TeamStore) -> None:
    lost = connect()
    id = lost.result("session.chat.subscribe", {"session_id": "w1"})["id"]
    write(team, "u1", {"type": "text", "text": "one"})
    seq = lost.told()["seq"]
    lost.close()
    write(team, "u2", {"type": "text", "text": "two"})
    back = connect()
    again = back.result("session.chat.subscribe", {"session_id": "w1", "id": id, "seq": seq})
    assert again == {"id": id, "items": []}
    assert back.told()["item"]["text"] == "two"
    other = back.result("session.chat.subscribe", {"session_id": "w2", "id": id, "seq": seq})
    assert other["id"] != id, "the id of one chat is none of another"


def test_a_transcript_that_is_made_later_is_found(connect: Connect, team: TeamStore) -> None:
    os.remove(transcript_path := transcript(team))
    wire = connect()
    assert wire.result("session.chat.subscribe", {"session_id": "w1"})["items"] == []
    transcript_path.write_bytes(recording("claude.jsonl"))
    assert len({wire.told()["item"]["id"] for _ in range(8)}) == 8


def test_an_agent_reads_its_own_chat_alone(team: TeamStore) -> None:
    """Nor does it learn that there is another; what names another's session is withheld from it."""
    messages.send(human(team), "w2", "only for w2")
    write(team, "u1", {"type": "text", "text": "inc-w2 and inc-w1"})
    assert chat_of(team, "inc-w1", member(team, "w1"))[-1]["text"] == "withheld and inc-w1"
    assert chat_of(team, "inc-w1")[-1]["text"] == "inc-w2 and inc-w1"
    for name in ("w2", "lead"):
        sessions = call(client(team, member(team, name)), "session.list")["sessions"]
        assert [session["id"] for session in sessions] == [f"inc-{name}"]
        for method, params in (
            ("session.chat.subscribe", {}),
            ("session.chat.show", {"item_id": "t-u1"}),
            ("session.chat.send", {"content": "x"}),
        ):
            for session in ("w1", "inc-w1", "no-such"):
                with pytest.raises(Failed) as failed:
                    call(client(team, member(team, name)), method, {"session_id": session, **params})
                assert failed.value.code == "not_found"
                assert str(failed.value) == f"there is no session {session!r} that you may see"


def test_without_a_transcript_the_last_words_of_each_turn_are_told(connect: Connect, team: TeamStore) -> None:
    wire = connect()
    wire.result("session.chat.subscribe", {"session_id": "w2"})
    for number in ("1", "2"):
        turn = TurnEnd(at=at(int(number)), how="ended", words=f"done {number}", source="screen", id=number)
        known(team, "w2", turn=turn)
        item = wire.told()["item"]
        assert (item["type"], item["author"], item["text"], item["id"]) == (
            "said",
            "w2",
            f"done {number}",
            f"s-{number}",
        )


def test_a_message_to_a_session_is_one_to_its_member(team: TeamStore) -> None:
    sent = call(client(team), "session.chat.send", session_id="inc-w1", content="stop", urgent=True)
    assert (sent["from"], sent["to"], sent["urgent"]) == ("human", "w1", True)
    assert messages.inbox(member(team, "w1"))[0].message.content == "stop"
    assert shape(chat_of(team))[-1] == ("message", "stop")
    set_state(team, "w1", State.EXITED)
    with pytest.raises(Failed) as failed:
        call(client(team), "session.chat.send", session_id="inc-w1", content="hello?")
    assert failed.value.code == "recipient_ended"


def test_a_past_session_can_still_be_read(team: TeamStore) -> None:
    """Its usage remembers which transcript was its own."""
    used = SessionUsage(agent_id="w1", incarnation="inc-past", agent="claude", session=CLAUDE)
    with team.usage.change("a test") as change:
        change.value = replace(change.value, sessions=(used,))
    known(team, "w1", session="")
    listed = call(client(team), "session.list")["sessions"]
    assert [(one["id"], one["agent_id"], one.get("state")) for one in listed] == [
        ("inc-past", "w1", None),
        ("inc-lead", "lead", "idle"),
        ("inc-w1", "w1", "idle"),
        ("inc-w2", "w2", "idle"),
    ]
    assert len(chat_of(team, "inc-past")) == 8
    assert chat_of(team, "w1") == []


def test_a_session_whose_id_is_learned_later_is_followed_from_then_on(connect: Connect, team: TeamStore) -> None:
    known(team, "w1", session="")
    wire = connect()
    assert wire.result("session.chat.subscribe", {"session_id": "w1"})["items"] == []
    known(team, "w1", session=CLAUDE)
    assert len({wire.told()["item"]["id"] for _ in range(8)}) == 8


PROMPT = "You are w1, a teammate.\n\nWhat you are asked to do:\nRead the lexer."


def told_first(team: TeamStore, name: str, prompt: str) -> None:
    """Let a session have been started with a prompt."""
    folder = team.paths.agent_folder(f"inc-{name}")
    folder.mkdir(exist_ok=True)
    (folder / first_prompt.FILE).write_text(prompt)


def test_what_a_session_was_told_first_is_in_its_chat_once(team: TeamStore) -> None:
    """S000-044: its instructions, and on request the whole prompt; agents keep it in transcripts as they like."""
    told_first(team, "w1", PROMPT)
    known(team, "w1", started_at=datetime(2020, 1, 1, tzinfo=UTC))
    write(team, "u1", {"type": "text", "text": PROMPT.replace("\n\n", "\r\n\r\n ")}, author="user")
    write(team, "u2", {"type": "text", "text": "Read the lexer."}, author="user")
    items = chat_of(team)
    assert (items[0]["type"], items[0]["text"], items[0]["cut"]) == (
        "first",
        "What you are asked to do:\nRead the lexer.",
        True,
    )
    prompts = [item["text"] for item in items if item["type"] == "prompt"]
    assert [text for text in prompts if "lexer" in text] == ["Read the lexer."]
    whole = call(client(team), "session.chat.show", session_id="w1", item_id=items[0]["id"])
    assert whole["text"] == PROMPT


def test_a_long_first_prompt_is_in_the_chat_once(team: TeamStore) -> None:
    prompt = "Begin.\n\nYour task, task-1: " + "many words " * 1000
    told_first(team, "w1", prompt)
    write(team, "u1", {"type": "text", "text": prompt}, author="user")
    found = [(item["type"], item.get("cut"), len(item["text"])) for item in chat_of(team) if "many" in item["text"]]
    assert found == [("first", True, 4000)]


def test_an_agent_without_a_transcript_was_told_something_first_too(connect: Connect, team: TeamStore) -> None:
    """Whoever looks before the session has begun hears of it then."""
    wire = connect()
    assert wire.result("session.chat.subscribe", {"session_id": "w2"})["items"] == []
    told_first(team, "w2", "Begin with the lexer.")
    messages.send(human(team), "w2", "well?")
    told = [wire.told()["item"] for _ in range(2)]
    assert {(item["type"], item["text"], item.get("cut", False)) for item in told} == {
        ("first", "Begin with the lexer.", False),
        ("message", "well?", False),
    }


def test_a_review_of_subtasks_is_told_apart_from_mail(team: TeamStore) -> None:
    """S000-035, 047: who writes the words of its id in a message has not made one."""
    person, w1 = human(team), member(team, "w1")
    tasks.create(person, [Draft(title="above", policy=Policy.SUPERVISED)])
    tasks.claim(w1, "1")
    tasks.create(w1, [Draft(title="below", parent="task-1")])
    tasks.complete(w1, "1", "planned")
    gates.close(person, "2")
    messages.send(person, "w1", "task-2:1:review of task-2")
    found = [(item["type"], item["author"]) for item in chat_of(team) if "task-2" in item.get("text", "")]
    assert found[-1] == ("message", "human")
    [review] = [item for item in chat_of(team) if item["type"] == "review"]
    assert "Then complete task-1 again" in review["text"]
    assert (review["to"], review["id"].startswith("m-")) == ("w1", True)


def at(second: int) -> datetime:
    return datetime(2030, 1, 1, 0, 0, second, tzinfo=UTC)
