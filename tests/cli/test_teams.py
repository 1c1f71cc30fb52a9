"""Looking at teams and their members, and waiting for them, without a lead."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.cli.config import settings
from pro0.cli.team import attaching
from pro0.errors import EnvironmentMissing, Pro0Error
from pro0.model.caller import Caller, Who
from pro0.model.runtime import Exit, Handle, Process, State
from pro0.model.task import Draft
from pro0.model.usage import SessionUsage, UsageBook
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.tasks.drafts import SeatDraft
from pro0.ops.team import costs, members
from pro0.ops.work import checkouts
from pro0.store.teams import Store
from tests.cli.conftest import Pro0, become, make, seat, tree


def test_the_shape_of_a_status(pro0: Pro0, team: Context) -> None:
    """S004-049: what scripts may rely on."""
    look = json.loads(pro0("team", "status", "--json").out)
    assert set(look["lead"]) == {"pid", "state"}
    assert look["lead"] == {"pid": None, "state": "gone"}
    wanted = {"name", "agentId", "agent", "state", "task", "pid", "pane"}
    assert wanted <= set(look["members"][0])
    assert [member["agentId"] for member in look["members"]] == ["w1", "w2"]
    assert {"name", "project", "mode", "modeReason", "phase", "paused", "tasks", "attention"} <= set(look)
    assert json.loads(pro0("member", "list", "--json").out) == look["members"]
    assert json.loads(pro0("team", "list", "--json").out) == [look]


def test_a_cost_of_which_a_part_is_unknown_is_told_as_the_least(pro0: Pro0, team: Context) -> None:
    local = SessionUsage(agent_id="w1", incarnation="i1", agent="pi", models=("a-model-of-nobody",), output_tokens=5)
    sold = SessionUsage(agent_id="w2", incarnation="i2", agent="claude", cost_usd=1.5)
    costs.limit(team, 2.0)
    for sessions, total, limit in (
        ((sold,), "about $1.50", "limit $2.00"),
        ((local,), "no price known", "limit $2.00; what has no known price does not count"),
        ((local, sold), "at least $1.50", "limit $2.00; what has no known price does not count"),
    ):
        with team.team.usage.change("a test") as change:
            change.value = UsageBook(sessions=sessions)
        *_, last, about = pro0("team", "cost").out.splitlines()
        assert re.split(" {2,}", last)[6] == total
        assert about == limit


def test_a_member_is_shown_with_the_task_that_it_holds(pro0: Pro0, team: Context) -> None:
    """The claim counts, whatever a member says of itself; a crashed one holds nothing that another works on."""

    def shown() -> dict[str, str | None]:
        return {row["agentId"]: row["task"] for row in json.loads(pro0("member", "list", "--json").out)}

    with team.team.runtime.change("test") as change:
        w1, w2 = change.value.seats
        crashed = replace(w2, state=State.CRASHED, task="task-1")
        change.value = replace(change.value, seats=(w1, crashed))
    tasks.create(team, [Draft(title="one"), Draft(title="two")])
    held = Context(team.team, Caller(Who.MEMBER, "w1", w1.incarnation))
    assert shown() == {"w1": None, "w2": None}
    tasks.claim(held, "1")
    assert shown() == {"w1": "task-1", "w2": None}
    assert [line.split()[3] for line in pro0("team", "status").out.splitlines() if line.startswith("w1 ")] == ["task-1"]
    tasks.complete(held, "1", "done")
    assert shown() == {"w1": None, "w2": None}


def test_what_needs_the_person(pro0: Pro0, team: Context) -> None:
    """Issue 2, item 9: crashed members, failed tasks, unread mail, with the command for each."""
    seat(team, "w3", State.CRASHED)
    seat(team, "w4", State.UNRESPONSIVE)
    pro0("task", "create", "one")
    pro0("task", "claim", "1")
    pro0("task", "fail", "1", "broken")
    pro0("send", "human", "hello")
    shown = pro0("team", "status", "-t", "alpha").out.partition("needs you")[2]
    for part in ("w3 has crashed", "pro0 member restart w3 -t alpha", "w4 does not answer", "task-1 has failed: one"):
        assert part in shown
    assert "1 unread" in shown
    assert "restart w3\n" in pro0("team", "status").out


def test_lists_of_names(pro0: Pro0, home: Path, team: Context, tmp_path: Path) -> None:
    make(home, "beta", tmp_path / "x")
    assert pro0("team", "list", "-o", "name").out == "alpha\nbeta\n"
    assert pro0("member", "list", "-o", "name").out == "w1\nw2\n"
    assert pro0("team", "list").out.splitlines()[1].split()[:3] == ["alpha", "gone", "2/2"]
    members.spawn(team, [SeatDraft(name="w3")], 10)
    assert " 2/3 " in pro0("team", "list").out, "a member that never started does not live"
    assert pro0("member", "list", "-t", "beta").err.startswith("beta has no members yet")


def test_no_teams(pro0: Pro0, home: Path) -> None:
    called = pro0("team", "list")
    assert (called.code, called.out) == (0, "")
    assert "no teams yet" in called.err
    assert pro0("team", "list", "--json").out == "[]\n"
    assert not home.exists()


def test_one_member(pro0: Pro0, team: Context) -> None:
    seat(team, "Test Runner")
    for name in ("Test Runner", "TEST-RUNNER", "test runner"):
        look = json.loads(pro0("member", "show", name, "--json").out)
        assert (look["name"], look["agentId"], look["state"], look["exit"]) == (
            "Test Runner",
            "test-runner",
            "idle",
            None,
        )
    with team.team.runtime.change("test") as change:
        *others, last = change.value.seats
        ended = replace(last, state=State.EXITED, exit=Exit(at=team.now() + timedelta(), code=3))
        change.value = replace(change.value, seats=(*others, ended))
    assert "exit code 3" in pro0("member", "show", "test-runner").out


@pytest.mark.usefixtures("scripts")
def test_the_environment_of_a_member(pro0: Pro0, team: Context) -> None:
    """Issue 2, item 4"""
    pro0("task", "create", "root")
    pro0("task", "create", "part", "--parent", "1")
    variables = json.loads(pro0("member", "env", "W1", "--task", "2", "--json").out)
    assert variables["PRO0_TEAM"] == "alpha"
    assert variables["PRO0_AGENT_ID"] == "w1"
    assert (variables["PRO0_TASK_ID"], variables["PRO0_PARENT_TASK_ID"]) == ("task-2", "task-1")
    lines = pro0("member", "env", "w1").out.splitlines()
    assert all(line.startswith("export PRO0_") for line in lines)
    assert f"export PRO0_HOME={team.team.paths.home}" in lines
    seat(team, "gone", State.CRASHED)
    assert pro0("member", "env", "gone").code == 3
    assert pro0("member", "env", "w1", "--task", "9").code == 3


def test_peek(pro0: Pro0, team: Context) -> None:
    """A session without a terminal shows its log; control characters are shown, not obeyed."""
    log = team.team.paths.log("w1")
    log.write_text("".join(f"line {number}\n" for number in range(50)) + "\x1b[2Jlast\n")
    _shows(team, log)
    shown = pro0("member", "peek", "w1", "-n", "2").out
    assert shown.splitlines()[0] == "line 49"
    assert shown.splitlines()[1].endswith("last")
    assert "\x1b" not in shown
    assert json.loads(pro0("member", "peek", "w1", "-n", "2", "--json").out) == shown.splitlines()


def test_a_log_is_a_members_whatever_runtime_names(pro0: Pro0, team: Context, tmp_path: Path) -> None:
    """What the file names may be a person's private file."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    team.team.paths.log("w1").write_text("mine\n")
    _shows(team, secret)
    assert pro0("member", "peek", "w1").out == "mine\n"
    assert attaching.command(team.team) == ("pro0", "team", "attach", "alpha")


