"""The operations for other programs: JSON-RPC 2.0 over a socket of the lead, or over stdio (behaviour 5.6)."""
