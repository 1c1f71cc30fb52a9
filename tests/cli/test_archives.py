"""`team cleanup` keeps what a team did, `team show` reads it, `team forget` removes it (issue 14, build 8)."""

import errno
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.engine.cleanup import cleanup
from pro0.errors import Unwritable
from pro0.model.caller import THE_HUMAN, Caller, Who
from pro0.model.message import MessageType, Notice
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.store.teams import Store
from tests.cli.conftest import Pro0, become, seat
from tests.faults import fail_with, fault_at

SECRET = "sesame"


@pytest.fixture
def begun(home: Path, tmp_path: Path) -> Callable[[], Context]:
    """A maker of a team without members: one task done, one open, a letter to its lead."""

    def make() -> Context:
        place = teams.Home("alpha", tmp_path, environment={"TOKEN": SECRET})
        context = teams.create(Store(home), THE_HUMAN, place)
        tasks.create(context, [Draft(title="done"), Draft(title="open")])
        tasks.complete(context, "1", "it holds")
        messages.send(context, "lead", "look at this")
        return context

    return make


def test_cleanup_says_what_goes_and_where_it_is(begun: Callable[[], Context], pro0: Pro0, home: Path) -> None:
    begun()
    done = pro0("team", "cleanup", "alpha")
    assert (done.code, done.out) == (0, "alpha is removed\n")
    (kept,) = Store(home).archives()
    assert done.err.splitlines()[-2:] == [
        "gone with alpha: 1 open task and 1 unread message",
        f"what alpha did is kept in {kept.path}; read it: pro0 team show alpha --archived; "
        "remove it: pro0 team forget alpha",
    ]
    assert not [path for path in home.rglob("*") if path.is_file() and SECRET in path.read_text()]
    shown = pro0("team", "show", "alpha", "--archived")
    assert shown.code == 0, shown
    for text in ("1 pending (1 ready), 1 completed", "it holds", "look at this", "task.create", str(kept.path)):
        assert text in shown.out
    before = {path: path.read_bytes() for path in kept.path.rglob("*") if path.is_file()}
    look = json.loads(pro0("team", "show", "alpha", "--archived", "--json").out)
    assert [task["title"] for task in look["tasks"]] == ["open", "done"]
    assert [letter["message"]["read"] for letter in look["mail"]] == [False]
    assert {path: path.read_bytes() for path in kept.path.rglob("*") if path.is_file()} == before
    (listed,) = json.loads(pro0("team", "list", "--archived", "--json").out)
    assert (listed["name"], listed["unread"], listed["tasks"]["completed"]) == ("alpha", 1, 1)
    assert pro0("team", "list", "--archived", "-o", "name").out == "alpha\n"
    assert pro0("team", "list").out == ""


def test_the_list_counts_the_mail_that_the_cleanup_named(begun: Callable[[], Context], pro0: Pro0) -> None:
    """What members said to the stop is none of it."""
    context = begun()
    said = Notice(id="n", from_="w1", to="lead", type=MessageType.SHUTDOWN_RESPONSE, content="w1 approves its shutdown")
    context.team.mailbox("lead").post(said, context.now)
    assert "and 1 unread message\n" in pro0("team", "cleanup", "alpha").err
    (listed,) = json.loads(pro0("team", "list", "--archived", "--json").out)
    assert listed["unread"] == 1


def test_forgetting_asks_and_wants_to_know_which(
    begun: Callable[[], Context], pro0: Pro0, home: Path, scripts: None
) -> None:
    store = Store(home)
    for _ in range(2):
        context = begun()
        pro0("team", "cleanup", "alpha")
        assert not context.team.exists()
    assert "others of that name ended" in pro0("team", "show", "alpha", "--archived").err
    which = pro0("team", "forget", "alpha", "--force")
    assert (which.code, len(store.archives())) == (2, 2)
    unasked = pro0("team", "forget", "alpha", "--all")
    assert (unasked.code, len(store.archives())) == (6, 2)
    assert pro0("team", "forget", "alpha", "--all", "--force").out == "2 archives of alpha are removed\n"
    assert pro0("team", "forget", "alpha", "--force").code == 3
    assert "pro0 team cleanup" in pro0("team", "list", "--archived").err
    begun()
    assert "pro0 team cleanup alpha" in pro0("team", "forget", "alpha", "--force").err


