"""The agent `claude`."""
