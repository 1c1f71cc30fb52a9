"""Progress of long calls, as in the Language Server Protocol, for clients that ask for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta

from pro0.decoding import convert
from pro0.errors import BadInput
from pro0.rpc.protocol import ID_LIMIT, notice
from pro0.rules.text import visible
from pro0.wire import JSON, encode

PROGRESS = "$/progress"
TOKEN = "workDoneToken"
"""The parameter by which a client asks for progress. Every method takes it, and uses that name for nothing else."""
Token = int | Annotated[str, Meta(max_length=ID_LIMIT)]
Show = Callable[[str], None]


class CallStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a call: its beginning, a report or its end."""

    kind: Literal["begin", "report", "end"]
    title: str = ""
    message: str = ""


class CallProgress(msgspec.Struct, frozen=True):
    """A progress notification: the token of the call, and the step."""

    token: Token
    value: CallStep


def taken(params: object) -> tuple[Token | None, object]:
    """Return the token in the parameters of a call, and the other parameters; raises BadInput."""
    if not isinstance(params, dict) or TOKEN not in params:
        return None, params
    try:
        token = convert(params[TOKEN], cast("type[Token]", Token))
    except (msgspec.ValidationError, RecursionError):
        raise BadInput(f"{TOKEN} must be a whole number, or a string of at most {ID_LIMIT} characters") from None
    return token, {name: value for name, value in params.items() if name != TOKEN}


@contextmanager
def telling(token: Token | None, title: str, say: Callable[[JSON], None]) -> Iterator[Show]:
    """Report begin and end of a call; yield a function for the reports between, which skips repeated texts."""
    last_text = ""

    def tell(value: CallStep) -> None:
        if token is not None:
            say(notice(PROGRESS, encode(msgspec.to_builtins(CallProgress(token, value)))))

    def show(text: str) -> None:
        nonlocal last_text
        if text != last_text:
            last_text = text
            tell(CallStep("report", message=visible(text)))

    tell(CallStep("begin", title=title))
    try:
        yield show
    finally:
        tell(CallStep("end"))
