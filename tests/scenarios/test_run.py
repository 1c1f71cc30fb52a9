"""`pro0 run`: an agent does one task after the other, and never waits for a person (S001; rulings 2, Policies: run)."""

import json
import signal
import sys

import pytest

from tests.engine.crew import PATIENCE
from tests.scenarios.runs import DONE, FEEDBACK, PROGRAM, Terminal, below, hands_off
from tests.waiting import wait_until


def test_seven_tasks_are_handed_over_and_back_while_the_run_goes_on(alone: Terminal) -> None:
    """AC-30, AC-31, AC-34, must show 2; S001-026 to S001-039: the person answers in a second terminal"""
    one, two, three, four = (alone.create(f"t{number}", "--parent", "1") for number in (1, 2, 3, 4))
    five = alone.create("t5", "--parent", "1", "--awaiting", "work")
    six = alone.create("t6", "--parent", "1", "--blocked-by", five)
    seven = alone.create("t7", "--parent", "1", "--requires", "approval")
    alone.script(
        task_3=[hands_off("APPROVAL_NEEDED", "two tests are new"), DONE],
        task_4=[hands_off("REVIEW_REQUESTED", "https://example.org/pull/7")],
        task_5=[hands_off("CONTENT_REVIEW")],
    )
    run = alone.run("1", "--auto", "--debounce", "0.2")
    alone.says(run, "no task is ready")
    assert alone.ran() == [one, two, three, four, seven]
    expected = ["completed", "awaiting approval", "awaiting review", "awaiting content", "awaiting work", "pending"]
    assert [alone.status(id) for id in (one, two, three, four, five, six)] == expected
    assert alone.status(seven) == "awaiting approval", "a gate that was declared before (AC-05)"

    alone.pro0("task", "comment", two, "the branch is feature-2", "--from", "agent")
    alone.pro0("task", "reject", two, "Needs more tests")
    alone.becomes(two, "completed")
    assert len(alone.prompts(two)) == 2
    assert FEEDBACK not in alone.prompts(two)[0]
    feedback = below(alone.prompts(two)[1], FEEDBACK)
    assert "Needs more tests" in feedback
    assert "feature-2" not in feedback
    assert 'rejected the APPROVAL "two tests are new": change what they object to' in feedback
    assert "feature-2" in below(alone.prompts(two)[1], "## Notes")

    alone.pro0("task", "approve", five)
    alone.becomes(six, "completed")
    assert run.poll() is None, "it goes on while anything waits"
    for id in (three, four, seven):
        alone.pro0("task", "approve", id)
    assert "all tasks completed" in alone.over(run)
    assert alone.status("task-1") == "completed"
    assert alone.ran() == [one, two, three, four, seven, two, six]
    assert five not in alone.ran()
    alone.nothing_runs()


def test_what_a_person_adds_to_a_rejection_is_in_the_prompt_too(alone: Terminal) -> None:
    """AC-35, S001-179: a task is left alone for a while after a change"""
    first = alone.create("t1", "--parent", "1")
    alone.script(task_2=[hands_off("APPROVAL_NEEDED"), DONE])
    run = alone.run("1", "--auto", "--debounce", "20")
    alone.becomes(first, "awaiting approval")
    alone.pro0("task", "reject", first, "Needs more tests")
    alone.pro0("task", "comment", first, "of the errors above all")
    alone.over(run)
    feedback = below(alone.prompts(first)[1], FEEDBACK)
    assert "Needs more tests" in feedback
    assert "of the errors above all" in feedback


def test_without_auto_it_ends_when_nothing_is_ready(alone: Terminal) -> None:
    """AC-29, S001-173: what waits for a person is no error"""
    first, second = (alone.create(f"t{number}", "--parent", "1") for number in (1, 2))
    alone.script(task_2=[hands_off("INPUT_NEEDED", "which colour?\nred or blue")])
    said = alone.over(alone.run("1"))
    assert f"for you: {first} (input: which colour?" in said
    assert [alone.status(first), alone.status(second)] == ["awaiting input", "completed"]
    assert (wait := alone.task(first).waits)
    assert wait.reason == "which colour?\nred or blue", "several lines are kept whole (AC-26)"


def test_signals_that_are_only_talked_about_are_none_and_it_gets_stuck(alone: Terminal) -> None:
    """AC-27, AC-33: two turns without a signal, then a person decides; other tasks are untouched"""
    first, second = (alone.create(f"t{number}", "--parent", "1") for number in (1, 2))
    alone.script(task_2=["```\n<promise>COMPLETE</promise>\n```", "I would emit <promise>COMPLETE</promise> now, but"])
    said = alone.over(alone.run("1", "--max-iterations", "2"), code=1)
    assert f"stuck on {first} after 2 iterations" in said
    assert [alone.status(first), alone.status(second)] == ["awaiting escalation", "pending"]
    assert "This is turn 2" in alone.prompts(first)[1]
    assert alone.ran() == [first, first]


