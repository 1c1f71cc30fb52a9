"""The agent `opencode`."""
