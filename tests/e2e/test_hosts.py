"""Members on another machine: a real sshd on 127.0.0.1 with a home of its own."""

import json
import subprocess
from pathlib import Path

import pytest

from pro0.engine.hosts import HeldStarts
from pro0.store.teams import Store
from tests import sshd
from tests.conftest import let_scripts
from tests.e2e.conftest import Team, kill
from tests.e2e.machines import LIVES, cut, guard_there, nothing_left, records, sessions, spawn, type_into, unreached
from tests.repositories import git, repository_in
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())


def test_a_program_there_is_a_member_here(led: Team, build1: Machine) -> None:
    """Issue 19, build 1 and 2."""
    led("task", "create", "one")
    spawn(led, "bob", "pro0 task list --json > list; pro0 task claim task-1; pwd; " + LIVES)
    led.until(lambda: "hello" in led("member", "peek", "bob").out, "its terminal is shown here")
    assert str(build1.home) in led("member", "peek", "bob").out
    assert led.tasks()["task-1"]["assignee"] == "bob"
    assert json.loads((build1.home / "list").read_text())[0]["title"] == "one"
    assert led.member("bob")["host"] == "build1"
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    assert led.state("bob") == "shutdown"
    nothing_left(led, build1)
    led.until(lambda: not led.tasks()["task-1"].get("assignee"), "its task is given back")


def test_it_ends_here_as_it_ends_there(led: Team, build1: Machine) -> None:
    """Issue 19, build 1."""
    spawn(led, "good", "read _; exit 0")
    spawn(led, "bad", "read _; echo broken; exit 7")
    spawn(led, "killed", "read _; kill -9 $$")
    for name in ("good", "bad", "killed"):
        type_into(led, name, b"\r")
    led.until(lambda: led.state("good") == "exited", "it has ended")
    led.until(lambda: led.state("bad") == "crashed", "it has ended")
    led.until(lambda: led.state("killed") == "crashed", "it has ended")
    assert led.member("bad")["note"].startswith("exit code 7: broken")
    assert led.member("killed")["note"] == "killed by signal 9"
    nothing_left(led, build1)


def test_a_program_that_is_not_there_says_so(led: Team, build1: Machine) -> None:
    """Issue 19, build 1."""
    said = led("member", "spawn", "bob", "--host", "build1", "--", "no-such-program", code=6).err
    assert "bob did not come up" in said
    assert "cannot start no-such-program" in said
    assert led.state("bob") == "crashed"
    nothing_left(led, build1)


def test_a_machine_that_is_not_reached_starts_nothing(led: Team, build1: Machine) -> None:
    """Issue 19, build 1."""
    build1.stop()
    said = led("member", "spawn", "bob", "--host", "build1", "--", "true", code=6).err
    assert "build1 cannot be reached" in said
    assert "pro0 member restart bob" in said
    assert "build1 cannot be reached" in led.member("bob")["note"]
    assert not records(led)


AGENT = """agents:
  mine:
    argv: [sh, -c, 'echo "$MINE $0"; pro0 send human "I am there"; printf "> "; exec cat', "{prompt}"]
    environment: [MINE]
    nudge: true
    screens: {prompt: "> "}
  filed: {argv: [sh, "{prompt_file}"]}
  spoken: {acp: [sh]}
"""
LAYOUT = """members:
  bob: {host: build1, argv: [sh, -c, "echo hello; sleep 1000"]}
  cleo: {host: nowhere.invalid, argv: ["true"]}
windows:
  - window_name: far
    panes: [{name: dora, host: build1, shell_command: "echo hello; sleep 1000"}]
"""


@pytest.fixture
def mine(home: Path) -> None:
    """Agents of the person's settings."""
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(AGENT)


def test_a_team_begins_with_members_there(build1: Machine, team: Team, mine: None) -> None:
    """Issue 19, build 1: `-m NAME=AGENT@HOST`; an agent of the settings gets its prompt, its mail and that machine's
    variables."""
    build1.install(first="export MINE=there")
    members = ("-m", "ada=shell", "-m", "bob=mine@build1:reviewer")
    said = team("team", "start", "alpha", "--detach", "--mode", "in-process", "--lead", "none", *members).err
    assert "bob (mine@build1)" in said
    team.until(lambda: team.mail("bob") == ["I am there"], "it has begun")
    shown = team("member", "peek", "bob", "-n", "100").out
    assert "there You are bob" in shown
    assert "on build1, another machine than the team's" in " ".join(shown.split())
    assert team.member("bob")["host"] == "build1"
    for words in (("member", "list"), ("team", "status")):
        assert "mine@build1" in team(*words).out
    team("team", "stop", "--force", "--timeout", "1")
    team("team", "resume")
    team.until(lambda: len(team.mail("bob")) == 2, "the next session of its seat is there too")
    team("member", "shutdown", "bob", "--force", "--timeout", "0")
    team("member", "restart", "bob")
    team.until(lambda: len(team.mail("bob")) == 3, "and the one after that")
    team("team", "stop", "--force", "--timeout", "1")
    nothing_left(team, build1)


