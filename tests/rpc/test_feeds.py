"""Messages, events, costs and work in git over JSON-RPC: who is shown what, each once, nothing without a bound."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.errors import ErrorCode, StoreError
from pro0.model.task import Draft
from pro0.model.usage import SessionUsage
from pro0.ops.mail import messages
from pro0.ops.mail.listing import LETTERS, ListedMessage, MailFeed
from pro0.ops.tasks import tasks
from pro0.ops.team import events
from pro0.rpc.server import serving
from pro0.store.paths import EVENTS, LEAD_LOG, SOCKET
from pro0.store.teams import TeamStore
from tests.repositories import git, put, repository_in
from tests.rpc.calling import Failed, call, client
from tests.rpc.conftest import Connect
from tests.rpc.sockets import Wire
from tests.teams import NOW, human, make_team, member
from tests.waiting import STUCK


def said(found: Any) -> list[tuple[str, str, str]]:
    return [(one["from"], one["to"], one["content"]) for one in found]


class TestMessages:
    """The mail of a team."""

    def test_a_person_is_shown_all_and_an_agent_its_own(self, team: TeamStore) -> None:
        messages.send(member(team, "w1"), "w2", "one")
        messages.send(member(team, "w2"), "human", "two")
        messages.send(human(team), "w1", "three")
        whole = [("w1", "w2", "one"), ("w2", "human", "two"), ("human", "w1", "three")]
        assert said(call(client(team), "message.list")) == whole
        assert said(call(client(team), "message.list", latest=2)) == whole[1:]
        assert said(call(client(team, member(team, "w1")), "message.list")) == [whole[0], whole[2]]
        assert said(call(client(team, member(team, "lead")), "message.list")) == []
        snapshot = call(client(team, member(team, "w2")), "message.list.subscribe")["messages"]
        assert said(snapshot) == whole[:2]

    def test_a_message_of_others_is_not_there(self, team: TeamStore) -> None:
        sent = messages.send(member(team, "w1"), "human", "only for you")
        assert call(client(team), "message.show", id=sent.id)["content"] == "only for you"
        for who in (member(team, "w2"), member(team, "lead")):
            with pytest.raises(Failed) as failed:
                call(client(team, who), "message.show", id=sent.id)
            assert failed.value.code == "not_found"

    def test_a_long_one_is_cut_in_lists_and_shown_whole(self, team: TeamStore) -> None:
        sent = messages.send(human(team), "w1", "x" * (LETTERS + 1))
        [listed] = call(client(team), "message.list")
        assert (len(listed["content"]), listed["cut"]) == (LETTERS, True)
        assert len(call(client(team), "message.show", [sent.id])["content"]) == LETTERS + 1

    def test_new_mail_and_its_reading_are_told_once(self, connect: Connect, team: TeamStore) -> None:
        wire = connect()
        assert wire.result("message.list.subscribe")["messages"] == []
        for number in range(30):
            messages.send(human(team), "w1", str(number))
        told = [wire.told() for _ in range(30)]
        assert [one["message"]["content"] for one in told] == [str(number) for number in range(30)]
        assert {one["operation"] for one in told} == {"create"}
        messages.inbox(member(team, "w1"), acknowledge=True)
        read = [wire.told() for _ in range(30)]
        assert [(one["operation"], one["message"]["read"]) for one in read] == [("update", True)] * 30
        assert [one["message"]["id"] for one in read] == [one["message"]["id"] for one in told]
        assert [one["seq"] for one in (*told, *read)] == [*range(1, 61)]

    def test_whose_the_mail_of_the_lead_address_is_follows_who_leads(self, connect: Connect, team: TeamStore) -> None:
        """Rulings 3.8"""
        messages.send(member(team, "w1"), "lead", "red or blue?")
        messages.send(human(team), "w1", "wait")
        wire = connect()
        listed = wire.result("message.list.subscribe")["messages"]
        assert {one["content"]: one["yours"] for one in listed} == {"red or blue?": False, "wait": False}
        with team.wanted.change("a test") as change:
            change.value = replace(change.value, seats=tuple(s for s in change.value.seats if s.agent_id != "lead"))
        told = wire.told()["message"]
        assert (told["content"], told["yours"]) == ("red or blue?", True)


class TestTrouble:
    """A list that cannot be read for a while."""

    def test_it_costs_the_other_lists_no_news(self, connect: Connect, team: TeamStore) -> None:
        wire = connect()
        for topic in ("task.list", "message.list"):
            wire.result(f"{topic}.subscribe")
        head = team.mailbox("w1").head.path
        sound = head.read_bytes()
        head.write_bytes(b"{")
        [made] = tasks.create(human(team), [Draft(title="heard of")])
        assert wire.told()["task"]["id"] == made.id
        messages.send(human(team), "w2", "later")
        head.write_bytes(sound)
        assert wire.told()["message"]["content"] == "later"

    @pytest.mark.parametrize("fault", [StoreError("busy", code=ErrorCode.STORE_ERROR), RuntimeError("not foreseen")])
    def test_what_failed_is_told_though_nothing_changes_any_more(
        self, fault: Exception, connect: Connect, team: TeamStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, faults = MailFeed.news, list[Exception]()
        failed = threading.Event()

        def news(feed: MailFeed) -> list[ListedMessage]:
            if faults:
                failed.set()
                raise faults.pop()
            return real(feed)

        monkeypatch.setattr(MailFeed, "news", news)
        wire = connect()
        wire.result("message.list.subscribe")
        faults.append(fault)
        messages.send(human(team), "w1", "heard of")
        assert failed.wait(STUCK)
        assert wire.told()["message"]["content"] == "heard of"


class TestEvents:
    """What happened."""

    def test_each_is_told_once_whoever_writes(self, connect: Connect, team: TeamStore) -> None:
        """Lines that are the same in all, several writers at once, lines that are no JSON."""
        wire = connect()
        assert wire.result("event.list.subscribe")["events"] == []

        def write(writer: int) -> None:
            for number in range(25):
                team.log_event(NOW, f"w{writer}", "task.claim", number=number)
                team.log_event(NOW, "human", "the same")
                with (team.paths.team / EVENTS).open("ab") as file:
                    file.write(b'{"at": "no time"}\n[]\n{"at": 7}\n\xff\n')

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told = [wire.told()["event"] for _ in range(200)]
        assert len({one["id"] for one in told}) == 200
        for writer in range(4):
            mine = [one["detail"]["number"] for one in told if one["actor"] == f"w{writer}"]
            assert mine == [*range(25)]
        again = call(client(team), "event.list", latest=1000)
        assert sorted(one["id"] for one in again) == sorted(one["id"] for one in told)

    def test_what_the_lead_decided_is_for_those_in_charge(self, team: TeamStore) -> None:
        team.paths.logs.mkdir(exist_ok=True)
        team.log_event(NOW, "human", "message.send", to="w1")
        line = {"at": "2026-01-02T03:04:06.000Z", "pid": 7, "event": "decided", "detail": {"incarnation": "inc-w2"}}
        (team.paths.logs / LEAD_LOG).write_text(json.dumps(line) + "\n")
        of_lead = {"actor": "lead", "event": "decided", "at": "2026-01-02T03:04:06Z"}
        [_, decided] = call(client(team), "event.list")
        assert decided.items() >= of_lead.items()
        assert decided["detail"] == {"detail": {"incarnation": "inc-w2"}}
        team.paths.sessions.mkdir(exist_ok=True)
        (team.paths.sessions / "inc-w2.json").touch()
        [_, veiled] = call(client(team, member(team, "lead")), "event.list")
        assert veiled["detail"] == {"detail": {"incarnation": "withheld"}}
        [only] = call(client(team, member(team, "w1")), "event.list")
        assert only["event"] == "message.send"

    def test_only_the_newest_are_kept_and_long_ones_lose_their_detail(self, team: TeamStore) -> None:
        for number in range(events.LATEST + 5):
            team.log_event(NOW, "human", "task.claim", number=number)
        team.log_event(NOW, "human", "task.claim", text="x" * events.LONGEST)
        found = call(client(team), "event.list.subscribe")["events"]
        assert len(found) == events.LATEST
        assert found[0]["detail"] == {"number": 6}
        assert (found[-1]["detail"], found[-1]["cut"]) == ({}, True)

    def test_one_that_is_nested_too_deep_loses_its_detail(self, team: TeamStore) -> None:
        deep: Any = "x"
        for _ in range(900):
            deep = [deep]
        team.log_event(NOW, "human", "task.claim", deep=deep)
        [found] = call(client(team), "event.list")
        assert (found["detail"], found["cut"]) == ({}, True)


def test_costs_are_told_as_they_grow(connect: Connect, team: TeamStore) -> None:
    wire = connect()
    assert [one["agent_id"] for one in wire.result("cost.list.subscribe")["costs"]] == ["all"]
    for tokens in (5, 7):
        with team.usage.change("a test") as change:
            used = SessionUsage(agent_id="w1", incarnation="i", agent="claude", input_tokens=tokens, cost_usd=0.5)
            change.value = replace(change.value, sessions=(used,))
        told = {one["cost"]["agent_id"]: one for one in (wire.told(), wire.told())}
        assert {name: one["cost"]["input_tokens"] for name, one in told.items()} == {"w1": tokens, "all": tokens}
    assert told["w1"]["operation"] == "update"


def test_another_lead_begins_feeds_anew(team: TeamStore) -> None:
    path = team.paths.team / SOCKET
    messages.send(human(team), "w1", "one")
    with serving(team), Wire(path) as wire:
        lost = wire.result("message.list.subscribe")["id"]
    messages.send(human(team), "w1", "two")
    with serving(team), Wire(path) as wire:
        found = wire.result("message.list.subscribe", {"id": lost, "seq": 0})
    assert found["id"] != lost
    assert [one["content"] for one in found["messages"]] == ["one", "two"]


def test_work_is_shown_as_files_and_as_a_patch(home: Path, tmp_path: Path) -> None:
    team = make_team(home, "w1")
    project = tmp_path / "project"
    project.mkdir()
    repository_in(project)
    with team.config.change("a test") as change:
        change.value = replace(change.value, project=str(project))
    put(project, "new.py", "print()\n")
    found = call(client(team), "diff.show", name="w1")
    assert [(one["path"], one["kind"], one["added"]) for one in found["files"]] == [("new.py", "added", 1)]
    assert (found["shared"], found["uncommitted"], found["base"]) == (True, 1, git(project, "rev-parse", "HEAD"))
    shown = call(client(team, member(team, "w1")), "diff.patch", name="W1")
    assert "+print()" in shown["patch"]
    assert "cut" not in shown
    put(project, "big.txt", "line\n" * 400_000)
    shown = call(client(team), "diff.patch", name="w1")
    assert shown["cut"]
    assert len(shown["patch"]) <= 1 << 20
    assert shown["patch"].endswith("\n")
