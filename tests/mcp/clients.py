"""The official SDK's client at a server of ours, as the callers that there are."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.served import program

ERAS = ("legacy", "auto")
"""With a handshake; and the newer one, which this client asks for first."""


class Caller:
    """One client; it remembers which tools it called with success, and checks each result against its schema."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.used: set[str] = set()

    async def tools(self) -> set[str]:
        """The names of the tools that are listed."""
        return {tool.name for tool in (await self.client.list_tools()).tools}

    async def __call__(self, tool: str, /, **arguments: object) -> Any:
        """Call a tool that must succeed and return what it answered."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, (tool, result.structured_content)
        self.used.add(tool)
        return result.structured_content

    async def refused(self, tool: str, /, **arguments: object) -> str:
        """Call a tool that must fail and return the code of its error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, (tool, result.structured_content)
        assert isinstance(result.structured_content, dict)
        error = result.structured_content["error"]
        assert error["message"] in result.content[0].text  # type: ignore[union-attr]
        return str(error["code"])


@asynccontextmanager
async def client(folder: Path, era: str, **variables: str) -> AsyncIterator[Caller]:
    """Start a server in a folder, with these variables, and speak to it."""
    command, *arguments = program()
    environment = dict(os.environ) | variables
    server = StdioServerParameters(command=command, args=arguments, env=environment, cwd=folder)
    async with Client(stdio_client(server), mode=era) as made:
        assert made.protocol_version == ("2025-11-25" if era == "legacy" else "2026-07-28")
        yield Caller(made)
