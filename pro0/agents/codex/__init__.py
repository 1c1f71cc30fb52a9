"""The agent `codex`."""
