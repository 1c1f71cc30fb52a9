"""The table of tools, and a call: check the arguments, perform the operation, and return the result as JSON."""

import os
from collections.abc import Callable

import msgspec

from pro0.decoding import convert
from pro0.errors import BadInput, ErrorCode, Pro0Error, Refused
from pro0.mcp.protocol import Call
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools import lead as lead_tools
from pro0.mcp.tools import mail as mail_tools
from pro0.mcp.tools import team as team_tools
from pro0.mcp.tools import ticket as ticket_tools
from pro0.mcp.tools import work as work_tools
from pro0.mcp.tools import worker as worker_tools
from pro0.mcp.tools.tool import MAIL, TOOLS, Tool
from pro0.model.caller import Who
from pro0.ops.mail import messages
from pro0.ops.signature import arguments_of
from pro0.rules.text import visible
from pro0.rules.validation import validation_message
from pro0.rules.words.instructions import unread_here
from pro0.wire import JSON, encode, is_text, readable

FAMILIES = (team_tools, lead_tools, worker_tools, work_tools, mail_tools, ticket_tools)

__all__ = ["FAMILIES", "TOOLS", "failed", "perform"]


def perform(tool: Tool, tool_context: ToolContext, call: Call) -> dict[str, JSON]:
    """Perform a call and return its result, or an error that an agent can act on."""
    try:
        arguments = _arguments(tool, tool_context, call)
        if lost := tool.if_lost:
            call.if_lost = lambda: lost(tool_context)
        value = msgspec.to_builtins(tool.function(tool_context, **arguments)) | _mail(tool, tool_context)
        return _result(harmless(value, tool_context.veil()))
    except Pro0Error as error:
        return failed(error)
    except Exception as error:  # noqa: BLE001 - an agent goes on after a fault of pro0
        if os.environ.get("PRO0_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        hint = "this is a fault of pro0"
        return failed(Pro0Error(f"internal error: {type(error).__name__}: {error}", code=ErrorCode.INTERNAL, hint=hint))


def harmless(value: object, veil: Callable[[str], str] = str) -> object:
    """Return a value with its texts veiled, and without control characters and direction marks: others wrote them."""
    if isinstance(value, str):
        return veil(visible(value))
    if isinstance(value, list):
        return [harmless(item, veil) for item in value]
    if isinstance(value, dict):
        return {name: harmless(item, veil) for name, item in value.items()}
    return value


def _arguments(tool: Tool, tool_context: ToolContext, call: Call) -> dict[str, object]:
    caller = tool_context.caller.who
    if caller not in tool.callers:
        raise Refused(
            f"{_called(caller)} may not call {tool.name}", code=ErrorCode.NOT_ALLOWED, hint="tools/list has your tools"
        )
    if not is_text(call.arguments):
        hint = "it holds a lone surrogate; pass UTF-8"
        raise BadInput(f"{tool.name}: a text is not valid Unicode", code=ErrorCode.INVALID_TEXT, hint=hint)
    try:
        arguments = convert(tool.spelled(call.arguments), arguments_of(tool.function))
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadInput(f"{tool.name}: {validation_message(error)}", hint="its inputSchema says what it takes") from None
    return {name: getattr(arguments, name) for name in arguments.__struct_fields__}


def _called(caller: Who) -> str:
    return {Who.OUTSIDE: "an agent outside any team", Who.LEAD_AGENT: "the lead agent"}.get(caller, "a teammate")


def _mail(tool: Tool, tool_context: ToolContext) -> dict[str, str]:
    """Return a hint that the agent has mail, since perhaps nothing else tells it so.

    The hint is a part of the result: most clients give their model either the result or the texts beside it.
    """
    if tool_context.team is None:
        return {}
    count = messages.left if tool.operation == "message.inbox" else messages.unread
    try:
        unread = count(tool_context.context)
    except Pro0Error:
        return {}
    return {MAIL: unread_here(unread)} if unread else {}


def failed(error: Pro0Error) -> dict[str, JSON]:
    """Return an error as the result of a call, for an agent to act on."""
    body = {"code": error.code, "message": error.message} | ({"hint": error.hint} if error.hint else {})
    value = harmless({"error": body})
    text = error.message + (f"\nhint: {error.hint}" if error.hint else "")
    return {**_result(value, visible(text)), "isError": "true"}


def _result(value: object, text: str = "") -> dict[str, JSON]:
    """Return a result with its text, which is the value itself if there is no other."""
    content = [{"type": "text", "text": text or readable(value)}]
    return {"content": encode(content), "structuredContent": encode(value)}
