"""The official SDK's client drives every tool of both families, against a real team, in both eras (show 7)."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from pro0.config import USER_FILE
from pro0.engine.cleanup import cleanup
from pro0.mcp.tools.table import TOOLS
from pro0.model.caller import Who
from pro0.model.team import PlanGate
from pro0.store.teams import Store
from tests.mcp.clients import ERAS, Caller, client
from tests.repositories import repository_in
from tests.teams import granted
from tests.waiting import STUCK, wait_until

PATIENCE = STUCK


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which the person's agent works; whatever team is left in it is ended."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_PLAN_APPROVAL", "lead")
    folder = tmp_path / "project"
    folder.mkdir()
    repository_in(folder)
    yield folder
    for name in Store(home).names():
        cleanup(Store(home), name, force=True, show=print)


def identity(home: Path, agent_id: str) -> dict[str, str]:
    """What lets a program act as a member's session."""
    return granted(Store(home).team("alpha"), agent_id)


def sessions(home: Path) -> dict[str, str]:
    """The present incarnation of every member."""
    return {seat.agent_id: seat.incarnation for seat in Store(home).team("alpha").runtime.read().seats}


def hold(home: Path, agent_id: str) -> None:
    """Stop a shell agent, so that the test alone speaks for its session."""
    seats = Store(home).team("alpha").runtime.read().seats
    agent = next(seat.agent for seat in seats if seat.agent_id == agent_id)
    assert agent
    os.kill(agent.pid, signal.SIGSTOP)


@pytest.mark.parametrize("era", ERAS)
def test_a_team_from_the_first_tool_to_the_last(home: Path, project: Path, era: str) -> None:
    """S004-044 to 055, S000-091 to 101, S003-018 to 021, rulings 3.15 and 3.16."""

    async def story() -> None:
        async with client(project, era) as lead:
            await _begin(lead)
            hold(home, "w1")
            async with client(project, era, **identity(home, "w1")) as w1:
                assert await w1.tools() == names(Who.MEMBER)
                await _work(lead, w1)
                hold(home, "second-worker")
                async with client(project, era, **identity(home, "second-worker")) as w2:
                    await _plan(home, lead, w1, w2)
                async with anyio.create_task_group() as group:
                    group.start_soon(_let_go, lead)
                    await _answer(home, w1)
                assert w1.used == names(Who.MEMBER)  # its server has ended with its session
            await _delegate(lead, project)
            await _end(lead)
            assert lead.used == await lead.tools() == names(Who.OUTSIDE)

    anyio.run(story)
    assert Store(home).names() == []


def names(who: Who) -> set[str]:
    return {name for name, tool in TOOLS.items() if who in tool.callers}


async def _begin(lead: Caller) -> None:
    assert await lead.refused("list_tasks") == "no_team"
    made = await lead("create_team", name="alpha")
    assert (made["name"], made["phase"]) == ("alpha", "running")
    assert await lead.refused("create_team", name="beta") == "conflict"
    first = await lead("create_task", title="parser", description="write it", acceptance="it parses", priority=0)
    assert (first["id"], first["status"], first["note"]) == ("task-1", "pending", "ready")
    second = await lead("create_task", title="tests", dependencies=["task-1"])
    assert second["note"] == "is blocked: task-1 is pending"
    w1 = await lead("spawn_teammate", name="w1", todo_id="1")
    assert (w1["agentId"], w1["agent"], w1["state"]) == ("w1", "shell", "idle")
    w2 = await lead("spawn_teammate", name="Second Worker", category="tester", task="look around\nand tell")
    assert (w2["agentId"], w2["category"]) == ("second-worker", "tester")
    listed = {task["id"]: task for task in (await lead("list_tasks"))["tasks"]}
    assert (listed["task-1"]["assignee"], listed["task-3"]["assignee"]) == ("w1", "second-worker")
    assert listed["task-3"]["title"] == "look around"
    needs = [(need["kind"], need["subject"]) for need in (await lead("list_needs"))["needs"]]
    assert needs == [("untaken", "task-1"), ("untaken", "task-3")], "shells take only tasks with a command"
    assert [member["agentId"] for member in (await lead("list_teammates"))["members"]] == ["w1", "second-worker"]


