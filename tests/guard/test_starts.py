"""From the launch file to a running agent."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from pro0 import processes, resources
from pro0.guard import launch, report, text
from pro0.model.runtime import ENDED, Launch, Revival, State
from pro0.model.stored import SCHEMA_VERSION
from pro0.processes import mark
from tests.guard.sessions import PATH, Session, python
from tests.guard.shown import terminal
from tests.waiting import STUCK, wait_until

TELL = """
import json, os, signal, sys
state = int(os.environ["PRO0_STATE_FD"])
told = {
    "argv": sys.argv[1:],
    "env": dict(os.environ),
    "cwd": os.getcwd(),
    "descriptors": [fd for fd in range(64) if os.path.exists(f"/dev/fd/{fd}") and fd != 3],
    "ignored": [number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN],
    "blocked": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
    "group": os.getpgrp() == os.getpgid(os.getppid()),
}
open(sys.argv[1], "w").write(json.dumps(told))
"""


def test_the_agent_gets_what_the_launch_file_says_and_nothing_else(session: Session, tmp_path: Path) -> None:
    """Signals that the guard's own starter ignored or blocked do not reach the agent either."""
    variables = {"PATH": PATH, "LC_ALL": "C.UTF-8", "NAME": "a=b\nü 😀", "EMPTY": ""}
    words = [str(tmp_path / "told"), "", "two words", "$(x)", "ü 😀"]
    command = session.prepare([*python(TELL), *words], env=variables)
    blocking = (
        "import os,signal,sys;signal.pthread_sigmask(signal.SIG_BLOCK,[15,17]);os.execv(sys.argv[1],sys.argv[1:])"
    )
    subprocess.run(
        ["sh", "-c", "trap '' HUP INT QUIT USR1; exec \"$@\"", "sh", *python(blocking), *command],
        env={**os.environ, "SECRET": "x"},
        check=True,
        timeout=STUCK,
    )
    told = json.loads((tmp_path / "told").read_text())
    state = told["env"].pop("PRO0_STATE_FD")
    assert told["env"] == {
        **variables,
        "PRO0_TEAM_UID": session.team_uid,
        "PRO0_INCARNATION": session.incarnation,
    }
    assert told["argv"] == words
    assert told["cwd"] == str(session.cwd)
    assert told["descriptors"] == [0, 1, 2, int(state)]
    assert told["ignored"] == [signal.SIGPIPE, signal.SIGXFSZ]  # by the agent's Python itself
    assert told["blocked"] == []
    assert told["group"]


@pytest.mark.parametrize(
    ("argv", "cwd", "why"),
    [
        (["no-such-program"], None, "cannot start no-such-program: No such file or directory"),
        (["/no/such/program"], None, "cannot start /no/such/program: No such file or directory"),
        (["/etc/passwd"], None, "cannot start /etc/passwd: Permission denied"),
        (["/"], None, "cannot start /: Permission denied"),
        (["true"], "/no/such/place", "cannot start true: /no/such/place: No such file or directory"),
        (["true"], "/etc/passwd", "cannot start true: /etc/passwd: Not a directory"),
        (["true", "a\0b"], None, "cannot start true: embedded null byte"),
    ],
)
def test_an_agent_that_cannot_be_started(session: Session, argv: list[str], cwd: str | None, why: str) -> None:
    guard = session.start(argv, **({"cwd": cwd} if cwd else {}))
    assert guard.wait(STUCK) == 127
    found = session.report()
    assert found.exit
    assert (found.state, found.agent) == (State.CRASHED, None)
    assert (found.exit.code, found.exit.signal, found.exit.reason) == (127, None, why)


def test_programs_are_found_as_a_shell_finds_them(session: Session, tmp_path: Path) -> None:
    """By the PATH of the agent's environment: past folders that lack it, and past what cannot be run."""
    for name, mode in (("first", 0o644), ("second", 0o755)):
        program = tmp_path / name / "tool"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho {name} > {tmp_path}/which\n")
        program.chmod(mode)
    path = f"{tmp_path}/none:{tmp_path}/first:{tmp_path}/second:{PATH}"
    assert session.start(["tool"], env={"PATH": path}).wait(STUCK) == 0
    assert (tmp_path / "which").read_text() == "second\n"


def test_a_path_with_an_empty_part_finds_what_is_in_the_agents_folder(session: Session) -> None:
    """As a shell does."""
    tool = session.cwd / "tool"
    tool.write_text("#!/bin/sh\nexit 7\n")
    tool.chmod(0o755)
    assert session.start(["tool"], env={"PATH": f":{PATH}"}).wait(STUCK) == 7