def test_a_layout_names_hosts_and_one_out_of_reach_keeps_nobody(build1: Machine, team: Team) -> None:
    """Issue 19, build 1."""
    (team.project / "far.yaml").write_text(LAYOUT)
    words = ("team", "start", "alpha", "--detach", "--mode", "in-process", "--lead", "none", "-l", "./far.yaml")
    said = team(*words, code=6).err
    assert "cleo did not come up" in said
    assert "nowhere.invalid cannot be reached" in said
    for name in ("bob", "dora"):
        team.until(lambda name=name: team.state(name) == "running", "it runs there")  # type: ignore[misc]
        team.until(lambda name=name: "hello" in team("member", "peek", name).out, "and is shown")  # type: ignore[misc]
    assert team.state("cleo") == "crashed"
    team("team", "stop", "--force", "--timeout", "1")
    nothing_left(team, build1)


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        ("spoken", "the agent spoken cannot run on another machine"),
        ("filed", "the agent filed reads its prompt from a file on this machine"),
        ("mine@", "names no host"),
        ("mine@-x", "cannot be the name of a host"),
        ("command", "a command member needs a program"),
    ],
)
def test_an_agent_that_cannot_be_there_is_refused(
    build1: Machine, team: Team, mine: None, agent: str, says: str
) -> None:
    """Issue 19, build 1: before anything is made."""
    spec = f"bob={agent}" if "@" in agent else f"bob={agent}@build1"
    said = team("team", "start", "alpha", "--detach", "--mode", "in-process", "--lead", "none", "-m", spec, code=2).err
    assert says in said
    assert "hint: " in said
    assert not (team.home / "teams" / "alpha").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("spawn", "bob", "--agent", "spoken", "--host", "build1"), "the agent spoken cannot run on another machine"),
        (("spawn", "bob", "--host", "-oProxyCommand=id", "--", "true"), "cannot be the name of a host"),
        (
            ("spawn", "bob", "--agent", "claude", "--plan", "--host", "build1"),
            "a member on another machine cannot hand in a plan",
        ),
    ],
)
def test_what_cannot_be_there_is_refused(
    led: Team, build1: Machine, mine: None, words: tuple[str, ...], says: str
) -> None:
    """Issue 19, build 1."""
    assert says in led("member", *words, code=2).err


def test_a_cut_link_ends_nobody(led: Team, build1: Machine) -> None:
    """Issue 19, build 4 and must show 2."""
    led("task", "create", "one")
    spawn(
        led,
        "bob",
        "pro0 task claim task-1; while ! test -e go; do sleep 0.1; done; "
        'for n in 1 2 3; do pro0 send human "report $n"; done; pro0 task complete task-1 done; ' + LIVES,
    )
    led.until(lambda: led.tasks()["task-1"].get("assignee"), "it has claimed its task")
    agents = {process.pid for process in sessions(build1)}
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    (build1.home / "go").touch()
    led.until(lambda: len(sessions(build1)) > len(agents) - 1, "it goes on there")
    assert led.state("bob") == "unreachable"
    assert "bob is out of reach" in led("needs").out
    assert led.tasks()["task-1"]["assignee"] == "bob"
    build1.start()
    led.until(lambda: led.tasks()["task-1"]["status"] == "completed", "what it did arrives")
    assert led.mail("bob") == ["report 1", "report 2", "report 3"]
    led.until(lambda: led.state("bob") == "running", "its state is known again")
    led.until(lambda: "hello" in led("member", "peek", "bob").out, "its terminal is shown again")
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)


def test_a_message_is_sent_once_however_often_the_link_is_cut(led: Team, build1: Machine) -> None:
    """Issue 19, must show 2."""
    count = 12
    spawn(led, "bob", f'for n in $(seq {count}); do pro0 send human "report $n"; done; touch done; ' + LIVES)
    for n in range(4):
        led.until(lambda n=n: len(led.mail("bob")) >= min(count, 3 * n + 1), "some have come")  # type: ignore[misc]
        cut(build1)
        build1.start()
    led.until((build1.home / "done").exists, "it has sent all")
    assert led.mail("bob") == [f"report {n}" for n in range(1, count + 1)]
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)


