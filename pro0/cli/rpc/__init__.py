"""`pro0 rpc`."""