def test_an_agent_that_fails_ends_the_run_and_with_auto_only_its_task(alone: Terminal) -> None:
    """AC-32: the task is given back with the reason; with --auto it is failed, and the run goes on"""
    first, second = (alone.create(f"t{number}", "--parent", "1") for number in (1, 2))
    alone.script(task_2=[{"run": "echo no money left >&2", "exit": 3}])
    said = alone.over(alone.run("1"), code=1)
    assert f"the agent failed: exit code 3: no money left ({first})" in said
    assert (alone.status(first), alone.ran()) == ("pending", [first])
    said = alone.over(alone.run("1", "--auto"), code=1)
    assert f"failed: {first}" in said
    assert [alone.status(first), alone.status(second)] == ["failed", "completed"]
    assert "exit code 3: no money left" in alone.task(first).closed_reason


def test_a_provider_that_has_enough_is_waited_for(alone: Terminal) -> None:
    """rulings 2, Policies: run; with --auto no task is lost to a limit, as no start of a member is"""
    first = alone.create("t1", "--parent", "1")
    limited = {"run": "echo 429 too many requests, retry after 1 s >&2", "exit": 1}
    alone.script(task_2=[limited, limited, limited, limited, DONE])
    said = alone.over(alone.run("1", "--auto", "--debounce", "0"))
    assert "command is rate-limited until" in said
    assert (alone.status(first), alone.ran()) == ("completed", [first] * 5)


def test_a_turn_over_its_limit_fails_the_task_with_the_end_of_its_output(alone: Terminal) -> None:
    """AC-38, S001: what hangs is ended with all that it started"""
    first = alone.create("t1", "--parent", "1", "--timeout", "1")
    alone.script(task_2=[{"run": "echo still building; sleep 600 & echo the last line", "hang": True}])
    alone.over(alone.run("1"), code=1)
    assert alone.task(first).closed_reason == "over its limit of 1 s: the last line"
    alone.nothing_runs()


def test_an_interruption_gives_the_task_back_and_leaves_nothing(alone: Terminal) -> None:
    """AC-38: also when the agent is deaf"""
    first = alone.create("t1", "--parent", "1")
    alone.script(others=[{"deaf": True}])
    run = alone.run("1")
    wait_until(lambda: alone.ran() == [first], PATIENCE, "the agent works")
    run.send_signal(signal.SIGINT)
    alone.over(run, code=130)
    alone.becomes(first, "pending")
    alone.nothing_runs()


def test_the_agent_may_say_it_by_command_too(alone: Terminal) -> None:
    """rulings 2, Signals: who has called `complete` means the same; a verdict is no agent's (AC-10)"""
    first, second = (alone.create(f"t{number}", "--parent", "1") for number in (1, 2))
    alone.script(
        task_2=[{"run": f'pro0 task complete {first} "by command"', "say": "no signal"}],
        task_3=[{"run": f"pro0 task hand-off {second} || pro0 task approve {second}", "say": DONE}],
    )
    alone.over(alone.run("1"))
    assert [alone.status(first), alone.status(second)] == ["completed", "completed"]
    assert alone.task(first).result == "by command"
    assert not [entry for entry in alone.task(second).history if entry.act == "approve"]


def test_a_check_that_says_no_is_told_to_the_agent_which_goes_on(alone: Terminal) -> None:
    """must show 8: a hook on TaskCompleted, exit 2; the task stays in progress until it agrees"""
    first = alone.create("t1", "--parent", "1")
    hook = f"test -e {alone.folder}/tested || {{ touch {alone.folder}/tested; echo two tests fail >&2; exit 2; }}"
    (alone.home / "config.yaml").write_text(json.dumps({"verdicts": "scripts", "hooks": {"TaskCompleted": hook}}))
    said = alone.over(alone.run("1"))
    assert "the hook 'test -e " in said
    assert "but the hook 'test -e " in alone.prompts(first)[1]
    assert "two tests fail" in alone.prompts(first)[1]
    assert alone.status(first) == "completed"


def test_on_a_terminal_it_is_drawn_in_place(alone: Terminal) -> None:
    """build 3: a live view; --headless prints plain lines there too (S001-161, S001-167)"""
    for number in (1, 2):
        alone.create(f"t{number}", "--parent", "1")
    drawn = alone.seen("run", "1")
    assert "task-1: 2 of 2 tasks are over, cost unknown, so --max-cost has no effect" in drawn
    assert "\x1b[" in drawn
    other = alone.create("other", "--type", "epic")
    asked = alone.create("t3", "--parent", other, "--awaiting", "work")
    plain = alone.seen("run", other, "--headless")
    assert f"for you: {asked} (work)" in plain
    assert "\x1b[" not in plain.replace("\x1b[K", "")