def test_a_killed_lead_changes_nothing_there(led: Team, build1: Machine) -> None:
    """Issue 19, must show 2."""
    spawn(led, "bob", LIVES)
    before = guard_there(build1)
    kill(led.json("team", "status")["lead"]["pid"])
    led("team", "resume")
    led.until(lambda: led.state("bob") == "running", "the next lead finds it")
    assert guard_there(build1) == before
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)


@pytest.mark.parametrize("whose", ["guard", "link", "both"])
def test_a_session_that_is_killed_here_ends_there(led: Team, build1: Machine, whose: str) -> None:
    """Issue 19, build 4: nothing is given to others before the machine has said that it is over."""
    led("task", "create", "one")
    spawn(led, "bob", "pro0 task claim task-1; " + LIVES)
    led.until(lambda: led.tasks()["task-1"].get("assignee"), "it has claimed its task")
    [record] = records(led)
    incarnation = record.name.partition(".")[0]
    report = json.loads((record.parent / f"{incarnation}.json").read_text())
    for part in {"guard": ("guard",), "link": ("agent",), "both": ("guard", "agent")}[whose]:
        kill(report[part]["pid"])
    led.until(lambda: led.state("bob") == "crashed", "its end here is seen")
    nothing_left(led, build1)
    led.until(lambda: not led.tasks()["task-1"].get("assignee"), "its task is given back")


def test_a_guard_that_is_killed_there_is_a_crash(led: Team, build1: Machine) -> None:
    """Issue 19, build 4."""
    spawn(led, "bob", LIVES)
    kill(guard_there(build1))
    led.until(lambda: led.state("bob") == "crashed", "it is seen")
    assert "its guard there was killed" in led.member("bob")["note"]
    nothing_left(led, build1)


def test_what_is_out_of_reach_keeps_its_claim_until_it_is_over_there(led: Team, build1: Machine) -> None:
    """Issue 19, build 4."""
    led("task", "create", "one")
    spawn(led, "bob", "pro0 task claim task-1; " + LIVES)
    led.until(lambda: led.tasks()["task-1"].get("assignee"), "it has claimed its task")
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    assert led.state("bob") == "shutdown"
    assert len(records(led)) == 1
    assert led.tasks()["task-1"]["assignee"] == "bob"
    assert sessions(build1)
    said = led("team", "cleanup", led.name, "--force", code=4).err
    assert "bob may still run on build1" in said
    assert "pro0 member forget bob" in said
    said_at_a_restart: list[str] = []
    team = Store(led.home).team(led.name)
    held = HeldStarts(team, said_at_a_restart.append)
    for _ in range(2):
        held.look(team.runtime.read(), {"ada", "bob"})
    assert [text.partition(",")[0] for text in said_at_a_restart] == [
        "bob starts once build1 confirms that its last session has ended"
    ]
    assert "bob starts once build1" in str(held.error({"ada", "bob"}))
    assert held.error({"ada"}) is None
    build1.start()
    nothing_left(led, build1)
    led.until(lambda: not led.tasks()["task-1"].get("assignee"), "its task is given back")
    led("team", "cleanup", led.name)


def test_the_person_gives_up_what_is_out_of_reach(led: Team, build1: Machine) -> None:
    """Issue 19, build 4."""
    let_scripts(led.home)
    led("task", "create", "one")
    spawn(led, "bob", "pro0 task claim task-1; " + LIVES)
    led.until(lambda: led.tasks()["task-1"].get("assignee"), "it has claimed its task")
    assert "has not ended here" in led("member", "forget", "bob", code=4).err
    cut(build1)
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    [command] = led.json("member", "forget", "bob")
    led.until(lambda: not led.tasks()["task-1"].get("assignee"), "its task is given back")
    assert not records(led)
    (build1.home / ".local" / "bin").mkdir(parents=True)
    (build1.bin / "pro0").rename(build1.home / ".local" / "bin" / "pro0")  # which is not on the PATH of such a command
    build1.start()
    subprocess.run(("sh", "-c", command), check=True, capture_output=True)
    assert not sessions(build1)


WORKS = """git config user.name bob; git config user.email bob@localhost
test -e first && mark=second || mark=first
date > $mark; git add $mark; git commit -qm $mark; echo rest > rest; pwd; echo made $mark
while :; do sleep 0.1; done"""


@pytest.fixture
def coded(led: Team) -> Team:
    """A team whose project has a commit."""
    repository_in(led.project)
    return led