def test_a_question_that_is_broken_off_ends_its_line(
    begun: Callable[[], Context], pro0: Pro0, scripts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun()
    pro0("team", "cleanup", "alpha")
    monkeypatch.setattr("pro0.cli.team.archive.terminal", lambda: True)
    broken_off = pro0("team", "forget", "alpha", stdin="")
    assert (broken_off.code, broken_off.err.endswith("for good? [y/N]: \n")) == (130, True), broken_off


TIMES = {"2026-01-10": 0, "2026-01-10T12:00": 1, "2026-01-20": 2, "2026-02-01T00:30+01:00": 2, "2100-01-01": 3}


@pytest.mark.parametrize(("before", "number"), TIMES.items())
def test_old_archives_are_forgotten_together(
    before: str, number: int, begun: Callable[[], Context], pro0: Pro0, home: Path, scripts: None
) -> None:
    store = Store(home)
    for ended in ("2026-01-10T11:59:59Z", "2026-01-19T23:59:59Z", "2026-01-31T23:45:00Z"):
        context = begun()
        store.discard("alpha", context.team.config.read().uid, ended=datetime.fromisoformat(ended))
    assert pro0("team", "forget", "beta", "--before", "2100-01-01", "--force").out == ""
    assert len(store.archives()) == 3
    unasked = pro0("team", "forget", "--before", before)
    assert (unasked.code, len(store.archives())) == (6 if number else 0, 3)
    done = pro0("team", "forget", "--before", before, "--force")
    assert (done.code, len(store.archives())) == (0, 3 - number), done
    if number > 1:
        assert done.out == f"{number} archives of alpha are removed\n"


@pytest.mark.parametrize(
    "words", [[], ["alpha", "--before", "soon"], ["--before", "2026-01-01", "--all"], ["--before", "", "--force"]]
)
def test_what_is_to_be_forgotten_has_to_be_said(
    words: list[str], begun: Callable[[], Context], pro0: Pro0, home: Path, scripts: None
) -> None:
    begun()
    pro0("team", "cleanup", "alpha")
    refused = pro0("team", "forget", *words)
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 2), refused
    assert len(Store(home).archives()) == 1


def test_nothing_is_kept_of_nothing_nor_when_not_wanted(begun: Callable[[], Context], pro0: Pro0, home: Path) -> None:
    begun()
    assert "kept" not in pro0("team", "cleanup", "alpha", "--no-archive").err
    teams.create(Store(home), THE_HUMAN, teams.Home("alpha", home))
    empty = pro0("team", "cleanup", "alpha")
    assert (empty.code, "nothing of alpha is kept: it had no task and no message" in empty.err) == (0, True), empty
    assert not (home / "archive").exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_stops_no_cleanup_by_force(begun: Callable[[], Context], home: Path, code: int) -> None:
    """Issue 14, must show 8: without --force nothing is removed; by force nothing is kept, which is said."""
    context, said = begun(), list[str]()
    store = Store(home)
    with fault_at(None, fail_with(code), ("mkdir", "write")):
        with pytest.raises(Unwritable) as refused:
            cleanup(store, "alpha", force=False, show=said.append)
        assert context.team.exists()
        assert cleanup(store, "alpha", force=True, show=said.append) == "alpha is removed"
    assert "--no-archive" in str(refused.value.hint)
    assert said[-2] == "gone with alpha: 1 open task and 1 unread message"
    assert said[-1].startswith("no archive of alpha is kept: ")
    assert store.archives() == []
    assert sorted(path.name for path in home.rglob("*") if not path.name.startswith(".")) == [
        "mailboxes",
        "tasks",
        "teams",
    ]


def test_of_a_living_team_the_same_page(begun: Callable[[], Context], pro0: Pro0) -> None:
    begun()
    shown = pro0("team", "show", "alpha")
    assert "it holds" in shown.out
    assert pro0("team", "show", "alpha", "--ended", "2026").code == 2
    look = json.loads(pro0("team", "show", "alpha", "--json", "-n", "1").out)
    assert (look["path"], look["ended"], len(look["events"])) == (None, None, 1)


@pytest.mark.parametrize(
    "words", [["list", "--archived"], ["show", "alpha", "--archived"], ["forget", "alpha", "--all"]]
)
def test_archives_are_the_persons(
    words: list[str], begun: Callable[[], Context], pro0: Pro0, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """A member of a later team neither reads nor removes what was kept of one before it."""
    begun()
    pro0("team", "cleanup", "alpha")
    context = begun()
    seat(context, "w1")
    become(monkeypatch, context, "w1")
    refused = pro0("team", *words)
    assert (refused.code, refused.out) == (4, ""), refused
    assert len(Store(home).archives()) == 1


def test_the_end_of_members_is_nothing_that_goes(begun: Callable[[], Context], pro0: Pro0) -> None:
    """What they wrote while they were stopped is no mail that somebody would miss."""
    context = begun()
    known = seat(context, "w1")
    session = replace(context, caller=Caller(Who.MEMBER, "w1", known.incarnation))
    members.shutdown(context, "w1", reason="enough")
    members.answer(session, approve=True)
    assert "gone with alpha: 1 open task and 1 unread message\n" in pro0("team", "cleanup", "alpha", "--force").err
