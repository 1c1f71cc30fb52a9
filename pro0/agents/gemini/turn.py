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
    return Usage(
        input_tokens=stats.input_tokens - stats.cached,
        output_tokens=stats.total_tokens - stats.input_tokens,  # with its thoughts
        cache_read_tokens=stats.cached,
        models=tuple(stats.models) if stats.total_tokens else (),
    )
