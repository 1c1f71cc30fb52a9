"""A verdict needs a person's terminal, and the PIN where there is one (rulings 5.6)."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.engine.cleanup import cleanup
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Draft
from pro0.ops.catalog import OPERATIONS
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.store.teams import Store
from tests.cli.conftest import Pro0, make, seat
from tests.cli.test_warm import served
from tests.conftest import Result
from tests.forks import start_in_terminal

SCRIPT = str(Path(sys.executable).with_name("pro0"))
VERDICTS = {
    *("task.approve", "task.reject", "task.clear", "task.close", "task.continue"),
    *("plan.approve", "plan.reject", "permission.answer", "team.limit", "member.env", "member.revoke"),
    "member.forget",
}
LINES = {
    "approve": ("task", "approve", "1"),
    "reject": ("task", "reject", "1", "no"),
    "close": ("task", "close", "1"),
    "continue": ("task", "continue", "1"),
    "verdict": ("task", "update", "1", "--verdict", "approved"),
    "gate": ("task", "update", "1", "--requires", "none"),
    "delete": ("task", "delete", "1"),
    "limit": ("team", "cost", "--limit", "9"),
    "grant": ("member", "env", "w1"),
    "end a grant": ("member", "revoke", "w1"),
    "give a machine up": ("member", "forget", "w1"),
    "trust": ("config", "trust"),
    "allow": ("config", "set", "verdicts", "scripts"),
    "allow here": ("config", "set", "verdicts", "scripts", "--project"),
    "bypass": ("config", "set", "permissionMode", "bypass"),
    "pin": ("verdict", "pin"),
    "remove the pin": ("verdict", "pin", "--remove"),
    "forget": ("team", "forget", "gone", "--force"),
    "forget the old": ("team", "forget", "--before", "2100-01-01", "--force"),
    "uninstall": ("uninstall", "--yes"),
}
PIN, OTHER = "correct horse", "battery staple"


def typed(*words: str, answers: tuple[str, ...] = (), program: str = SCRIPT, **environment: str) -> Result:
    """Run the program in a terminal of its own, as a person does; each answer is typed at a question."""
    child, terminal = start_in_terminal([program, *words], os.environ | environment)
    said, left, end = b"", list(answers), time.monotonic() + 120
    try:
        while time.monotonic() < end:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # Linux's word for the end
                break
            if not part:
                break
            said += part
            if left and said.rstrip(b" ").endswith(b":"):
                os.write(terminal, left.pop(0).encode() + b"\n")
    finally:
        if time.monotonic() >= end:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(terminal)
    return Result(os.waitstatus_to_exitcode(status), said.decode(), "")


@pytest.fixture
def gated(home: Path, project: Path, cli: Callable[..., Result]) -> Callable[..., Result]:
    """A team without a lead, with a task that waits for its approval, and an archive; a program without a terminal."""
    tasks.create(make(home, "gone", project), [Draft(title="done")])
    cleanup(Store(home), "gone", force=False, show=lambda _: None)
    make(home, "alpha", project)
    assert cli("task", "create", "one", "--requires", "approval", "--awaiting", "approval").code == 0

    def bare(*words: str, **environment: str) -> Result:
        return cli(*words, env=environment)

    return bare


@pytest.fixture
def cli(home: Path) -> Callable[..., Result]:
    """The program in a session without a terminal, whatever the tests themselves are run in."""
    import subprocess

    def call(*words: str, env: dict[str, str] | None = None, stdin: str = "") -> Result:
        done = subprocess.run(
            [SCRIPT, *words],
            input=stdin,
            capture_output=True,
            text=True,
            env=os.environ | (env or {}),
            timeout=120,
            start_new_session=True,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return call


def verdict(home: Path) -> str:
    [task] = Store(home).team("alpha").tasks.read().tasks
    return str(task.status)


def test_which_operations_are_verdicts() -> None:
    assert {name for name, operation in OPERATIONS.items() if operation.verdict} == VERDICTS


@pytest.mark.parametrize("line", LINES)
def test_without_a_terminal_none_is_given(line: str, gated: Callable[..., Result], home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*.json")}
    called = gated(*LINES[line])
    assert (called.code, called.out) == (4, "")
    first, second = called.err.splitlines()
    assert "terminal" in first
    assert second.startswith("hint: ")
    assert {path: path.read_bytes() for path in home.rglob("*.json")} == before
    assert not (home / "config.yaml").exists()


@pytest.mark.parametrize("itself", ["", "1"], ids=["by a warm process", "by its own process"])
def test_a_hook_has_no_terminal_of_the_persons(itself: str, gated: Callable[..., Result], home: Path) -> None:
    """Rulings 5.6: a member may change the script that a hook names; it gives no verdict beside a person's command."""
    let = home.parent / "hook"
    let.write_text(f"#!/bin/sh\n(: < /dev/tty) && echo a terminal > {let}.has\n{SCRIPT} task approve 1 2> {let}.said\n")
    let.chmod(0o755)
    (home / "config.yaml").write_text(f"hooks: {{TaskCreated: '{let}'}}\n")
    assert typed("task", "create", "two", PRO0_DIRECT=itself).code == 0
    assert "no terminal" in Path(f"{let}.said").read_text()
    assert not Path(f"{let}.has").exists()
    assert {str(task.status) for task in Store(home).team("alpha").tasks.read().tasks} == {"pending"}


