"""The Responses API of OpenAI: what codex asks, and how it is answered."""

import json
from collections.abc import Iterator

from pro0.scripted_model.request import Json, ModelRequest, Utterance
from pro0.scripted_model.sse import event
from pro0.scripted_model.tools import Named
from pro0.scripted_model.turns import TurnUsage


def read(body: Json, _path: str) -> ModelRequest:
    """Return what a request asks for."""
    entries = [Utterance("system", body.get("instructions") or "")]
    items = body.get("input", [])
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        entries += _entries(item)
    tools = dict(_tools(body.get("tools") or []))
    return ModelRequest("responses", body.get("model", ""), tuple(entries), tools, bool(body.get("stream")), body)


def whole(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Json:
    """Return an answer in one piece."""
    output: list[Json] = []
    if text or not calls:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for place, call in enumerate(calls):
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{number}_{place}",
                "call_id": f"call_{number}_{place}",
                "name": call.name,
                "arguments": json.dumps(call.arguments),
                **({"namespace": call.namespace} if call.namespace else {}),
            }
        )
    read_in = usage.fresh + usage.cached
    tokens = {
        "input_tokens": read_in,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read_in + usage.output,
    }
    return {"id": f"resp_{number}", "object": "response", "status": "completed", "output": output, "usage": tokens}


def stream(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Iterator[bytes]:
    """Yield an answer as a stream of events."""
    answer = whole(text, calls, usage, number)
    yield _event("response.created", response={"id": answer["id"], "status": "in_progress", "output": []})
    for index, item in enumerate(answer["output"]):
        yield _event("response.output_item.added", output_index=index, item=item | _emptied(item))
        if item["type"] == "message":
            yield _event(
                "response.output_text.delta", item_id=item["id"], output_index=index, content_index=0, delta=text
            )
        yield _event("response.output_item.done", output_index=index, item=item)
    yield _event("response.completed", response=answer)


def error(status: int, text: str) -> Json:
    """Return the body of an error."""
    return {"error": {"type": "invalid_request_error" if status == 401 else "server_error", "message": text}}


def _event(kind: str, **fields: object) -> bytes:
    return event({"type": kind, **fields}, kind)


def _emptied(item: Json) -> Json:
    return {"content": []} if item["type"] == "message" else {"arguments": ""}


def _tools(tools: list[Json]) -> Iterator[tuple[str, str]]:
    for tool in tools:
        if tool["type"] == "namespace":
            yield from ((inner["name"], tool["name"]) for inner in tool["tools"])
        else:
            yield str(tool.get("name", tool["type"])), ""


def _entries(item: Json) -> Iterator[Utterance]:
    match item.get("type", "message"):
        case "message":
            who = "system" if item["role"] == "developer" else item["role"]
            yield Utterance(who, _text(item["content"]))
        case "function_call":
            yield Utterance("assistant", f"{item['name']} {item['arguments']}")
        case "function_call_output":
            yield Utterance("tool", _text(item["output"]))


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
