"""The MCP server that an agent starts beside itself: tools only, over stdio, in both eras of the protocol.

An agent waits for it, and every agent has one: until the first call it imports little beyond the standard library.
"""
