"""What a hostile tester broke (sections 3 and 4 of what they found), tried again by the command line alone.

Each break has nearer tests in the short lane; most of these are in the long one.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.breaks.program import PRO0, SOURCE, Program
from tests.crash.test_outside import may_mount
from tests.leftovers import end, processes_under
from tests.repositories import git
from tests.waiting import STUCK, wait_until

LIST = ({"id": 1, "method": "initialize"}, {"id": 2, "method": "tools/call"})
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}}
mounts = pytest.mark.skipif(not may_mount(), reason="it needs a mount of its own")


def member(pro0: Program, name: str, script: str) -> None:
    """Start a member that does what a script says, below its guard, and then nothing more."""
    pro0("member", "spawn", name, "--agent", "command", "--", "sh", "-c", f"{script}\nexec sleep 600")


def below(pro0: Program, name: str, script: str) -> str:
    """Return what a member's script has said."""
    told = pro0.project.parent / f"{name}.told"
    member(pro0, name, f"({script}) > {told}.new 2>&1; mv {told}.new {told}")
    wait_until(told.exists, STUCK, "the script is over", every=0.1)
    return told.read_text()


def gated(pro0: Program) -> None:
    """Make a task that waits for its person."""
    pro0("task", "create", "one", "--requires", "approval")
    pro0("task", "update", "1", "--awaiting", "approval")


def lives(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@contextmanager
def persons_tmux(pro0: Program) -> Iterator[list[str]]:
    """Yield what speaks to a tmux server of the person's, in which one shell is open."""
    tmux = ["tmux", "-S", os.path.join(os.environ["TMUX_TMPDIR"], "person"), "-f", "/dev/null"]
    start = [*tmux, "new-session", "-d", "-s", "person", "sh"]
    subprocess.run(start, cwd=pro0.project, check=True, env={**os.environ, "TMUX": ""})
    try:
        yield tmux
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def asked(tmux: list[str], *words: str) -> str:
    """Return what a tmux server answers."""
    return subprocess.run([*tmux, *words], capture_output=True, text=True, check=True).stdout.strip()


def test_3_1_two_variables_make_nobody_another(pro0: Program) -> None:
    """Nothing that a member can read makes it another one."""
    pro0.start("--lead", "none")
    member(pro0, "w2", "")
    [incarnation] = [one["incarnation"] for one in pro0.json("member", "list") if one["agentId"] == "w2"]
    shown = below(pro0, "w1", f"{PRO0} team status --json; {PRO0} member list --json")
    assert incarnation not in shown, "a member is shown another's incarnation"
    named = f"PRO0_AGENT_ID=w2 PRO0_INCARNATION={incarnation}"
    said = below(pro0, "w3", f"{named} {PRO0} send human 'I am w2'; echo code $?")
    assert "code 4" in said, said
    assert "I am w2" not in pro0("inbox", "--all"), "a letter came in another's name"


@pytest.mark.soak
def test_3_2_what_a_person_starts_with_a_members_variables_is_theirs(pro0: Program, tmp_path: Path) -> None:
    """What runs in a shell that took `member env` outlives the member."""
    pro0.start("--lead", "none")
    member(pro0, "w1", "")
    taken = "\n".join(line for line in pro0.typed("member", "env", "w1").out.splitlines() if line.startswith("export"))
    assert "PRO0_" in taken
    script = f"{taken}\nsleep 600 & echo $! > {tmp_path}/pid"
    subprocess.run(["setsid", "sh", "-c", script], check=True, env=os.environ, stdout=subprocess.DEVNULL)
    pid = int((tmp_path / "pid").read_text())
    try:
        pro0("member", "shutdown", "w1", "--force")
        pro0("team", "stop", "alpha", "--force")
        assert lives(pid), "a person's process was ended with the member"
    finally:
        if lives(pid):
            os.kill(pid, 9)


FULL = """mount -t tmpfs -o size=24m,mode=700 none $PRO0_HOME && cd {project}
{pro0} team start alpha --detach --mode headless --lead none
{pro0} member spawn w1 --agent command -- sh -c 'echo $$ > {out}/pid; exec sleep 600'
until [ -s {out}/pid ]; do sleep 0.1; done
until ! cat /dev/zero >> $PRO0_HOME/filler; do :; done
{pro0} member shutdown w1 --force; echo $? > {out}/code
n=0; while kill -0 $(cat {out}/pid) && [ $n -lt 200 ]; do sleep 0.1; n=$((n + 1)); done
kill -0 $(cat {out}/pid) && echo lives > {out}/came || echo gone > {out}/came
rm $PRO0_HOME/filler; {pro0} team cleanup alpha --force
"""


@pytest.mark.soak
@mounts
def test_3_3_a_full_disk_keeps_nobody_alive(pro0: Program, tmp_path: Path) -> None:
    """`member shutdown --force` ends an agent while not a byte is free."""
    pro0.home.mkdir(mode=0o700)
    script = FULL.format(project=pro0.project, pro0=PRO0, out=tmp_path)
    said = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=STUCK)
    assert (tmp_path / "came").read_text() == "gone\n", said


