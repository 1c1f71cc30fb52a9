"""Start-up: what a server imports until its tools are listed, exactly; counts, never times (show 7)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.served import PATIENCE

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
    *("pro0", "pro0.cli", "pro0.cli.main", "pro0.errors", "pro0.model", "pro0.model.ids", "pro0.ops"),
    *("pro0.ops.identity", "pro0.store", "pro0.store.root"),
    *("pro0.mcp", "pro0.mcp.channel", "pro0.mcp.listing", "pro0.mcp.protocol", "pro0.mcp.server", "pro0.mcp.wire"),
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


MEMBER = {"PRO0_AGENT_ID": "w1", "PRO0_INCARNATION": "i", "PRO0_TEAM": "alpha"}
LOOKING = {"pro0.rules", "pro0.rules.text", "pro0.store.paths", "pathlib"}
"""What else is needed to look for a guard above, which an agent from outside does."""


@pytest.mark.parametrize(("member", "more"), [(MEMBER, frozenset()), ({}, LOOKING)], ids=["member", "outside"])
def test_until_its_tools_are_listed_it_imports_next_to_nothing(
    home: Path, member: dict[str, str], more: frozenset[str]
) -> None:
    text = "".join(json.dumps(line) + "\n" for line in LINES)
    argv = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {os.getcwd()!r})\n{CODE}"]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=PATIENCE, env=os.environ | member)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    found = set(done.stderr.partition("MODULES ")[2].split())
    ours = {name for name in found if name.partition(".")[0] == "pro0"}
    assert {name for name in ours if not name.startswith("pro0.processes")} - more == OURS
    assert more or not {name for name in ours if name.startswith("pro0.processes")}
    assert {name.partition(".")[0] for name in found - ours} <= sys.stdlib_module_names
    assert not found & HEAVY - more
