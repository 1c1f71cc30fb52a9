"""The lead's hooks: an idle teammate that is to go on, and every change of state (issue 6, build 6)."""

import errno
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pro0 import processes
from pro0.config import PROJECT_FILE, USER_FILE
from pro0.engine.background.announcing import Announcer
from pro0.engine.background.hooking import Hooking, LastGood, changes
from pro0.engine.log import Log
from pro0.model.decision import Announce
from pro0.model.home import HookEvent
from pro0.model.need import Need, NeedKind, Surface
from pro0.model.runtime import Phase, Runtime, State
from pro0.model.task import Awaiting, Draft, Status
from pro0.ops import trust
from pro0.ops.tasks import gates, trees
from pro0.rules.lead.plan import MEMORY
from pro0.store.paths import CONFIG, EVENTS
from tests.engine.crew import PATIENCE, Crew
from tests.rules.supervising import session
from tests.waiting import wait_until

NEED = Need(id="gate:1", kind=NeedKind.GATE, subject="task-1", what="task-1 waits for you", command="pro0 needs")


def settings(alpha: Crew, text: str) -> None:
    (alpha.store.home / USER_FILE).write_text(text)


def heard(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_teammate_that_may_not_be_idle_is_told_to_go_on(alpha: Crew, tmp_path: Path) -> None:
    """must show 8: exit 2 and stderr; afterwards, without it, the lead address is told as ever"""
    flag = tmp_path / "flag"
    settings(alpha, f"hooks: {{TeammateIdle: 'test -e {flag} || {{ echo README is missing >&2; exit 2; }}'}}")
    alpha.led()
    alpha.lead()
    alpha.spawn("w1")
    wait_until(lambda: [m for m in alpha.mail("w1") if "README is missing" in m.content], PATIENCE, "it is told")
    assert not alpha.notices("w1 is idle")
    flag.touch()
    alpha.settled(*alpha.give(Draft(title="t", run="true")))
    wait_until(lambda: alpha.notices("w1 is idle; last: task-1"), PATIENCE, "the lead address is told")
    assert len([m for m in alpha.mail("w1") if "README" in m.content]) == 1


def test_a_hook_that_hangs_keeps_nobody_waiting(alpha: Crew) -> None:
    """must show 8: while one hangs the team works on; when its time is over the member counts as idle"""
    settings(alpha, "hookTimeoutSeconds: 3\nhooks: {TeammateIdle: 'touch hangs; sleep 300'}")
    alpha.led()
    alpha.lead()
    alpha.spawn("w1")
    wait_until((alpha.project / "hangs").exists, PATIENCE, "it hangs")
    assert alpha.settled(*alpha.give(Draft(title="t", run="true")))[0].status is Status.COMPLETED
    wait_until(lambda: alpha.notices("w1 is idle"), PATIENCE, "it counts as idle")
    assert "over its limit of 3 s" in (alpha.team.paths.team / EVENTS).read_text()


def test_a_person_is_told_once_of_each_task_that_waits(alpha: Crew, tmp_path: Path) -> None:
    """Issue 6, build 1: a command of the person's; also of what began to wait while no lead was there."""
    told = tmp_path / "told"
    settings(alpha, json.dumps({"hooks": {"HumanNeeded": f"cat >> {told}; echo >> {told}"}}))
    alpha.give(Draft(title="first", awaiting=Awaiting.INPUT))
    alpha.lead()
    wait_until(lambda: len(heard(told)) == 1, PATIENCE, "the first is told")
    alpha.give(Draft(title="second", awaiting=Awaiting.REVIEW))
    gates.clear(alpha.context, "task-1")
    gates.hold(alpha.context, "task-1", Awaiting.WORK)

    # Between the two acts nobody can take the first, which is a need as well; it is told when the lead looks just then.
    def waits() -> list[tuple[str, str]]:
        return [(one["task_id"], one["awaiting"]) for one in heard(told) if "awaiting" in one]

    wait_until(lambda: len(waits()) >= 3, PATIENCE, "the others are told")
    assert sorted(waits()) == [("task-1", "input"), ("task-1", "work"), ("task-2", "review")]


def test_changes_are_told_in_order(alpha: Crew, tmp_path: Path) -> None:
    told = tmp_path / "told"
    line = f"cat >> {told}; echo >> {told}"
    settings(alpha, json.dumps({"hooks": {"MemberChanged": line, "TeamChanged": line}}))
    alpha.lead()
    alpha.spawn("w1")
    alpha.reaches("w1", State.IDLE)
    alpha.stop()
    wait_until(lambda: heard(told)[-1:] and heard(told)[-1]["to"] == "stopped", PATIENCE, "the end is told")
    said = [(one["hook_event_name"], one["teammate_name"], one["to"]) for one in heard(told)]
    assert said[0] == ("MemberChanged", "w1", "starting")
    assert ("MemberChanged", "w1", "idle") in said
    assert [to for event, _, to in said if event == "TeamChanged"] == ["stopping", "stopped"]
    assert said.index(("MemberChanged", "w1", "shutdown")) < len(said) - 1


def test_a_stopped_team_does_not_wait_for_a_hook_that_hangs(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(alpha, "hooks: {TeamChanged: 'sleep 300'}")
    alpha.lead()
    alpha.stop()
    assert not alpha.left()


def test_a_command_that_cannot_mend_itself_has_failed(alpha: Crew) -> None:
    """The shell agent's task, which a hook does not let through."""
    settings(alpha, "hooks: {TaskCompleted: 'echo no tests were run >&2; exit 2'}")
    alpha.lead()
    alpha.spawn("w1")
    [task] = alpha.settled(*alpha.give(Draft(title="t", run="true")))
    assert (task.status, task.closed_reason) == (
        *(Status.FAILED, "the hook 'echo no tests were run >&2; exit 2' refused: no tests were run"),
    )


def test_a_parent_that_a_hook_does_not_let_through_has_failed_too(alpha: Crew, tmp_path: Path) -> None:
    """It asks once, and not for ever."""
    asked = tmp_path / "asked"
    settings(alpha, f"hooks: {{TaskCompleted: 'echo x >> {asked}; exit 2'}}")
    alpha.lead()
    alpha.give(Draft(title="root", key="root"), Draft(title="sub", parent="root", run="true"))
    trees.start(alpha.context, "task-1")
    alpha.settled("task-1")
    assert alpha.task("task-1").status is Status.FAILED
    assert asked.read_text() == "x\n"


def test_the_newest_questions_about_a_recorded_session_are_remembered(alpha: Crew, tmp_path: Path) -> None:
    """50: a session lives for weeks, and ends many turns; no hook is asked again."""
    asked, state = tmp_path / "asked", session("w1")
    settings(alpha, f"hooks: {{TeammateIdle: 'echo x >> {asked}'}}")
    hooking = Hooking(alpha.team, Log(alpha.team), lambda: None)
    assert hooking.events() == {HookEvent.TEAMMATE_IDLE}
    keys = [f"{state.incarnation}:idle:{number}" for number in range(MEMORY + 3)]
    for number, key in enumerate(keys, start=1):
        for _ in range(2):
            hooking.ask(key, state)
            hooking.keep({state.incarnation})
        wait_until(lambda key=key: key in hooking.answers(), PATIENCE, f"{key} is answered")  # type: ignore[misc]
        hooking.keep({state.incarnation})
        hooking.ask(key, state)
        assert [*hooking.answers()] == keys[:number][-MEMORY:]
    assert asked.read_text() == len(keys) * "x\n"
    hooking.keep(set())
    assert hooking.answers() == {}


@contextmanager
def out_of_reach(file: Path) -> Iterator[None]:
    """Let no file be opened for a moment, as when the machine has too many open: the file itself stays the same."""
    real = Path.open

    def fails(self: Path, *args: Any, **names: Any) -> object:
        if self == file:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(self, *args, **names)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", fails)
        yield


def logged(alpha: Crew, what: str) -> list[str]:
    events = map(json.loads, alpha.log().splitlines())
    return [event["why"] for event in events if event.get("event") == what]


def test_hooks_outlast_settings_that_cannot_be_read_for_a_moment(alpha: Crew) -> None:
    """3.22: they are looked at again, although the file stays the same; the reason is logged once."""
    file = alpha.store.home / USER_FILE
    settings(alpha, "hooks: {TeammateIdle: 'true'}")
    hooking = Hooking(alpha.team, Log(alpha.team), lambda: None)
    with out_of_reach(file):
        assert [hooking.events(), hooking.events()] == [set(), set()], "none were known yet"
    assert hooking.events() == {HookEvent.TEAMMATE_IDLE}
    settings(alpha, "hooks: {TeamChanged: 'true'}")
    with out_of_reach(file):
        assert [hooking.events(), hooking.events()] == 2 * [{HookEvent.TEAMMATE_IDLE}]
    assert hooking.events() == {HookEvent.TEAM_CHANGED}
    settings(alpha, "hooks: [half written")
    assert [hooking.events(), hooking.events()] == 2 * [{HookEvent.TEAM_CHANGED}]
    assert [why.rpartition(" ")[2] for why in logged(alpha, "hooks")[:2]] == ["(EMFILE)", "(EMFILE)"]
    assert len(logged(alpha, "hooks")) == 3


def test_a_notice_is_not_lost_to_settings_that_cannot_be_read_for_a_moment(alpha: Crew) -> None:
    """3.27: nor is one set up just then."""
    log, home = Log(alpha.team), alpha.store.home
    announcer = Announcer(
        alpha.team,
        trust.settings(home, alpha.project, {}),
        log,
        Hooking(alpha.team, log, lambda: None),
        lambda: None,
    )
    assert Surface.NOTIFY not in announcer.surfaces()
    settings(alpha, "notify: 'true'")
    with out_of_reach(home / USER_FILE):
        assert not {Surface.NOTIFY} & (announcer.surfaces() | announcer.surfaces())
    assert Surface.NOTIFY in announcer.surfaces()
    assert len(logged(alpha, "settings")) == 1


@pytest.mark.parametrize("file", [Path(USER_FILE), PROJECT_FILE], ids=["the person's file", "the project's file"])
@pytest.mark.parametrize(
    "text",
    ["hooks: [half written", "maxTeammates: many", f"maxTeammates: 0x{'f' * 5000}"],
    ids=["half written", "a bad value", "a huge number"],
)
def test_hooks_and_notices_are_run_while_the_settings_cannot_be_read(
    alpha: Crew, tmp_path: Path, file: Path, text: str
) -> None:
    """3.22: an editor saves half a file, or an agent writes a bad value into the project's."""
    told = tmp_path / "told"
    whole = {
        "hooks": {"TeammateIdle": "echo not yet >&2; exit 2", "HumanNeeded": f"echo hook >> {told}"},
        "notify": f"echo notify >> {told}",
    }
    settings(alpha, json.dumps(whole))
    log, woken = Log(alpha.team), threading.Event()
    hooking = Hooking(alpha.team, log, woken.set)
    announcer = Announcer(alpha.team, trust.settings(alpha.store.home, alpha.project, {}), log, hooking, woken.set)
    used = announcer.surfaces()
    bad = (alpha.project if file is PROJECT_FILE else alpha.store.home) / file
    bad.parent.mkdir(exist_ok=True)
    bad.write_text(text)
    assert announcer.surfaces() == used
    assert hooking.run(HookEvent.TEAMMATE_IDLE, "w1", {}) == "the hook 'echo not yet >&2; exit 2' refused: not yet"
    for surface in (Surface.HOOK, Surface.NOTIFY):
        announcer.begin(Announce(surface, NEED))
    wait_until(lambda: len(announcer.done()) == 2, PATIENCE, "both are made")
    assert sorted(told.read_text().split()) == ["hook", "notify"]
    assert not alpha.team.troubles.read().troubles


def test_no_failure_of_a_look_at_the_settings_ends_a_round(alpha: Crew) -> None:
    """3.22: nor does a fault of ours. The last good value counts, and the reason is told once."""

    def fails() -> str:
        raise RecursionError("nested too deep")

    told: list[str] = []
    last = LastGood(alpha.store.home, alpha.project, "good", told.append)
    assert [last.look(fails), last.look(fails)] == ["good", "good"]
    assert told == ["RecursionError: nested too deep"]
    assert last.look(lambda: "better") == "better"


def test_a_hook_that_nothing_could_begin_stays_owed(alpha: Crew, tmp_path: Path) -> None:
    """3.27: told twice is better than never. It is tried with the rounds as they come; the reason is logged once."""
    told, woken, file = tmp_path / "told", threading.Event(), alpha.team.paths.team / CONFIG
    settings(alpha, f"hooks: {{HumanNeeded: 'echo >> {told}'}}")
    log = Log(alpha.team)
    hooking = Hooking(alpha.team, log, lambda: None)
    announcer = Announcer(alpha.team, trust.settings(alpha.store.home, alpha.project, {}), log, hooking, woken.set)
    assert Surface.HOOK in announcer.surfaces()
    sound = file.read_bytes()
    file.write_text("damaged")
    for _ in range(3):
        announcer.begin(Announce(Surface.HOOK, NEED))
        announcer._backlogs[Surface.HOOK].finish()
    assert (announcer.done(), woken.is_set(), len(logged(alpha, "hooks"))) == (frozenset(), False, 1)
    file.write_bytes(sound)
    announcer.begin(Announce(Surface.HOOK, NEED))
    assert woken.wait(PATIENCE)
    assert (len(announcer.done()), told.read_text()) == (1, "\n")


def test_only_what_differs_is_a_change() -> None:
    before = Runtime(seats=(session("w1"), session("w2")))
    after = Runtime(phase=Phase.STOPPING, seats=(session("w1", State.WORKING), session("w2"), session("w3")))
    assert [(event, who, about["to"]) for event, who, about in changes(before, after)] == [
        (HookEvent.MEMBER_CHANGED, "w1", "working"),
        (HookEvent.MEMBER_CHANGED, "w3", "idle"),
        (HookEvent.TEAM_CHANGED, "", "stopping"),
    ]
    assert not list(changes(after, after))


@pytest.mark.parametrize("way", ["hooks: {TeammateIdle: '%s'}", "hooks: {HumanNeeded: '%s'}", "notify: '%s'"])
def test_at_a_leads_end_its_commands_end(alpha: Crew, way: str) -> None:
    """Also those that run beside its rounds."""
    settings(alpha, way % "touch hangs; exec sleep 300")
    alpha.led()
    alpha.lead()
    alpha.spawn("w1")
    alpha.give(Draft(title="first", awaiting=Awaiting.INPUT))
    wait_until((alpha.project / "hangs").exists, PATIENCE, "it hangs")
    alpha.stop()
    assert not alpha.left()
    assert not alpha.team.troubles.read().troubles


@pytest.mark.parametrize("way", ["hooks: {TeammateIdle: '%s'}", "notify: '%s'"])
def test_they_end_with_a_lead_whose_team_goes_on(alpha: Crew, way: str) -> None:
    """Nobody else knows them, nor ends them when their time is over."""
    settings(alpha, f"reviveLead: false\n{way % 'echo $$ > pid; exec sleep 300'}")
    alpha.led()
    lead = alpha.lead()
    alpha.spawn("w1")
    alpha.give(Draft(title="first", awaiting=Awaiting.INPUT))
    file = alpha.project / "pid"
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"), PATIENCE, "it hangs")
    hanging = processes.identify(int(file.read_text()))
    assert hanging
    lead.terminate()
    lead.wait(PATIENCE)
    assert not processes.alive(hanging)
    assert alpha.state("w1").state is State.IDLE
    assert not alpha.team.troubles.read().troubles
