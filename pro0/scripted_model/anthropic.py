"""The Messages API of Anthropic: what claude asks, and how it is answered."""

import json
from collections.abc import Iterator

from pro0.scripted_model.request import Json, ModelRequest, Utterance
from pro0.scripted_model.sse import event
from pro0.scripted_model.tools import Named
from pro0.scripted_model.turns import TurnUsage


def read(body: Json, _path: str) -> ModelRequest:
    """Return what a request asks for."""
    entries = [Utterance("system", _text(body.get("system", "")))]
    for message in body.get("messages", []):
        entries += _entries(message["role"], message["content"])
    tools = {tool["name"]: "" for tool in body.get("tools", [])}
    return ModelRequest("anthropic", body.get("model", ""), tuple(entries), tools, bool(body.get("stream")), body)


def whole(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Json:
    """Return an answer in one piece."""
    content: list[Json] = [{"type": "text", "text": text}] if text or not calls else []
    for place, call in enumerate(calls):
        content.append(
            {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.name, "input": call.arguments}
        )
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(usage),
    }


def stream(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Iterator[bytes]:
    """Yield an answer as a stream of events."""
    message = whole(text, calls, usage, number)
    yield _event("message_start", message=message | {"content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage=message["usage"])
    yield _event("message_stop")


def error(status: int, text: str) -> Json:
    """Return the body of an error."""
    kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": text}}


def _event(kind: str, **fields: object) -> bytes:
    return event({"type": kind, **fields}, kind)


def _usage(usage: TurnUsage) -> Json:
    return {
        "input_tokens": usage.fresh,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def _entries(role: str, content: str | list[Json]) -> Iterator[Utterance]:
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        match block["type"]:
            case "text":
                yield Utterance(role, block["text"])
            case "tool_use":
                yield Utterance(role, f"{block['name']} {json.dumps(block['input'])}")
            case "tool_result":
                yield Utterance("tool", _text(block.get("content", "")))