def test_the_launch_file_is_gone_and_the_report_is_private(session: Session) -> None:
    session.start(["sleep", "600"])
    found = session.reported(lambda report: report.agent, "the agent")
    assert not session.launch_file.exists()
    assert stat.S_IMODE(session.file.stat().st_mode) == 0o600
    assert processes.alive(found.guard)
    assert session.guard
    assert found.guard == processes.identify(session.guard.pid)
    assert found.agent
    assert found.agent == processes.identify(found.agent.pid)
    assert found.guard.pid in [one.pid for one in processes.ancestors(found.agent.pid)]
    assert (found.agent_id, found.incarnation) == ("ann", session.incarnation)


@pytest.mark.parametrize("first", [State.STARTING, State.RUNNING])
def test_the_first_state(session: Session, first: State) -> None:
    session.start(["sleep", "600"], first_state=first)
    assert session.reported(lambda report: report.agent, "the agent").state is first


BAD = {
    "not there": None,
    "empty": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "not UTF-8": b"\xff\xfe",
    "too deep": b"[" * 200_000,
    "too long": b" " * (launch.LIMIT + 1),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_launch_file_that_cannot_be_used(session: Session, content: bytes | None) -> None:
    """One line, exit 70, and nothing of what may be secret stays."""
    if content is not None:
        session.launch_file.write_bytes(content)
    done = subprocess.run(resources.guard_argv(session.launch_file), capture_output=True, text=True, timeout=STUCK)
    assert done.returncode == 70
    assert done.stderr.startswith("pro0 guard: the launch file cannot be used: ")
    assert done.stderr.count("\n") == 1
    assert list(session.reports.iterdir()) == []


def test_of_many_guards_for_one_launch_file_one_starts_the_agent(session: Session, tmp_path: Path) -> None:
    """Rulings 3.12: so a session that two leads have opened is started once."""
    command = session.prepare(
        ["sh", "-c", f"echo started >> {tmp_path}/log; until [ -e {tmp_path}/end ]; do sleep 0.01; done"]
    )
    guards = [subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) for _ in range(8)]
    try:
        wait_until(lambda: [g.poll() for g in guards].count(70) == len(guards) - 1, 20, "all but one have ended")
        session.agent()
    finally:
        (tmp_path / "end").touch()
        codes = sorted(guard.wait(STUCK) for guard in guards)
        for guard in guards:
            guard.communicate()
    assert codes == [0] + [70] * (len(guards) - 1)
    assert (tmp_path / "log").read_text() == "started\n"


def test_without_a_folder_for_the_report_nothing_is_started(session: Session, tmp_path: Path) -> None:
    command = session.prepare(["touch", str(tmp_path / "ran")], report=str(tmp_path / "gone" / "x.json"))
    assert subprocess.run(command, capture_output=True, timeout=STUCK).returncode == 70
    assert not (tmp_path / "ran").exists()


def test_every_key_of_a_launch_is_understood(session: Session) -> None:
    """The model and the guard, which cannot afford to import it, say the same."""
    revival = Revival(
        argv=("a", "b"), cwd="/c", lease="/l", environment="/e", variables={"A": "1"}, errors="/f", patience=1, jitter=0
    )
    whole = session.launch(
        ["x", "y"], first_state=State.RUNNING, grace=2.5, team_folder="/t", look=1.5, gone=3.0, revival=revival
    )
    values = launch.Launch(json.loads(msgspec.json.encode(whole)))
    assert vars(vars(values).pop("revival")) == {**msgspec.structs.asdict(revival), "argv": ["a", "b"]}
    expected = {**msgspec.structs.asdict(whole), "argv": ["x", "y"]}
    del expected["revival"]
    assert vars(values) == expected
    short = json.loads(msgspec.json.encode(session.launch(["x"])))
    del short["grace"]
    defaults = launch.Launch(short)
    fields = {field.name: field.default for field in msgspec.structs.fields(Launch)}
    for name in ("first_state", "grace", "team_folder", "look", "gone", "revival"):
        assert getattr(defaults, name) == fields[name]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agentId", 1),
        ("incarnation", ""),
        ("argv", []),
        ("argv", [1]),
        ("argv", "true"),
        ("env", {"a": 1}),
        ("env", []),
        ("cwd", None),
        ("report", "relative.json"),
        ("grace", True),
        ("grace", -1),
        ("grace", float("inf")),
        ("grace", float("nan")),
        ("firstState", 3),
        ("teamFolder", "relative"),
        ("look", "2"),
        ("gone", -1),
        ("revival", []),
    ],
)
def test_a_launch_with_a_wrong_value(session: Session, key: str, value: object) -> None:
    values = json.loads(msgspec.json.encode(session.launch(["x"])))
    with pytest.raises(ValueError, match=key):
        launch.Launch({**values, key: value})


def test_the_guard_knows_the_models_words() -> None:
    tellable = {state.value for state in State if state not in ENDED}
    assert tellable == report.TELLABLE
    assert report.SCHEMA_VERSION == SCHEMA_VERSION


