"""Who a client of a team's socket is taken for: `over_rpc.py SOCKET TASK FILE` speaks, and tries a verdict and a grant.

FILE has one line of JSON, as that of `probe.py`.
"""

import json
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

ASKED = (
    ("task.comment.create", {"task_id": "{task}", "content": "here I am"}),
    ("task.approve", {"task_id": "{task}"}),
    ("member.env", {"name": "w1"}),
)


def answers(path: str, task: str) -> list[dict[str, Any]]:
    """Return the answer to each request, an empty one where the connection was closed."""
    found: list[dict[str, Any]] = []
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        stream = client.makefile("rb")
        for number, (method, params) in enumerate(ASKED):
            filled = {name: value.format(task=task) for name, value in params.items()}
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": filled}
            line = b""
            with suppress(OSError):
                client.sendall(json.dumps(request).encode() + b"\n")
                line = stream.readline()
            found.append(json.loads(line or b"{}"))
    return found


if __name__ == "__main__":
    comment, verdict, grant = answers(*sys.argv[1:3])
    who = comment.get("result", {}).get("author", "nobody")
    codes = {name: 0 if "result" in answer else 4 for name, answer in (("approve", verdict), ("env", grant))}
    told = Path(sys.argv[3])
    told.with_suffix(".new").write_text(json.dumps({"who": who, **codes, "answers": [comment, verdict, grant]}))
    told.with_suffix(".new").rename(told)
