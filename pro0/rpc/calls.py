"""A call of a method: check its parameters, perform the operation, and return the result as JSON."""

import os
from collections.abc import Callable, Mapping

import msgspec

from pro0.decoding import convert
from pro0.errors import BadInput, ErrorCode, Pro0Error, TimedOut
from pro0.ops.signature import arguments_of
from pro0.rpc.client import RpcClient
from pro0.rpc.discovery import DISCOVER, document
from pro0.rpc.method import Method
from pro0.rpc.progress import taken, telling
from pro0.rpc.protocol import CANCELLED, RpcRequest, notice
from pro0.rpc.table import METHODS
from pro0.rpc.views import plain
from pro0.rules.text import visible
from pro0.rules.validation import validation_message
from pro0.wire import INTERNAL_ERROR, INVALID_PARAMS, JSON, METHOD_NOT_FOUND, Fault, encode, is_text

FIRST_CODE = -32000
"""An error of pro0 with exit code 4 is -32004; JSON-RPC leaves -32000 to -32099 to servers."""
TIMED_OUT = -32024
CODES = {BadInput.exit_code: INVALID_PARAMS, TimedOut.exit_code: TIMED_OUT}


def perform(client: RpcClient, request: RpcRequest, say: Callable[[JSON], None] = lambda _: None) -> JSON | Fault:
    """Carry out a request; return its result as JSON, or a fault.

    `say` receives the progress notifications of a long call.
    """
    if request.cancelled:
        return Fault(CANCELLED, "the request was cancelled before it began")
    try:
        methods = methods_of(client)
        if request.method != DISCOVER and request.method not in methods:
            return Fault(METHOD_NOT_FOUND, f"there is no method {visible(request.method[:100])!r}", _HINT)
        token, params = taken(request.params)
        method = methods.get(request.method)
        if method is None or not method.waits:
            return encode(call(client, request.method, params))
        with telling(token, method.name, say) as show:
            return encode(call(client.showing(show), request.method, params))
    except Pro0Error as error:
        return fault(error)
    except Exception as error:  # noqa: BLE001 - a client goes on after a fault of pro0
        if os.environ.get("PRO0_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        return Fault(INTERNAL_ERROR, f"internal error: {type(error).__name__}: {visible(str(error))}")


def methods_of(client: RpcClient) -> Mapping[str, Method]:
    """Return the methods that are served to a client."""
    return METHODS if client.methods is None else client.methods


def call(client: RpcClient, name: str, params: object) -> object:
    """Perform one call and return its result; raises Pro0Error."""
    if name == DISCOVER:
        return document()
    if (method := methods_of(client).get(name)) is None:
        raise BadInput(f"there is no method {visible(name[:100])!r}", hint=f"pro0 rpc {DISCOVER} lists the methods")
    client, params = client.prepared(method, params)
    arguments = _arguments(method, params)
    value = method.function(client.context if method.direct else client, **arguments)
    return _harmless(plain(value, method.worded), client.veil())


def news(client: RpcClient) -> list[JSON]:
    """Return the notifications that a client's subscriptions owe it now."""
    veil = client.veil()  # first: a failure after the changes are taken would lose them
    changes = client.subscriptions.changes()
    return [_told(methods_of(client)[f"{topic}.subscribe"], topic, change, veil) for topic, change in changes]


def fault(error: Pro0Error) -> Fault:
    """Return an error of pro0 as the answer to a request."""
    data = {"code": error.code, "exit_code": error.exit_code} | ({"hint": visible(error.hint)} if error.hint else {})
    return Fault(CODES.get(error.exit_code, FIRST_CODE - error.exit_code), visible(error.message), data)


def _arguments(method: Method, params: object) -> dict[str, object]:
    """Return the arguments of the function; params come by name, or in order."""
    names = method.parameters
    if isinstance(params, list):
        if len(params) > len(names):
            limit = f"{len(names)} parameter{'s' * (len(names) != 1)}"
            raise BadInput(f"{method.name} takes {limit} at most", hint=_WHICH)
        params = dict(zip(names, params, strict=False))
    assert isinstance(params, dict)
    if unknown := next((name for name in params if name not in names), None):
        raise BadInput(f"{method.name}: there is no parameter {visible(unknown[:100])!r}", hint=_WHICH)
    if not is_text(params):
        raise BadInput(f"{method.name}: a text is not valid Unicode", code=ErrorCode.INVALID_TEXT, hint="pass UTF-8")
    try:
        arguments = convert({names[name]: value for name, value in params.items()}, arguments_of(method.function))
    except (msgspec.ValidationError, RecursionError) as error:
        complaint = method.worded(_in_its_names(names, validation_message(error)))
        raise BadInput(f"{method.name}: {visible(complaint)}", hint=_WHICH) from None
    return {name: getattr(arguments, name) for name in arguments.__struct_fields__}


def _in_its_names(names: Mapping[str, str], complaint: str) -> str:
    """Return a complaint about the function's parameters with the names that the method has for them."""
    for name, inner in names.items():
        if complaint == f"it needs {inner!r}":
            return f"it needs {name!r}"
        if complaint.startswith((f"{inner}: ", f"{inner}, ")):
            return name + complaint.removeprefix(inner)
    return complaint


def _told(method: Method, topic: str, change: object, veil: Callable[[str], str]) -> JSON:
    return notice(f"{topic}.changed", encode(_harmless(plain(change, method.worded), veil)))


def _harmless(value: object, veil: Callable[[str], str]) -> object:
    """Return a value with its texts veiled, and without control characters and direction marks: others wrote them."""
    if isinstance(value, str):
        return veil(visible(value))
    if isinstance(value, list):
        return [_harmless(item, veil) for item in value]
    if isinstance(value, dict):
        return {name: _harmless(item, veil) for name, item in value.items()}
    return value


_WHICH = f"{DISCOVER} says what it takes"
_HINT = {"hint": f"{DISCOVER} lists the methods"}
