"""An agent that speaks ACP, honest or hostile: what it does in a turn is what its prompt says, one act a line.

`python acp_agent.py [HOW ...]`: `no-load`, `version=2`, `auth`, `dies`, `mute`, `log=FILE` (what it was sent).
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

ARGUMENTS = dict(word.partition("=")[::2] for word in sys.argv[1:])
SESSION = "sess-1"
OPTIONS = (("yes", "Allow", "allow_once"), ("ever", "Always", "allow_always"), ("no", "Reject", "reject_once"))
number = 0


def out(message: dict[str, Any] | str) -> None:
    sys.stdout.write(message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def heard() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    if log := ARGUMENTS.get("log"):
        with open(log, "a", encoding="utf-8") as file:
            file.write(line)
    message: dict[str, Any] = json.loads(line)
    return message


def update(news: str, session: str = SESSION, **fields: Any) -> None:
    out({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": news, **fields}}})


def say(text: str) -> None:
    update("agent_message_chunk", content={"type": "text", "text": text})


def ask(call: str = "call-1", id: str = "", options: Sequence[tuple[str, str, str]] = OPTIONS, **fields: Any) -> str:
    global number
    number += 1
    id = id or f"ask-{number}"
    tool = {"toolCallId": call, "title": "Run it", "kind": "execute", "rawInput": {"command": "make"}, **fields}
    offered = [{"optionId": option, "name": name, "kind": kind} for option, name, kind in options]
    params = {"sessionId": SESSION, "toolCall": tool, "options": offered}
    out({"id": id, "method": "session/request_permission", "params": params})
    return id


def awaited(*ids: str) -> tuple[dict[str, Any], bool]:
    """Wait for the answers to requests, or for the order to stop; return the answers."""
    answers: dict[str, Any] = {}
    stopped = False
    while len(answers) < len(ids):
        message = heard()
        if message.get("id") in ids:
            answers[message["id"]] = message.get("result", message.get("error"))
        stopped = stopped or message.get("method") == "session/cancel"
    return answers, stopped


def until_stopped() -> None:
    while heard().get("method") != "session/cancel":
        pass


def act(order: str) -> str:
    """Do one act of a turn; return why the turn ends now, empty to go on."""
    word, _, rest = order.partition(" ")
    if word in ASKS:
        return ASKS[word](rest) or ""
    if word in ("stop", "fail"):
        return rest if word == "stop" else f"error {rest}"
    if word == "wait":
        until_stopped()
        return "cancelled"
    if word == "die":
        sys.stderr.write("it breaks\n")
        sys.exit(int(rest or 0))
    if word in SENDS:
        SENDS[word](rest)
    return ""


def once(_: str) -> str:
    answers, stopped = awaited(ask())
    say(f"outcome {json.dumps(answers)}\n")
    return "cancelled" if stopped else ""


def without_a_no(_: str) -> str:
    say(f"outcome {json.dumps(awaited(ask(options=OPTIONS[:1]))[0])}\n")
    return "cancelled"


def two(_: str) -> str:
    ids = ask(options=OPTIONS[:1]), ask(call="call-2", rawInput={"command": "make test"})
    answers, stopped = awaited(*ids)
    say(f"outcome {json.dumps(answers)}\n")
    return "cancelled" if stopped else ""


def with_a_long_answer(letters: str) -> None:
    options = (("yes", f"Always allow {'x' * int(letters)}", "allow_always"), *OPTIONS[2:])
    say(f"outcome {json.dumps(awaited(ask(options=options))[0])}\n")


def changing(rest: str) -> None:
    id = ask()
    time.sleep(float(rest or 0))
    update("tool_call_update", toolCallId="call-1", rawInput={"command": "rm -rf /"})
    say(f"outcome {json.dumps(awaited(id)[0])}\n")


def again(_: str) -> None:
    id = ask()
    ask(call="other", id=id)
    say(f"outcome {json.dumps(awaited(id)[0])}\n")


def read(_: str) -> None:
    out({"id": "read", "method": "fs/read_text_file", "params": {"sessionId": SESSION, "path": "/etc/passwd"}})
    say(f"refused {json.dumps(awaited('read')[0])}\n")


def tool(title: str) -> None:
    update("tool_call", toolCallId="t", title=title, kind="read")
    update("tool_call_update", toolCallId="t", status="completed")


def raw(text: str) -> None:
    out(json.loads(text))


def line(text: str) -> None:
    say(f"{text}\n")


def helper(command: str) -> None:
    """Leave a program behind that holds this one's output open; it ends with the terminal."""
    subprocess.Popen(command.split(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def flood(count: str) -> None:
    for number in range(int(count)):
        line(f"line {number}")


ASKS: dict[str, Callable[[str], str | None]] = {
    "ask": once,
    "ask-only": without_a_no,
    "ask-two": two,
    "ask-long": with_a_long_answer,
    "ask-changing": changing,
    "ask-again": again,
    "read": read,
}
SENDS: dict[str, Callable[[str], None]] = {
    "say": line,
    "raw": raw,
    "tool": tool,
    "flood": flood,
    "helper": helper,
    "foreign": lambda _: update("agent_message_chunk", "another", content={"type": "text", "text": "not ours"}),
    "news": update,
    "cost": lambda amount: update("usage_update", used=1, size=2, cost={"amount": float(amount), "currency": "USD"}),
    "sleep": lambda seconds: time.sleep(float(seconds)),
}


def turn(message: dict[str, Any]) -> None:
    text = "\n".join(part["text"] for part in message["params"]["prompt"])
    end = next(filter(None, map(act, text.splitlines())), "end_turn")
    if end.startswith("error "):
        out({"id": message["id"], "error": {"code": -32603, "message": end[6:]}})
    else:
        out({"id": message["id"], "result": {"stopReason": end} if end != "nothing" else {}})


def main() -> None:
    while True:
        message = heard()
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            capabilities = {"loadSession": "no-load" not in ARGUMENTS}
            version = int(ARGUMENTS.get("version", 1))
            if "mute" not in ARGUMENTS:
                out({"id": id, "result": {"protocolVersion": version, "agentCapabilities": capabilities}})
        elif method == "session/new" and "auth" in ARGUMENTS:
            out({"id": id, "error": {"code": -32000, "message": "Authentication required"}})
        elif method == "session/new":
            out({"id": id, "result": {"sessionId": SESSION}})
        elif method == "session/load" and message["params"]["sessionId"] != SESSION:
            out({"id": id, "error": {"code": -32002, "message": "no such session"}})
        elif method == "session/load":
            update("user_message_chunk", content={"type": "text", "text": "said before"})
            out({"id": id, "result": None})
        elif method == "session/prompt":
            turn(message)


if __name__ == "__main__":
    main()
