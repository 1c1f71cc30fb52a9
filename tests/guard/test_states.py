"""What an agent says of itself by the pipe of its guard."""

import shlex
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.runtime import Report, State
from tests.guard.sessions import Session, python
from tests.waiting import STUCK, wait_until


def say(*lines: str) -> str:
    """Return shell that writes lines to the guard."""
    return "".join(f"printf '%s\\n' {shlex.quote(line)} >&$PRO0_STATE_FD\n" for line in lines)


def told(session: Session, *lines: str) -> Report:
    """Return the report after these lines, and one more that ends them."""
    session.start(["sh", "-c", say(*lines, '{"note": "the last"}') + "exec sleep 600"])
    return session.reported(lambda report: report.note == "the last", "the last note")


def test_the_agents_word_goes_into_the_report(session: Session) -> None:
    found = told(session, '{"state": "working", "task": "task-3", "note": "é 😀"}')
    assert (found.state, found.task) == (State.WORKING, "task-3")
    assert found.exit is None
    assert found.agent
    assert processes.alive(found.agent)


def test_what_is_not_mentioned_stays(session: Session) -> None:
    found = told(session, '{"state": "working", "task": "task-3"}', '{"note": "halfway"}', '{"state": "waiting"}')
    assert (found.state, found.task) == (State.WAITING, "task-3")


def test_a_task_can_be_laid_down(session: Session) -> None:
    found = told(session, '{"state": "working", "task": "task-3"}', '{"state": "idle", "task": null}')
    assert (found.state, found.task) == (State.IDLE, None)


def test_since_is_the_moment_of_the_change(session: Session, tmp_path: Path) -> None:
    before, after = say('{"state": "working"}'), say('{"state": "working", "note": "still"}')
    wait = f"until [ -e {tmp_path}/on ]; do sleep 0.01; done\n"
    session.start(["sh", "-c", f"{before}{wait}{after}exec sleep 600"])
    first = session.reported(lambda report: report.state is State.WORKING, "work")
    (tmp_path / "on").touch()
    second = session.reported(lambda report: report.note == "still", "the note")
    assert second.since == first.since
    assert second.revision == first.revision + 1


GARBAGE = [
    "no JSON",
    "{",
    "[]",
    "3",
    '{"state": "dancing"}',
    '{"state": "crashed"}',
    '{"state": "exited", "note": "not for an agent to say"}',
    '{"state": null}',
    '{"state": ["idle"]}',
    '{"state": {}}',
    '{"task": 3}',
    '{"task": "\\ud800"}',
    '{"note": null}',
    '{"note": "\\udfff"}',
    '{"state": "idle", "note": 1}',
    "[" * 10_000,
    '{"note": "' + "x" * 20_000 + '"}',
    "",
]


def test_garbage_is_not_heard(session: Session) -> None:
    found = told(session, '{"state": "working", "task": "task-3", "note": "good"}', *GARBAGE)
    assert (found.state, found.task) == (State.WORKING, "task-3")


@pytest.mark.parametrize(
    "noise", ["b'\\xff\\xfe\\n'", "b'x' * 1_000_000 + b'\\n'", "b'\\n' * 100_000", "b'{\"note\": \"' + b'y' * 100_000"]
)
def test_noise_is_not_heard(session: Session, noise: str) -> None:
    """However much of it, and where its lines end; what comes after it is heard."""
    program = f"""
import os, time
state = int(os.environ["PRO0_STATE_FD"])
def say(data):
    while data:
        data = data[os.write(state, data):]
say({noise})
say(b'\\n{{"state": "idle", "unknown": "key"}}\\n')
time.sleep(600)
"""
    session.start(python(program))
    found = session.reported(lambda report: report.state is State.IDLE, "the state after the noise")
    assert found.note == ""


def test_the_last_word_before_the_end_is_heard(session: Session) -> None:
    guard = session.start(["sh", "-c", say('{"state": "error", "note": "out of quota"}') + "exit 9"])
    assert guard.wait(STUCK) == 9
    found = session.report()
    assert (found.state, found.note) == (State.CRASHED, "out of quota")


def test_an_agent_that_closes_the_pipe_is_guarded_on(session: Session, tmp_path: Path) -> None:
    script = f'eval "exec $PRO0_STATE_FD>&-"; echo > {tmp_path}/closed; exec sleep 600'
    guard = session.start(["sh", "-c", script])
    wait_until((tmp_path / "closed").exists, 10, "the pipe is closed")
    agent = session.agent()
    assert processes.alive(agent)
    guard.terminate()
    assert guard.wait(STUCK) == 143
    assert session.report().state is State.SHUTDOWN
