"""The acts of the demo. Each act does something to the team and waits for the result."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from pro0 import processes
from pro0.cli.demo import ending, plan, repository
from pro0.cli.demo.follow import CRASHED, Look
from pro0.cli.demo.stage import Killing, Performance
from pro0.engine import outcomes
from pro0.engine.cleanup import cleanup
from pro0.engine.opening.environment import start_environment
from pro0.engine.opening.launch import ensure_lead
from pro0.errors import Pro0Error
from pro0.model.caller import THE_HUMAN
from pro0.model.ids import LEAD
from pro0.model.runtime import State
from pro0.model.task import Status
from pro0.model.team import Display
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.tasks.drafts import SeatDraft
from pro0.ops.team import archives, members, teams
from pro0.store.teams import Store

TEAM = "demo"
_UP = (State.IDLE, State.WORKING)


class Scene(msgspec.Struct, frozen=True):
    """One act: its title, the command that a person would type for it, and its function."""

    title: str
    command: str
    play: Callable[[Performance], None]


def a_repository(stage: Performance) -> None:
    """Make the repository that the team works in."""
    repository.make(stage.scratch)
    stage.view.say(f"a new git repository: {stage.scratch.project}")


def a_team(stage: Performance) -> None:
    """Start a lead and three members, and say how to watch them."""
    scratch = stage.scratch
    home = teams.Home(
        name=TEAM,
        project=scratch.project,
        display=Display(mode=stage.mode, mode_reason=stage.mode_reason),
        environment=start_environment(os.environ),
    )
    stage.meet(teams.create(Store(scratch.home), THE_HUMAN, home))
    stage.view.say(f"mode {stage.mode}: {stage.mode_reason}")
    members.spawn(stage.context, [SeatDraft(name=name) for name in plan.MEMBERS], len(plan.MEMBERS))
    ensure_lead(stage.context.team)
    stage.until(lambda look: all(member.state in _UP for member in look.members), "every member is up")
    stage.view.say(f"a lead process and {', '.join(plan.MEMBERS)}: shell agents, which need no model", "good")
    _watch(stage)


def work(stage: Performance) -> None:
    """Say hello, and give the team its tasks."""
    messages.broadcast(stage.context, "Welcome! Take what is ready; the tasks know what they wait for.")
    messages.send(stage.context, plan.MEMBERS[0], "Please keep an eye on the others.")
    stage.view.say(f"you → {', '.join(plan.MEMBERS)}: Welcome! (a broadcast), and a word to {plan.MEMBERS[0]}", "mail")
    created = tasks.create(stage.context, stage.plan)
    edges = sum(len(task.dependencies) for task in created)
    stage.view.say(f"{len(created)} tasks, {edges} dependencies; members take what is ready, by themselves")
    stage.until(_at_work_on_the_long_one(stage), f"somebody works on {plan.LINGERS!r}")


def a_death(stage: Performance) -> None:
    """Kill the agent that works on the long task, and wait until pro0 has noticed."""
    stage.pause(0.8)
    task = stage.look().task(plan.LINGERS)
    state = next(s for s in stage.context.team.runtime.read().seats if s.agent_id == task.assignee)
    if state.agent is None or not processes.signal_process(state.agent, signal.SIGKILL):
        raise Pro0Error(f"{state.agent_id} could not be killed")
    began = time.monotonic()
    stage.facts.killing = killing = Killing(
        state.agent_id, task.id, task.title, state.incarnation, round(stage.view.passed, 1)
    )
    stage.view.command(f"kill -9 {state.agent.pid}")
    stage.view.say(f"{killing.member} is killed in the middle of {task.id}, {task.title}", "bad")
    stage.until(lambda look: look.member(killing.member).state is State.CRASHED, "the crash is noticed", pause=0.02)
    killing.noticed_after = round(time.monotonic() - began, 2)
    stage.view.say(f"noticed after {killing.noticed_after} s", "good")


def the_others(stage: Performance) -> None:
    """Wait until another member has finished the dead member's task, and the lead address was told of the death."""
    killing = _killing(stage)
    stage.until(lambda look: any(CRASHED in letter.content for letter in look.letters[LEAD]), "the lead is told")
    stage.until(lambda look: look.task(killing.title).status is Status.COMPLETED, "another has finished its task")
    killing.retaken_by = stage.look().task(killing.title).assignee or ""
    stage.view.say(f"{killing.retaken_by} has finished what {killing.member} could not", "good")


def a_return(stage: Performance) -> None:
    """Restart the killed member, and reserve the last task for it."""
    killing, began = _killing(stage), time.monotonic()
    stage.view.command(f"pro0 member restart {killing.member}")
    members.restart(stage.context, killing.member)
    stage.until(_is_back(killing), f"{killing.member} is back")
    killing.back_after = round(time.monotonic() - began, 2)
    stage.view.say(f"{killing.member} is back after {killing.back_after} s: same name, same mailbox", "good")
    look = stage.look()
    after = tuple(look.task(title).id for title in plan.RELEASE.blocked_by)
    [task] = tasks.create(stage.context, [replace(plan.RELEASE, blocked_by=after, assignee=killing.member)])
    stage.view.command(f"pro0 task create '{task.title}' --run ... --assignee {killing.member}")
    stage.view.say(f"one more task: {task.id}, {task.title}, reserved for {killing.member}")
    stage.until(lambda look: look.done() == len(look.tasks), "every task is completed")


