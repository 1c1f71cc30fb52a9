"""`pro0 rpc`: one call, or a whole conversation over stdin and stdout."""

import os
import sys

import click

from pro0.cli.context import acting, here, need_lead, team_option
from pro0.cli.output import text_or_stdin, write_json
from pro0.errors import BadInput
from pro0.wire import Unreadable, decode


@click.command()
@click.argument("method", required=False)
@click.argument("params", required=False)
@click.option("--stdio", is_flag=True, help="Connect stdin and stdout with the team's lead.")
@team_option
def rpc(method: str | None, params: str | None, stdio: bool, team: str | None) -> None:
    """Call one METHOD of JSON-RPC, or let an editor speak to a team.

    PARAMS is a JSON object or array; - reads it from stdin. The result is printed as JSON. Errors are printed as by
    every command, with the same exit codes.

    With --stdio each message is a line, or has a header Content-Length as in the Language Server Protocol; the first
    message decides which. `pro0 rpc rpc.discover` prints the description of all methods.

    \b
    Examples:
      pro0 rpc task.list
      pro0 rpc ticket.create '{"title": "parse", "description": "the input", "role_id": null}'
      pro0 rpc task.show '["task-1"]' -t alpha
    """
    if stdio == (method is not None):
        raise BadInput("a method, or --stdio", hint="the methods: pro0 rpc rpc.discover")
    if stdio:
        from pro0.rpc.stdio import bridge

        context = acting(team)
        need_lead(context.team)
        bridge(context.team, os.dup(0), sys.stdout.buffer)
        return
    from pro0.rpc.calls import call
    from pro0.rpc.client import RpcClient

    assert method
    values = _params(params)
    write_json(call(RpcClient(here(team)), method, values))


def _params(text: str | None) -> object:
    if text is None:
        return {}
    try:
        value = decode(text_or_stdin(text).encode(errors="surrogateescape"))
    except Unreadable as error:
        raise BadInput(f"the parameters: {error}", hint="they are JSON, an object or an array") from None
    if not isinstance(value, dict | list):
        raise BadInput("the parameters are neither an object nor an array", hint='such as {"task_id": "task-1"}')
    return value