@pytest.mark.parametrize("words", [("approve", "1"), ("reject", "1", "no"), ("delete", "1"), ("close", "1")])
def test_in_a_terminal_it_is(words: tuple[str, ...], gated: Callable[..., Result]) -> None:
    called = typed("task", *words)
    assert "no terminal" not in called.out
    assert called.code == (4 if words[0] == "close" else 0), called


@pytest.mark.skipif(sys.platform != "linux", reason="a warm process works on Linux alone")
@pytest.mark.parametrize("line", ["verdict", "gate"])
def test_in_a_terminal_it_is_also_while_a_lead_works(line: str, gated: Callable[..., Result], home: Path) -> None:
    """A warm process has no terminal: it leaves the question to the command itself, as long as nothing was done."""
    with served(Context(Store(home).team("alpha"), THE_HUMAN)):
        called = typed(*LINES[line])
    assert called.code == 0, called


def test_a_grant_is_given_in_a_terminal_and_taken_by_the_shell(
    gated: Callable[..., Result], home: Path, tmp_path: Path
) -> None:
    """Its output goes into a pipe, as in `eval "$(pro0 member env w1)"`; the terminal is there all the same."""
    seat(Context(Store(home).team("alpha"), THE_HUMAN), "w1")
    line = f'eval "$({SCRIPT} member env w1)"; echo "I am $PRO0_AGENT_ID"'
    assert "I am w1" in typed("-c", line, program="/bin/sh").out
    assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    assert "I am w1" in typed("-c", line, program="/bin/sh", answers=(PIN,)).out
    assert gated("member", "revoke", "w1").code == 4
    assert typed("member", "revoke", "w1", answers=(PIN,)).code == 0
    assert json.loads(gated("member", "grants", "--json").out) == []


def test_an_archive_is_forgotten_by_who_knows_the_pin(gated: Callable[..., Result], home: Path) -> None:
    assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    refused = typed("team", "forget", "gone", "--force", answers=(OTHER,))
    assert (refused.code, len(Store(home).archives())) == (4, 1), refused
    done = typed("team", "forget", "gone", "--force", answers=(PIN,))
    assert (done.code, Store(home).archives()) == (0, []), done


def test_only_the_persons_own_word_lets_scripts_give_verdicts(gated: Callable[..., Result], home: Path) -> None:
    """Neither a variable, nor the project's file before it is trusted, nor `config set` by a program."""
    assert gated("task", "approve", "1", PRO0_VERDICTS="scripts", verdicts="scripts").code == 4
    Path(".pro0").mkdir()
    (Path(".pro0") / "config.yaml").write_text("verdicts: scripts\n")
    assert gated("task", "approve", "1").code == 4
    assert gated("config", "trust").code == 4
    assert typed("config", "trust").code == 0
    assert gated("task", "approve", "1").code == 0
    assert verdict(home) == "completed"


def test_a_person_allows_scripts_in_a_terminal(gated: Callable[..., Result], home: Path) -> None:
    assert typed("config", "set", "verdicts", "scripts").code == 0
    assert gated("task", "approve", "1").code == 0


