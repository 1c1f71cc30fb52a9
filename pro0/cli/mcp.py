"""`pro0 mcp`; the call without any option is answered by `pro0.cli.main`, which does not import this."""

import click


@click.command()
@click.pass_context
def mcp(context: click.Context) -> None:
    """Serve the tools of a team to an agent, over stdio (MCP).

    An agent starts this beside itself. Who calls is proven by the guard above it, or by what `pro0 member env` gave it:
    a member gets its member's tools; an agent of your own, outside any team, can make a team and lead it. No caller
    here is ever you, the person: verdicts stay yours. The server ends with its agent.

    \b
    Examples:
      claude mcp add pro0 -- pro0 mcp
      codex mcp add pro0 -- pro0 mcp
      gemini mcp add pro0 pro0 mcp
    """
    from pro0.mcp.server import serve

    context.exit(serve())
