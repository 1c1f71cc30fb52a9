"""The output of one turn of pi (`pi -p --mode json`): events; each message end holds the whole message."""

import msgspec

from pro0.agents.adapter import TurnOutput
from pro0.agents.transcripts import decoded
from pro0.decoding import decoder
from pro0.model.usage import Usage

WORDS = ("-p", "--mode", "json")


class _Cost(msgspec.Struct, frozen=True):
    total: float = 0.0


class _Counts(msgspec.Struct, rename="camel", frozen=True):
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: _Cost = _Cost()


class _Part(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct, rename="camel", frozen=True):
    role: str = ""
    content: msgspec.Raw = msgspec.Raw(b"[]")
    model: str = ""
    usage: _Counts = _Counts()
    error_message: str = ""


class _Line(msgspec.Struct, tag_field="type", tag="message_end", frozen=True):
    message: _Message


_LINE = decoder(_Line)
_PARTS = decoder(list[_Part])


def read(output: TurnOutput, line: bytes) -> TurnOutput:
    """Read one line; each message of the model counts. pi exits with 0 even when the last message failed."""
    for event in decoded([line], _LINE):
        if event.message.role == "assistant":
            parts = next(iter(decoded([event.message.content], _PARTS)), [])
            message = "\n".join(part.text for part in parts if part.type == "text")
            return TurnOutput(
                message=message, usage=output.usage + _usage(event.message), failure=event.message.error_message
            )
    return output


def _usage(message: _Message) -> Usage:
    counts = message.usage
    return Usage(
        input_tokens=counts.input,
        output_tokens=counts.output,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        cost_usd=counts.cost.total or None,  # 0 for a model without a known price
        models=(message.model,) if message.model else (),
    )
