"""How far a call is: told to who asks for it, for calls that take long."""

import json
from pathlib import Path
from typing import Any

import pytest

from pro0.rpc.calls import perform
from pro0.rpc.progress import taken, telling
from pro0.rpc.protocol import ID_LIMIT, RpcRequest
from pro0.store.teams import TeamStore
from pro0.wire import INVALID_PARAMS, Fault
from tests.rpc.calling import client
from tests.teams import make_team


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "lead", "w1")


def test_a_text_is_told_once_in_a_row_and_harmless() -> None:
    said: list[str] = []
    with telling("t", "task.start", said.append) as show:
        for text in ("one", "one", "two\x1b[31m", "one"):
            show(text)
    values: list[Any] = [json.loads(one)["params"]["value"] for one in said]
    assert [value["kind"] for value in values] == ["begin", *["report"] * 3, "end"]
    assert [value["message"] for value in values[1:-1]] == ["one", "two\\x1b[31m", "one"]


@pytest.mark.parametrize("token", ["t", "", "x" * ID_LIMIT, 0, -7, 2**40])
def test_a_token_is_a_text_or_a_whole_number(token: object) -> None:
    assert taken({"workDoneToken": token, "name": "w1"}) == (token, {"name": "w1"})


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}, "x" * (ID_LIMIT + 1)])
@pytest.mark.parametrize("method", ["task.list", "member.spawn"])
def test_another_token_is_refused(team: TeamStore, method: str, token: object) -> None:
    said: list[str] = []
    request = RpcRequest(method, {"workDoneToken": token}, lambda _: None)
    outcome = perform(client(team), request, said.append)
    assert isinstance(outcome, Fault)
    assert outcome.code == INVALID_PARAMS
    assert "workDoneToken" in str(outcome)
    assert said == []


def test_a_call_that_takes_no_time_tells_nothing(team: TeamStore) -> None:
    said: list[str] = []
    assert perform(client(team), RpcRequest("task.list", {"workDoneToken": 1}, lambda _: None), said.append) == "[]"
    assert perform(client(team), RpcRequest("task.list", [], lambda _: None), said.append) == "[]"
    assert said == []


def test_it_ends_however_the_call_does() -> None:
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt), telling(1, "task.start", said.append):
        raise KeyboardInterrupt
    assert [json.loads(one)["params"]["value"]["kind"] for one in said] == ["begin", "end"]
