"""Gates, verdicts and what waits for a person, from the command line (AC-03 to AC-24)."""

import json
from typing import Any

import pytest

from pro0.model.task import Awaiting
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become, tree

pytestmark = pytest.mark.usefixtures("scripts")

GATED = ("task", "create", "gated", "--requires", "approval")
NOTHING = ["--awaiting=null", "--awaiting=", "--awaiting none"]


def told(pro0: Pro0, *arguments: str) -> Any:
    """Return what a command prints with --json."""
    called = pro0(*arguments, "--json")
    assert called.code == 0, called
    return json.loads(called.out)


def names(pro0: Pro0, *arguments: str) -> list[str]:
    called = pro0(*arguments, "-o", "name")
    assert called.code == 0, called
    return called.out.split()


def texts(pro0: Pro0, id: str) -> list[tuple[str, str]]:
    return [(remark["author"], remark["text"]) for remark in told(pro0, "task", "show", id)["remarks"]]


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_verdict_on_what_does_not_wait_is_refused(verb: str, pro0: Pro0, team: Context) -> None:
    """AC-02, AC-03: exit 4, the message names the id, every byte stays; a second verdict likewise."""
    pro0("task", "create", "one")
    pro0("task", "create", "two", "--awaiting", "approval")
    assert pro0("task", verb, "2").code == 0
    before = tree(team.team.paths.home)
    for id in ("1", "2"):
        called = pro0("task", verb, id)
        assert called.code == 4
        assert f"task-{id}" in called.err
    assert tree(team.team.paths.home) == before


@pytest.mark.parametrize("verb", ["approve", "reject", "retry", "continue", "close"])
def test_what_is_not_there(verb: str, pro0: Pro0, team: Context) -> None:
    """AC-04: unknown id 3, no id 2, corrupt store 5."""
    assert pro0("task", verb, "9").code == 3
    assert pro0("task", verb).code == 2
    team.team.tasks.path.write_text("{")
    assert pro0("task", verb, "1").code == 5


