"""The output of one turn of Claude Code (`claude -p --output-format stream-json`): its last line is the whole."""

import msgspec

from pro0.agents.adapter import Heard
from pro0.agents.transcripts import decoded
from pro0.model.screen import Usage

WORDS = ("-p", "--output-format", "stream-json", "--verbose")


class _Counts(msgspec.Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Result(msgspec.Struct, tag_field="type", tag="result", frozen=True):
    result: str = ""
    is_error: bool = False
    subtype: str = ""
    usage: _Counts = _Counts()
    total_cost_usd: float | None = None
    models: dict[str, object] = msgspec.field(default_factory=dict, name="modelUsage")


_RESULT = msgspec.json.Decoder(_Result)


def hear(heard: Heard, line: bytes) -> Heard:
    """Read one line; only the result line counts: last message, usage of all requests, cost."""
    for said in decoded([line], _RESULT):
        counts = said.usage
        usage = Usage(
            input_tokens=counts.input_tokens,
            output_tokens=counts.output_tokens,
            cache_read_tokens=counts.cache_read_input_tokens,
            cache_write_tokens=counts.cache_creation_input_tokens,
            cost_usd=said.total_cost_usd,
            models=tuple(said.models),
        )
        return Heard(message=said.result, usage=usage, failure=(said.result or said.subtype) if said.is_error else "")
    return heard