START = {
    "__future__",
    "_signal",
    "pro0.guard",
    "pro0.guard.agent",
    "pro0.guard.launch",
    "pro0.guard.report",
    "pro0.guard.run",
    "pro0.guard.text",
    "pro0.guard.tree",
    "pro0.processes",
    "pro0.processes.ending",
    "pro0.processes.linux",
    "pro0.processes.mark",
    "pro0.processes.pidfd",
    "pro0.processes.table",
    "pro0.processes.watch",
    "resource",
    "select",
    "_sha2" if sys.version_info >= (3, 12) else "_sha256",
}
PREFIX = "import sys;sys.path.insert(0,{root!r});import {module};print(*sys.modules)"


def imported(module: str) -> set[str]:
    """Return the modules that importing one brings into a bare Python, as a guard is."""
    source = PREFIX.format(root=str(Path(__file__).parents[2]), module=module)
    return set(subprocess.run(python(source), capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere psutil is needed")
def test_a_guard_imports_almost_nothing() -> None:
    """Beside pro0's write path, whose imports are its own affair. Each further module is paid fifty times over."""
    bare = imported("os")
    assert imported("pro0.guard.run") - bare == (START | imported("pro0.store.atomic")) - bare
    assert len(imported("pro0.guard.run") - bare) <= 21


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere psutil is needed")
def test_a_whole_life_of_a_guard_needs_no_library(session: Session, tmp_path: Path) -> None:
    """To its last act nothing but C modules is added: fifty guards also end at once."""
    names = str(tmp_path / "names")
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pro0.guard import run
before = set(sys.modules)
leave = os._exit
def last(code):
    open({names!r}, "w").write(" ".join(set(sys.modules) - before))
    leave(code)
os._exit = last
run.main(["guard", sys.argv[1]])
"""
    script = 'echo \'{"state":"idle"}\' >&$PRO0_STATE_FD; setsid sleep 600 & exit 0'
    file = session.prepare(["sh", "-c", script])[-1]
    subprocess.run([*python(program), file], check=True, timeout=STUCK)
    assert session.report().state is State.EXITED
    assert set((tmp_path / "names").read_text().split()) <= {"_json", "_ctypes"}


@pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")
@pytest.mark.parametrize("without", [[], ["_ctypes.call_function"], ["_ctypes.dlsym"]])
def test_both_ways_to_become_a_subreaper(without: list[str]) -> None:
    """Asked back from the kernel; in a process of its own, since it cannot be undone for those that follow."""
    program = f"""
import ctypes, _ctypes
for name in {without!r}:
    delattr(_ctypes, name.partition(".")[2])
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pro0.guard import agent
assert agent.become_subreaper()
answer = ctypes.c_int(0)
ctypes.CDLL(None).prctl(37, ctypes.byref(answer), 0, 0, 0)
print(answer.value)
"""
    done = subprocess.run(python(program), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


VALUES = [
    {},
    {"a": None, "b": True, "c": False, "d": -3, "e": 2.5},
    {"text": 'é " \\ \n \x00 \x7f \u2028 😀', "in": {"in": {"é": ""}}},
]


@pytest.mark.parametrize("value", VALUES)
def test_what_is_written_is_json(value: dict[str, object]) -> None:
    assert json.loads(text.dump(value)) == value
    assert text.parse(f" {text.dump(value)}\n") == value


@pytest.mark.parametrize("bad", ["", "{", "{}{}", "nul", "{'a': 1}", '"\x01"', "[" * 200_000, "\ufeff{}"])
@pytest.mark.parametrize("without", [False, True], ids=["C", "json"])
def test_what_is_no_json_is_a_value_error(bad: str, without: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by the public module, on a Python whose private one is different."""
    if without:
        monkeypatch.delattr("_json.make_scanner")
    with pytest.raises(ValueError):
        text.parse(bad)


def test_the_public_module_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("_json.make_scanner")
    assert text.parse(' {"a": [1, "é"]} ') == {"a": [1, "é"]}


@pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's")
@pytest.mark.parametrize("shown", [False, True])
def test_the_agent_carries_the_mark_and_the_guard_does_not(session: Session, shown: bool) -> None:
    """Whatever a guard starts later, a lead, is not its session's."""
    guard = session.start(["sleep", "600"], terminal=terminal(session.reports) if shown else None)
    assert mark.carried_by(session.agent().pid) == mark.mark_of(session.incarnation)
    assert mark.carried_by(guard.pid) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's")
def test_a_guard_below_an_agent_has_a_mark_of_its_own(session: Session, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    inner = Session(tmp_path / "inner")
    session.start([*inner.prepare(["sleep", "600"])])
    agent = inner.agent()
    assert mark.carried_by(agent.pid) == mark.mark_of(inner.incarnation)
    guard = inner.report().guard
    assert guard
    assert mark.carried_by(guard.pid) is None
