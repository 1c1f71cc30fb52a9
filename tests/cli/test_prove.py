"""An agent program is tried out with a scripted model, and what does not hold is switched off (issue 17, must show 5).

The program is a stand-in for Claude Code, drawn as its recorded screens. Each version differs in one thing.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.agents import adapter_named
from pro0.cli.demo.scratch import Scratch
from pro0.cli.interrupts import Interruption
from pro0.cli.prove import checks, run
from pro0.cli.prove.pane import MemberPane, NotHeld
from pro0.cli.prove.stage import MEMBER, TEAM, ProofStage, make
from pro0.errors import EnvironmentMissing
from pro0.model.home import AgentAct, CheckResult, ProofCheck
from pro0.model.runtime import Handle, SeatState, State
from pro0.ops import proofs
from pro0.scripted_model.server import Provider
from pro0.store.paths import HOME_VARIABLE
from tests.cli.test_outputs import fits
from tests.conftest import Result
from tests.crash.lanes import SOAK, counted
from tests.waiting import STUCK, wait_until

STAND_IN = Path(__file__).parents[1] / "programs" / "proved.py"
BEFORE_ANYTHING = (ProofCheck.READY, {AgentAct.TYPING, AgentAct.STATES, AgentAct.CHANNEL, AgentAct.ANSWERS})
PLANTED: dict[str, tuple[ProofCheck, set[AgentAct]]] = {
    "no waiter": (ProofCheck.CHANNEL, {AgentAct.CHANNEL}),
    "end of turn renamed": (ProofCheck.CHANNEL, {AgentAct.CHANNEL}),
    "waiter ended": (ProofCheck.CHANNEL, {AgentAct.CHANNEL}),
    "wake ignored": (ProofCheck.CHANNEL, {AgentAct.CHANNEL}),
    "wake without its line": (ProofCheck.CHANNEL, {AgentAct.CHANNEL}),
    "wake sends the draft": (ProofCheck.CHANNEL, {AgentAct.CHANNEL}),
    "busy renamed": (ProofCheck.WORKING, {AgentAct.TYPING, AgentAct.STATES}),
    "idle renamed": BEFORE_ANYTHING,
    "waiting renamed": (ProofCheck.PERMISSION, {AgentAct.TYPING, AgentAct.STATES, AgentAct.CHANNEL, AgentAct.ANSWERS}),
    "turn never over": BEFORE_ANYTHING,
    "new dialog": BEFORE_ANYTHING,
    "does not start": BEFORE_ANYTHING,
    "first prompt ignored": BEFORE_ANYTHING,
    "input sign renamed": (ProofCheck.DRAFT, {AgentAct.TYPING}),
    "no edges": (ProofCheck.DRAFT, {AgentAct.TYPING}),
    "input moved": (ProofCheck.DRAFT, {AgentAct.TYPING}),
    "crashes when typed into": (ProofCheck.DRAFT, {AgentAct.TYPING}),
    "asks unseen": (ProofCheck.PERMISSION, {AgentAct.TYPING, AgentAct.STATES, AgentAct.CHANNEL, AgentAct.ANSWERS}),
    "yes after a while": (ProofCheck.PERMISSION_MAIL, {AgentAct.TYPING}),
    "permission hook renamed": (ProofCheck.ANSWER, {AgentAct.ANSWERS}),
    "answers ignored": (ProofCheck.ANSWER, {AgentAct.ANSWERS}),
    "no taken for yes": (ProofCheck.ANSWER, {AgentAct.ANSWERS}),
}
"""What is other in a version → the check that does not hold, and what must be switched off then."""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUICK = "does not start"
"""The one in `make test`: the others take minutes each."""


@pytest.fixture
def stand_in(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let `claude` be a stand-in; return the file that says what is other in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(STAND_IN, folder / "stand_in.py")
    program(folder, "claude", f'echo "$HOME" >>{folder}/homes; exec {sys.executable} -I -S {folder}/stand_in.py "$@"')
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / "change"


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def proof_of(homes: Path) -> Scratch | None:
    """Return the folder in which the stand-in was started last, None as long as it was not started in one."""
    folder = Path(homes.read_text().splitlines()[-1]).parent if homes.exists() else Path()
    if not folder.name.startswith("pro0-proof-"):
        return None
    scratch = Scratch("proof")
    scratch.folder, scratch.home = folder, folder / "pro0"
    return scratch


def proved(cli: Callable[..., Result], patience: int) -> dict[str, set[str]]:
    """Prove the stand-in; return which checks did not hold, which could not be tried, and what is off."""
    result = cli("agent", "prove", "claude", "--patience", str(patience), "--json", seconds=3000)
    print(result.err)
    fits(["agent", "prove"], result.out)
    [proof] = json.loads(result.out)
    missed = {one["check"]: one["why"] for one in proof["results"] if not one["held"]}
    assert (result.code, proof["agent"], proof["version"]) == (int(bool(missed)), "claude", "9.9.9")
    return {"missed": set(missed), "off": set(proof["off"])}


@pytest.mark.parametrize(
    "change", [name if name == QUICK else pytest.param(name, marks=pytest.mark.soak) for name in PLANTED]
)
def test_a_change_is_found_and_what_it_makes_unsafe_is_switched_off(
    change: str, stand_in: Path, cli: Callable[..., Result]
) -> None:
    stand_in.write_text(change)
    check, off = PLANTED[change]
    found = proved(cli, 10)
    assert check in found["missed"]
    assert off <= found["off"]
    [listed] = [one for one in json.loads(cli("agent", "list", "--json").out) if one["agent"] == "claude"]
    assert set(listed["off"]) == found["off"]
    counted(SOAK, "planted changes that are found", change, 1)


@pytest.mark.soak
def test_everything_holds_of_a_program_without_a_change(stand_in: Path, cli: Callable[..., Result]) -> None:
    assert proved(cli, 120) == {"missed": set(), "off": set()}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_proof_that_is_ended_leaves_nothing(stand_in: Path, number: signal.Signals) -> None:
    """Also when one before it could not be tried out."""
    Path(os.environ["HOME"], ".tool-versions").touch()
    program(stand_in.parent, "codex", '[ -e "$HOME/.tool-versions" ] && echo 1.2.3')
    argv = [sys.executable, "-m", "pro0", "agent", "prove", "codex", "claude"]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    scratch = wait_until(lambda: proof_of(stand_in.with_name("homes")), STUCK, "a session in the proof")
    assert scratch
    try:
        process.send_signal(number)
        said = process.communicate(timeout=STUCK)[1].decode()
        assert (process.returncode, scratch.processes(), scratch.folder.exists()) == (130, [], False), said
    finally:
        scratch.end()
        shutil.rmtree(scratch.folder, ignore_errors=True)


def test_the_same_member_of_another_proof_is_none_of_this_one(tmp_path: Path) -> None:
    def sleeper(home: Path) -> "subprocess.Popen[bytes]":
        named = {"PRO0_AGENT_ID": MEMBER, "PRO0_TEAM": TEAM, HOME_VARIABLE: str(home)}
        return subprocess.Popen(["sleep", str(STUCK)], env=os.environ | named)

    scratch = Scratch("proof")
    with Provider().serving() as provider, sleeper(scratch.home) as ours, sleeper(tmp_path) as others:
        try:
            stage = ProofStage(adapter_named("claude"), scratch, provider, STUCK)
            assert [process.pid for process in stage.session_processes()] == [ours.pid]
        finally:
            ours.kill()
            others.kill()


def test_a_pane_is_read_in_any_locale_and_one_that_is_gone_is_said(tmp_path: Path, short_folder: Path) -> None:
    socket = str(short_folder / "proof.sock")
    tmux = ["tmux", "-S", socket, "-f", os.devnull]
    script = tmp_path / "draws"
    script.write_text("printf '❯ ─ñ'; exec sleep 300")
    subprocess.run([*tmux, "-u", "new-session", "-d", f"sh {script}"], check=True)
    try:
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        pane = MemberPane(Handle(backend="tmux", incarnation="a", socket=socket, pane="%0"), environment, None)
        wait_until(lambda: pane.shows("❯ ─ñ"), 9, "what it draws")
        assert (pane.last_row(), pane.screen().rows[0]) == ("❯ ─ñ", "❯ ─ñ")
        gone = MemberPane(Handle(backend="tmux", incarnation="a", socket=socket, pane="%7"), environment, None)
        for look in (gone.screen, gone.last_row, gone.erase):
            with pytest.raises(NotHeld, match="its pane is gone"):
                look()
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    with pytest.raises(NotHeld, match="its pane is gone"):
        pane.screen()


NOT_THE_SAME = {
    "a shim that knows its person by HOME": ("exit 126", "says no version"),
    "a shim that takes another version there": ("echo 8.8.8; exit", "it is version 8.8.8, not 9.9.9"),
}
"""What a shim does without the settings of its person → what the person is told."""


@pytest.mark.parametrize("shim", NOT_THE_SAME)
def test_a_program_that_is_another_in_the_home_of_a_proof_is_not_judged(
    shim: str, stand_in: Path, home: Path, cli: Callable[..., Result]
) -> None:
    does, said = NOT_THE_SAME[shim]
    (stand_in.parent / "claude").rename(stand_in.parent / "claude-9.9.9")
    Path(os.environ["HOME"], ".tool-versions").touch()
    script = f'[ -e "$HOME/.tool-versions" ] || {{ {does}; }}; exec {stand_in.parent}/claude-9.9.9 "$@"'
    program(stand_in.parent, "claude", script)
    result = cli("agent", "prove", "claude", "--patience", "10", seconds=3000)
    assert (result.code, result.out) == (6, "")
    assert said in result.err
    assert "hint: put the folder of the program itself" in result.err
    assert proofs.known(home).proofs == ()


@pytest.mark.parametrize("named", [(), ("claude", "codex", "gemini", "opencode", "pi")], ids=["all", "by name"])
def test_one_that_cannot_be_tried_out_keeps_none_behind_it_from_it(
    named: tuple[str, ...], stand_in: Path, home: Path, cli: Callable[..., Result]
) -> None:
    stand_in.write_text(QUICK)
    for other in ("codex", "opencode", "pi"):
        program(stand_in.parent, other, "exit 1")
    program(stand_in.parent, "gemini", '[ "$1" = --version ] && echo 1.2.3')
    result = cli("agent", "prove", *named, "--patience", "5", "--json", seconds=3000)
    fits(["agent", "prove"], result.out)
    assert (result.code, [proof["agent"] for proof in json.loads(result.out)]) == (6, ["claude", "gemini"])
    assert [proof.agent for proof in proofs.known(home).proofs] == ["claude", "gemini"]
    assert f"codex: {stand_in.parent}/codex --version says no version" in result.err
    assert "pro0: not tried out: codex, opencode, pi\nhint: install it again" in result.err


def test_a_resume_kills_no_stranger_who_has_the_number_of_an_agent_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = Scratch("proof")
    with Provider().serving() as provider, subprocess.Popen(["sleep", str(STUCK)]) as stranger:
        try:
            make(scratch, "claude", provider)
            stage = ProofStage(adapter_named("claude"), scratch, provider, 5)
            known = processes.identify(stranger.pid)
            assert known
            gone = SeatState(
                agent_id=MEMBER,
                generation=1,
                incarnation="a",
                state=State.CRASHED,
                since=NOON,
                started_at=NOON,
                session="s",
                agent=replace(known, start=f"{known.start}0"),
            )
            monkeypatch.setattr(stage, "seat", lambda: gone)
            with pytest.raises(NotHeld, match="pro0 member restart"):
                checks.resume(stage)
            assert stranger.poll() is None
        finally:
            stranger.kill()
            scratch.remove()


def test_a_machine_that_takes_no_file_is_no_fault_of_the_agent(stand_in: Path, home: Path) -> None:
    """The command, and all that it starts, may write only 1024 bytes to a file, as on a disk that is full."""
    limited = f"ulimit -f 2; exec {sys.executable} -m pro0 agent prove claude --patience 10"
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, timeout=STUCK)
    assert (done.returncode, "does not hold" in done.stdout) == (6, False), done.stdout + done.stderr
    assert "pro0: the proof broke off: pro0 team start: " in done.stderr
    assert proofs.known(home).proofs == ()


@pytest.fixture
def stage() -> Iterator[ProofStage]:
    """A proof of which nothing runs yet."""
    scratch = Scratch("proof")
    with Provider().serving() as provider:
        try:
            make(scratch, "claude", provider)
            yield ProofStage(adapter_named("claude"), scratch, provider, 5)
        finally:
            scratch.remove()


def missed(_stage: ProofStage) -> None:
    raise NotHeld("it is crashed, not idle")


def test_what_is_missed_while_the_disk_is_full_is_no_verdict(
    stage: ProofStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(checks.CHECKS, ProofCheck.READY, missed)
    assert [one.why for one in tried(stage, [ProofCheck.READY])] == ["it is crashed, not idle"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        with pytest.raises(EnvironmentMissing, match=r"nothing can be written to \S+: File too large"):
            tried(stage, [ProofCheck.READY])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_is_missed_while_the_model_understands_nothing_is_no_verdict(
    stage: ProofStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(checks.CHECKS, ProofCheck.READY, missed)
    asked = Request(f"{stage.provider.url}/v1/messages", data=b"no JSON", method="POST")
    with pytest.raises(HTTPError, match="400") as answered:
        urlopen(asked)
    answered.value.close()
    with pytest.raises(EnvironmentMissing, match="does not understand claude: POST /v1/messages: JSONDecodeError"):
        tried(stage, [ProofCheck.READY])


def tried(stage: ProofStage, names: list[ProofCheck]) -> list[CheckResult]:
    alone = run.ProofRun(1, Interruption(), on_check=lambda _check: None, on_result=lambda _result: None)
    return list(run._tried(stage, names, alone))


def test_a_reader_who_leaves_ends_all_without_a_word(stand_in: Path, home: Path) -> None:
    stand_in.write_text(QUICK)
    reader, writer = os.pipe()
    os.close(reader)
    argv = [sys.executable, "-m", "pro0", "agent", "prove", "claude"]
    try:
        done = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=STUCK)
    finally:
        os.close(writer)
    assert (done.returncode, "broke" in done.stderr.lower()) == (1, False), done.stderr
    assert proofs.known(home).proofs == ()
