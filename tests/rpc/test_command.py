"""`pro0 rpc`: one call with the exit codes of every command, and a bridge for editors."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from pro0.rpc.table import METHODS
from pro0.store.teams import TeamStore
from tests.conftest import Result
from tests.engine.crew import Crew, crew
from tests.teams import granted, make_team
from tests.waiting import STUCK

Cli = Callable[..., Result]
PROGRAM = [sys.executable, "-c", "import sys; from pro0.cli.main import entry; sys.exit(entry())", "rpc"]


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "lead", "w1")


class TestCall:
    """One call, done by this process: no lead is needed."""

    def test_the_result_is_json(self, cli: Cli, team: TeamStore) -> None:
        params = {"title": "parse", "description": "the input", "role_id": None}
        made = json.loads(cli("rpc", "ticket.create", json.dumps(params), "-t", "alpha").out)
        assert made["status"] == "open"
        assert json.loads(cli("rpc", "task.show", "-", "-t", "alpha", stdin='["1"]').out) == made
        [listed] = json.loads(cli("rpc", "task.list", "-t", "alpha").out)
        assert listed == made

    def test_the_document_of_all_methods(self, cli: Cli, team: TeamStore) -> None:
        found = json.loads(cli("rpc", "rpc.discover", "-t", "alpha").out)
        assert {one["name"] for one in found["methods"]} == {*METHODS, "rpc.discover"}

    def test_it_is_whoever_calls(self, cli: Cli, team: TeamStore) -> None:
        params = json.dumps({"to": "lead", "content": "hello"})
        assert json.loads(cli("rpc", "message.send", params, "-t", "alpha").out)["from"] == "human"
        sent = cli("rpc", "message.send", params, "-t", "alpha", env=granted(team, "w1"))
        assert json.loads(sent.out)["from"] == "w1"

    @pytest.mark.parametrize(
        ("words", "code", "says"),
        [
            (["task.show", '["task-9"]'], 3, "task-9"),
            (["task.show", '{"id": 1}'], 2, "'id'"),
            (["task.show", "{"], 2, "not JSON"),
            (["task.show", "7"], 2, "neither an object nor an array"),
            (["task.show", "[" * 50_000], 2, "deep"),
            (["no.such"], 2, "no.such"),
            (["no.such\x1b[2J"], 2, "no.such"),
            (["task.approve", '["task-1"]'], 4, "only a person"),
            ([], 2, "--stdio"),
            (["task.list", "--stdio"], 2, "--stdio"),
        ],
    )
    def test_an_error_is_told_as_by_every_command(
        self, cli: Cli, team: TeamStore, words: list[str], code: int, says: str
    ) -> None:
        result = cli("rpc", *words, "-t", "alpha")
        assert (result.code, result.out) == (code, "")
        first, *hints = result.err.splitlines()
        assert first.startswith("pro0: ")
        assert says in first
        assert "\x1b" not in result.err
        assert [hint[:5] for hint in hints] == ["hint:"]


@pytest.fixture
def alpha(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with crew(home, tmp_path, "headless") as made:
        made.lead()
        yield made


class Editor:
    """A program that starts the bridge and speaks to it."""

    def __init__(self, folder: Path, *, framed: bool) -> None:
        self._framed = framed
        self.process = subprocess.Popen(
            [*PROGRAM, "--stdio", "-t", "alpha"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=os.environ,
        )

    @property
    def source(self) -> IO[bytes]:
        assert self.process.stdout
        return self.process.stdout

    def say(self, message: object) -> None:
        """Send a message, in several lines where a header says how long it is."""
        assert self.process.stdin
        body = json.dumps(message, indent=1 if self._framed else None, ensure_ascii=False).encode()
        head = b"Content-Type: application/vscode-jsonrpc\r\ncontent-length: %d\r\n\r\n" % len(body)
        first = b"Content-Length: %d\r\n\r\n" % len(body)
        self.process.stdin.write((first if message is FIRST else head) + body if self._framed else body + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Return the next message."""
        if not self._framed:
            return json.loads(self.source.readline())
        name, _, size = self.source.readline().partition(b": ")
        assert (name, self.source.readline()) == (b"Content-Length", b"\r\n")
        return json.loads(self.source.read(int(size)))

    def end(self) -> tuple[int, bytes, str]:
        """Close its input and return the exit code, what it said besides, and its talk."""
        out, err = self.process.communicate(timeout=STUCK)
        return self.process.returncode, out, err.decode()


FIRST = {"jsonrpc": "2.0", "id": 1, "method": "ticket.list.subscribe"}


@pytest.mark.parametrize("framed", [False, True])
def test_an_editor_speaks_over_stdio(alpha: Crew, tmp_path: Path, framed: bool) -> None:
    """In lines, or with headers as in the Language Server Protocol: texts arrive as they are."""
    editor = Editor(tmp_path, framed=framed)
    editor.say(FIRST)
    assert editor.hear()["result"]["tickets"] == []
    title = "two words, é \u2028 and 😀"
    create = {"title": title, "description": "one\r\ntwo", "role_id": None}
    editor.say({"jsonrpc": "2.0", "id": 2, "method": "ticket.create", "params": create})
    made, told = sorted((editor.hear(), editor.hear()), key=lambda message: "method" in message)
    assert made["result"] == told["params"]["ticket"]
    assert (alpha.task("1").title, alpha.task("1").description) == (title, "one\r\ntwo")
    for number in range(3, 20):
        editor.say({"jsonrpc": "2.0", "id": number, "method": "team.cost"})
    code, out, err = editor.end()
    assert (code, err) == (0, "")
    assert out.count(b'"result"') == 17, "what was asked is answered after the end of the input too"


@pytest.mark.parametrize("framed", [False, True])
def test_a_lead_that_goes_is_told_and_ends_the_bridge(alpha: Crew, tmp_path: Path, framed: bool) -> None:
    editor = Editor(tmp_path, framed=framed)
    editor.say(FIRST)
    editor.hear()
    alpha.leads[-1].kill()
    alpha.leads[-1].wait()
    assert editor.process.wait(STUCK) == 6
    _, out, err = editor.end()
    assert out == b""
    assert err.splitlines() == ["pro0: the lead of alpha has gone", "hint: pro0 team resume"]


def test_a_header_without_a_length_is_told_and_ends_the_bridge(alpha: Crew, tmp_path: Path) -> None:
    """The input stays open: nothing that comes behind can be read."""
    editor = Editor(tmp_path, framed=True)
    assert editor.process.stdin
    editor.process.stdin.write(b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}")
    editor.process.stdin.flush()
    heard = editor.hear()
    assert (heard["id"], heard["error"]["code"]) == (None, -32700)
    assert editor.process.wait(STUCK) == 2
    assert [line.partition(": ")[0] for line in editor.end()[2].splitlines()] == ["pro0", "hint"]


def test_a_team_without_a_lead_gets_one(alpha: Crew, tmp_path: Path) -> None:
    alpha.leads[-1].kill()
    alpha.leads[-1].wait()
    editor = Editor(tmp_path, framed=False)
    editor.say(FIRST)
    assert editor.hear()["result"]["tickets"] == []
    assert editor.end()[0] == 0
