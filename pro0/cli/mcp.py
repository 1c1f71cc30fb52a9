"""`pro0 mcp`. `pro0.cli.main` answers a call without any option, without importing this module."""

import json
import sys
from typing import TYPE_CHECKING

import click

from pro0.cli.output import write
from pro0.errors import BadInput

if TYPE_CHECKING:
    from pro0.mcp.protocol import Call
    from pro0.wire import JSON


@click.command()
@click.option("--call", "tool", hidden=True, help="Do one call, with its arguments on stdin, for another machine.")
@click.pass_context
def mcp(context: click.Context, tool: str | None) -> None:
    """Serve the tools of a team to an agent, over stdio (MCP).

    An agent starts this command as its MCP server. The guard above it, or the variables from `pro0 member env`, prove
    who the caller is. A member gets the tools of a member. An agent of your own, outside any team, can make a team and
    lead it. No caller counts as a person here, so none can give a verdict. The server ends with its agent.

    \b
    Examples:
      claude mcp add pro0 -- pro0 mcp
      codex mcp add pro0 -- pro0 mcp
      gemini mcp add pro0 pro0 mcp
    """
    if tool is None:
        from pro0.mcp.server import serve

        context.exit(serve())
    from pro0.mcp.calls import perform_one
    from pro0.mcp.tools.table import TOOLS
    from pro0.wire import Unreadable, decode

    hint = "pro0 mcp serves the tools"
    try:
        arguments = decode(sys.stdin.buffer.read())
    except Unreadable as error:
        raise BadInput(f"the arguments of {tool} cannot be read: {error}", hint=hint) from None
    if tool not in TOOLS or not isinstance(arguments, dict):
        raise BadInput(f"{tool} is no tool, or its arguments are no object", hint=hint)
    write(json.dumps(perform_one(tool, arguments)))


def serve_there(folder: str) -> int:
    """Serve the tools to an agent of another machine's team; that machine carries out each call."""
    from pro0.link.asks import TOOLS_FOR_OTHERS
    from pro0.link.calling import ask_home
    from pro0.mcp.server import serve
    from pro0.wire import encode

    def ask(call: "Call") -> "dict[str, JSON]":
        answer = ask_home(folder, ["mcp", "--call", call.name], json.dumps(call.arguments))
        try:
            result = json.loads(str(answer["out"]))
            if isinstance(result, dict):
                return result
        except ValueError:
            pass
        why = str(answer.get("errors") or "home did not answer").strip()
        return {"content": encode([{"type": "text", "text": why}]), "isError": "true"}

    return serve(ask, TOOLS_FOR_OTHERS, f"{folder}/tools.listed")