@pytest.mark.soak
def test_3_4_a_respawned_pane_is_the_persons(pro0: Program) -> None:
    """Stop and cleanup leave what the person has started in a member's pane."""
    with persons_tmux(pro0) as tmux:
        inside = {"TMUX": asked(tmux, "display-message", "-p", "-t", "person", "#{socket_path},#{pid},0")}
        inside["TMUX_PANE"] = own = asked(tmux, "display-message", "-p", "-t", "person", "#{pane_id}")
        pro0("team", "start", "alpha", "--detach", "--mode", "tmux", "--lead", "none", **inside)
        pro0("member", "spawn", "w1", "--agent", "command", "--", "sleep", "600")
        [pane] = set(asked(tmux, "list-panes", "-a", "-F", "#{pane_id}").split()) - {own}
        asked(tmux, "respawn-pane", "-k", "-t", pane, "sleep 600")
        pid = int(asked(tmux, "display-message", "-p", "-t", pane, "#{pane_pid}"))
        pro0("team", "stop", "alpha", "--force")
        assert lives(pid), "stop ended a person's program"
        pro0.run("team", "cleanup", "alpha", "--force")
        assert lives(pid), "cleanup ended a person's program"


@pytest.mark.soak
def test_3_4_a_server_in_the_place_of_ours_is_the_persons(pro0: Program) -> None:
    """Cleanup leaves another tmux server that listens where ours did."""
    pro0("team", "start", "alpha", "--detach", "--mode", "tmux", "--lead", "none")
    pro0("member", "spawn", "w1", "--agent", "command", "--", "sleep", "600")
    [place] = Path(os.environ["TMUX_TMPDIR"]).glob("tmux-*/*")
    ours = int(asked(["tmux", "-S", str(place)], "display-message", "-p", "#{pid}"))
    place.unlink()
    tmux = ["tmux", "-S", str(place), "-f", "/dev/null"]
    asked(tmux, "new-session", "-d", "sleep 600")
    theirs = int(asked(tmux, "display-message", "-p", "#{pid}"))
    pro0.run("team", "stop", "alpha", "--force")
    pro0.run("team", "cleanup", "alpha", "--force")
    survived = lives(theirs)
    for pid in filter(lives, (ours, theirs)):
        os.kill(pid, 9)
    assert survived, "another server was ended"


def test_3_5_a_command_of_a_tmux_server_gives_no_verdict(pro0: Program) -> None:
    """`tmux run-shell` of the person's server is no person."""
    pro0.start("--lead", "none")
    gated(pro0)
    with persons_tmux(pro0) as tmux:
        subprocess.run([*tmux, "run-shell", f"cd {pro0.project}; {PRO0} task approve 1"], check=False)
    assert pro0.task("1")["status"] == "pending", "a program without a terminal gave a verdict"


@pytest.mark.soak
def test_3_5_git_runs_no_program_of_a_repository(pro0: Program) -> None:
    """What `core.fsmonitor` names is not run by git calls of ours."""
    script = pro0.script("watcher", f"touch {pro0.project}/../ran; exit 1\n")
    git(pro0.project, "config", "core.fsmonitor", str(script))
    pro0.start("--lead", "none", "--worktrees")
    member(pro0, "w1", "")
    pro0("member", "shutdown", "w1", "--force")
    pro0.run("team", "cleanup", "alpha", "--force")
    assert not (pro0.project.parent / "ran").exists(), "a program that the repository names was run"


@pytest.mark.soak
@mounts
@pytest.mark.parametrize("how", ["a namespace of processes", "a bound home"])
def test_3_5_nothing_of_the_kernel_makes_a_member_a_person(pro0: Program, how: str) -> None:
    """With a cleared environment, in a terminal of its own."""
    pro0.start("--lead", "none")
    gated(pro0)
    other = pro0.project.parent / "other"
    other.mkdir()
    approve = "env -i HOME=$HOME PATH=$PATH PRO0_HOME={} script -qec '{} task approve 1 -t alpha' /dev/null"
    ways = {
        "a namespace of processes": f"unshare --pid --fork --mount-proc {approve.format(pro0.home, PRO0)}",
        "a bound home": f"unshare --mount sh -c 'mount --bind {pro0.home} {other}; "
        f'exec env -i HOME=$HOME PATH=$PATH PRO0_HOME={other} script -qec "{PRO0} task approve 1 -t alpha" /dev/null\'',
    }
    said = below(pro0, "w1", ways[how])
    assert pro0.task("1")["status"] == "pending", said


def test_3_6_a_key_that_stands_twice_loses_nothing(pro0: Program) -> None:
    """Two lists of tasks in one file are damage: exit 5, and not a byte is changed."""
    pro0.start("--lead", "none")
    pro0("task", "create", "one")
    file = pro0.home / "tasks" / "alpha" / "tasks.json"
    tasks = json.loads(file.read_text())["tasks"]
    before = json.dumps(json.loads(file.read_text()))
    twice = before.replace('{"', f'{{"tasks": {json.dumps(tasks)}, "', 1).encode()
    assert twice.count(b'"tasks"') == 2
    file.write_bytes(twice)
    assert pro0.run("task", "create", "two").code == 5
    assert file.read_bytes() == twice, "acknowledged tasks are gone"
    file.write_text(before)