def a_look(stage: Performance) -> None:
    """Look at the team's work, and read the mail."""
    stage.until(lambda look: not any(member.unread for member in look.members), "the members have read their mail")
    stage.view.hide()
    facts, scratch = stage.facts, stage.scratch
    facts.commits = repository.commits(scratch)
    facts.released = repository.tagged(scratch, plan.TAG)
    facts.printed = repository.output(scratch)
    for line in facts.printed.splitlines():
        stage.view.say(f"  {line}")
    letters = messages.inbox(stage.context, acknowledge=True)
    facts.inbox = len(letters)
    stage.view.command("pro0 inbox")
    for letter in letters:
        stage.view.say(f"{letter.message.from_} → {letter.message.to}: {letter.message.content}", "mail")


def a_farewell(stage: Performance) -> None:
    """Ask every member to shut down, and wait until all have agreed and gone."""
    team = stage.context.team
    wish = teams.stop(stage.context, timeout=30.0, reason="the work is done").stop
    if wish:
        outcomes.stopped(team, wish, stage.view.say)
    seats = team.wanted.read().seats
    stage.facts.agreed = {seat.agent_id: bool(seat.answer and seat.answer.approve) for seat in seats}
    stage.facts.ended = team.runtime.read().seats
    _end_client(stage)


def nothing_left(stage: Performance) -> None:
    """Remove the team, and look for leftovers."""
    traces = ending.Traces.of(stage.context.team)
    store = Store(stage.scratch.home)
    done = cleanup(store, TEAM, force=False, show=stage.view.say)
    stage.view.say(done or "there was nothing to clean")
    stage.view.command(f"pro0 team forget {TEAM}")
    archives.forget(store, archives.find(store, TEAM))
    stage.facts.left = ending.wait_until_gone(stage.scratch, traces)
    if not stage.facts.left:
        stage.view.say("no process, no tmux server and no file of it is left", "good")


ACTS = (
    Scene("A place to work", "", a_repository),
    Scene("A team", f"pro0 team start {TEAM} " + " ".join(f"-m {name}=shell" for name in plan.MEMBERS), a_team),
    Scene("Work for it", 'pro0 broadcast "Welcome!"; pro0 task create -f tasks.yaml', work),
    Scene("One of them dies", "", a_death),
    Scene("The others go on", "pro0 team status --watch", the_others),
    Scene("It comes back", "", a_return),
    Scene("What came of it", f"python3 {plan.PROGRAM} {plan.SAMPLE}", a_look),
    Scene("They agree to stop", f"pro0 team stop {TEAM}", a_farewell),
    Scene("Nothing stays", f"pro0 team cleanup {TEAM}", nothing_left),
)


def attach_argv(stage: Performance) -> list[str]:
    """Return the command that shows the panes read-only in a terminal; empty in headless mode."""
    handles = (state.handle for state in stage.context.team.runtime.read().seats)
    socket = next((handle.socket for handle in handles if handle and handle.socket), "")
    return ["tmux", "-S", socket, "attach", "-r"] if socket else []


def _watch(stage: Performance) -> None:
    """Print how to watch the team, and show the panes here if requested."""
    argv = attach_argv(stage)
    stage.view.say("watch them in another terminal:")
    if not argv:
        stage.view.command(f"tail -F {stage.context.team.paths.logs}/*.log")
        return
    stage.view.command(("env -u TMUX " if stage.inside_tmux else "") + shlex.join(argv))
    if stage.attach:
        stage.view.hold()
        stage.client = subprocess.Popen(argv)


def _end_client(stage: Performance) -> None:
    """Wait until the terminal that showed the panes is free again."""
    client, stage.client = stage.client, None
    if client:
        try:
            client.wait(5)
        except subprocess.TimeoutExpired:
            client.terminate()
            client.wait()
    stage.view.release()


def _at_work_on_the_long_one(stage: Performance) -> Callable[[Look], bool]:
    def met(look: Look) -> bool:
        task = next((task for task in look.tasks if task.title == plan.LINGERS), None)
        if task is None or task.status is not Status.IN_PROGRESS or not repository.lingering(stage.scratch):
            return False
        return any(member.task == task.id and member.agent_id == task.assignee for member in look.members)

    return met


def _is_back(killing: Killing) -> Callable[[Look], bool]:
    def met(look: Look) -> bool:
        member = look.member(killing.member)
        return member.incarnation != killing.incarnation and member.state in _UP

    return met


def _killing(stage: Performance) -> Killing:
    assert stage.facts.killing is not None
    return stage.facts.killing