def _shows(team: Context, log: Path) -> None:
    with team.team.runtime.change("test") as change:
        first, *others = change.value.seats
        handle = Handle(backend="headless", incarnation=first.incarnation, log=str(log))
        change.value = replace(change.value, seats=(replace(first, handle=handle), *others))


WAITS = [
    pytest.param([], 0, id="nothing to do"),
    pytest.param(["create a", "claim 1", "complete 1"], 0, id="all completed"),
    pytest.param(["create a", "cancel 1"], 0, id="all cancelled"),
    pytest.param(["create a", "claim 1", "fail 1 broken"], 1, id="one failed"),
    pytest.param(["create a", "create b --blocked-by 1", "claim 1", "fail 1 broken"], 1, id="one blocked by that"),
    pytest.param(["create a"], 4, id="nobody takes it: no command in it"),
    pytest.param(["create a", "claim 1"], 124, id="somebody works"),
    pytest.param(["create a --run true"], 124, id="a living member could take it"),
]


@pytest.mark.parametrize(("acts", "code"), WAITS)
def test_the_ends_of_a_wait(acts: list[str], code: int, pro0: Pro0, team: Context) -> None:
    """rulings 3.19"""
    for act in acts:
        assert pro0("task", *act.split()).code == 0
    called = pro0("team", "wait", "--timeout", "0.3")
    assert called.code == code, called
    told = pro0("team", "wait", "--timeout", "0", "--json")
    assert told.code == code
    look = json.loads(told.out)
    assert set(look) == {"moving", "outcome", "counts", "left", "needs"}
    if code in (1, 4):
        assert "task-1" in called.out
        assert look["left"]
        assert look["needs"], "a person can end every standstill"
        assert look["needs"] == json.loads(pro0("needs", "--json").out)
        assert all(need["command"] in called.out for need in look["needs"])
        above = called.out.partition("needs you")[0]
        assert not any(f"  {need['subject']} " in above for need in look["needs"]), "each is said once"


