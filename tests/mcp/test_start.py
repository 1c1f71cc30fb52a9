"""Start-up: what a server imports until its tools are listed, exactly; counts, never times (show 7)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pro0.model.runtime import State
from pro0.ops.context import new_id
from tests.conftest import Result
from tests.mcp.served import PATIENCE
from tests.ops.guarded import below_its_guard
from tests.teams import make_team, set_state

CODE = """
import os, sys
bare = set(sys.modules)
leave = os._exit
def end(code):
    print("MODULES", *sorted(set(sys.modules) - bare), file=sys.stderr, flush=True)
    leave(code)
os._exit = end
from pro0.cli.main import main
main(["mcp"])
"""
LINES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]
OURS = {
    *("pro0", "pro0.cli", "pro0.cli.interrupts", "pro0.cli.main", "pro0.errors"),
    *("pro0.model", "pro0.model.ids", "pro0.ops"),
    *("pro0.ops.identity", "pro0.store", "pro0.store.root"),
    *("pro0.mcp", "pro0.mcp.channel", "pro0.mcp.listing", "pro0.mcp.protocol", "pro0.mcp.server", "pro0.wire"),
}
HEAVY = {
    "asyncio",
    "typing",
    "pathlib",
    "inspect",
    "dataclasses",
    "logging",
    "subprocess",
    "threading",
    "socket",
    "selectors",
}


PROOF = {f"pro0.processes{part}" for part in ("", ".ending", ".linux", ".mark", ".pidfd", ".table", ".watch")}
"""What the proof of who this is needs: the processes above it, and the mark of a guard."""


@pytest.mark.parametrize("kind", ["member", "outside"])
def test_until_its_tools_are_listed_it_imports_next_to_nothing(home: Path, kind: str) -> None:
    text = "".join(json.dumps(line) + "\n" for line in LINES)
    argv = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {os.getcwd()!r})\n{CODE}"]
    if kind == "member":
        (home.parent / "lines").write_text(text)
        team = make_team(home, "w1")
        set_state(team, "w1", State.IDLE, incarnation=new_id())
        shell = ["sh", "-c", 'exec "$@" < "$0"', str(home.parent / "lines"), *argv]
        done = below_its_guard(team, "w1", shell)
    else:
        ended = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=PATIENCE)
        done = Result(ended.returncode, ended.stdout, ended.stderr)
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == [1, 2]
    found = set(done.err.partition("MODULES ")[2].split())
    ours = {name for name in found if name.partition(".")[0] == "pro0"}
    assert ours - PROOF == OURS
    assert sys.platform != "linux" or ours & PROOF == PROOF
    assert {name.partition(".")[0] for name in found - ours} <= sys.stdlib_module_names
    assert not found & HEAVY
