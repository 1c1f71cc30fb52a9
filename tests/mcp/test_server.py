"""The server as a process: both eras in raw lines, garbage, ends, and nothing on stdout but the protocol (check 75)."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0 import processes
from pro0.wire import LINE_LIMIT, TOOLS_LISTED
from tests.conftest import Result
from tests.mcp.conftest import Serve
from tests.mcp.served import ENVELOPE, PATIENCE, program
from tests.waiting import wait_until


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_handshake_era_line_by_line(serve: Serve, version: str) -> None:
    server = serve().open(version)
    names = [tool["name"] for tool in server.ask("tools/list")["result"]["tools"]]
    assert "create_team" in names
    assert server.ask("ping") == {"jsonrpc": "2.0", "id": 3, "result": {}}
    result = server.call("list_tasks")
    assert (result["isError"], result["structuredContent"]["error"]["code"]) == (True, "no_team")
    assert server.close() == 0
    assert (server.rest(), server.errors()) == (b"", "")


def test_the_stateless_era_line_by_line(serve: Serve) -> None:
    server = serve()
    found = server.ask("server/discover", {"_meta": ENVELOPE})["result"]
    assert (found["supportedVersions"], found["resultType"]) == (["2026-07-28"], "complete")
    assert server.ask("tools/list", {"_meta": ENVELOPE})["result"]["tools"]
    called = server.ask("tools/call", {"name": "list_tasks", "_meta": ENVELOPE})["result"]
    assert (called["resultType"], called["isError"]) == ("complete", True)
    assert server.ask("tools/call", {"name": "no_such", "_meta": ENVELOPE})["error"]["code"] == -32602
    old = ENVELOPE | {"io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    assert server.ask("tools/list", {"_meta": old})["error"]["code"] == -32022
    assert server.close() == 0


def test_a_file_tells_that_its_tools_are_listed(serve: Serve, tmp_path: Path) -> None:
    told = tmp_path / "tools.listed"
    server = serve(**{TOOLS_LISTED: str(told)}).open()
    assert server.ask("ping") == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert not told.exists()
    assert server.ask("tools/list")["result"]["tools"]
    wait_until(told.exists, PATIENCE, "the file is there")
    assert (told.read_bytes(), told.stat().st_mode & 0o777) == (b"", 0o600)


def test_a_file_that_cannot_be_made_is_no_fault(serve: Serve, tmp_path: Path) -> None:
    server = serve(**{TOOLS_LISTED: str(tmp_path / "none" / "tools.listed")}).open()
    assert server.ask("tools/list")["result"]["tools"]
    assert server.ask("ping")["result"] == {}


def test_garbage_in_between_spoils_nothing(serve: Serve) -> None:
    """AC-54"""
    server = serve().open()
    for garbage, code in [(b"hello\n", -32700), (b"\xff\xfe\0\n", -32700), (b"[1,2]\n", -32600), (b"{}\n", -32600)]:
        server.say(garbage)
        assert server.hear()["error"]["code"] == code
    server.say(b"\n \r\n")
    assert server.ask("ping")["result"] == {}


def test_a_line_of_ten_megabytes_and_one_that_is_deep(serve: Serve) -> None:
    """The server stays small, and answers what comes next."""
    server = serve().open()
    server.say(b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":"' + b"x" * 10_000_000 + b'"}}\n')
    assert server.hear()["error"]["code"] == -32600
    server.say(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n")
    assert server.hear()["error"]["code"] == -32600
    server.say(b"[" * (LINE_LIMIT - 1) + b"\n")
    assert server.hear()["error"]["code"] == -32600
    assert server.ask("ping")["result"] == {}


def test_a_message_may_come_in_pieces_and_several_at_once(serve: Serve) -> None:
    server = serve().open()
    pings = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % id for id in (100, 101, 102))
    for start in range(0, len(pings), 7):
        server.say(pings[start : start + 7])
    assert [server.hear()["id"] for _ in range(3)] == [100, 101, 102]


def test_a_client_that_does_not_read_is_answered_when_it_does(serve: Serve) -> None:
    """Bounded: the pipes fill, the server waits, nothing is lost."""
    server = serve().open()
    asked = [server.request("tools/list") for _ in range(40)]
    assert [server.hear()["id"] for _ in asked] == asked


def test_what_was_asked_before_the_end_of_input_is_answered(home: Path, tmp_path: Path) -> None:
    """As scripts do it: lines in, the end, lines out."""
    call = {"name": "list_tasks", "_meta": ENVELOPE}
    lines = [{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call} for id in (1, 2)]
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"jsonrpc":"2.0","id":3,"met'
    done = subprocess.run(program(), input=text, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_clean(serve: Serve, number: int) -> None:
    server = serve().open()
    server.process.send_signal(number)
    assert server.process.wait(PATIENCE) == 0
    assert (server.rest(), server.errors()) == (b"", "")


def test_a_reader_that_is_gone_ends_it(serve: Serve) -> None:
    server = serve().open()
    assert server.process.stdout
    server.process.stdout.close()
    server.request("tools/list")
    assert server.process.wait(PATIENCE) == 0
    assert server.errors() == ""


PARENT = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[3:], stdin=int(sys.argv[1]), stdout=open(sys.argv[2], "wb"))
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_the_end_of_its_parent_ends_it(home: Path, tmp_path: Path) -> None:
    """Also when somebody else holds the input open, as in the field's piles of orphaned servers."""
    orphaned(tmp_path)


