"""The output of one turn of opencode (`opencode run --format json`): each part of a message when complete."""

import msgspec
from msgspec.structs import replace

from pro0.agents.adapter import TurnOutput
from pro0.agents.transcripts import decoded, shortened
from pro0.decoding import decoder
from pro0.model.usage import Usage


class _Cache(msgspec.Struct, frozen=True):
    read: int = 0
    write: int = 0


class _Tokens(msgspec.Struct, frozen=True):
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: _Cache = _Cache()


class _Part(msgspec.Struct, frozen=True):
    text: str = ""
    tokens: _Tokens = _Tokens()
    cost: float = 0.0


class _Line(msgspec.Struct, frozen=True):
    type: str
    part: _Part = _Part()
    error: msgspec.Raw = msgspec.Raw(b"")


_LINE = decoder(_Line)


def read(output: TurnOutput, line: bytes) -> TurnOutput:
    """Read one line; a step starts a message, and each step reports its usage."""
    for event in decoded([line], _LINE):
        if event.type == "step_start":
            return replace(output, message="", failure="")
        if event.type == "text":
            return replace(output, message=f"{output.message}\n{event.part.text}".strip())
        if event.type == "step_finish":
            return replace(output, usage=output.usage + _usage(event.part))
        if event.type == "error":
            return replace(output, failure=shortened(bytes(event.error).decode(errors="replace")) or "error")
    return output


def _usage(part: _Part) -> Usage:
    tokens = part.tokens
    return Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output + tokens.reasoning,
        cache_read_tokens=tokens.cache.read,
        cache_write_tokens=tokens.cache.write,
        cost_usd=part.cost or None,  # 0 for a model without a known price
    )
