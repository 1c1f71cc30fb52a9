"""The output of one turn of opencode (`opencode run --format json`): each part of a message when complete."""

import msgspec
from msgspec.structs import replace

from pro0.agents.adapter import Heard
from pro0.agents.transcripts import decoded, shortened
from pro0.model.screen import Usage


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


_LINE = msgspec.json.Decoder(_Line)


def hear(heard: Heard, line: bytes) -> Heard:
    """Read one line; a step starts a message, and each step reports its usage."""
    for said in decoded([line], _LINE):
        if said.type == "step_start":
            return replace(heard, message="", failure="")
        if said.type == "text":
            return replace(heard, message=f"{heard.message}\n{said.part.text}".strip())
        if said.type == "step_finish":
            return replace(heard, usage=_sum(heard.usage, said.part))
        if said.type == "error":
            return replace(heard, failure=shortened(bytes(said.error).decode(errors="replace")) or "error")
    return heard


def _sum(before: Usage, part: _Part) -> Usage:
    tokens = part.tokens
    return Usage(
        input_tokens=before.input_tokens + tokens.input,
        output_tokens=before.output_tokens + tokens.output + tokens.reasoning,
        cache_read_tokens=before.cache_read_tokens + tokens.cache.read,
        cache_write_tokens=before.cache_write_tokens + tokens.cache.write,
        cost_usd=(before.cost_usd or 0.0) + part.cost,
    )