@pytest.mark.soak
def test_a_hundred_rounds_leave_no_server(serve: Serve, tmp_path: Path) -> None:
    """Check 75: by turns its parent is killed, its input ends, it is asked to end."""
    for _ in range(34):
        orphaned(tmp_path)
        assert serve().open().close() == 0
        asked = serve().open()
        asked.process.terminate()
        assert asked.process.wait(PATIENCE) == 0


def orphaned(folder: Path) -> None:
    """Start a server whose parent is killed, and wait for its end."""
    said = folder / "said"
    reader, writer = os.pipe()
    os.write(writer, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(reader), str(said), *program()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[reader],
        text=True,
        cwd=folder,
    )
    with parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        wait_until(said.read_bytes, PATIENCE, "the server is there")
        parent.kill()
    wait_until(lambda: processes.identify(pid) is None, PATIENCE, "the server has ended")
    os.close(reader)
    os.close(writer)


NOISE = """
import sys, warnings
from pro0.mcp.tools import table as tools
real = tools.harmless
def noisy(*values):
    import os
    print("printed")
    os.write(1, b"written to one\\n")
    os.system("echo from a child; cat")
    warnings.warn("warned")
    return real(*values)
tools.harmless = noisy
"""


@pytest.mark.parametrize("options", [(), ("-X", "dev", "-W", "always")])
def test_nothing_but_the_protocol_reaches_stdout(serve: Serve, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Prints, warnings, and what children write; and no child takes the input away."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nif sys.argv[-1:] == ['mcp']:\n    pass\n{NOISE}")
    server = serve(*options, PYTHONPATH=f"{tmp_path}{os.pathsep}{os.getcwd()}").open()
    assert server.call("list_tasks")["isError"]
    assert server.ask("ping")["result"] == {}
    assert server.close() == 0
    assert server.rest() == b""
    if not options:
        assert {"printed", "written to one", "from a child"} <= set(server.errors().splitlines())


NO_THREAD = """
import threading
real = threading.Thread.start
def once(self):
    threading.Thread.start = real
    raise RuntimeError("can't start new thread")
threading.Thread.start = once
"""


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_call_for_which_the_system_has_no_thread_ends_no_server(
    serve: Serve, tmp_path: Path, *, is_cancelled: bool
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_THREAD)
    server = serve(PYTHONPATH=f"{tmp_path}{os.pathsep}{os.getcwd()}").open()
    call = {"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {"name": "list_tasks"}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 50}}
    lines = [json.dumps(message).encode() + b"\n" for message in (call, cancel)]
    server.say(b"".join(lines if is_cancelled else lines[:1]))
    if not is_cancelled:
        said = "no thread is free for this call (can't start new thread): try again"
        assert server.hear()["error"] == {"code": -32603, "message": said}
    assert server.call("list_tasks")["structuredContent"]["error"]["code"] == "no_team"


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_stream_that_is_closed_from_the_start_is_no_crash(home: Path, tmp_path: Path, closed: int) -> None:
    def close() -> None:
        os.close(closed)

    done = subprocess.run(
        program(),
        input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=PATIENCE,
        preexec_fn=close,
    )
    assert "Traceback" not in done.stderr
    if closed == 2:
        assert json.loads(done.stdout)["id"] == 1


def test_a_home_that_cannot_be_one_is_said_by_every_call(serve: Serve) -> None:
    server = serve(PRO0_HOME="/tmp/a\nb").open()
    assert server.call("list_tasks")["structuredContent"]["error"]["code"] == "bad_input"
    assert server.close() == 0


def test_an_agent_that_asks_for_two_teams_at_once_leads_one(
    serve: Serve, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("from pro0.mcp import waiting; waiting.led = lambda _: None")
    server = serve(PYTHONPATH=f"{tmp_path}{os.pathsep}{os.getcwd()}").open()
    for name in ("alpha", "beta"):
        server.request("tools/call", {"name": "create_team", "arguments": {"name": name}})
    answers = [server.hear()["result"] for _ in range(2)]
    assert sorted(answer.get("isError", False) for answer in answers) == [False, True]
    assert len(os.listdir(home / "teams")) == 1


def test_a_slow_call_stops_neither_a_ping_nor_a_cancel(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one call waits for a lead, others are answered; a cancelled one is not."""
    slow = "import time; from pro0.mcp import waiting; waiting.led = lambda _: time.sleep(600)"
    (tmp_path / "sitecustomize.py").write_text(slow)
    server = serve(PYTHONPATH=f"{tmp_path}{os.pathsep}{os.getcwd()}").open()
    waiting = server.request("tools/call", {"name": "create_team", "arguments": {"name": "alpha"}})
    assert server.ask("ping")["result"] == {}
    wait_until(lambda: not server.call("list_tasks").get("isError"), PATIENCE, "the team is made, its lead waited for")
    server.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}})
    assert server.ask("ping")["result"] == {}
    assert server.close() == 0
    assert server.rest() == b""


@pytest.mark.parametrize("given", ["", "[[", "[]", "[" * 5000, "\ud800"])
def test_one_call_for_another_machine_refuses_what_are_no_arguments(cli: Callable[..., Result], given: str) -> None:
    """Issue 19, must show 4: what a machine sends is read like any message."""
    done = cli("mcp", "--call", "list_tasks", stdin=given.encode(errors="replace").decode())
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 2