async def _work(lead: Caller, w1: Caller) -> None:
    await _mail(lead, w1)
    assert [m["agentId"] for m in (await w1("get_team_members"))["members"]] == ["w1", "second-worker"]
    assert [task["id"] for task in (await w1("get_claimable_tasks"))["tasks"]] == ["task-1"]
    taken = await w1("claim_task", task_id="1")
    assert (taken["status"], taken["claimedBy"], taken["acceptance"]) == ("in_progress", "w1", "it parses")
    assert await lead.refused("claim_task", task_id="1") == "conflict"
    assert (await w1("list_tasks", status="in_progress"))["tasks"][0]["id"] == "task-1"
    assert (await w1("release_task", task_id="1", reason="first something else"))["status"] == "pending"
    await w1("claim_task", task_id="1")
    done = await w1("complete_task", task_id="1", result="it parses all")
    assert (done["status"], (await lead("task_get", task_id="2"))["note"]) == ("completed", "ready")
    for family in ("task", "ticket"):
        await _family(w1, family)
        await _family(lead, family)
    for who in (w1, lead):
        assert "engineer" in [role["id"] for role in (await who("role_list"))["roles"]]
    assert await w1.refused("update_task", task_id="2", title="no") == "not_allowed"
    assert await w1.refused("submit_plan", plan="first this") == "no_plan_required"
    w1.used.add("update_task")  # below a supervised task it may
    await _lead_alone(lead)


async def _plan(home: Path, lead: Caller, w1: Caller, w2: Caller) -> None:
    """A plan is handed in, and rejected; the other member's is approved, which ends the session that made it."""
    assert await w1.refused("submit_plan", plan="first this") == "no_plan_required"
    gate = await _handed_in(home, lead, w1, "w1")
    assert await lead.refused("approve_plan", teammate_name="w1", plan_id="0" * 12) == "stale_plan"
    rejected = await lead("reject_plan", teammate_name="w1", plan_id=gate, feedback="smaller")
    assert rejected["plan"] == "rejected"
    got = (await w1("check_messages"))["messages"]
    assert [message["type"] for message in got if "smaller" in message["content"]] == ["plan_approval_response"]
    before = sessions(home)["second-worker"]
    gate = await _handed_in(home, lead, w2, "second-worker")
    approved = await lead("approve_plan", teammate_name="second-worker", plan_id=gate)
    assert approved["plan"] == "approved"

    def renewed() -> bool:
        return sessions(home)["second-worker"] != before

    await anyio.to_thread.run_sync(lambda: wait_until(renewed, PATIENCE, "it goes on in a new session"))


async def _handed_in(home: Path, lead: Caller, member: Caller, name: str) -> str:
    """Let a member hand a plan in that was asked of it; return the plan's id, as the lead agent is told it."""
    wanted = Store(home).team("alpha").wanted
    with wanted.change("ask for a plan") as change:
        seats = [replace(seat, gate=PlanGate()) if seat.agent_id == name else seat for seat in change.value.seats]
        change.value = replace(change.value, seats=tuple(seats))
    await member("submit_plan", plan="first this")
    got = (await lead("check_messages"))["messages"]
    [asked] = [message for message in got if message["type"] == "plan_approval_request"]
    assert asked["from"] == name
    [gate] = [seat.gate for seat in wanted.read().seats if seat.agent_id == name]
    assert gate
    assert gate.id in asked["content"]
    return gate.id


async def _mail(lead: Caller, w1: Caller) -> None:
    assert (await lead("message_teammate", teammate_name="W1", message="hello"))["sentTo"] == ["w1"]
    assert (await lead("broadcast", message="to all"))["sentTo"] == ["w1", "second-worker"]
    got = (await w1("check_messages"))["messages"]
    assert [(m["from"], m["type"], m["content"]) for m in got][-2:] == [
        ("lead", "message", "hello"),
        ("lead", "broadcast", "to all"),
    ]
    assert (await w1("check_messages"))["messages"] == []
    assert (await w1("message", to="lead", content="here I am"))["sentTo"] == ["lead"]
    assert (await w1("broadcast", message="I am here"))["sentTo"] == ["second-worker"]
    assert "here I am" in [message["content"] for message in (await lead("check_messages"))["messages"]]
    assert await w1.refused("message", to="nobody", content="x") == "not_found"
    assert await w1.refused("message", to="lead", content=" ") == "bad_input"