@pytest.mark.soak
@pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-"])
def test_7_a_closed_stream_is_no_fault(pro0: Program, stream: str) -> None:
    """The task is made, and nothing is told as a fault."""
    pro0.start("--lead", "none")
    words = ["sh", "-c", f"{PRO0} task create one {stream}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=pro0.project, env=os.environ)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done
    assert pro0.task("1")["title"] == "one"


@pytest.mark.soak
def test_8_half_a_character_is_bad_input(pro0: Program) -> None:
    """A tool's argument that is no text is told as what it is."""
    pro0.start("--lead", "none")
    wish = {"name": "list_tasks", "arguments": {"status": "\ud800"}}
    calls = ({**LIST[0], "params": HELLO}, {"method": "notifications/initialized"}, {**LIST[1], "params": wish})
    lines = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls)
    told = below(pro0, "w1", f"printf '%s' '{lines}' | {PRO0} mcp")
    assert '"id":2' in told.replace(" ", "")
    assert "internal error" not in told


@pytest.mark.soak
def test_9_guards_of_a_deleted_home_are_named(pro0: Program) -> None:
    """`doctor` tells of a guard whose home is gone."""
    pro0.start("--lead", "none")
    member(pro0, "w1", "")
    named = os.fsencode(f"{pro0.home}/teams/alpha/sessions/")
    [guard] = [file.parent.name for file in Path("/proc").glob("[0-9]*/cmdline") if named in _bytes(file)]
    away = pro0.home.rename(pro0.home.with_name("away"))
    try:
        said = pro0.run("doctor")
        assert re.search(rf"\b{guard}\b", said.out + said.err), "doctor does not name what is left"
    finally:
        shutil.rmtree(pro0.home, ignore_errors=True)
        away.rename(pro0.home)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended
        return b""


@pytest.mark.soak
def test_10_the_name_of_a_deleted_team_can_be_used_again(pro0: Program) -> None:
    """Start and cleanup name the command that frees the name of a team whose folder was deleted."""
    pro0.start("--lead", "none")
    pro0("task", "create", "one")
    shutil.rmtree(pro0.home / "teams" / "alpha")
    start = ("team", "start", "alpha", "--detach", "--mode", "headless", "--lead", "none")
    for words in (("team", "cleanup", "alpha", "--force"), start):
        assert "pro0 doctor --repair" in pro0.run(*words).err
    pro0("doctor", "--repair")
    pro0(*start)


@pytest.mark.soak
def test_11_calls_at_once_all_succeed(pro0: Program) -> None:
    """Of 72 calls beside busy processors none gives up."""
    pro0.start("--lead", "none")
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(8)]
    words = [str(PRO0), "task", "create", "one"]
    try:
        calls = [subprocess.Popen(words, cwd=pro0.project, stderr=subprocess.PIPE, text=True) for _ in range(72)]
        failed = [said for call in calls for said in [call.communicate(timeout=STUCK)[1]] if call.returncode]
    finally:
        for one in busy:
            one.kill()
            one.wait()
    assert failed == [], f"{len(failed)} gave up"


@pytest.mark.soak
def test_12_a_lock_with_a_second_name_is_a_persons_file(pro0: Program, tmp_path: Path) -> None:
    """What is linked to the place of a lock keeps its text."""
    pro0.start("--lead", "none")
    (mine := tmp_path / "mine").write_text("of the person\n")
    for lock in [*pro0.home.rglob(".lock"), *pro0.home.rglob("*/.lock")]:
        lock.unlink(missing_ok=True)
        os.link(mine, lock)
    pro0.run("task", "create", "one")
    pro0.run("send", "human", "one")
    assert mine.read_text() == "of the person\n", "a person's file was emptied"


@pytest.mark.soak
def test_13_a_long_cycle_is_told_in_a_line(pro0: Program) -> None:
    """The error about a cycle over 300 tasks can be read."""
    pro0.start("--lead", "none")
    rows = "".join(f"- {{title: t, key: k{n}, blockedBy: [k{n - 1 or 300}]}}\n" for n in range(1, 301))
    refused = pro0.run("task", "create", "--file", "-", stdin=rows)
    assert (refused.code, "cycle" in refused.err) == (4, True), refused
    assert len(refused.err) < 400, f"{len(refused.err)} characters"


def test_14_a_test_has_no_limit_that_a_busy_machine_meets() -> None:
    """The test on a full disk waits as long as everything that may be stuck."""
    text = (SOURCE / "tests" / "crash" / "test_outside.py").read_text(encoding="utf-8")
    assert [int(one) for one in re.findall(r"timeout=(\d+)", text) if int(one) < STUCK] == []


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """Members that a test made unknown to their team are ended here."""
    yield
    end(processes_under(tmp_path))