def test_a_gate_stays_over_rejections(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-05, AC-06, S001-040: three cycles alike; the feedback is the human's, the gate stays."""
    pro0(*GATED)
    for cycle in range(3):
        with monkeypatch.context() as member:
            become(member, team, "w1")
            pro0("task", "claim", "1")
            waits = told(pro0, "task", "complete", "1", f"try {cycle}")
        assert (waits["status"], waits["awaiting"]["kind"]) == ("in_progress", "approval")
        assert waits["awaiting"]["reason"] == "Work complete, requires approval"
        if cycle < 2:
            back = told(pro0, "task", "reject", "1", f"no {cycle}")
            assert (back["status"], back["awaiting"], back["requires"]) == ("pending", None, "approval")
    done = told(pro0, "task", "approve", "1")
    assert (done["status"], done["completedAt"] is not None) == ("completed", True)
    assert texts(pro0, "1") == [
        ("w1", "try 0"),
        ("human", "no 0"),
        ("w1", "try 1"),
        ("human", "no 1"),
        ("w1", "try 2"),
        ("human", ""),
    ]


@pytest.mark.parametrize("verb", ["complete", "close"])
def test_a_person_who_completes_a_gated_task_is_told_to_approve(verb: str, pro0: Pro0, team: Context) -> None:
    """Rulings 2.1, AC-05: it waits from then on, exit 4 with the hint."""
    pro0(*GATED)
    pro0("task", "claim", "1")
    if verb == "close":
        pro0("task", "fail", "1", "broken")
    called = pro0("task", verb, "1")
    assert called.code == 4
    assert "hint: pro0 task approve task-1" in called.err
    assert told(pro0, "task", "show", "1")["awaiting"]["kind"] == "approval"
    assert told(pro0, "task", "approve", "1")["status"] == "completed"


@pytest.mark.parametrize(
    ("other", "verb"), [("review", "approval"), ("approval", "work"), ("content", "review"), ("approval", "content")]
)
def test_another_approval_does_not_pass_the_gate(
    other: str, verb: str, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-08, AC-09, rulings 2.2: what would complete the task makes it wait for its own gate."""
    pro0("task", "create", "one", "--requires", other)
    with monkeypatch.context() as member:
        become(member, team, "w1")
        pro0("task", "claim", "1")
        handed = told(pro0, "task", "update", "1", "--awaiting", verb, "please look")
        assert (handed["awaiting"]["kind"], handed["awaiting"]["reason"]) == (verb, "please look")
        assert handed["claim"] is None
    after = told(pro0, "task", "approve", "1")
    assert (after["status"], after["awaiting"]["kind"]) == ("in_progress", other)
    assert told(pro0, "task", "update", "1", "--verdict", "approved")["status"] == "completed"


VERDICTS = ["approve 1", "reject 1 no", "close 1", "continue 1", "delete 1 --force", "cancel 1", "reopen 1",
            "update 1 --verdict approved", "update 1 --awaiting=null", "update 1 --requires none"]  # fmt: skip


@pytest.mark.parametrize("agent", ["w1", "lead"])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_in_a_session_nobody_is_human(
    verdict: str, agent: str, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-10, rulings 2.3: exit 4 and nothing changed; there is no --force past a gate."""
    from tests.cli.conftest import seat

    pro0(*GATED, "--awaiting", "approval")
    if agent == "lead":
        seat(team, "lead")
    become(monkeypatch, team, agent)
    before = tree(team.team.paths.home)
    assert pro0("task", *verdict.split()).code == 4
    assert tree(team.team.paths.home) == before


def test_manual_is_work_for_a_person(pro0: Pro0, team: Context) -> None:
    """AC-12, S001-094…126: deprecated with a warning, exit 0; agents pass it over."""
    called = pro0("task", "create", "by hand", "--manual")
    assert called.code == 0
    assert "--manual is deprecated, use --awaiting work" in called.err
    assert names(pro0, "task", "list", "--awaiting", "work") == ["task-1"]
    assert names(pro0, "task", "ready") == names(pro0, "task", "next") == []


@pytest.mark.parametrize("nothing", NOTHING)
def test_what_waits_can_be_taken_back(nothing: str, pro0: Pro0, team: Context) -> None:
    """AC-14, S001-097."""
    pro0("task", "create", "one", "--awaiting", "input")
    assert pro0("task", "update", "1", "--awaiting", "bogus").code == 2
    assert told(pro0, "task", "show", "1")["awaiting"]["kind"] == "input"
    for _ in range(2):
        assert told(pro0, "task", "update", "1", *nothing.split())["awaiting"] is None
    assert names(pro0, "task", "next") == ["task-1"]


def test_who_waits_is_not_ready(pro0: Pro0, team: Context) -> None:
    """AC-16: each of the seven, the blocked, the claimed and the settled; what was handed back is ready, and first."""
    for kind in Awaiting:
        pro0("task", "create", f"for {kind}", "--awaiting", str(kind))
    for title in ("open", "claimed", "settled", "handed back"):
        pro0("task", "create", title, "--priority", "4" if title == "handed back" else "1")
    pro0("task", "create", "blocked", "--blocked-by", "9")
    for id in ("9", "10", "11"):
        pro0("task", "claim", id)
    pro0("task", "complete", "10")
    pro0("task", "release", "11")
    assert names(pro0, "task", "ready") == ["task-11", "task-8"]
    assert names(pro0, "task", "next") == ["task-11"]


def test_what_waits_for_a_person_is_found(pro0: Pro0, team: Context) -> None:
    """AC-20, AC-24, S001-099…101, S001-115…117: bare, with =, with a list, and with an id behind it."""
    pro0("task", "create", "epic", "--type", "epic")
    pro0("task", "create", "handed off", "--parent", "1")
    pro0("task", "create", "created so", "--awaiting", "review")
    pro0("task", "create", "not at all")
    pro0("task", "claim", "2")
    pro0("task", "update", "2", "--awaiting", "input", "which one?")
    both = ["task-2", "task-3"]
    assert names(pro0, "task", "next", "--awaiting") == ["task-2"]
    for given in (["--awaiting"], ["--awaiting="], ["--awaiting", "input,review"], ["--awaiting=review,input"]):
        assert sorted(names(pro0, "task", "list", *given)) == both
    assert names(pro0, "task", "list", "--awaiting", "review") == ["task-3"]
    assert names(pro0, "task", "next", "--awaiting", "review") == ["task-3"]
    for given in (["--awaiting", "1"], ["1", "--awaiting"], ["--awaiting", "input", "task-1"], ["--awaiting=", "1"]):
        assert names(pro0, "task", "next", *given) == ["task-2"]
    assert names(pro0, "task", "next", "--awaiting", "review", "1") == []
    [one] = [task for task in told(pro0, "task", "list", "--awaiting") if task["id"] == "task-2"]
    assert (one["title"], one["awaiting"]["kind"]) == ("handed off", "input")
    assert pro0("task", "list", "--awaiting", "bogus").code == 2
    assert "task-2" in pro0("team", "status").out


def test_nothing_is_no_error(pro0: Pro0, team: Context) -> None:
    """AC-21: a sentence and exit 0; null and an empty list."""
    for arguments in (["next"], ["next", "--awaiting"]):
        called = pro0("task", *arguments)
        assert (called.code, called.out) == (0, "")
        assert called.err
        assert told(pro0, "task", *arguments) is None
    assert told(pro0, "task", "ready") == told(pro0, "task", "list", "--awaiting") == []


def test_blocking_is_all_or_nothing(pro0: Pro0, team: Context) -> None:
    """AC-22, AC-18."""
    for title in ("one", "two", "three"):
        pro0("task", "create", title)
    before = tree(team.team.paths.home)
    assert pro0("task", "block", "1", "2,9").code == 3
    assert tree(team.team.paths.home) == before
    assert told(pro0, "task", "block", "1", "2,3")["dependencies"] == ["task-2", "task-3"]
    assert told(pro0, "task", "undep", "1", "2")["dependencies"] == ["task-3"]
    assert pro0("task", "dep", "3", "1").code == 4


def test_what_a_task_does_not_wait_for_is_not_dropped(pro0: Pro0, team: Context) -> None:
    """behaviour 2.6: an unknown id is exit 3, nothing is written; a task that it did not wait for is named"""
    for words in ("one", "two", "three", "four --blocked-by 1 --blocked-by 2"):
        pro0("task", "create", *words.split())
    before = tree(team.team.paths.home)
    for act in (("unblock", "4", "99"), ("unblock", "4", "1,99"), ("update", "4", "--drop-dependency", "99")):
        called = pro0("task", *act)
        assert (called.code, "there is no task-99" in called.err) == (3, True)
        assert tree(team.team.paths.home) == before
    assert pro0("task", "unblock", "4", "3").out == "task-4 did not wait for task-3: four\n"
    both = pro0("task", "unblock", "4", "1", "3")
    assert (both.out, both.err) == ("task-4 updated: four\n", "task-4 did not wait for task-3\n")
    assert told(pro0, "task", "show", "4")["dependencies"] == ["task-2"]


def test_next_of_a_part(pro0: Pro0, team: Context) -> None:
    """AC-17, AC-23, S001-118…120: standalone has no parent, an orphan's is over; a blocker elsewhere still blocks."""
    pro0("task", "create", "epic", "--type", "epic")
    pro0("task", "create", "in it", "--parent", "1")
    pro0("task", "create", "alone", "--awaiting", "work")
    pro0("task", "create", "alone too", "--priority", "3")
    pro0("task", "create", "over", "--type", "epic")
    pro0("task", "create", "left behind", "--parent", "5", "--priority", "0")
    pro0("task", "cancel", "5")
    pro0("task", "reopen", "6")
    assert names(pro0, "task", "next", "1") == names(pro0, "task", "next", "--epic", "1") == ["task-2"]
    assert names(pro0, "task", "next", "--standalone") == ["task-4"]
    assert names(pro0, "task", "next", "--orphan") == names(pro0, "task", "next") == ["task-6"]
    assert names(pro0, "task", "next", "--epic", "1", "--standalone") == ["task-2"]
    pro0("task", "block", "2", "4")
    assert names(pro0, "task", "next", "1") == []
    assert pro0("task", "next", "77").code == 3
    assert pro0("task", "next", "1", "--epic", "2").code == 2


def test_remarks_say_who_they_are_from(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """S001-110, S001-111: an agent is never a human."""
    pro0("task", "create", "one")
    pro0("task", "note", "1", "a", "--from", "human")
    pro0("task", "add-note", "1", "b", "--from", "agent")
    become(monkeypatch, team, "w1")
    pro0("task", "comment", "1", "c", "--from", "agent")
    assert pro0("task", "comment", "1", "d", "--from", "human").code == 4
    assert texts(pro0, "1") == [("human", "a"), ("agent", "b"), ("w1", "c")]


def test_failed_tasks_are_a_persons_to_decide(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-46, rulings 2: retry, continue and close; the same session goes on, unless it is over."""
    from pro0.model.runtime import State
    from tests.teams import set_state

    for title in ("one", "two", "three", "four"):
        pro0("task", "create", title)
    with monkeypatch.context() as member:
        become(member, team, "w1")
        for id in ("1", "2", "3", "4"):
            pro0("task", "claim", id)
            pro0("task", "fail", id, "broken")
    assert told(pro0, "task", "retry", "1")["status"] == "pending"
    goes_on = told(pro0, "task", "continue", "2", "try the other one")
    assert (goes_on["status"], goes_on["claim"]["agentId"], goes_on["claim"]["epoch"]) == ("in_progress", "w1", 2)
    assert "try the other one" in team.team.mailbox("w1").head.read().messages[-1].content
    assert told(pro0, "task", "close", "3", "by hand")["result"] == "by hand"
    set_state(team.team, "w1", State.CRASHED)
    called = pro0("task", "continue", "4")
    assert called.code == 4
    assert "hint: pro0 task retry task-4" in called.err


@pytest.mark.parametrize(
    "arguments",
    ["--verdict approved --awaiting work", "--title x --awaiting work", "words", "--title x words", "--verdict maybe"],
)
def test_an_update_is_one_kind_of_change(arguments: str, pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one", "--awaiting", "work")
    assert pro0("task", "update", "1", *arguments.split()).code == 2


@pytest.mark.parametrize("verb", ["complete", "done", "close"])
def test_a_person_ticks_a_task_off_with_one_command(verb: str, pro0: Pro0, team: Context) -> None:
    """s004: also what waits for another one; a gated one waits for its gate then (AC-07), a parent for its subtasks."""
    for words in ("one", "two --requires review", "three --parent 2", "four --blocked-by 2"):
        pro0("task", "create", *words.split())
    assert told(pro0, "task", verb, "1", "by hand")["result"] == "by hand"
    called = pro0("task", verb, "2")
    assert (called.code, "it has open subtasks: pro0 task tree task-2" in called.err) == (4, True)
    pro0("task", verb, "3")
    called = pro0("task", verb, "2")
    assert (called.code, "hint: pro0 task approve task-2" in called.err) == (4, True)
    assert told(pro0, "task", "show", "2")["awaiting"]["kind"] == "review"
    assert told(pro0, "task", verb, "4")["status"] == "completed"


@pytest.mark.parametrize("mended", ["retry", "close"])
def test_an_epic_with_a_failed_subtask_is_not_completed(
    mended: str, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """s004: not before a person has decided, and more can be added to it meanwhile."""
    for words in (("epic", "--type", "epic"), ("one", "--parent", "1"), ("two", "--parent", "1")):
        pro0("task", "create", *words)
    pro0("task", "done", "3")
    with monkeypatch.context() as member:
        become(member, team, "w1")
        pro0("task", "claim", "2")
        pro0("task", "fail", "2", "broken")
    assert told(pro0, "task", "show", "1")["status"] == "pending"
    assert pro0("task", "create", "three", "--parent", "1").code == 0
    pro0("task", "done", "4")
    pro0("task", mended, "2")
    if mended == "retry":
        assert told(pro0, "task", "show", "1")["status"] == "pending"
        pro0("task", "done", "2")
    assert told(pro0, "task", "show", "1")["status"] == "completed"
