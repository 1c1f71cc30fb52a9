"""`pro0 team logs` for people: a line says when, who, what, and leaves out what tells a person nothing."""

import json

import pytest

from pro0.cli.team import logs as team_logs
from pro0.cli.team.log_lines import text_of

SEAT = {"agentId": "w1", "name": "w1", "agent": "shell"}
LINES = {
    '{"event": "task.claim", "actor": "w2", "task": "task-1", "status": "in_progress"}': (
        "w2  task.claim  task=task-1  status=in_progress"
    ),
    '{"event": "team.create", "actor": "human", "project": "/p", "uid": "017", "tmux": "", "sockets": []}': (
        "human  team.create  project=/p"
    ),
    json.dumps({"event": "decided", "action": "start", "detail": {"seat": SEAT, "incarnation": "f", "ground": {}}}): (
        "lead  start w1"
    ),
    '{"event": "decided", "action": "tell", "detail": {"id": "x", "to": "lead", "content": "w1 is idle"}}': (
        "lead  tell lead: w1 is idle"
    ),
    '{"event": "decided", "action": "end", "detail": {"agentId": "w1", "incarnation": "f", "firm": true}}': (
        "lead  end w1  firm=True"
    ),
    '{"event": "decided", "action": "expire", "detail": {"taskId": "task-3", "epoch": 2, "minutes": 30}}': (
        "lead  expire task-3  minutes=30"
    ),
    '{"event": "ended", "left": [7, 8], "more": {"a": 1, "b": {"c": [1]}}}': "lead  ended  left=7,8  more=a:1,b:…",
    '{"event": "decided", "action": "x", "detail": "a\\u001b[2Jb"}': "lead  decided  action=x  detail=a\\x1b[2Jb",
    "{}": "lead  None",
}


@pytest.mark.parametrize(("event", "said"), LINES.items())
def test_a_line(event: str, said: str) -> None:
    assert text_of({"at": "a while ago", **json.loads(event)}) == f"a while ago  {said}"


def test_what_is_nested_without_end_is_one_line() -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    assert text_of({"at": "now", "event": "e", "deep": deep}) == "now  lead  e  deep=…"


def test_a_line_of_a_log_in_which_a_key_stands_twice_is_passed_over() -> None:
    """Rulings 5.5: it is damage, as a line is that was cut."""
    lines = [b'{"at": "2", "event": "a"}', b'{"at": "1", "event": "b", "event": "c"}', b'{"at": "0", "ev']
    assert [event["event"] for event in team_logs._events(lines)] == ["a"]


@pytest.mark.parametrize("levels", [600, 20_000])
def test_a_line_of_a_log_that_is_nested_too_deep_is_passed_over(
    levels: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of ours is; printed as JSON it ended the command."""
    deep = b'{"at": "1", "event": "b", "deep": ' + b"[" * levels + b"]" * levels + b"}"
    team_logs._print(team_logs._events([b'{"at": "2", "event": "a"}', deep]), as_json=True)
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()] == ["a"]
