"""The agent `pi`."""
