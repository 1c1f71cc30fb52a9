"""The generateContent API of Gemini: what gemini asks, and how it is answered."""

import json
from collections.abc import Iterator

from pro0.scripted_model.request import Json, ModelRequest, Utterance
from pro0.scripted_model.sse import event
from pro0.scripted_model.tools import Named
from pro0.scripted_model.turns import TurnUsage


def read(body: Json, path: str) -> ModelRequest:
    """Return a request in plain form; the path names the model and says if the answer streams."""
    model, _, verb = path.rpartition("/")[2].partition(":")
    instructions = body.get("systemInstruction") or {}
    entries = [Utterance("system", "\n".join(part.get("text", "") for part in instructions.get("parts", [])))]
    for content in body.get("contents", []):
        entries += (_entry(content.get("role", "user"), part) for part in content.get("parts", []))
    declared = (tool.get("functionDeclarations", []) for tool in body.get("tools") or [])
    tools = {one["name"]: "" for functions in declared for one in functions}
    return ModelRequest("gemini", model, tuple(entries), tools, verb.startswith("stream"), body)


def whole(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Json:
    """Return an answer in one piece."""
    parts: list[Json] = [{"text": text}] if text or not calls else []
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in calls]
    read_in = usage.fresh + usage.cached
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": read_in,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": read_in + usage.output,
        },
        "modelVersion": "scripted",
        "responseId": f"resp_{number}",
    }


def stream(text: str, calls: list[Named], usage: TurnUsage, number: int) -> Iterator[bytes]:
    """Yield an answer as a stream of events: one, since Gemini's events are whole answers."""
    yield event(whole(text, calls, usage, number))


def error(status: int, text: str) -> Json:
    """Return the body of an error."""
    words = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
    return {"error": {"code": status, "message": text, "status": words.get(status, "UNAVAILABLE")}}


def _entry(role: str, part: Json) -> Utterance:
    who = "assistant" if role == "model" else role
    if "functionCall" in part:
        return Utterance(who, f"{part['functionCall']['name']} {json.dumps(part['functionCall'].get('args'))}")
    if "functionResponse" in part:
        return Utterance("tool", json.dumps(part["functionResponse"].get("response"), ensure_ascii=False))
    return Utterance(who, part.get("text", ""))
