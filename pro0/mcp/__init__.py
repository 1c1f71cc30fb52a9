"""The MCP server that an agent starts beside itself: tools only, over stdio, in both eras of the protocol.

Every agent has one and waits for it, so until the first call it imports little beyond the standard library.
"""
