"""The chat completions API of OpenAI: what opencode and pi ask, and how they are answered."""

import json
from collections.abc import Iterator

from pro0.scripted_model.request import Json, ModelRequest, Utterance
from pro0.scripted_model.sse import event
from pro0.scripted_model.tools import Named
from pro0.scripted_model.turns import TurnUsage


def read(body: Json, _path: str) -> ModelRequest:
    """Return what a request asks for."""
    entries = [entry for message in body.get("messages", []) for entry in _entries(message)]
    tools = {tool["function"]["name"]: "" for tool in body.get("tools") or []}
    return ModelRequest("chat", body.get("model", ""), tuple(entries), tools, bool(body.get("stream")), body)


def whole(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Json:
    """Return an answer in one piece."""
    message = {"role": "assistant", "content": text or None, "tool_calls": _calls(calls, number)}
    choice = {"index": 0, "message": message, "finish_reason": _finish(calls)}
    return _body("chat.completion", number) | {"choices": [choice], "usage": _usage(usage)}


def stream(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Iterator[bytes]:
    """Yield an answer as a stream of events."""
    said: list[Json] = [{"role": "assistant", "content": text}]
    said += [{"tool_calls": [call | {"index": place}]} for place, call in enumerate(_calls(calls, number))]
    for delta in said:
        yield _chunk(number, [{"index": 0, "delta": delta, "finish_reason": None}])
    yield _chunk(number, [{"index": 0, "delta": {}, "finish_reason": _finish(calls)}])
    yield _chunk(number, [], usage=_usage(usage))
    yield b"data: [DONE]\n\n"


def error(status: int, text: str) -> Json:
    """Return the body of an error."""
    return {"error": {"type": "server_error", "code": str(status), "message": text}}


def _chunk(number: int, choices: list[Json], **fields: object) -> bytes:
    return event(_body("chat.completion.chunk", number) | {"choices": choices, **fields})


def _body(kind: str, number: int) -> Json:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": "scripted"}


def _finish(calls: list[Named]) -> str:
    return "tool_calls" if calls else "stop"


def _calls(calls: list[Named], number: int) -> list[Json]:
    return [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for place, call in enumerate(calls)
    ]


def _usage(usage: TurnUsage) -> Json:
    read_in = usage.fresh + usage.cached
    return {
        "prompt_tokens": read_in,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens": usage.output,
        "total_tokens": read_in + usage.output,
    }


def _entries(message: Json) -> Iterator[Utterance]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    who = "system" if message["role"] == "developer" else message["role"]
    if text or who == "tool":
        yield Utterance(who, text)
    for call in message.get("tool_calls") or []:
        yield Utterance(who, f"{call['function']['name']} {call['function']['arguments']}")
