"""The output of one turn of Gemini CLI (`gemini --output-format stream-json`): pieces of messages, then a result."""

import msgspec
from msgspec.structs import replace

from pro0.agents.adapter import TurnOutput
from pro0.agents.transcripts import decoded
from pro0.decoding import decoder
from pro0.model.usage import Usage


class _Failure(msgspec.Struct, frozen=True):
    message: str = ""


class _Stats(msgspec.Struct, frozen=True):
    total_tokens: int = 0
    input_tokens: int = 0
    cached: int = 0
    models: dict[str, object] = {}


class _Line(msgspec.Struct, frozen=True):
    type: str
    role: str = ""
    content: str = ""
    status: str = ""
    error: _Failure = _Failure()
    stats: _Stats = _Stats()


_LINE = decoder(_Line)


def read(output: TurnOutput, line: bytes) -> TurnOutput:
    """Read one line; a message comes in pieces, and the message after the last tool is the final one."""
    for event in decoded([line], _LINE):
        if event.type == "tool_use":
            return replace(output, message="")
        if event.type == "message" and event.role == "assistant":
            return replace(output, message=output.message + event.content)
        if event.type == "result":
            failure = "" if event.status == "success" else event.error.message or event.status
            return replace(output, usage=_usage(event.stats), failure=failure)
    return output


def _usage(stats: _Stats) -> Usage:
    """Return the sums of all models; that with most tokens is named last, because the others are priced like it."""
    return Usage(
        input_tokens=stats.input_tokens - stats.cached,
        output_tokens=stats.total_tokens - stats.input_tokens,  # with its thoughts
        cache_read_tokens=stats.cached,
        models=tuple(sorted(stats.models, key=lambda name: _tokens(stats.models[name]))) if stats.total_tokens else (),
    )


def _tokens(about_model: object) -> int:
    count = about_model.get("total_tokens") if isinstance(about_model, dict) else 0
    return count if isinstance(count, int) else 0