def code(machine: Machine) -> list[Path]:
    """What is left of members' code there."""
    home = machine.home / "pro0"
    return [path for name in ("code", "worktrees") if (home / name).exists() for path in (home / name).iterdir()]


def at_work(team: Team, mark: str) -> None:
    """Start bob on the machine in a worktree, until he has committed a file."""
    spawn(team, "bob", WORKS, "--worktree")
    team.until(lambda: f"made {mark}" in team("member", "peek", "bob").out, "he has committed")


def test_code_goes_there_and_comes_home(coded: Team, build1: Machine) -> None:
    """Issue 19, build 3."""
    at_work(coded, "first")
    assert f"{build1.home}/pro0/worktrees" in coded("member", "peek", "bob").out
    assert coded.member("bob")["branch"] == "teams/alpha/bob"
    assert [change["path"] for change in coded.json("diff", "bob")["files"]] == ["first"]
    coded("member", "merge", "bob")
    assert (coded.project / "first").exists()
    assert not (coded.project / "rest").exists()
    coded("member", "shutdown", "bob", "--force", "--timeout", "0")
    assert "the code of bob is on build1" in coded("member", "spawn", "bob", "--", "true", code=4).err
    coded("member", "restart", "bob")
    coded.until(lambda: "made second" in coded("member", "peek", "bob").out, "the next session finds what was there")
    coded("team", "stop", "--force", "--timeout", "1")
    said = coded("team", "cleanup", "alpha", code=7).err
    assert "not merged, so kept: teams/alpha/bob" in said
    assert git(coded.project, "show", "teams/alpha/bob:rest") == "rest"
    assert not code(build1)
    nothing_left(coded, build1)


def test_code_out_of_reach_is_not_thrown_away(coded: Team, build1: Machine) -> None:
    """Issue 19, build 3."""
    at_work(coded, "first")
    coded("team", "stop", "--force", "--timeout", "1")
    nothing_left(coded, build1)
    build1.stop()
    for words in (("diff", "bob"), ("member", "merge", "bob"), ("team", "cleanup", "alpha")):
        assert "the work of bob cannot be brought home from build1" in coded(*words, code=6).err
    said = coded("team", "cleanup", "alpha", "--force", code=7).err
    assert "the code of bob stays on build1" in said
    assert len(code(build1)) == 2


def test_a_branch_in_use_here_is_named_at_the_cleanup(coded: Team, build1: Machine) -> None:
    """Nothing is removed there before it is home, and the hint ends what keeps it (behaviour 3.32)."""
    at_work(coded, "first")
    coded("team", "stop", "--force", "--timeout", "1")
    git(coded.project, "switch", "-q", "teams/alpha/bob")
    said = coded("team", "cleanup", "alpha", code=4).err
    assert "is checked out in" in said
    assert f"git -C {coded.project} switch --detach" in said
    assert len(code(build1)) == 2


def test_a_machine_out_of_reach_gets_no_code_and_no_session(coded: Team, build1: Machine) -> None:
    """Issue 19, build 3."""
    build1.stop()
    said = coded("member", "spawn", "bob", "--host", "build1", "--worktree", "--", "true", code=6).err
    assert "its code cannot be sent to build1" in said
    assert git(coded.project, "for-each-ref", "refs/heads/teams") == ""


def test_another_machine_gets_a_members_rights_and_no_more(led: Team, build1: Machine) -> None:
    """Issue 19, must show 4."""
    (led.project / "secret").write_text("- title: secret\n")
    tries = [
        "task create -f secret",
        "member spawn eve -- touch taken",
        "team stop",
        "config set ssh evil",
        "mcp --call task_create",
        "needs --watch",
        "task approve task-1",
        "-t other task list",
    ]
    script = "; ".join(f"pro0 {words}; echo $? >> codes" for words in tries)
    here = f"env -u PRO0_HOSTED PRO0_HOME={led.home} pro0"  # this is the same machine
    tries += ["as the person here"] * 2
    script += f"; {here} team stop -t alpha; echo $? >> codes; {here} task create x -t alpha; echo $? >> codes"
    spawn(led, "bob", f"{script}; env > env; touch done; {LIVES}")
    led.until((build1.home / "done").exists, "it has tried all")
    assert (build1.home / "codes").read_text().split() == ["4"] * len(tries)
    assert not led.tasks()
    assert not (led.project / "taken").exists()
    names = {line.partition("=")[0] for line in (build1.home / "env").read_text().splitlines()}
    assert not names & {"PRO0_MEMBER_OF", "PRO0_GRANT", "SSH_AUTH_SOCK"}
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)
