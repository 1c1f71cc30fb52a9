"""Who a server of ours takes its caller for: `over_mcp.py FILE` asks a real one what it offers.

FILE has one line of JSON, as that of `probe.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

from pro0.mcp.listing import KINDS, LEAD_AGENT, MEMBER, OUTSIDE, file

WHO = {MEMBER: "w1", LEAD_AGENT: "lead", OUTSIDE: "human"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe", "version": "1"}}
ASKED = (
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


def listed(kind: str) -> set[str]:
    """Return the names of the tools that one kind of caller is offered."""
    return {tool["name"] for tool in json.loads(Path(file(kind)).read_bytes())["tools"]}


def offered() -> set[str] | None:
    """Return the names of the tools that are offered here, None when no server serves this caller."""
    lines = "".join(json.dumps({"jsonrpc": "2.0"} | one) + "\n" for one in ASKED)
    done = subprocess.run([sys.executable, "-I", "-m", "pro0", "mcp"], input=lines, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("id") == 2:
            return {tool["name"] for tool in answer["result"]["tools"]}
    return None


if __name__ == "__main__":
    names = offered()
    kinds = {kind for kind in KINDS if names == listed(kind)}
    who = next((WHO[kind] for kind in WHO if kind in kinds), "nobody" if names is None else "somebody")
    given = {name for name in names or () if "approve" in name and "shutdown" not in name and "plan" not in name}
    told = Path(sys.argv[1])
    told.with_suffix(".new").write_text(json.dumps({"who": who, "approve": 0 if given else 4, "env": 4}))
    told.with_suffix(".new").rename(told)