def test_with_a_pin_every_verdict_asks_for_it(gated: Callable[..., Result], home: Path) -> None:
    assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    kept = json.loads((home / "pin.json").read_text())
    assert (home / "pin.json").stat().st_mode & 0o777 == 0o600
    assert PIN not in json.dumps(kept)
    assert "PIN" in gated("task", "approve", "1").err
    (home / "config.yaml").write_text("verdicts: scripts\n")
    refused = gated("task", "approve", "1")
    assert (refused.code, "a verdict PIN is set" in refused.err) == (4, True), "scripts are refused too"
    wrong = typed("task", "approve", "1", answers=(OTHER,))
    assert (wrong.code, "the PIN is wrong" in wrong.out, "tries left: 4" in wrong.out) == (4, True, True)
    right = typed("task", "approve", "1", answers=(PIN,))
    assert (right.code, PIN in right.out) == (0, False), "it is not shown"
    assert verdict(home) == "completed"
    assert json.loads((home / "pin.json").read_text())["wrong"] == 0


def test_a_pin_is_taken_from_a_terminal_alone(gated: Callable[..., Result], cli: Callable[..., Result]) -> None:
    assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    for words in (("task", "approve", "1"), ("verdict", "pin"), ("verdict", "pin", "--remove")):
        called = cli(*words, stdin=f"{PIN}\n{PIN}\n{PIN}\n", env={"PRO0_PIN": PIN, "PIN": PIN})
        assert called.code == 4, called
    assert cli("verdict", "pin", PIN).code == 2


def test_a_pin_is_changed_and_removed_by_who_knows_it(gated: Callable[..., Result], home: Path) -> None:
    assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    assert typed("verdict", "pin", answers=(OTHER,)).code == 4
    assert "not the same" in typed("verdict", "pin", answers=(PIN, OTHER, PIN)).out
    assert "changed" in typed("verdict", "pin", answers=(PIN, OTHER, OTHER)).out
    assert typed("verdict", "pin", "--remove", answers=(PIN,)).code == 4
    assert typed("verdict", "pin", "--remove", answers=(OTHER,)).code == 0
    assert typed("task", "approve", "1").code == 0
    assert "there is no PIN" in typed("verdict", "pin", "--remove").out


@pytest.mark.parametrize("bad", ["12345", "", "x" * 129])
def test_a_pin_has_a_length(bad: str, gated: Callable[..., Result], home: Path) -> None:
    assert typed("verdict", "pin", answers=(bad,)).code == 2
    assert not (home / "pin.json").exists()


def test_five_wrong_ones_lock_it_for_a_while(gated: Callable[..., Result], home: Path) -> None:
    """The right one is not taken either, nor is the PIN removed; the lock outlives every process."""
    assert typed("verdict", "pin", answers=(PIN, PIN)).code == 0
    for _ in range(5):
        assert "the PIN is wrong" in typed("task", "approve", "1", answers=(OTHER,)).out
    for words in (("task", "approve", "1"), ("verdict", "pin", "--remove"), ("verdict", "pin")):
        called = typed(*words, answers=(PIN, PIN, PIN))
        assert (called.code, "5 PINs were wrong: none is accepted for 15 minutes" in called.out) == (4, True)
    known = json.loads((home / "pin.json").read_text())
    (home / "pin.json").write_text(json.dumps({**known, "lockedUntil": "2020-01-01T00:00:00Z"}))
    assert typed("task", "approve", "1", answers=(PIN,)).code == 0


def test_a_try_that_is_killed_counts(gated: Callable[..., Result], home: Path) -> None:
    """A try is written down before it is looked at."""
    from datetime import UTC, datetime

    from pro0.errors import Refused
    from pro0.model.caller import Pin
    from pro0.rules.person import pin as rules

    now, known = datetime.now(UTC), Pin(hash="x")
    for number in range(1, rules.TRIES + 1):
        known = rules.tried(known, now)
        assert known.wrong == number
    with pytest.raises(Refused):
        rules.tried(known, now)
    assert rules.tried(known, now + rules.LOCKED).wrong == 1
    assert rules.right(known) == Pin(hash="x")


def test_doctor_offers_it(pro0: Pro0, project: Path) -> None:
    rows = {row["name"]: row for row in json.loads(pro0("doctor", "--json").out)["checks"]}
    assert (rows["verdicts"]["state"], rows["verdicts"]["mend"]) == ("ok", "")
    assert "pro0 verdict pin" in rows["verdicts"]["what"]