def test_two_runs_share_an_epic_and_no_task_is_run_twice(alone: Terminal) -> None:
    """AC-40"""
    made = [alone.create(f"t{number}", "--parent", "1") for number in range(6)]
    alone.script(others=[{"until": "go", "say": DONE}])
    both = [alone.run("1", "--auto") for _ in range(2)]
    for run in both:
        alone.says(run, "begins")
    (alone.folder / "go").touch()
    for run in both:
        alone.over(run)
    assert sorted(alone.ran()) == made
    assert {alone.task(id).assignee for id in made} == {"runner", "runner-2"}


def test_it_waits_no_longer_for_work_than_it_is_told(alone: Terminal) -> None:
    """AC-36: and that is no error"""
    alone.create("t1", "--parent", "1", "--awaiting", "work")
    assert "nothing new in 0.5 s" in alone.over(alone.run("1", "--auto", "--timeout", "0.5"))
    assert "runner has stopped: nothing new in 0.5 s" in alone.pro0("inbox").out, "who is elsewhere hears of it too"


def test_a_project_without_a_team_gets_one_and_the_order_is_epics_first(terminal: Terminal) -> None:
    """AC-37, S001-182 to S001-186: rulings 3.1; the team stays"""
    said = terminal.over(terminal.run())
    assert "team project in" in said
    assert "no tasks found" in said
    assert "running the epics of the team with " in said
    assert "running the epics, single tasks and orphans of the team with " in terminal.over(terminal.run("--all"))
    alone = terminal.create("alone", "--priority", "0")
    epic = terminal.create("epic", "--type", "epic")
    part = terminal.create("part", "--parent", epic)
    assert "all tasks completed" in terminal.over(terminal.run())
    assert terminal.ran() == [part]
    terminal.over(terminal.run("--all", "--json"))
    assert terminal.ran() == [part, alone]
    events = [json.loads(line) for line in terminal.said(terminal.runs[-1]).splitlines() if line.startswith("{")]
    assert [event["event"] for event in events] == ["begin", "turn", "end", "over"]
    assert events[-1]["code"] == 0


def test_the_shell_agent_runs_the_commands_of_tasks(alone: Terminal) -> None:
    good = alone.create("good", "--parent", "1", "--run", "echo it is built")
    bad = alone.create("bad", "--parent", "1", "--run", "echo no rule; exit 2")
    alone.create("without", "--parent", "1")
    alone.over(alone.run("1", "--agent", "shell", program=False), code=1)
    assert alone.task(good).result == "it is built"
    assert alone.task(bad).closed_reason == "exit code 2: no rule"


def test_what_cannot_be_run_is_said_before_anything_is_started(alone: Terminal) -> None:
    """AC-04, S001-159"""
    task = alone.create("t1", "--parent", "1")
    assert "is not an epic" in alone.pro0("run", task, "--", "true", code=2).err
    assert "pro0 run task-1" in alone.pro0("run", task, "--", "true", code=2).err
    assert "there is no task-99" in alone.pro0("run", "99", "--", "true", code=3).err
    assert "no-such-program is not installed" in alone.pro0("run", "1", "--", "no-such-program", code=6).err
    assert "go together" in alone.pro0("run", "1", "--agent", "command", code=2).err
    assert "takes no model" in alone.pro0("run", "1", "--model", "m", "--", "true", code=2).err
    assert "cannot do single turns" in alone.pro0("run", "1", "--agent", "runner", code=2).err
    assert alone.status(task) == "pending"


def test_an_agent_of_the_settings_does_turns(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """issue 6, build 5: with the words of its own, and the variables that only it gets"""
    monkeypatch.setenv("MINE_KEY", "secret")
    turn = [sys.executable, str(PROGRAM), str(terminal.folder), "{options}"]
    mine = {"argv": [sys.executable], "turn": turn, "environment": ["MINE_KEY"], "model": ["--model", "{model}"]}
    terminal.home.mkdir(mode=0o700)
    (terminal.home / "config.yaml").write_text(json.dumps({"agents": {"mine": mine, "other": {"argv": ["sh"]}}}))
    terminal.pro0("run", "--agent", "other", code=2)
    terminal.pro0("team", "start", "alpha", "--mode", "headless", "--detach")
    first = terminal.create("t1")
    terminal.script(others=[{"run": f"echo $MINE_KEY > {terminal.folder}/key", "say": DONE}])
    run = terminal.run("--all", "--agent", "mine", "--model", "big", program=False)
    assert "with mine" in terminal.over(run)
    assert terminal.status(first) == "completed"
    assert (terminal.folder / "key").read_text() == "secret\n"
    assert "# task-1: t1" in terminal.prompts(first)[0]
