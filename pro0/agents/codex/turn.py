"""The output of one turn of Codex (`codex exec --json`): items, then the turn's usage or failure."""

import msgspec
from msgspec.structs import replace

from pro0.agents.adapter import TurnOutput
from pro0.agents.transcripts import decoded
from pro0.decoding import decoder
from pro0.model.usage import Usage


class _Item(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class _Counts(msgspec.Struct, frozen=True):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0


class _Failure(msgspec.Struct, frozen=True):
    message: str = ""


class _Line(msgspec.Struct, frozen=True):
    type: str
    item: _Item = _Item()
    usage: _Counts = _Counts()
    error: _Failure = _Failure()


_LINE = decoder(_Line)


def read(output: TurnOutput, line: bytes) -> TurnOutput:
    """Read one line; input tokens include those read from a cache or written to it."""
    for event in decoded([line], _LINE):
        if event.type == "item.completed" and event.item.type == "agent_message":
            return replace(output, message=event.item.text)
        if event.type == "turn.completed":
            counts = event.usage
            usage = Usage(
                input_tokens=counts.input_tokens - counts.cached_input_tokens - counts.cache_write_input_tokens,
                output_tokens=counts.output_tokens,
                cache_read_tokens=counts.cached_input_tokens,
                cache_write_tokens=counts.cache_write_input_tokens,
            )
            return replace(output, usage=usage)
        if event.type == "turn.failed":
            return replace(output, failure=event.error.message or "the turn failed")
    return output
