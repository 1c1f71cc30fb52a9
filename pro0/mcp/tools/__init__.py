"""The tools of the MCP server, one function each."""