async def _family(who: Caller, family: str) -> None:
    """What an agent does with tasks of its own, in the words of one family."""
    id = f"{family}_id"
    made = [await who(f"{family}_create", title=f"{family} {number}", description="do it") for number in range(2)]
    assert {task["status"] for task in made} == {"open"}
    one, two = (task["id"] for task in made)
    assert {one, two} <= {task["id"] for task in (await who(f"{family}_list"))["tasks"]}
    assert (await who(f"{family}_get", **{id: one}))["description"] == "do it"
    assert await who.refused(f"{family}_mark_done", **{id: one}) in ("wrong_phase", "stale_claim", "not_owner")
    await who("claim_task", task_id=one)
    said = await who(f"{family}_comment_create", content="half done")
    assert said["taskId"] == one
    comments = (await who(f"{family}_comment_list", **{id: one}))["comments"]
    assert comments[-1]["text"] == "half done"
    assert (await who(f"{family}_mark_done", result="done"))["status"] == "closed"
    assert await who.refused(f"{family}_mark_done") == "bad_input"
    await who("claim_task", task_id=two)
    handed = await who(f"{family}_request_review", reason="which of both?", awaiting="input")
    assert (handed["status"], handed["note"]) == ("needs_review", "is awaiting a human (input: which of both?)")
    three = (await who(f"{family}_create", title="three", description="", priority=0))["id"]
    assert (await who(f"{family}_get", **{id: three}))["priority"] == 0
    await who("claim_task", task_id=three)
    assert (await who(f"{family}_mark_failed", error="it cannot be done"))["status"] == "failed"


async def _lead_alone(lead: Caller) -> None:
    """What only who leads may do."""
    made = await lead("create_task", title="one more", run="make all")
    assert made["note"] == "is awaiting a human (escalation: agent-made command)"
    changed = await lead("update_task", task_id=made["id"], title="changed", priority=7)
    assert (changed["title"], changed["priority"]) == ("changed", 7)
    failed = (await lead("list_tasks", status="failed"))["tasks"][0]["id"]
    assert (await lead("retry_task", task_id=failed, reason="try it otherwise"))["status"] == "pending"
    assert (await lead("assign_task", task_id="2", teammate_name="w1"))["assignee"] == "w1"
    assert "assignee" not in await lead("assign_task", task_id="2")
    assert (await lead("cancel_task", task_id="2", reason="not needed"))["status"] == "cancelled"
    assert [task["id"] for task in (await lead("get_claimable_tasks"))["tasks"]] == [failed]
    taken = await lead("create_task", title="by myself")
    await lead("claim_task", task_id=taken["id"])
    assert (await lead("release_task", task_id=taken["id"]))["status"] == "pending"
    await lead("claim_task", task_id=taken["id"])
    await lead("complete_task", task_id=taken["id"], result="done")
    assert await lead.refused("cleanup_team") == "live_sessions"
    assert await lead.refused("approve_shutdown") == "not_found"


async def _let_go(lead: Caller) -> None:
    ended = await lead("shutdown_teammate", teammate_name="w1", reason="enough")
    assert ended["state"] == "shutdown"


async def _answer(home: Path, w1: Caller) -> None:
    """Say "not yet", then yes; the session's own end ends nothing here."""

    def asked() -> bool:
        return any(seat.shutdown for seat in Store(home).team("alpha").wanted.read().seats)

    await anyio.to_thread.run_sync(lambda: wait_until(asked, PATIENCE, "w1 is asked to end"))
    assert "not yet" in (await w1("reject_shutdown", reason="one moment"))["answered"]
    await w1("approve_shutdown")


async def _delegate(lead: Caller, project: Path) -> None:
    """S002-009: a worker that leaves a file, and one that is ended."""
    writes = """echo 1 > new; pro0 task complete "$PRO0_TASK_ID" 'a new file'"""
    agents = {"writes": {"argv": ["sh", "-c", writes]}, "hangs": {"argv": ["sleep", "300"]}}
    (Path(os.environ["PRO0_HOME"]) / USER_FILE).write_text(json.dumps({"agents": agents}))
    [first] = (await lead("delegate_tasks", tasks=["write a file"], agent="writes"))["workers"]
    [second] = (await lead("delegate_tasks", tasks=["hang"], agent="hangs", shared=True))["workers"]
    with anyio.fail_after(PATIENCE):
        while (await lead.client.call_tool("merge_worker", {"worker": first["task"]})).is_error:
            await anyio.sleep(0.1)
        lead.used.add("merge_worker")
        while [one["stage"] for one in (await lead("list_workers"))["workers"]] != ["working"]:
            await anyio.sleep(0.1)
    assert (project / "new").read_text() == "1\n"
    assert (await lead("kill_worker", worker=second["task"]))["stage"] == "failed"
    assert await lead.refused("merge_worker", worker=second["task"]) == "not_found"


async def _end(lead: Caller) -> None:
    assert (await lead("stop_team", reason="all is done"))["phase"] == "stopped"
    assert await lead.refused("spawn_teammate", name="late") == "stopping"
    answered = (await lead("cleanup_team"))["answered"]
    assert "removed" in answered
    assert "--archived" in answered, "the agent learns what is kept, for the person"
    lead.used |= {"approve_shutdown", "reject_shutdown"}  # who has no session is never asked to end it
