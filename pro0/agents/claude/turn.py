"""The output of one turn of Claude Code (`claude -p --output-format stream-json`): its last line is the whole."""

import msgspec

from pro0.agents.adapter import TurnOutput
from pro0.agents.transcripts import decoded
from pro0.decoding import decoder
from pro0.model.usage import Usage

WORDS = ("-p", "--output-format", "stream-json", "--verbose")


class _Counts(msgspec.Struct, frozen=True):
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0


class _Result(msgspec.Struct, tag_field="type", tag="result", frozen=True):
    result: str = ""
    is_error: bool = False
    subtype: str = ""
    usage: _Counts = _Counts()
    total_cost_usd: float | None = None
    models: dict[str, object] = msgspec.field(default_factory=dict, name="modelUsage")


_RESULT = decoder(_Result)


def read(output: TurnOutput, line: bytes) -> TurnOutput:
    """Read one line; only the result line counts: last message, usage of all requests, cost."""
    for result in decoded([line], _RESULT):
        counts = result.usage
        usage = Usage(
            input_tokens=counts.input_tokens or 0,
            output_tokens=counts.output_tokens or 0,
            cache_read_tokens=counts.cache_read_input_tokens or 0,
            cache_write_tokens=counts.cache_creation_input_tokens or 0,
            cost_usd=result.total_cost_usd,
            models=tuple(result.models),
        )
        return TurnOutput(
            message=result.result, usage=usage, failure=(result.result or result.subtype) if result.is_error else ""
        )
    return output