def test_tasks_that_share_a_need_are_said_once(pro0: Pro0, team: Context) -> None:
    for title in "abcde":
        pro0("task", "create", title)
    above, _, below = pro0("team", "wait").out.partition("needs you\n")
    assert "task-1, task-2, task-3 and 2 more: ready, but" in below
    assert [line.split()[0] for line in above.splitlines()[1:]] == ["task-4", "task-5"], "these, no need names"


def test_logs_merge_what_people_and_the_lead_did(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one")
    lead = team.team.paths.logs / "lead.jsonl"
    lead.write_text(
        '{"at":"2001-01-01T00:00:00.000Z","pid":7,"event":"began"}\nno json\n{"at":"9","event":"\\u001b[2J"}\n'
    )
    lines = pro0("team", "logs").out.splitlines()
    assert "began" in lines[0]
    assert "2001" in lines[0]
    assert any("task.create" in line and "human" in line for line in lines)
    assert "\\x1b[2J" in lines[-1]
    assert len(pro0("team", "logs", "-n", "2").out.splitlines()) == 2
    objects = [json.loads(line) for line in pro0("team", "logs", "--json").out.splitlines()]
    assert objects[0]["event"] == "began"
    assert pro0("team", "logs", "-n", "0").out == ""
    assert pro0("events", "--json").out == pro0("team", "logs", "--json").out


def test_a_member_neither_starts_nor_removes_teams(
    pro0: Pro0, home: Path, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-67 S004-082"""
    become(monkeypatch, team, "w1")
    before = tree(home)
    for command in (
        "team start beta --detach --mode headless",
        "team cleanup alpha --force",
        "team stop",
        "team resume",
    ):
        called = pro0(*command.split())
        assert called.code == 4, called
    for command in ("member spawn w9", "member shutdown w2", "team pause", "member env w2"):
        assert pro0(*command.split()).code == 4
    assert tree(home) == before


def test_a_name_that_is_taken(pro0: Pro0, home: Path, team: Context, tmp_path: Path) -> None:
    """AC-67; rulings 3.1: a name belongs to one project."""
    before = tree(home)
    assert pro0("team", "start", "alpha", "--mode", "headless").code == 4
    make(home, "beta", tmp_path / "elsewhere")
    other = pro0("team", "start", "beta", "--mode", "headless")
    assert other.code == 4
    assert "elsewhere" in other.err
    assert tree(home) != before


def test_a_second_member_of_a_name(pro0: Pro0, home: Path, team: Context) -> None:
    """AC-67 AC-71"""
    before = tree(home)
    for name in ("w1", "W1"):
        assert pro0("member", "spawn", name).code == 4
    assert pro0("member", "spawn", "w9", "--agent", "nobody").code == 2
    assert pro0("member", "spawn", "w9", "--agent", "shell", "--", "ls").code == 2
    assert tree(home) == before


def test_nothing_to_clean(pro0: Pro0, home: Path) -> None:
    """Must show 6: cleaning what is not there is exit 0."""
    called = pro0("team", "cleanup", "alpha")
    assert (called.code, called.out) == (0, "nothing to clean: there is no team alpha\n")
    assert not home.exists()


def test_settings_and_their_sources(pro0: Pro0, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".pro0").mkdir()
    (project / ".pro0" / "config.yaml").write_text("maxTeammates: 3\n")
    monkeypatch.setenv("PRO0_TEAMMATE_MODE", "headless")
    chosen = {row["name"]: row for row in json.loads(pro0("config", "--json").out)}
    assert chosen["maxTeammates"]["value"] == 3
    assert chosen["maxTeammates"]["source"].endswith("config.yaml")
    assert chosen["teammateMode"] == {"name": "teammateMode", "value": "headless", "source": "PRO0_TEAMMATE_MODE"}
    assert pro0("config", "get", "maxTeammates").out == "3\n"
    assert pro0("config", "get", "enabled").out == "true\n"
    assert "pollIntervalMs" in pro0("config").out
    assert not home.exists()
    assert settings.config.name == "config"


def test_doctor_on_a_healthy_store(pro0: Pro0, home: Path, team: Context) -> None:
    called = pro0("doctor", "--json")
    assert called.code == 0
    said = json.loads(called.out)
    assert said["repaired"] == []
    assert {"name", "state", "what", "mend"} == set(said["checks"][0])
    assert {check["state"] for check in said["checks"]} <= {"ok", "warn"}
    names = {"python", "tmux", "git", "agent shell", "home", "flock", "space", "modes", "locks", "team alpha"}
    assert names <= {check["name"] for check in said["checks"]}


def test_doctor_names_what_is_wrong_and_its_mend(pro0: Pro0, home: Path, team: Context) -> None:
    """F12, AC-65: what is on disk is looked at, all of it."""
    home.chmod(0o755)
    (home / "teams" / ".trash-old.1").mkdir()
    (home / "tasks" / "ghost").mkdir()
    with team.team.runtime.change("test") as change:
        first, *others = change.value.seats
        gone = Process(pid=2**22 - 1, start="1", boot_id="x")
        change.value = replace(change.value, seats=(replace(first, guard=gone), *others))
    shown = pro0("doctor")
    assert shown.code == 0, "warnings are no failure"
    for part in (
        "0755",
        "chmod 700",
        ".trash-old.1",
        "ghost",
        "its lead is gone",
        "pro0 team resume -t alpha",
        "w1 is",
    ):
        assert part in shown.out
    team.team.mailbox("w2").head.path.write_bytes(b"{")
    assert pro0("doctor").code == 1


def test_doctor_names_a_dependency_that_is_gone(pro0: Pro0, team: Context) -> None:
    """AC-18"""
    pro0("task", "create", "one")
    with team.team.tasks.change("test") as change:
        task = replace(change.value.tasks[0], dependencies=("task-9",))
        change.value = replace(change.value, tasks=(task,))
    assert "pro0 task update task-1 --drop-dependency task-9" in pro0("doctor").out


def test_doctor_names_a_bad_setting(pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRO0_MAX_TEAMMATES", "many")
    called = pro0("doctor")
    assert called.code == 1
    assert "maxTeammates" in called.out


def test_doctor_without_tmux_and_git(pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    checks = {check["name"]: check for check in json.loads(pro0("doctor", "--json").out)["checks"]}
    assert checks["tmux"]["state"] == checks["git"]["state"] == "warn"
    assert "install tmux" in checks["tmux"]["mend"]


def test_pages(pro0: Pro0, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pro0.1").write_text('.TH "PRO0"\n.SH NAME\npro0 \\- Run a team\n.SH SYNOPSIS\n.B pro0\n[OPTIONS]\n')
    (tmp_path / "pro0-task-create.1").write_text(
        ".SH NAME\npro0\\-task\\-create\n.nf\npro0 task create \\-\\-run\n.fi\n"
    )
    monkeypatch.setattr("pro0.resources.data", lambda _name: tmp_path)
    assert pro0("man").out == "NAME\n  pro0 - Run a team\n\nSYNOPSIS\n  pro0\n  [OPTIONS]\n"
    assert "pro0 task create --run" in pro0("man", "task", "create").out
    assert "pro0 task create --run" in pro0("man", "pro0", "task create").out
    for words in (["nothing"], ["../etc"], ["task", "../x"]):
        assert pro0("man", *words).code == 3
    monkeypatch.setattr("pro0.resources.data", lambda _name: tmp_path / "none")
    assert pro0("man").code == 6


@pytest.mark.parametrize(
    ("of_team", "hint"),
    [(False, "rename the program pro0 team logs -t alpha"), (True, "once that is fixed, start alpha again")],
)
def test_a_start_of_which_nothing_lives_is_undone(
    of_team: bool, hint: str, pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rulings 3.3: a failed step is named, and what was made is taken away again. So is a hint that needs the team."""

    def fails(*_: object) -> bool:
        hint = "rename the program pro0 team logs -t alpha"  # its words alone tell nothing
        raise EnvironmentMissing("the lead of alpha ended at once", hint=hint, of_team=of_team)

    monkeypatch.setattr("pro0.engine.opening.launch.ensure_lead", fails)
    called = pro0("team", "start", "alpha", "--mode", "headless", "-m", "w1=shell", "--task", "one")
    assert called.code == 6, called
    assert "was removed again" in called.err
    assert called.err.splitlines()[-2:] == ["pro0: the lead of alpha ended at once", f"hint: {hint}"]
    assert not list(home.rglob("*alpha*"))


@pytest.mark.parametrize("given", [("task", "create", "two"), ("send", "w1", "hello"), ("broadcast", "hello")])
def test_what_a_team_was_given_while_it_started_outlives_a_start_that_fails(
    given: tuple[str, ...], pro0: Pro0, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No acknowledged task or message is lost: a set-up may take minutes before it fails."""

    def fails(*_: object) -> bool:
        assert pro0(*given, "-t", "alpha").code == 0
        raise EnvironmentMissing("the lead of alpha ended at once")

    monkeypatch.setattr("pro0.engine.opening.launch.ensure_lead", fails)
    called = pro0("team", "start", "alpha", "--mode", "headless", "-m", "w1=shell", "--task", "one")
    assert called.code == 6, called
    assert (
        "the team is kept, because it received tasks or messages while it started: pro0 team status -t alpha"
        in called.err
    )
    titles = {task["title"] for task in json.loads(pro0("task", "list", "-t", "alpha", "--json").out)}
    assert titles == ({"one", "two"} if "two" in given else {"one"})


@pytest.mark.parametrize("given", [("task", "create", "two"), ("send", "w1", "hello")])
def test_what_a_team_was_given_while_it_was_removed_again_outlives_that_too(
    given: tuple[str, ...], pro0: Pro0, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last look and the removal are under the locks that give tasks and messages."""
    before, late = checkouts.unmerged, list[int]()

    def fails(*_: object) -> bool:
        raise EnvironmentMissing("the lead of alpha ended at once")

    def slow(*arguments: Any) -> list[str]:
        late.append(pro0(*given, "-t", "alpha").code)
        return before(*arguments)

    monkeypatch.setattr("pro0.engine.opening.launch.ensure_lead", fails)
    monkeypatch.setattr(checkouts, "unmerged", slow)
    called = pro0("team", "start", "alpha", "--mode", "headless", "-m", "w1=shell")
    assert (called.code, late) == (6, [0]), called
    assert "the team is kept, because it received tasks or messages" in called.err
    assert "removed" not in called.err
    assert pro0("team", "status", "-t", "alpha").code == 0


def test_nobody_is_told_that_a_team_has_a_task_while_it_is_removed(
    pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A team that holds nothing is removed without an archive; a task given meanwhile is refused, not lost."""
    giving, codes, before = list[Thread](), list[int](), Store.discard

    def slow(store: Store, *arguments: Any, **options: Any) -> None:
        giving.append(Thread(target=lambda: codes.append(refused(lambda: tasks.create(team, [Draft(title="late")])))))
        giving[0].start()
        giving[0].join(0.5)
        before(store, *arguments, **options)

    monkeypatch.setattr(Store, "discard", slow)
    assert pro0("team", "cleanup", "alpha", "--force").code == 0
    giving[0].join(30)
    assert codes == [3]


def refused(act: Callable[[], object]) -> int:
    """Return the exit code of what an act raises, 0 for nothing."""
    try:
        act()
    except Pro0Error as error:
        return error.exit_code
    return 0


@pytest.mark.parametrize("mode", ["in-process", "tmux"])
@pytest.mark.parametrize("kind", ["dumb", ""])
def test_a_terminal_that_cannot_draw_is_said_to(
    kind: str, mode: str, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shell of an editor the view would be a heap of sequences, and tmux says what no person understands."""
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(attaching, "command", lambda _team: ("tmux", "attach-session"))
    with team.team.config.change("test") as config:
        config.value = replace(config.value, mode=mode)
    with pytest.raises(EnvironmentMissing, match="TERM is dumb, or not set") as missing:
        attaching.show(team)
    assert "pro0 team status -t alpha --watch" in (missing.value.hint or "")


def test_a_switch_inside_tmux_needs_no_terminal_that_draws(team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    switch, become = ("tmux", "switch-client"), list[tuple[str, ...]]()
    monkeypatch.setattr(attaching, "command", lambda _team: switch)
    monkeypatch.setattr(attaching, "execute", become.append)
    with team.team.config.change("test") as config:
        config.value = replace(config.value, mode="tmux")
    attaching.show(team)
    assert become == [switch]
